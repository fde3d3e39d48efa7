"""Files of standardization factors: measure, topic, mean, sd, runs, so that a collection is published with them.

A sixth column `scores` holds the scores of the reference runs, parted by blanks, where they were kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.io.rows import LARGEST_RANK
from assay.io.sheet import LARGEST, Sheet, read_sheet, write_sheet
from assay.standard.factors import Factors

COLUMNS = ("measure", "topic", "mean", "sd", "runs")


def write_factors(path: str | Path, parts: Sequence[Factors]) -> None:
    """Factors of one or several measures as CSV, TSV, JSONL or Parquet, all digits kept."""
    kept = all(f.scores is not None for f in parts)
    header = [*COLUMNS, "scores"] if kept else list(COLUMNS)
    write_sheet(path, header, [row for f in parts for row in _rows(f, kept)])


def _rows(f: Factors, kept: bool) -> list[list[object]]:
    plain = zip(f.topics, f.mean.tolist(), f.sd.tolist(), f.runs.tolist(), strict=True)
    rows: list[list[object]] = [[f.measure, *row] for row in plain]
    if kept and f.scores is not None:
        return [[*row, " ".join(map(repr, s.tolist()))] for row, s in zip(rows, f.scores, strict=True)]
    return rows


def read_factors(path: str | Path) -> dict[str, Factors]:
    """The factors of a file, by measure.

    A file without a column `measure` is one of measure "score". Every other column is needed; a value that is not a
    number, a topic with two lines, an sd below 0: an error that names the line or the topic.
    """
    sheet = read_sheet(path)
    topic, scores, measure = sheet.place("topic"), sheet.find("scores"), sheet.find("measure")
    numbers = [_column(sheet, name) for name in ("mean", "sd", "runs")]
    names = [row[measure].strip() if measure is not None else "score" for row in sheet.rows]
    if not names:
        raise DataError(f"{sheet.where}: there is a header but no line of factors")
    found: dict[str, Factors] = {}
    for name in dict.fromkeys(names):
        at = [i for i, n in enumerate(names) if n == name]
        mean, sd, runs = (column[at] for column in numbers)
        kept = None if scores is None else tuple(_scores(sheet, i, scores) for i in at)
        topics = tuple(sheet.rows[i][topic].strip() for i in at)
        found[name] = Factors(name, topics, mean, sd, runs.astype(np.int64), kept)
    return found


def _column(sheet: Sheet, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    place = sheet.place(name)
    largest = LARGEST_RANK if name == "runs" else LARGEST
    return np.array([sheet.finite(i, place, largest=largest) for i in range(len(sheet.rows))], dtype=np.float64)


def _scores(sheet: Sheet, row: int, place: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    try:
        return np.sort(np.array(sheet.rows[row][place].split(), dtype=np.float64))
    except ValueError:
        what = f"scores must be numbers parted by blanks: {sheet.rows[row][place]!r}"
        raise DataError.at(sheet.where, sheet.lines[row], what) from None
