"""Which topics tell good runs from bad, and which runs tell easy topics from hard? HITS on the matrix.

Mizzaro and Robertson 2007: topics point to runs with weight score - topic mean, runs point to topics with weight
score - run mean. The two halves of that graph do not touch, so each is solved by itself, as a singular value problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix


@dataclass(frozen=True, eq=False)
class HitsResult:
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
        ease = self.matrix.values.mean(axis=0)
        order = np.argsort(-self.topic_hubness, kind="stable")
        rows = [(self.matrix.topics[t], self.topic_hubness[t], self.topic_authority[t], ease[t]) for t in order]
        columns = {"topic": "", "hubness": ".4f", "authority": ".4f", "mean": ".4f"}
        return Table.of(columns, rows, caption="HITS of the topics", notes=[self._note()])

    def run_table(self) -> Table:
        """Runs, the highest authority first."""
        means = self.matrix.means()
        order = np.argsort(-self.run_authority, kind="stable")
        rows = [(self.matrix.runs[r], self.run_authority[r], self.run_hubness[r], means[r]) for r in order]
        columns = {"run": "", "authority": ".4f", "hubness": ".4f", "mean": ".4f"}
        return Table.of(columns, rows, caption="HITS of the runs", notes=[self._note()])

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
    ease, means = matrix.values.mean(axis=0), matrix.means()
    authority, hubness, strength, share = _first(matrix.values - ease, means, "every run has the same scores")
    mine, theirs, other, part = _first((matrix.values - means[:, None]).T, ease, "every topic has the same scores")
    return HitsResult(matrix, authority, hubness, mine, theirs, (share, part), (strength, other))


def _first(centred: Floats, towards: Floats, flat: str) -> tuple[Floats, Floats, float, float]:
    """First left and right singular vectors, turned towards a vector; their singular value and share of the squares."""
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    if not len(sizes) or sizes[0] < 1e-12:
        raise DataError(f"{flat}; HITS has nothing to tell apart")
    sign = -1.0 if left[:, 0] @ (towards - towards.mean()) < 0 else 1.0
    return sign * left[:, 0] + 0.0, sign * right[0] + 0.0, float(sizes[0]), float(sizes[0] ** 2 / (sizes**2).sum())
