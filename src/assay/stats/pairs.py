"""What is known about many pairs of runs at once: PairsResult, made by all_pairs.py and tukey.py.

All arrays have one value per pair; `first` and `second` are places in `runs`, and differences are first − second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.core.tables import Table
from assay.stats.multiple import corrected, family_in_words

Places = npt.NDArray[np.intp]
EFFECTS = {False: "mean/sd of the paired differences", True: "mean difference/√MSE"}


@dataclass(frozen=True, eq=False)
class PairsResult:
    """Tests of a family of pairs. `simultaneous`: p already accounts for all pairs, no correction is due."""

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

    def __len__(self) -> int:
        return len(self.p)

    def corrected(self, correction: str = "holm") -> Floats:
        """p after a correction over this family; as they are where the test is simultaneous."""
        after = corrected(self.p, correction)
        return self.p if self.simultaneous else after

    def p_name(self, correction: str) -> str:
        """What a column of `corrected` is called: `p` where nothing was there to correct."""
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
        array[self.first, self.second] = array[self.second, self.first] = chosen
        return array

    def family(self, correction: str, alpha: float) -> str:
        """What was corrected, in words."""
        if self.simultaneous:
            every = len(self.runs) * (len(self.runs) - 1) // 2
            if every == 1:
                return family_in_words(correction, 1, alpha)
            return f"p holds for all {every} pairs at once; no further correction"
        return family_in_words(correction, len(self), alpha)

    def table(
        self, *, correction: str = "holm", alpha: float = 0.05, measure: str = "", only: Sequence[int] | None = None
    ) -> Table:
        """One row per pair, or per pair of the runs at these places; p is corrected over all pairs either way."""
        columns = {"run": "", "against": "", "difference": "+.4f"}
        parts: list[npt.ArrayLike] = [self._names(self.first), self._names(self.second), self.difference]
        if self.low is not None and self.high is not None:
            columns |= {"low": "+.4f", "high": "+.4f"}
            parts += [self.low, self.high]
        columns |= {"effect": "+.3f", "statistic": ".4f", "p": "p"}
        parts += [self.effect, self.statistic, self.p]
        if self.p_name(correction) != "p":
            columns |= {"p corrected": "p"}
            parts.append(self.corrected(correction))
        if self.wins is not None and self.losses is not None:
            columns |= {"wins": "d", "ties": "d", "losses": "d"}
            parts += [self.wins, self.n - self.wins - self.losses, self.losses]
        kept = slice(None) if only is None else np.isin(self.first, only) & np.isin(self.second, only)
        rows = list(zip(*(np.asarray(p, dtype=object)[kept].tolist() for p in parts), strict=True))
        notes = [f"{self.recipe}; n = {self.n} topics", self.family(correction, alpha)]
        notes += [f"effect: {EFFECTS[self.simultaneous]}", *self.remarks(correction, alpha)]
        some = "" if len(rows) == len(self) else f"{len(rows)} of "
        caption = f"{measure}{', ' if measure else ''}{some}{len(self)} pair{'s' * (len(self) > 1)} of runs"
        return Table.of(columns, rows, caption=caption, notes=notes)

    def remarks(self, correction: str = "holm", alpha: float = 0.05) -> list[str]:
        """What a reader must know of degenerate pairs, and of too few resamples for so many tests."""
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

    def _names(self, places: Places) -> list[str]:
        return [self.runs[i] for i in places]


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
    first = np.array([i for i in range(len(runs)) if i != place], dtype=np.intp)
    return first, np.full(len(first), place, dtype=np.intp)
