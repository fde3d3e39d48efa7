"""What does the pool hide? Each run (or group) left out of the pool in turn: what it alone found, and what it loses.

Where it stands: lists with judgments → **leave-one-out** → the adjustment in `adjust`. The judged docs that only the
left-out run has in the first `depth` are hidden, as if never judged, and the run is scored again. What nobody judged
in the first place counts as not relevant throughout: a change is due to the hidden docs alone (Webber 2010, ch. 6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.arrays import Bools, Codes, Floats, Ints
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data import Qrels
from assay.data.averages import averaged, averages_of
from assay.data.lists import Lists
from assay.measures import parse
from assay.pooling.ceiling import ceiling
from assay.pooling.rescoring import check_judged, rescored, with_relevance, without
from assay.pooling.voters import Collected, contributors, lists_of


@dataclass(frozen=True, eq=False)
class LeftOut(Result):
    """Every run scored with the whole pool and with the pool that lacks it (or its group)."""

    runs: tuple[str, ...]
    groups: tuple[str, ...]
    alone: Ints
    relevant_alone: Ints
    pooled: Floats
    """Mean score with all judgments, unjudged docs not relevant."""
    unpooled: dict[str, Floats]
    """Mean score when left out: hidden docs "nonrelevant", or taken out of the list ("condensed")."""
    at_most: Floats
    """The highest mean score over all grades that the hidden docs could have; NaN where it is not known."""
    rank: Ints
    rank_unpooled: Ints
    measure: str
    depth: int
    by: str
    topics: int
    elsewhere: int = 0
    """Judged docs that no run has in its first `depth`: somebody else put them into the pool."""

    @property
    def loss(self) -> Floats:
        """Score left out minus score pooled, unjudged docs not relevant: the pool's bias against the run."""
        return self.unpooled["nonrelevant"] - self.pooled

    def of(self, runs: Sequence[str]) -> LeftOut:
        """The same for these runs only; their ranks stay those among all."""
        at = [self.runs.index(name) for name in runs]
        return replace(
            self,
            runs=tuple(self.runs[i] for i in at),
            groups=tuple(self.groups[i] for i in at),
            alone=self.alone[at],
            relevant_alone=self.relevant_alone[at],
            pooled=self.pooled[at],
            unpooled={how: scores[at] for how, scores in self.unpooled.items()},
            at_most=self.at_most[at],
            rank=self.rank[at],
            rank_unpooled=self.rank_unpooled[at],
        )

    def table(self) -> Table:
        """One row per run, the greatest loss first."""
        loss = self.loss
        change = np.divide(loss, self.pooled, out=np.zeros_like(loss), where=self.pooled > 0)
        most = [None if np.isnan(score) else score for score in self.at_most]
        columns = {
            "run": ("", self.runs),
            "group": ("", self.groups),
            "alone": ("d", self.alone),
            "relevant": ("d", self.relevant_alone),
            "pooled": (".4f", self.pooled),
            "left out": (".4f", self.unpooled["nonrelevant"]),
            "Δ": ("+.4f", loss),
            "Δ %": ("+.1f", 100 * change),
            "condensed": (".4f", self.unpooled["condensed"]),
            "at most": (".4f", most),
            "rank": ("d", self.rank),
            "then": ("d", self.rank_unpooled),
        }
        if self.groups == self.runs:
            del columns["group"]
        formats = {name: format for name, (format, _) in columns.items()}
        values_of_columns = [values for _, values in columns.values()]
        rows = list(zip(*values_of_columns, strict=True))
        greatest_loss_first = np.argsort(loss, kind="stable")
        return Table.of(
            formats,
            [rows[i] for i in greatest_loss_first],
            caption=f"Leave one {self.by} out, {self.measure}",
            notes=self.notes(),
            keys={"relevant": "relevant_alone", "left out": "unpooled", "then": "rank_unpooled"},
        )

    def notes(self) -> list[str]:
        """The recipe and the sum of it."""
        worst = int(self.loss.argmin())
        loss = shown(self.loss[worst], "+.4f")
        others = (
            f"{self.elsewhere} judged docs are in the first {self.depth} of no run given here: other runs were pooled "
            "too, or deeper; with their lists the losses would be smaller"
        )
        unknown = f"at most –: no bound is known for {self.measure}"
        return [
            f"pool depth {self.depth}, {self.topics} topics",
            f"alone: judged docs in the first {self.depth} of no other {self.by}; relevant: how many of them are",
            "left out: they count as not relevant; condensed: they are taken out of the list; at most: whatever their "
            "grades, the mean is not higher",
            *([unknown] if np.isnan(self.at_most).any() else []),
            "then: the rank left out, among the others with the whole pool",
            *([others] if self.elsewhere else []),
            f"mean Δ {shown(self.loss.mean(), '+.4f')}, greatest loss {loss} ({self.runs[worst]})",
        ]


def left_out(
    runs: Collected,
    measure: str = "AP",
    *,
    qrels: Qrels | None = None,
    groups: Mapping[str, str] | None = None,
    depth: int = 100,
    by: str = "run",
    rel: float | None = None,
) -> LeftOut:
    """Leave each run, or with by="group" each group, out of the pool of that depth, and score it again.

    runs: the pool's runs, with qrels, or lists of both; `known_pool` says whether they are the pool's. The judged docs
    that a run alone brought count as not relevant, or are taken out of its list (condensed); `at_most` is the highest
    score that any grades of them give, see `ceiling`. A run that alone retrieved a topic loses all judgments of that
    topic. One run (or group) alone has no pool to be left out of, and without judgments of its docs there is nothing to
    hide: both are errors. For measures that divide by the number of relevant docs, that number falls too.
    rel: the lowest relevant grade, by default that of the measure.

    >>> from assay.data import Qrels, Run
    >>> runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    >>> result = left_out(runs, "P@2", qrels=Qrels.from_dict({"1": {"x": 1, "y": 0, "z": 1}}), depth=2)
    >>> result.pooled.tolist(), result.unpooled["nonrelevant"].tolist()
    ([0.5, 0.5], [0.0, 0.0])
    """
    measure, lowest = with_relevance(measure, rel)
    lists = lists_of(runs, qrels, groups=groups)
    names, has = contributors(lists, depth, by=by)
    if len(names) < 2:
        raise DataError(f"one {by} alone ({names[0]}); leaving it out leaves no pool: give at least two {by}s")
    check_judged(lists)
    labels = lists.runs if by == "run" else lists.groups
    judged = lists.grades >= 0
    hidden = unique_items(has) & judged
    how_averaged = parse(measure).aggregate
    pooled = averages_of(rescored(lists, measure), how_averaged)
    unpooled = {how: np.zeros(len(lists.runs)) for how in ("nonrelevant", "condensed")}
    at_most = np.full(len(lists.runs), np.nan)
    for i, name in enumerate(names):
        members = [s for s, label in enumerate(labels) if label == name]
        bases = {"nonrelevant": lists.grades, "condensed": _filled(lists, members)}
        for how, base in bases.items():
            grades = without(base, hidden[i])
            scores = rescored(lists, measure, grades=grades, runs=members, unjudged=how)
            unpooled[how][members] = averages_of(scores, how_averaged)
        for run in members:
            highest = ceiling(lists, measure, run, hidden[i])
            at_most[run] = np.nan if highest is None else averaged(highest, how_averaged)
    place = [names.index(label) for label in labels]
    rank, rank_unpooled = _ranks(pooled, unpooled["nonrelevant"])
    return LeftOut(
        runs=lists.runs,
        groups=lists.groups,
        alone=hidden.sum(axis=1)[place],
        relevant_alone=(hidden & lists.relevant(lowest)).sum(axis=1)[place],
        pooled=pooled,
        unpooled=unpooled,
        at_most=at_most,
        rank=rank,
        rank_unpooled=rank_unpooled,
        measure=measure,
        depth=depth,
        by=by,
        topics=len(lists.topics),
        elsewhere=int((judged & ~has.any(axis=0)).sum()),
    )


def _filled(lists: Lists, runs: list[int]) -> Codes:
    """The grades, those docs of the runs that nobody judged counting as judged and not relevant."""
    retrieved = np.zeros(lists.items, dtype=bool)
    for run in runs:
        start = lists.run_bounds[run]
        end = lists.run_bounds[run + 1]
        retrieved[lists.item[start:end]] = True
    return np.where(retrieved & ~lists.judged(), 0, lists.grades)


def unique_items(has: Bools) -> Bools:
    """Of a table contributors × items the items that one contributor alone has."""
    one_has_it = has.sum(axis=0) == 1
    return np.asarray(has & one_has_it)


def _ranks(pooled: Floats, unpooled: Floats) -> tuple[Ints, Ints]:
    """Rank of each run among all, and with its unpooled score among the others' pooled ones; ties share the best."""
    others_above = np.round(pooled - pooled[:, None], 12) > 0
    others_above_unpooled = np.round(pooled - unpooled[:, None], 12) > 0
    # A run that lost score is not behind itself.
    np.fill_diagonal(others_above_unpooled, False)
    return 1 + others_above.sum(axis=1), 1 + others_above_unpooled.sum(axis=1)
