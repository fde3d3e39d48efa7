"""Which topics tell good runs from bad, and which runs tell easy topics from hard? HITS on the matrix.

Mizzaro and Robertson 2007: topics point to runs with weight score - topic mean, runs point to topics with weight
score - run mean. The two halves of that graph do not touch, so each is solved by itself, as a singular value problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means


@dataclass(frozen=True, eq=False)
class HitsResult(Result):
    """Unit vectors. Runs: authority (effectiveness) and hubness (tells easy topics from hard). Topics: authority (ease)
    and hubness (tells good runs from bad). `share` is the part of the first component in each half's sum of squares.
    """

    matrix: ScoreMatrix
    run_authority: Floats
    topic_hubness: Floats
    topic_authority: Floats
    run_hubness: Floats
    share: tuple[float, float]
    strength: tuple[float, float]

    def table(self) -> Table:
        """Topics, the most telling first."""
        return self._table("topic", self.matrix.topics, self.topic_hubness, self.topic_authority, self.topic_hubness)

    def run_table(self) -> Table:
        """Runs, the highest authority first."""
        return self._table("run", self.matrix.runs, self.run_hubness, self.run_authority, self.run_authority)

    def tables(self) -> list[Table]:
        """Topics, then runs."""
        return [self.table(), self.run_table()]

    def _table(self, what: str, names: tuple[str, ...], hubness: Floats, authority: Floats, by: Floats) -> Table:
        """One row per topic or run, the highest of `by` first."""
        means = self.matrix.values.mean(axis=0 if what == "topic" else 1)
        highest_first = np.argsort(-by, kind="stable")
        rows = [(names[i], hubness[i], authority[i], means[i]) for i in highest_first]
        return Table.of(
            {what: "", "hubness": ".4f", "authority": ".4f", "mean": ".4f"},
            rows,
            caption=f"HITS of the {what}s",
            notes=[self._note()],
            keys={what: "item"},  # one key for both tables, so that they make one sheet
        )

    def _note(self) -> str:
        halves = "score − topic mean for hubness of topics, score − run mean for that of runs"
        return f"{halves}; first components hold {self.share[0]:.1%} and {self.share[1]:.1%} of the sums of squares"


def hits(matrix: ScoreMatrix) -> HitsResult:
    """Hubness and authority of topics and runs: the first singular vectors of the two centred matrices.

    The sign of a singular vector is free; it is set so that authority goes with the mean score. Where all runs (or all
    topics) have the same scores there is nothing to tell apart: an error.

    >>> h = hits(ScoreMatrix.of([[0.9, 0.5], [0.1, 0.5]]))
    >>> h.topic_hubness.round(3).tolist(), h.run_authority.round(3).tolist()
    ([1.0, 0.0], [0.707, -0.707])
    """
    needs_means(matrix, "HITS")
    topic_means = matrix.values.mean(axis=0)
    run_means = matrix.averages()
    within_topics = matrix.values - topic_means
    within_runs = matrix.values - run_means[:, None]
    by_topic = _first_component(within_topics, run_means, "every run has the same scores")
    by_run = _first_component(within_runs.T, topic_means, "every topic has the same scores")
    return HitsResult(
        matrix=matrix,
        run_authority=by_topic.left,
        topic_hubness=by_topic.right,
        topic_authority=by_run.left,
        run_hubness=by_run.right,
        share=(by_topic.share, by_run.share),
        strength=(by_topic.size, by_run.size),
    )


@dataclass(frozen=True)
class _Component:
    """First left and right singular vectors, their singular value, and its share of the sum of squares."""

    left: Floats
    right: Floats
    size: float
    share: float


def _first_component(centred: Floats, towards: Floats, flat: str) -> _Component:
    """The first component of a centred matrix, turned towards a vector; `flat` says why there may be none."""
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    if not len(sizes) or sizes[0] < 1e-12:
        raise DataError(f"{flat}; HITS has nothing to tell apart")
    away = left[:, 0] @ (towards - towards.mean()) < 0
    sign = -1.0 if away else 1.0
    # + 0.0 makes a zero positive, whatever the sign
    return _Component(
        left=sign * left[:, 0] + 0.0,
        right=sign * right[0] + 0.0,
        size=float(sizes[0]),
        share=float(sizes[0] ** 2 / (sizes**2).sum()),
    )
