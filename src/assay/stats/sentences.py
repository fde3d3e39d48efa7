"""What came out, in one sentence? All sentences about comparisons: a pair, a family, a set, what is ruled out.

The finding comes first, then interval and p, then test, family and n; what limits the finding follows in the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.tables import p_value, shown
from assay.data.averages import from_means
from assay.stats.bounded import share_that_may_differ
from assay.stats.effect import rounded
from assay.stats.resampling import percent
from assay.stats.t_power import findable_effect

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
"""The power with which a difference is called findable, as everywhere in `plan`."""

CONTRADICTION = "means and single topics contradict each other"
"""Why a run that is significantly different by a test of ranks or signs is called neither better nor worse."""

LARGE = 1e6
"""Numbers from here on are written with four digits and an exponent."""
MOST_NAMED = 12
"""Runs of a set that a sentence names."""


@dataclass(frozen=True)
class Evidence:
    """All that a verdict on two runs says. `p` is corrected where there were several tests; first − second throughout.

    `test` is the name of the test in words, `family` what p holds for; `lead` is how far the first run is ahead by a
    test of ranks or signs, None where means are tested.
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
    deviation: float | None = None
    """Standard deviation of the differences; None where topics are not paired."""
    critical: float | None = None
    """The critical t of the family that decided; None for a single t test."""
    tests: int = 1
    family: str = ""
    little: bool = False
    """Whether the differences show too few values for a t interval."""
    differing: int | None = None
    """Topics on which the two runs differ."""
    least_p: float = 0.0
    """The smallest p that the test can give on these topics."""
    least_drawn: float = 0.0
    """The smallest p that this number of resamples can give."""
    aggregate: str = "mean"
    """How topics become one number: of geometric means delta, low and high are logs, and ratios are shown."""

    @property
    def significant(self) -> bool:
        """Whether p is below α."""
        return self.p < self.alpha

    @property
    def direction(self) -> int:
        """1 where the first run is better, −1 where it is worse, 0 where the mean and the test disagree."""
        lead = None if self.lead is None else np.array([self.lead])
        return int(directions(np.array([self.delta]), lead)[0])

    @property
    def identical(self) -> bool:
        """Whether the two have the same score on every topic."""
        return self.differing == 0

    def finding(self) -> str:
        """Who is better, or that the two are not shown to differ; never that they are equal.

        A test of ranks or signs may be significant against the difference of the means: then no run is called better.
        """
        first, second = self.names
        if self.identical and not self.significant:
            return f"{first} and {second} are identical on these {counted_topics(self.topics)}"
        if self.significant and self.direction == 0:
            return f"{first} and {second} are significantly different, and {CONTRADICTION}"
        if self.alternative != "two-sided":
            better = self.alternative == "greater"
        elif self.significant:
            better = self.direction > 0
        else:
            return f"{first} and {second} are not shown to differ"
        if not self.significant:
            return f"{first} is not shown to be {'better' if better else 'worse'} than {second}"
        return f"{first} beats {second}" if better else f"{first} is worse than {second}"

    def turned(self) -> Evidence:
        """The same evidence as second − first."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        lead = None if self.lead is None else -self.lead
        side = {"greater": "less", "less": "greater"}.get(self.alternative, self.alternative)
        names = (self.names[1], self.names[0])
        return replace(self, names=names, delta=-self.delta, low=low, high=high, lead=lead, alternative=side)

    def numbers(self) -> str:
        """The difference with its sign, or the ratio of geometric means, its interval where there is one, and p."""
        delta, low, high = self.amounts()
        decimals = decimals_for([delta, low, high])
        amount = signed(delta or 0.0, decimals)
        if self.aggregate == "geometric":
            amount = f"geometric means × {printed(delta or 0.0, decimals)}"
        elif self.aggregate == "sum":
            amount = f"sums {amount}"
        if low is not None and high is not None:
            amount += f" [{printed(low, decimals)}, {printed(high, decimals)}]"
            level = 1 - self.alpha
            if abs(level - USUAL_LEVEL) >= 1e-9:
                amount += f" ({percent(level)})"
        return f"{amount}, {p_value(self.p)}"

    def amounts(self) -> list[float | None]:
        """Difference, low and high as they are shown; None for ends that are not there."""
        ends = [None if value is None or not np.isfinite(value) else value for value in (self.low, self.high)]
        return [self._shown(value) for value in (self.delta, *ends)]

    def _shown(self, value: float | None) -> float | None:
        """An amount as it is shown: a ratio of geometric means, a difference of sums or of means."""
        if value is None:
            return None
        return float(from_means(np.array(value), self.aggregate, self.topics[0]))

    def how(self) -> str:
        """Test, family and number of topics."""
        test = self.test if self.alternative == "two-sided" else f"{self.test}, one-sided"
        family = f", {self.family}" if self.family else ""
        return f"{test}{family}, {counted_topics(self.topics)}"

    def sentence(self) -> str:
        """The finding, its numbers, and how it was made.

        >>> e = Evidence(("dense", "bm25"), 0.032, 0.0041, "paired t test", (50,), low=0.010, high=0.054)
        >>> e.sentence()
        'dense beats bm25: +.032 [.010, .054], p = .0041 (paired t test, 50 topics)'
        """
        return f"{self.finding()}: {self.numbers()} ({self.how()})"

    def verdict(self) -> str:
        """The sentence, and what limits it: what could have been found, what is ruled out, too few topics.

        >>> e = Evidence(("dense", "bm25"), 0.010, 0.47, "paired t test", (50,), low=-.018, high=.038, deviation=.1)
        >>> e.verdict().partition("; ")[2]
        '50 topics find .040 with power .8; differences above .038 are ruled out'
        """
        return "; ".join([self.sentence(), *self.limits()])

    def limits(self) -> list[str]:
        """What limits the finding, each in a clause of its own."""
        clauses = []
        if self.identical:
            share = share_that_may_differ(self.topics[0], self.alpha)
            return [f"up to {100 * share:.2g} % of topics may differ ({percent(1 - self.alpha)})"]
        if self.cannot_be_shown():
            clauses.append(self.cannot_be_shown())
        if self.little:
            clauses.append(self._of_little())
        why = self.why_apart()
        if why:
            clauses.append(why)
        return clauses if self.significant else [*clauses, *self._findable(), *self._ruled_out()]

    def cannot_be_shown(self) -> str:
        """Why no p can be below α, whatever the scores: too few topics or resamples; empty where one can."""
        limit = f"p < {printed(self.alpha, 2)}"
        if self.least_p >= self.alpha:
            return f"on {counted_topics(self.topics)} it cannot reach {limit}: too few for this test"
        if self.least_drawn >= self.alpha:
            return f"with so few resamples it cannot reach {limit}"
        return ""

    def _of_little(self) -> str:
        if len(self.topics) > 1:
            if self.amounts()[1] is None:
                return "the scores are too alike for a test or an interval without their range"
            return "the scores are too alike for a t interval: it is from the Dirichlet bounds of both means"
        some = "the differences take too few values"
        if self.differing is not None and self.differing < self.topics[0] / 2:
            some = f"they differ on {self.differing} of {counted_topics(self.topics)}, too few"
        if self.amounts()[1] is None:
            return f"{some} for an interval without the range of the scores"
        return f"{some} for a t interval: it is the Dirichlet bound"

    def why_apart(self) -> str:
        """Why p and the interval beside it disagree; empty where they do not."""
        _, low, high = (self.delta, self.low, self.high)
        if low is None or high is None or not np.isfinite([low, high]).all():
            return ""
        apart = low < 0 < high if self.significant else low > 0 or high < 0
        if not apart:
            return ""
        if self.alternative != "two-sided":
            return "p is one-sided, the interval two-sided"
        if self.lead is not None:
            return "p is of ranks or signs, the interval of the mean"
        if self.little:
            return "p is of swaps of the runs, the interval of the mean"
        return "p and the interval are made by different methods"

    def _findable(self) -> list[str]:
        """The true difference that the topics find; not where few values say what differences can be."""
        paired_means = self.deviation is not None and len(self.topics) == 1 and self.aggregate == "mean"
        if not paired_means or self.little or not self.deviation or self.lead is not None:
            return []
        n = self.topics[0]
        alone = self.deviation * findable_effect(n, alpha=self.alpha, sides=1 + (self.alternative == "two-sided"))
        said = f"{counted_topics(self.topics)} find {printed(alone, decimals_for([alone]))} with power .8"
        if self.tests > 1 and self.critical is not None and np.isfinite(self.critical):
            inside = self.deviation * findable_effect(n, critical=self.critical)
            said += f" ({printed(inside, decimals_for([inside]))} in this family of {self.tests:,})"
        return [said]

    def _ruled_out(self) -> list[str]:
        _, low, high = self.amounts()
        if low is None or high is None or self.aggregate == "geometric":
            return []
        largest = max(abs(low), abs(high))
        return [f"differences above {printed(largest, decimals_for([largest]))} are ruled out"]


def counted_topics(topics: Sequence[int]) -> str:
    """How many topics: of two sets those of each.

    >>> counted_topics((1,)), counted_topics((50, 30))
    ('1 topic', '50 and 30 topics')
    """
    numbers = " and ".join(f"{n:,}" for n in topics)
    return f"{numbers} topic" if tuple(topics) == (1,) else f"{numbers} topics"


def one_by_one(found: Sequence[Evidence]) -> str:
    """A sentence on few runs against one baseline, which only the first clause names.

    >>> a = Evidence(("hand1", "borea1"), 0.068, 0.038, "paired t test", (50,), low=0.012, high=0.124)
    >>> b = Evidence(("atlas1", "borea1"), 0.028, 0.191, "paired t test", (50,), low=-0.014, high=0.069)
    >>> one_by_one([a, b])
    'hand1 beats borea1: +.068 [.012, .124], p = .0380; atlas1 is not shown to: +.028 [−.014, .069], p = ...'
    """
    clauses: list[str] = []
    for evidence in found:
        finding = evidence.finding()
        before = clauses and found[0].significant and found[0].direction > 0
        if before and not evidence.significant and not evidence.identical and evidence.alternative == "two-sided":
            finding = f"{evidence.names[0]} is not shown to"
        clauses.append(f"{finding}: {evidence.numbers()}")
    return f"{'; '.join(clauses)} ({found[0].how()})"


def counts(found: Sequence[Evidence]) -> str:
    """How many runs are better, worse and neither than the baseline.

    >>> counts([Evidence(("a", "b"), 0.1, 0.01, "t", (9,)), Evidence(("c", "b"), 0.1, 0.3, "t", (9,))])
    'Of 2 runs 1 is better, none worse, 1 not significantly different'
    """
    ways = [e.direction for e in found if e.significant]
    better, worse, either = (ways.count(way) for way in (1, -1, 0))
    one_sided = {"greater": [(better, "better")], "less": [(worse, "worse")]}
    (first, word), *rest = one_sided.get(found[0].alternative, [(better, "better"), (worse, "worse")])
    parts = [f"{first or 'none'} {'is' if first < 2 else 'are'} {word}"]
    parts += [f"{number or 'none'} {word}" for number, word in rest]
    if either:
        parts.append(f"{either} significantly different where {CONTRADICTION}")
    neither = len(found) - len(ways)
    return f"Of {len(found):,} runs {', '.join(parts)}, {neither or 'none'} not significantly different"


def best_of_all(best: str, beaten: int, runs: int, inside: Sequence[str] | None, level: float) -> str:
    """What is known of the best run, from all pairs, and of the runs that may be the best, from Hsu's set.

    >>> best_of_all("a", 4, 10, ["a", "c", "f"], 0.95).partition(". ")[2]
    'Runs that may be the best of these 10 (95 %): a, c, f; the other 7 are not ahead of them'
    """
    others = runs - 1
    if beaten == others and (inside is None or list(inside) == [best]):
        return f"{best} is the best of these {runs}: significantly better than each of the others"
    finding = f"{best} is significantly better than {beaten or 'none'} of the {others} others"
    return finding if inside is None else f"{finding}. {may_be_best(inside, runs, level)}"


def may_be_best(inside: Sequence[str], runs: int, level: float) -> str:
    """The sentence of Hsu's set.

    >>> may_be_best(["a"], 3, 0.95)
    'Runs that may be the best of these 3 (95 %): a; the other 2 are not ahead of it'
    """
    named = ", ".join(inside[:MOST_NAMED])
    more = len(inside) - MOST_NAMED
    named += f" and {more} more" if more > 0 else ""
    rest = runs - len(inside)
    them = "it" if len(inside) == 1 else "them"
    are = "is" if rest == 1 else "are"
    said = f"Runs that may be the best of these {runs:,} ({percent(level)}): {named}"
    return said if rest == 0 else f"{said}; the other {f'{rest:,} ' if rest > 1 else ''}{are} not ahead of {them}"


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
