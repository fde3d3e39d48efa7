"""How are the lines of a large run file cut between topics and read? By words, by cells, or by objects.

A form knows the topic of a line, and the runs in some lines of the file. It is found in the first lines, once for all
pieces.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from assay.core.arrays import Bytes
from assay.core.errors import DataError, NotCut
from assay.data import Run
from assay.io import trec
from assay.io._bytes.bits import NEWLINE
from assay.io._bytes.fields import BYTE_ORDER_MARK
from assay.io.column_names import Named, may_name_docs
from assay.io.content import Content
from assay.io.files import kind
from assay.io.recognition import Looked, looked_at
from assay.io.samples import Sample, separator_of

QUOTE = ord('"')


class LineForm(Protocol):
    """The form of the lines of a file."""

    @property
    def header(self) -> bytes:
        """The line that stands before the lines of every piece; empty where there is none."""
        ...

    @property
    def is_of_one_run(self) -> bool:
        """Whether all lines are of one run, whatever they are called."""
        ...

    def topic(self, line: bytes) -> bytes:
        """The topic of a line; empty where the line has none."""
        ...

    def runs(self, content: Content, *, ranks: bool, threads: int) -> list[Run]:
        """The runs in the lines of a piece, with the header before them."""
        ...


@dataclass(frozen=True)
class WordLines:
    """Lines of words, the first of which is the topic: runs of TREC and of MS MARCO.

    >>> WordLines().topic(b"1 Q0 a 1 2.5 bm25")
    b'1'
    """

    format: str = "trec"
    header: bytes = b""
    is_of_one_run: bool = True

    def topic(self, line: bytes) -> bytes:
        """The first word, unless it begins a comment."""
        words = line.split(None, 1)
        return words[0] if words and not words[0].startswith(b"#") else b""

    def runs(self, content: Content, *, ranks: bool, threads: int) -> list[Run]:
        """The run of the lines."""
        if self.format == "trec":
            return [trec.run_in(content, ranks=ranks, threads=threads)]
        from assay.io import msmarco

        return [msmarco.run_in(content)]


@dataclass(frozen=True)
class CellLines:
    """Lines of cells below a header: CSV and TSV.

    >>> form = CellLines(b"rank,topic,doc\\n", ",", 1, {})
    >>> form.topic(b"1,q1,d7")
    b'q1'
    """

    header: bytes
    separator: str
    place: int
    columns: Mapping[str, str]
    is_of_one_run: bool = False

    def topic(self, line: bytes) -> bytes:
        """The cell of the topic."""
        text = line.decode(errors="replace")
        try:
            cells = next(csv.reader([text], delimiter=self.separator), [])
        except csv.Error:
            cells = []
        return cells[self.place].encode() if len(cells) > self.place else b""

    def runs(self, content: Content, *, ranks: bool, threads: int) -> list[Run]:
        """The runs of the lines; an error if a cell goes over several lines, where they may have been cut."""
        from assay.io import tabular

        text = content.text
        if has_open_quotes(text.buffer[: text.length]):
            what = "a cell goes over several lines, and the file is too large to be read whole"
            raise NotCut(f"{content.where}: {what}; write it without line ends in cells, or as Parquet")
        return tabular.runs_in(content, Sample("table"), self.columns)


def has_open_quotes(text: Bytes) -> bool:
    """Whether a quote is open at the end of some line.

    >>> [has_open_quotes(np.frombuffer(text, np.uint8)) for text in (b'1,"a"\\n', b'1,"a\\n')]
    [False, True]
    """
    quotes = np.flatnonzero(text == QUOTE)
    if not len(quotes):
        return False
    ends = np.append(np.flatnonzero(text == NEWLINE), len(text))
    quotes_before = np.searchsorted(quotes, ends)
    return bool((quotes_before % 2).any())


@dataclass(frozen=True)
class ObjectLines:
    """A JSON object on each line, which is a row: JSONL.

    >>> ObjectLines("qid", frozenset({"topic"}), {}).topic(b'{"qid": 7, "docno": "d7"}')
    b'7'
    """

    topic_field: str
    """What the field of the topic is called."""
    names: frozenset[str]
    """Those of our columns that the first lines have."""
    columns: Mapping[str, str]
    header: bytes = b""
    is_of_one_run: bool = False

    def topic(self, line: bytes) -> bytes:
        """The field of the topic."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # the reader of the piece says what is wrong
            return b""
        return str(value.get(self.topic_field, "")).encode() if isinstance(value, dict) else b""

    def runs(self, content: Content, *, ranks: bool, threads: int) -> list[Run]:
        """The runs of the lines; an error if they have other fields than the first lines."""
        from assay.io import tabular

        return tabular.runs_in(content, Sample("jsonl"), self.columns, same=self.names)


def form_of(where: str, head: bytes, columns: Named = None) -> LineForm | None:
    """The form of a file that begins with these bytes; None where it is no run, or none that can be cut.

    >>> form_of("bm25.csv", b"topic,doc,score\\n1,a,2.5\\n").place
    0
    """
    whole_lines = head[: head.rfind(b"\n") + 1]
    if not whole_lines:
        return None
    try:
        looked = looked_at(Content.of_bytes(where, whole_lines), columns)
    except DataError:  # half a JSON value, or a file that is no run at all: the whole of it says more
        return None
    formats = [format for kind_, format in looked.possible if kind_ == "run"]
    if not formats:
        return None
    if formats[0] in ("trec", "msmarco"):
        return WordLines(formats[0])
    if looked.sample.syntax == "table":
        return _cells_of(where, whole_lines, columns)
    if looked.sample.syntax == "jsonl":
        return _objects_of(where, looked, columns)
    return None


def _cells_of(where: str, head: bytes, columns: Named) -> LineForm | None:
    from assay.io.tabular import run_places

    first = head[: head.find(b"\n") + 1].removeprefix(BYTE_ORDER_MARK)
    text = first.decode(errors="replace")
    separator = separator_of(text, kind(where))
    header = next(csv.reader([text], delimiter=separator), [])
    if not header:  # empty lines first: the reader of whole tables knows what to do
        return None
    places = run_places(header, columns, where)
    if "run" in places and may_name_docs(header, places["run"], columns):
        return None
    return CellLines(first, separator, places["topic"], columns or {})


def _objects_of(where: str, looked: Looked, columns: Named) -> LineForm | None:
    from assay.io import nested
    from assay.io.tabular import run_places

    header = looked.sample.header
    if nested.is_nested(looked.sample):
        return None
    places = run_places(header, columns, where)
    if "run" in places and may_name_docs(header, places["run"], columns):
        return None
    return ObjectLines(header[places["topic"]], frozenset(places), columns or {})
