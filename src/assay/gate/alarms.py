"""Can the scores be trusted? Alarms where ids stopped matching the judgments or too few docs are judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools
from assay.core.errors import DataError, UsageError
from assay.data.aligned import Match
from assay.data.runs import Run
from assay.data.topic_rows import counted
from assay.stats.t_power import between

JUDGED_DEPTH = 10
"""Ranks of each topic in which judged docs are counted."""
MIN_JUDGED = 0.0
"""The least share of judged docs. None by default: where one doc of each topic is judged, no run has more."""
MAX_JUDGED_DROP = 0.1
"""How far the share of judged docs may fall below the baseline's."""
MOST_MISSING = 0.5
"""A new run that lacks a larger share of the baseline's topics is taken for a broken one."""
SHOWN = 5
"""Ids that an alarm names."""


@dataclass(frozen=True)
class Alarm:
    """Something that makes the scores doubtful. outcome: what it makes of the gate, `remark` if nothing.

    `fail`: ids do not match any more. `undecided`: too few docs are judged for the score to mean anything.

    >>> Alarm("topics", "remark", "new lacks 1 topic (7)").line()
    'remark: new lacks 1 topic (7)'
    """

    name: str
    outcome: str
    what: str

    def line(self) -> str:
        """The alarm as one line of a report."""
        return f"remark: {self.what}" if self.outcome == "remark" else f"alarm: {self.what}"


@dataclass(frozen=True)
class JudgedRule:
    """How many docs must be judged: the least share of the top k, and the largest fall below the baseline's share.

    >>> JudgedRule.of(min_judged=0.5)
    JudgedRule(least=0.5, drop=0.1, k=10)
    """

    least: float = MIN_JUDGED
    drop: float = MAX_JUDGED_DROP
    k: int = JUDGED_DEPTH

    @classmethod
    def of(
        cls, min_judged: float | None = None, max_judged_drop: float | None = None, judged_depth: int | None = None
    ) -> JudgedRule:
        """A rule from what a person gives; what is None keeps its default."""
        rule = cls(
            MIN_JUDGED if min_judged is None else min_judged,
            MAX_JUDGED_DROP if max_judged_drop is None else max_judged_drop,
            JUDGED_DEPTH if judged_depth is None else judged_depth,
        )
        for name, share in (("min-judged", rule.least), ("max-judged-drop", rule.drop)):
            if share not in (0, 1):
                between(name, share)
        if rule.k < 1:
            raise UsageError(f"judged-depth: must be at least 1 (got {rule.k})")
        return rule


@dataclass(frozen=True)
class JudgedShares:
    """The share of judged docs among those retrieved in the top k: of the new run and of the baseline."""

    new: float
    baseline: float
    k: int

    @classmethod
    def of(cls, new: Match, baseline: Match, k: int) -> JudgedShares:
        """The shares of two runs."""
        return cls(judged_share(new, k), judged_share(baseline, k), k)


def judged_share(joined: Match, k: int) -> float:
    """Of the docs that a run has in the top k of the topics of the qrels, the share that is judged; 0 without docs."""
    grades = joined.grades()
    retrieved = int(grades.inside(k).sum())
    return int(grades.judged(k).sum()) / max(1, retrieved)


def alarms_of(new: Match, baseline: Match, names: tuple[str, str], rule: JudgedRule) -> tuple[Alarm, ...]:
    """All that is odd about a new run beside its baseline, on the same judgments.

    A baseline that does not match the judgments is an error: there is nothing to compare with.
    """
    _check_baseline(baseline, names[1])
    broken = _broken(new, baseline, names)
    if broken is not None:
        return (broken,)
    found = [*_topic_remarks(new, baseline, names)]
    found += _few_judged(JudgedShares.of(new, baseline, rule.k), names, rule)
    if is_same_ranking(new.run, baseline.run):
        found.append(Alarm("identical", "remark", f"{names[0]} is identical to {names[1]}: the same docs in one order"))
    return tuple(found)


def same_scores_remark(names: tuple[str, str]) -> Alarm:
    """That two runs whose docs are not known have the same scores."""
    return Alarm("identical", "remark", f"{names[0]} and {names[1]} have the same score on every topic")


def is_same_ranking(first: Run, second: Run) -> bool:
    """Whether two runs have the same docs in the same order for the same topics, whatever their scores."""
    if first.topics != second.topics or not np.array_equal(first.bounds, second.bounds):
        return False
    return bool(first.docs.same_as(second.docs).all())


def has_no_topic(joined: Match) -> bool:
    """Whether a run has none of the topics of the qrels."""
    return bool((joined.topic_in_run < 0).all())


def _check_baseline(baseline: Match, name: str) -> None:
    qrels = baseline.qrels.name
    if has_no_topic(baseline):
        raise DataError(f"baseline {name!r} has none of the {len(baseline.qrels.topics)} topics of {qrels}")
    if not baseline.grades().judged().any():
        raise DataError(f"baseline {name!r}: none of its docs is judged in {qrels}; check that the ids are of one kind")


def _broken(new: Match, baseline: Match, names: tuple[str, str]) -> Alarm | None:
    """The alarm that a new run does not match the judgments any more, if so."""
    qrels = new.qrels
    had = baseline.topic_in_run >= 0
    lost = had & (new.topic_in_run < 0)
    if has_no_topic(new):
        what = f"{names[0]} has none of the {len(qrels.topics)} topics of {qrels.name}{_some(new.run.topics)}"
        return Alarm("topics", "fail", f"{what}; were the ids of topics changed?")
    if lost.sum() > MOST_MISSING * had.sum():
        what = f"{names[0]} lacks {lost.sum()} of the {had.sum()} topics that {names[1]} has"
        return Alarm("topics", "fail", f"{what}{_some(_chosen(qrels.topics, lost))}; is the run whole?")
    if not new.grades().judged().any():
        what = f"none of the docs of {names[0]} is judged in {qrels.name}, of {names[1]} some are"
        return Alarm("docs", "fail", f"{what}; were the ids of docs changed?")
    return None


def _topic_remarks(new: Match, baseline: Match, names: tuple[str, str]) -> Iterator[Alarm]:
    qrels = new.qrels
    lost = (baseline.topic_in_run >= 0) & (new.topic_in_run < 0)
    if lost.any():
        what = f"{names[0]} lacks {counted(int(lost.sum()), 'topic')} that {names[1]} has, with a score of 0"
        yield Alarm("topics", "remark", what + _some(_chosen(qrels.topics, lost)))
    known = {*qrels.topics, *baseline.run.topics}
    extra = [topic for topic in new.run.topics if topic not in known]
    if extra:
        what = f"{names[0]} has {counted(len(extra), 'topic')} without judgments, left out"
        yield Alarm("topics", "remark", what + _some(extra))


def _few_judged(shares: JudgedShares, names: tuple[str, str], rule: JudgedRule) -> Iterator[Alarm]:
    judged = f"{_percent(shares.new)} of the top {rule.k} of {names[0]} are judged"
    if shares.new < rule.least:
        yield Alarm("judged", "undecided", f"{judged}, less than {_percent(rule.least)}: its score means little")
    elif shares.baseline - shares.new > rule.drop:
        of_baseline = f"and {_percent(shares.baseline)} of {names[1]}"
        allowed = f"a fall of more than {100 * rule.drop:g} points"
        yield Alarm("judged", "undecided", f"{judged} {of_baseline}, {allowed}: the two scores are not comparable")


def _chosen(topics: Sequence[str], mask: Bools) -> list[str]:
    return [topics[i] for i in np.flatnonzero(mask).tolist()]


def _some(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > SHOWN else ""
    return f" ({', '.join(ids[:SHOWN])}{more})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
