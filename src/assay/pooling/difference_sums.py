"""Sums over all docs of a topic of a smooth function of the difference of two strengths, without listing pairs.

Where it stands: strengths θ → **Σ_j g_j f(θ_i − θ_j) for every doc i** → the fit in `doc_strengths`. f is interpolated
between Chebyshev nodes, so that n docs cost n times some dozen nodes and not n² pairs.
"""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats, Ints

ACCURACY = 1e-9
"""Largest error of the interpolation, as a share of the largest value."""
FEWEST = 8
"""Nodes at least."""


class DifferenceSums:
    """The sums for given strengths; topics are taken each by itself.

    The functions are those of the logistic family, whose nearest poles are π off the real line. Interpolation at K
    nodes over an interval of half-width h is then exact to ρ^−K, ρ = π/h + √(1 + (π/h)²), which says how many nodes
    are needed.

    >>> theta = np.array([0.0, 1.0, 3.0])
    >>> sums = DifferenceSums(theta, starts=np.array([0]), topic=np.zeros(3, dtype=np.int64))
    >>> squares_bell = 1 / np.cosh(sums.between / 2) ** 2
    >>> plain = (1 / np.cosh((theta[:, None] - theta) / 2) ** 2).sum(axis=1)
    >>> bool(np.allclose(sums.of(squares_bell, np.ones((3, 1)))[:, 0], plain, atol=1e-8))
    True
    """

    def __init__(self, theta: Floats, *, starts: Ints, topic: Ints) -> None:
        """starts: where each topic begins among the docs, none of them empty; topic: of each doc."""
        ends = np.append(starts[1:], len(theta))
        self.docs_of_topic = [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        low = np.minimum.reduceat(theta, starts)
        high = np.maximum.reduceat(theta, starts)
        middle = (low + high) / 2
        half = (high - low) / 2
        # One strength only: any interval about it will do.
        half = np.where(half > 0, half, 1.0)

        count = _nodes_needed(float(half.max()))
        docs = ends - starts
        if count < docs.max():
            angle = np.pi * (np.arange(count) + 0.5) / count
            nodes = np.cos(angle)
            unit = (theta - middle[topic]) / half[topic]
            self.share = _lagrange(unit, nodes, angle)
            points = middle[:, None] + half[:, None] * nodes
        else:  # so few docs that they are their own nodes
            place = np.arange(len(theta)) - starts[topic]
            self.share = (place[:, None] == np.arange(docs.max())).astype(np.float64)
            points = np.zeros((len(starts), docs.max()))
            points[topic, place] = theta
        self.between = points[:, :, None] - points[:, None, :]
        """Differences of every two nodes, topics × nodes × nodes: where the function has to be known."""

    def of(self, function: Floats, values: Floats) -> Floats:
        """Σ_j values_j f(θ_i − θ_j) over the docs j of the topic of i, from f at the differences `between`.

        values: docs × columns, each of which is summed by itself.
        """
        sums = np.empty_like(values)
        for t, docs in enumerate(self.docs_of_topic):
            share = self.share[docs]
            at_nodes = share.T @ values[docs]
            sums[docs] = share @ (function[t] @ at_nodes)
        return sums


def _nodes_needed(half: float) -> int:
    """How many nodes an interval of that half-width needs."""
    pole = np.pi / half
    gain = np.log(pole + np.sqrt(1 + pole**2))
    needed = -np.log(ACCURACY) / gain
    return max(FEWEST, int(np.ceil(needed)))


def _lagrange(unit: Floats, nodes: Floats, angle: Floats) -> Floats:
    """How much each node counts for a value at each place in [−1, 1]: the barycentric formula."""
    sign = np.where(np.arange(len(nodes)) % 2, -1.0, 1.0)
    distance = unit[:, None] - nodes
    # A place that is a node takes its value alone.
    distance[distance == 0] = 1e-200
    share = sign * np.sin(angle) / distance
    share /= share.sum(axis=1, keepdims=True)
    return share
