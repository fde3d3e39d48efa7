"""Exports of doccano's text classification as labels: JSONL, JSON or CSV with the text, its label and other fields.

Topic and doc are fields that were imported with the text. doccano writes a file for each annotator, called as the
person: where no field names the annotator, the worker is the file. A label is a list with one word, or several words
joined by #, which are an error: a doc has one label of a person.
"""

from __future__ import annotations

from dataclasses import replace

from assay.core.errors import DataError
from assay.io.column_names import USUAL
from assay.io.content import Content
from assay.io.files import file_stem
from assay.io.json_values import json_lines
from assay.io.label_studio import one_of
from assay.io.samples import Sample
from assay.io.sheet import Sheet, decoded, sheet_in, sheet_of_records

LABELS = ("label", "labels")


def is_doccano(sheet_names: list[str]) -> bool:
    """Whether these columns are those of doccano: a text and its label, and nobody who gave it.

    >>> is_doccano(["id", "data", "label", "topic", "doc"]), is_doccano(["topic", "doc", "worker", "label"])
    (True, False)
    """
    names = {name.strip().lower() for name in sheet_names}
    has_worker = not names.isdisjoint(USUAL["worker"])
    return not names.isdisjoint(LABELS) and not names.isdisjoint({"data", "text"}) and not has_worker


def sheet_of_texts(content: Content, sample: Sample) -> Sheet:
    """One row for each text, with its label and its worker."""
    sheet = _with_one_label(content, sample)
    if not is_doccano(sheet.header):
        return sheet
    worker = file_stem(content.where)
    return replace(sheet, header=[*sheet.header, "annotator"], rows=[[*row, worker] for row in sheet.rows])


def _with_one_label(content: Content, sample: Sample) -> Sheet:
    where = content.where
    if sample.syntax not in ("json", "jsonl"):
        sheet = sheet_in(content, sample)
        place = sheet.place(*LABELS)
        for line, row in zip(sheet.lines, sheet.rows, strict=True):
            row[place] = str(one_of(where, line, row[place].split("#")))
        return _renamed(sheet)
    if sample.syntax == "json":
        numbered = list(enumerate(sample.value, 1))
    else:
        numbered = list(json_lines(where, decoded(where, content.bytes())))
    records = []
    for line, record in numbered:
        if not isinstance(record, dict):
            raise DataError.at(where, line, "a text is no object; export the project as JSONL")
        name = next((name for name in record if name.strip().lower() in LABELS), "label")
        labels = record.get(name)
        label = one_of(where, line, labels) if isinstance(labels, list) else labels
        records.append({**record, name: label})
    return _renamed(sheet_of_records(where, records, [line for line, _ in numbered]))


def _renamed(sheet: Sheet) -> Sheet:
    """The column of labels is called `label`, whatever the version of doccano calls it."""
    header = ["label" if name.strip().lower() == "labels" else name for name in sheet.header]
    return replace(sheet, header=header)
