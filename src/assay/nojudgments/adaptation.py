"""ADAPTATIONS: how the features of two collections are made alike before a model of one is used on the other.

Where the flow stands: features of a judged and of another collection → **features that say less of where they come
from** → a model trained on the first, applied to the second (Roitero 2020, §7.5.3.4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.registry import Registry, Within

Adaptation = Callable[..., tuple[Floats, Floats]]
ADAPTATIONS: Registry[Adaptation] = Registry("adaptation")


@ADAPTATIONS.register("none")
def none(source: Floats, target: Floats) -> tuple[Floats, Floats]:
    """The features as they are."""
    return source, target


@ADAPTATIONS.register("mida")
def mida(source: Floats, target: Floats, *, mu: Annotated[float, Within(0, open=True)] = 1.0) -> tuple[Floats, Floats]:
    """Maximum independence domain adaptation: directions in which the collections look alike (Yan et al. 2018).

    With the linear kernel K of all rows x, each followed by the indicators d of its collection, and the centring matrix
    H, the columns of W are the eigenvectors of K(μH − H D Dᵀ H)K with the largest eigenvalues, and K W are the new
    features: much variance, little dependence on the collection. mu: what variance counts for beside dependence.

    The kernel of n rows of p features has rank p, so p × p matrices suffice: with S = XᵀX and the middle
    A = Xᵀ(μH − H D Dᵀ H)X, the eigenvectors u of S^½ A S^½ give K W = X S^½ u.

    >>> a, b = mida(np.array([[0.0], [1.0]]), np.array([[5.0], [6.0]]))
    >>> a.shape, b.shape
    ((2, 1), (2, 1))
    """
    count = len(source)
    features = source.shape[1]
    origin = np.zeros((count + len(target), 2))
    origin[:count, 0] = 1
    origin[count:, 1] = 1
    rows = np.hstack([np.vstack([source, target]), origin])
    centred = rows - rows.mean(axis=0)
    dependence = centred.T @ origin
    middle = mu * (centred.T @ centred) - dependence @ dependence.T
    root = _square_root(rows.T @ rows)
    values, vectors = np.linalg.eigh(root @ middle @ root)
    best = np.argsort(values)[::-1][:features]
    found = rows @ root @ _with_fixed_signs(vectors[:, best])
    return found[:count], found[count:]


def _square_root(matrix: Floats) -> Floats:
    """The symmetric square root of a symmetric matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, 0))
    return np.asarray(vectors * roots @ vectors.T)


def _with_fixed_signs(vectors: Floats) -> Floats:
    """Eigenvectors whose largest entry is positive: their sign is free otherwise, and differs between machines."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * signs
