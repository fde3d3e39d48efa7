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
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix, same_scores
from assay.data.tested_means import needs_means
from assay.standard.halves import t_of_rows
from assay.standard.mean_moves import kappas, rmse

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
class Comparabilities(Result):
    """All pairs of collections."""

    unit = "topic"

    pairs: tuple[Comparability, ...]
    measure: str

    def table(self) -> Table:
        """One row per pair of collections."""
        some = self.pairs[0]
        rows = [(p.first, p.second, p.runs, p.rmse, p.kappa, p.p, p.better, p.worse) for p in self.pairs]
        notes = [
            "κ = 2 · RMSE / (sd + sd of the runs' means), lower is more comparable; sd with n − 1.",
            f"first > second: runs better than themselves, two-sample t, one-sided, α = {some.alpha / 2:g}.",
        ]
        if some.permutations:
            notes.append(
                f"p: share of {some.permutations} random re-partitions of the topics whose κ is at least as large, "
                f"(b + 1)/(B + 1), seed {some.seed}."
            )
        formats = {"first": "", "second": "", "runs": "d", "RMSE": ".4f", "κ": ".3f", "p": "p"}
        formats |= {"first > second": "d", "second > first": "d"}
        keys = {"RMSE": "rmse", "first > second": "first_better", "second > first": "second_better"}
        caption = f"{self.measure}: are the collections comparable?"
        return Table.of(formats, rows, caption=caption, notes=notes, keys=keys)


def comparability(
    collections: Mapping[str, ScoreMatrix],
    *,
    permutations: int = 1000,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Progress = silent,
) -> Comparabilities:
    """RMSE, κ, its permutation test and the self-differences of every pair of collections, on the runs all have.

    The scores must be of one measure and policy. Webber, Moffat & Zobel 2008, §5; Webber 2010, §4.6 (eqs. 4.9, 4.10;
    Tables 4.9 to 4.12).

    >>> c = ScoreMatrix.of([[0.2], [0.3], [0.4]], topics=["1"])
    >>> d = ScoreMatrix.of([[0.25], [0.30], [0.45]], topics=["2"])
    >>> pair = comparability({"C": c, "D": d}).pairs[0]
    >>> round(pair.rmse, 7), round(pair.kappa, 6)
    (0.0408248, 0.40008)
    """
    shared = on_shared_runs(collections)
    pairs = list(combinations(shared, 2))
    results = []
    for first, second in pairs:
        x, y = shared[first].values, shared[second].values
        p = kappa_p(shared[first], shared[second], permutations=permutations, seed=seed) if permutations else None
        t, critical = t_of_rows(x, y, alpha=alpha)
        result = Comparability(
            first=first,
            second=second,
            runs=len(x),
            rmse=rmse(x, y),
            kappa=_kappa_or_none(x, y),
            better=int((t > critical).sum()),
            worse=int((t < -critical).sum()),
            p=p,
            permutations=permutations,
            seed=seed,
            alpha=alpha,
        )
        results.append(result)
        progress(len(results), len(pairs))
    return Comparabilities(tuple(results), next(iter(shared.values())).measure)


def on_shared_runs(collections: Mapping[str, ScoreMatrix]) -> dict[str, ScoreMatrix]:
    """The collections cut to the runs they share, in one order; an error unless all hold the same quantity."""
    if len(collections) < 2:
        raise UsageError(f"{len(collections)} collection given; comparing takes at least two")
    first, *others = collections.values()
    shared = [run for run in first.runs if all(run in matrix.runs for matrix in others)]
    if len(shared) < 2:
        raise DataError(f"the collections share {len(shared)} runs; comparing them needs at least two of the same name")
    for one, other in combinations(collections.values(), 2):
        same_scores(one, other)
    for matrix in collections.values():
        needs_means(matrix, "comparability")
    return {name: matrix.select(runs=shared) for name, matrix in collections.items()}


def pooled(collections: Mapping[str, ScoreMatrix]) -> ScoreMatrix:
    """The shared runs on the topics of all collections together; a topic is called `collection:topic`."""
    shared = on_shared_runs(collections)
    parts = list(shared.values())
    return ScoreMatrix.of(
        np.hstack([part.values for part in parts]),
        runs=parts[0].runs,
        topics=[f"{name}:{topic}" for name, part in shared.items() for topic in part.topics],
        measure=parts[0].measure,
        signature=parts[0].signature,
    )


def kappa_p(a: ScoreMatrix, b: ScoreMatrix, *, permutations: int = 1000, seed: int = 0) -> float | None:
    """p-value of κ under random re-partition of the pooled topics into sets of the same sizes: (b + 1)/(B + 1).

    None where the means of all runs are equal, so that κ is not defined. The runs must be the same in both.
    """
    observed = _kappa_or_none(a.values, b.values)
    if observed is None:
        return None
    both = np.hstack([a.values, b.values])
    topics = both.shape[1]
    in_first = a.shape[1]
    # rounding must not make a partition as good as the observed one look better
    threshold = observed * (1 - 1e-12)
    rng = generator(seed)
    as_large = 0
    for part in chunks(permutations, CHUNK):
        count = part.stop - part.start
        in_order = np.tile(np.arange(topics), (count, 1))
        shuffled = rng.permuted(in_order, axis=1)
        chosen = np.zeros(shuffled.shape)
        np.put_along_axis(chosen, shuffled[:, :in_first], 1.0, axis=1)
        first_means = both @ chosen.T / in_first
        second_means = both @ (1 - chosen).T / (topics - in_first)
        of_parts = kappas(first_means, second_means)
        as_large += int((of_parts >= threshold).sum())
    return (as_large + 1) / (permutations + 1)


def _kappa_or_none(x: Floats, y: Floats) -> float | None:
    first = x.mean(axis=1)
    second = y.mean(axis=1)
    spread = np.ptp(first) + np.ptp(second)
    if len(first) < 2 or spread == 0:
        return None
    of_pair = kappas(first[:, None], second[:, None])
    return float(of_pair[0])
