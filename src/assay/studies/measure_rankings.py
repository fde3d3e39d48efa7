"""Do measures rank runs similarly, and does one topic set predict another? Correlation and predictivity of measures.

Webber 2010, §3.2.5 (Tables 3.1 and 3.2); Webber, Moffat, Zobel & Sakai 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import for_tests_of_means
from assay.rankings import kendall_matrix, settled
from assay.rankings.batch import pair_signs, tau_of_signs
from assay.studies.measure_sets import without_worst

SPLITS = 2000
AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class MeasureTau(Result):
    """Kendall's τ between the run rankings by each pair of measures on the same topics."""

    measures: tuple[str, ...]
    tau: Floats
    """NaN where a measure gives all runs the same mean."""
    runs: int
    topics: int
    dropped: int

    def table(self) -> Table:
        """A row and a column per measure."""
        notes = [
            f"τ-b over {self.runs} runs and {self.topics:,} topics; {self.dropped} runs dropped that are at the bottom "
            "under every measure",
            "above .9 two measures are mostly exchangeable, below .8 noticeably different: a rough rule",
        ]
        if np.isnan(self.tau).any():
            notes.append("–: undefined, a measure gives all runs the same mean")
        return _square(self.measures, self.tau, "Do the measures rank alike?", notes)


def _square(measures: tuple[str, ...], values: Floats, caption: str, notes: list[str]) -> Table:
    """A row and a column per measure, the columns called as the measures are."""
    rows = [(measure, *row) for measure, row in zip(measures, values, strict=True)]
    columns = {"measure": "", **dict.fromkeys(measures, ".3f")}
    keys = {measure: measure for measure in measures}
    return Table.of(columns, rows, caption=caption, notes=notes, keys=keys)


def measure_tau(matrices: Sequence[ScoreMatrix], *, keep: float = 0.75) -> MeasureTau:
    """τ-b between the rankings of the runs by every pair of measures; runs in the worst part under all are dropped.

    >>> a = ScoreMatrix.of([[0.3], [0.2], [0.1]], measure="a")
    >>> b = ScoreMatrix.of([[0.3], [0.1], [0.2]], measure="b")
    >>> measure_tau([a, b], keep=1.0).tau.round(4).tolist()
    [[1.0, 0.3333], [0.3333, 1.0]]
    """
    kept = without_worst(matrices, keep)
    means = np.array([matrix.averages() for matrix in kept])
    runs, topics = kept[0].shape
    return MeasureTau(
        measures=_names(kept),
        tau=kendall_matrix(settled(means)),
        runs=runs,
        topics=topics,
        dropped=len(matrices[0].runs) - runs,
    )


@dataclass(frozen=True, eq=False)
class Predictivity(Result):
    """Mean τ between the ranking by one measure on half of the topics and by another on the other half."""

    measures: tuple[str, ...]
    tau: Floats
    spread: Floats
    """Standard deviation over the splits."""
    splits: int
    runs: int
    topics: int
    seed: int

    def table(self) -> Table:
        """A row per measure that predicts, a column per measure that is predicted."""
        own_tau = np.diag(self.tau)
        best = self.measures[int(own_tau.argmax())]
        notes = [
            f"mean τ-b over {self.splits} random splits of {self.topics} topics into halves of {self.topics // 2}, "
            f"{self.runs} runs, seed {self.seed}; sd of τ {self.spread.min():.3f} to {self.spread.max():.3f}",
            f"predicts itself best: {best}",
        ]
        return _square(self.measures, self.tau, "Predictivity", notes)


def predictivity(
    matrices: Sequence[ScoreMatrix],
    *,
    splits: int = SPLITS,
    keep: float = 0.75,
    seed: int = 0,
    progress: Progress = silent,
) -> Predictivity:
    """Mean τ-b of measure m on one random half of the topics with measure n on the other half.

    Every split is used in both directions, so that the result is symmetric. An odd topic is left out of a split.

    >>> scores = ScoreMatrix.of([[0.3, 0.4, 0.5, 0.4], [0.2, 0.3, 0.3, 0.2], [0.1, 0.2, 0.1, 0.0]], measure="AP")
    >>> predictivity([scores], splits=10, keep=1.0).tau.tolist()
    [[1.0]]
    """
    kept = without_worst(matrices, keep)
    values = np.array([for_tests_of_means(matrix).values for matrix in kept])
    _, runs, topics = values.shape
    half = topics // 2
    if half < 1:
        raise DataError(f"{topics} topic cannot be split in two")
    if splits < 2:
        raise UsageError(f"splits={splits}: at least 2 are needed")
    rng = generator(seed)
    total = np.zeros((len(kept), len(kept)))
    squares = np.zeros((len(kept), len(kept)))
    for part in chunks(splits, AT_ONCE):
        count = part.stop - part.start
        in_order = np.broadcast_to(np.arange(topics), (count, topics))
        shuffled = rng.permuted(in_order, axis=1)
        one_half = _half_signs(values, shuffled[:, :half])
        other_half = _half_signs(values, shuffled[:, half : 2 * half])
        tau = tau_of_signs(one_half, other_half, undefined=0.0)  # a half that ties all runs predicts nothing
        both_ways = (tau + np.swapaxes(tau, 1, 2)) / 2
        total += both_ways.sum(axis=0)
        squares += (both_ways**2).sum(axis=0)
        progress(part.stop, splits)
    mean = total / splits
    spread = np.sqrt(np.maximum(squares / splits - mean**2, 0.0))
    return Predictivity(_names(kept), mean, spread, splits, runs, topics, seed)


def _half_signs(values: Floats, halves: Ints) -> Floats:
    """splits × measures × pairs of runs: which run is better on each half."""
    chosen = np.zeros((len(halves), values.shape[2]))
    np.put_along_axis(chosen, halves, 1.0, axis=1)
    sums = values @ chosen.T  # measures × runs × splits
    return pair_signs(settled(np.moveaxis(sums, 2, 0)))


def _names(matrices: Sequence[ScoreMatrix]) -> tuple[str, ...]:
    return tuple(matrix.measure for matrix in matrices)
