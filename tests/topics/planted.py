"""Matrices whose topics lie in clusters, and it is known in which."""

from __future__ import annotations

import numpy as np

from assay.core.engine import generator
from assay.data.scores import ScoreMatrix


def planted_matrix(
    like: ScoreMatrix, *, seeds: int = 15, around: int = 10, radius: float = 0.02, seed: int = 0
) -> ScoreMatrix:
    """Topics in clusters: random real topics, each with `around` topics in a ball of that radius around it
    (Roitero 2020, Section 4.5.2.3).
    """
    runs, topics = like.shape
    rng = generator(seed)
    chosen = rng.choice(topics, seeds, replace=False)
    centres = like.values[:, chosen].T
    # A normal vector points in every direction equally often.
    direction = rng.normal(size=(seeds, around, runs))
    direction /= np.linalg.norm(direction, axis=2, keepdims=True)
    # The root spreads the points evenly: the volume of a ball grows with radius^runs.
    share_of_volume = rng.random((seeds, around, 1))
    distance = radius * share_of_volume ** (1 / runs)
    points = centres[:, None, :] + direction * distance
    values = points.reshape(-1, runs).T
    return ScoreMatrix.of(values, runs=like.runs, measure=like.measure)
