"""Which points belong together? k-means: Lloyd's steps from k-means++ starts (Arthur and Vassilvitskii 2007)."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import generators
from assay.topics.criteria import Numbers

STARTS = 30
"""Random starts; the one with the least squares is kept."""
STEPS = 100
"""Steps of one start at most; a dozen is usual."""


def k_means(points: Floats, clusters: int, *, seed: int = 0) -> Numbers:
    """The cluster of each point, 0 …: the sum of the squared distances from the means of the clusters is small.

    Fewer clusters than asked for where there are fewer distinct points.

    >>> k_means(np.array([[0.0], [0.1], [5.0], [5.2], [9.0]]), 3).tolist()
    [0, 0, 1, 1, 2]
    """
    distinct, numbered = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) <= clusters:
        return _numbered_by_first(numbered.ravel())
    least_squares = np.inf
    best = np.zeros(len(points), np.int64)
    for rng in generators(seed, STARTS):
        centres = _spread_centres(points, clusters, rng)
        labels, squares = _settled(points, centres)
        if squares < least_squares:
            least_squares = squares
            best = labels
    return _numbered_by_first(best)


def _spread_centres(points: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """k-means++: centres are random points, in proportion to their squared distance from the nearest centre.

    Of some candidates for the next centre the one is taken that brings the points nearest.
    """
    candidates = 2 + int(np.log(clusters))
    between = _squared_distances(points, points)
    # Rounding leaves a point a little way from itself, and no centre is to be chosen twice.
    np.fill_diagonal(between, 0.0)
    chosen = [int(rng.integers(len(points)))]
    nearest = between[chosen[0]]
    while len(chosen) < clusters:
        up_to_point = np.cumsum(nearest)
        drawn = rng.random(candidates) * up_to_point[-1]
        tried = np.searchsorted(up_to_point, drawn, side="right")
        nearest_if_tried = np.minimum(nearest, between[tried])
        best = int(nearest_if_tried.sum(axis=1).argmin())
        nearest = nearest_if_tried[best]
        chosen.append(int(tried[best]))
    return points[chosen]


def _settled(points: Floats, centres: Floats) -> tuple[Numbers, float]:
    """Lloyd's steps until no point changes its cluster; the clusters, and the squares within them."""
    labels = np.full(len(points), -1)
    clusters = len(centres)
    for _ in range(STEPS):
        distances = _squared_distances(points, centres)
        nearest = _without_empty(distances.argmin(axis=1), distances)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        member = np.eye(clusters)[labels]
        sizes = member.sum(axis=0)
        centres = member.T @ points / sizes[:, None]
    squares = ((points - centres[labels]) ** 2).sum()
    return labels, float(squares)


def _without_empty(labels: Numbers, distances: Floats) -> Numbers:
    """Each empty cluster gets the point that is farthest from its centre, of those that are not alone."""
    sizes = np.bincount(labels, minlength=distances.shape[1])
    own_distance = distances[np.arange(len(labels)), labels]
    for empty in np.flatnonzero(sizes == 0):
        movable = np.where(sizes[labels] > 1, own_distance, -1.0)
        farthest = int(movable.argmax())
        sizes[labels[farthest]] -= 1
        sizes[empty] = 1
        labels[farthest] = empty
    return labels


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    """Points × centres: |x|² − 2·x·y + |y|²."""
    lengths = np.einsum("ij,ij->i", points, points)
    of_centres = np.einsum("ij,ij->i", centres, centres)
    squares = lengths[:, None] - 2 * (points @ centres.T) + of_centres
    return np.asarray(np.maximum(squares, 0.0))


def _numbered_by_first(labels: Numbers) -> Numbers:
    """The same clusters, numbered in the order in which they first occur."""
    _, first_place, numbered = np.unique(labels, return_index=True, return_inverse=True)
    new_number = np.argsort(np.argsort(first_place))
    return np.asarray(new_number[numbered])
