"""Score tables in and out, in two shapes: a matrix (a row per run, a column per topic) and tidy rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.data.quantities import UNNAMED, canonical
from assay.data.scores import ScoreMatrix
from assay.io.column_names import OF_SCORES, USUAL, Named, column_places
from assay.io.content import Content
from assay.io.files import file_stem
from assay.io.leaderboards import ALL, ORDERS, sheet_of_lines, write_lines
from assay.io.recognition import looked_at, refuse_other_table
from assay.io.rows import number
from assay.io.samples import SEEN_LINES
from assay.io.sheet import LARGEST, Sheet, sheet_in, write_sheet

TIDY = ("run", "topic", "measure", "score", "signature")
RUN_WORDS = frozenset({"run", "runs", "system", "systems", "tag"})
TOPIC_WORDS = frozenset({"topic", "topics", "query", "qid"})
"""First cells of a header that say what the rows of a matrix are. Any other names its measure."""


def read_scores(
    path: str | Path, *, transpose: bool = False, measure: str | None = None, columns: Named = None
) -> list[ScoreMatrix]:
    """The score matrices of a file, one per measure.

    A tidy file has the columns run, topic, score and perhaps measure and signature. Any other table is a matrix: a row
    per run whose first cell is its name (with `transpose` a row per topic); the first header cell may hold the measure,
    or the whole signature. A file that does not name its measure gives it the file's own name. JSON may also be
    {run: {topic: score}} or {measure: {run: {topic: score}}}; what trec_eval prints and the leaderboards of AutoJudge
    are recognised, and their means over topics are left out.

    measure: which of the measures of the file, or, where the file names none, what it holds.
    columns: our column → that of a tidy table, e.g. {"run": "model"}.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("AP,301,302\\nbm25,.2,.4\\ndense,.3,.4\\n")
    ...     file.flush()
    ...     read_scores(file.name)
    [ScoreMatrix('AP', 2 runs × 2 topics)]
    """
    matrices = score_tables(path, transpose=transpose, name=measure, columns=columns)
    if measure is None:
        return matrices
    name = canonical(measure)
    wanted = [m for m in matrices if canonical(m.measure) == name]
    if not wanted:
        known = ", ".join(m.measure for m in matrices)
        raise DataError(f"{path}: no measure {measure!r}; the file has: {known}")
    return wanted


def score_tables(
    path: str | Path, *, transpose: bool = False, name: str | None = None, columns: Named = None
) -> list[ScoreMatrix]:
    """All matrices of a file; `name` is the measure of a file that does not name it, else the file's own name."""
    content = Content.of(path)
    looked = looked_at(content, columns)
    format = looked.as_kind(content, "scores")
    name = name or file_stem(path) or UNNAMED
    if format == "json" and isinstance(looked.sample.value, dict):
        return _not_transposed(content.where, transpose, _from_nested(content.where, looked.sample.value, name))
    sheet = sheet_of_lines(content, format) if format in ORDERS else sheet_in(content, looked.sample)
    if not sheet.rows:
        raise DataError(f"{sheet.where}: there is a header but no row of scores")
    refuse_other_table(sheet.header, sheet.rows[:SEEN_LINES], "scores", sheet.where, columns)
    places = _tidy_places(sheet, columns)
    if places is None:
        return [_from_matrix(sheet, transpose, name)]
    matrices = _not_transposed(sheet.where, transpose, from_tidy(sheet, places))
    if "measure" in places:
        return matrices
    [nameless] = matrices
    signature = name if nameless.signature == UNNAMED else nameless.signature
    return [replace(nameless, measure=name, signature=signature)]


def _not_transposed(where: str, transpose: bool, matrices: list[ScoreMatrix]) -> list[ScoreMatrix]:
    """The matrices, where nobody asks to transpose what is no matrix."""
    if transpose:
        raise DataError(f"{where}: the table has a row for each run and topic, not a matrix; leave out --transpose")
    return matrices


def _tidy_places(sheet: Sheet, columns: Named) -> dict[str, int] | None:
    """Where the columns of a tidy table stand; None if the table is a matrix."""
    places = column_places(sheet.header, OF_SCORES, columns, "scores", sheet.where)
    if "score" not in places:
        value = sheet.find(*USUAL["value"])
        if value is not None:
            places["score"] = value
    return places if {"run", "topic", "score"} <= set(places) else None


def _from_nested(where: str, nested: Mapping[str, Any], name: str) -> list[ScoreMatrix]:
    """The matrices of {run: {topic: score}} or {measure: {run: {topic: score}}}."""
    from assay.io.frame_tables import matrix_of

    first = next(iter(nested.values()), None)
    has_measures = isinstance(first, dict) and isinstance(next(iter(first.values()), None), dict)
    by_measure = nested if has_measures else {name: nested}
    for measure, runs in by_measure.items():
        if not isinstance(runs, dict) or not all(isinstance(topics, dict) for topics in runs.values()):
            raise DataError(f"{where}: {measure!r}: scores are {{run: {{topic: score}}}}")
        for run, topics in runs.items():
            for topic, score in topics.items():
                is_number = isinstance(score, int | float) and not isinstance(score, bool)
                if not is_number or not abs(score) <= LARGEST:
                    what = f"the score is {score!r}; scores must be finite and at most {LARGEST:g} in size"
                    raise DataError(f"{where}: {measure}: run {run!r}, topic {topic!r}: {what}")
    return [matrix_of(runs, measure) for measure, runs in by_measure.items()]


def _from_matrix(sheet: Sheet, transpose: bool, name: str) -> ScoreMatrix:
    """The matrix of a sheet; `name` is its measure where the sheet does not say."""
    if transpose and _has_no_names(sheet):
        first = 0
        corner = ""
        rows = [str(i + 1) for i in range(len(sheet.rows))]
    else:
        first = 1
        corner = sheet.header[0].strip()
        rows = [row[0].strip() for row in sheet.rows]
    columns = [cell.strip() for cell in sheet.header[first:]]
    if not columns:
        raise DataError(f"{sheet.where}: one column, no scores; columns are separated by commas or tabs")
    _refuse_wrong_way_round(sheet.where, corner, rows, columns, transpose)
    places = range(first, len(sheet.header))
    scores = []
    for i in range(len(rows)):
        scores.append([_score(sheet, i, j) for j in places])
    values = np.array(scores)
    measure, signature = _from_corner(corner) or (name, name)
    runs, topics = rows, columns
    if transpose:
        runs, topics = columns, rows
        values = values.T
    return ScoreMatrix.of(
        values,
        runs=runs,
        topics=topics,
        measure=measure,
        signature=signature,
    )


def _has_no_names(sheet: Sheet) -> bool:
    """Whether a matrix with a row per topic begins with scores: released matrices often have no column of names."""
    corner = sheet.header[0].strip().lower()
    cells = [number(row[0].strip()) for row in sheet.rows]
    first = [cell for cell in cells if cell is not None]
    if corner in TOPIC_WORDS or corner == "" or len(first) < len(cells):
        return False
    # a column such as 301, 302, 303 is one of names all the same
    whole = all(value.is_integer() for value in first)
    distinct = len(set(first)) == len(first)
    return not (whole and distinct and max(first) > 1)


def _refuse_wrong_way_round(
    where: str, corner: str, rows: Sequence[str], columns: Sequence[str], transpose: bool
) -> None:
    """An error where the names say that rows are topics, or with transpose that they are runs.

    Topics are mostly numbers and runs are not. A first header cell `run` or `topic` says which, whatever the names.
    """
    rows_are = _kind_of_rows(corner, rows, columns)
    header = [corner, *columns] if corner else columns
    evidence = f"rows are called {_some(rows)}, columns {_some(header)}"
    if rows_are == "topic" and not transpose:
        what = f"{where}: the table looks transposed: {evidence}"
        raise DataError.with_way_out(what, "; use --transpose (transpose=True)")
    if rows_are == "run" and transpose:
        raise DataError(f"{where}: the table has one row per run: {evidence}; leave out --transpose")


def _kind_of_rows(corner: str, rows: Sequence[str], columns: Sequence[str]) -> str | None:
    """Whether a row is a run or a topic by the first header cell, else by the names; None where they do not say."""
    if corner.lower() in RUN_WORDS:
        return "run"
    if corner.lower() in TOPIC_WORDS:
        return "topic"
    rows_are_numbers = _all_numbers(rows)
    columns_are_numbers = _all_numbers(columns)
    if rows_are_numbers and not columns_are_numbers:
        return "topic"
    if columns_are_numbers and not rows_are_numbers:
        return "run"
    return None


def _all_numbers(names: Sequence[str]) -> bool:
    return all(number(name) is not None for name in names)


def _some(names: Sequence[str]) -> str:
    first = ", ".join(map(repr, names[:3]))
    return f"{first} …" if len(names) > 3 else first


def _from_corner(corner: str) -> tuple[str, str] | None:
    """Measure and signature that the first header cell of a matrix holds; None where it does not name a measure."""
    measure, _, rest = corner.partition("|")
    if measure.lower() in RUN_WORDS | TOPIC_WORDS | {""}:
        return None
    start_of_rest, _, _ = rest.partition("|")
    if rest and ":" not in start_of_rest:  # the signature in full follows the name
        return measure, rest
    return measure, corner


def _corner(matrix: ScoreMatrix) -> str:
    """What _from_corner reads: the signature, after the name of the measure where that is not its beginning."""
    if matrix.signature in ("", matrix.measure):
        return matrix.measure
    if matrix.signature.startswith(f"{matrix.measure}|"):
        return matrix.signature
    return f"{matrix.measure}|{matrix.signature}"


def _score(sheet: Sheet, row: int, column: int) -> float:
    cell = sheet.rows[row][column]
    value = number(cell.strip())
    if value is not None and abs(value) <= LARGEST:
        return value
    what = f"score of column {sheet.header[column]!r} is"
    if value is None:
        what += f" not a number: {cell!r}"
    elif np.isfinite(value):
        what += f" {cell!r}; scores must be finite and at most {LARGEST:g} in size"
    else:
        what += f" {cell!r}; scores must be finite"
    raise DataError.at(sheet.where, sheet.lines[row], what)


def from_tidy(sheet: Sheet, places: Mapping[str, int]) -> list[ScoreMatrix]:
    """The matrices of tidy rows, one per measure."""
    run_at = places["run"]
    topic_at = places["topic"]
    score_at = places["score"]
    measure_at = places.get("measure")
    signature_at = places.get("signature")
    scores: dict[str, dict[tuple[str, str], float]] = {}
    signatures: dict[str, str] = {}
    # Programs write the mean over topics as one more topic, `all`.
    has_topics = any(row[topic_at].strip() != ALL for row in sheet.rows)
    for i, row in enumerate(sheet.rows):
        if has_topics and row[topic_at].strip() == ALL:
            continue
        measure = _cell(row, measure_at) or UNNAMED
        signature = _cell(row, signature_at)
        if signatures.setdefault(measure, signature) != signature:
            what = f"{measure} has two signatures, {signatures[measure]!r} and {signature!r}; write a file for each"
            raise DataError.at(sheet.where, sheet.lines[i], what)
        run = row[run_at].strip()
        topic = row[topic_at].strip()
        of_measure = scores.setdefault(measure, {})
        if (run, topic) in of_measure:
            what = f"run {run!r} has two scores of {measure} for topic {topic!r}"
            raise DataError.at(sheet.where, sheet.lines[i], what)
        of_measure[run, topic] = _score(sheet, i, score_at)
    matrices = []
    for measure, of_measure in scores.items():
        matrices.append(_filled(sheet.where, measure, of_measure, signatures[measure]))
    return matrices


def _cell(row: Sequence[str], column: int | None) -> str:
    """The text of a cell; none where the column is not there."""
    return "" if column is None else row[column].strip()


def _filled(where: str, measure: str, scores: dict[tuple[str, str], float], signature: str) -> ScoreMatrix:
    """The matrix of scores by run and topic; an error where a run lacks a topic."""
    runs = list(dict.fromkeys(run for run, _ in scores))
    topics = natural_order({topic for _, topic in scores})
    values = []
    for run in runs:
        for topic in topics:
            if (run, topic) not in scores:
                what = f"run {run!r} has no {measure} for topic {topic!r}; every run needs every topic"
                raise DataError(f"{where}: {what}")
        values.append([scores[run, topic] for topic in topics])
    return ScoreMatrix.of(values, runs=runs, topics=topics, measure=measure, signature=signature)


def write_scores(
    path: str | Path, matrices: Sequence[ScoreMatrix], *, shape: str = "tidy", format: str | None = None
) -> None:
    """Score matrices as a tidy file, or one of them as a matrix, in that format or in the one of the ending."""
    if format in ORDERS:
        write_lines(path, matrices, format)
        return
    if shape == "matrix":
        if len(matrices) != 1:
            raise DataError(f"{path}: a matrix file holds one measure, not {len(matrices)}; write tidy rows")
        [matrix] = matrices
        by_run = zip(matrix.runs, matrix.values.tolist(), strict=True)
        rows = ([run, *scores] for run, scores in by_run)
        write_sheet(path, [_corner(matrix), *matrix.topics], rows, format=format)
        return
    write_sheet(path, TIDY, _tidy_rows(matrices), format=format)


def _tidy_rows(matrices: Sequence[ScoreMatrix]) -> Iterator[tuple[str, str, str, float, str]]:
    """(run, topic, measure, score, signature) of every score."""
    for matrix in matrices:
        for run, scores in zip(matrix.runs, matrix.values.tolist(), strict=True):
            for topic, score in zip(matrix.topics, scores, strict=True):
                yield run, topic, matrix.measure, score, matrix.signature
