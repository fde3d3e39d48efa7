"""Between which scores would judging the unjudged docs leave a run?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import ordered_map
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.aligned import Match
from assay.data.scores import Scores
from assay.measures import Measure
from assay.measures.bounds import bounds_of
from assay.scoring.evaluation import Aligned
from assay.scoring.policy import Policy, prepared, refuse_unscorable
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
        notes = []
        for measure, why in zip(self.low.measures, self.reasons, strict=True):
            if why:
                notes.append(f"{measure}: {why}")
        formats = {"run": "", "measure": "", "unjudged not relevant": ".4f", "unjudged top grade": ".4f", "is a": ""}
        keys = {"unjudged not relevant": "low", "unjudged top grade": "high", "is a": "kind"}
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
    refuse_unscorable(wanted, rules, aligned.qrels)
    ends = ordered_map(lambda joined: _bounds_of_run(joined, wanted, rules), aligned.matches, jobs=jobs, forks=True)
    lows = [low for low, _ in ends]
    highs = [high for _, high in ends]
    supposed_top = replace(rules, unjudged="top")
    kinds = []
    reasons = []
    for measure in wanted:
        kind, why = _kind_of(measure, aligned)
        kinds.append(kind)
        reasons.append(why)
    return ScoreBounds(
        low=score_matrices(lows, aligned.qrels, wanted, rules, aligned.names),
        high=score_matrices(highs, aligned.qrels, wanted, supposed_top, aligned.names),
        kinds=tuple(kinds),
        reasons=tuple(reasons),
    )


def _kind_of(measure: Measure, aligned: Aligned) -> tuple[str, str]:
    """Whether the two scores of a measure are a range or two scenarios, and why."""
    no_topics = aligned.matches[0].grades(topics=slice(0, 0))
    found = bounds_of(measure, no_topics)
    return found.kind, found.why


def _bounds_of_run(joined: Match, measures: Sequence[Measure], policy: Policy) -> tuple[RunScores, RunScores]:
    """The lowest and the highest scores of one run, a block of topics at a time."""
    nothing = np.zeros((len(measures), 0))
    lows = [nothing]
    highs = [nothing]
    for block in blocks_of_topics(joined):
        grades = prepared(joined.grades(topics=block), policy)
        shape = (len(measures), len(grades.topics))
        ends = [bounds_of(measure, grades, seed=policy.seed) for measure in measures]
        lows.append(np.array([end.low for end in ends]).reshape(shape))
        highs.append(np.array([end.high for end in ends]).reshape(shape))

    def of_run(blocks: list[Floats]) -> RunScores:
        values = np.concatenate(blocks, axis=1)
        missing = joined.topic_in_run < 0
        return RunScores(joined.run.name, values, missing, (policy.ties,) * len(measures))

    return of_run(lows), of_run(highs)
