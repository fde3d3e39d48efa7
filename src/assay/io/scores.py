"""Score tables in and out, in two shapes: a matrix (a row per run, a column per topic) and tidy rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.data.quantities import UNNAMED, canonical
from assay.data.scores import ScoreMatrix
from assay.io.rows import number
from assay.io.sheet import LARGEST, Sheet, read_sheet, write_sheet

TIDY = ("run", "topic", "measure", "score", "signature")
RUN_WORDS = frozenset({"run", "runs", "system", "systems", "tag"})
TOPIC_WORDS = frozenset({"topic", "topics", "query", "qid"})
"""First cells of a header that say what the rows of a matrix are. Any other names its measure."""
ENDINGS = frozenset({".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".gz", ".xz", ".bz2", ".zst"})


def read_scores(path: str | Path, *, transpose: bool = False, measure: str | None = None) -> list[ScoreMatrix]:
    """The score matrices of a file, one per measure.

    A tidy file has the columns run, topic, score and perhaps measure and signature. Any other file is a matrix: a row
    per run whose first cell is its name (with `transpose` a row per topic); the first header cell may hold the measure,
    or the whole signature. A file that does not name its measure gives it the file's own name.

    measure: which of the measures of the file, or, where the file names none, what it holds.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("AP,301,302\\nbm25,.2,.4\\ndense,.3,.4\\n")
    ...     file.flush()
    ...     read_scores(file.name)
    [ScoreMatrix('AP', 2 runs × 2 topics)]
    """
    matrices = score_tables(path, transpose=transpose, name=measure)
    if measure is None:
        return matrices
    wanted = [m for m in matrices if canonical(m.measure) == canonical(measure)]
    if not wanted:
        known = ", ".join(m.measure for m in matrices)
        raise DataError(f"{path}: no measure {measure!r}; the file has: {known}")
    return wanted


def score_tables(path: str | Path, *, transpose: bool = False, name: str | None = None) -> list[ScoreMatrix]:
    """All matrices of a file; `name` is the measure of a file that does not name it, else the file's own name."""
    sheet = read_sheet(path)
    if not sheet.rows:
        raise DataError(f"{sheet.where}: there is a header but no row of scores")
    lowered = {cell.strip().lower() for cell in sheet.header}
    tidy = {"run", "topic"} <= lowered and bool({"score", "value"} & lowered)
    name = name or file_stem(path)
    if not tidy:
        return [_from_matrix(sheet, transpose, name)]
    if transpose:
        raise DataError(
            f"{sheet.where}: the table has a row for each run and topic, not a matrix; leave out --transpose"
        )
    matrices = _from_tidy(sheet)
    if "measure" in lowered:
        return matrices
    [nameless] = matrices
    signature = name if nameless.signature == UNNAMED else nameless.signature
    return [replace(nameless, measure=name, signature=signature)]


def file_stem(path: str | Path) -> str:
    """The name of a file without its endings; that of standard input is that of scores without a name.

    >>> file_stem("old/trec8.v2.csv.gz"), file_stem("-")
    ('trec8.v2', 'score')
    """
    name = Path(path)
    while name.suffix.lower() in ENDINGS and name.stem:
        name = name.with_suffix("")
    return UNNAMED if str(path) == "-" else name.name


def _from_matrix(sheet: Sheet, transpose: bool, name: str) -> ScoreMatrix:
    """The matrix of a sheet; `name` is its measure where the sheet does not say."""
    first = 0 if transpose and _has_no_names(sheet) else 1
    columns = [cell.strip() for cell in sheet.header[first:]]
    if not columns:
        raise DataError(f"{sheet.where}: one column, no scores; columns are separated by commas or tabs")
    rows = [row[0].strip() for row in sheet.rows] if first else [str(i + 1) for i in range(len(sheet.rows))]
    corner = sheet.header[0].strip() if first else ""
    _refuse_wrong_way_round(sheet.where, corner, rows, columns, transpose)
    values = [[_score(sheet, i, j) for j in range(first, len(sheet.header))] for i in range(len(sheet.rows))]
    measure, signature = _from_corner(corner) or (name, name)
    if transpose:
        return ScoreMatrix.of(np.array(values).T, runs=columns, topics=rows, measure=measure, signature=signature)
    return ScoreMatrix.of(values, runs=rows, topics=columns, measure=measure, signature=signature)


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
    word = corner.lower()
    said = "run" if word in RUN_WORDS else "topic" if word in TOPIC_WORDS else None
    rows_are_numbers, columns_are_numbers = _all_numbers(rows), _all_numbers(columns)
    evidence = f"rows are called {_some(rows)}, columns {_some([corner, *columns] if corner else columns)}"
    if not transpose and (said == "topic" or (said is None and rows_are_numbers and not columns_are_numbers)):
        raise DataError(f"{where}: the table looks transposed: {evidence}; use --transpose (transpose=True)")
    if transpose and (said == "run" or (said is None and columns_are_numbers and not rows_are_numbers)):
        raise DataError(f"{where}: the table has one row per run: {evidence}; leave out --transpose")


def _all_numbers(names: Sequence[str]) -> bool:
    return all(number(name) is not None for name in names)


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (" …" if len(names) > 3 else "")


def _from_corner(corner: str) -> tuple[str, str] | None:
    """Measure and signature that the first header cell of a matrix holds; None where it does not name a measure."""
    measure, _, rest = corner.partition("|")
    if measure.lower() in RUN_WORDS | TOPIC_WORDS | {""}:
        return None
    in_full = rest and ":" not in rest.partition("|")[0]
    return measure, rest if in_full else corner


def _corner(matrix: ScoreMatrix) -> str:
    """What _from_corner reads: the signature, after the name of the measure where that is not its beginning."""
    if matrix.signature in ("", matrix.measure):
        return matrix.measure
    begins = matrix.signature.startswith(f"{matrix.measure}|")
    return matrix.signature if begins else f"{matrix.measure}|{matrix.signature}"


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
    run_at, topic_at, score_at = sheet.place("run"), sheet.place("topic"), sheet.place("score", "value")
    measure_at, signature_at = sheet.find("measure"), sheet.find("signature")
    if not sheet.rows:
        raise DataError(f"{sheet.where}: there is a header but no row of scores")
    scores: dict[str, dict[tuple[str, str], float]] = {}
    signatures: dict[str, str] = {}
    for i, row in enumerate(sheet.rows):
        measure = UNNAMED if measure_at is None else row[measure_at].strip() or UNNAMED
        signature = "" if signature_at is None else row[signature_at].strip()
        if signatures.setdefault(measure, signature) != signature:
            what = f"{measure} has two signatures, {signatures[measure]!r} and {signature!r}; write a file for each"
            raise DataError.at(sheet.where, sheet.lines[i], what)
        run, topic = row[run_at].strip(), row[topic_at].strip()
        of_measure = scores.setdefault(measure, {})
        if (run, topic) in of_measure:
            what = f"run {run!r} has two scores of {measure} for topic {topic!r}"
            raise DataError.at(sheet.where, sheet.lines[i], what)
        of_measure[run, topic] = _score(sheet, i, score_at)
    return [_filled(sheet.where, name, of_measure, signatures[name]) for name, of_measure in scores.items()]


def _filled(where: str, measure: str, scores: dict[tuple[str, str], float], signature: str) -> ScoreMatrix:
    """The matrix of scores by run and topic; an error where a run lacks a topic."""
    runs = list(dict.fromkeys(run for run, _ in scores))
    topics = natural_order({topic for _, topic in scores})
    for run in runs:
        for topic in topics:
            if (run, topic) not in scores:
                what = f"run {run!r} has no {measure} for topic {topic!r}; every run needs every topic"
                raise DataError(f"{where}: {what}")
    values = [[scores[run, topic] for topic in topics] for run in runs]
    return ScoreMatrix.of(values, runs=runs, topics=topics, measure=measure, signature=signature)


def write_scores(path: str | Path, matrices: Sequence[ScoreMatrix], *, shape: str = "tidy") -> None:
    """Score matrices as a tidy file, or one of them as a matrix."""
    if shape == "matrix":
        if len(matrices) != 1:
            raise DataError(f"{path}: a matrix file holds one measure, not {len(matrices)}; write tidy rows")
        [matrix] = matrices
        rows = ([run, *scores] for run, scores in zip(matrix.runs, matrix.values.tolist(), strict=True))
        write_sheet(path, [_corner(matrix), *matrix.topics], rows)
        return
    tidy = (
        (run, topic, matrix.measure, score, matrix.signature)
        for matrix in matrices
        for run, scores in zip(matrix.runs, matrix.values.tolist(), strict=True)
        for topic, score in zip(matrix.topics, scores, strict=True)
    )
    write_sheet(path, TIDY, tidy)
