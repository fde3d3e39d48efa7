"""Predicting AP from the predictions of several methods, learnt on earlier collections (Roitero 2020, §7.5.3).

A row is a run on a topic, its features are the predictions of the methods, its label is its AP. Models are trained on
collections of earlier years only. Needs scikit-learn, the extra `learn`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.scores import ScoreMatrix
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import draws_from_judgments, predictions, scaled
from assay.nojudgments.regressors import MODELS, sklearn
from assay.nojudgments.trained import TrainedModel, TrainingSource
from assay.scoring import evaluate


@dataclass(frozen=True, eq=False)
class Collection:
    """Predictions of several methods for one collection, and the true scores where they are known.

    >>> guesses = ScoreMatrix.of([[0.2, 0.4], [0.3, 0.1]], measure="wu-crestani")
    >>> Collection("TREC-8", 1999, (guesses,)).methods()
    ('wu-crestani',)
    """

    name: str
    year: int
    predictions: tuple[ScoreMatrix, ...]
    truth: ScoreMatrix | None = None

    def methods(self) -> tuple[str, ...]:
        """The names of the methods, in order: they must be the same in all collections."""
        return tuple(prediction.measure for prediction in self.predictions)

    def features(self) -> Floats:
        """Rows run × topic, one column per method, each brought to [0, 1] within the collection."""
        if not self.predictions:
            raise DataError(f"{self.name}: no predictions; give those of at least one method")
        columns = []
        for prediction in self.predictions:
            unit_scores = scaled(prediction, "min-max").values
            columns.append(unit_scores.ravel())
        return np.column_stack(columns)

    def true_scores(self) -> ScoreMatrix:
        """The true scores; an error where they are not known."""
        if self.truth is None:
            raise DataError(f"{self.name}: no true scores; give its judgments")
        return self.truth

    def labels(self) -> Floats:
        """The true score of each row."""
        first = self.predictions[0]
        truth = self.true_scores().select(runs=first.runs, topics=first.topics)
        return np.asarray(truth.values.ravel())


def judged_collection(
    name: str,
    year: int,
    runs: Sequence[Run],
    qrels: Qrels,
    methods: Sequence[str],
    *,
    measure: str = "AP",
    depth: int = 1000,
    seed: int = 0,
    jobs: int = 1,
) -> Collection:
    """The predicted and the true scores of the runs of a judged collection, on its judged topics.

    >>> runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    >>> judged_collection("old", 2001, runs, Qrels.from_dict({"1": {"y": 1}}), ["sakai-lin"]).truth
    ScoreMatrix('AP', 2 runs × 1 topic)
    """
    (truth,) = evaluate(runs, qrels, measure)
    drawing = any(draws_from_judgments(method) for method in methods)
    lists = comparable(runs, depth=depth, qrels=qrels if drawing else None)
    judged_topics = set(truth.topics)
    topics = [topic for topic in lists.topics if topic in judged_topics]
    matrices = predictions(lists, methods, seed=seed, jobs=jobs)
    on_judged_topics = tuple(matrix.select(topics=topics) for matrix in matrices)
    return Collection(name, year, on_judged_topics, truth.select(topics=topics))


@dataclass(frozen=True, eq=False)
class Lessons:
    """Earlier collections, the year of what is to be predicted, and on how many of the most similar ones to train."""

    earlier: tuple[Collection, ...]
    year: int
    nearest: int | None = None
    saved: TrainedModel | None = None
    """A model that was trained before; there are no earlier collections then."""


def trained(earlier: Sequence[Collection], model: str = "svr", *, seed: int = 0) -> TrainedModel:
    """A model trained on these collections: it predicts true scores from the predictions of their methods.

    >>> guesses = ScoreMatrix.of([[0.2, 0.4], [0.3, 0.1]], measure="wu-crestani")
    >>> truth = ScoreMatrix.of([[0.1, 0.5], [0.3, 0.0]], measure="AP")
    >>> trained([Collection("old", 2001, (guesses,), truth)], "ridge").methods
    ('wu-crestani',)
    """
    if not earlier:
        raise DataError("no collection to learn from; give at least one that is judged")
    form = MODELS.entry(model).facts["form"]
    features = np.vstack([collection.features() for collection in earlier])
    labels = np.concatenate([collection.labels() for collection in earlier])
    estimator = fitted(model, features, labels, seed=seed)
    return TrainedModel(
        model=model,
        methods=earlier[0].methods(),
        measure=" and ".join(dict.fromkeys(collection.true_scores().measure for collection in earlier)),
        trained_on=tuple(_source(collection) for collection in earlier),
        form=form(estimator, features),
        seed=seed,
    )


def fitted(model: str, features: Floats, labels: Floats, *, seed: int = 0) -> Any:
    """An estimator of scikit-learn, fitted to rows of features and their labels."""
    estimator = MODELS.call(model, seed=seed)
    with warnings.catch_warnings():
        # A network stops after its epochs, as asked; the warning would say that it could continue.
        warnings.simplefilter("ignore", sklearn("exceptions").ConvergenceWarning)
        estimator.fit(features, labels)
    return estimator


def _source(collection: Collection) -> TrainingSource:
    """What a model says of a collection that it was trained on."""
    runs, topics = collection.predictions[0].shape
    return TrainingSource(collection.name, collection.year, runs, topics)


def learned(
    target: Collection, earlier: Sequence[Collection], model: str = "svr", *, nearest: int | None = None, seed: int = 0
) -> ScoreMatrix:
    """AP of the target's runs on its topics, predicted by a model trained on earlier collections.

    Collections of the target's year or later are an error: they would not have been there. nearest: train on only that
    many earlier collections, the most similar by `distance`.

    >>> guesses = ScoreMatrix.of([[0.2, 0.4], [0.3, 0.1]], measure="wu-crestani")
    >>> truth = ScoreMatrix.of([[0.1, 0.5], [0.3, 0.0]], measure="AP")
    >>> learned(Collection("new", 2002, (guesses,)), [Collection("old", 2001, (guesses,), truth)], "linear")
    ScoreMatrix('learned-linear', 2 runs × 2 topics)
    """
    return applied(fitted_model(target, earlier, model, nearest=nearest, seed=seed), target)


def fitted_model(
    target: Collection, earlier: Sequence[Collection], model: str = "svr", *, nearest: int | None = None, seed: int = 0
) -> TrainedModel:
    """The model that `learned` applies."""
    _check_earlier(target, earlier)
    if nearest is not None and nearest < 1:
        raise UsageError(f"nearest: must be at least 1, not {nearest}")
    training = list(earlier)
    if nearest is not None:
        training.sort(key=lambda collection: distance(collection, target))
        training = training[:nearest]
    return trained(training, model, seed=seed)


def applied(model: TrainedModel, target: Collection) -> ScoreMatrix:
    """What a trained model predicts for the runs and topics of a collection, whose methods must be the model's.

    >>> guesses = ScoreMatrix.of([[0.2, 0.4], [0.3, 0.1]], measure="wu-crestani")
    >>> truth = ScoreMatrix.of([[0.1, 0.5], [0.3, 0.0]], measure="AP")
    >>> model = trained([Collection("old", 2001, (guesses,), truth)], "linear")
    >>> applied(model, Collection("new", 2002, (guesses,)))
    ScoreMatrix('learned-linear', 2 runs × 2 topics)
    """
    if target.methods() != model.methods:
        raise UsageError(
            f"the model was trained on predictions of {', '.join(model.methods)}, and {target.name!r} has "
            f"{', '.join(target.methods())}; give the same methods in the same order"
        )
    for source in model.trained_on:
        if source.year >= target.year:
            raise DataError(
                f"{source.name!r} is not earlier than {target.name!r} ({target.year}); train on earlier years only"
            )
    values = model.form.scores(target.features())
    first = target.predictions[0]
    name = MODELS.entry(model.model).name
    sources = ", ".join(f"{source.name} ({source.year})" for source in model.trained_on)
    signature = f"{model.model} trained on {sources}|features: {', '.join(model.methods)}"
    return ScoreMatrix(first.runs, first.topics, values.reshape(first.shape), f"learned-{name}", signature)


def _check_earlier(target: Collection, earlier: Sequence[Collection]) -> None:
    """Refuse no collections, those that are not earlier than the target, and those with other methods."""
    for collection in earlier:
        if collection.year >= target.year:
            raise DataError(
                f"{collection.name!r} is not earlier than {target.name!r} ({target.year}); train on earlier years only"
            )
    if not earlier:
        raise DataError(f"no collection earlier than {target.year} to learn from; {target.name!r} cannot be predicted")
    for collection in earlier:
        if collection.methods() != target.methods():
            raise UsageError(
                f"{collection.name!r} and {target.name!r} have other methods or another order; they must match"
            )


def distance(a: Collection, b: Collection) -> float:
    """Mean over methods of the Kolmogorov–Smirnov distance between the distributions of predicted values.

    >>> m = ScoreMatrix.of([[0, 1], [2, 3]])
    >>> distance(Collection("a", 1, (m,)), Collection("b", 2, (ScoreMatrix.of([[0, 0], [0, 3]]),)))
    0.5
    """
    columns = zip(a.features().T, b.features().T, strict=True)
    distances = [kolmogorov_smirnov(in_a, in_b) for in_a, in_b in columns]
    return float(np.mean(distances))


def kolmogorov_smirnov(x: Floats, y: Floats) -> float:
    """The largest difference of two empirical distribution functions.

    >>> kolmogorov_smirnov(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    values = np.concatenate([x, y])
    difference = _distribution(x, values) - _distribution(y, values)
    return float(np.abs(difference).max())


def _distribution(sample: Floats, values: Floats) -> Floats:
    """The share of the sample that is at most each of these values."""
    at_most = np.searchsorted(np.sort(sample), values, side="right")
    return at_most / len(sample)
