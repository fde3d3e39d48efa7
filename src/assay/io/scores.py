"""Score tables in and out, in two shapes: a matrix (a row per run, a column per topic) and tidy rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.data.scores import ScoreMatrix
from assay.io.rows import number
from assay.io.sheet import Sheet, read_sheet, write_sheet

LARGEST = 1e100
"""Larger scores would overflow when they are squared and summed."""
TIDY = ("run", "topic", "measure", "score")


def read_scores(path: str | Path, *, transpose: bool = False, measure: str | None = None) -> list[ScoreMatrix]:
    """The score matrices of a file, one per measure.

    A tidy file has the columns run, topic, score and perhaps measure and signature. Any other file is a matrix: a row
    per run whose first cell is its name (with `transpose` a row per topic); the first header cell may hold the measure.
    """
    sheet = read_sheet(path)
    lowered = [h.strip().lower() for h in sheet.header]
    tidy = {"run", "topic"} <= set(lowered) and ({"score", "value"} & set(lowered))
    matrices = _from_tidy(sheet) if tidy else [_from_matrix(sheet, transpose, measure)]
    if measure is None or not tidy:
        return matrices
    found = [m for m in matrices if m.measure == measure]
    if not found:
        known = ", ".join(m.measure for m in matrices)
        raise DataError(f"{sheet.where}: no measure {measure!r}; the file has: {known}")
    return found


def _from_matrix(sheet: Sheet, transpose: bool, measure: str | None) -> ScoreMatrix:
    names, first = _names_and_first_column(sheet, transpose)
    values = np.array([[_score(sheet, i, j) for j in range(first, len(sheet.header))] for i in range(len(sheet.rows))])
    columns = [h.strip() for h in sheet.header[first:]]
    if not columns:
        raise DataError(f"{sheet.where}: one column, no scores; columns are parted by commas or tabs")
    corner = sheet.header[0].strip() if first and not transpose else ""
    values = values.reshape(len(sheet.rows), len(columns))
    title = measure or corner or "score"
    if transpose:
        return ScoreMatrix.of(values.T, runs=columns, topics=names, measure=title)
    return ScoreMatrix.of(values, runs=names, topics=columns, measure=title)


def _names_and_first_column(sheet: Sheet, transpose: bool) -> tuple[list[str], int]:
    """Row names and the first column of scores: released matrices often have no column of names when transposed."""
    if not sheet.rows:
        raise DataError(f"{sheet.where}: there is a header but no row of scores")
    if transpose and sheet.header[0].strip().lower() not in ("", "topic", "query", "qid"):
        try:
            float(sheet.rows[0][0])
            return [str(i + 1) for i in range(len(sheet.rows))], 0
        except ValueError:
            pass
    return [row[0].strip() for row in sheet.rows], 1


def _score(sheet: Sheet, row: int, column: int) -> float:
    value = number(sheet.rows[row][column].strip())
    if value is None:
        what = f"score of column {sheet.header[column]!r} is not a number: {sheet.rows[row][column]!r}"
        raise DataError.at(sheet.where, sheet.lines[row], what)
    if not abs(value) <= LARGEST:
        what = f"score of column {sheet.header[column]!r} is {sheet.rows[row][column]!r}; scores must be finite"
        what += f" and at most {LARGEST:g} in size" if np.isfinite(value) else ""
        raise DataError.at(sheet.where, sheet.lines[row], what)
    return value


def _from_tidy(sheet: Sheet) -> list[ScoreMatrix]:
    run, topic, score = (sheet.place("run"), sheet.place("topic"), sheet.place("score", "value"))
    measure, signature = sheet.find("measure"), sheet.find("signature")
    cells: dict[str, dict[tuple[str, str], float]] = {}
    signatures: dict[str, str] = {}
    for i, row in enumerate(sheet.rows):
        name = row[measure].strip() if measure is not None else "score"
        key = (row[run].strip(), row[topic].strip())
        if key in cells.setdefault(name, {}):
            what = f"run {key[0]!r} has two scores of {name} for topic {key[1]!r}"
            raise DataError.at(sheet.where, sheet.lines[i], what)
        cells[name][key] = _score(sheet, i, score)
        signatures[name] = row[signature].strip() if signature is not None else name
    return [_filled(sheet.where, name, found, signatures[name]) for name, found in cells.items()]


def _filled(where: str, measure: str, found: dict[tuple[str, str], float], signature: str) -> ScoreMatrix:
    runs = list(dict.fromkeys(r for r, _ in found))
    topics = natural_order({t for _, t in found})
    for r in runs:
        for t in topics:
            if (r, t) not in found:
                raise DataError(f"{where}: run {r!r} has no {measure} for topic {t!r}; every run needs every topic")
    values = [[found[r, t] for t in topics] for r in runs]
    return ScoreMatrix.of(values, runs=runs, topics=topics, measure=measure, signature=signature)


def write_scores(path: str | Path, matrices: Sequence[ScoreMatrix], *, shape: str = "tidy") -> None:
    """Score matrices as a tidy file, or one of them as a matrix."""
    if shape == "matrix":
        if len(matrices) != 1:
            raise DataError(f"{path}: a matrix file holds one measure, not {len(matrices)}; write tidy rows")
        m = matrices[0]
        rows = ([run, *scores] for run, scores in zip(m.runs, m.values.tolist(), strict=True))
        write_sheet(path, [m.measure, *m.topics], rows)
        return
    tidy = (
        (run, topic, m.measure, score, m.signature)
        for m in matrices
        for run, scores in zip(m.runs, m.values.tolist(), strict=True)
        for topic, score in zip(m.topics, scores, strict=True)
    )
    write_sheet(path, [*TIDY, "signature"], tidy)
