"""Files of the factors of millions of topics: the same Parquet table as of few, written and read by columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, UsageError
from assay.data.topic_names import TopicNames
from assay.io import topic_scores
from assay.io.files import naming_file, table_format, written
from assay.standard.factors import Factors

if TYPE_CHECKING:
    import polars

NAMES_AT_ONCE = 1 << 18
"""Names of topics that are made strings at a time."""


def has_many_topics(parts: Sequence[Factors]) -> bool:
    """Whether these factors are of millions of topics, which are written by columns."""
    return any(len(part.topics) > topic_scores.FEW for part in parts)


def write_factor_columns(path: str | Path, parts: Sequence[Factors]) -> None:
    """Factors of one or several measures as one Parquet file, whole or not at all."""
    import polars

    target = Path(path)
    check_factor_columns(target)
    frames = []
    column: dict[int, polars.Series] = {}  # measures of one folder share the names of its topics
    for part in parts:
        if id(part.topics) not in column:
            column[id(part.topics)] = _texts(part.topics)
        names = column[id(part.topics)]
        numbers = {"mean": part.mean, "sd": part.sd, "runs": part.runs}
        frame = polars.LazyFrame({"topic": names, **numbers})
        signature = part.signature or part.measure
        # Constants are made while the file is written, never as whole columns.
        constants = {"measure": polars.lit(part.measure), "signature": polars.lit(signature)}
        if any(one.sd_of != "population" for one in parts):
            constants["sd_of"] = polars.lit(part.sd_of)
        columns = ("measure", "topic", "mean", "sd", "runs", "signature", "sd_of")
        whole = frame.with_columns(**constants).select(c for c in columns if c != "sd_of" or c in constants)
        frames.append(whole)
    with written(target) as beside, naming_file(path), topic_scores.said_by_system():
        polars.concat(frames).sink_parquet(beside, compression="zstd")


def check_factor_columns(path: Path) -> None:
    """An error where the factors of millions of topics would go to another file than one of columns."""
    if table_format(path) != "parquet" or path.suffix != ".parquet":
        raise UsageError(
            f"{path}: the factors of millions of topics go to a Parquet file; name one, e.g. factors.parquet"
        )


def is_factor_columns(path: str | Path) -> bool:
    """Whether a file is Parquet, with millions of lines, which are read by columns."""
    import polars

    file = Path(path)
    if file.suffix != ".parquet" or not file.is_file():
        return False
    try:
        lines = polars.scan_parquet(file, glob=False).select(polars.len()).collect().item()
    except polars.exceptions.PolarsError:
        return False  # the reader of small files says what is wrong
    return int(lines) > topic_scores.FEW


def read_factor_columns(path: str | Path, *, measure: str, wanted: str | None) -> dict[str, Factors]:
    """The factors of a large Parquet file by measure; only those of the wanted one where the file has it.

    measure: that of a file without a column `measure`.
    """
    import polars

    lines = polars.scan_parquet(path, glob=False)
    header = lines.collect_schema().names()
    for column in ("topic", "mean", "sd", "runs"):
        if column not in header:
            raise DataError(f"{path}: no column {column!r}; the columns are: {', '.join(header)}")
    if "scores" in header:
        raise DataError(f"{path}: scores of reference runs are read up to {topic_scores.FEW:,} lines; use --reference")
    if "measure" not in header:
        return {measure: _factors(path, lines, header, measure)}
    measures = lines.select(polars.col("measure").unique(maintain_order=True)).collect()["measure"].to_list()
    if wanted in measures:
        measures = [wanted]
    found = {}
    for name in measures:
        of_measure = lines.filter(polars.col("measure") == name)
        found[name] = _factors(path, of_measure, header, name)
    return found


def _factors(path: str | Path, lines: polars.LazyFrame, header: Sequence[str], measure: str) -> Factors:
    """The factors of one measure, from the lines of it alone."""
    import polars

    frame = lines.select("topic", "mean", "sd", "runs").collect()
    for column in frame.get_columns():
        is_right = column.dtype == polars.String if column.name == "topic" else column.dtype.is_numeric()
        if not is_right or column.null_count():
            raise DataError(f"{path}: column {column.name!r} has empty cells or is of type {column.dtype}")
    names: Any = TopicNames(topic_scores.ids_of(frame["topic"]))
    return Factors(
        measure=measure,
        topics=names,
        mean=frame["mean"].cast(polars.Float64).to_numpy(),
        sd=frame["sd"].cast(polars.Float64).to_numpy(),
        runs=frame["runs"].cast(polars.Int64).to_numpy(),
        signature=_one_value(path, lines, header, "signature", measure) or measure,
        sd_of=_one_value(path, lines, header, "sd_of", measure) or "population",
    )


def _one_value(path: str | Path, lines: polars.LazyFrame, header: Sequence[str], column: str, measure: str) -> str:
    """What the lines of one measure have in a column, the same in all; nothing where there is no such column."""
    import polars

    if column not in header:
        return ""
    values = lines.select(polars.col(column).unique(maintain_order=True)).collect()[column].to_list()
    if len(values) > 1:
        name = {"signature": "signatures"}.get(column, f"kinds of {column}")
        what = f"{measure} has two {name}, {values[0]!r} and {values[1]!r}; write a file for each"
        raise DataError(f"{path}: {what}")
    return str(values[0] or "")


def _texts(names: Sequence[str]) -> polars.Series:
    """Names as a column of texts."""
    import polars

    pieces = []
    for start in range(0, max(1, len(names)), NAMES_AT_ONCE):
        some = list(names[start : start + NAMES_AT_ONCE])
        pieces.append(polars.Series("topic", some, dtype=polars.String))
    return polars.concat(pieces)
