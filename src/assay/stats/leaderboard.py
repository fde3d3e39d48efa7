"""Which run is best, and is it really? `compare` and the leaderboard that it makes.

One row per run, best first: rank, mean with its interval, letters over all pairs, and against the baseline the
difference with its interval, corrected p, effect size, wins, ties and losses. Where no baseline is named all pairs are
the family: the best run is known only after seeing the scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, silent
from assay.core.engines.chosen import engine_for
from assay.core.errors import DataError, UsageError
from assay.core.keys import key_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import IN_WORDS, from_means
from assay.data.info import RunsInfo
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import for_tests_of_means
from assay.io.brought import score_matrix_of
from assay.io.column_names import Named
from assay.rankings.counts import settled, tie_groups
from assay.stats.effect import Intervals
from assay.stats.few_values import interval_of, interval_within
from assay.stats.joint_tests import AUTO, MAX_T, chosen_correction
from assay.stats.letters import Letters, compact_letters
from assay.stats.limits import cut, possible_scores
from assay.stats.losses import TopicLosses, topic_losses
from assay.stats.pair_tests import RATIOS, PairsResult, amount_format, best_of_pairs, by_average
from assay.stats.pairwise import all_pairs, is_simultaneous, versus_baseline, versus_of_all
from assay.stats.resampling import RESAMPLES, checked_alternative, checked_share
from assay.stats.sentences import Evidence, best_of_all, counts, one_by_one
from assay.stats.t_power import above_alpha, findable_effect


@dataclass(frozen=True, eq=False)
class Leaderboard(Result):
    """Runs by mean, best first. `versus` has every other run against the baseline; `pairs` all pairs, for letters.

    `top` limits the rows that tables and pictures show, never what was tested.
    """

    unit = "topic"
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
    details: Mapping[str, tuple[str | None, ...]] | None = None
    """Columns of a table of runs that are shown beside the names, with a text for each run."""
    power: float | None = None
    """With it the table says which true difference each comparison finds with this power, and may miss below."""

    @cached_property
    def verdict(self) -> str:
        """The finding in one sentence or two: who beats the baseline, or which runs may be the best."""
        found = [self.versus.evidence(place) for place in range(len(self.versus))]
        if len(found) == 1:
            return (found[0] if self.chosen else found[0].turned()).verdict()
        how = found[0].how()
        cannot = found[0].cannot_be_shown()
        limit = f"; {cannot}" if cannot else ""
        if not self.chosen:
            best, beaten = self.baseline, int(self.versus.significant().sum())
            level = 1 - self.alpha
            return f"{best_of_all(best, beaten, len(self.matrix.runs), self.possible_best, level)} ({how}){limit}"
        if len(found) == 2:
            return f"{one_by_one(found)}{limit}"
        first = found[0]
        return f"{first.finding()}: {first.numbers()}. {counts(found)} ({how}){limit}"

    @cached_property
    def possible_best(self) -> list[str] | None:
        """Runs that may be the best (Hsu 1996), which hold the truly best one with confidence 1 − α, best mean first.

        None where a baseline was named, and for corrections other than max-t.
        """
        pairs = self.versus.within
        if pairs is None or pairs.correction != MAX_T or len(self.matrix.runs) < 3:
            return None
        inside = best_of_pairs(pairs).inside
        return [run for run, is_in in zip(self.matrix.runs, inside.tolist(), strict=True) if is_in]

    @property
    def is_one_family(self) -> bool:
        """Whether p and letters rest on one family, that of all pairs."""
        return self.versus.simultaneous or self.versus.within is not None

    def best(self, top: int) -> Leaderboard:
        """The same board, of which only the `top` best runs are shown, the baseline always among them."""
        return replace(self, top=top)

    def showing(self, info: RunsInfo, columns: Sequence[str]) -> Leaderboard:
        """The same board with columns of a table of runs, such as team or type, beside the names of the runs.

        >>> info = RunsInfo("runs.csv", ("team",), {"new": ("lab",)})
        >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9], [0.4, 0.4, 0.6]], runs=["new", "old"])
        >>> compare(m).showing(info, ["team"]).table().column("team")
        ['lab', None]
        """
        own = self.table().keys
        for name in columns:
            if key_of(name) in own:
                raise UsageError(f"the leaderboard has a column {name!r} of its own; show another one of {info.where}")
        details = {name: tuple(info.of_runs(name, self.matrix.runs)) for name in columns}
        return replace(self, details=details)

    def with_power(self, power: float) -> Leaderboard:
        """The same board with what each comparison could have missed: the true difference that it finds with `power`.

        >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9], [0.4, 0.4, 0.6]], runs=["new", "old"])
        >>> compare(m, baseline="old").with_power(0.8).table().column("found from")
        [0.3264..., None]
        """
        above_alpha(power, self.alpha)
        return replace(self, power=power)

    def found_from(self) -> Floats:
        """The smallest true difference that each comparison finds with the power, in the family that decides.

        By a t test with the critical value of the family, on the sd of the differences that were seen; of geometric
        means the smallest ratio above 1. NaN where the differences show too few values to say.
        """
        v = self.versus
        sides = 2 if v.alternative == "two-sided" else 1
        effect = findable_effect(v.n, critical=v.critical_t(), sides=sides, power=self.power or 0.8)
        deviation = np.zeros(len(v)) if v.deviation is None else v.deviation
        if v.little is not None:
            deviation = np.where(v.little, np.nan, deviation)
        return from_means(effect * deviation, self.matrix.aggregate, v.n)

    def ranks(self) -> list[int]:
        """The rank of each run by its mean, from 1; equal means share one, and the next rank is left out."""
        better, _ = tie_groups(-settled(self.matrix.averages()))
        return [int(count) + 1 for count in better]

    def worst_topics(
        self, most: int = 10, *, runs: Sequence[str] | None = None, queries: Mapping[str, str] | None = None
    ) -> TopicLosses:
        """The topics on which the best other run, or each of these runs, lost most against the baseline.

        queries: {topic: text}, shown beside the topics.

        >>> m = ScoreMatrix.of([[0.5, 0.1, 0.9], [0.4, 0.4, 0.6]], runs=["new", "old"])
        >>> compare(m, baseline="old").worst_topics().table().column("topic")
        ['2']
        """
        chosen = [self.best_other()[0]] if runs is None else list(runs)
        return topic_losses(self.matrix, self.baseline, runs=chosen, most=most, queries=queries)

    def shown(self, top: int | None = None) -> list[int]:
        """Places of the runs that are shown: all, or the best `top` with the baseline among them."""
        runs = len(self.matrix.runs)
        most = top or self.top
        at = self.matrix.runs.index(self.baseline)
        if most is None or at < most or runs <= most:
            return list(range(runs))[:most]
        return [*range(most - 1), at]

    def best_other(self) -> tuple[str, Floats]:
        """The best run that is not the baseline, and its score less the baseline's on every topic."""
        best = next(run for run in self.matrix.runs if run != self.baseline)
        return best, self.matrix.of_run(best) - self.matrix.of_run(self.baseline)

    def table(self) -> Table:
        """The leaderboard. The key of p is `p_corrected` whatever the correction, also where there is none."""
        averages = self.matrix.averages()
        ranks = self.ranks()
        details = self.details or {}
        corrected_p = self.versus.corrected()
        places = {int(run): place for place, run in enumerate(self.versus.first)}
        found_from = None if self.power is None else self.found_from()
        amounts = list(self.versus.shown_amounts().values())
        rows = []
        for i in self.shown():
            row: list[Any] = [self.matrix.runs[i], ranks[i], *(texts[i] for texts in details.values())]
            row += [averages[i], self.interval.low[i], self.interval.high[i]]
            if self.letters is not None:
                row.append(self.letters.labels[i])
            row += self._against(places.get(i), amounts, corrected_p)
            if found_from is not None:
                place = places.get(i)
                row.append(None if place is None else found_from[place])
            rows.append(row)
        columns = {"run": "", "rank": "d", **dict.fromkeys(details, "")}
        average = IN_WORDS[self.matrix.aggregate]
        columns |= {average: ".4f", "low": ".4f", "high": ".4f"}
        if self.letters is not None:
            columns["letters"] = ""
        p_name = self.versus.p_name(self.correction)
        ratio = self.matrix.aggregate == "geometric"
        against = RATIOS if ratio else ("Δ", "Δ low", "Δ high")
        columns |= dict.fromkeys(against, amount_format(self.matrix.aggregate))
        columns |= {p_name: "p", "effect": "+.3f"}
        columns |= {"wins": "d", "ties": "d", "losses": "d"}
        if self.power is not None:
            columns["found from"] = ".4f"
        runs, topics = self.matrix.shape
        some = "" if len(rows) == runs else f"{len(rows)} of "
        about = f"{self.matrix.measure}, {some}{runs} runs, {topics:,} topics"
        caption = f"{self.matrix.measure}: {self.verdict}" if len(self.versus) == 1 else about
        return Table.of(columns, rows, caption=caption, notes=self.notes(), keys={p_name: "p_corrected"})

    def pairs_table(self) -> Table:
        """All pairs of the runs that are shown."""
        if self.pairs is None:
            raise UsageError("the pairs were not tested; ask for letters or pairs")
        only = None if self.top is None else self.shown()
        return self.pairs.table(correction=self.correction, alpha=self.alpha, measure=self.matrix.measure, only=only)

    def record(self) -> dict[str, Any]:
        """The verdict, what was tested and how it was corrected, and the rows."""
        settings = {
            "verdict": self.verdict,
            "possible_best": self.possible_best,
            "measure": self.matrix.measure,
            "signature": self.matrix.signature,
            "aggregate": self.matrix.aggregate,
            "baseline": self.baseline,
            "test": self.versus.test,
            "alternative": self.versus.alternative,
            "correction": "simultaneous" if self.versus.simultaneous else self.correction,
            "alpha": self.alpha,
            "n": self.versus.n,
        }
        return settings | super().record()

    def notes(self) -> list[str]:
        """The recipe: what each column is and how it was made; of many runs first how many differ."""
        v = self.versus
        average = IN_WORDS[self.matrix.aggregate]
        amount = "ratio" if self.matrix.aggregate == "geometric" else "Δ"
        seen = f" (the best {average}, picked after seeing the scores"
        chosen = "" if self.chosen else f"{seen})" if v.within is None else f"{seen}: p holds for all pairs of runs)"
        notes = [self.verdict] if len(v) > 1 else []
        notes += [
            f"low, high: {self.interval.recipe}, of each {average} alone; runs whose intervals overlap may still "
            "differ",
            f"{amount}, p, effect (mean/sd of the differences), wins, ties, losses: against {self.baseline}{chosen}",
            *v.averaging_notes(),
            f"{v.recipe}; n = {v.n:,} topics; {v.family(self.correction, self.alpha)}",
        ]
        each = "ratio" if amount == "ratio" else "difference"
        if self.power is not None:
            notes.append(
                f"found from: a true {each} of this size is found with power {self.power:g} by a t test in the family "
                f"of p at α = {self.alpha:g}, if differences vary as seen here; smaller ones are easily missed"
            )
        notes += v.remarks(self.correction, self.alpha)
        notes += self._letter_notes()
        return notes if self.matrix.signature == self.matrix.measure else [*notes, self.matrix.signature]

    def _letter_notes(self) -> list[str]:
        """What the letters mean, and that they rest on another family of tests than p, where they do."""
        if self.pairs is None or self.letters is None:
            return []
        meaning = f"runs that share one are not significantly different at α = {self.alpha:g}, two-sided"
        if self.is_one_family or len(self.pairs) == 1:
            return [f"letters: {meaning}"]
        return [
            f"letters: {meaning}; {self.pairs.family(self.correction, self.alpha)}",
            f"two families of tests: p is of the {len(self.versus)} tests against {self.baseline}, letters of all "
            f"{len(self.pairs)} pairs; a run may be significant in one family and not in the other",
            *(n for n in self.pairs.remarks(self.correction, self.alpha) if n.startswith("too few")),
        ]

    def evidence(self, run: str) -> Evidence:
        """What is known of a run against the baseline."""
        return self.versus.evidence([self.versus.runs[i] for i in self.versus.first].index(run))

    def _against(
        self, place: int | None, amounts: Sequence[Floats | None], corrected_p: Floats
    ) -> list[float | int | None]:
        """Difference or ratio, p, effect, wins, ties, losses of one row; nothing for the baseline itself."""
        v = self.versus
        if place is None or v.wins is None or v.losses is None:
            return [None] * 8
        wins = int(v.wins[place])
        losses = int(v.losses[place])
        shown = [None if amount is None else amount[place] for amount in amounts]
        return [*shown, corrected_p[place], v.effect[place], wins, v.n - wins - losses, losses]


def compare(
    scores: Any,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str = AUTO,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    interval: str = AUTO,
    letters: bool = True,
    pairs: bool = False,
    resamples: int = RESAMPLES,
    columns: Named = None,
    seed: int = 0,
    jobs: int = 1,
    engine: Any = None,
    progress: Progress = silent,
) -> Leaderboard:
    """Runs by mean, tested against the baseline or, where none is named, all against all, and the best shown.

    scores: a ScoreMatrix, what `assay.evaluate` returns for one measure, {run: {topic: score}}, a data frame or a path.
    columns: our column → that of a table, e.g. {"run": "model"}.
    `.verdict` is the finding in a sentence. With a baseline the family is every other run against it; without one it is
    all pairs, since the best run is picked after seeing the scores. correction: max-t for the t test (step-down over
    sign flips of topics; Holm below 10 topics and above 500 runs), Holm for other tests, or another that is named;
    letters are always of all pairs and two-sided. interval: `auto` goes with test and correction, and holds for all
    differences at once with max-t, Holm and Bonferroni; a kind that is named holds for each alone. Intervals have level
    1 − alpha and stay within the range of the measure where that is known; differences that show too few values have
    Dirichlet bounds. A measure that is a geometric mean is tested on logs, and shown with ratios; sums are tested as
    means; medians are an error. `pairs` also prepares the table of all pairs, with intervals. Pairs are tested by
    `jobs` processes or by the engine, see `assay.engine`.

    >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9], [0.4, 0.4, 0.6]], runs=["new", "old"])
    >>> compare(m, baseline="old").verdict.partition("; ")[0]
    'new and old are not shown to differ: +.200 [−.048, .448], p = .0742 (paired t test, 3 topics)'
    """
    matrix = score_matrix_of(scores, columns=columns)
    if len(matrix.runs) < 2:
        raise DataError(f"{matrix.measure}: {len(matrix.runs)} run; a comparison needs at least two")
    simultaneous = is_simultaneous(test)
    if not simultaneous:
        _check_side(alternative, baseline)
    ordered = by_average(matrix)
    against = ordered.runs[0] if baseline is None else baseline
    how: dict[str, Any] = {"level": 1 - checked_share(alpha, "alpha"), "resamples": resamples, "seed": seed}
    by = chosen_correction("holm" if correction == AUTO and simultaneous else correction, test)
    ends = _intervals(ordered, _kind_of_means(interval, test), how)
    picked = baseline is None and len(ordered.runs) > 2
    tested: PairsResult | None = None
    if simultaneous or letters or pairs or picked:
        sides = alternative if simultaneous else "two-sided"
        more: dict[str, Any] = {"jobs": jobs, "progress": progress, "correction": by, **how}
        with engine_for(engine, jobs):
            tested = all_pairs(ordered, test, alternative=sides, interval=interval if pairs else None, **more)
    if tested is not None and simultaneous:
        versus = versus_of_all(tested, ordered, against)
    else:
        versus = versus_baseline(
            ordered, against, test, correction=by, alternative=alternative, interval=interval,
            within=tested if picked else None, **how,
        )  # fmt: skip
    groups = None
    if tested is not None and letters:
        groups = compact_letters(tested.square(tested.corrected()) < alpha)
    return Leaderboard(ordered, against, baseline is not None, ends, versus, tested, groups, by, alpha)


def _check_side(alternative: str, baseline: str | None) -> None:
    """An error for a one-sided test against a run that is picked after seeing the scores."""
    if checked_alternative(alternative) != "two-sided" and baseline is None:
        raise UsageError(
            f"alternative {alternative}: a one-sided test needs a baseline that is named beforehand, and the best run "
            "is known only afterwards; name the baseline"
        )


def _kind_of_means(interval: str, test: str) -> str:
    """The kind of interval of a run's mean: that of the test, a t interval for tests of all pairs at once."""
    if interval != AUTO:
        return interval
    return "t" if is_simultaneous(test) else interval_of(test)


def _intervals(matrix: ScoreMatrix, interval: str, how: Mapping[str, Any]) -> Intervals:
    """The interval of every run's average, within the range of the measure."""
    limits = possible_scores(matrix)
    of_means = None if matrix.aggregate == "geometric" else limits
    ends = interval_within(for_tests_of_means(matrix).values, interval, of_means, **how)
    topics = matrix.shape[1]
    low, high = (from_means(end, matrix.aggregate, topics) for end in (ends.low, ends.high))
    if limits is not None and matrix.aggregate == "sum":
        limits = (limits[0] * topics, limits[1] * topics)
    return cut(replace(ends, low=low, high=high), limits)
