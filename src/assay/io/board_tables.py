"""Scores of many collections: a file for each, tables with a column `collection`, or tables of means alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.data.quantities import UNNAMED, canonical
from assay.data.scores import ScoreMatrix
from assay.io.column_names import OF_COLLECTIONS, Named, column_places
from assay.io.content import Content
from assay.io.files import STANDARD_INPUT, file_stem
from assay.io.samples import sample_of
from assay.io.score_files import of_measures, only_measure, scores_of_collections
from assay.io.scores import from_tidy
from assay.io.sheet import Sheet, read_sheet, sheet_in

ONE_TOPIC = "mean"
"""What the only topic is called of a collection of which only means are known."""
NO_SCORE = frozenset({"", "-", "–", "na", "n/a", "nan", "null", "none"})
"""Cells of a table of means that say that there is no score."""


def read_collections(
    paths: Sequence[Path],
    *,
    measures: Sequence[str | Sequence[str]] = (),
    transpose: bool = False,
    means: bool = False,
    name: str | None = None,
    force: str | None = None,
    columns: Named = None,
) -> dict[str, ScoreMatrix]:
    """{collection: scores} of files that hold one collection each, or of tables with a column `collection`.

    A tidy table has the columns run, collection, score, and topic unless it holds means. means: the tables are
    matrices of means, a row per run and a column per collection; an empty cell is one that is missing.
    """
    found: dict[str, list[ScoreMatrix]] = {}
    others: list[Path] = []
    for path in paths:
        sheet = None if str(path) == STANDARD_INPUT else _sheet_of_collections(path, columns)
        if means and sheet is None:
            parts = _from_means(read_sheet(path), transpose, name or file_stem(path) or UNNAMED)
        elif sheet is not None:
            parts = _from_column(sheet, columns, name)
            _refuse_shape(sheet.where, transpose, means)
        else:
            others.append(path)
            continue
        for label, matrices in parts.items():
            found.setdefault(label, []).extend(matrices)
    scores = {label: _one(matrices, measures, name, force) for label, matrices in found.items()}
    if others:
        of_files = scores_of_collections(
            others, measures=measures, transpose=transpose, name=name, force=force, columns=columns
        )
        twice = next((label for label in of_files if label in scores), None)
        if twice is not None:
            raise DataError(f"{twice}: a collection of a table and a file have this name; rename the file")
        scores |= of_files
    return scores


def _refuse_shape(where: str, transpose: bool, means: bool) -> None:
    """An error where a table that says what its columns are is said to be a matrix."""
    if transpose or means:
        option = "--transpose" if transpose else "--means"
        raise DataError(f"{where}: the table has a column for collections, and is no matrix; leave out {option}")


def _sheet_of_collections(path: Path, columns: Named) -> Sheet | None:
    """The table if it has a column of collections, one of runs and one of scores; None for any other file."""
    content = Content.of(path)
    try:
        sheet = sheet_in(content, sample_of(content))
    except DataError:  # no table; whoever reads it next says what is wrong with it
        return None
    lowered = {cell.strip().lower() for cell in sheet.header}
    named = (columns or {}).get("collection")
    if named not in sheet.header and "collection" not in lowered and "dataset" not in lowered:
        return None
    places = column_places(sheet.header, OF_COLLECTIONS, columns, "scores", sheet.where)
    return sheet if {"run", "collection", "score"} <= set(places) else None


def _from_column(sheet: Sheet, columns: Named, name: str | None) -> dict[str, list[ScoreMatrix]]:
    """The matrices of each collection of a tidy table; one topic where the table has means."""
    places = column_places(sheet.header, OF_COLLECTIONS, columns, "scores", sheet.where)
    at = places.pop("collection")
    rows_of: dict[str, list[int]] = {}
    for i, row in enumerate(sheet.rows):
        rows_of.setdefault(row[at].strip(), []).append(i)
    if not rows_of:
        raise DataError(f"{sheet.where}: there is a header but no row of scores")
    header = sheet.header
    if "topic" not in places:
        places["topic"] = len(header)
        header = [*header, "topic"]
    found = {}
    for label, chosen in rows_of.items():
        if not label:
            raise DataError.at(sheet.where, sheet.lines[chosen[0]], "the collection is empty; name it")
        rows = [sheet.rows[i] if len(header) == len(sheet.header) else [*sheet.rows[i], ONE_TOPIC] for i in chosen]
        part = Sheet(f"{sheet.where}, collection {label}", header, rows, [sheet.lines[i] for i in chosen])
        matrices = from_tidy(part, places)
        if name is not None and "measure" not in places:
            matrices = [replace(matrix, measure=name, signature=name) for matrix in matrices]
        found[label] = matrices
    return found


def _from_means(sheet: Sheet, transpose: bool, name: str) -> dict[str, list[ScoreMatrix]]:
    """One matrix of one topic for each column of a table of means, with the runs that have a score there."""
    labels = [cell.strip() for cell in sheet.header[1:]]
    runs = [row[0].strip() for row in sheet.rows]
    cells = np.full((len(runs), len(labels)), np.nan)
    for i, row in enumerate(sheet.rows):
        for j, cell in enumerate(row[1:], start=1):
            if cell.strip().lower() not in NO_SCORE:
                cells[i, j - 1] = sheet.finite(i, j)
    if transpose:
        labels, runs = runs, labels
        cells = cells.T
    if not labels or not runs:
        raise DataError(f"{sheet.where}: no scores; a table of means has a row per run and a column per collection")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise DataError(f"{sheet.where}: collection {twice!r} is there twice; names must differ")
    found = {}
    for label, column in zip(labels, cells.T, strict=True):
        there = np.isfinite(column)
        if not there.any():
            raise DataError(f"{sheet.where}: collection {label!r} has no score; leave it out")
        of_label = [run for run, known in zip(runs, there, strict=True) if known]
        found[label] = [ScoreMatrix.of(column[there][:, None], runs=of_label, topics=[ONE_TOPIC], measure=name)]
    return found


def _one(
    matrices: Sequence[ScoreMatrix],
    measures: Sequence[str | Sequence[str]],
    name: str | None,
    force: str | None,
) -> ScoreMatrix:
    """The one matrix of a collection: that of the measure asked for, or of the only one."""
    if name is not None and canonical(name) not in {canonical(matrix.measure) for matrix in matrices}:
        have = ", ".join(dict.fromkeys(matrix.measure for matrix in matrices))
        raise UsageError(f"--measure {name}: the tables name their measures themselves ({have}); choose with -m")
    chosen = of_measures(matrices, measures) if measures else list(matrices)
    return only_measure(chosen if force is None else [matrix.renamed(force) for matrix in chosen])
