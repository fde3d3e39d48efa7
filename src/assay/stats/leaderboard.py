"""Which run is best, and is it really? The leaderboard that `assay compare` shows.

One row per run, best first: mean with its interval, letters over all pairs, and against the baseline the difference,
corrected p, effect size, wins, ties and losses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from assay.core.arrays import Floats
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.all_pairs import all_pairs, is_simultaneous, versus_baseline
from assay.stats.effect import Intervals, differences, mean_interval, standardised_effect
from assay.stats.letters import Letters, compact_letters
from assay.stats.pairs import PairsResult, pairs_with
from assay.stats.resampling import RESAMPLES, checked_share


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Runs by mean, best first. `versus` has every other run against the baseline; `pairs` all pairs, for letters.

    `top` limits the rows that tables and pictures show, never what was tested.
    """

    matrix: ScoreMatrix
    baseline: str
    chosen: bool
    interval: Intervals
    versus: PairsResult
    pairs: PairsResult | None
    letters: Letters | None
    correction: str
    alpha: float
    top: int | None = None

    def best(self, top: int) -> Leaderboard:
        """The same board, of which only so many runs are shown: the best, the baseline always among them."""
        return replace(self, top=top)

    def shown(self, top: int | None = None) -> list[int]:
        """Places of the runs that are shown: all, or the best `top` with the baseline among them."""
        runs, most = len(self.matrix.runs), top or self.top
        at = self.matrix.runs.index(self.baseline)
        if most is None or at < most or runs <= most:
            return list(range(runs))[:most]
        return [*range(most - 1), at]

    def table(self) -> Table:
        """The leaderboard."""
        means, letters = self.matrix.means(), self.letters
        p, places = self.versus.corrected(self.correction), {int(i): j for j, i in enumerate(self.versus.first)}
        rows = []
        for i in self.shown():
            row = [self.matrix.runs[i], means[i], self.interval.low[i], self.interval.high[i]]
            row += [letters.labels[i]] if letters else []
            rows.append([*row, *self._against(places.get(i), p)])
        columns = {
            "run": "", "mean": ".4f", "low": ".4f", "high": ".4f", **({"letters": ""} if letters else {}),
            "Δ": "+.4f", "Δ low": "+.4f", "Δ high": "+.4f", self.versus.p_name(self.correction): "p", "effect": "+.3f",
            "wins": "d", "ties": "d", "losses": "d",
        }  # fmt: skip
        runs, topics = self.matrix.shape
        some = "" if len(rows) == runs else f"{len(rows)} of "
        caption = f"{self.matrix.measure}, {some}{runs} runs, {topics} topics"
        return Table.of(columns, rows, caption=caption, notes=self.notes())

    def pairs_table(self) -> Table:
        """All pairs of the runs that are shown."""
        if self.pairs is None:
            raise UsageError("the pairs were not tested; ask for letters or pairs")
        only = None if self.top is None else self.shown()
        return self.pairs.table(correction=self.correction, alpha=self.alpha, measure=self.matrix.measure, only=only)

    def notes(self) -> list[str]:
        """The recipe: what each column is and how it was made."""
        v = self.versus
        chosen = "" if self.chosen else " (the best mean, picked after seeing the scores)"
        notes = [
            f"low, high: {self.interval.recipe}, of each mean alone; runs whose intervals overlap may still differ",
            f"Δ, p, effect (mean/sd of the differences), wins, ties, losses: against {self.baseline}{chosen}",
            f"{v.recipe}; n = {v.n} topics; {v.family(self.correction, self.alpha)}",
        ]
        if len(v) > 1 and not v.simultaneous:
            notes.append("Δ low, Δ high: of each difference alone, not corrected for the number of runs")
        notes += v.remarks(self.correction, self.alpha)
        if self.pairs is not None and self.letters is not None:
            family = self.pairs.family(self.correction, self.alpha)
            notes.append(f"letters: runs without a common letter differ at α = {self.alpha:g}, two-sided; {family}")
            notes += [n for n in self.pairs.remarks(self.correction, self.alpha) if n.startswith("too few")]
        return notes if self.matrix.signature == self.matrix.measure else [*notes, self.matrix.signature]

    def _against(self, place: int | None, p: Floats) -> list[float | int | None]:
        """Difference, p, effect, wins, ties, losses of one row; nothing for the baseline itself."""
        v = self.versus
        if place is None or v.wins is None or v.losses is None:
            return [None] * 8
        wins, losses = int(v.wins[place]), int(v.losses[place])
        low, high = (None, None) if v.low is None or v.high is None else (v.low[place], v.high[place])
        return [v.difference[place], low, high, p[place], v.effect[place], wins, v.n - wins - losses, losses]


def leaderboard(
    matrix: ScoreMatrix,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    interval: str = "t",
    letters: bool = True,
    pairs: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Leaderboard:
    """Runs by mean, tested against the baseline (default: the best) and, for the letters, all against all.

    `pairs` also prepares the table of all pairs, with intervals. The correction is over the runs tested against the
    baseline for p, and over all pairs for the letters, which are always two-sided. With Tukey's tests both come from
    the one simultaneous family.

    >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9], [0.4, 0.4, 0.6]], runs=["new", "old"])
    >>> board = leaderboard(m, baseline="old")
    >>> board.table().cells()[0][5], board.letters.labels
    ('+0.2000', ('a', 'a'))
    """
    if len(matrix.runs) < 2:
        raise DataError(f"{matrix.measure}: {len(matrix.runs)} run; a comparison needs at least two")
    ordered, level = matrix.by_mean(), 1 - checked_share(alpha, "alpha")
    how: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    ends = mean_interval(ordered.values, interval, **how)
    against = ordered.runs[0] if baseline is None else baseline
    tested: PairsResult | None = None
    simultaneous = is_simultaneous(test)
    if simultaneous or letters or pairs:
        sides = alternative if simultaneous else "two-sided"
        ends_of_pairs = interval if pairs else None
        tested = all_pairs(
            ordered, test, alternative=sides, interval=ends_of_pairs, jobs=jobs, progress=progress, **how
        )
    if tested is not None and simultaneous:
        versus = _from_all(tested, ordered, against)
    else:
        versus = versus_baseline(ordered, against, test, alternative=alternative, interval=interval, **how)
    shown = compact_letters(tested.square(tested.corrected(correction)) < alpha) if tested and letters else None
    return Leaderboard(ordered, against, baseline is not None, ends, versus, tested, shown, correction, alpha)


def _from_all(pairs: PairsResult, matrix: ScoreMatrix, baseline: str) -> PairsResult:
    """The family against the baseline, with the p-values that hold for all pairs."""
    first, second = pairs_with(matrix.runs, baseline)
    rows = differences(matrix.values[first], matrix.values[second])
    critical = pairs.critical or 0.0
    difference = rows.mean(axis=1)
    return PairsResult(
        runs=matrix.runs,
        first=first,
        second=second,
        n=pairs.n,
        difference=difference,
        statistic=pairs.square(pairs.statistic)[first, second],
        p=pairs.square()[first, second],
        effect=standardised_effect(rows),
        test=pairs.test,
        recipe=pairs.recipe,
        simultaneous=True,
        critical=critical,
        low=difference - critical,
        high=difference + critical,
        wins=(rows > 0).sum(axis=1),
        losses=(rows < 0).sum(axis=1),
    )
