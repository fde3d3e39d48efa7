"""Runs and judgments from Arrow tables in memory, by column: what a worker of a cluster is handed.

Anything that speaks Arrow's own protocol is one: tables and record batches of pyarrow, frames of polars and others.
A table that is not plain (empty cells, a doc twice) is left to the reader of frames, which says what is wrong in which
row.
"""

from __future__ import annotations

import io
from typing import Any

from assay.data import Qrels, Run
from assay.io import _parser
from assay.io.column_names import OF_QRELS, OF_RUNS, column_places
from assay.io.columns import Columns, columns_from
from assay.io.frames import Frame
from assay.io.tabular import qrels_by_column, runs_by_column

NEEDED_OF_RUNS = frozenset({"topic", "doc", "score"})
NEEDED_OF_QRELS = frozenset({"topic", "doc", "grade"})


def is_arrow(thing: Any) -> bool:
    """Whether a thing hands out its columns by Arrow's protocol.

    >>> is_arrow([1, 2])
    False
    """
    return hasattr(thing, "__arrow_c_stream__") or hasattr(thing, "__arrow_c_array__")


def runs_in_arrow(table: Any, *, name: str = "run") -> list[Run] | None:
    """The runs of an Arrow table; None where it is not plain, or empty.

    >>> import polars
    >>> runs_in_arrow(polars.DataFrame({"topic": ["1", "1"], "doc": ["a", "b"], "score": [1.5, 2.5]}))
    [Run('run', 1 topic, 2 docs)]
    """
    frame = _frame_of(table)
    places = column_places(frame.names, OF_RUNS, None, "runs", "the table")
    if not len(frame) or not set(places) >= NEEDED_OF_RUNS:
        return None
    return runs_by_column(frame, places, None, name)


def qrels_in_arrow(table: Any, *, name: str = "qrels") -> Qrels | None:
    """The judgments of an Arrow table; None where it is not plain, or empty, or where they are by intent.

    >>> import polars
    >>> qrels_in_arrow(polars.DataFrame({"topic": ["1", "1"], "doc": ["a", "b"], "grade": [0, 2]}))
    Qrels('qrels', 1 topic, 2 docs, grades 0–2)
    """
    frame = _frame_of(table)
    places = column_places(frame.names, OF_QRELS, None, "judgments", "the table")
    if not len(frame) or not set(places) >= NEEDED_OF_QRELS or "intent" in places:
        return None
    return qrels_by_column(frame, places, name)


def _frame_of(table: Any) -> Frame:
    """The columns of a table, as those of a file are."""
    import polars

    header, parts = _parser.described(polars.DataFrame(table))
    content = io.BytesIO(b"".join(parts))
    columns: Columns = columns_from(header, content)
    return Frame(columns)
