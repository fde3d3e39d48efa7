"""What is a score read against, and does a claimed gain add up? The marks of a collection's own runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.store.stored_runs import StoredRun
from assay.studies.survey import LINES


def context_lines(matrix: ScoreMatrix, runs: Sequence[StoredRun]) -> dict[str, float]:
    """The scores that a result is seen beside: best run, third quartile and median, and the best automatic run.

    runs: those of the rows of the matrix, in their order. Webber 2010, §8.2.2.

    >>> scores = ScoreMatrix.of([[0.25], [0.5], [0.75]], runs=["a", "b", "c"])
    >>> runs = [StoredRun(i, str(i), "c", tag, manual=manual) for i, tag, manual in
    ...         ((1, "a", False), (2, "b", False), (3, "c", True))]
    >>> context_lines(scores, runs)
    {'best run': 0.75, 'third quartile': 0.625, 'median': 0.5, 'best automatic run': 0.5}
    """
    if len(runs) != len(matrix.runs):
        raise UsageError(f"{len(runs)} runs for a matrix of {len(matrix.runs)}; give those of its rows")
    means = matrix.averages()
    lines = {name: float(np.quantile(means, share)) for name, share in LINES}
    automatic = [mean for mean, run in zip(means.tolist(), runs, strict=True) if run.manual is False]
    if automatic:
        lines["best automatic run"] = max(automatic)
    return lines


@dataclass(frozen=True)
class AddsUp(Result):
    """How probable it is that a published score is above the best stored run, on topics like these."""

    unit = "topic"

    claimed: float
    best: str
    mean: float
    probability: float
    sd: float
    topics: int

    def table(self) -> Table:
        """One row."""
        columns = {"claimed": ".4f", "best run": "", "its mean": ".4f", "gain": "+.4f", "P(gain > 0)": ".3f"}
        row = (self.claimed, self.best, self.mean, self.claimed - self.mean, self.probability)
        note = (
            f"{self.topics} topics; the sd of a topic's difference is taken to be {self.sd:.4f}, the median of those "
            "between the best stored run and the better half of the others"
        )
        keys = {"P(gain > 0)": "probability", "best run": "best", "its mean": "mean"}
        return Table.of(columns, [row], caption="Does the claimed gain add up?", notes=[note], keys=keys)


def adds_up(matrix: ScoreMatrix, claimed: float) -> AddsUp:
    """The probability that a claimed mean score is really above the best stored run.

    Nobody has the topics of a paper: the sd of a difference per topic is taken from the stored runs, the median over
    the better half of them against the best; with n topics P = F((claimed − best) / (sd / √n)), F Student's with n − 1
    degrees of freedom. Armstrong, Moffat, Webber & Zobel 2009 ask whether improvements add up.

    >>> scores = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.2, 0.2, 0.5], [0.3, 0.1, 0.6]], runs=["a", "b", "c"])
    >>> round(adds_up(scores, 0.4).probability, 3), round(adds_up(scores, 1 / 3).probability, 3)
    (0.789, 0.5)
    """
    from scipy.special import stdtr

    runs, topics = matrix.shape
    if runs < 2 or topics < 2:
        raise DataError(f"{matrix.measure}: {runs} runs and {topics} topics; two of each are needed at least")
    by_mean = matrix.by_average()
    better_half = by_mean.values[1 : 1 + max(1, runs // 2)]
    differences = by_mean.values[0] - better_half
    sd = float(np.median(differences.std(axis=1, ddof=1)))
    best = float(by_mean.averages()[0])
    gain = claimed - best
    if sd == 0:
        probability = float((np.sign(gain) + 1) / 2)
    else:
        probability = float(stdtr(topics - 1, gain / (sd / np.sqrt(topics))))
    return AddsUp(claimed, by_mean.runs[0], best, probability, sd, topics)
