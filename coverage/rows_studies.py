"""Studies of measures and methods: tests and intervals that their tables print."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from assay.data.published import PublishedScore
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_tau_b
from assay.stats.paired import outcome_of
from assay.studies.concordance import concordance
from assay.studies.discriminative import discriminative_power
from assay.studies.method_comparison import Collected
from assay.studies.survey import survey, trend
from assay.studies.votes import Vote, predictive_power
from claims import FEW, area, outside
from worlds import PERMUTED, Case

claim = area("Studies of measures and methods")


@claim(
    "pairs of runs that a measure tells apart (discriminative power)",
    kind="p",
    unit="topic",
    calls=("assay.studies.discriminative.discriminative_power",),
    promises="of pairs of equal runs 5 % have p < .05, not corrected",
    nominal=0.05,
    ms=10.0,
    results=("DiscriminativePower", "ConclusionsResult", "Conclusions"),
    worlds=("normal", "skewed"),
    sizes=FEW,
    real=PERMUTED[:1],
)
def told_apart(case: Case) -> float:
    found = discriminative_power([case.runs(6).matrix], resamples=499, seed=case.seed())
    return float((found.p[0] < 0.05).mean())


@claim(
    "one of two measures is the more intuitive (concordance)",
    kind="p",
    unit="topic",
    calls=("assay.studies.concordance.concordance",),
    promises="p < .05 in 5 % if neither is",
    nominal=0.05,
    ms=0.4,
    results=("Concordance",),
    worlds=("two noisy measures, 2 runs", "two noisy measures, 10 runs"),
)
def more_intuitive(case: Case) -> float:
    k = 2 if case.world.endswith(" 2 runs") else 10
    true = case.rng.normal(0, 1, (k, case.n))
    noisy = [true + case.rng.normal(0, 1.5, true.shape) for _ in range(2)]
    one, two, gold = (ScoreMatrix.of(v, measure=m) for v, m in zip([*noisy, true], ("a", "b", "gold"), strict=True))
    return concordance(one, two, [gold]).p < 0.05


@claim(
    "a measure agrees with the votes of people",
    kind="interval",
    unit="topic",
    calls=("assay.studies.votes.predictive_power",),
    promises="95 % of the intervals contain the share of units in which it agrees",
    nominal=0.05,
    ms=0.6,
    results=("PredictivePower",),
    worlds=("one unit a topic", "6 pairs of runs a topic"),
)
def agreement_left_out(case: Case) -> float | None:
    runs = 2 if case.world == "one unit a topic" else 4
    values = case.rng.random((runs, case.n))
    # A topic's judge is easy or hard to agree with, on all pairs of runs alike.
    chance = case.rng.choice([0.55, 0.95], case.n)
    votes = []
    for t in range(case.n):
        for a, b in combinations(range(runs), 2):
            agrees = case.rng.random() < chance[t]
            left_is_better = values[a, t] > values[b, t]
            side = "left" if left_is_better == agrees else "right"
            votes.append(Vote(str(t + 1), f"run{a + 1}", f"run{b + 1}", side))
    row = predictive_power(ScoreMatrix.of(values, measure="AP"), votes).table().record()["rows"][0]
    low, high = (next(v for k, v in row.items() if word in k) for word in ("low", "high"))
    return outside(low, 75.0, high)


@claim(
    "published scores rise over the years (Kendall's τ)",
    kind="p",
    unit="year",
    calls=("assay.studies.survey.survey", "assay.studies.survey.trend"),
    promises="p < .05 in 5 % if they do not",
    nominal=0.05,
    ms=3.0,
    results=("Survey",),
    worlds=("independent papers",),
    sizes=(10, 25, 50),
)
def scores_rise(case: Case) -> float | None:
    reported = []
    for paper in range(case.n):
        year = 2000.0 + int(case.rng.integers(0, 12))
        base = float(case.rng.normal(0.25, 0.03))
        for kind, score in (("baseline", base), ("improved", base + float(case.rng.exponential(0.02)))):
            reported.append(PublishedScore(kind, score, paper=f"p{paper}", year=year, measure="AP", collection="c"))
    _, p = trend(survey(reported).experiments)
    return None if p is None else p < 0.05


@claim(
    "one method is better than another over collections",
    kind="p",
    unit="collection",
    calls=("assay.stats.paired.outcome_of",),
    promises="p < .05 in at most 5 % if neither is, by the exact signed rank test that the table uses",
    nominal=0.05,
    ms=0.4,
    results=("MethodsCompared",),
    worlds=("normal",),
    sizes=(6, 10, 25),
)
def method_is_better(case: Case) -> float:
    difference = case.rng.normal(0, 0.1, case.n)
    return float(outcome_of(difference[None, :], "wilcoxon(exact=true)").p[0]) < 0.05


@claim(
    "one low-cost method ranks runs better than another",
    kind="p",
    unit="run",
    calls=("assay.studies.method_comparison.method_test",),
    promises="p < .05 in 5 % of the collections if neither does, over 50 random subsets of their runs",
    nominal=0.05,
    ms=17.0,
    results=("MethodTest", "MethodTests"),
    worlds=("subsets drawn from very many runs", "subsets of 10 runs"),
    sizes=(6,),
)
def ranks_better(case: Case) -> float:
    """The test of the result, on τ of two methods of one quality; `n` runs are in each subset."""
    runs = 50 * case.n if case.world.startswith("subsets drawn") else 10
    truth = case.rng.normal(0, 1, runs)
    said = truth + case.rng.normal(0, 0.7, (2, runs))
    tau = np.empty((2, 50))
    for subset in range(50):
        places = case.rng.choice(runs, case.n, replace=False)
        for arm in range(2):
            tau[arm, subset] = kendall_tau_b(said[arm, places], truth[places])
    return Collected("c", case.n, (tau[0], tau[1])).p < 0.05
