"""How many pairs of runs does a measure tell apart, and how large must a difference be? Sakai 2006, 2007.

ASL curves: the p-values of all pairs of runs, largest first; the lower the curve, the more the measure discriminates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.all_pairs import all_pairs
from assay.stats.pairs import every_pair
from assay.stats.resampling import RESAMPLES, topic_counts

REPLICATES = 1000
PAIRS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class DiscriminativePower:
    """p-values of all pairs by each measure, and the difference that each needs."""

    measures: tuple[str, ...]
    p: tuple[Floats, ...]
    """Per measure the p-values of all pairs, largest first: its ASL curve."""
    needed: tuple[float | None, ...]
    alpha: float
    recipe: str
    topics: int

    @property
    def shares(self) -> tuple[float, ...]:
        """Per measure the share of pairs with p below α."""
        return tuple(float((p < self.alpha).mean()) for p in self.p)

    def table(self) -> Table:
        """One row per measure, the most discriminating first."""
        order = sorted(range(len(self.measures)), key=lambda i: -self.shares[i])
        rows = [(self.measures[i], len(self.p[i]), 100 * self.shares[i], self.needed[i]) for i in order]
        formats = {"measure": "", "pairs": "d", f"% with p < {self.alpha:g}": ".1f", "difference needed": ".3f"}
        notes = [
            f"{self.recipe}; not corrected for the number of pairs",
            f"difference needed: Sakai's estimate, {REPLICATES} bootstrap samples, the largest over all pairs",
        ]
        return Table.of(formats, rows, caption=f"Discriminative power on {self.topics} topics", notes=notes)


def discriminative_power(
    matrices: Sequence[ScoreMatrix],
    *,
    test: str = "bootstrap-t",
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> DiscriminativePower:
    """Share of run pairs with p < α by any test of `assay compare`, and the difference needed, for each measure."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha} is not in (0, 1)")
    found = []
    for i, m in enumerate(matrices):
        found.append(all_pairs(m, test, resamples=resamples, seed=seed, jobs=jobs))
        progress(i + 1, len(matrices))
    return DiscriminativePower(
        tuple(m.measure for m in matrices),
        tuple(np.sort(f.p)[::-1] for f in found),
        tuple(difference_needed(m, alpha=alpha, seed=seed) for m in matrices),
        alpha,
        found[0].recipe,
        len(matrices[0].topics),
    )


def difference_needed(
    matrix: ScoreMatrix, *, alpha: float = 0.05, replicates: int = REPLICATES, seed: int = 0
) -> float | None:
    """Sakai's estimate of the difference in means that is significant at α.

    Per pair: order the bootstrap replicates of the null by |t|, take the ⌈αB⌉-th largest, and note |mean| of that
    replicate; the estimate is the largest over all pairs. Pairs of equal runs have no t and are left out; None if all
    are equal.
    """
    n = len(matrix.topics)
    if n < 2:
        raise DataError(f"{matrix.measure}: one topic has no spread")
    counts = np.concatenate(list(topic_counts(n, replicates, seed)))
    place = int(np.ceil(alpha * len(counts)))
    first, second = every_pair(len(matrix.runs))
    largest = [
        _needed(matrix.values[first[c]] - matrix.values[second[c]], counts, place)
        for c in chunks(len(first), PAIRS_AT_ONCE)
    ]
    found = [x for x in largest if x is not None]
    return max(found) if found else None


def _needed(differences: Floats, counts: Floats, place: int) -> float | None:
    """The largest |mean| of the replicate at that place of |t|, over these pairs."""
    n = differences.shape[1]
    centred = differences - differences.mean(axis=1, keepdims=True)
    varied = centred[np.abs(centred).max(axis=1) > 1e-12]
    if not len(varied):
        return None
    means = varied @ counts.T / n
    variance = np.maximum((varied**2 @ counts.T / n - means**2) * n / (n - 1), 0.0)
    t = np.divide(np.abs(means), np.sqrt(variance / n), out=np.zeros_like(means), where=variance > 1e-18)
    chosen = np.argpartition(-t, place - 1, axis=1)[:, place - 1]
    return float(np.abs(means[np.arange(len(means)), chosen]).max())
