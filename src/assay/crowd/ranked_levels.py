"""What does each ranked doc add to the score of its topic, by the level that it turns out to have?

Only of measures that are sums over ranks (P, DCG, RBP …): their scores under any shares of levels, such as
probabilities or gains that are corrected by gold docs, are sums of what each doc adds times its share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import UsageError
from assay.crowd.uncertain import Uncertain
from assay.data.aligned import Match
from assay.data.grades import UNJUDGED, Grades
from assay.measures import MEASURES, Measure
from assay.scoring import Aligned, Policy
from assay.scoring.policy import prepared

CELLS = 1 << 21
"""Grades that are held at a time."""


@dataclass(frozen=True, eq=False)
class RankedLevels:
    """Of each run its ranked docs with labels: topic, row in the judgments, rank, and what each level of it adds."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    topic_of_doc: Ints
    topic: tuple[Ints, ...]
    row: tuple[Ints, ...]
    rank: tuple[Ints, ...]
    added: tuple[Floats, ...]
    """Per run: ranked docs × levels."""

    def scores(self, shares: Floats) -> Floats:
        """Runs × topics: the scores under shares of the levels, docs × levels."""
        rows = []
        for topic, row, added in zip(self.topic, self.row, self.added, strict=True):
            per_doc = (shares[row] * added).sum(axis=1)
            rows.append(np.bincount(topic, per_doc, minlength=len(self.topics)))
        return np.array(rows)

    def counted(self) -> Bools:
        """Which docs can change a score of any run."""
        counts = np.zeros(len(self.topic_of_doc), dtype=bool)
        for row, added in zip(self.row, self.added, strict=True):
            counts[row[added.any(axis=1)]] = True
        return counts

    def root_ranks(self) -> Floats:
        """Docs × runs: 1/√rank, 0 for docs that a run lacks."""
        found = np.zeros((len(self.topic_of_doc), len(self.runs)))
        for run, (row, rank) in enumerate(zip(self.row, self.rank, strict=True)):
            found[row, run] = 1 / np.sqrt(rank + 1)
        return found

    def highest(self, levels: int) -> float:
        """The highest score that any list of a run could have: all its docs on the top level."""
        top = np.zeros((len(self.topic_of_doc), levels))
        top[:, -1] = 1.0
        return float(self.scores(top).max(initial=0.0))


def ranked_levels(runs: Any, judgments: Uncertain, measure: Measure) -> RankedLevels:
    """The runs joined with judgments that have levels, for a measure that adds up its ranks."""
    refuse_other_than_sums(measure)
    aligned = Aligned.of(runs, judgments.qrels())
    levels = judgments.levels
    rules = replace(aligned.policy, top=max(1.0, float(levels.max())))
    seen: dict[int, Floats] = {}
    added = tuple(_added(match, measure, levels, rules, seen) for match in aligned.matches)
    return RankedLevels(
        runs=aligned.names,
        topics=aligned.qrels.topics,
        topic_of_doc=aligned.qrels.topic_of_row(),
        topic=tuple(match.topic for match in aligned.matches),
        row=tuple(match.judged_as for match in aligned.matches),
        rank=tuple(match.rank for match in aligned.matches),
        added=added,
    )


def refuse_other_than_sums(measure: Measure) -> None:
    """An error for a measure that is no mean of sums over the ranks of a list."""
    facts = measure.entry.facts
    plain = not measure.condensed and not measure.form and measure.aggregate == "mean"
    if plain and facts.get("linear") and facts.get("bounded"):
        return
    sums = ", ".join(entry.name for entry in MEASURES if entry.facts.get("linear") and entry.facts.get("bounded"))
    instead = "; take DCG with the same cutoff" if measure.name == "nDCG" else ""
    raise UsageError(f"{measure}: gold docs correct only scores that add up their ranks ({sums}){instead}")


def _added(match: Match, measure: Measure, levels: Floats, rules: Policy, seen: dict[int, Floats]) -> Floats:
    """Ranked docs × levels: what each adds to its score; seen: by the length of the list."""
    length = np.append(match.run.sizes, 0)[match.topic_in_run][match.topic]
    found = np.zeros((len(match.rank), len(levels)))
    for size in np.unique(length).tolist():
        if size not in seen:
            seen[size] = _of_ranks(size, measure, levels, rules)
        here = (length == size) & (match.rank < len(seen[size]))
        found[here] = seen[size][match.rank[here]]
    return found


def _of_ranks(size: int, measure: Measure, levels: Floats, rules: Policy) -> Floats:
    """Ranks × levels: the score of a list of this length whose only doc with a label is that."""
    depth = min(size, measure.k or size)
    at_once = max(1, CELLS // max(1, depth * len(levels)))
    parts = [_scores_of_one(ranks, depth, size, measure, levels, rules) for ranks in chunks(depth, at_once)]
    return np.concatenate([np.zeros((0, len(levels))), *parts])


def _scores_of_one(ranks: slice, depth: int, size: int, measure: Measure, levels: Floats, rules: Policy) -> Floats:
    """The scores of lists with one doc on one of these ranks and nothing else, less that of a list with nothing."""
    place = np.repeat(np.arange(ranks.start, ranks.stop), len(levels))
    lists = len(place) + 1
    ranked = np.full((lists, depth), float(UNJUDGED))
    ranked[np.arange(len(place)), place] = np.tile(levels, ranks.stop - ranks.start)
    table = Grades(
        topics=("",) * lists,
        ranked=ranked,
        retrieved=np.full(lists, size),
        ideal=np.full((lists, 1), float(UNJUDGED)),  # sums look at no ideal list
        top=float(levels.max()),
    )
    scores = measure(prepared(table, rules))
    return (scores[:-1] - scores[-1]).reshape(-1, len(levels))
