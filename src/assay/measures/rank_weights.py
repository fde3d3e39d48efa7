"""How much does each rank count? The weight of every rank under measures that are weighted sums over the ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.grades import Grades
from assay.measures.base import Measure


@dataclass(frozen=True, eq=False)
class RankWeights(Result):
    """What one relevant doc adds to the score at each rank, by measure."""

    measures: tuple[str, ...]
    weights: Floats
    """Measures × ranks, from rank 1."""

    def table(self) -> Table:
        """One row per rank, one column per measure."""
        columns = {"rank": "d", **dict.fromkeys(self.measures, ".5f")}
        ranks = range(1, self.weights.shape[1] + 1)
        rows = [(rank, *of_rank) for rank, of_rank in zip(ranks, self.weights.T.tolist(), strict=True)]
        caption = "Weight of each rank: what one relevant doc there adds to the score"
        return Table.of(columns, rows, caption=caption)


def rank_weights(measures: Sequence[Measure], *, depth: int = 20) -> RankWeights:
    """The weights of the first `depth` ranks: the score of a list whose only relevant doc is at that rank.

    Only of measures that are weighted sums over the ranks (P, DCG, RBP …): under others, such as AP, what a doc adds
    depends on the docs above it. Webber 2010, Fig. 3.7.

    >>> from assay.measures import parse
    >>> rank_weights([parse("RBP(p=0.5)"), parse("P@2")], depth=3).weights.tolist()
    [[0.5, 0.25, 0.125], [0.5, 0.5, 0.0]]
    """
    if not measures or depth < 1:
        raise UsageError("name at least one measure and one rank")
    for measure in measures:
        if not measure.entry.facts.get("linear") or measure.condensed:
            raise UsageError(f"{measure} is not a weighted sum over the ranks; name others, e.g. P@10, DCG or RBP")
    weights = np.array([measure(_one_doc_each(depth, 1)) for measure in measures])
    with_more = np.array([measure(_one_doc_each(depth, 2)) for measure in measures])
    for measure, is_fixed in zip(measures, (weights == with_more).all(axis=1), strict=True):
        if not is_fixed:
            raise UsageError(f"{measure} divides by what is relevant: its ranks have no weights of their own")
    return RankWeights(tuple(str(measure) for measure in measures), weights)


def _one_doc_each(depth: int, relevant: int) -> Grades:
    """A list for each rank whose only relevant doc is there, of a topic with that many relevant docs."""
    return Grades(
        topics=tuple(str(rank) for rank in range(1, depth + 1)),
        ranked=np.eye(depth, dtype=np.int64),
        retrieved=np.full(depth, depth, dtype=np.int64),
        ideal=np.ones((depth, relevant), dtype=np.int64),
    )
