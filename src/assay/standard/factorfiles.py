"""Files of standardization factors: measure, topic, mean, sd, runs, signature, to publish a collection with them.

A last column `scores` holds the scores of the reference runs, separated by blanks, where they were kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.io.rows import LARGEST_RANK
from assay.io.scores import file_stem
from assay.io.sheet import LARGEST, Sheet, read_sheet, write_sheet
from assay.standard.factors import Factors

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
    with_scores = all(part.scores is not None for part in parts)
    header = [*COLUMNS, "scores"] if with_scores else list(COLUMNS)
    rows: list[list[object]] = []
    for part in parts:
        numbers = zip(part.topics, part.mean.tolist(), part.sd.tolist(), part.runs.tolist(), strict=True)
        for j, (topic, mean, sd, runs) in enumerate(numbers):
            row: list[object] = [part.measure, topic, mean, sd, runs, part.signature or part.measure]
            if with_scores and part.scores is not None:
                row.append(" ".join(map(repr, part.scores[j].tolist())))
            rows.append(row)
    write_sheet(path, header, rows)


def read_factors(path: str | Path, *, measure: str | None = None) -> dict[str, Factors]:
    """The factors of a file, by measure.

    measure: that of a file without a column `measure`, by default the file's own name. Every other column but
    signature and scores is needed; a value that is not a number, a topic with two lines, an sd below 0, or two
    signatures of one measure: an error that names the line or the topic.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "factors.csv"
    ...     size = path.write_text("measure,topic,mean,sd,runs\\nAP,401,0.5,0.25,2\\n")
    ...     read_factors(path)["AP"].mean.tolist()
    [0.5]
    """
    sheet = read_sheet(path)
    topic_at, scores_at, measure_at = sheet.place("topic"), sheet.find("scores"), sheet.find("measure")
    means, sds, runs = (_column(sheet, name) for name in ("mean", "sd", "runs"))
    if not sheet.rows:
        raise DataError(f"{sheet.where}: there is a header but no line of factors")
    nameless = measure or file_stem(path)
    measures = [nameless if measure_at is None else row[measure_at].strip() for row in sheet.rows]
    factors: dict[str, Factors] = {}
    for name in dict.fromkeys(measures):
        at = [i for i, other in enumerate(measures) if other == name]
        factors[name] = Factors(
            measure=name,
            topics=tuple(sheet.rows[i][topic_at].strip() for i in at),
            mean=means[at],
            sd=sds[at],
            runs=runs[at].astype(np.int64),
            scores=None if scores_at is None else tuple(_scores(sheet, i, scores_at) for i in at),
            signature=_signature(sheet, name, at),
        )
    return factors


def _signature(sheet: Sheet, measure: str, rows: Sequence[int]) -> str:
    """The signature on the lines of one measure; its name where the file has none."""
    place = sheet.find("signature")
    if place is None:
        return measure
    signatures = list(dict.fromkeys(sheet.rows[i][place].strip() for i in rows))
    if len(signatures) > 1:
        what = f"{measure} has two signatures, {signatures[0]!r} and {signatures[1]!r}; write a file for each"
        raise DataError(f"{sheet.where}: {what}")
    return signatures[0] or measure


def _column(sheet: Sheet, name: str) -> Floats:
    place = sheet.place(name)
    largest = LARGEST_RANK if name == "runs" else LARGEST
    return np.array([sheet.finite(i, place, largest=largest) for i in range(len(sheet.rows))], dtype=np.float64)


def _scores(sheet: Sheet, row: int, place: int) -> Floats:
    text = sheet.rows[row][place]
    try:
        return np.sort(np.array(text.split(), dtype=np.float64))
    except ValueError:
        what = f"scores must be numbers separated by blanks: {text!r}"
        raise DataError.at(sheet.where, sheet.lines[row], what) from None
