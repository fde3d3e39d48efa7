"""Two runs and one run: do the tests reject as often as they say, and do the intervals contain the truth?

Every entry of TESTS, INTERVALS and TWO_SAMPLE_TESTS has its row here, made from the registry; the defaults are tried in
all cells, the others in some. A test of ranks or signs is right to see a skewed difference of mean 0, so that its runs
are exchangeable in every world.
"""

from __future__ import annotations

import numpy as np

from assay.stats import compare_sets, compare_topic_sets, compare_two, runs_normality
from assay.stats.effect import INTERVALS, mean_interval
from assay.stats.paired import TESTS
from assay.stats.two_sample import TWO_SAMPLE_TESTS
from claims import FEW, SIZES, Limit, Wrong, area, outside
from worlds import PERMUTED, REDRAWN, Case

claim = area("Two runs on the same topics")
OF_RANKS = ("wilcoxon", "sign")
SMALL = (5, 10, 25)
SKEW = Limit("skewed differences: t is too bold below 25 topics", 0.14, ("skewed",), SMALL)
SKEWED_RESAMPLES = Limit("skewed differences on 10 topics", 0.12, ("skewed",), (10,))
OF_DRAWS = {"wilcoxon": ("ClusterResult",)}
"""Results that test the draws of a study by this test."""
MS = {"bootstrap": 2.0, "bootstrap-t": 3.0, "poisson-bootstrap": 3.0, "randomisation": 2.5, "wilcoxon(exact=true)": 1.0}
"""Milliseconds of entries that draw resamples; the others take less than 1."""


def _rejected(test: str) -> Wrong:
    def wrong(case: Case) -> float:
        drawn = case.runs(2) if test.partition("(")[0] in OF_RANKS else case.pair()
        return compare_two(drawn.values[0], drawn.values[1], test, seed=case.seed()).p < 0.05

    return wrong


for name in [*TESTS.names(), "wilcoxon(exact=true)"]:
    is_default = name == "t"
    claim(
        f"two runs differ ({name})",
        kind="p",
        unit="topic",
        calls=("assay.stats.compare_two",),
        promises="p < .05 in 5 % if neither run is better",
        nominal=0.05,
        ms=MS.get(name, 0.4),
        entries=(f"stats.TESTS:{name}",),
        results=("Comparison", *OF_DRAWS.get(name, ())),
        sizes=SIZES if is_default else FEW,
        real=PERMUTED if is_default else PERMUTED[:3:2],
        limits=(SKEW if is_default else SKEWED_RESAMPLES,),
    )(_rejected(name))


@claim(
    "one run is better (paired t, one-sided)",
    kind="p",
    unit="topic",
    calls=("assay.stats.compare_two",),
    promises="p < .05 in 5 % if it is not",
    nominal=0.05,
    ms=0.4,
    sizes=FEW,
    real=PERMUTED,
    limits=(SKEWED_RESAMPLES,),
)
def one_sided(case: Case) -> float:
    return compare_two(*case.pair().values, alternative="greater").p < 0.05


def _difference_left_out(interval: str) -> Wrong:
    def wrong(case: Case) -> float:
        drawn = case.pair()
        found = compare_two(*drawn.values, interval=interval, seed=case.seed())
        return outside(found.low, drawn.truth[0] - drawn.truth[1], found.high)

    return wrong


def _mean_left_out(interval: str) -> Wrong:
    def wrong(case: Case) -> float:
        drawn = case.run()
        found = mean_interval(drawn.values, interval, seed=case.seed())
        return outside(found.low[0], drawn.truth[0], found.high[0])

    return wrong


for name in INTERVALS.names():
    is_default = name == "t"
    common = {
        "kind": "interval",
        "unit": "topic",
        "nominal": 0.05,
        "ms": 2.0 if INTERVALS[name].facts.get("resampled") else 0.4,
        "entries": (f"stats.INTERVALS:{name}",),
        "results": ("Comparison",),
        "sizes": SIZES if is_default else FEW,
        "real": REDRAWN if is_default else REDRAWN[:3:2],
        "limits": (SKEW if is_default else SKEWED_RESAMPLES,),
    }
    claim(
        f"the difference of two runs lies in its interval ({name})",
        calls=("assay.stats.compare_two",),
        promises="95 % of the intervals contain the true difference",
        **common,
    )(_difference_left_out(name))
    claim(
        f"the mean of a run lies in its interval ({name})",
        calls=("assay.stats.effect.mean_interval",),
        promises="95 % of the intervals contain the true mean",
        **common | {"results": ("BoardSoFar",)},
    )(_mean_left_out(name))


@claim(
    "the differences are not normal (Shapiro-Wilk)",
    kind="p",
    unit="topic",
    calls=("assay.stats.runs_normality",),
    promises="p < .05 in 5 % if they are normal",
    nominal=0.05,
    ms=0.4,
    results=("Normality", "RunsNormality"),
    worlds=("normal",),
)
def not_normal(case: Case) -> float:
    return runs_normality(case.runs(2).matrix).found[0].p < 0.05


claim = area("Two runs on different topics")
RANGE = (0.0, 1.0)
"""Least and largest score of all worlds."""


def _two_samples(case: Case) -> tuple[np.ndarray, np.ndarray, float]:
    """Scores of two runs of which each has topics of its own, twice as many in the second, and the true difference."""
    other = Case(case.world, 2 * case.n, case.rng)
    one, two = case.run(), other.run()
    return one.values[0], two.values[0], float(one.truth[0] - two.truth[0])


def _sets_differ(test: str) -> Wrong:
    def wrong(case: Case) -> float:
        first, second, _ = _two_samples(case)
        return compare_topic_sets(first, second, test, limits=RANGE, seed=case.seed()).p < 0.05

    return wrong


for name in TWO_SAMPLE_TESTS.names():
    is_default = name == "welch"
    claim(
        f"two runs on different topics differ ({name})",
        kind="p",
        unit="topic",
        calls=("assay.stats.compare_topic_sets", "assay.stats.compare_sets"),
        promises="p < .05 in 5 % if both populations have one mean; n and 2n topics",
        nominal=0.05,
        ms=7.0 if TWO_SAMPLE_TESTS[name].facts.get("resampled") else 0.4,
        entries=(f"stats.TWO_SAMPLE_TESTS:{name}",),
        sizes=SIZES if is_default else FEW,
    )(_sets_differ(name))


@claim(
    "the difference of two runs on different topics lies in its interval (Welch)",
    kind="interval",
    unit="topic",
    calls=("assay.stats.compare_topic_sets",),
    promises="95 % of the intervals contain the true difference; n and 2n topics",
    nominal=0.05,
    ms=0.4,
    results=("Comparison", "TopicSets"),
    real=REDRAWN,
)
def sets_interval(case: Case) -> float:
    first, second, truth = _two_samples(case)
    found = compare_topic_sets(first, second, limits=RANGE)
    return outside(found.low, truth, found.high)


@claim(
    "some of 5 runs differ on two topic sets (Holm)",
    kind="p",
    unit="topic",
    calls=("assay.stats.compare_sets",),
    promises="any corrected p < .05 in at most 5 %",
    nominal=0.05,
    ms=1.0,
    results=("TopicSets",),
    sizes=FEW,
)
def sets_family(case: Case) -> float:
    first, second = case.runs(5).matrix, Case(case.world, 2 * case.n, case.rng).runs(5).matrix
    return bool((compare_sets(first, second).p < 0.05).any())
