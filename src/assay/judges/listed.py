"""What would each run score under the labels of each judge? The runs joined once, and scored under any grades.

Where the flow stands: runs × labelled pairs → **lists of pairs** → one score matrix for the people and one per judge.
All runs are scored as one table of grades, so that a judge costs one call of the measure, and so does a reranking.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.agreement.scales import Scale
from assay.core.arrays import Codes, Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.data import ScoreMatrix
from assay.data.aligned import Match
from assay.data.given import as_grades, small_grades
from assay.data.grades import UNJUDGED, Grades
from assay.data.tested_means import refuse_other_averages
from assay.io.column_names import Named
from assay.judges.labelled_pairs import HUMAN, POOLED, Labelled
from assay.measures import Measure
from assay.scoring import Aligned, Policy
from assay.scoring.policy import prepared
from assay.scoring.run_scores import parsed

NO_PAIR, PAST_END = -1, -2
"""In the lists: a doc that nobody labelled, and no doc."""
CELLS = 1 << 21
"""Ranked and ideal grades that are held at a time."""


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Runs × topics × ranks: which pair stands there, NO_PAIR or PAST_END."""

    pairs: Labelled
    runs: tuple[str, ...]
    at: Codes
    retrieved: Ints
    policy: Policy

    def human(self, measure: Measure) -> ScoreMatrix:
        """The scores under the human grades."""
        return self.scores(self.pairs.human, self.pairs.scale, measure, HUMAN)

    def machine(self, measure: Measure, judge: int) -> ScoreMatrix:
        """The scores under the labels of one judge."""
        pairs = self.pairs
        return self.scores(pairs.machine[judge], pairs.scales[judge], measure, pairs.judges[judge])

    def scores(
        self, grades: Floats, scale: Scale, measure: Measure, whose: str, at: Codes | None = None
    ) -> ScoreMatrix:
        """The scores of all runs under these grades of the pairs (NaN: not judged); at: the lists in another order."""
        known = small_grades(as_grades(np.where(np.isnan(grades), POOLED, grades), whose))
        lists = self.at if at is None else at
        ideal = self.ideal(known)
        policy = replace(self.policy, top=None if self.policy.binary is not None else scale.high)
        values = np.zeros((len(self.runs), len(self.pairs.topics)))
        for block in self._blocks(ideal.shape[1]):
            table = self._grades(known, lists[block], self.retrieved[block], ideal, scale.high)
            values[block] = measure(prepared(table, policy)).reshape(values[block].shape)
        signature = f"{self.policy.signature(measure)}|judged:{whose}"
        return ScoreMatrix(self.runs, self.pairs.topics, values, str(measure), signature)

    def reranked(self, labels: Floats, k: int) -> Codes:
        """The lists with the first k docs of each in the order of these labels, best first; ties stay as they were."""
        first = self.at[:, :, :k]
        behind_all = -np.inf
        extended = np.append(np.where(np.isnan(labels), behind_all, labels), [behind_all, behind_all])
        # NO_PAIR and PAST_END, −1 and −2, are the last two places; what is past the end stays behind.
        value = extended[first]
        order = np.lexsort((np.broadcast_to(np.arange(first.shape[2]), first.shape), -value, first == PAST_END), axis=2)
        return np.concatenate([np.take_along_axis(first, order, axis=2), self.at[:, :, k:]], axis=2)

    def ideal(self, grades: Any) -> Any:
        """topics × most pairs: the grades of each topic, best first."""
        pairs = self.pairs
        best_first = np.lexsort((-grades, pairs.topic))
        sizes = np.diff(pairs.bounds)
        table = np.full((len(pairs.topics), int(sizes.max(initial=0))), UNJUDGED, dtype=grades.dtype)
        place = np.arange(len(grades)) - pairs.bounds[pairs.topic]
        table[pairs.topic, place] = grades[best_first]
        return table

    def _grades(self, known: Any, at: Codes, retrieved: Ints, ideal: Any, top: float) -> Grades:
        """The grades of some runs on all topics, a row for each run and topic."""
        extended = np.append(known, np.array([UNJUDGED, UNJUDGED], dtype=known.dtype))
        ranked = extended[at].reshape(-1, at.shape[2])
        return Grades(
            topics=self.pairs.topics * len(at),
            ranked=ranked,
            retrieved=retrieved.reshape(-1),
            ideal=np.tile(ideal, (len(at), 1)),
            top=top,
        )

    def _blocks(self, ideal_depth: int) -> Iterator[slice]:
        per_run = len(self.pairs.topics) * (self.at.shape[2] + ideal_depth)
        return chunks(len(self.runs), max(1, CELLS // max(1, per_run)))


def listed(
    runs: Any, pairs: Labelled, *, policy: Policy | None = None, columns: Named = None, jobs: int = 1
) -> ListedPairs:
    """The runs joined with all pairs that somebody labelled; runs are as `assay.evaluate` takes them."""
    asked = policy or Policy()
    if asked.ties == "average":
        raise UsageError("ties='average' is not offered here; choose an order of tied docs, such as 'docid'")
    if asked.missing != "zero":
        raise UsageError(f"missing={asked.missing!r} is not offered here; a topic that a run lacks scores 0")
    aligned = Aligned.of(runs, pairs.qrels(pairs.human), policy=replace(asked, top=None), columns=columns, jobs=jobs)
    if not aligned.names:
        raise DataError("there are no runs to score; give some")
    depth = max(int(match.run.sizes.max(initial=0)) for match in aligned.matches)
    shape = (len(aligned.names), len(pairs.topics))
    at = np.full((*shape, depth), PAST_END, dtype=np.int32)
    retrieved = np.zeros(shape, dtype=np.int64)
    for r, match in enumerate(aligned.matches):
        retrieved[r] = _sizes(match)
        if not retrieved[r].any():
            raise DataError(f"run {aligned.names[r]!r} has none of the {shape[1]} topics with labels")
        inside = np.arange(depth)[None, :] < retrieved[r][:, None]
        at[r][inside] = NO_PAIR
        at[r, match.topic, match.rank] = match.judged_as
    return ListedPairs(pairs, aligned.names, at, retrieved, asked)


def _sizes(match: Match) -> Ints:
    """The docs that a run has for each topic; none of a topic that it lacks."""
    return np.append(match.run.sizes, 0)[match.topic_in_run]


def one_measure(measure: str | Measure) -> Measure:
    """The one measure that a text names."""
    found = parsed(measure)
    if len(found) != 1:
        raise UsageError(f"one measure is needed, not {len(found)}: {', '.join(map(str, found))}")
    if found[0].uses_lengths:
        raise UsageError(f"{found[0]} needs the lengths of docs, which are not known here; choose another measure")
    refuse_other_averages(str(found[0]), found[0].aggregate, "what is said of judges")
    return found[0]
