"""What can a model learn? One of four forms, each of plain numbers: weighted sum, kernel sum, network, forest.

A form gives the scores of rows of features and is written to JSON and read from it. Reading checks every number and
runs nothing of the file. Where the flow stands: fitted estimator → **form** → predicted scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from assay.core.arrays import Floats, Ints

KERNELS = ("rbf", "poly")
KERNEL_ROWS = 512
"""Rows whose kernels are computed at once: memory is this times the number of vectors."""


class Form(Protocol):
    """What a model learnt: features in, scores out."""

    def scores(self, features: Floats) -> Floats:
        """One score for each row of features."""
        ...

    def plain(self) -> dict[str, Any]:
        """The numbers, as JSON holds them."""
        ...


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """intercept + Σ weight · feature.

    >>> WeightedSum(1.0, np.array([2.0, 3.0])).scores(np.array([[1.0, 1.0]])).tolist()
    [6.0]
    """

    intercept: float
    weights: Floats

    def scores(self, features: Floats) -> Floats:
        """One score for each row of features."""
        return np.asarray(self.intercept + features @ self.weights)

    def plain(self) -> dict[str, Any]:
        """Intercept and weights."""
        return {"form": "weighted sum", "intercept": self.intercept, "weights": self.weights.tolist()}


@dataclass(frozen=True, eq=False)
class KernelSum:
    """intercept + Σ weight · kernel(vector, features): exp(−γ·distance²), or (γ·product + offset)^degree.

    >>> form = KernelSum("rbf", 1.0, 0, 0.0, np.array([[0.0]]), np.array([2.0]), 1.0)
    >>> form.scores(np.array([[0.0], [1.0]])).round(4).tolist()
    [3.0, 1.7358]
    """

    kernel: str
    gamma: float
    degree: int
    offset: float
    vectors: Floats
    weights: Floats
    intercept: float

    def scores(self, features: Floats) -> Floats:
        """One score for each row of features."""
        scores = np.empty(len(features))
        for start in range(0, len(features), KERNEL_ROWS):
            part = features[start : start + KERNEL_ROWS]
            scores[start : start + KERNEL_ROWS] = self._kernels(part) @ self.weights
        return np.asarray(scores + self.intercept)

    def _kernels(self, features: Floats) -> Floats:
        """The kernel of every row with every vector."""
        products = features @ self.vectors.T
        if self.kernel == "poly":
            return np.asarray((self.gamma * products + self.offset) ** self.degree)
        own_squares = (features**2).sum(axis=1)[:, None]
        squares_of_vectors = (self.vectors**2).sum(axis=1)
        squared_distance = np.maximum(own_squares + squares_of_vectors - 2 * products, 0)
        return np.asarray(np.exp(-self.gamma * squared_distance))

    def plain(self) -> dict[str, Any]:
        """The kernel, its vectors and their weights."""
        return {
            "form": "kernel sum",
            "kernel": self.kernel,
            "gamma": self.gamma,
            "degree": self.degree,
            "offset": self.offset,
            "intercept": self.intercept,
            "vectors": self.vectors.tolist(),
            "weights": self.weights.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weighted sums with max(0, x) between them.

    >>> Network((np.array([[1.0], [-1.0]]), np.array([[2.0]])), (np.zeros(1), np.ones(1))).scores(np.eye(2)).tolist()
    [3.0, 1.0]
    """

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]

    def scores(self, features: Floats) -> Floats:
        """One score for each row of features."""
        values = features
        last = len(self.weights) - 1
        for layer, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weights + bias
            if layer < last:
                values = np.maximum(values, 0)
        return np.asarray(values[:, 0])

    def plain(self) -> dict[str, Any]:
        """The weights and biases of each layer."""
        weights = [layer.tolist() for layer in self.weights]
        return {"form": "network", "weights": weights, "biases": [bias.tolist() for bias in self.biases]}


@dataclass(frozen=True, eq=False)
class RegressionTree:
    """Nodes, the first the root: an inner one asks whether a feature is at most its threshold, a leaf has a value.

    >>> tree = RegressionTree(*map(np.array, ([0, -1, -1], [0.5, 0.0, 0.0], [1, 0, 0], [2, 0, 0], [0.0, 3.0, 4.0])))
    >>> tree.scores(np.array([[0.2], [0.7]])).tolist()
    [3.0, 4.0]
    """

    feature: Ints
    """Which feature a node asks for; −1 in a leaf."""
    threshold: Floats
    at_most: Ints
    """The next node where the feature is at most the threshold."""
    above: Ints
    """The next node where it is above."""
    value: Floats

    def scores(self, features: Floats) -> Floats:
        """One score for each row of features."""
        node = np.zeros(len(features), dtype=np.int64)
        inner = np.flatnonzero(self.feature[node] >= 0)
        while len(inner):
            here = node[inner]
            low = features[inner, self.feature[here]] <= self.threshold[here]
            node[inner] = np.where(low, self.at_most[here], self.above[here])
            inner = inner[self.feature[node[inner]] >= 0]
        return np.asarray(self.value[node])

    def plain(self) -> dict[str, Any]:
        """The nodes, column by column."""
        return {
            "feature": self.feature.tolist(),
            "threshold": self.threshold.tolist(),
            "at_most": self.at_most.tolist(),
            "above": self.above.tolist(),
            "value": self.value.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Forest:
    """The mean of regression trees."""

    trees: tuple[RegressionTree, ...]

    def scores(self, features: Floats) -> Floats:
        """One score for each row of features."""
        # The trees were grown on features of 32 bits, and their thresholds lie between those.
        rounded = features.astype(np.float32).astype(np.float64)
        total = np.zeros(len(features))
        for tree in self.trees:
            total += tree.scores(rounded)
        return total / len(self.trees)

    def plain(self) -> dict[str, Any]:
        """The nodes of every tree."""
        return {"form": "forest", "trees": [tree.plain() for tree in self.trees]}


def form_of(record: Mapping[str, Any], features: int) -> Form:
    """The form that a record holds; a ValueError, TypeError or KeyError where its numbers do not fit together."""
    kind = record["form"]
    if kind == "weighted sum":
        return WeightedSum(number(record["intercept"]), _array(record["weights"], (features,)))
    if kind == "kernel sum":
        return _kernel_sum(record, features)
    if kind == "network":
        return _network(record["weights"], record["biases"], features)
    if kind == "forest":
        trees = tuple(_tree(tree, features) for tree in record["trees"])
        if not trees:
            raise ValueError("no trees")
        return Forest(trees)
    raise ValueError(kind)


def _kernel_sum(record: Mapping[str, Any], features: int) -> KernelSum:
    if record["kernel"] not in KERNELS:
        raise ValueError(record["kernel"])
    vectors = _array(record["vectors"], (len(record["vectors"]), features))
    return KernelSum(
        kernel=record["kernel"],
        gamma=number(record["gamma"]),
        degree=whole(record["degree"]),
        offset=number(record["offset"]),
        vectors=vectors,
        weights=_array(record["weights"], (len(vectors),)),
        intercept=number(record["intercept"]),
    )


def _network(weights: Sequence[Any], biases: Sequence[Any], features: int) -> Network:
    """The layers, each of which must take what the one before gives; the last gives one number."""
    layers = []
    offsets = []
    width = features
    for layer, bias in zip(weights, biases, strict=True):
        offset = _array(bias, (len(bias),))
        layers.append(_array(layer, (width, len(offset))))
        offsets.append(offset)
        width = len(offset)
    if not layers or width != 1:
        raise ValueError(width)
    return Network(tuple(layers), tuple(offsets))


def _tree(record: Mapping[str, Any], features: int) -> RegressionTree:
    """The nodes of a tree. Each child stands after its parent, so that a walk ends."""
    nodes = len(record["feature"])
    feature = _places(record["feature"], nodes)
    if not nodes or feature.min() < -1 or feature.max() >= features:
        raise ValueError(nodes)
    at_most = _places(record["at_most"], nodes)
    above = _places(record["above"], nodes)
    inner = np.flatnonzero(feature >= 0)
    for children in (at_most[inner], above[inner]):
        if (children <= inner).any() or (children >= nodes).any():
            raise ValueError(nodes)
    threshold = _array(record["threshold"], (nodes,))
    return RegressionTree(feature, threshold, at_most, above, _array(record["value"], (nodes,)))


def _places(values: Any, count: int) -> Ints:
    places = np.array(values)
    if places.shape != (count,) or places.dtype != np.int64:
        raise ValueError(places.shape)
    return places


def _array(values: Any, shape: tuple[int, ...]) -> Floats:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(array.shape)
    return array


def number(value: Any) -> float:
    """The value if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(value)
    return float(value)


def whole(value: Any) -> int:
    """The value if it is a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(value)
    return value
