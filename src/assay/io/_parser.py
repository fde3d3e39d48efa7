"""The process in which polars parses tables: bytes or the path of a file in, columns out, until standard input ends.

A crafted file can abort the process that parses it (a panic, a stack or an allocation without end within native code).
Here that costs this process alone: `columns`, which started it, says so of the file and starts another for the next.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any, BinaryIO

from assay.core.memory import keep_freed_memory

SIGNED_64 = 2**63
FEW_TEXTS = 4
"""A column has few texts if it has at least this many rows for each change of its text."""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each request: a line of JSON that says what is wanted, and the bytes of the table where it has a size."""
    while line := requests.readline():
        asked = json.loads(line)
        raw = requests.read(asked["size"])
        try:
            header, parts = _answer(asked, raw)
        except BaseException as error:  # a panic is no Exception, and whatever it was, the next file may be fine
            header, parts = {"error": _first_line(error)}, []
        answers.write(json.dumps(header).encode() + b"\n")
        for part in parts:
            answers.write(part)
        answers.flush()
        del raw, parts  # while nothing is asked, nothing is held


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _answer(asked: dict[str, Any], raw: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The shape of a table in a file, or the columns of some rows of it or of all: as they are, or divided."""
    if "path" in asked and "columns" not in asked:
        return _shape(_opened(asked["path"], asked["how"])), []
    frame = _some_rows(asked) if "path" in asked else _parsed(raw, asked["how"], asked["separator"])
    if "ids" in asked:
        frame = _with_texts(frame, asked["ids"])
    if "parts" in asked:
        from assay.io._division import divided

        return divided(frame, asked["names"], asked["parts"])
    return described(frame)


def _shape(table: Any) -> dict[str, Any]:
    import polars

    rows = table.select(polars.len()).collect().item()
    return {"rows": rows, "names": table.collect_schema().names()}


def _some_rows(asked: dict[str, Any]) -> Any:
    table = _opened(asked["path"], asked["how"])
    return table.select(asked["columns"]).slice(asked["start"], asked["rows"]).collect()


def _with_texts(frame: Any, ids: list[str]) -> Any:
    """The same frame, with ids that are integers as their digits: here that is fast."""
    import polars

    whole_numbers = [name for name in ids if frame[name].dtype.is_integer()]
    return frame.with_columns(polars.col(whole_numbers).cast(polars.String)) if whole_numbers else frame


def _opened(path: str, how: str) -> Any:
    """A file of which only the rows and columns that are asked for are read."""
    import glob

    import polars

    if how == "parquet":
        return polars.scan_parquet(path, glob=False)
    return polars.scan_ipc(glob.escape(path))


def _parsed(raw: bytes, how: str, separator: str) -> Any:
    import polars

    if how == "parquet":
        return polars.read_parquet(io.BytesIO(raw))
    if how == "arrow":
        return polars.read_ipc(io.BytesIO(raw))
    if how == "jsonl":
        return polars.read_ndjson(io.BytesIO(raw), infer_schema_length=None)
    return polars.read_csv(io.BytesIO(raw), separator=separator, infer_schema=False)


def described(frame: Any) -> tuple[dict[str, Any], list[bytes]]:
    """What the columns are, and their content: for each its values or the bytes and lengths of its texts."""
    described, parts = [], []
    for column in frame.get_columns():
        kind, content = _content(column)
        missing = column.is_null().to_numpy().tobytes() if column.null_count() else b""
        described.append({"name": column.name, "kind": kind, "sizes": [len(missing), *map(len, content)]})
        parts += [missing, *content]
    return {"rows": len(frame), "columns": described}, parts


def _content(column: Any) -> tuple[str, list[bytes]]:
    """The kind of a column (integer, float, text, or other: the texts of anything else) and its content."""
    import polars

    dtype = column.dtype
    if dtype.is_integer() and _fits_64_bits(column):
        return "integer", [column.cast(polars.Int64).fill_null(0).to_numpy().tobytes()]
    if dtype in (polars.Float32, polars.Float64):
        return "float", [column.cast(polars.Float64).fill_null(0.0).to_numpy().tobytes()]
    if dtype == polars.String or dtype.is_integer() or dtype in (polars.Categorical, polars.Enum, polars.Binary):
        return "text", texts(column.cast(polars.String))
    values = ["" if value is None else str(value) for value in column]
    return "other", texts(polars.Series(values, dtype=polars.String))


def _fits_64_bits(column: Any) -> bool:
    low, high = column.min(), column.max()
    return low is None or (low >= -SIGNED_64 and high < SIGNED_64)


def texts(column: Any) -> list[bytes]:
    """The bytes of all texts, one after the other, and how many each has.

    Where texts mostly are those of the row before, as topics are, each is there once, and how often it is repeated.
    """
    import polars

    filled = column.fill_null("")
    repeats = []
    is_new = filled != filled.shift(1, fill_value=None)
    firsts = is_new.fill_null(True).arg_true()
    if FEW_TEXTS * len(firsts) < len(filled):
        counts = polars.concat([firsts.cast(polars.Int64), polars.Series([len(filled)])]).diff().slice(1)
        repeats = [counts.to_numpy().tobytes()]
        filled = filled.gather(firsts)
    together = filled.str.join("").item() or ""
    return [together.encode(), filled.str.len_bytes().cast(polars.Int64).to_numpy().tobytes(), *repeats]


if __name__ == "__main__":
    keep_freed_memory()
    serve(sys.stdin.buffer, sys.stdout.buffer)
