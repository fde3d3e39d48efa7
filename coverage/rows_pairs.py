"""Two runs and one run: do the tests reject as often as they say, and do the intervals contain the truth?"""

from __future__ import annotations

from assay.stats import compare_two
from claims import Limit, area, outside
from worlds import PERMUTED, REDRAWN, Case

claim = area("Two runs on the same topics")
SKEW = Limit("a t interval of skewed differences is too narrow below 25 topics", 0.14, ("skewed",), (5, 10, 25))


@claim(
    "the difference of two runs lies in its interval (t)",
    kind="interval",
    unit="topic",
    calls=("assay.stats.compare_two",),
    promises="95 % of the intervals contain the true difference",
    nominal=0.05,
    ms=1.0,
    entries=("INTERVALS:t",),
    results=("Comparison",),
    real=REDRAWN,
    limits=(SKEW,),
)
def difference_by_t(case: Case) -> float:
    drawn = case.pair()
    found = compare_two(*drawn.values)
    return outside(found.low, drawn.truth[0] - drawn.truth[1], found.high)


@claim(
    "two runs differ (paired t)",
    kind="p",
    unit="topic",
    calls=("assay.stats.compare_two",),
    promises="p ≤ .05 in 5 % if neither run is better",
    nominal=0.05,
    ms=1.0,
    entries=("TESTS:t",),
    results=("Comparison",),
    real=PERMUTED,
    limits=(SKEW,),
)
def paired_t(case: Case) -> float:
    return compare_two(*case.pair().values).p <= 0.05
