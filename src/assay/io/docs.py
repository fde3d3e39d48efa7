"""The texts of docs: corpora of BEIR (JSONL with _id, title, text), `id<tab>text` lines, tables with a column doc."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from assay.core.errors import DataError
from assay.io import irds
from assay.io.column_names import Named, column_places, listed
from assay.io.content import Content
from assay.io.files import write_whole
from assay.io.recognition import Looked, looked_at
from assay.io.samples import separator_of
from assay.io.sheet import Sheet, decoded, place_of, sheet_in, write_sheet

IDS = ("_id", "id")
"""Columns that hold the ids of docs where no other does."""
TEXTS = ("title", "text", "body", "contents", "abstract", "passage")
"""Fields that hold the text of a doc; a title goes first."""
Texts = dict[str, dict[str, str]]
"""{doc: {field: text}}."""


def read_docs(path: str | Path, *, docs: Collection[str] | None = None, columns: Named = None) -> Texts:
    """The texts of the docs of a file, {doc: {field: text}}; a corpus of BEIR has the fields title and text.

    docs: only those of them that the file has. A corpus may be far larger than memory: lines, JSONL and CSV are then
    read until all of them are found. A file that has none is an error. `irds:ID` is the docs of a dataset of
    ir_datasets. columns: {"doc": the column of ids}.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "corpus.jsonl"
    >>> _ = path.write_text('{"_id": "d1", "title": "Cats", "text": "They sleep."}\\n')
    >>> read_docs(path)
    {'d1': {'title': 'Cats', 'text': 'They sleep.'}}
    """
    if docs is None:
        return irds.docs(path) if irds.is_irds(path) else docs_in(Content.of(path), columns)
    from assay.io.wanted_docs import read_wanted

    wanted = set(docs)
    found = irds.docs(path, wanted) if irds.is_irds(path) else read_wanted(path, wanted, columns)
    if wanted and not found:
        some = f"none of the {len(wanted)} docs is in this file, e.g. {min(wanted)!r}"
        raise DataError(f"{path}: {some}; give their texts")
    return found


def text_of(fields: Mapping[str, str]) -> str:
    """The text of a doc in one: its title and what else is usual; where nothing of that is there, all fields.

    >>> text_of({"text": "They sleep.", "title": "Cats", "url": "https://example.org"})
    'Cats They sleep.'
    """
    lowered = {name.strip().lower(): text for name, text in fields.items()}
    usual = [lowered[name] for name in TEXTS if name in lowered]
    return " ".join(text for text in usual or fields.values() if text)


def docs_in(content: Content, columns: Named) -> Texts:
    """All docs in the content of a file."""
    looked = looked_at(content, columns)
    looked.as_kind(content, "docs")
    if has_lines(looked, content, columns):
        return _from_lines(content)
    sheet = sheet_in(content, looked.sample)
    return _from_sheet(sheet, columns)


def has_lines(looked: Looked, content: Content, columns: Named) -> bool:
    """Whether a file is lines `id<tab>text`: no line is a header with a column of docs, and tabs separate its cells."""
    sample = looked.sample
    if sample.syntax in ("lines", "empty"):
        return True
    if sample.syntax != "table" or columns:
        return False
    first = content.head.partition(b"\n")[0].decode(errors="replace")
    return separator_of(first, content.ending) == "\t" and _found_place(sample.header, None, content.where) is None


def doc_place(header: Sequence[str], columns: Named, where: str) -> int:
    """Where the ids of docs stand among the columns of a table; an error if none holds them."""
    place = _found_place(header, columns, where)
    if place is None:
        how = "say which holds the ids with --column doc=... (columns={'doc': ...})"
        raise DataError(f"{where}: no column 'doc'; the columns are: {listed(header)}; {how}")
    return place


def _found_place(header: Sequence[str], columns: Named, where: str) -> int | None:
    place = column_places(header, ("doc",), columns, "docs", where).get("doc")
    return place_of(header, IDS) if place is None else place


def split_line(line: str) -> tuple[str, str]:
    """The doc of a line, and its text behind a tab, or a blank where there is none; further tabs are blanks.

    >>> split_line("d1\\tcats\\tand dogs"), split_line("d2 birds")
    (('d1', 'cats and dogs'), ('d2', 'birds'))
    """
    line = line.rstrip("\r\n")
    doc, tab, text = line.partition("\t")
    if not tab:
        doc, _, text = line.strip().partition(" ")
    return doc, text.replace("\t", " ")


def _from_lines(content: Content) -> Texts:
    docs: Texts = {}
    for number, line in enumerate(decoded(content.where, content.bytes()).split("\n"), 1):
        if not line.strip():
            continue
        doc, text = split_line(line)
        if not text and "\t" not in line:
            raise DataError.at(content.where, number, f"{line[:40]!r} is not `id<tab>text`")
        _add(docs, content.where, number, doc, {"text": text})
    return _checked(content.where, docs)


def _from_sheet(sheet: Sheet, columns: Named) -> Texts:
    place = doc_place(sheet.header, columns, sheet.where)
    docs: Texts = {}
    for line, row in zip(sheet.lines, sheet.rows, strict=True):
        _add(docs, sheet.where, line, row[place], fields_of(sheet.header, row, place))
    return _checked(sheet.where, docs)


def fields_of(header: Sequence[str], row: Sequence[str], place: int) -> dict[str, str]:
    """The fields of a doc from a row of a table: all columns but that of the ids, empty cells left out."""
    named = zip(header, row, strict=True)
    return {name: cell for at, (name, cell) in enumerate(named) if at != place and cell}


def _add(docs: Texts, where: str, line: int, doc: str, texts: dict[str, str]) -> None:
    if not doc:
        raise DataError.at(where, line, "the id of the doc is empty; every doc needs one")
    if doc in docs:
        raise DataError.at(where, line, f"doc {doc!r} is there twice; every doc has one entry")
    docs[doc] = texts


def _checked(where: str, docs: Texts) -> Texts:
    if not docs:
        raise DataError(f"{where}: there is no doc")
    return docs


def write_docs(path: str | Path, docs: Texts, *, format: str = "beir") -> None:
    """Docs as a corpus of BEIR, as lines `id<tab>text`, or as a table."""
    if format == "lines":
        write_whole(path, "".join(_line(path, doc, texts) for doc, texts in docs.items()))
        return
    names = list(dict.fromkeys(name for texts in docs.values() for name in texts))
    rows = [[doc, *(texts.get(name, "") for name in names)] for doc, texts in docs.items()]
    if format != "beir":
        write_sheet(path, ["doc", *names], rows, format=format)
        return
    if not set(names) <= {"title", "text"}:
        other = next(name for name in names if name not in ("title", "text"))
        raise DataError(f"{path}: docs have a field {other!r}, and BEIR's have title and text; write .csv or .jsonl")
    rows = [[doc, texts.get("title", ""), texts.get("text", "")] for doc, texts in docs.items()]
    write_sheet(path, ["_id", "title", "text"], rows, format="jsonl")


def _line(path: str | Path, doc: str, texts: dict[str, str]) -> str:
    text = texts.get("text", "")
    is_odd = set(texts) != {"text"} or "\t" in doc or "\t" in text or "\n" in text or "\r" in text
    if is_odd:
        raise DataError(f"{path}: doc {doc!r} cannot be a line `id<tab>text`; write .jsonl or .parquet")
    return f"{doc}\t{text}\n"
