"""Can scores from two collections be compared? The same runs on two sets of topics, side by side.

RMSE and κ (dRMSE) say how far a run's mean moves from one collection to the other, a permutation test whether it moves
more than chance would have it, and two-sample tests how many runs seem better than themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.standard.halves import t_of_rows

CHUNK = 500  # permutations at a time: memory 500 × (topics + 2 · runs) floats


@dataclass(frozen=True)
class Comparability:
    """How alike the means of the same runs are on two collections: lower κ is more comparable.

    `better` counts the runs significantly better on the first collection than, themselves, on the second, `worse` the
    other way round. `p` is that of the permutation test (None if it was not asked for).
    """

    first: str
    second: str
    runs: int
    rmse: float
    kappa: float | None
    better: int
    worse: int
    p: float | None
    permutations: int
    seed: int
    alpha: float


@dataclass(frozen=True)
class Comparabilities:
    """All pairs of collections."""

    pairs: tuple[Comparability, ...]
    measure: str

    def table(self) -> Table:
        """One row per pair of collections."""
        c = self.pairs[0]
        rows = [(p.first, p.second, p.runs, p.rmse, p.kappa, p.p, p.better, p.worse) for p in self.pairs]
        notes = [
            "κ = 2 · RMSE / (sd + sd of the runs' means), lower is more comparable; sd with n − 1.",
            f"first > second: runs better than themselves, two-sample t, one-sided, α = {c.alpha / 2:g}.",
        ]
        if c.permutations:
            notes.append(
                f"p: share of {c.permutations} random re-partitions of the topics whose κ is at least as large, "
                f"(b + 1)/(B + 1), seed {c.seed}."
            )
        formats = {"first": "", "second": "", "runs": "d", "RMSE": ".4f", "κ": ".3f", "p": "p"}
        formats |= {"first > second": "d", "second > first": "d"}
        return Table.of(formats, rows, caption=f"{self.measure}: are the collections comparable?", notes=notes)


def comparability(
    collections: Mapping[str, ScoreMatrix],
    *,
    permutations: int = 0,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Progress = silent,
) -> Comparabilities:
    """RMSE, κ, its permutation test and the self-differences of every pair of collections, on the runs all have.

    Webber, Moffat & Zobel 2008, §5; Webber 2010, §4.6 (eqs. 4.9, 4.10; Tables 4.9 to 4.12).

    >>> c = ScoreMatrix.of([[0.2], [0.3], [0.4]], topics=["1"])
    >>> d = ScoreMatrix.of([[0.25], [0.30], [0.45]], topics=["2"])
    >>> found = comparability({"C": c, "D": d}).pairs[0]
    >>> round(found.rmse, 7), round(found.kappa, 6)
    (0.0408248, 0.40008)
    """
    if len(collections) < 2:
        raise UsageError(f"{len(collections)} collection given; comparing takes at least two")
    same = _common(collections)
    results = []
    for i, (a, b) in enumerate(combinations(same, 2)):
        x, y = same[a].values, same[b].values
        p = kappa_p(same[a], same[b], permutations=permutations, seed=seed) if permutations else None
        t, critical = t_of_rows(x, y, alpha=alpha)
        better, worse = int((t > critical).sum()), int((t < -critical).sum())
        error, kappa = rmse(x, y), _kappa_or_none(x, y)
        results.append(Comparability(a, b, len(x), error, kappa, better, worse, p, permutations, seed, alpha))
        progress(i + 1, len(same) * (len(same) - 1) // 2)
    return Comparabilities(tuple(results), next(iter(same.values())).measure)


def rmse(x: Floats, y: Floats) -> float:
    """Root mean squared difference of the row means (Webber 2010, eq. 4.9).

    >>> round(rmse(np.array([[0.2], [0.4]]), np.array([[0.3], [0.3]])), 6)
    0.1
    """
    return float(np.sqrt(np.mean((x.mean(axis=1) - y.mean(axis=1)) ** 2)))


def kappa_p(a: ScoreMatrix, b: ScoreMatrix, *, permutations: int = 1000, seed: int = 0) -> float | None:
    """p-value of κ under random re-partition of the pooled topics into sets of the same sizes: (b + 1)/(B + 1).

    None where the means of the runs do not differ, so that κ is not defined. The runs must be the same in both.
    """
    pooled, n = np.hstack([a.values, b.values]), a.shape[1]
    observed = _kappa_or_none(a.values, b.values)
    if observed is None:
        return None
    rng, as_large = generator(seed), 0
    for part in chunks(permutations, CHUNK):
        order = rng.permuted(np.tile(np.arange(pooled.shape[1]), (part.stop - part.start, 1)), axis=1)
        chosen = np.zeros(order.shape)
        np.put_along_axis(chosen, order[:, :n], 1.0, axis=1)
        first = pooled @ chosen.T / n
        second = pooled @ (1 - chosen).T / (pooled.shape[1] - n)
        as_large += int((_kappas(first, second) >= observed * (1 - 1e-12)).sum())
    return (as_large + 1) / (permutations + 1)


def _kappas(first: Floats, second: Floats) -> Floats:
    """κ of every column of means; 0 where neither set of means varies."""
    error = np.sqrt(np.mean((first - second) ** 2, axis=0))
    spread = first.std(axis=0, ddof=1) + second.std(axis=0, ddof=1)
    return np.asarray(2 * error / np.where(spread > 0, spread, np.inf))


def _kappa_or_none(x: Floats, y: Floats) -> float | None:
    first, second = x.mean(axis=1), y.mean(axis=1)
    if len(first) < 2 or np.ptp(first) + np.ptp(second) == 0:
        return None
    return float(_kappas(first[:, None], second[:, None])[0])


def _common(collections: Mapping[str, ScoreMatrix]) -> dict[str, ScoreMatrix]:
    """The collections cut to the runs they share, in one order."""
    first, *others = collections.values()
    shared = [run for run in first.runs if all(run in m.runs for m in others)]
    if len(shared) < 2:
        raise DataError(f"the collections share {len(shared)} runs; comparing them needs at least two of the same name")
    return {name: m.select(runs=shared) for name, m in collections.items()}
