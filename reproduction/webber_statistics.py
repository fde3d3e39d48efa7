"""Webber 2010, sections 3.3 to 3.5: tests on a pair of runs, densities, and the judgments of TREC."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from assay.stats import compare_topic_sets, compare_two
from assay.stats.paired import outcome_of
from assay.stats.shape import density, rule_of_thumb
from assay.stats.two_runs import Comparison
from reproduction.files import MATRICES, ROBUST, TOPICS, counts, scores
from reproduction.items import Line, drawn, line, missing, reproduces, statement
from reproduction.places import WEBBER
from reproduction.webber_variance import PUBLISHED, published_means

THEIRS = 5000
"""Resamples of the thesis."""
RESAMPLES = 100_000
"""Ours: so many that only the printed numbers are left to chance."""
QUANTILE_ERROR = 0.001
"""Standard error of the 2.5th percentile of 5,000 resampled means, whose sd is .027."""
FLAB = "Flab8atdn"
SCORES_OF_FLAB = f"""python -c "import assay; x = assay.read_scores('trec8.csv')[0].of_run('{FLAB}'); \\
"""
COUNTS = """python -c "import assay; q = assay.read_qrels('robust.qrels').to_dict(); \\
print([(t, len(d), sum(g > 0 for g in d.values())) for t, d in q.items()])\""""


@cache
def running_example(test: str = "t", interval: str = "t", alternative: str = "two-sided") -> Comparison:
    """System A (CL99XT) against system B (apl8c221) on the 50 topics of TREC 8, AP."""
    pair = scores("pair.csv")
    a, b = pair.values
    return compare_two(a, b, test, names=("A", "B"), interval=interval, alternative=alternative, resamples=RESAMPLES)


@reproduces(
    WEBBER,
    "Figure 3.11",
    "two runs of TREC 8 and their differences by topic",
    command="assay compare pair.csv --baseline apl8c221 --differences --figure differences.svg",
    needs=[MATRICES],
)
def figure_3_11() -> Iterator[Line]:
    found = running_example()
    yield line("mean AP of system A", "0.37", found.means[0])
    yield line("mean AP of system B", "0.31", found.means[1])
    yield line("mean difference", "0.06", found.mean_difference)
    yield line("topics on which A is better", "35", found.wins or 0)
    yield statement(
        "tag of system B",
        "ap18c221",
        "apl8c221",
        "ap18c221" in scores("trec8.csv").runs,
        because="TREC 8 has no run ap18c221; apl8c221 (with the letter l) gives every printed number of the example",
    )


@reproduces(
    WEBBER,
    "Figure 3.13",
    "sign test: 35 of 50 topics",
    command="""assay compare pair.csv --baseline apl8c221 --test sign --alternative greater
assay compare pair.csv --baseline apl8c221 --test sign""",
    needs=[MATRICES],
)
def figure_3_13() -> Iterator[Line]:
    yield line("p, one-tailed", "0.0033", running_example("sign", alternative="greater").p)
    yield line("p, two-tailed", "0.0066", running_example("sign").p)


@reproduces(
    WEBBER,
    "Figure 3.14",
    "bootstrap of the mean difference",
    command="assay compare pair.csv --baseline apl8c221 --test bootstrap-shift --interval basic -B 100000",
    needs=[MATRICES],
)
def figure_3_14() -> Iterator[Line]:
    difference = np.subtract(*scores("pair.csv").values)
    one_tail = outcome_of(difference, "bootstrap-shift", resamples=RESAMPLES, alternative="greater")
    p = running_example("bootstrap-shift").p
    above = THEIRS * float(one_tail.p[0])
    below = THEIRS * p - above
    yield drawn("resamples of 5,000 at or above the observed mean", "81", above, above**0.5)
    yield drawn("resamples of 5,000 at or below its negative", "68", below, below**0.5)
    yield drawn("p, two-tailed", "0.0298", p, (p * (1 - p) / THEIRS) ** 0.5)


@reproduces(
    WEBBER,
    "Section 3.3.3–3.3.5",
    "the running example: other tests and intervals",
    command="""assay compare pair.csv --baseline apl8c221
assay compare sets a.csv b.csv --test student
assay compare pair.csv --baseline apl8c221 --interval basic -B 100000""",
    needs=[MATRICES],
)
def section_3_3() -> Iterator[Line]:
    pair = scores("pair.csv")
    found = running_example()
    yield line("mean difference", "0.058", found.mean_difference)
    yield line("median difference", "0.053", found.median_difference)
    yield line("p of the paired t test", "0.035", found.p)
    unpaired = compare_topic_sets(pair.values[0], pair.values[1], "student")
    yield line("p of the two-sample t test", "0.202", unpaired.p)
    basic = running_example(interval="basic")
    # Webber's percentiles are those of the resampled means around 0; the interval turns them round the mean.
    error = QUANTILE_ERROR
    yield drawn("2.5th percentile of the resampled means", "−0.051", found.mean_difference - basic.high, error)
    yield drawn("97.5th percentile", "0.053", found.mean_difference - basic.low, error)
    yield drawn("95 % bootstrap interval of the difference, low", "0.005", basic.low, error)
    yield drawn("95 % bootstrap interval of the difference, high", "0.109", basic.high, error)
    for name, place, printed in (("A", 0, ("0.311", "0.435")), ("B", 1, ("0.249", "0.381"))):
        low, high = _t_interval(pair.values[place])
        yield line(f"95 % t interval of the mean of {name}, low", printed[0], low)
        yield line(f"95 % t interval of the mean of {name}, high", printed[1], high)


def _t_interval(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    """The t interval of one run's mean: that of its differences to 0."""
    found = compare_two(values, np.zeros(len(values)))
    return found.low, found.high


@reproduces(
    WEBBER,
    "Figure 3.17",
    "AP of Flab8atdn on every topic of TREC 8",
    command=f'{SCORES_OF_FLAB}print(sorted(x))"',
    needs=[MATRICES],
)
def figure_3_17() -> Iterator[Line]:
    values = np.sort(scores("trec8.csv").of_run(FLAB))
    yield statement(
        "scores in rising order",
        "50 points",
        f"{len(values)}, from {values[0]:.3f} to {values[-1]:.3f}",
        len(values) == 50,
    )


@reproduces(
    WEBBER,
    "Figure 3.18",
    "two histograms of the same scores",
    command=f'{SCORES_OF_FLAB}import numpy as np; print(np.histogram(x, np.arange(-.05, 1.06, .1))[0])"',
    needs=[MATRICES],
)
def figure_3_18() -> Iterator[Line]:
    values = scores("trec8.csv").of_run(FLAB)
    level = np.histogram(values, np.arange(0, 1.05, 0.1))[0]
    shifted = np.histogram(values, np.arange(-0.05, 1.06, 0.1))[0]
    yield statement(
        "bins at 0, .1, .2 …",
        "almost level up to .5",
        "counts " + ", ".join(map(str, level[:5])),
        bool(np.ptp(level[:5]) <= 1),
    )
    inner = shifted[1:-1]
    peaks = int(((inner > shifted[:-2]) & (inner > shifted[2:]) & (inner > 5)).sum())
    yield statement("bins shifted by .05", "three peaks", "counts " + ", ".join(map(str, shifted[:7])), peaks == 3)


@reproduces(
    WEBBER,
    "Figure 3.19",
    "kernel density of ten scores of Flab8atdn",
    command="python -m reproduction.page 'Webber 2010, Figure 3.19'",
    needs=[MATRICES],
)
def figure_3_19() -> Iterator[Line]:
    ten = scores("trec8.csv").of_run(FLAB)[:10]
    width = rule_of_thumb(ten)
    yield line(
        "standard deviation of the kernels (text)",
        "0.9",
        width,
        because="a misprint for 0.09: Silverman's rule (.9·A·n^−1/5) gives .094, and kernels of sd .9 would be flat "
        "over [0, 1]",
    )
    near = np.sort(ten)
    gap = int(np.diff(near).argmin())
    yield statement(
        "two points close together", "around .25", f"{near[gap]:.3f} and {near[gap + 1]:.3f}", 0.24 < near[gap] < 0.26
    )


@reproduces(
    WEBBER,
    "Figure 3.20",
    "kernel density of all scores of Flab8atdn, reflected at 0 and 1",
    command="python -m reproduction.page 'Webber 2010, Figure 3.20'",
    needs=[MATRICES],
)
def figure_3_20() -> Iterator[Line]:
    found = density(scores("trec8.csv").of_run(FLAB))
    middle = (found.points >= 0.2) & (found.points <= 0.4)
    yield line("density between .2 and .4, roughly", "1.5", float(found.density[middle].mean()))
    share = float(np.trapezoid(found.density[middle], found.points[middle]))
    yield line("share of AP values there", "0.3", share)
    whole = float(np.trapezoid(found.density, found.points))
    yield statement("area within [0, 1]", "1", f"{whole:.4f}", abs(whole - 1) < 1e-3)


NO_TYPES = "which topic fields a run used, and whether it is manual, is not in NIST's published results"


@reproduces(
    WEBBER,
    "Figure 3.22",
    "runs of each TREC by query type",
    command="python -m reproduction.page 'Webber 2010, Figure 3.22'",
    needs=[PUBLISHED],
)
def figure_3_22() -> Iterator[Line]:
    yield missing("runs by query type", "seen in the bars", NO_TYPES)
    counted = [
        ("TREC 7: 17 manual and 86 automatic (Section 3.5.5)", "103", "trec7", "adhoc"),
        ("TREC 8: 13 manual and 116 automatic (Section 6.2)", "129", "trec8", "adhoc"),
        ("TREC 2003 Robust (Section 4.5)", "78", "trec12", "robust"),
        ("TREC 2004 Robust (Section 4.5)", "110", "trec13", "robust"),
    ]
    for what, printed, trec, track in counted:
        yield line(f"{what}: runs with published scores", printed, len(published_means(trec, track)))


@reproduces(
    WEBBER,
    "Figure 3.23",
    "docs judged and relevant per topic",
    command=COUNTS,
    needs=[ROBUST],
)
def figure_3_23() -> Iterator[Line]:
    means = {part: np.mean([counts()[str(t)] for t in _numbers(part)], axis=0) for part in TOPICS}
    shown = ", ".join(f"{part.upper()} {judged:.0f} ({relevant:.0f})" for part, (judged, relevant) in means.items())
    shallow = max(means["t03"][0], means["t04"][0]) < min(means[p][0] for p in ("t6", "t7", "t8"))
    few = max(means["t03"][1], means["t04"][1]) < min(means[p][1] for p in ("t6", "t7", "t8"))
    yield statement(
        "judged (relevant) docs of the Robust topics against TREC 6 to 8", "much fewer of both", shown, shallow and few
    )
    yield missing(
        "relevant docs fall over the first six years", "seen in the bars", "the judgments of TREC 1 to 5 are not here"
    )


def _numbers(part: str) -> list[int]:
    low, high = TOPICS[part]
    return [t for t in range(low, high + 1) if str(t) in counts()]


@reproduces(
    WEBBER,
    "Figure 3.24",
    "relevant docs per topic of TREC 8",
    command=COUNTS,
    needs=[ROBUST],
)
def figure_3_24() -> Iterator[Line]:
    relevant = [counts()[str(t)][1] for t in _numbers("t8")]
    yield line("mean", "95", float(np.mean(relevant)))
    yield line("least", "6", min(relevant))
    yield line("most", "347", max(relevant))


@reproduces(
    WEBBER,
    "Section 3.4.2–3.4.4",
    "size of TREC 8's pools",
    command=COUNTS,
    needs=[ROBUST],
)
def section_3_4() -> Iterator[Line]:
    judged, relevant = np.mean([counts()[str(t)] for t in _numbers("t8")], axis=0)
    pools = "the public judgments give 1,736.6, which the same work prints in Table 4.13"
    yield line("docs judged per topic (3.4.2)", "1,736", float(judged), because=f"cut, not rounded: {pools}")
    yield line("docs judged per topic (3.4.4)", "1,763", float(judged), because=f"digits swapped: {pools}")
    yield line("docs relevant per topic (3.4.4)", "94", float(relevant), because="cut, not rounded: 94.56")
    yield line("share relevant", "5 %", 100 * float(relevant / judged))
