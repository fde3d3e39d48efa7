"""What came out, in one sentence? The verdict of a comparison, with its difference, interval, p, test and topics.

Where it is undecided the sentence also says how many topics would decide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.tables import p_value, shown
from assay.data.averages import from_means
from assay.stats.effect import rounded
from assay.stats.resampling import percent
from assay.stats.t_power import TTest, topics_needed, whole

DELTA_KEYS = {
    "difference": "delta",
    "low": "delta_low",
    "high": "delta_high",
    "median": "delta_median",
    "its mean": "against_mean",
}
"""Keys of the columns of tables whose rows are differences; the same quantity has the same key everywhere."""

USUAL_LEVEL = 0.95
"""An interval of another level says so in a verdict."""

POWER = 0.8
"""The power that "would decide it" means, as everywhere in `plan`."""

CONTRADICTION = "means and single topics contradict each other"
"""Why a run that is significantly different by a test of ranks or signs is called neither better nor worse."""

LARGE = 1e6
"""Numbers from here on are written with four digits and an exponent."""


@dataclass(frozen=True)
class Evidence:
    """All that a verdict on two runs says. `p` is corrected where there were several tests; first − second throughout.

    `test` is the name of the test in words; `lead` is how far the first run is ahead by a test of ranks or signs, None
    where means are tested; `effect` is the mean over the standard deviation of the paired differences.
    """

    names: tuple[str, str]
    delta: float
    p: float
    test: str
    topics: tuple[int, ...]
    alternative: str = "two-sided"
    alpha: float = 0.05
    low: float | None = None
    high: float | None = None
    lead: float | None = None
    effect: float | None = None
    aggregate: str = "mean"
    """How topics become one number: of geometric means delta, low and high are logs, and ratios are shown."""

    @property
    def significant(self) -> bool:
        """Whether p is below α."""
        return self.p < self.alpha

    def finding(self) -> str:
        """Who is better, or that the two are not significantly different; never that they are equal.

        A test of ranks or signs may be significant against the difference of the means: then no run is called better.
        """
        first, second = self.names
        if self.significant and self.direction == 0:
            return f"{first} and {second} are significantly different"
        if self.alternative != "two-sided":
            word = "better" if self.alternative == "greater" else "worse"
            is_it = "is" if self.significant else "is not significantly"
            return f"{first} {is_it} {word} than {second}"
        if not self.significant:
            return f"{first} and {second} are not significantly different"
        word = "better" if self.direction > 0 else "worse"
        return f"{first} is {word} than {second}"

    @property
    def direction(self) -> int:
        """1 where the first run is better, −1 where it is worse, 0 where the mean and the test disagree."""
        lead = None if self.lead is None else np.array([self.lead])
        return int(directions(np.array([self.delta]), lead)[0])

    def sentence(self) -> str:
        """The verdict.

        >>> e = Evidence(("dense", "bm25"), 0.032, 0.0041, "paired t test", (50,), low=0.010, high=0.054)
        >>> e.sentence()
        'dense is better than bm25: +.032 [.010, .054], p = .0041, paired t test, 50 topics'
        """
        topics = " and ".join(f"{n:,}" for n in self.topics)
        test = self.test
        if self.alternative != "two-sided":
            test += ", one-sided"
        return f"{self.finding()}: {self._amount()}, {p_value(self.p)}, {test}, {topics} topics"

    def _amount(self) -> str:
        """The difference with its sign, or the ratio of geometric means, and its interval where there is one."""
        delta, low, high = (self._shown(value) for value in (self.delta, self.low, self.high))
        decimals = decimals_for([delta, low, high])
        amount = signed(delta or 0.0, decimals)
        if self.aggregate == "geometric":
            amount = f"geometric means × {printed(delta or 0.0, decimals)}"
        elif self.aggregate == "sum":
            amount = f"sums {amount}"
        if low is None or high is None:
            return amount
        amount += f" [{printed(low, decimals)}, {printed(high, decimals)}]"
        level = 1 - self.alpha
        if abs(level - USUAL_LEVEL) >= 1e-9:
            amount += f" ({percent(level)})"
        return amount

    def _shown(self, value: float | None) -> float | None:
        """An amount as it is shown: a ratio of geometric means, a difference of sums or of means."""
        if value is None:
            return None
        return float(from_means(np.array(value), self.aggregate, self.topics[0]))

    def verdict(self) -> str:
        """The sentence and, where the comparison is undecided, how many topics would decide it.

        >>> e = Evidence(("dense", "bm25"), 0.032, 0.14, "paired t test", (50,), effect=0.213)
        >>> e.verdict().partition("; ")[2]
        'undecided: if the true difference is as large, about 175 topics would find it with power .8'
        """
        needed = self.topics_to_decide()
        if needed is None:
            return self.sentence()
        outlook = f"if the true difference is as large, about {needed:,} topics would find it with power .8"
        return f"{self.sentence()}; undecided: {outlook}"

    def topics_to_decide(self) -> int | None:
        """Topics on which a t test at this α finds a true difference as large as the observed one, with power .8.

        None where the comparison is decided, where topics are not paired, and where no number of topics would do:
        nothing was observed, the mean and the test disagree, or the difference points away from the alternative.
        """
        if self.significant or self.effect is None or len(self.topics) != 1 or self.alpha >= POWER:
            return None
        signs = {"greater": 1, "less": -1}
        points_away = self.effect * signs.get(self.alternative, 0) < 0
        if points_away or self.direction == 0 or not np.isfinite(self.effect):
            return None
        test = TTest(alpha=self.alpha, sides=2 if self.alternative == "two-sided" else 1)
        try:
            needed = whole(topics_needed(self.effect, power=POWER, test=test))
        except UsageError:  # more than plan can count
            return None
        # a test of ranks or signs may be undecided where the t test is not
        return needed if needed > self.topics[0] else None


def directions(delta: Floats, lead: Floats | None) -> Ints:
    """1 where the first run of a pair is better, −1 where it is worse, 0 where mean and test disagree.

    lead: how far the first run is ahead by a test of ranks or signs; None where the means were tested.

    >>> directions(np.array([0.1, -0.1, 0.1]), np.array([7.0, -7.0, -7.0])).tolist()
    [1, -1, 0]
    """
    by_mean = np.sign(rounded(delta)).astype(np.int64)  # what is left of a sum of zero has no direction
    if lead is None:
        return by_mean
    return np.where(np.sign(lead) * by_mean < 0, 0, by_mean)


def name_of_test(recipe: str) -> str:
    """The name of the test that a recipe begins with.

    >>> name_of_test("paired t test, 49 degrees of freedom, two-sided")
    'paired t test'
    """
    return recipe.partition(",")[0].partition(" (")[0]


def decimals_for(values: Sequence[float | None]) -> int:
    """Three decimals, or as many more as the largest of these small numbers needs to show two digits."""
    largest = max(abs(value) for value in values if value is not None)
    if largest == 0 or not np.isfinite(largest):
        return 3
    digits_before_point = int(np.floor(np.log10(largest))) + 1
    return min(15, max(3, 2 - digits_before_point))


def signed(value: float, decimals: int) -> str:
    """A difference as papers print it, with its sign.

    >>> signed(0.0321, 3), signed(-0.0321, 3), signed(0.0, 3)
    ('+.032', '−.032', '.000')
    """
    number = printed(value, decimals)
    return number if number[0] == "−" or not number.strip(".0") else f"+{number}"


def printed(value: float, decimals: int) -> str:
    """A number as papers print it: no zero before the point, a true minus sign."""
    if abs(value) >= LARGE:
        return shown(value, ".4g")
    text = shown(value, f".{decimals}f")
    if abs(value) >= 1:
        return text
    return text.replace("−0.", "−.").removeprefix("0")
