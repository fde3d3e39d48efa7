"""Webber 2010, sections 5.3 and 5.4: σ at design time, stopping on power, and depth against breadth."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy import stats

import assay
from assay.plan import depth, stopping_bias
from assay.plan.audits import one_sigma
from assay.plan.depths import DepthTradeoff
from assay.plan.drawn_topics import sigma_samples, topic_inclusion
from assay.plan.stopping import StoppingBias
from assay.plan.trials import best_trial, inflated_sigma
from assay.stats import all_pairs
from assay.stats.paired import outcome_of
from assay.stats.t_power import topics_needed, whole
from reproduction.files import MATRICES, ROBUST, robust_qrels, scores
from reproduction.items import Line, data_folder, drawn, line, missing, reproduces, statement
from reproduction.places import WEBBER
from reproduction.webber_power import TABLE_5_2, TWO_UNKNOWN

ROBUST_80 = "robust-80.csv"


@reproduces(
    WEBBER,
    "Section 5.3.1",
    "one σ for all pairs of runs?",
    command="""assay plan one-sigma robust-80.csv -B 1000
assay plan power --delta 0.033 --sigma 0.16
assay plan power --delta 0.033 --sigma 0.216""",
    needs=[MATRICES],
    slow=True,
)
def section_5_3_1() -> Iterator[Line]:
    found = one_sigma(scores(ROBUST_80), resamples=1000)
    yield line("observed dispersion of σ", "0.030", found.observed, because=TWO_UNKNOWN)
    yield line("mean dispersion under one σ", "0.015", float(found.resampled.mean()))
    yield statement("one σ for all", "rejected at .001", f"p = {found.p:.4f}", found.p <= 0.001)
    ratios = [float(high) / float(median) for median, high, _, _ in TABLE_5_2.values()]
    above = 100 * (float(np.mean(ratios)) - 1)
    what = "Table 5.2: 95th percentile of σ above the median"
    yield statement(what, "roughly 35 %", f"{above:.0f} %", abs(above - 35) < 2)
    # From Equation 5.1 the number of topics grows with σ².
    yield statement(
        "topics for a σ that is 35 % higher",
        "80 % more",
        f"{100 * (1.35**2 - 1):.0f} % more",
        abs(1.35**2 - 1.8) < 0.05,
    )


@reproduces(
    WEBBER,
    "Figure 5.7",
    "topics in all after trials of different sizes, δ = .033",
    command="""assay plan trial --sigma 0.15 --delta 0.033 --figure trial.svg
assay plan trial --sigma 0.15 --topics 40 --delta 0.033
assay plan power --delta 0.033 --sigma 0.178""",
)
def figure_5_7() -> Iterator[Line]:
    above = 100 * (inflated_sigma(1.0, 20) - 1)
    yield statement("σ above the observed one after 20 topics", "around 25 %", f"{above:.0f} %", abs(above - 25) < 2)
    best = {sigma: best_trial(sigma, delta=0.033).best for sigma in (0.10, 0.15, 0.20)}
    sizes = ", ".join(f"{plan.trial} (σ = {sigma:.2f})" for sigma, plan in best.items())
    within = all(15 <= plan.trial <= 50 for plan in best.values())
    yield statement("best size of a trial", "20 to 50 topics", sizes, within)
    fitting = [sigma for sigma in np.arange(0.10, 0.205, 0.01) if 60 <= _extra(sigma) <= 80]
    extra = [_extra(sigma) for sigma in best]
    yield statement(
        "topics in all above those of the average case",
        "60 % to 80 % more",
        ", ".join(f"{e:.0f} %" for e in extra),
        min(extra) > 60 and max(extra) < 80,
        because=f"the share falls with σ; it is 60 % to 80 % for σ from {min(fitting):.2f} to {max(fitting):.2f}",
    )
    plan = best_trial(0.15, delta=0.033, sizes=[40]).best
    yield line(
        "best trial where σ = .15",
        "40",
        best[0.15].trial,
        because="the minimum is flat: 31 topics cost 270, 40 cost the same",
    )
    yield line("σ at the 95th percentile after 40 topics", "0.178", plan.inflated)
    yield line("topics of the main experiment at σ = .178", "231", whole(topics_needed(0.033 / 0.178)))
    yield line(
        "topics in all",
        "271",
        plan.total,
        because="231 comes from σ rounded to .178; with σ = .1776 it is 230, and 270 in all",
    )
    yield line("topics in the mean case", "164", topics_needed(0.033 / 0.15))
    yield line("topics above the mean case", "65 %", 100 * (271 / 164 - 1))


@cache
def _extra(sigma: float) -> float:
    """Topics in all after the best trial above those of the average case, in percent."""
    plan = best_trial(sigma, delta=0.033).best
    return 100 * (plan.total / plan.hopeful - 1)


@cache
def bias(pairs: int, samples: int, step: int = 1) -> StoppingBias:
    """Experiments that stop on power, on random pairs of a baseline and another run."""
    return stopping_bias(scores(ROBUST_80), pairs=pairs, samples=samples, step=step)


def _slope(found: StoppingBias) -> float:
    """Slope of the line of best fit of the mean estimate of σ against σ, over the pairs."""
    matrix = scores(ROBUST_80)
    differences = [np.subtract(*matrix.select(runs=pair.pair.split(" – ")).values) for pair in found.pairs]
    actual = np.std(differences, axis=1, ddof=1)
    estimated = actual * [pair.sigma for pair in found.pairs]
    return float(np.polyfit(actual, estimated, 1)[0])


@reproduces(
    WEBBER,
    "Figure 5.9",
    "σ estimated by experiments that stop on power, 100 random pairs",
    command="""assay plan bias robust-80.csv --pairs 100
assay plan bias robust-80.csv --pairs 100 --step 40""",
    needs=[MATRICES],
    slow=True,
)
def figure_5_9() -> Iterator[Line]:
    one, forty = (bias(100, 1000, step) for step in (1, 40))
    others = "100 pairs drawn at random there and here, and ours from 80 runs instead of 78"
    error = 0.008
    yield drawn("slope of the line of best fit", "0.965", _slope(one), error, because=others)
    yield drawn("σ too low by, on average", "3.5 %", 100 * (1 - _slope(one)), 100 * error, because=others)
    yield drawn("the same with steps of 40 topics", "2.8 %", 100 * (1 - _slope(forty)), 100 * error, because=others)
    mean = one.average("mean")
    yield statement("estimates of the mean", "unbiased", f"off by {abs(mean):.4f} sds of a topic", abs(mean) < 0.005)


@reproduces(
    WEBBER,
    "Figure 5.10",
    "false positives of experiments that stop on power, 25 random pairs",
    command="assay plan bias robust-80.csv --pairs 25 --samples 5000",
    needs=[MATRICES],
    slow=True,
)
def figure_5_10() -> Iterator[Line]:
    found = bias(25, 5000)
    others = "25 pairs drawn at random there and here, and ours from 80 runs instead of 78"
    error = 0.0012
    yield drawn("mean rate with random samples", "0.0501", found.average("fixed"), error, because=others)
    yield drawn("mean rate stopping on power", "0.0558", found.average("power"), error, because=others)
    higher = sum(pair.power > pair.fixed for pair in found.pairs)
    yield drawn("pairs of 25 with a higher rate stopping on power", "20", higher, 2.5, because=others)
    p = stats.wilcoxon([pair.power - pair.fixed for pair in found.pairs]).pvalue
    yield statement("two-tailed Wilcoxon test over the pairs", "significant at .001", f"p = {p:.1g}", bool(p < 0.001))
    yield statement(
        "collection (caption)",
        "TREC 2004 AdHoc Track",
        "TREC 2004 Robust track",
        False,
        because="a misprint: there was no ad hoc track in 2004, and the text says Robust",
    )


@reproduces(
    WEBBER,
    "Section 5.3.3",
    "testing significance after every topic",
    command="""assay compare pairs robust-80.csv --correction none --format csv
python -m reproduction.page 'Webber 2010, Section 5.3.3'""",
    needs=[MATRICES],
)
def section_5_3_3() -> Iterator[Line]:
    matrix = scores(ROBUST_80)
    found = all_pairs(matrix)
    near = np.nonzero((found.p > 0.05) & (found.p < 0.10))[0]
    yield line("pairs with p between .05 and .10 on all 150 topics", "137", len(near), because=TWO_UNKNOWN)
    order = np.random.default_rng(0).permutation(len(matrix.topics))
    differences = (matrix.values[found.first[near]] - matrix.values[found.second[near]])[:, order]
    ever = np.zeros(len(near), dtype=bool)
    for topics in range(50, len(order) + 1):
        ever |= outcome_of(differences[:, :topics], "t").p < 0.05
    share = 100 * float(ever.mean())
    yield statement(
        "share of them significant at some look from 50 topics on, in one random order",
        "almost two thirds (89 of 137)",
        f"{share:.0f} % ({int(ever.sum())} of {len(near)})",
        abs(share - 200 / 3) < 3,
    )


@cache
def tradeoff() -> DepthTradeoff:
    """Depth against breadth on the three runs of TREC 2004 Robust that are public."""
    paths = sorted((data_folder() / ROBUST / "runs").iterdir())
    return depth([assay.read_run(path) for path in paths], robust_qrels())


@reproduces(
    WEBBER,
    "Figure 5.6",
    "σ estimated from 30 topics: the formula and what happens",
    command="assay plan sigma robust-80.csv --topics 30 --pairs 3160 --figure sigma.svg",
    needs=[MATRICES],
)
def figure_5_6() -> Iterator[Line]:
    found = sigma_samples(scores(ROBUST_80), topics=30, pairs=3160)
    low = float((found.low / found.sigma).mean())
    high = float((found.high / found.sigma).mean())
    yield statement(
        "95 % interval of σ from 30 topics, over the true σ",
        "wider than σ ± 1.96·σ/√(2n)",
        f"{low:.2f} to {high:.2f}, by the formula {1 - found.margin:.2f} to {1 + found.margin:.2f}",
        low < 1 - found.margin and high > 1 + found.margin,
    )
    yield statement(
        "the formula",
        "underestimates the variance of the estimate",
        f"{100 * found.covered:.0f} % of the estimates are within its 95 % interval",
        found.covered < 0.95,
    )
    yield missing("the points of the figure", "seen in the points", TWO_UNKNOWN)


@reproduces(
    WEBBER,
    "Figure 5.8",
    "which topics an experiment ends with that stops on power",
    command="assay plan inclusion robust-80.csv --runs fub04Tge,polyutp1 --delta 0.06 --figure inclusion.svg",
    needs=[MATRICES],
)
def figure_5_8() -> Iterator[Line]:
    pair = scores(ROBUST_80).select(runs=["fub04Tge", "polyutp1"])
    found = topic_inclusion(pair, delta=0.06, trials=20_000)
    yield statement(
        "topics are included equally often", "rejected at .01 by χ²", f"χ² = {found.statistic:.0f}, p < .0001",
        found.p < 0.0001,
    )  # fmt: skip
    yield statement(
        "topics whose difference is typical",
        "are included more often, atypical ones much less",
        f"correlation of inclusion with the distance from the mean difference: {found.distance:.2f}",
        found.distance < -0.5,
    )
    yield missing("topics before the first look", "not stated", "ours is 10; from 2 to 30 the finding is the same")


THREE_RUNS = "three of the 110 runs of TREC 2004 Robust are public, which makes three pairs"
DEPTH = """assay plan depth --qrels robust.qrels pircRB04td2.run NLPR04clus10.run uic0401.run --figure depth.svg"""


@reproduces(WEBBER, "Figure 5.11", "observed effect size of AP by depth", command=DEPTH, needs=[ROBUST])
def figure_5_11() -> Iterator[Line]:
    found = tradeoff()
    effects = dict(zip(found.depths, found.effects.mean(axis=1), strict=True))
    shown = ", ".join(f"{effects[k]:.2f} (depth {k})" for k in (5, 10, 20, 100))
    yield statement(
        "effect size with depth", "rises only slightly", shown, effects[5] < effects[100] < 1.5 * effects[5]
    )
    judgments = dict(zip(found.depths, found.judgments.mean(axis=1).tolist(), strict=True))
    for k, printed in ((100, "151"), (10, "15.7"), (5, "8.1"), (2, "3.37")):
        yield line(f"docs to judge for two runs to depth {k} (Section 5.4)", printed, judgments[k], because=THREE_RUNS)
    yield missing("the 1,000 pairs of the figure", "quartiles by depth", THREE_RUNS)


@reproduces(
    WEBBER,
    "Figure 5.12",
    "share of the effects that 5,000 judgments find, by depth",
    command=DEPTH,
    needs=[ROBUST],
)
def figure_5_12() -> Iterator[Line]:
    found = tradeoff()
    topics = dict(zip(found.depths, found.topics.tolist(), strict=True))
    for k, printed, docs in ((100, "33", 151), (20, "161", None), (5, "617", 8.1)):
        yield line(f"topics that 5,000 judgments pay for, depth {k}", printed, topics[k], because=THREE_RUNS)
        if docs is not None:
            yield line(f"the same from the printed {docs} docs a topic", printed, 5000 / docs)
    deep, shallow = 50 * 151, 900 * 8.1
    yield statement(
        "50 topics to depth 100 and 900 to depth 5", "roughly the same effort", f"{deep:,.0f} and {shallow:,.0f} docs",
        abs(deep / shallow - 1) < 0.05,
    )  # fmt: skip
    yield missing("shares found at depths 100, 20 and 5", "0 %, 23 %, 56 %", THREE_RUNS)
