"""Plans: does an experiment of the planned size find the difference as often as promised?"""

from __future__ import annotations

import numpy as np

from assay.data.scores import ScoreMatrix
from assay.plan import power
from assay.plan.audits import one_sigma
from assay.plan.drawn_topics import topic_inclusion
from assay.plan.sequential import Experiment
from assay.plan.topic_sizes import topics_by_anova, topics_by_interval, topics_by_t
from assay.plan.trials import trial_plan
from assay.stats.anova import one_way
from assay.stats.effect import mean_interval
from assay.stats.paired import outcome_of
from assay.stats.t_power import power_of
from assay.stats.two_sample import compare_topic_sets
from claims import FEW, Limit, area
from worlds import Case

claim = area("Plans of experiments")
SIGMA = 0.1
REAL = ("AP redrawn", "success redrawn")


def _found(differences: np.ndarray) -> bool:
    return bool(outcome_of(differences, "t").p[0] < 0.05)


def _drawn(case: Case, mean: float, n: int) -> np.ndarray:
    """n differences of this mean with the sd SIGMA: normal, skewed, or those of two real runs, moved and stretched."""
    if case.is_real:
        whole = Case(case.world, 5000, case.rng).runs(2).values
        population = whole[0] - whole[1]
        own = case.rng.choice(population, n)
        return mean + SIGMA * (own - population.mean()) / max(population.std(), 1e-9)
    own = case.rng.standard_exponential(n) - 1 if case.world == "skewed" else case.rng.standard_normal(n)
    return mean + SIGMA * own


@claim(
    "the difference that n topics find with power .8",
    kind="power",
    unit="topic",
    calls=("assay.plan.power",),
    promises="it is found in 80 % of the experiments",
    nominal=0.2,
    ms=1.3,
    results=("PowerPlan", "PowerCurve", "Audit", "DepthTradeoff"),
    worlds=("normal", "skewed"),
    real=REAL,
    limits=(
        Limit("skewed differences, and real ones of 10 topics: the t test supposes normal ones", 0.32, ("skewed",)),
    ),
)
def detectable(case: Case) -> float:
    plan = power(topics=case.n, power=0.8, sigma=SIGMA)
    return not _found(_drawn(case, plan.delta or 0.0, case.n))


@claim(
    "the topics that a difference needs",
    kind="power",
    unit="topic",
    calls=("assay.plan.power", "assay.plan.topic_sizes.topics_by_t"),
    promises="this many topics find it with power .8",
    nominal=0.2,
    ms=3.0,
    results=("PowerPlan", "Size", "Sizes"),
    worlds=("normal",),
    sizes=FEW,
    real=REAL,
)
def topics_needed(case: Case) -> float:
    delta = 3 * SIGMA / np.sqrt(case.n)
    topics = power(delta=delta, sigma=SIGMA).topics
    if topics_by_t(delta, variance=SIGMA**2).exact != topics:
        return 1.0
    return not _found(_drawn(case, delta, topics))


@claim(
    "the topics that two runs on different topics need",
    kind="power",
    unit="topic",
    calls=("assay.plan.topic_sizes.topics_by_t",),
    promises="this many topics find the difference with power .8",
    nominal=0.2,
    ms=0.4,
    results=("Size",),
    worlds=("normal",),
    sizes=FEW,
)
def topics_of_two_sets(case: Case) -> float:
    delta = 4 * SIGMA / np.sqrt(case.n)
    topics = topics_by_t(delta, variance=SIGMA**2, design="two-sample").exact
    return compare_topic_sets(_drawn(case, delta, topics), _drawn(case, 0.0, topics), "student").p >= 0.05


@claim(
    "the topics that an analysis of variance of 5 runs needs",
    kind="power",
    unit="topic",
    calls=("assay.plan.topic_sizes.topics_by_anova",),
    promises="with this many, best and worst that far apart are found with power .8",
    nominal=0.2,
    ms=2.0,
    results=("Size", "Sizes"),
    worlds=("normal",),
    sizes=FEW,
)
def topics_of_anova(case: Case) -> float:
    spread = 4 * SIGMA / np.sqrt(case.n)
    topics = topics_by_anova(spread, runs=5, variance=SIGMA**2).exact
    means = [spread / 2, -spread / 2, 0.0, 0.0, 0.0]
    p = one_way([_drawn(case, mean, topics) for mean in means]).effects[0].p
    return p is None or p >= 0.05


@claim(
    "the topics for an interval of some width",
    kind="power",
    unit="topic",
    calls=("assay.plan.topic_sizes.topics_by_interval",),
    promises="the interval is that narrow on average: wider in about half of the experiments",
    nominal=0.5,
    ms=2.0,
    results=("Size", "Sizes"),
    worlds=("normal",),
    sizes=FEW,
)
def topics_of_interval(case: Case) -> float:
    width = 4 * SIGMA / np.sqrt(case.n)
    topics = topics_by_interval(width, variance=SIGMA**2).exact
    ends = mean_interval(_drawn(case, 0.0, topics))
    return float(ends.high[0] - ends.low[0]) > width


@claim(
    "conversations of 8 turns that a difference needs",
    kind="power",
    unit="conversation",
    calls=("assay.plan.power",),
    promises="this many conversations find it with power .8",
    nominal=0.2,
    ms=0.4,
    results=("PowerPlan",),
    worlds=("normal",),
    sizes=FEW,
)
def conversations_needed(case: Case) -> float:
    delta = 3 * SIGMA / np.sqrt(case.n)
    plan = power(delta=delta, sigma=SIGMA, turns=8, icc=0.3)
    shared = case.rng.normal(0, SIGMA * np.sqrt(0.3), (plan.topics, 1))
    own = case.rng.normal(0, SIGMA * np.sqrt(0.7), (plan.topics, 8))
    return not _found(delta + (shared + own).mean(axis=1))


def _too_small(case: Case, exact: bool) -> float:
    pilot = _drawn(case, 0.0, case.n)
    if pilot.std() < 1e-9:
        return 1.0
    plan = trial_plan(float(pilot.std(ddof=1)), case.n, delta=0.03, exact=exact)
    return float(power_of(plan.main, 0.03 / SIGMA)) < 0.8


HEAVY = "differences of real scores vary more than normal ones"


@claim(
    "the topics of an experiment after a trial",
    kind="power",
    unit="topic",
    calls=("assay.plan.trials.trial_plan",),
    promises="power .8 is reached in 95 % of the cases",
    nominal=0.05,
    ms=2.0,
    results=("TrialPlan", "BestTrial"),
    worlds=("normal",),
    real=REAL,
    limits=(Limit(HEAVY, 0.6, REAL),),
)
def after_a_trial(case: Case) -> float:
    return _too_small(case, exact=False)


@claim(
    "the topics of an experiment after a trial (exact)",
    kind="power",
    unit="topic",
    calls=("assay.plan.trials.trial_plan",),
    promises="power .8 is reached in 95 % of the cases",
    nominal=0.05,
    ms=2.0,
    results=("TrialPlan",),
    worlds=("normal",),
    real=REAL,
    limits=(Limit(HEAVY, 0.6, REAL),),
)
def after_a_trial_exactly(case: Case) -> float:
    return _too_small(case, exact=True)


@claim(
    "the one test of an experiment that stops on power",
    kind="verdict",
    unit="topic",
    calls=("assay.plan.sequential.next_step",),
    promises="p < .05 in 5 % if there is no difference",
    nominal=0.05,
    ms=3.0,
    results=("Step", "Experiment", "Comparison"),
    worlds=("normal", "skewed"),
    sizes=(10, 50),
    real=("AP redrawn",),
    limits=(Limit("stopping on power makes p slightly too small, by about a tenth", 0.075),),
)
def stopped_on_power(case: Case) -> float | None:
    experiment = Experiment(delta=SIGMA * 0.4 * np.sqrt(50 / case.n), minimum=10, step=5)
    differences = _drawn(case, 0.0, 2000)
    for _ in range(300):
        n = experiment.wanted
        experiment = experiment.look(differences[:n])
        if experiment.reached:
            return _found(differences[:n])
    return None


@claim(
    "one σ does not serve all pairs of runs",
    kind="p",
    unit="topic",
    calls=("assay.plan.audits.one_sigma",),
    promises="p < .05 in at most 5 % if all runs vary alike",
    nominal=0.05,
    ms=8.0,
    results=("OneSigma",),
    worlds=("normal", "skewed"),
    sizes=FEW,
)
def several_sigmas(case: Case) -> float:
    return one_sigma(case.runs(6).matrix, resamples=199, seed=case.seed()).p < 0.05


@claim(
    "some topics are in more of the experiments that stop on power",
    kind="p",
    unit="topic",
    calls=("assay.plan.drawn_topics.topic_inclusion",),
    promises="p < .05 in at most 5 % if all topics are alike",
    nominal=0.05,
    ms=10.0,
    results=("TopicInclusion",),
    worlds=("differences of one size",),
    sizes=(40,),
)
def included_more_often(case: Case) -> float:
    values = np.stack([0.5 + np.where(np.arange(case.n) % 2, 0.05, -0.05), np.full(case.n, 0.5)])
    pair = ScoreMatrix.of(values, measure="AP")
    return topic_inclusion(pair, delta=0.04, trials=300, seed=case.seed()).p < 0.05
