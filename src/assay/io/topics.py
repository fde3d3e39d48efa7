"""Topics in and out: TREC's SGML with or without closing tags, `id<tab>text` lines, BEIR's queries, tables; frames."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.dataframes import AnyFrame, is_missing
from assay.core.errors import DataError, UsageError
from assay.data import Topics
from assay.data.given import id_texts
from assay.io import irds
from assay.io.column_names import USUAL, Named, column_places, listed
from assay.io.content import Content
from assay.io.files import write_whole
from assay.io.recognition import looked_at
from assay.io.samples import Sample
from assay.io.sheet import Sheet, decoded, sheet_in, write_sheet

NAMES = {"num": "number", "title": "title", "desc": "description", "narr": "narrative"}
TEXTS = ("query", "text")
"""What others call the text of a topic that has no more than one; here it is the title."""
LABELS = r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*"
IDS = ("_id", "id", "number")
"""Columns that hold the ids of topics where no other does; `query` is their text beside one of these."""


def read_topics(path: str | Path, *, columns: Named = None) -> Topics:
    """The topics of a file; ids stay strings, as they are written.

    SGML topics may leave their tags open: a field ends where the next tag starts. A table has a column of ids, and the
    others are fields; so have the queries of BEIR (JSONL with _id and text). A field `query` or `text` is the title,
    unless there is one. `irds:ID` is the queries of a dataset of ir_datasets. columns: {"topic": the column of ids}.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "topics.txt"
    >>> _ = path.write_text("<top><num> Number: 401 <title> foreign minorities</top>")
    >>> read_topics(path).ids
    ('401',)
    """
    if irds.is_irds(path):
        return irds.topics(path)
    content = Content.of(path)
    looked = looked_at(content, columns)
    looked.as_kind(content, "topics")
    sample = looked.sample
    if sample.syntax == "sgml":
        return _from_sgml(content.where, decoded(content.where, content.bytes()))
    if sample.syntax in ("lines", "empty") or _is_headless(sample, columns):
        return _from_lines(content.where, decoded(content.where, content.bytes()))
    sheet = sheet_in(content, sample)
    place = _place_of_ids(sheet, columns)
    return topics_of_sheet(sheet, place)


def _is_headless(sample: Sample, columns: Named) -> bool:
    """Whether a table of two columns is lines `id<tab>text`: nothing in its first line is a name."""
    names = {name.strip().lower() for name in sample.header}
    known = {*IDS, *USUAL["topic"], "text", "title"}
    return sample.syntax == "table" and len(sample.header) == 2 and names.isdisjoint(known) and not columns


def _place_of_ids(sheet: Sheet, columns: Named) -> int:
    places = column_places(sheet.header, ("topic",), columns, "topics", sheet.where)
    of_ids = sheet.find(*IDS)
    found = places.get("topic")
    is_weak = found is not None and sheet.header[found].strip().lower() == "query" and not columns
    if of_ids is not None and (found is None or is_weak):
        return of_ids
    if found is None:
        how = "say which holds the ids with --column topic=... (columns={'topic': ...})"
        raise DataError(f"{sheet.where}: no column 'topic'; the columns are: {listed(sheet.header)}; {how}")
    return found


def topics_of_sheet(sheet: Sheet, place: int) -> Topics:
    """The rows of a table as topics, the column at that place their ids; empty cells are fields that are not there."""
    names = _field_names(sheet.header, place)
    fields = []
    for row in sheet.rows:
        named = zip(names, row, strict=True)
        fields.append({name: cell for at, (name, cell) in enumerate(named) if at != place and cell})
    return _checked(sheet.where, [row[place] for row in sheet.rows], fields)


def _field_names(header: Sequence[str], of_ids: int) -> list[str]:
    """The columns of a table as fields: what others call the only text of a topic is its title, unless it has one."""
    lowered = [name.strip().lower() for name in header]
    texts = [at for at, name in enumerate(lowered) if name in TEXTS and at != of_ids]
    names = list(header)
    if len(texts) == 1 and "title" not in lowered:
        names[texts[0]] = "title"
    return names


def write_topics(path: str | Path, topics: Topics, *, format: str = "trec") -> None:
    """Topics as TREC's SGML, as lines `id<tab>text` (tsv), as queries of BEIR, or as a table."""
    if format == "trec":
        write_whole(path, "".join(_sgml(path, topic, texts) for topic, texts in topics.to_dict().items()))
    elif format == "lines":
        write_whole(path, "".join(_line(path, topic, texts) for topic, texts in topics.to_dict().items()))
    elif format == "beir":
        rows = [[topic, _one_text(path, topic, texts)] for topic, texts in topics.to_dict().items()]
        write_sheet(path, ["_id", "text"], rows, format="jsonl")
    else:
        names = list(dict.fromkeys(name for texts in topics.fields for name in texts))
        rows = [[topic, *(texts.get(name, "") for name in names)] for topic, texts in topics.to_dict().items()]
        write_sheet(path, ["topic", *names], rows, format=format)


def _sgml(path: str | Path, topic: str, texts: dict[str, str]) -> str:
    """One topic between <top> and </top>."""
    tags = {name: tag for tag, name in NAMES.items()}
    lines = [f"<num> Number: {topic}"]
    for name, text in texts.items():
        tag = tags.get(name, name)
        if not re.fullmatch(r"\w+", tag) or "<" in text or _clean(text) != text:
            what = f"topic {topic!r}: the field {name!r} cannot be written between tags ({text[:40]!r})"
            raise DataError(f"{path}: {what}; write .csv or .jsonl")
        lines.append(f"<{tag}> {text}")
    return "<top>\n" + "\n".join(lines) + "\n</top>\n\n"


def _line(path: str | Path, topic: str, texts: dict[str, str]) -> str:
    text = _one_text(path, topic, texts)
    if "\t" in topic or "\n" in text or text != text.strip() or topic != topic.strip() or topic.startswith("#"):
        raise DataError(f"{path}: topic {topic!r} cannot be a line `id<tab>text`; write .csv or .jsonl")
    return f"{topic}\t{text}\n"


def _one_text(path: str | Path, topic: str, texts: dict[str, str]) -> str:
    """The only text of a topic; several are an error."""
    if len(texts) != 1:
        what = f"topic {topic!r} has {len(texts)} texts ({', '.join(texts)}), and this format holds one"
        raise DataError(f"{path}: {what}; write .csv, .jsonl or TREC's own")
    return next(iter(texts.values()))


def topics_of(thing: Any, *, columns: Named = None) -> Topics:
    """Topics from a path, {topic: text}, {topic: {field: text}}, a data frame, or as they are.

    A frame has a column of ids under one of the usual names and columns of texts, as those of PyTerrier (qid, query).

    >>> topics_of({"q1": "foreign minorities"}).to_dict()
    {'q1': {'title': 'foreign minorities'}}
    """
    if isinstance(thing, Topics):
        return thing
    if isinstance(thing, str | Path):
        return read_topics(thing, columns=columns)
    frame = AnyFrame.of(thing)
    if frame is not None:
        return _from_frame(frame, columns)
    if not isinstance(thing, Mapping) or not all(isinstance(texts, str | Mapping) for texts in thing.values()):
        raise UsageError(
            f"{type(thing).__name__} where topics are expected; give a path, {{topic: text}}, a data frame with the "
            "columns topic and title, or a Topics object"
        )
    fields = [{"title": texts} if isinstance(texts, str) else dict(texts) for texts in thing.values()]
    return _checked("topics", id_texts(thing, "topic", "topics"), fields)


def _from_frame(frame: AnyFrame, columns: Named) -> Topics:
    """The topics of a frame: its column of ids, and those of its other columns that hold texts."""
    from assay.io.frame_tables import Places

    places = Places.of(frame, ("topic",), columns, "topics")
    places.needs("topic")
    ids = places.texts("topic")
    fields: list[dict[str, str]] = [{} for _ in ids]
    for at, name in enumerate(_field_names(frame.names, places.at["topic"])):
        cells = frame.values(at)
        holds_texts = all(isinstance(cell, str) or is_missing(cell) for cell in cells)
        if at == places.at["topic"] or not holds_texts:
            continue
        for own, cell in zip(fields, cells, strict=True):
            own[name] = "" if is_missing(cell) else cell
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


def _checked(where: str, ids: Sequence[str], fields: Sequence[dict[str, str]]) -> Topics:
    if not ids:
        raise DataError(f"{where}: there is no topic")
    seen: set[str] = set()
    for topic in ids:
        if topic in seen:
            raise DataError(f"{where}: topic {topic!r} is there twice; every topic has one entry")
        seen.add(topic)
    return Topics(tuple(ids), tuple(fields))
