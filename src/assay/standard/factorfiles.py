"""Files of standardization factors: measure, topic, mean, sd, runs, signature, to publish a collection with them.

A column `sd_of` says "sample" where the sd is divided by n − 1; without it the sd is divided by n. A last column
`scores` holds the scores of the reference runs, separated by blanks, where they were kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.data.quantities import UNNAMED, canonical
from assay.data.scores import ScoreMatrix
from assay.io.column_names import Named
from assay.io.files import file_stem
from assay.io.rows import LARGEST_RANK
from assay.io.score_files import only_measure
from assay.io.scores import score_tables
from assay.io.sheet import LARGEST, Sheet, read_sheet, write_sheet
from assay.io.topic_scores import TopicScores, is_topic_scores, read_topic_scores
from assay.standard.factor_columns import has_many_topics, is_factor_columns, read_factor_columns, write_factor_columns
from assay.standard.factors import SDS, Factors, joined_factors

COLUMNS = ("measure", "topic", "mean", "sd", "runs", "signature")


def write_factors(path: str | Path, parts: Sequence[Factors]) -> None:
    """Factors of one or several measures as CSV, TSV, JSONL or Parquet, all digits kept.

    >>> from tempfile import TemporaryDirectory
    >>> from assay.data import ScoreMatrix
    >>> from assay.standard import fit
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "factors.csv"
    ...     write_factors(path, [fit(ScoreMatrix.of([[0.25], [0.75]], topics=["401"], measure="AP"))])
    ...     print(path.read_text().rstrip())
    measure,topic,mean,sd,runs,signature
    AP,401,0.5,0.25,2,AP
    """
    if has_many_topics(parts):
        write_factor_columns(path, parts)
        return
    # A column that some lines would leave empty is left out.
    with_scores = all(part.scores is not None for part in parts)
    header = list(COLUMNS)
    of_sample = any(part.sd_of != "population" for part in parts)
    if of_sample:
        header.append("sd_of")
    if with_scores:
        header.append("scores")
    rows: list[list[object]] = []
    for part in parts:
        means = part.mean.tolist()
        sds = part.sd.tolist()
        runs = part.runs.tolist()
        signature = part.signature or part.measure
        for i, topic in enumerate(part.topics):
            row: list[object] = [part.measure, topic, means[i], sds[i], runs[i], signature]
            if of_sample:
                row.append(part.sd_of)
            if with_scores and part.scores is not None:
                scores = [repr(score) for score in part.scores[i].tolist()]
                row.append(" ".join(scores))
            rows.append(row)
    write_sheet(path, header, rows)


def read_factors(path: str | Path, *, measure: str | None = None, wanted: str | None = None) -> dict[str, Factors]:
    """The factors of a file, by measure.

    measure: that of a file without a column `measure`, by default the file's own name. wanted: of millions of lines
    only those of this measure are read, where the file has it. Every other column but
    signature, sd_of and scores is needed; a value that is not a number, a topic with two lines, an sd below 0, or two
    signatures of one measure: an error that names the line or the topic.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "factors.csv"
    ...     size = path.write_text("measure,topic,mean,sd,runs\\nAP,401,0.5,0.25,2\\n")
    ...     read_factors(path)["AP"].mean.tolist()
    [0.5]
    """
    if is_factor_columns(path):
        return read_factor_columns(path, measure=measure or file_stem(path) or UNNAMED, wanted=wanted)
    sheet = read_sheet(path)
    topic_column = sheet.place("topic")
    means = _column(sheet, "mean")
    sds = _column(sheet, "sd")
    runs = _column(sheet, "runs")
    if not sheet.rows:
        raise DataError(f"{sheet.where}: there is a header but no line of factors")
    factors: dict[str, Factors] = {}
    for name, rows in _rows_by_measure(sheet, measure or file_stem(path) or UNNAMED).items():
        factors[name] = Factors(
            measure=name,
            topics=tuple(sheet.rows[i][topic_column].strip() for i in rows),
            mean=means[rows],
            sd=sds[rows],
            runs=runs[rows].astype(np.int64),
            scores=_scores(sheet, rows),
            signature=_one_of_measure(sheet, "signature", name, rows) or name,
            sd_of=_sd_of(sheet, name, rows),
        )
    return factors


def _rows_by_measure(sheet: Sheet, measure: str) -> dict[str, list[int]]:
    """The numbers of the rows of each measure; without a column of measures all are of the one given."""
    column = sheet.find("measure")
    rows: dict[str, list[int]] = {}
    for i, row in enumerate(sheet.rows):
        name = measure if column is None else row[column].strip()
        rows.setdefault(name, []).append(i)
    return rows


def read_factors_of(
    paths: Sequence[str | Path], measure: str, *, name: str | None = None, force: str | None = None
) -> Factors:
    """The factors of one measure from several files, joined; those of a file's only measure where that is another.

    name: the measure of files that do not name it. force: the measure that all of them are, whatever they say.
    """
    parts = []
    for path in paths:
        by_measure = read_factors(path, measure=name, wanted=measure)
        if measure not in by_measure and len(by_measure) > 1:
            raise UsageError(f"{path}: no factors of {measure!r}; it has: {', '.join(by_measure)}")
        part = by_measure.get(measure) or next(iter(by_measure.values()))
        parts.append(part if force is None else part.renamed(force))
    return parts[0] if len(parts) == 1 else joined_factors(*parts)


def reference_scores(
    path: str | Path,
    measure: str,
    *,
    transpose: bool = False,
    name: str | None = None,
    force: str | None = None,
    columns: Named = None,
) -> ScoreMatrix:
    """Scores of reference runs: of a file of several measures those of this measure, else its only ones."""
    if is_topic_scores(path):
        chosen = TopicScores.of(path)
        same_name = [own for own in chosen.measures if canonical(own) == canonical(measure)]
        tables = read_topic_scores(path, measures=same_name)
    else:
        tables = score_tables(path, transpose=transpose, name=name, columns=columns)
    if force is not None:
        tables = [table.renamed(force) for table in tables]
    same = [table for table in tables if canonical(table.measure) == canonical(measure)]
    return only_measure(same or tables)


def _sd_of(sheet: Sheet, measure: str, rows: Sequence[int]) -> str:
    """Which sd the lines of one measure have: population where the file does not say it."""
    sd_of = _one_of_measure(sheet, "sd_of", measure, rows) or "population"
    if sd_of not in SDS:
        raise DataError(f"{sheet.where}: sd_of of {measure} is {sd_of!r}; write {' or '.join(SDS)}")
    return sd_of


def _one_of_measure(sheet: Sheet, column: str, measure: str, rows: Sequence[int]) -> str:
    """What the lines of one measure have in a column, the same in all; nothing where the file has no such column."""
    place = sheet.find(column)
    if place is None:
        return ""
    values = list(dict.fromkeys(sheet.rows[i][place].strip() for i in rows))
    if len(values) > 1:
        name = {"signature": "signatures"}.get(column, f"kinds of {column}")
        what = f"{measure} has two {name}, {values[0]!r} and {values[1]!r}; write a file for each"
        raise DataError(f"{sheet.where}: {what}")
    return values[0]


def _column(sheet: Sheet, name: str) -> Floats:
    place = sheet.place(name)
    largest = LARGEST_RANK if name == "runs" else LARGEST
    rows = range(len(sheet.rows))
    numbers = [sheet.finite(row, place, largest=largest) for row in rows]
    return np.array(numbers, dtype=np.float64)


def _scores(sheet: Sheet, rows: Sequence[int]) -> tuple[Floats, ...] | None:
    """The scores of the reference runs on these lines, ascending; None where the file has none."""
    column = sheet.find("scores")
    if column is None:
        return None
    every_score = []
    for row in rows:
        text = sheet.rows[row][column]
        try:
            scores = np.array(text.split(), dtype=np.float64)
        except ValueError:
            what = f"scores must be numbers separated by blanks: {text!r}"
            raise DataError.at(sheet.where, sheet.lines[row], what) from None
        every_score.append(np.sort(scores))
    return tuple(every_score)
