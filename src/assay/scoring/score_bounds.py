"""Between which scores would judging the unjudged docs leave a run?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.engine import ordered_map
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.aligned import Match
from assay.data.scores import Scores
from assay.measures import Measure
from assay.measures.bounds import bounds_of
from assay.scoring.evaluation import Aligned
from assay.scoring.policy import Policy, prepared, refuse_lost_grades
from assay.scoring.run_scores import RunScores, blocks_of_topics, parsed, score_matrices


@dataclass(frozen=True, eq=False)
class ScoreBounds(Result):
    """Scores with the unjudged docs not relevant, and with all of them (past the end of a list too) of the top grade.

    `kinds` says for each measure whether the two are the ends of a range, or only two scenarios, and `reasons` why.

    >>> from assay.data import Qrels, Run
    >>> run = Run.from_lists("r", {"1": ["a", "x"]})
    >>> print(bounds(Aligned.of([run], Qrels.from_dict({"1": {"a": 1}})), "P@2").table().csv())
    run,measure,low,high,kind
    r,P@2,0.5,1.0,range
    """

    low: Scores
    high: Scores
    kinds: tuple[str, ...]
    reasons: tuple[str, ...]

    def table(self) -> Table:
        """One row per run and measure."""
        rows = []
        columns = zip(self.low.measures, self.low.averages(), self.high.averages(), self.kinds, strict=True)
        for measure, lows, highs, kind in columns:
            for run, low, high in zip(self.low.runs, lows, highs, strict=True):
                rows.append((run, measure, low, high, kind))
        formats = {"run": "", "measure": "", "unjudged not relevant": ".4f", "unjudged top grade": ".4f", "is a": ""}
        keys = {"unjudged not relevant": "low", "unjudged top grade": "high", "is a": "kind"}
        notes = [f"{name}: {why}" for name, why in zip(self.low.measures, self.reasons, strict=True) if why]
        return Table.of(formats, rows, caption="What the unjudged docs could change", notes=notes, keys=keys)


def bounds(aligned: Aligned, measures: str | Measure | Sequence[str | Measure], *, jobs: int = 1) -> ScoreBounds:
    """The scores of aligned runs between which judging their unjudged docs would leave them.

    >>> from assay.data import Qrels, Run
    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}})
    >>> aligned = Aligned.of([Run.from_lists("r", {"1": ["a", "x", "b"]})], qrels)
    >>> found = bounds(aligned, "P@4")
    >>> found.low[0].values.tolist(), found.high[0].values.tolist(), found.kinds
    ([[0.25]], [[0.75]], ('range',))
    """
    rules = aligned.policy
    if rules.condensed or rules.unjudged != "0":
        raise UsageError("bounds say what the unjudged docs could change; a condensed list has none, leave that out")
    wanted = parsed(measures)
    refuse_lost_grades(wanted, rules)
    found = ordered_map(lambda joined: _bounds_of_run(joined, wanted, rules), aligned.matches, jobs=jobs, forks=True)
    low, high = (
        score_matrices([ends[side] for ends in found], aligned.qrels, wanted, policy, aligned.names)
        for side, policy in ((0, rules), (1, replace(rules, unjudged="top")))
    )
    kinds = [_kind_of(measure, aligned) for measure in wanted]
    return ScoreBounds(low, high, tuple(kind for kind, _ in kinds), tuple(why for _, why in kinds))


def _kind_of(measure: Measure, aligned: Aligned) -> tuple[str, str]:
    """Whether the two scores of a measure are a range or two scenarios, and why."""
    no_topics = aligned.matches[0].grades(topics=slice(0, 0))
    found = bounds_of(measure, no_topics)
    return found.kind, found.why


def _bounds_of_run(joined: Match, measures: Sequence[Measure], policy: Policy) -> tuple[RunScores, RunScores]:
    """The lowest and the highest scores of one run, a block of topics at a time."""
    lows, highs = [], []
    for block in blocks_of_topics(joined):
        grades = prepared(joined.grades(topics=block), policy)
        ends = [bounds_of(measure, grades, seed=policy.seed) for measure in measures]
        lows.append(np.array([end.low for end in ends]).reshape(len(measures), -1))
        highs.append(np.array([end.high for end in ends]).reshape(len(measures), -1))
    nothing = np.zeros((len(measures), 0))
    missing = joined.topic_in_run < 0
    ties = (policy.ties,) * len(measures)
    return (
        RunScores(joined.run.name, np.concatenate([nothing, *lows], axis=1), missing, ties),
        RunScores(joined.run.name, np.concatenate([nothing, *highs], axis=1), missing, ties),
    )
