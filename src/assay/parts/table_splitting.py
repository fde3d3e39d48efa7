"""How do large tables of runs and judgments become parts? Some rows at a time, by the rule of `assay split`.

Parts of tables are CSV files with our names of columns: lines can be added to them, and they hold every id.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.errors import DataError, NotCut
from assay.io._bytes.fields import BYTE_ORDER_MARK
from assay.io.column_names import may_name_docs
from assay.io.columns import DividedRows, divided_rows, shape_of
from assay.io.content import Content
from assay.io.files import STANDARD_INPUT
from assay.io.files import kind as ending_of
from assay.io.line_forms import has_open_quotes
from assay.io.nested import is_nested
from assay.io.recognition import looked_at
from assay.io.samples import Sample, binary_format, separator_of
from assay.io.tabular import qrels_places, run_places
from assay.io.topic_cuts import TextPiece

ROWS = 1 << 19
"""Rows of a Parquet or Arrow file that are divided at a time."""
ORDER = ("topic", "doc", "rank", "score", "grade", "probability")
"""The columns of a part, as far as the table has them."""


@dataclass(frozen=True)
class TableForm:
    """A table that can be divided: how it is written, and what our columns are called in it."""

    where: str
    how: str
    names: Mapping[str, str]
    header: bytes = b""
    separator: str = ","

    @property
    def is_binary(self) -> bool:
        """Whether its rows are read by their numbers, and not as lines."""
        return self.how in ("parquet", "arrow")

    @property
    def part_header(self) -> bytes:
        """The first line of every part."""
        ours = [name for name in self.names if name != "run"]
        return (",".join(ours) + "\n").encode()

    def divided(self, asked: dict[str, object], parts: int, first: int, raw: bytes = b"") -> DividedRows:
        """Some rows by run and part; what is wrong with a row is an error. first: the line of the first row."""
        found = divided_rows(self.where, {"how": self.how, **asked}, self.names, parts, raw)
        if found.problem is not None:
            raise _problem(self.where, found.problem, first)
        return found


def table_form(where: str, head: bytes, kind: str) -> TableForm | None:
    """The form of a table that begins with these bytes; None of any other file. kind: run or qrels."""
    binary = binary_format(head)
    if binary is not None:
        if where == STANDARD_INPUT:
            raise DataError(f"{where}: Parquet and Arrow are not split as they come; give the path of the file")
        return TableForm(where, binary, _names(where, shape_of(where, binary).names, kind))
    if not head.strip():
        return None
    content = Content.of_bytes(where, head[: head.rfind(b"\n") + 1] or head)
    try:
        looked = looked_at(content)
    except DataError:  # half a JSON value, or no text at all
        return None
    looked.as_kind(content, kind)
    sample = looked.sample
    if sample.syntax == "jsonl" and not is_nested(sample):
        return TableForm(where, "jsonl", _names(where, sample.header, kind))
    return _separated_form(content, sample, kind) if sample.syntax == "table" else None


def _separated_form(content: Content, sample: Sample, kind: str) -> TableForm:
    data = content.bytes()
    first = data[: data.find(b"\n") + 1]
    text = first.decode(errors="replace")
    separator = separator_of(text, ending_of(content.where))
    header = next(csv.reader([text], delimiter=separator), list(sample.header))
    return TableForm(content.where, "separated", _names(content.where, header, kind), first, separator)


def _names(where: str, header: Sequence[str], kind: str) -> dict[str, str]:
    """Our columns, in the order of the parts, and what the table calls them."""
    places = run_places(header, None, where) if kind == "run" else qrels_places(header, None, where)
    if "run" in places and may_name_docs(header, places["run"], None):
        what = f"the column {header[places['run']]!r} may name the runs or the docs"
        raise DataError(f"{where}: {what}; call it run, or leave it out")
    names = {ours: header[places[ours]] for ours in ORDER if ours in places}
    return names | ({"run": header[places["run"]]} if "run" in places else {})


def divided_file(form: TableForm, parts: int) -> Iterator[DividedRows]:
    """The rows of a Parquet or Arrow file, some at a time."""
    rows = shape_of(form.where, form.how).rows
    for start in range(0, rows, ROWS):
        asked = {"path": form.where, "start": start, "rows": min(ROWS, rows - start)}
        yield form.divided(asked, parts, start + 1)


def divided_text(form: TableForm, blocks: Iterable[TextPiece], parts: int) -> Iterator[DividedRows]:
    """The lines of a CSV, TSV or JSONL file, a block at a time; its header is in the first block."""
    for block in blocks:
        data = block.data
        first = block.before + 1
        if block.before == 0:
            data = data.removeprefix(BYTE_ORDER_MARK)
        if form.header and block.before == 0:
            data = data.partition(b"\n")[2]
            first = 2
        if form.header and has_open_quotes(np.frombuffer(data, dtype=np.uint8)):
            what = "a cell goes over several lines, where the file may be cut"
            raise NotCut(f"{form.where}: {what}; write it without line ends in cells, or as Parquet")
        if data.strip():
            yield form.divided({"separator": form.separator}, parts, first, form.header + data)


def _problem(where: str, problem: Mapping[str, object], first: int) -> DataError:
    column = problem["column"]
    if problem["row"] is None:
        what = f"the column of the {column} holds neither texts nor whole numbers ({problem['value']})"
        return DataError(f"{where}: {what}; write its ids as texts")
    line = first + int(str(problem["row"]))
    if column in ("topic", "doc"):
        return DataError.at(where, line, "the topic or the doc is empty; every row needs both")
    if column == "run":
        return DataError.at(where, line, "the name of the run is empty; every row needs one")
    return DataError.at(where, line, f"{column} is not a number: {problem['value']!r}")
