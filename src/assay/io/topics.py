"""Topic files: TREC's SGML with or without closing tags, `id<tab>text` lines, and tables with a column of ids."""

from __future__ import annotations

import re
from pathlib import Path

from assay.core.errors import DataError
from assay.data import Topics
from assay.io import irds
from assay.io.files import TABULAR, kind, read_bytes
from assay.io.sheet import decoded, read_sheet

NAMES = {"num": "number", "title": "title", "desc": "description", "narr": "narrative"}
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
        place = sheet.place("topic", "query", "qid", "query_id", "id", "number")
        fields = [
            {h: cell for j, (h, cell) in enumerate(zip(sheet.header, row, strict=True)) if j != place}
            for row in sheet.rows
        ]
        return _checked(where, [row[place] for row in sheet.rows], fields)
    text = decoded(where, read_bytes(path))
    return _from_sgml(where, text) if re.search(r"<top>", text, re.IGNORECASE) else _from_lines(where, text)


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
