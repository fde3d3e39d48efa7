"""What happens with more topics, fewer runs, or scores without any structure? Made and sampled matrices.

Roitero 2020, Sections 3.3.5.5, 4.3.1 and 4.5.2.3: cells drawn from a normal distribution or from the real cells, topics
in planted clusters, random parts of a large collection; and the test that shows that real scores are not normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generator, generators, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.criteria import CRITERIA
from assay.topics.extremes import sample
from assay.topics.problem import Problem, problem, top_runs
from assay.topics.search import finished, search_subsets

QUICK_SEARCH = "swap(starts=2, rounds=3)"
"""Many searches are made, and their means are shown."""
CRITICAL = {
    0.15: 0.576,
    0.10: 0.656,
    0.05: 0.787,
    0.025: 0.918,
    0.01: 1.092,
}  # Stephens 1974, both parameters estimated


def planted_matrix(
    like: ScoreMatrix,
    *,
    seeds: Annotated[int, Within(2)] = 15,
    around: Annotated[int, Within(1)] = 10,
    radius: Annotated[float, Within(0, open=True)] = 0.02,
    seed: Annotated[int, Within(0)] = 0,
) -> ScoreMatrix:
    """Topics in clusters: `seeds` random real topics, each with `around` topics in a ball of that radius around it.

    The runs stay those of the real matrix. Topics of cluster i are called i.1, i.2 … (Roitero 2020, Section 4.5.2.3).

    >>> real = ScoreMatrix.of(np.random.default_rng(0).random((4, 20)), measure="AP")
    >>> planted_matrix(real, seeds=2, around=2).topics
    ('1.1', '1.2', '2.1', '2.2')
    """
    runs, topics = like.shape
    if seeds > topics:
        raise UsageError(f"{seeds} clusters around real topics; there are {topics} topics")
    rng = generator(seed)
    chosen = rng.choice(topics, seeds, replace=False)
    centres = like.values[:, chosen].T
    # A normal vector points in every direction equally often.
    direction = rng.normal(size=(seeds, around, runs))
    direction /= np.linalg.norm(direction, axis=2, keepdims=True)
    # The root spreads the points evenly: the volume of a ball grows with radius^runs.
    share_of_volume = rng.random((seeds, around, 1))
    distance = radius * share_of_volume ** (1 / runs)
    points = centres[:, None, :] + direction * distance
    values = points.reshape(-1, runs).T
    names = [f"{cluster + 1}.{member + 1}" for cluster in range(seeds) for member in range(around)]
    return ScoreMatrix.of(values, runs=like.runs, topics=names, measure=like.measure)


def normal_matrix(
    like: ScoreMatrix,
    *,
    runs: Annotated[int, Within(1)],
    topics: Annotated[int, Within(1)],
    seed: Annotated[int, Within(0)] = 0,
) -> ScoreMatrix:
    """Independent normal cells with the mean and the variance of a real matrix."""
    mean = like.values.mean()
    sd = like.values.std()
    rng = generator(seed)
    values = rng.normal(mean, sd, (runs, topics))
    return ScoreMatrix.of(values, measure=like.measure)


def resampled_matrix(
    like: ScoreMatrix,
    *,
    runs: Annotated[int, Within(1)],
    topics: Annotated[int, Within(1)],
    seed: Annotated[int, Within(0)] = 0,
) -> ScoreMatrix:
    """Cells drawn with replacement from those of a real matrix: its distribution without its structure.

    >>> resampled_matrix(ScoreMatrix.of([[0.5, 0.5], [0.5, 0.5]]), runs=3, topics=2).values.tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    cells = like.values.ravel()
    rng = generator(seed)
    values = rng.choice(cells, (runs, topics))
    return ScoreMatrix.of(values, measure=like.measure)


KINDS: Registry[Callable[..., ScoreMatrix]] = Registry("kind of synthetic scores")
KINDS.register("normal")(normal_matrix)
KINDS.register("resampled")(resampled_matrix)
KINDS.register("planted")(planted_matrix)


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
    """Its title."""
    how: str
    """Scale, runs and search, in words."""
    seed: int

    def table(self) -> Table:
        """One row per size of the ground truth and cardinality."""
        columns = {
            "of topics": "d",
            "topics": "d",
            "share": ".3f",
            "best": ".4f",
            "average": ".4f",
            "worst": ".4f",
        }
        rows = []
        for row in self.rows:
            share = row.c / row.size
            rows.append((row.size, row.c, share, row.best, row.average, row.worst))
        draws = f"means over {self.draws} random sets of topics per size, seed {self.seed}"
        note = f"{self.criterion}; {self.how}; {draws}"
        return Table.of(columns, rows, caption="Larger ground truth", notes=[note])


def growth(
    matrix: ScoreMatrix,
    *,
    sizes: tuple[int, ...],
    draws: int = 20,
    shares: tuple[float, ...] = (0.1, 0.2, 0.4, 0.6, 0.8),
    criterion: str = "tau",
    scale: str = "plain",
    top: float = 1.0,
    runs: int | None = None,
    search: str = QUICK_SEARCH,
    repetitions: int = 500,
    seed: int = 0,
    progress: Progress = silent,
) -> GrowthResult:
    """The series of random parts of a large collection, at the given shares of each size.

    The top share of the runs, or the `runs` best, are those by mean over all topics.

    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> [(row.size, row.c) for row in growth(m, sizes=(4,), draws=1, shares=(0.5,)).rows]
    [(4, 2)]
    """
    for size in sizes:
        if not 2 <= size <= len(matrix.topics):
            raise UsageError(f"{size} topics as ground truth; there are 2 to {len(matrix.topics)}")
    kept = top_runs(matrix, top, runs=runs)
    rows: list[GrowthRow] = []
    for number, size in enumerate(sizes):
        cardinalities = _cardinalities(size, shares)
        series = []
        for rng in generators(seed + number, draws):
            ground_truth = _random_topics(kept, size, rng)
            of_draw = _three_series(
                problem(ground_truth, criterion=criterion, scale=scale),
                cardinalities=cardinalities,
                search=search,
                repetitions=repetitions,
                seed=seed,
            )
            series.append(of_draw)
        mean_series = np.mean(series, axis=0)
        for c, means in zip(cardinalities, mean_series.T, strict=True):
            best, average, worst = means.tolist()
            rows.append(GrowthRow(size, c, best, average, worst))
        progress(number + 1, len(sizes))
    how = f"{len(kept.runs)} runs, search {search}"
    if scale != "plain":
        how = f"scale {scale}, {how}"
    return GrowthResult(tuple(rows), draws, CRITERIA.entry(criterion).facts["title"], how, seed)


def _cardinalities(size: int, shares: tuple[float, ...]) -> tuple[int, ...]:
    """The shares of a ground truth as numbers of topics, at least one and not all, each once."""
    distinct = set()
    for share in shares:
        topics = round(share * size)
        distinct.add(min(size - 1, max(1, topics)))
    return tuple(sorted(distinct))


def _random_topics(matrix: ScoreMatrix, size: int, rng: np.random.Generator) -> ScoreMatrix:
    """A random part of the topics, in the order of the matrix."""
    places = rng.choice(len(matrix.topics), size, replace=False)
    places.sort()
    topics = [matrix.topics[place] for place in places]
    return matrix.select(topics=topics)


def _three_series(
    ready: Problem, *, cardinalities: tuple[int, ...], search: str, repetitions: int, seed: int
) -> Floats:
    """Best, average and worst value (rows) at each cardinality (columns)."""
    extremes = search_subsets(
        ready,
        search=search,
        cardinalities=cardinalities,
        seed=seed,
    )
    finished(extremes)
    sampled = sample(
        ready,
        repetitions=repetitions,
        cardinalities=cardinalities,
        seed=seed,
    )
    best = extremes.values("best")
    worst = extremes.values("worst")
    return np.array([best, sampled.average, worst])


@dataclass(frozen=True, eq=False)
class NormalityResult(Result):
    """Anderson and Darling's A² of each run, and how many runs are not normal at each level."""

    runs: tuple[str, ...]
    statistic: Floats
    n: int

    def rejected(self, alpha: float) -> int:
        """Runs whose scores are not normal at one of the levels .15, .10, .05, .025, .01."""
        if alpha not in CRITICAL:
            levels = ", ".join(f"{level:g}" for level in CRITICAL)
            raise UsageError(f"no table at level {alpha:g}; levels: {levels}")
        # Stephens's table holds for large n; this is his correction for n topics.
        n = self.n
        correction = 1 + 4 / n - 25 / n**2
        critical = CRITICAL[alpha] / correction
        rejected = self.statistic > critical
        return int(rejected.sum())

    def table(self) -> Table:
        """One row per level."""
        columns = {"level": ".3f", "not normal": "d", "runs": "d"}
        rows = []
        for alpha in CRITICAL:
            not_normal = self.rejected(alpha)
            rows.append((alpha, not_normal, len(self.runs)))
        note = f"Anderson–Darling with mean and variance estimated, {self.n} topics"
        return Table.of(columns, rows, caption="Normality", notes=[note])


def normality(matrix: ScoreMatrix) -> NormalityResult:
    """How many runs have scores that are not normal over the topics.

    A² = -n - Σ (2i-1)/n · (ln Φ(z_i) + ln(1 - Φ(z_{n+1-i}))). Runs of constant scores are an error: they do not vary.
    """
    from scipy.special import log_ndtr

    n = len(matrix.topics)
    scores = matrix.values
    if n < 8 or not _every_run_varies(scores):
        raise DataError(f"{matrix.measure}: normality needs at least 8 topics and runs whose scores vary")
    mean = scores.mean(axis=1, keepdims=True)
    sd = scores.std(axis=1, ddof=1, keepdims=True)
    z = (scores - mean) / sd
    z.sort(axis=1)
    places = np.arange(1, n + 1)
    weight = (2 * places - 1) / n
    log_below = log_ndtr(z)
    log_above = log_ndtr(-z[:, ::-1])  # 1 - Φ(z) is Φ(-z)
    statistic = -n - (log_below + log_above) @ weight
    return NormalityResult(matrix.runs, statistic, n)


def _every_run_varies(scores: Floats) -> bool:
    """Whether no run has a standard deviation of 0."""
    sd = scores.std(axis=1, ddof=1)
    return bool((sd != 0).all())
