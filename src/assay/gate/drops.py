"""Is the drop within its margin, or beyond it? One-sided p and bounds that agree, by a method that holds.

A t test passes a drop of exactly the margin far too often if few topics change: with 2 % of topics that lose 1 and a
margin of .02, four times in five on 10 topics. So the method follows the differences: the studentised bootstrap if most
topics change, else the Dirichlet bound, which knows that unseen topics may lose all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.stats.bounded import lower_bound, p_at_most, share_that_may_differ, shows_little, unlike
from assay.stats.effect import standard_deviation
from assay.stats.multiple import corrected
from assay.stats.resampling import drawn_in_words, resampled_t, topic_counts

GATE_TESTS = ("auto", "bootstrap-t", "t", "dirichlet")
"""How the mean is bounded; `auto` chooses by how many topics change."""
GATE_CORRECTIONS = ("holm", "bonferroni", "none")
"""Corrections over measures of what fails. A pass takes all measures, so it needs none."""
RECIPES = {
    "bootstrap-t": "studentised bootstrap",
    "t": "t test",
    "dirichlet": "Dirichlet bound",
}
ENOUGH_CHANGED = 20
"""Topics that must change, and half of all, before a bound may rest on how much they vary."""
MANY_TOPICS = 20_000
"""This many topics need no resamples for the mean to be nearly normal."""


@dataclass(frozen=True, eq=False)
class Sample:
    """By how much the new run is above what is allowed on every topic: shown to be above 0 on average, it passes.

    `changed` are the topics whose difference to the baseline is not the commonest one. `limits` are the least and
    largest value that there can be; None if the range of the measure is not known.
    """

    values: Floats
    method: str
    limits: tuple[float, float] | None
    resamples: int
    seed: int
    changed: int

    @classmethod
    def of(
        cls,
        values: Floats,
        differences: Floats,
        limits: tuple[float, float] | None,
        test: str = "auto",
        *,
        resamples: int,
        seed: int,
    ) -> Sample:
        """The sample, with the method that its differences allow.

        >>> few = np.array([-1.0] + [0.0] * 29)
        >>> Sample.of(few + .02, few, (-.98, 1.02), resamples=99, seed=0).method
        'dirichlet'
        """
        changed = int(unlike(differences)[0])
        method = _method(changed, len(values), bool(shows_little(differences)[0]), checked_test(test))
        return cls(values, method, limits, resamples, seed, changed)

    def turned(self) -> Sample:
        """The same question for a mean below 0."""
        limits = None if self.limits is None else (-self.limits[1], -self.limits[0])
        return Sample(-self.values, self.method, limits, self.resamples, self.seed, self.changed)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(standard_deviation(self.values)[0] / np.sqrt(len(self.values)))

    @cached_property
    def _studentised(self) -> Floats:
        """t of each resample around the mean, in order."""
        centred = (self.values - self.values.mean())[:, None]
        draws = topic_counts(len(self.values), self.resamples, self.seed)
        return np.sort(np.concatenate([resampled_t(counts, centred)[1][:, 0] for counts in draws]))

    def p(self) -> float:
        """p of the claim that the mean is above 0; 1 if no bound is known."""
        mean = float(self.values.mean())
        if self.method == "dirichlet":
            return 1.0 if self.limits is None else p_at_most(self.values, 0.0, self.limits[0])
        if self.method == "t":
            from scipy.special import stdtr

            return float(stdtr(len(self.values) - 1, -mean / self.error))
        reached = len(self._studentised) - np.searchsorted(self._studentised, mean / self.error, side="left")
        return float((reached + 1) / (self.resamples + 1))

    def lower(self, level: float) -> float:
        """The value that the mean is above with confidence 1 − level; −∞ if none is known."""
        mean = float(self.values.mean())
        if self.method == "dirichlet":
            return -np.inf if self.limits is None else lower_bound(self.values, level, self.limits[0])
        if self.method == "t":
            from scipy.special import stdtrit

            return mean - float(stdtrit(len(self.values) - 1, 1 - level)) * self.error
        rank = int(np.floor((1 - level) * (self.resamples + 1) + 1e-9)) + 1
        if rank > self.resamples:
            return -np.inf
        return mean - float(self._studentised[rank - 1]) * self.error

    def floor(self, alpha: float, amount: float) -> float | None:
        """The smallest drop that these topics can rule out although none of them changes."""
        if self.method != "dirichlet" or self.limits is None:
            return None
        return share_that_may_differ(len(self.values), alpha) * (amount - self.limits[0])


def _method(changed: int, topics: int, little: bool, test: str) -> str:
    """The method for this many changed topics: what was asked for, unless the values show too little for it."""
    if little or test == "dirichlet":
        return "dirichlet"
    if test != "auto":
        return test
    if changed < ENOUGH_CHANGED or changed < topics / 2:
        return "dirichlet"
    return "t" if topics > MANY_TOPICS else "bootstrap-t"


@dataclass(frozen=True, eq=False)
class OneSide:
    """One direction of the tests: p, what is shown, and the bound of each mean that agrees with it."""

    p: Floats
    shown: Bools
    bound: Floats


def above_zero(samples: Sequence[Sample], alpha: float) -> OneSide:
    """Which means are shown to be above 0, each at level alpha, and their lower bounds.

    A gate passes if all are, so no correction is due: intersection-union test, Berger & Hsu 1996.
    """
    p = np.array([sample.p() for sample in samples])
    bound = np.array([sample.lower(alpha) for sample in samples])
    return _agreeing(p, p < alpha, bound)


def below_zero(samples: Sequence[Sample], alpha: float, correction: str) -> OneSide:
    """Which means are shown to be below 0, corrected over all samples, and their upper bounds.

    A gate fails if one is, so the bounds hold for all at once; with Holm's correction they are those of Strassburger &
    Bretz 2008: while some means are not shown to be below 0, nothing more is claimed of those that are.
    """
    turned = [sample.turned() for sample in samples]
    p = corrected(np.array([sample.p() for sample in turned]), correction)
    shown = p < alpha
    level = _level(shown, alpha, correction)
    side = _agreeing(p, shown, np.array([sample.lower(level) for sample in turned]))
    bound = side.bound
    if correction == "holm" and not shown.all():
        bound = np.where(shown, 0.0, bound)
    return OneSide(p, shown, -bound)


def _agreeing(p: Floats, shown: Bools, bound: Floats) -> OneSide:
    """What is shown decides on which side of 0 a bound lies; a bound is exact to some ten digits only."""
    return OneSide(p, shown, np.where(shown, np.maximum(bound, 0.0), np.minimum(bound, 0.0)))


def _level(shown: Bools, alpha: float, correction: str) -> float:
    """The significance level of each bound: α, or its share by Bonferroni, or by Holm among those not yet shown."""
    if correction == "none":
        return alpha
    left = shown.size - int(shown.sum())
    if correction == "holm" and left:
        return alpha / left
    return alpha / shown.size


def recipe(samples: Sequence[Sample]) -> str:
    """The methods that were used, in words; after a semicolon how they were drawn."""
    methods = list(dict.fromkeys(sample.method for sample in samples))
    words = " and ".join(RECIPES[method] for method in methods)
    if "bootstrap-t" in methods:
        words += f"; {drawn_in_words(samples[0].resamples, samples[0].seed)}"
    return words


def checked_test(test: str) -> str:
    """The test if it is one of GATE_TESTS; else an error."""
    if test not in GATE_TESTS:
        known = ", ".join(GATE_TESTS)
        raise UsageError(f"test: {test!r} has no bound of a mean that holds for a gate; take one of {known}")
    return test


def checked_correction(correction: str) -> str:
    """The correction if it is one of GATE_CORRECTIONS; else an error."""
    return one_of("correction", correction, GATE_CORRECTIONS)


def draws_resamples(test: str) -> bool:
    """Whether a test may draw resamples, so that their number and the seed matter."""
    return test in ("auto", "bootstrap-t")
