"""What is known about many pairs of runs at once: PairsResult, made by pairwise.py and tukey.py.

All arrays have one value per pair; `first` and `second` are places in `runs`, and differences are first − second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import from_means
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import SHOWN, TESTED, scores_of_one_measure
from assay.stats import joint_tests
from assay.stats.bounded import FEW
from assay.stats.effect import checked_rows
from assay.stats.few_values import least_of_topics
from assay.stats.max_t import PossibleBest, best_among, bonferroni_critical, flipped_critical
from assay.stats.multiple import corrected, family_in_words
from assay.stats.sentences import DELTA_KEYS, Evidence, directions, name_of_test

Places = npt.NDArray[np.intp]
DIFFERENCES = ("difference", "low", "high")
RATIOS = ("ratio", "ratio low", "ratio high")
"""Headings of an amount and its interval: of geometric means it is a ratio."""
EFFECTS = {False: "mean/sd of the paired differences", True: "mean difference/√MSE"}


@dataclass(frozen=True, eq=False)
class PairsResult(Result):
    """Tests of a family of pairs. `simultaneous`: p already accounts for all pairs, no correction is due.

    `p` is not corrected. `correction` and `alpha` are what intervals rest on, and what tables and records use unless
    another is asked for. `within` is the larger family that these pairs are a part of: their corrected p and intervals
    are those of that family. `top` limits the rows that tables show to pairs of the first runs, never what was tested.

    Differences and intervals are on the scale on which the average is a mean, so that their signs say who is better:
    of geometric means they are those of logs. `shown_amounts` has what is shown.
    """

    unit = "topic"
    runs: tuple[str, ...]
    first: Places
    second: Places
    n: int
    difference: Floats
    statistic: Floats
    p: Floats
    effect: Floats
    test: str
    recipe: str
    alternative: str = "two-sided"
    simultaneous: bool = False
    least_p: float = 0.0
    critical: float | None = None
    low: Floats | None = None
    high: Floats | None = None
    wins: Places | None = None
    losses: Places | None = None
    lead: Floats | None = None
    """How far the first run is ahead by a test of ranks or signs; None where means are tested."""
    deviation: Floats | None = None
    """Standard deviation of the differences of each pair."""
    little: Bools | None = None
    """Pairs that differ on too few topics for a t interval: theirs are Dirichlet bounds."""
    flips: joint_tests.SignFlips | None = None
    """What max-t is drawn from; None for tests that it does not go with."""
    within: PairsResult | None = None
    measure: str = ""
    correction: str = "holm"
    alpha: float = 0.05
    top: int | None = None
    aggregate: str = "mean"
    """How the topics of the measure become one number."""

    def __len__(self) -> int:
        return len(self.p)

    def best(self, top: int | None) -> PairsResult:
        """The same tests, of which tables show only the pairs of the first `top` runs; None shows all."""
        return replace(self, top=top)

    def corrected(self, correction: str | None = None) -> Floats:
        """p after a correction over the family; as they are where the test is simultaneous."""
        by = correction or self.correction
        if self.simultaneous:
            return self.p
        if self.within is not None:
            return self.within.square(self.within.corrected(by))[self.first, self.second]
        done = joint_tests.carried_out(by, len(self), self.n)
        if done != joint_tests.MAX_T:
            return corrected(self.p, done)
        if self.flips is None:
            joint_tests.chosen_correction(by, self.test)
            raise UsageError(f"{by}: this family was made without the scores; correct p by holm")
        return self.flips.family.p

    @property
    def tests(self) -> int:
        """How many tests p is corrected for: those of the family that these pairs are a part of."""
        return len(self) if self.within is None else len(self.within)

    def tests_of_step(self) -> int:
        """By how much Holm and Bonferroni multiply the smallest p; 1 for other corrections."""
        done = joint_tests.carried_out(self.correction, self.tests, self.n)
        return self.tests if done in joint_tests.BONFERRONI and not self.simultaneous else 1

    def family_named(self) -> str:
        """The family in a few words, for a sentence; empty for a single test.

        Such as `max-t over 9 differences`.
        """
        if self.tests == 1:
            return ""
        what = "differences" if self.within is None else "pairs"
        every = "all " if self.within is not None else ""
        if self.simultaneous:
            return f"all {len(self.runs) * (len(self.runs) - 1) // 2:,} pairs at once"
        done = joint_tests.carried_out(self.correction, self.tests, self.n)
        name = {"holm": "Holm", "bonferroni": "Bonferroni", "none": "not corrected"}.get(done, done)
        return f"{name} over {every}{self.tests:,} {what}"

    def critical_t(self, correction: str | None = None) -> float:
        """The t of intervals mean ± t·S/√n that go with the correction."""
        whole = self if self.within is None else self.within
        by = correction or self.correction
        return joint_tests.critical_t(by, len(whole), self.n, self.alpha, whole.flips)

    def significant(self) -> Bools:
        """Pairs with a corrected p below α."""
        return np.asarray(self._corrected_p < self.alpha)

    @cached_property
    def _corrected_p(self) -> Floats:
        return self.corrected()

    @cached_property
    def _critical(self) -> float | None:
        """The critical t where there is a family, and it is one of t."""
        return None if self.tests == 1 or self.simultaneous else self.critical_t()

    def evidence(self, place: int) -> Evidence:
        """All that a sentence says of one pair."""
        least = 0.0 if self.simultaneous else least_of_topics(self.test, self.n, self.alternative)
        return Evidence(
            names=(self.runs[self.first[place]], self.runs[self.second[place]]),
            delta=float(self.difference[place]),
            p=float(self._corrected_p[place]),
            test=name_of_test(self.recipe),
            topics=(self.n,),
            alternative=self.alternative,
            alpha=self.alpha,
            low=None if self.low is None else float(self.low[place]),
            high=None if self.high is None else float(self.high[place]),
            lead=None if self.lead is None else float(self.lead[place]),
            deviation=None if self.deviation is None else float(self.deviation[place]),
            critical=self._critical,
            tests=self.tests,
            family=self.family_named(),
            little=bool(self.little is not None and self.little[place]),
            differing=None if self.wins is None or self.losses is None else int(self.wins[place] + self.losses[place]),
            least_p=least * self.tests_of_step(),
            least_drawn=self.least_p * self.tests_of_step(),
            aggregate=self.aggregate,
        )

    def p_name(self, correction: str) -> str:
        """The heading of a column of `corrected`: `p` where there was nothing to correct."""
        return "p" if self.simultaneous or correction == "none" or self.tests == 1 else "p corrected"

    def share(self, alpha: float = 0.05, correction: str = "none") -> float:
        """Share of the pairs with p < α, the discriminative power of the scores under this test."""
        return float((self.corrected(correction) < alpha).mean()) if len(self) else 0.0

    def square(self, values: Floats | None = None) -> Floats:
        """p (or other values, one per pair) as a symmetric runs × runs array with 1 on the diagonal."""
        if self.alternative != "two-sided":
            raise UsageError(f"the p of a one-sided test ({self.alternative}) is not symmetric; test two-sided")
        array = np.ones((len(self.runs), len(self.runs)))
        chosen = self.p if values is None else values
        array[self.first, self.second] = chosen
        array[self.second, self.first] = chosen
        return array

    def family(self, correction: str, alpha: float) -> str:
        """What was corrected, in words."""
        if not self.simultaneous:
            whole = self if self.within is None else self.within
            words = joint_tests.in_words(correction, len(whole), self.n, alpha, whole.flips)
            every = "" if self.within is None else f"; the family is all {len(whole):,} pairs of runs"
            return words + every
        pairs = len(self.runs) * (len(self.runs) - 1) // 2
        if pairs == 1:
            return family_in_words(correction, 1, alpha)
        return f"p holds for all {pairs} pairs at once; no further correction"

    def directions(self) -> Ints:
        """1 where the first run of a pair is better, −1 where it is worse, 0 where mean and test disagree."""
        return directions(self.difference, self.lead)

    def shown_amounts(self) -> dict[str, Floats | None]:
        """Differences of the averages with their intervals, by heading; of geometric means ratios.

        >>> from assay.stats.pairwise import versus_baseline
        >>> m = ScoreMatrix.of([[0.4, 0.4], [0.2, 0.1]], runs=["new", "old"], measure="geometric(AP)")
        >>> versus_baseline(m, "old").shown_amounts()["ratio"].round(4).tolist()
        [2.8284]
        """
        headings = RATIOS if self.aggregate == "geometric" else DIFFERENCES
        amounts: dict[str, Floats | None] = {}
        for heading, values in zip(headings, (self.difference, self.low, self.high), strict=True):
            amounts[heading] = None if values is None else from_means(values, self.aggregate, self.n)
        return amounts

    def table(
        self,
        *,
        correction: str | None = None,
        alpha: float | None = None,
        measure: str | None = None,
        only: Sequence[int] | None = None,
    ) -> Table:
        """One row per pair, or per pair of the runs at these places; p is corrected over all pairs either way."""
        by = correction or self.correction
        level = self.alpha if alpha is None else alpha
        name = self.measure if measure is None else measure
        if only is None and self.top is not None:
            only = range(self.top)
        columns = self._columns(by)
        kept = self._between(only)
        values = [np.asarray(column, dtype=object)[kept].tolist() for _, column in columns.values()]
        rows = list(zip(*values, strict=True))
        notes = [
            f"{self.recipe}; n = {self.n:,} topics",
            self.family(by, level),
            f"effect: {EFFECTS[self.simultaneous]}",
            *self.averaging_notes(),
            *self.remarks(by, level),
        ]
        caption = "1 pair of runs" if len(self) == 1 else f"{len(self)} pairs of runs"
        if len(rows) < len(self):
            caption = f"{len(rows)} of {caption}"
        if name:
            caption = f"{name}, {caption}"
        formats = {heading: form for heading, (form, _) in columns.items()}
        return Table.of(formats, rows, caption=caption, notes=notes, keys=DELTA_KEYS)

    def averaging_notes(self) -> list[str]:
        """How the tests deal with an average that is not the mean; nothing where it is."""
        how = self.aggregate
        return [f"{TESTED[how]}; {SHOWN[how]}"] if how in TESTED else []

    def _between(self, only: Sequence[int] | None) -> Bools:
        """Which pairs are of two of these runs; all where none are named."""
        if only is None:
            return np.ones(len(self), dtype=bool)
        places = list(only)
        return np.isin(self.first, places) & np.isin(self.second, places)

    def record(self) -> dict[str, Any]:
        """The rows, with what was tested and how it was corrected."""
        settings = {
            "measure": self.measure,
            "test": self.test,
            "alternative": self.alternative,
            "correction": "simultaneous" if self.simultaneous else self.correction,
            "alpha": self.alpha,
            "n": self.n,
        }
        return settings | super().record()

    def remarks(self, correction: str = "holm", alpha: float = 0.05) -> list[str]:
        """What a reader must know of degenerate pairs, and of too few resamples for the number of tests."""
        notes = []
        endless = int(np.isinf(self.effect).sum())
        if endless:
            have = "1 pair has" if endless == 1 else f"{endless} pairs have"
            notes.append(f"{have} the same non-zero difference on every topic: effect size infinite")
        done = joint_tests.carried_out(correction, self.tests, self.n)
        strict = done in joint_tests.BONFERRONI and not self.simultaneous
        if strict and self.least_p * self.tests >= alpha:
            need = f"take more than {self.tests / alpha:.0f} resamples, or bh, or a test that does not resample"
            notes.append(f"too few resamples: {done} over {self.tests} tests lets no p below {alpha:g}; {need}")
        return notes + self._of_little()

    def _of_little(self) -> list[str]:
        """What was done for pairs that differ on few topics."""
        count = 0 if self.little is None else int(self.little.sum())
        if not count:
            return []
        pairs = "1 pair differs" if count == 1 else f"{count:,} pairs differ"
        if self.low is not None and np.isnan(self.low).any():
            what = "no interval, since the range of the scores is not known; p by sign flips"
        else:
            what = "intervals, and p of t and bootstrap tests, are those of the Dirichlet bound"
        return [f"{pairs} on fewer than {min(FEW, self.n - 1)} topics, too few for a t interval: {what}"]

    def _columns(self, correction: str) -> dict[str, tuple[str, npt.ArrayLike]]:
        """Heading → format and values; intervals, wins and losses where they were asked for."""
        columns: dict[str, tuple[str, npt.ArrayLike]] = {
            "run": ("", [self.runs[i] for i in self.first]),
            "against": ("", [self.runs[i] for i in self.second]),
        }
        form = amount_format(self.aggregate)
        for heading, amounts in self.shown_amounts().items():
            if amounts is not None:
                columns[heading] = (form, amounts)
        columns["effect"] = ("+.3f", self.effect)
        columns["statistic"] = (".4f", self.statistic)
        columns["p"] = ("p", self.p)
        columns["p corrected"] = ("p", self.corrected(correction))
        if self.wins is not None and self.losses is not None:
            columns["wins"] = ("d", self.wins)
            columns["ties"] = ("d", self.n - self.wins - self.losses)
            columns["losses"] = ("d", self.losses)
        return columns


def amount_format(aggregate: str) -> str:
    """How a difference of averages is printed; a ratio has no sign."""
    return ".4f" if aggregate == "geometric" else "+.4f"


def by_average(matrix: ScoreMatrix) -> ScoreMatrix:
    """The runs, best average first; scores too large to compute with are an error."""
    matrix = scores_of_one_measure(matrix)
    checked_rows(matrix.values, least=1)
    return matrix.by_average()


def every_pair(runs: int) -> tuple[Places, Places]:
    """Places of the first and second run of every pair, in the order (0,1), (0,2), …

    >>> [p.tolist() for p in every_pair(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    first, second = np.triu_indices(runs, 1)
    return first, second


def pairs_with(runs: tuple[str, ...], baseline: str) -> tuple[Places, Places]:
    """Every other run (first) against the baseline (second)."""
    if baseline not in runs:
        raise UsageError(f"no run {baseline!r} to be the baseline{did_you_mean(baseline, runs)}")
    place = runs.index(baseline)
    others = np.delete(np.arange(len(runs)), place)
    return others, np.full(len(others), place, dtype=np.intp)


def best_of_pairs(pairs: PairsResult) -> PossibleBest:
    """Hsu's set of the runs of all pairs: those that may be the best; below 10 topics and above 500 runs by Bonferroni.

    Topics that all runs share make no run worse than one with the same scores.
    """
    runs = len(pairs.runs)
    difference, error = np.zeros((runs, runs)), np.zeros((runs, runs))
    difference[pairs.first, pairs.second] = pairs.difference
    difference[pairs.second, pairs.first] = -pairs.difference
    deviation = 0.0 if pairs.deviation is None else pairs.deviation
    error[pairs.first, pairs.second] = error[pairs.second, pairs.first] = deviation / np.sqrt(pairs.n)
    done = joint_tests.carried_out(pairs.correction, len(pairs), pairs.n)
    flips = pairs.flips
    if done != joint_tests.MAX_T or flips is None:
        critical = bonferroni_critical(runs, pairs.n, pairs.alpha)
    else:
        critical = flipped_critical(flips.scores, pairs.alpha, flips.given_resamples, flips.seed)
    return best_among(difference, error, critical)
