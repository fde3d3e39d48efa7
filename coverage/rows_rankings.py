"""Rankings of runs, standardized scores, and collections against each other: intervals and p over topics or runs."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_tau_b
from assay.similarity.drank import d_rank_test
from assay.similarity.systems import compare_rankings
from assay.standard.collections import comparability
from assay.standard.items import item_total
from assay.standard.reference_choice import reference_intervals
from assay.standard.yearly import trend
from claims import FEW, area, outside
from worlds import Case, real_scores

claim = area("Rankings of runs")
SPLIT = ("AP split", "P@10 split")
"""Two disjoint sets of n real topics."""
RUNS = 10


def _split(case: Case, k: int = RUNS) -> tuple[ScoreMatrix, ScoreMatrix, Floats]:
    """The same runs on two sets of n topics, and their true means; simulated runs differ as real ones do."""
    if case.world in SPLIT:
        scores = real_scores(case.world.removesuffix(" split"))
        rows = scores[np.sort(case.rng.choice(len(scores), k, replace=False))]
        topics = case.rng.permutation(rows.shape[1])[: 2 * case.n]
        values, truth = rows[:, topics], rows.mean(axis=1)
    else:
        truth = np.linspace(0.35, 0.5, k)
        shape = (k, 2 * case.n)
        values = truth[:, None] + case.rng.normal(0, 0.1, 2 * case.n) + case.rng.normal(0, 0.08, shape)
    names = [f"t{i}" for i in range(2 * case.n)]
    halves = (slice(None, case.n), slice(case.n, None))
    one, two = (ScoreMatrix.of(values[:, half].clip(0, 1), topics=names[half], measure="AP") for half in halves)
    return one, two, truth


@claim(
    "two rankings of the same runs on other topics are farther than chance (d_rank)",
    kind="p",
    unit="topic",
    calls=("assay.similarity.drank.d_rank_test",),
    promises="p < .05 in at most 5 % if both sets of topics are of one population",
    nominal=0.05,
    ms=12.0,
    results=("DRankResult",),
    worlds=("normal",),
    sizes=(10, 25, 50),
    real=SPLIT,
    real_sizes=(10, 25, 50),
)
def too_far(case: Case) -> float | None:
    one, two, _ = _split(case)
    p = d_rank_test(one, two, resamples=199, seed=case.seed()).p_value
    return None if p is None else p < 0.05


@claim(
    "τ of two rankings lies in its interval",
    kind="interval",
    unit="topic",
    calls=("assay.similarity.systems.compare_rankings",),
    promises="95 % of the intervals contain τ of the true means",
    nominal=0.05,
    ms=45.0,
    results=("RankingComparison", "LikenessAndScores"),
    worlds=("normal",),
    sizes=FEW,
    real=SPLIT,
)
def tau_left_out(case: Case) -> float | None:
    one, two, _ = _split(case)
    found = compare_rankings(one, two, measures=["tau-b"], resamples=199, seed=case.seed()).correlations[0]
    if found.low is None or found.high is None:
        return None
    return outside(found.low, 1.0, found.high)


@claim(
    "τ of runs by two measures on the same topics",
    kind="interval",
    unit="topic",
    calls=("assay.similarity.systems.compare_rankings",),
    promises="95 % of the intervals contain τ of the true means",
    nominal=0.05,
    ms=45.0,
    results=("RankingComparison",),
    worlds=("two measures",),
    sizes=FEW,
)
def tau_of_measures_left_out(case: Case) -> float | None:
    truth = np.linspace(0.35, 0.5, RUNS)
    other = truth[[1, 0, 2, 4, 3, 5, 7, 6, 9, 8]]
    ease, shape = case.rng.normal(0, 0.1, case.n), (RUNS, case.n)
    both = [mean[:, None] + ease + case.rng.normal(0, 0.05, shape) for mean in (truth, other)]
    one, two = (
        ScoreMatrix.of(values.clip(0, 1), measure=name) for values, name in zip(both, ("AP", "RR"), strict=True)
    )
    found = compare_rankings(one, two, measures=["tau-b"], resamples=199, seed=case.seed()).correlations[0]
    if found.low is None or found.high is None:
        return None
    return outside(found.low, kendall_tau_b(truth, other), found.high)


claim = area("Standardized scores and collections")


@claim(
    "two collections are less comparable than two draws of topics (κ)",
    kind="p",
    unit="topic",
    calls=("assay.standard.collections.comparability",),
    promises="p < .05 in 5 % if the topics are of one population",
    nominal=0.05,
    ms=0.4,
    results=("Comparabilities",),
    worlds=("normal",),
    sizes=FEW,
    real=SPLIT,
)
def less_comparable(case: Case) -> float | None:
    one, two, _ = _split(case)
    p = comparability({"one": one, "two": two}, permutations=199, seed=case.seed()).pairs[0].p
    return None if p is None else p < 0.05


@claim(
    "a run is better than itself on other topics",
    kind="p",
    unit="topic",
    calls=("assay.standard.collections.comparability",),
    promises="each way in 2.5 % of the runs",
    nominal=0.05,
    ms=0.4,
    results=("Comparabilities", "FalsePositives", "HalfErrors"),
    worlds=("normal",),
    sizes=FEW,
    real=SPLIT,
)
def better_than_itself(case: Case) -> float:
    one, two, _ = _split(case)
    pair = comparability({"one": one, "two": two}, permutations=0).pairs[0]
    return (pair.better + pair.worse) / pair.runs


@claim(
    "topics with a wide spread agree more with the others",
    kind="p",
    unit="topic",
    calls=("assay.standard.items.item_total",),
    promises="p < .05 in 5 % if they do not",
    nominal=0.05,
    ms=0.4,
    results=("ItemTotal",),
    worlds=("normal",),
    sizes=FEW,
)
def spread_agrees(case: Case) -> float | None:
    quality = case.rng.normal(0, 0.05, (30, 1))
    values = 0.5 + quality + case.rng.normal(0, 0.1, case.n) + case.rng.normal(0, 0.1, (30, case.n))
    p = item_total(ScoreMatrix.of(values.clip(0, 1), measure="AP")).p
    return None if p is None else p < 0.05


@claim(
    "a standardized mean lies in the interval that the choice of reference runs leaves",
    kind="interval",
    unit="run",
    calls=("assay.standard.reference_choice.reference_intervals",),
    promises="95 % of the intervals contain what all possible reference runs would give",
    nominal=0.05,
    ms=50.0,
    results=("ReferenceIntervals",),
    worlds=("normal",),
    sizes=FEW,
)
def standardized_left_out(case: Case) -> float:
    topics = 20
    ease = case.rng.normal(0.45, 0.1, topics)
    many = ease + case.rng.normal(0, 0.05, (1000, 1)) + case.rng.normal(0, 0.06, (1000, topics))
    run = ScoreMatrix.of([ease + 0.05 + case.rng.normal(0, 0.06, topics)], runs=["x"], measure="AP")
    references = ScoreMatrix.of(many[: case.n], measure="AP")
    found = reference_intervals(run, references, form="z", resamples=499, seed=case.seed())
    truth = float(((run.values[0] - many.mean(axis=0)) / many.std(axis=0)).mean())
    return outside(found.low[0], truth, found.high[0])


@claim(
    "a trend over years (slope of means)",
    kind="interval",
    unit="year",
    calls=("assay.standard.yearly.trend",),
    promises="the interval of the slope leaves out 0 in 5 % if nothing changed",
    nominal=0.05,
    ms=12.0,
    results=("Trend",),
    worlds=("topics and runs", "with a shock of a year"),
    sizes=(4, 6, 10),
)
def slope_left_out(case: Case) -> float | None:
    made = {}
    references = case.rng.normal(0, 0.05, 5)
    for year in range(case.n):
        shock = case.rng.normal(0, 0.03) if case.world == "with a shock of a year" else 0.0
        own = case.rng.normal(0, 0.05, 15) + shock
        topics = case.rng.normal(0.45, 0.1, 30)
        quality = np.concatenate([references, own])[:, None]
        values = topics + quality + case.rng.normal(0, 0.08, (20, 30))
        runs = [*(f"ref{i}" for i in range(5)), *(f"y{year}-{i}" for i in range(15))]
        made[str(2000 + year)] = ScoreMatrix.of(
            values.clip(0, 1), runs=runs, topics=[f"{year}-{i}" for i in range(30)], measure="AP"
        )
    slope = trend(made, [f"ref{i}" for i in range(5)]).slope
    interval = None if slope is None else slope.interval()
    return None if interval is None or np.isnan(interval[0]) else outside(interval[0], 0.0, interval[1])
