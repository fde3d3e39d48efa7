"""Is run A really better than run B on these topics? One pair of runs, with all that should be reported about it.

Stands after the ScoreMatrix: two rows of scores → one Comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.stats.effect import differences, standard_deviation, standardised_effect
from assay.stats.few_values import Limits, interval_of, interval_within, least_of_topics, outcome_within
from assay.stats.resampling import RESAMPLES
from assay.stats.sentences import DELTA_KEYS, Evidence, name_of_test

ENDLESS = "the numbers of all topics are the same, so effect size and t are infinite"


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """Two runs compared: first − second throughout. `level` is that of the interval, and 1 − level that of the verdict.

    `low` and `high` are NaN where no interval can be had.
    Where the topic sets differ, wins, ties, losses and differences are None, and `df` has the degrees of freedom.
    """

    unit = "topic"
    names: tuple[str, str]
    n: tuple[int, ...]
    means: tuple[float, float]
    mean_difference: float
    median_difference: float
    statistic: float
    p: float
    effect: float
    low: float
    high: float
    wins: int | None
    ties: int | None
    losses: int | None
    alternative: str
    recipe: str
    differences: Floats | None = None
    lead: float | None = None
    df: float | None = None
    level: float = 0.95
    little: bool = False
    """Whether the differences show too few values for a t interval."""
    least_p: float = 0.0
    """The smallest p that the test can give on these topics."""
    least_drawn: float = 0.0
    """The smallest p that this number of resamples can give."""

    @property
    def verdict(self) -> str:
        """The finding in one sentence; where nothing is shown, with what was findable and what is ruled out."""
        return self.evidence.verdict()

    @property
    def evidence(self) -> Evidence:
        """What the verdict rests on."""
        return Evidence(
            names=self.names,
            delta=self.mean_difference,
            p=self.p,
            test=name_of_test(self.recipe),
            topics=self.n,
            alternative=self.alternative,
            alpha=round(1 - self.level, 12),
            low=self.low,
            high=self.high,
            lead=self.lead,
            deviation=None if self.differences is None else float(standard_deviation(self.differences)[0]),
            little=self.little,
            differing=None if self.wins is None or self.losses is None else self.wins + self.losses,
            least_p=self.least_p,
            least_drawn=self.least_drawn,
        )

    def table(self) -> Table:
        """The comparison as one row."""
        return comparisons_table([self])

    def record(self) -> dict[str, Any]:
        """The verdict, what was tested, and the row; a single test is not corrected."""
        settings = {
            "verdict": self.verdict,
            "alternative": self.alternative,
            "correction": "none",
            "level": self.level,
        }
        return settings | super().record()


def comparisons_table(
    comparisons: Sequence[Comparison],
    *,
    corrected: Sequence[float] | None = None,
    caption: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Several comparisons, one row each, with their corrected p where it is given; the notes say how each was made.

    Columns that none of them has (degrees of freedom, or wins, ties and losses) are left out.
    """
    rows = [_row(c) for c in comparisons]
    if corrected is not None:
        for row, corrected_p in zip(rows, corrected, strict=True):
            row["p corrected"] = corrected_p
    kept = {name: form for name, form in COLUMNS.items() if any(row[name] is not None for row in rows)}
    endless = [f"{c.names[0]}: {ENDLESS}" for c in comparisons if np.isinf(c.effect)]
    cells = [[row[name] for name in kept] for row in rows]
    recipes = list(dict.fromkeys(c.recipe for c in comparisons))
    if len(recipes) > 1:
        recipes = [
            f"{', '.join(c.names[0] for c in comparisons if c.recipe == recipe)}: {recipe}" for recipe in recipes
        ]
    return Table.of(kept, cells, caption=caption, notes=[*recipes, *notes, *endless], keys=DELTA_KEYS)


COLUMNS = {
    "run": "", "mean": ".4f", "against": "", "its mean": ".4f", "difference": "+.4f", "low": "+.4f", "high": "+.4f",
    "median": "+.4f", "effect": "+.3f", "statistic": ".4f", "df": ".2f", "p": "p", "p corrected": "p", "wins": "d",
    "ties": "d", "losses": "d",
}  # fmt: skip


def _row(c: Comparison) -> dict[str, Any]:
    values = (
        c.names[0], c.means[0], c.names[1], c.means[1], c.mean_difference, c.low, c.high, c.median_difference, c.effect,
        c.statistic, c.df, c.p, None, c.wins, c.ties, c.losses,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def compare_two(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    test: str = "t",
    *,
    names: tuple[str, str] = ("first", "second"),
    alternative: str = "two-sided",
    interval: str = "auto",
    level: float = 0.95,
    limits: Limits = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Two runs on the same topics, in the same order, by one of TESTS and one of INTERVALS.

    The interval is always two-sided; `auto` is that of the test. Identical runs: p = 1 (exactly so for every test),
    effect 0. limits: the least and largest difference that there can be. If too few topics differ for a t interval it
    is the Dirichlet bound within these limits, and without them there is none.

    >>> c = compare_two([0.5, 0.6, 0.9], [0.4, 0.4, 0.6])
    >>> round(c.mean_difference, 3), round(c.effect, 3), round(c.p, 4), (c.wins, c.ties, c.losses)
    (0.2, 2.0, 0.0742, (3, 0, 0))
    >>> c.evidence.sentence()
    'first and second are not shown to differ: +.200 [−.048, .448], p = .0742 (paired t test, 3 topics)'
    >>> c.verdict.partition("; ")[2]
    '3 topics find .326 with power .8; differences above .448 are ruled out'
    """
    rows = differences(first, second)
    drawing: dict[str, Any] = {"resamples": resamples, "seed": seed}
    alpha = round(1 - level, 12)
    outcome, little = outcome_within(rows, test, limits, alternative=alternative, alpha=alpha, **drawing)
    kind = interval_of(test) if interval == "auto" else interval
    ends = interval_within(rows, kind, limits, level=level, **drawing)
    d = rows[0]
    return Comparison(
        names=names,
        n=(len(d),),
        means=(_mean(first), _mean(second)),
        mean_difference=float(d.mean()),
        median_difference=float(np.median(d)),
        statistic=float(outcome.statistic[0]),
        p=float(outcome.p[0]),
        effect=float(standardised_effect(rows)[0]),
        low=float(ends.low[0]),
        high=float(ends.high[0]),
        wins=int((d > 0).sum()),
        ties=int((d == 0).sum()),
        losses=int((d < 0).sum()),
        alternative=alternative,
        recipe=f"{outcome.recipe}; {ends.recipe}; n = {len(d):,} topics",
        differences=d,
        lead=None if outcome.lead is None else float(outcome.lead[0]),
        level=level,
        little=bool(little[0]),
        least_p=least_of_topics(test, len(d), alternative),
        least_drawn=outcome.least_p,
    )


def _mean(scores: npt.ArrayLike) -> float:
    return float(np.asarray(scores, dtype=np.float64).mean())
