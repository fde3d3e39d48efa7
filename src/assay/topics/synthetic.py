"""What happens with more topics, fewer runs, or scores without any structure? Made and sampled matrices.

Roitero 2020, Sections 3.3.5.5, 4.3.1 and 4.5.2.3: cells drawn from a normal distribution or from the real cells, topics
planted in clusters, random parts of a large collection; and the test that shows that real scores are not normal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generator, generators, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.extremes import sample
from assay.topics.problem import problem
from assay.topics.search import finished, search_subsets

CRITICAL = {
    0.15: 0.576,
    0.10: 0.656,
    0.05: 0.787,
    0.025: 0.918,
    0.01: 1.092,
}  # Stephens 1974, both parameters estimated


def normal_matrix(like: ScoreMatrix, *, runs: int, topics: int, seed: int = 0) -> ScoreMatrix:
    """Independent normal cells with the mean and the variance of a real matrix."""
    values = generator(seed).normal(like.values.mean(), like.values.std(), (runs, topics))
    return ScoreMatrix.of(values, measure=like.measure)


def resampled_matrix(like: ScoreMatrix, *, runs: int, topics: int, seed: int = 0) -> ScoreMatrix:
    """Cells drawn with replacement from those of a real matrix: its distribution without its structure.

    >>> resampled_matrix(ScoreMatrix.of([[0.5, 0.5], [0.5, 0.5]]), runs=3, topics=2).values.tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    values = generator(seed).choice(like.values.ravel(), (runs, topics))
    return ScoreMatrix.of(values, measure=like.measure)


KINDS = {"normal": normal_matrix, "resampled": resampled_matrix}


def planted_matrix(
    like: ScoreMatrix, *, seeds: int = 15, around: int = 10, radius: float = 0.02, seed: int = 0
) -> ScoreMatrix:
    """Topics in clusters: random real topics, each with `around` topics in a ball of that radius around it."""
    if not 1 <= seeds <= len(like.topics):
        raise UsageError(f"{seeds} seed topics of {len(like.topics)}")
    rng = generator(seed)
    centres = like.values[:, rng.choice(len(like.topics), seeds, replace=False)].T
    way = rng.normal(size=(seeds, around, len(like.runs)))
    way /= np.linalg.norm(way, axis=2, keepdims=True)
    length = radius * rng.random((seeds, around, 1)) ** (1 / len(like.runs))
    points = (centres[:, None, :] + way * length).reshape(-1, len(like.runs))
    return ScoreMatrix.of(points.T, runs=like.runs, measure=like.measure)


@dataclass(frozen=True)
class GrowthRow:
    """The three series at one cardinality of ground truths of one size, each the mean over the draws."""

    size: int
    c: int
    best: float
    average: float
    worst: float


@dataclass(frozen=True)
class GrowthResult(Result):
    """What a larger ground truth does to Best, Average and Worst."""

    rows: tuple[GrowthRow, ...]
    draws: int
    criterion: str
    seed: int

    def table(self) -> Table:
        """One row per size of the ground truth and cardinality."""
        rows = [(r.size, r.c, r.c / r.size, r.best, r.average, r.worst) for r in self.rows]
        columns = {"of topics": "d", "topics": "d", "share": ".3f"} | dict.fromkeys(("best", "average", "worst"), ".4f")
        made = f"{self.criterion}; means over {self.draws} random sets of topics per size, seed {self.seed}"
        return Table.of(columns, rows, caption="Larger ground truth", notes=[made])


def growth(
    matrix: ScoreMatrix,
    *,
    sizes: tuple[int, ...],
    draws: int = 20,
    shares: tuple[float, ...] = (0.1, 0.2, 0.4, 0.6, 0.8),
    criterion: str = "tau",
    search: str = "swap(starts=2, rounds=3)",
    repetitions: int = 500,
    seed: int = 0,
    progress: Progress = silent,
) -> GrowthResult:
    """The series of random parts of a large collection, at the given shares of each size.

    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> [(row.size, row.c) for row in growth(m, sizes=(4,), draws=1, shares=(0.5,)).rows]
    [(4, 2)]
    """
    for size in sizes:
        if not 2 <= size <= len(matrix.topics):
            raise UsageError(f"{size} topics as ground truth; there are 2 to {len(matrix.topics)}")
    rows: list[GrowthRow] = []
    for number, size in enumerate(sizes):
        at = sorted({min(size - 1, max(1, round(share * size))) for share in shares})
        found = [
            _three(_drawn(matrix, size, rng), at, criterion, search, repetitions, seed)
            for rng in generators(seed + number, draws)
        ]
        means = np.mean(found, axis=0)
        rows += [GrowthRow(size, c, *(float(v) for v in means[:, i])) for i, c in enumerate(at)]
        progress(number + 1, len(sizes))
    return GrowthResult(tuple(rows), draws, criterion, seed)


def _drawn(matrix: ScoreMatrix, size: int, rng: np.random.Generator) -> ScoreMatrix:
    chosen = np.sort(rng.choice(len(matrix.topics), size, replace=False))
    return matrix.select(topics=[matrix.topics[t] for t in chosen])


def _three(matrix: ScoreMatrix, at: list[int], criterion: str, by: str, repetitions: int, seed: int) -> Floats:
    ready = problem(matrix, criterion=criterion)
    found = finished(search_subsets(ready, search=by, cardinalities=tuple(at), seed=seed))
    average = sample(ready, repetitions=repetitions, cardinalities=tuple(at), seed=seed).average
    return np.array([found.values("best"), average, found.values("worst")])


@dataclass(frozen=True, eq=False)
class NormalityResult(Result):
    """Anderson and Darling's A² of each run, and how many runs are not normal at each level."""

    runs: tuple[str, ...]
    statistic: Floats
    n: int

    def rejected(self, alpha: float) -> int:
        """Runs whose scores are not normal at one of the levels .15, .10, .05, .025, .01."""
        if alpha not in CRITICAL:
            raise UsageError(f"no table at level {alpha:g}; levels: {', '.join(f'{a:g}' for a in CRITICAL)}")
        return int((self.statistic > CRITICAL[alpha] / (1 + 4 / self.n - 25 / self.n**2)).sum())

    def table(self) -> Table:
        """One row per level."""
        rows = [(alpha, self.rejected(alpha), len(self.runs)) for alpha in CRITICAL]
        note = f"Anderson–Darling with mean and variance estimated, {self.n} topics"
        return Table.of({"level": ".3f", "not normal": "d", "runs": "d"}, rows, caption="Normality", notes=[note])


def normality(matrix: ScoreMatrix) -> NormalityResult:
    """How many runs have scores that are not normal over the topics.

    A² = -n - Σ (2i-1)/n · (ln Φ(z_i) + ln(1 - Φ(z_{n+1-i}))). Runs of constant scores are an error: they do not vary.
    """
    from scipy.special import log_ndtr

    n = len(matrix.topics)
    spread = matrix.values.std(axis=1, ddof=1) if n > 1 else np.zeros(len(matrix.runs))
    if n < 8 or (spread == 0).any():
        raise DataError(f"{matrix.measure}: normality needs at least 8 topics and runs whose scores vary")
    z = np.sort((matrix.values - matrix.values.mean(axis=1, keepdims=True)) / spread[:, None], axis=1)
    weight = (2 * np.arange(1, n + 1) - 1) / n
    return NormalityResult(matrix.runs, -n - (log_ndtr(z) + log_ndtr(-z[:, ::-1])) @ weight, n)
