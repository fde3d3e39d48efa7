"""What is known about many pairs of runs at once: PairsResult, made by pairwise.py and tukey.py.

All arrays have one value per pair; `first` and `second` are places in `runs`, and differences are first − second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from assay.stats.effect import checked_rows
from assay.stats.multiple import corrected, family_in_words
from assay.stats.verdicts import DELTA_KEYS, directions

Places = npt.NDArray[np.intp]
DIFFERENCES = ("difference", "low", "high")
RATIOS = ("ratio", "ratio low", "ratio high")
"""Headings of an amount and its interval: of geometric means it is a ratio."""
EFFECTS = {False: "mean/sd of the paired differences", True: "mean difference/√MSE"}


@dataclass(frozen=True, eq=False)
class PairsResult(Result):
    """Tests of a family of pairs. `simultaneous`: p already accounts for all pairs, no correction is due.

    `p` is not corrected. `correction` and `alpha` are what tables and records use where no other is asked for. `top`
    limits the rows that tables show to pairs of the first runs, never what was tested.

    Differences and intervals are on the scale on which the average is a mean, so that their signs say who is better:
    of geometric means they are those of logs. `shown_amounts` has what is shown.
    """

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
        """p after a correction over this family; as they are where the test is simultaneous."""
        after = corrected(self.p, correction or self.correction)
        return self.p if self.simultaneous else after

    def p_name(self, correction: str) -> str:
        """The heading of a column of `corrected`: `p` where there was nothing to correct."""
        return "p" if self.simultaneous or correction == "none" or len(self) == 1 else "p corrected"

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
            return family_in_words(correction, len(self), alpha)
        every = len(self.runs) * (len(self.runs) - 1) // 2
        if every == 1:
            return family_in_words(correction, 1, alpha)
        return f"p holds for all {every} pairs at once; no further correction"

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
        strict = correction in ("bonferroni", "holm") and not self.simultaneous
        if strict and self.least_p * len(self) >= alpha:
            need = f"take more than {len(self) / alpha:.0f} resamples, or bh, or a test that does not resample"
            notes.append(f"too few resamples: {correction} over {len(self)} tests lets no p below {alpha:g}; {need}")
        return notes

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
