"""Do measures rank runs alike, and does one topic set predict another? Correlation and predictivity of measures.

Webber 2010, §3.2.5 (Tables 3.1 and 3.2); Webber, Moffat, Zobel & Sakai 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_matrix, pair_signs, settled, tau_of_signs
from assay.studies.measure_sets import without_worst

SPLITS = 2000
AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class MeasureTau:
    """Kendall's τ between the run rankings by each pair of measures on the same topics."""

    measures: tuple[str, ...]
    tau: Floats
    """NaN where a measure gives all runs the same mean."""
    runs: int
    topics: int
    dropped: int

    def table(self) -> Table:
        """A row and a column per measure."""
        rows = [(m, *row) for m, row in zip(self.measures, self.tau, strict=True)]
        notes = [
            f"τ-b over {self.runs} runs and {self.topics} topics; {self.dropped} runs dropped that are at the bottom "
            "under every measure",
            "above .9 two measures are mostly exchangeable, below .8 noticeably different: a rough rule",
            *(["–: undefined, a measure gives all runs the same mean"] if np.isnan(self.tau).any() else []),
        ]
        return Table.of(
            {"measure": "", **dict.fromkeys(self.measures, ".3f")},
            rows,
            caption="Do the measures rank alike?",
            notes=notes,
        )


def measure_tau(matrices: Sequence[ScoreMatrix], *, keep: float = 0.75) -> MeasureTau:
    """τ-b between the rankings of the runs by every pair of measures; runs in the worst part under all are dropped.

    >>> a = ScoreMatrix.of([[0.3], [0.2], [0.1]], measure="a")
    >>> b = ScoreMatrix.of([[0.3], [0.1], [0.2]], measure="b")
    >>> measure_tau([a, b], keep=1.0).tau.round(4).tolist()
    [[1.0, 0.3333], [0.3333, 1.0]]
    """
    kept = without_worst(matrices, keep)
    means = np.array([m.means() for m in kept])
    tau = kendall_matrix(settled(means))
    first = kept[0]
    dropped = len(matrices[0].runs) - len(first.runs)
    return MeasureTau(_names(kept), tau, len(first.runs), len(first.topics), dropped)


@dataclass(frozen=True, eq=False)
class Predictivity:
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
        rows = [(m, *row) for m, row in zip(self.measures, self.tau, strict=True)]
        notes = [
            f"mean τ-b over {self.splits} random splits of {self.topics} topics into halves of {self.topics // 2}, "
            f"{self.runs} runs, seed {self.seed}; sd of τ {self.spread.min():.3f} to {self.spread.max():.3f}",
            f"predicts itself best: {self.measures[int(np.diag(self.tau).argmax())]}",
        ]
        return Table.of(
            {"measure": "", **dict.fromkeys(self.measures, ".3f")}, rows, caption="Predictivity", notes=notes
        )


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
    """
    kept = without_worst(matrices, keep)
    values = np.array([m.values for m in kept])
    topics, half = values.shape[2], values.shape[2] // 2
    if half < 1:
        raise DataError(f"{topics} topic cannot be split in two")
    if splits < 2:
        raise UsageError(f"splits={splits}: at least 2 are needed")
    rng, total, squares = generator(seed), np.zeros((len(kept),) * 2), np.zeros((len(kept),) * 2)
    for part in chunks(splits, AT_ONCE):
        order = rng.permuted(np.broadcast_to(np.arange(topics), (part.stop - part.start, topics)), axis=1)
        a, b = (_half_signs(values, order[:, i * half : (i + 1) * half]) for i in (0, 1))
        tau = tau_of_signs(a, b, undefined=0.0)  # a half that ties all runs predicts nothing
        tau = (tau + np.swapaxes(tau, 1, 2)) / 2
        total, squares = total + tau.sum(axis=0), squares + (tau**2).sum(axis=0)
        progress(part.stop, splits)
    mean = total / splits
    spread = np.sqrt(np.maximum(squares / splits - mean**2, 0.0))
    return Predictivity(_names(kept), mean, spread, splits, values.shape[1], topics, seed)


def _half_signs(values: Floats, halves: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Floats:
    """splits × measures × pairs of runs: which run is better on each half."""
    chosen = np.zeros((len(halves), values.shape[2]))
    np.put_along_axis(chosen, halves, 1.0, axis=1)
    return pair_signs(settled(np.moveaxis(values @ chosen.T, 2, 0)))


def _names(matrices: Sequence[ScoreMatrix]) -> tuple[str, ...]:
    return tuple(m.measure for m in matrices)
