"""The beginning of a file as a sample: is it a table, lines of words, JSON, or something that is not read at all?"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from assay.core.errors import DataError
from assay.io.column_names import USUAL
from assay.io.content import HEAD, Content
from assay.io.files import table_format
from assay.io.json_values import json_value
from assay.io.rows import BLANKS, number, with_line_feeds

T = TypeVar("T")
SEEN_LINES = 50
"""Lines at the start of a text that are looked at."""
PARQUET, ARROW = b"PAR1", b"ARROW1"
NOT_READ = (
    (b"%PDF", "a PDF document; give the data itself"),
    (b"PK\x03\x04", "a ZIP archive; unpack it first"),
    (b"BZh", "compressed with bzip2; decompress it, or write it with gzip, xz or zstd"),
    (b"\x04\x22\x4d\x18", "compressed with LZ4, which is not read; decompress it, or save it as .json"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"FEA1", "a Feather file of version 1; write it as version 2 or as Parquet"),
    (b"SQLite format 3", "an SQLite database; write the table as CSV or Parquet"),
    (b"\x89PNG", "a picture; give the data itself"),
    (b"\xff\xd8\xff", "a picture; give the data itself"),
    (b"\x93NUMPY", "a NumPy array; write it as a table"),
    (b"\x80\x04\x95", "a Python pickle, which is not read; write it as JSON or as a table"),
    (b"\xd0\xcf\x11\xe0", "an Office document; save the sheet as CSV"),
)
"""The first bytes of files that are not read, and what they are."""
HTML = (b"<!doctype html", b"<html", b"<head", b"<body")
TREC_TOPIC = re.compile(rb"<top>\s*<")
JSON_START = re.compile(rb'[\[{]\s*["{}\[\]]')
_WORD, _BLANKS, _RANK, _SCORE = r"[!-~]++", r"[ \t]++", r"[0-9]++", r"-?+[0-9]++(?:\.[0-9]++)?+"
_RUN_LINE = _BLANKS.join([f"(?!#){_WORD}", "[qQ]?+0", _WORD, _RANK, _SCORE, _WORD])
RUN_LINES = re.compile(rf"(?:{_RUN_LINE}\r?\n){{1,{SEEN_LINES}}}+".encode())
"""Lines of a run as most programs write them, which are recognised at once."""
TEXTS = frozenset({"text", "title", "contents", "body", "question", "description", "narrative"})
"""Names of columns that hold texts."""
ALL_NAMES = TEXTS.union({"_id", "id", "number"}, *USUAL.values())


@dataclass(frozen=True)
class Sample:
    """How a file is written, and its first rows: words of lines, cells of a table, objects of JSONL.

    syntax is one of empty, parquet, arrow, json, jsonl, sgml, table and lines. header holds the names of the columns
    of a table, or of the fields of the first object; value is the whole of a JSON file.
    """

    syntax: str
    header: tuple[str, ...] = ()
    rows: list[list[str]] = field(default_factory=list)
    objects: list[dict[str, Any]] = field(default_factory=list)
    value: Any = None
    described: bool = False
    """Whether a run of NTCIR begins with a line that describes the system."""
    are_texts: bool = False
    """Whether every line is an id, a tab and a text."""
    are_of_run: bool = False
    """Whether every line is one of a TREC run; then nobody asks for the rows."""


def sample_of(content: Content, known: Collection[str] = ()) -> Sample:
    """The sample of a file; one that is of no use here (a page, a picture, an archive) is an error that says so.

    known: names of columns that the person gives.
    """
    head = content.head
    for start, what in NOT_READ:
        if head.startswith(start) and not (start == b"BZh" and head[4:10] != b"1AY&SY"):
            raise DataError(f"{content.where}: the file is {what}")
    binary = binary_format(head)
    if binary is not None:
        return Sample(binary)
    start = head.lstrip(BLANKS)
    if not start:
        return Sample("empty")
    if start[:1] in b"{[" and JSON_START.match(start):
        return _of_json(content, known)
    if start[:1] == b"<":
        return _of_tags(content, start[:4096].lower())
    if _has_run_lines(content):  # most files: nothing else needs to be looked for
        return Sample("lines", are_of_run=True)
    return _of_text(content, known)


def binary_format(head: bytes) -> str | None:
    """Whether a file that begins with these bytes is parquet or arrow; None if it is neither.

    >>> binary_format(b"PAR1"), binary_format(b"topic,doc")
    ('parquet', None)
    """
    if head.startswith(PARQUET):
        return "parquet"
    return "arrow" if head.startswith(ARROW) else None


def table_syntax(sample: Sample, ending: str) -> str:
    """How a table is written: parquet, arrow, json, jsonl, or separated by commas or tabs.

    Where the content is no table that can be recognised, the ending says whose parser is to say what is wrong.
    """
    if sample.syntax in ("parquet", "arrow", "json", "jsonl"):
        return sample.syntax
    named = table_format(f"x.{ending}")
    if sample.syntax != "table" and named in ("parquet", "arrow", "jsonl"):
        return named
    return "separated"


def _of_tags(content: Content, start: bytes) -> Sample:
    if start.startswith(HTML) or (start.startswith((b"<?xml", b"<!--")) and b"<html" in start):
        what = "an HTML page, perhaps one that stands for a download that failed"
        raise DataError(f"{content.where}: the file is {what}; fetch the file itself")
    if TREC_TOPIC.search(start):
        return Sample("sgml")
    return _of_text(content, ())


def _of_json(content: Content, known: Collection[str]) -> Sample:
    """JSON Lines if the first line is a value by itself and others follow; else one JSON value.

    A file that is no JSON may still have lines of words, the first of which is an id like [[1]].
    """
    start = content.head.lstrip(BLANKS)
    is_long = len(content.head) < content.text.length
    if is_long and b"\n" not in start:  # the first line goes on beyond the head
        start = content.bytes().lstrip(BLANKS)
    first, _, rest = start.partition(b"\n")
    is_named = table_format(content.where) == "jsonl"
    has_lines = bool(rest.strip(BLANKS)) or (is_named and not _is_nested(first))
    if has_lines and _is_value(first):
        lines = [line for line in rest.split(b"\n", SEEN_LINES)[:SEEN_LINES] if line.strip(BLANKS)]
        objects = [value for value in map(_value_or_none, [first, *lines]) if isinstance(value, dict)]
        return Sample("jsonl", _fields_of(objects), objects=objects)
    if is_named and not _is_value(first):  # the reader of lines says what is wrong with the first
        return Sample("jsonl")
    try:
        value = json_value(content.where, _decoded(content))
    except DataError:
        if _has_words_alone(content):
            return _of_text(content, known)
        raise
    if isinstance(value, list):
        objects = [record for record in value[:SEEN_LINES] if isinstance(record, dict)]
        return Sample("json", _fields_of(objects), objects=objects, value=value)
    return Sample("json", value=value)


def _has_words_alone(content: Content) -> bool:
    """Whether lines that begin as JSON does are those of a run, of judgments or of scores: as many words in each, the
    name of no field among them, and a number or a level (L2) at the end of each or in its place in a run.
    """
    lines = _first_lines(content)
    if any('":' in line for line in lines):
        return False
    words = [line.split() for line in lines]
    has_one_size = len({len(line) for line in words}) == 1
    return has_one_size and all(is_run_line(line) or _ends_in_number(line) for line in words)


def _ends_in_number(words: list[str]) -> bool:
    last = words[-1]
    return 3 <= len(words) <= 5 and (number(last) is not None or number(last.removeprefix("L")) is not None)


def _fields_of(objects: list[dict[str, Any]]) -> tuple[str, ...]:
    """The names of the fields of objects, in the order in which they come."""
    return tuple(dict.fromkeys(name for record in objects for name in record))


def _decoded(content: Content) -> str:
    raw = content.bytes()
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8: byte {raw[error.start]:#04x}; save the file as UTF-8"
        raise DataError.at(content.where, line, what) from None


def _is_nested(line: bytes) -> bool:
    """Whether a line holds objects alone, and more than one: topics, and not the fields of a row."""
    value = _value_or_none(line)
    return isinstance(value, dict) and len(value) > 1 and all(isinstance(inner, dict) for inner in value.values())


def _is_value(line: bytes) -> bool:
    return _value_or_none(line) is not None


def _value_or_none(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _of_text(content: Content, known: Collection[str]) -> Sample:
    lines = _first_lines(content)
    described = bool(lines) and lines[0].lower().startswith("<sysdesc>")
    if described:
        lines = lines[1:]
    words = [line.split() for line in lines]
    if not lines:
        return Sample("empty", described=described)
    if all(map(is_run_line, words)):
        return Sample("lines", described=described, are_of_run=True)
    cells = _cells(lines, content.ending)
    if cells and (_is_header(cells[0], known) or _is_above_numbers(cells)):
        return Sample("table", tuple(cells[0]), cells[1:])
    are_texts = all(map(_is_text_line, lines))
    if are_texts or _are_fields(lines, words) or table_format(content.where) is None:
        return Sample("lines", rows=words, described=described, are_texts=are_texts)
    return Sample("table", tuple(cells[0]) if cells else (lines[0],), cells[1:])


def _has_run_lines(content: Content) -> bool:
    """Whether all of the first lines are lines of a run as most programs write them."""
    head = content.head
    found = RUN_LINES.match(head)
    if found is None:
        return False
    return found.end() == content.text.length or head.count(b"\n", 0, found.end()) == SEEN_LINES


def _first_lines(content: Content) -> list[str]:
    """The first lines that hold anything and are no comments; the last that is seen may be cut, and is left out."""
    head = content.head
    is_cut = len(head) == HEAD < content.text.length
    some = head.split(b"\n", SEEN_LINES)
    if len(some) > SEEN_LINES:
        head = head.removesuffix(some[-1])
    text = with_line_feeds(head).decode(errors="replace")
    lines = text.split("\n", SEEN_LINES)
    if len(lines) > SEEN_LINES or (is_cut and len(lines) > 1):
        lines = lines[:-1]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def separator_of(first: str, how: str) -> str:
    """What separates the cells of a text with this first line: a tab if the line has one and no comma, else a comma.

    Where it has both, the ending `how` decides.

    >>> separator_of("topic,doc", "tsv"), separator_of("topic\\tdoc, docid", "tsv"), separator_of("a\\tb", "txt")
    (',', '\\t', '\\t')
    """
    return "\t" if "\t" in first and ("," not in first or how == "tsv") else ","


def _cells(lines: list[str], ending: str) -> list[list[str]]:
    """The cells of the lines of a table; none if the first line is not separated by commas or tabs."""
    separator = separator_of(lines[0], ending)
    if separator not in lines[0]:
        return []
    try:
        return list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return [line.split(separator) for line in lines]


def _is_header(cells: list[str], known: Collection[str]) -> bool:
    """Whether these are names of columns: two of them are usual or given by the person, and none is a number."""
    lowered = {cell.strip().lower() for cell in cells}
    if any(number(cell) is not None for cell in lowered if cell):
        return False
    return len(lowered & ALL_NAMES) > 1 or bool(lowered & {name.strip().lower() for name in known})


def _is_above_numbers(cells: list[list[str]]) -> bool:
    """Whether the first line is a header: no number is in it, and a column below it holds nothing else."""
    first, *rows = cells
    if not rows or len(first) < 2 or any(len(row) != len(first) for row in rows):
        return False
    if first[0] == "runid" or any(number(cell.strip()) is not None for cell in first):  # trec_eval begins with its run
        return False
    return any(all(number(row[at].strip()) is not None for row in rows) for at in range(len(first)))


def _is_text_line(line: str) -> bool:
    """Whether a line is an id, a tab and a text in words."""
    name, tab, text = line.partition("\t")
    words = text.split()
    is_name = bool(name.strip()) and len(name.split()) == 1
    is_of_run = any(word.upper() == "Q0" for word in words[:4])
    numbers = sum(number(word) is not None for word in words)
    in_words = not words or 2 * numbers <= len(words)
    return bool(tab) and is_name and "\t" not in text and in_words and not is_of_run


def is_run_line(words: list[str]) -> bool:
    """Whether these are the words of a run: a rank and a score in their places, and not numbers alone, as in a matrix.

    >>> is_run_line("1 Q0 a 1 2.5 bm25".split()), is_run_line("bm25 .2 .3 .4 .1 .2".split())
    (True, False)
    """
    if len(words) < 6 or number(words[3]) is None or number(words[4]) is None:
        return False
    return words[1].upper() in ("Q0", "0") or number(words[5]) is None


def _are_fields(lines: list[str], words: list[list[str]]) -> bool:
    """Whether lines are those of a TREC file or another of words, whatever the ending says."""
    if most(words, is_run_line):
        return True
    has_size = all(3 <= len(line) <= 5 for line in words)
    are_cells = all(line.split("\t") == cells or "," not in line for line, cells in zip(lines, words, strict=True))
    return has_size and are_cells


def most(lines: Sequence[T], fits: Callable[[T], bool]) -> bool:
    """Whether more than half of the lines fit: then the others are bad lines, and not of another format.

    >>> most([1, 2, 3], lambda number: number > 1)
    True
    """
    return 2 * sum(map(fits, lines)) > len(lines)
