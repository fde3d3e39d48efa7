"""Files of nuggets, of nuggets assigned to answers, and of citations that support them: nuggetizer, AutoJudge, tables.

nuggetizer writes JSONL, a line for each topic with `qid` and a list `nuggets` of `text` and `importance`; once the
nuggets are assigned to an answer, each has an `assignment` and the line a `run_id`. AutoJudge writes a `nugget_bank` or
`claim_bank` for each `query_id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.data.assignment_words import IMPORTANCE
from assay.data.assignments import (
    Answer,
    AssignedNugget,
    Assignments,
    Bank,
    CitationSupport,
    CitedSentence,
)
from assay.io.column_names import USUAL
from assay.io.content import Content
from assay.io.files import file_stem
from assay.io.json_values import json_lines
from assay.io.recognition import looked_at, refuse_other_table
from assay.io.samples import Sample
from assay.io.sheet import Sheet, decoded, sheet_in

TOPIC = ("qid", "topic_id", "query_id", "topic")
RUN = ("run_id", "run")
OPTIONAL = "importance"
"""The column that a table may leave out: then it is not said, and a remark says so."""
Paths = str | Path | Iterable[str | Path]


def read_assignments(paths: Paths, *, assessors: Sequence[str] | None = None) -> Assignments:
    """Which nuggets answers have: JSONL of nuggetizer, or tables with topic, run, nugget, importance, assignment.

    Several files are read as one. A line without run_id belongs to the run that is named as its file. A table may have
    a column assessor; assessors: the names of those whose files these are, one for each file, where it has none.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("topic,run,nugget,importance,assignment\\n1,mine,in Peru,vital,support\\n")
    >>> read_assignments(path)
    Assignments('a.csv', 1 row: 1 run, 1 topic)
    """
    rows: list[AssignedNugget] = []
    places: list[str] = []
    without: list[Answer] = []
    files = _files(paths)
    for i, path in enumerate(files):
        assessor = assessors[i] if assessors else ""
        for place, row in _assigned(Content.of(path), assessor):
            if isinstance(row, Answer):
                without.append(row)
            else:
                places.append(place)
                rows.append(row)
    return Assignments.from_rows(rows, name=_name_of(files), places=places, without=without)


def read_support(paths: Paths, *, assessors: Sequence[str] | None = None) -> CitationSupport:
    """Which citations support the sentences of answers: tables with topic, run, sentence, citation, support.

    A sentence without citations has one row with both cells empty, or with not_needed for its support. assessors: as in
    `read_assignments`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "s.csv"
    >>> _ = path.write_text("topic,run,sentence,citation,support\\n1,mine,s1,d1,full\\n1,mine,s2,,\\n")
    >>> read_support(path)
    CitationSupport('s.csv', 2 rows: 1 run, 1 topic)
    """
    rows: list[CitedSentence] = []
    places: list[str] = []
    files = _files(paths)
    for i, path in enumerate(files):
        assessor = assessors[i] if assessors else ""
        content = Content.of(path)
        sheet = _sheet(content, "support")
        for place, cells in _rows_of(sheet, ("topic", "run", "sentence", "citation", "support"), assessor):
            places.append(place)
            rows.append(CitedSentence(*cells))
    return CitationSupport.from_rows(rows, name=_name_of(files), places=places)


def read_assessed(paths: Paths) -> Assignments | CitationSupport:
    """Assignments of nuggets or support of citations by several assessors; the first file says which.

    Of several files each is an assessor, named as the file is, unless a table has a column assessor.
    """
    files = _files(paths)
    if not files:
        raise UsageError("no file; give the assignments of two assessors or more")
    assessors = [file_stem(path) for path in files] if len(files) > 1 else None
    if assessors and len(set(assessors)) < len(assessors):
        twice = next(name for name in assessors if assessors.count(name) > 1)
        raise UsageError(f"two files would both be assessor {twice!r}; rename one of the files")
    possible = looked_at(Content.of(files[0])).possible
    if possible and possible[0].kind == "support":
        return read_support(files, assessors=assessors)
    return read_assignments(files, assessors=assessors)


def read_bank(paths: Paths) -> Bank:
    """The nuggets of topics and whether each is vital.

    JSON of nuggetizer or AutoJudge, or tables with topic, nugget and importance; one whose importance is not said is
    okay.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bank.jsonl"
    >>> _ = path.write_text('{"qid": "1", "nuggets": [{"text": "in Peru", "importance": "vital"}]}\\n')
    >>> read_bank(path)
    {'1': {'in Peru': True}}
    """
    bank: dict[str, dict[str, bool]] = {}
    for path in _files(paths):
        for place, topic, nuggets in _banked(Content.of(path)):
            of_topic = bank.setdefault(topic, {})
            for nugget, importance in nuggets:
                if nugget in of_topic:
                    what = f"nugget {nugget!r} of topic {topic!r} is there twice"
                    raise DataError(f"{place}: {what}; keep one of the two")
                word = importance.strip().lower()
                if word not in IMPORTANCE:
                    raise DataError(f"{place}: importance is {importance!r}; write vital or okay")
                of_topic[nugget] = IMPORTANCE[word]
    if not bank:
        raise DataError(f"{_name_of(_files(paths))}: there are no topics; give the nuggets of at least one")
    return bank


def _files(paths: Paths) -> list[str | Path]:
    if isinstance(paths, str | Path):
        return [paths]
    return list(paths)


def _name_of(files: Sequence[str | Path]) -> str:
    return Path(files[0]).name if len(files) == 1 else f"{len(files)} files"


def _assigned(content: Content, assessor: str) -> Iterator[tuple[str, AssignedNugget | Answer]]:
    """Where each assignment stands, and the assignment; an answer alone where its topic has no nuggets."""
    looked = looked_at(content)
    if looked.as_kind(content, "assignments") != "nuggetizer":
        sheet = _sheet(content, "assignments")
        for place, cells in _rows_of(sheet, ("topic", "run", "nugget", "importance", "assignment"), assessor):
            yield place, AssignedNugget(*cells)
        return
    for line, record in _records(content, looked.sample):
        place = f"{content.where}:{line}"
        topic = _text(record, TOPIC, place)
        run = _run(record, content.where, place)
        if not record.get("nuggets"):
            yield place, Answer(topic, run, assessor)
        for nugget, fields in _named_nuggets(record.get("nuggets"), ("text", "nugget"), place):
            if "assignment" not in fields:
                raise DataError(f"{place}: nugget {nugget!r} has no assignment; assign the nuggets to answers first")
            words = (_word(fields.get("importance")), _word(fields["assignment"]))
            yield place, AssignedNugget(topic, run, nugget, *words, assessor)


def _run(record: dict[str, Any], where: str, place: str) -> str:
    """The run of a line of nuggetizer, which is that of its file where the line does not say."""
    if any(name in record for name in RUN):
        return _text(record, RUN, place)
    if "docid" in record:
        what = "nuggets are assigned to a retrieved doc ('docid') and not to an answer"
        raise DataError(f"{place}: {what}; give assignments of answers, which have a run_id")
    return file_stem(where) or where


def _banked(content: Content) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Where the nuggets of a topic stand, the topic, and its nuggets with their importance in words."""
    looked = looked_at(content)
    format = looked.as_kind(content, "nuggets")
    if format not in ("nuggetizer", "autojudge"):
        sheet = _sheet(content, "nuggets")
        for place, (topic, nugget, importance, _) in _rows_of(sheet, ("topic", "nugget", "importance"), ""):
            yield place, topic, [(nugget, importance)]
        return
    for line, record in _records(content, looked.sample):
        place = f"{content.where}:{line}"
        found = []
        for field, texts in BANKS[format].items():
            for nugget, fields in _named_nuggets(record.get(field, []), texts, place):
                found.append((nugget, _word(fields.get("importance"))))
        yield place, _topic_of_bank(record, place), found


BANKS: dict[str, dict[str, tuple[str, ...]]] = {
    "nuggetizer": {"nuggets": ("text", "nugget")},
    "autojudge": {"nugget_bank": ("question",), "claim_bank": ("claim",)},
}
"""The fields of a line that hold nuggets, and the names of their texts there."""


def _topic_of_bank(record: dict[str, Any], place: str) -> str:
    """The topic of a bank; AutoJudge's may have it in its metadata."""
    metadata = record.get("metadata")
    if not any(name in record for name in TOPIC) and isinstance(metadata, dict):
        return _text(metadata, TOPIC, place)
    return _text(record, TOPIC, place)


def _named_nuggets(nuggets: Any, texts: Sequence[str], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nuggets of a line by their texts; one that stands there twice is two nuggets, as nuggetizer counts them."""
    listed = list(nuggets.values()) if isinstance(nuggets, dict) else nuggets
    if listed is None:
        return
    if not isinstance(listed, list) or not all(isinstance(fields, dict) for fields in listed):
        raise DataError(f"{place}: nuggets are a list of objects, each with a text; this is something else")
    seen: dict[str, int] = {}
    for fields in listed:
        text = _text(fields, texts, place)
        seen[text] = seen.get(text, 0) + 1
        yield (text if seen[text] == 1 else f"{text} ({seen[text]})"), fields


def _text(record: dict[str, Any], names: Sequence[str], place: str) -> str:
    """The first of these fields that is there, as a text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value).strip()
    raise DataError(f"{place}: no field {names[0]!r} with a text; the fields are: {', '.join(record) or 'none'}")


def _word(value: Any) -> str:
    return "" if value is None else str(value)


def _records(content: Content, sample: Sample) -> Iterable[tuple[int, dict[str, Any]]]:
    """The objects of a file, each with its line, or with its place in a JSON list."""
    if sample.syntax == "jsonl":
        return json_lines(content.where, decoded(content.where, content.bytes()))
    values = sample.value if isinstance(sample.value, list) else [sample.value]
    for at, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise DataError(f"{content.where}:{at}: not an object; a list of objects is expected, one for each topic")
    return enumerate(values, start=1)


def _sheet(content: Content, kind: str) -> Sheet:
    """The table of a file of this kind; one of another kind is an error that names both."""
    looked = looked_at(content)
    looked.as_kind(content, kind)
    sheet = sheet_in(content, looked.sample)
    refuse_other_table(sheet.header, sheet.rows[:5], kind, sheet.where)
    return sheet


def _rows_of(sheet: Sheet, columns: Sequence[str], assessor: str) -> Iterator[tuple[str, list[str]]]:
    """Where each row stands, and its cells in the order of these columns, the assessor last."""
    at: list[int | None] = []
    for name in columns:
        names = USUAL.get(name, (name,))
        at.append(sheet.find(*names) if name == OPTIONAL else sheet.place(*names))
    assessor_at = sheet.find(*USUAL["worker"])
    for line, row in zip(sheet.lines, sheet.rows, strict=True):
        cells = ["" if place is None else row[place].strip() for place in at]
        cells.append(assessor if assessor_at is None else row[assessor_at].strip())
        yield f"{sheet.where}:{line}", cells
