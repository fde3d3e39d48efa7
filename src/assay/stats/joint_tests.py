"""What holds for many differences at once? The correction of a family, its critical t, and words for both.

A family is every run against one baseline, all pairs of runs, or all comparisons of a table. Letters, p, intervals and
what could have been found rest on one family; pairwise.py tests it, max_t.py draws the flips.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import Registry, parse_call
from assay.stats.max_t import EVERY_FLIP, FEWEST_TOPICS, Family, flipped_family
from assay.stats.multiple import CORRECTIONS, Correction, family_in_words
from assay.stats.resampling import RESAMPLES

AUTO = "auto"
"""max-t for the t test, and Holm for every other test."""
MAX_T = "max-t"
MOST_PAIRS = 500 * 499 // 2
"""All pairs of 500 runs; a larger family is corrected by Holm."""
MOST_TOPICS = 20_000
"""More topics are not flipped: drawing their signs takes longer than all else, and runs correlate no less for Holm."""
BONFERRONI = ("holm", "bonferroni")
"""Corrections whose intervals hold at once if each has level 1 − α/m."""
JOINT: Registry[Correction] = Registry("joint correction")
"""Corrections that need the scores, not only p."""


@JOINT.register(MAX_T, controls="family-wise error")
def max_t(p: Floats) -> Floats:
    """Step-down max-t: one draw of sign flips of whole topics for all differences (Romano & Wolf 2005)."""
    raise UsageError(f"{MAX_T} needs the scores of the runs, not only {p.size} p-values; correct p by holm")


def corrections_to_choose() -> list[str]:
    """All corrections of a family of runs, the usual one first.

    >>> corrections_to_choose()[:3]
    ['auto', 'max-t', 'none']
    """
    return [AUTO, *JOINT.names(), *CORRECTIONS.names()]


def chosen_correction(correction: str, test: str) -> str:
    """The correction that `auto` stands for; an error for one that is not there, or does not go with the test.

    >>> chosen_correction("auto", "t"), chosen_correction("auto", "sign"), chosen_correction("bh", "t")
    ('max-t', 'holm', 'bh')
    """
    name, _ = parse_call(test)
    if correction == AUTO:
        return MAX_T if name == "t" else "holm"
    if correction != MAX_T:
        return CORRECTIONS.entry(correction).name
    if name != "t":
        raise UsageError(f"correction {MAX_T}: it is a t test, and the test is {name}; take holm, or the test t")
    return MAX_T


def carried_out(correction: str, tests: int, topics: int) -> str:
    """The correction that is done: Holm where max-t has too few topics, or too many topics or tests.

    >>> carried_out("max-t", 9, 50), carried_out("max-t", 9, 5), carried_out("bh", 9, 5)
    ('max-t', 'holm', 'bh')
    """
    too_many = tests > MOST_PAIRS or topics > MOST_TOPICS
    return "holm" if correction == MAX_T and (topics < FEWEST_TOPICS or too_many or tests == 1) else correction


def draws_flips(correction: str, runs: int, topics: int) -> bool:
    """Whether the correction draws flips at random for these runs, so their number and the seed have an effect.

    >>> draws_flips("max-t", 3, 50), draws_flips("max-t", 2, 50), draws_flips("max-t", 3, 12)
    (True, False, False)
    """
    return runs > 2 and topics > EVERY_FLIP and carried_out(correction, runs - 1, topics) == MAX_T


@dataclass(frozen=True, eq=False)
class SignFlips:
    """The differences of a family, from which max-t is drawn when it is asked for."""

    scores: Floats
    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    alternative: str
    alpha: float
    resamples: int
    seed: int

    @cached_property
    def family(self) -> Family:
        """p of each difference and the critical t."""
        return flipped_family(
            self.scores,
            self.first,
            self.second,
            alternative=self.alternative,
            alpha=self.alpha,
            resamples=self.given_resamples,
            seed=self.seed,
        )

    @property
    def given_resamples(self) -> int | None:
        """The number of draws where it is not the usual one, which leaves it to the size of the family."""
        return None if self.resamples == RESAMPLES else self.resamples


def critical_t(correction: str, tests: int, topics: int, alpha: float, flips: SignFlips | None = None) -> float:
    """The t of intervals mean ± t·S/√n: those of max-t, Holm and Bonferroni hold for the whole family.

    >>> round(critical_t("holm", 9, 50, 0.05), 4), round(critical_t("none", 9, 50, 0.05), 4)
    (2.9011, 2.0096)
    """
    from scipy.special import stdtrit

    done = carried_out(correction, tests, topics)
    if done == MAX_T and flips is not None:
        return flips.family.critical
    return float(stdtrit(topics - 1, 1 - share_of_alpha(done, tests, alpha) / 2))


def share_of_alpha(correction: str, tests: int, alpha: float) -> float:
    """α of each interval where all are to hold at once: α/m; α where they hold one by one.

    >>> share_of_alpha("max-t", 10, 0.05), share_of_alpha("bh", 10, 0.05)
    (0.005, 0.05)
    """
    return alpha / max(1, tests) if correction in (MAX_T, *BONFERRONI) else alpha


def together(correction: str) -> bool:
    """Whether intervals that go with a correction hold for all differences at once."""
    return correction in (MAX_T, *BONFERRONI)


def why_not_max_t(tests: int, topics: int) -> str:
    """Why Holm stands in for max-t."""
    if topics < FEWEST_TOPICS:
        return f"max-t needs {FEWEST_TOPICS} topics"
    if topics > MOST_TOPICS:
        return f"max-t takes at most {MOST_TOPICS:,} topics"
    return f"max-t takes at most {MOST_PAIRS:,} differences"


def in_words(correction: str, tests: int, topics: int, alpha: float, flips: SignFlips | None = None) -> str:
    """The part of a recipe that says what p and intervals hold for.

    >>> in_words("max-t", 9, 5, 0.05)
    'p corrected by holm over 9 tests, which controls the family-wise error (max-t needs 10 topics)'
    """
    if correction != MAX_T or tests == 1:
        return family_in_words("holm" if correction == MAX_T else correction, tests, alpha)
    done = carried_out(correction, tests, topics)
    if done != MAX_T or flips is None:
        return f"{family_in_words(done, tests, alpha)} ({why_not_max_t(tests, topics)})"
    return f"p and intervals of all {tests:,} differences together: {flips.family.recipe(flips.seed)}"
