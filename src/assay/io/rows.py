"""The line reader: one line after the other, slow and exact. It finds what is wrong with a file and says where.

The fast readers call it only when something is wrong; `--lenient` and `assay check` are made of it too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.core.errors import DataError

BLANKS = b"\t\n\x0b\x0c\r "
"""White space, as trec_eval has it."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
LARGEST_GRADE = 2**31 - 1
LARGEST_RANK = 2**53


@dataclass(frozen=True)
class Form:
    """The form of a line: how it is written, how many fields it may have, and what its last fields must be."""

    what: str
    form: str
    fields: range
    value: str
    problem: Callable[[list[str]], str | None]
    doc: int = 2
    """Which field is the doc."""


@dataclass(frozen=True)
class Row:
    """A line that is as it should be."""

    line: int
    topic: str
    doc: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Problem:
    """A line that is not as it should be, and why."""

    line: int
    what: str


@dataclass
class Reading:
    """The good and the bad lines of a file."""

    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def _run_problem(fields: list[str]) -> str | None:
    value = number(fields[4])
    if value is None or math.isnan(value):
        return f"score is not a number: {_short(fields[4])!r}"
    return overflow_of("score", fields[4])


def _rank_problem(text: str) -> str | None:
    rank = number(text)
    if rank is None or not abs(rank) <= LARGEST_RANK or rank != math.floor(rank):
        return f"rank is not a whole number: {text!r}"
    return None


def _ranked_problem(fields: list[str]) -> str | None:
    """As of a run whose ranks are used."""
    return _rank_problem(fields[3]) or _run_problem(fields)


def _qrels_problem(fields: list[str]) -> str | None:
    value = number(fields[3])
    if value is None or not (math.isfinite(value) or overflow_of("grade", fields[3])):
        return f"grade is not a number: {_short(fields[3])!r}"
    if abs(value) > LARGEST_GRADE:
        return f"grade is too large: {fields[3][:60]!r}; grades go up to {LARGEST_GRADE}"
    if len(fields) == 5:
        probability = number(fields[4])
        if probability is None or not 0 < probability <= 1:
            return f"probability is not in (0, 1]: {fields[4]!r}"
    return None


RUN = Form("run", "topic Q0 doc rank score tag", range(6, 1 << 30), "score", _run_problem)
RANKED_RUN = replace(RUN, problem=_ranked_problem)
QRELS = Form("qrels", "topic 0 doc grade", range(4, 6), "grade", _qrels_problem)
RANKS = Form("run", "topic doc rank", range(3, 4), "rank", lambda fields: _rank_problem(fields[2]), doc=1)
"""A run without scores, as those of MS MARCO."""


def first_problem(where: str, data: bytes, form: Form) -> DataError:
    """The error for the first bad line of a file."""
    problems = read_rows(data, form).problems
    if not problems:
        return DataError(f"{where}: the lines do not all have the same number of fields")
    return DataError.at(where, problems[0].line, problems[0].what)


def read_rows(data: bytes, form: Form) -> Reading:
    """All lines of a file, good and bad; a doc that was there before in its topic is a bad line."""
    reading = Reading()
    seen: dict[tuple[str, str], int] = {}
    columns = 0
    for line, raw in lines(data):
        row = _row(line, raw, form, columns)
        if isinstance(row, Problem):
            reading.problems.append(row)
            continue
        columns = columns or (len(row.fields) if form is QRELS else 0)
        before = seen.setdefault((row.topic, row.doc), line)
        if before != line:
            what = f"doc {row.doc!r} is twice in topic {row.topic!r} (first on line {before})"
            reading.problems.append(Problem(line, f"{what}; keep one of the two lines"))
        else:
            reading.rows.append(row)
    return reading


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbered lines with something on them that is not a comment."""
    for number_, raw in enumerate(with_line_feeds(data.removeprefix(b"\xef\xbb\xbf")).split(b"\n"), 1):
        stripped = raw.strip(BLANKS)
        if stripped and not stripped.startswith(b"#"):
            yield number_, stripped


def with_line_feeds(data: bytes) -> bytes:
    """The text with every end of line, CR LF or CR alone, as LF.

    >>> with_line_feeds(b"a\\r\\nb\\rc")
    b'a\\nb\\nc'
    """
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def numbered_fields(where: str, data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line that holds any and is no comment; one that cannot be read is an error."""
    for line, raw in lines(data):
        problem = _unreadable(raw)
        if problem:
            raise DataError.at(where, line, problem)
        yield line, _fields(raw)


def _unreadable(raw: bytes) -> str | None:
    """What keeps the bytes of a line from being read as words."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte {raw[error.start]:#04x}; save the file as UTF-8"
    control = _CONTROL.search(raw)
    if control is None:
        return None
    return (
        f"control byte {control[0][0]:#04x} in {_short(raw)!r}; take it out, or write a blank if two fields meet there"
    )


def _fields(raw: bytes) -> list[str]:
    """Fields are separated as in the fast reader: by white space of ASCII, not by Unicode's other white space."""
    return [part.decode() for part in raw.split()]


def _row(line: int, raw: bytes, form: Form, columns: int) -> Row | Problem:
    unreadable = _unreadable(raw)
    if unreadable:
        return Problem(line, unreadable)
    fields = _fields(raw)
    if len(fields) not in form.fields or (columns and len(fields) != columns):
        return Problem(line, f'{len(fields)} fields: {_short(raw)!r}; a {form.what} line is "{form.form}"')
    problem = form.problem(fields)
    if problem:
        return Problem(line, problem if ";" in problem else f'{problem}; a {form.what} line is "{form.form}"')
    return Row(line, fields[0], fields[form.doc], tuple(fields))


def number(text: str) -> float | None:
    """A number as files write it, else None: no underscores, no blanks, no digits of other scripts."""
    try:
        return None if "_" in text or not text.isascii() else float(text)
    except ValueError:
        return None


def metadata(head: bytes) -> Mapping[str, Any]:
    """What the comments at the top of a run say in the `ir_metadata` form: the text, and its plain `key: value`s."""
    comments = re.match(rb"(?:\xef\xbb\xbf)?((?:[ \t]*#[^\n]*\n)+)", head)
    if not comments or b"ir_metadata" not in comments[1]:
        return {}
    text = [line.strip().removeprefix("#") for line in comments[1].decode(errors="replace").splitlines()]
    inside = [line for line in text if "ir_metadata" not in line]
    pairs = (re.fullmatch(r"\s*([\w. -]+):\s*(\S.*)", line) for line in inside)
    return {"ir_metadata": "\n".join(inside), **{p[1].strip(): p[2].strip().strip("'\"") for p in pairs if p}}


def overflow_of(what: str, text: str) -> str | None:
    """What is wrong with a number that is beyond all floats; `inf` says what it is, and 1e400 does not.

    >>> overflow_of("score", "inf"), overflow_of("score", "1e400").partition(":")[0]
    (None, 'score is too large for a 64-bit float')
    """
    if not math.isinf(float(text)) or "n" in text.lower():
        return None
    return f"{what} is too large for a 64-bit float: {_short(text)!r}; write inf if it is meant to be infinite"


def _short(given: bytes | str) -> str:
    text = given.decode(errors="replace") if isinstance(given, bytes) else given
    return text if len(text) <= 60 else text[:57] + "…"
