"""The rows of a frame divided by topic into parts, each as the lines of a CSV file: what the parser does for a split.

It runs in the process of `_parser`, where the frame is.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

PART, RUN = "part of the topic", "run of the row"
IDS = frozenset({"run", "topic", "doc"})


def divided(frame: Any, names: dict[str, str], parts: int) -> tuple[dict[str, Any], list[bytes]]:
    """What was divided, and the lines of each run and part. names: our columns and what they are called here.

    A part is that of `parts.layout.part_of`. A row without an id or a number is named instead of dividing anything.
    """
    table = _with_our_names(frame, names)
    problem = _first_problem(table) or _odd_ids(frame, names)
    if problem is not None:
        return {"problem": problem}, []
    marked = table.with_columns(_part_numbers(table["topic"], parts))
    by = [RUN, PART] if RUN in marked.columns else [PART]
    pieces: list[dict[str, Any]] = []
    texts: list[bytes] = []
    for key, rows in marked.partition_by(by, as_dict=True, maintain_order=True, include_key=False).items():
        text = rows.write_csv(include_header=False).encode()
        run = key[0] if len(key) == 2 else None
        pieces.append({"run": run, "part": key[-1], "rows": len(rows), "size": len(text)})
        texts.append(text)
    return {"pieces": pieces, "top_grade": _top_grade(table)}, texts


def _with_our_names(frame: Any, names: dict[str, str]) -> Any:
    """Our columns alone, numbers of 64 bits and everything else as text."""
    import polars

    chosen = []
    for ours, theirs in names.items():
        column = frame[theirs]
        dtype = column.dtype
        if dtype.is_float():
            column = column.cast(polars.Float64)
        elif not dtype.is_integer():
            column = column.cast(polars.String)
        chosen.append(column.rename(RUN if ours == "run" else ours))
    return polars.DataFrame(chosen)


def _first_problem(table: Any) -> dict[str, Any] | None:
    """The first row with an empty id or no number, and the column; None if all is fine."""
    import polars

    found = []
    for column in table.get_columns():
        is_wrong = column.is_null()
        if column.dtype == polars.String:
            is_wrong |= (column == "").fill_null(True)
        elif column.dtype == polars.Float64:
            is_wrong |= column.is_nan().fill_null(True)
        if is_wrong.any():
            found.append((is_wrong.arg_max(), column.name))
    if not found:
        return None
    row, name = min(found)
    return {"row": row, "column": "run" if name == RUN else name, "value": str(table[name][row])}


def _odd_ids(frame: Any, names: dict[str, str]) -> dict[str, Any] | None:
    """A column of ids that holds neither texts nor whole numbers; None if there is none."""
    import polars

    texts = (polars.String, polars.Categorical, polars.Enum, polars.Binary)
    for ours in IDS & names.keys():
        dtype = frame[names[ours]].dtype
        if not dtype.is_integer() and dtype not in texts:
            return {"row": None, "column": ours, "value": str(dtype)}
    return None


def _part_numbers(topics: Any, parts: int) -> Any:
    """The part of each row: the CRC-32 of its topic modulo the number of parts."""
    import polars

    distinct = topics.unique()
    numbers = [crc32(topic.encode()) % parts for topic in distinct.to_list()]
    return topics.replace_strict(distinct, numbers, return_dtype=polars.Int64).rename(PART)


def _top_grade(table: Any) -> float | None:
    import polars

    if "grade" not in table.columns:
        return None
    highest: float | None = table["grade"].cast(polars.Float64, strict=False).max()
    return highest
