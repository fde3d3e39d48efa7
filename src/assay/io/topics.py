"""Topics: files of TREC's SGML with or without closing tags, `id<tab>text` lines, tables; dicts and data frames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.core.dataframes import AnyFrame, is_missing
from assay.core.errors import DataError, UsageError
from assay.data import Topics
from assay.data.given import id_texts
from assay.io import irds
from assay.io.files import TABULAR, kind, read_bytes
from assay.io.sheet import decoded, read_sheet

NAMES = {"num": "number", "title": "title", "desc": "description", "narr": "narrative"}
TEXTS = ("query", "text")
"""What others call the text of a topic that has no more than one; here it is the title."""
LABELS = r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*"


def read_topics(path: str | Path) -> Topics:
    """The topics of a file; ids stay strings, as they are written.

    SGML topics may leave their tags open: a field ends where the next tag starts. `irds:ID` is the queries of a dataset
    of ir_datasets.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "topics.txt"
    >>> _ = path.write_text("<top><num> Number: 401 <title> foreign minorities</top>")
    >>> read_topics(path).ids
    ('401',)
    """
    if irds.is_irds(path):
        return irds.topics(path)
    where = str(path)
    if kind(path) in TABULAR and kind(path) != "tsv":
        sheet = read_sheet(path)
        place = sheet.place("topic", "qid", "query_id", "_id", "id", "number", "query")
        fields = [
            {h: cell for j, (h, cell) in enumerate(zip(sheet.header, row, strict=True)) if j != place}
            for row in sheet.rows
        ]
        return _checked(where, [row[place] for row in sheet.rows], fields)
    text = decoded(where, read_bytes(path))
    return _from_sgml(where, text) if re.search(r"<top>", text, re.IGNORECASE) else _from_lines(where, text)


def topics_of(thing: Any) -> Topics:
    """Topics from a path, {topic: text}, {topic: {field: text}}, a data frame, or as they are.

    A frame has a column of ids under one of the usual names and columns of texts, as those of PyTerrier (qid, query).

    >>> topics_of({"q1": "foreign minorities"}).to_dict()
    {'q1': {'title': 'foreign minorities'}}
    """
    if isinstance(thing, Topics):
        return thing
    if isinstance(thing, str | Path):
        return read_topics(thing)
    frame = AnyFrame.of(thing)
    if frame is not None:
        return _from_frame(frame)
    if not isinstance(thing, Mapping) or not all(isinstance(texts, str | Mapping) for texts in thing.values()):
        raise UsageError(
            f"{type(thing).__name__} where topics are expected; give a path, {{topic: text}}, a data frame with the "
            "columns topic and title, or a Topics object"
        )
    fields = [{"title": texts} if isinstance(texts, str) else dict(texts) for texts in thing.values()]
    return _checked("topics", id_texts(thing, "topic", "topics"), fields)


def _from_frame(frame: AnyFrame) -> Topics:
    """The topics of a frame: its column of ids, and those of its other columns that hold texts."""
    from assay.io.frame_tables import Places

    places = Places.of(frame, ("topic",), None, "topics")
    places.needs("topic")
    ids = places.texts("topic")
    fields: list[dict[str, str]] = [{} for _ in ids]
    for at, name in enumerate(frame.names):
        cells = frame.values(at)
        holds_texts = all(isinstance(cell, str) or is_missing(cell) for cell in cells)
        if at == places.at["topic"] or not holds_texts:
            continue
        field = "title" if name.strip().lower() in TEXTS else name
        for own, cell in zip(fields, cells, strict=True):
            own[field] = "" if is_missing(cell) else cell
    return _checked(frame.where, ids, fields)


def _from_sgml(where: str, text: str) -> Topics:
    ids: list[str] = []
    fields: list[dict[str, str]] = []
    for topic in re.split(r"<top>", text, flags=re.IGNORECASE)[1:]:
        body = re.split(r"</top>", topic, flags=re.IGNORECASE)[0]
        parts = re.findall(r"<(\w+)>([^<]*)", body)
        found = {NAMES.get(tag.lower(), tag.lower()): _clean(value) for tag, value in parts}
        number = found.pop("number", "")
        if not number:
            raise DataError(f"{where}: topic {len(ids) + 1} has no <num>; a topic starts with <top> <num> Number: 401")
        ids.append(number)
        fields.append(found)
    return _checked(where, ids, fields)


def _from_lines(where: str, text: str) -> Topics:
    ids: list[str] = []
    fields: list[dict[str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        topic, tab, title = line.partition("\t") if "\t" in line else line.partition(":")
        if not tab:
            raise DataError.at(where, number, f"{line[:40]!r} is not `id<tab>text`; TREC topics start with <top>")
        ids.append(topic.strip())
        fields.append({"title": title.strip()})
    return _checked(where, ids, fields)


def _clean(value: str) -> str:
    return re.sub(r"\s+", " ", re.sub(LABELS, "", value)).strip()


def _checked(where: str, ids: list[str], fields: list[dict[str, str]]) -> Topics:
    if not ids:
        raise DataError(f"{where}: there is no topic")
    seen: set[str] = set()
    for topic in ids:
        if topic in seen:
            raise DataError(f"{where}: topic {topic!r} is there twice; every topic has one entry")
        seen.add(topic)
    return Topics(tuple(ids), tuple(fields))
