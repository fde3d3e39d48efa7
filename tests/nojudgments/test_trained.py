"""Trained models: the plain numbers predict as scikit-learn does, survive a file, and refuse what is damaged."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.data import Qrels
from assay.data.scores import ScoreMatrix
from assay.nojudgments.adaptation import mida
from assay.nojudgments.between_collections import ALL_OTHERS, PLAIN, transfer
from assay.nojudgments.forecast import predict
from assay.nojudgments.learn import Collection, applied, learned, trained
from assay.nojudgments.over_collections import matrix_value
from assay.nojudgments.regressors import MODELS
from assay.nojudgments.trained import TrainedModel, TrainingSource, read_model
from tests.nojudgments.test_over_collections import made
from tests.nojudgments.test_predictors import made as made_runs
from tests.oracles.nojudgments import mida_by_definition

PARAMETERS = [
    "ridge(alpha=3)",
    "svr-poly(degree=2)",
    "kernel-ridge(gamma=0.3)",
    "neural(layers=2, epochs=10)",
    "random-forest(trees=3)",
]


@pytest.mark.parametrize("model", [*MODELS.names(), *PARAMETERS])
def test_plain_numbers_predict_as_scikit_learn_does(model: str, tmp_path: Path) -> None:
    old, new = made(2)
    estimator = MODELS.call(model, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(old.features(), old.labels())
    wanted = estimator.predict(new.features())
    found = trained([old], model, seed=3)
    np.testing.assert_allclose(found.form.scores(new.features()), wanted, rtol=1e-8, atol=1e-9)
    found.save(tmp_path / "model.json")
    again = read_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.form.scores(new.features()), found.form.scores(new.features()))
    assert (again.model, again.methods, again.measure) == (found.model, found.methods, "AP")
    assert again.trained_on == (TrainingSource("c0", 2000, runs=20, topics=9),)
    assert again.seed == 3


def test_applying_a_model_is_learning_in_two_steps() -> None:
    old, new = made(2)
    target = Collection("new", 2001, new.predictions)
    np.testing.assert_array_equal(applied(trained([old], "svr"), target).values, learned(target, [old], "svr").values)
    with pytest.raises(DataError, match="'c0' is not earlier"):
        applied(trained([old], "ridge"), Collection("new", 2000, new.predictions))
    with pytest.raises(UsageError, match="give the same methods in the same order"):
        applied(trained([old], "ridge"), Collection("new", 2001, new.predictions[::-1]))
    with pytest.raises(DataError, match="no collection to learn from"):
        trained([], "ridge")


def saved(tmp_path: Path, model: str = "ridge") -> tuple[Path, dict[str, Any]]:
    path = tmp_path / "model.json"
    trained(made(1), model).save(path)
    return path, json.loads(path.read_text())


def without_weights(record: dict[str, Any]) -> None:
    del record["weights"]


def fewer_weights(record: dict[str, Any]) -> None:
    record["weights"] = record["weights"][:-1]


def endless(record: dict[str, Any]) -> None:
    record["intercept"] = float("inf")


def other_form(record: dict[str, Any]) -> None:
    record["form"] = "pickle"


def odd_methods(record: dict[str, Any]) -> None:
    record["methods"] = [1, 2, 3]


def methods_as_text(record: dict[str, Any]) -> None:
    record["methods"] = "abc"


def no_sources(record: dict[str, Any]) -> None:
    record["trained_on"] = []


def year_in_words(record: dict[str, Any]) -> None:
    record["trained_on"][0]["year"] = "2000"


DAMAGES = [
    without_weights,
    fewer_weights,
    endless,
    other_form,
    odd_methods,
    methods_as_text,
    no_sources,
    year_in_words,
]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("model", ["ridge", "svr", "neural(epochs=2)"])
def test_damaged_models_are_refused(damage: Callable[[dict[str, Any]], None], model: str, tmp_path: Path) -> None:
    path, record = saved(tmp_path, model)
    if model.startswith("neural") and damage is endless:
        record["biases"][0][0] = float("nan")
    else:
        damage(record)
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="damaged"):
        read_model(path)


@pytest.mark.parametrize(
    ("column", "value"),
    [("at_most", 0), ("at_most", 10_000), ("above", 0), ("feature", 3), ("feature", -2), ("value", None)],
)
def test_a_damaged_forest_is_refused(column: str, value: int | None, tmp_path: Path) -> None:
    """A child that does not stand after its parent would be walked to for ever."""
    path, record = saved(tmp_path, "random-forest(trees=2)")
    record["trees"][1][column][0] = value
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="damaged"):
        read_model(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for text in ("no json", "[1, 2]", "{}", "\x80\x04.", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(DataError, match="not a saved model"):
            read_model(path)
    path.write_text('{"assay_model": 99}')
    with pytest.raises(DataError, match="version 99, and version 1 is read"):
        read_model(path)


def test_predict_with_a_saved_model(tmp_path: Path) -> None:
    runs = made_runs()
    relevant = {str(t): {f"d{i:02d}": int(i < 10) for i in range(30)} for t in range(1, 4)}
    methods = ["emap", "sakai-lin"]
    earlier = [("old", 2000, runs, Qrels.from_dict(relevant))]
    first = predict(runs, methods, combine="ridge", earlier=earlier, year=2001)
    first.model().save(tmp_path / "model.json")
    again = predict(runs, saved=tmp_path / "model.json", year=2001)
    np.testing.assert_allclose(again.combined, first.combined)
    assert isinstance(again.model(), TrainedModel)
    with pytest.raises(UsageError, match="leave out method"):
        predict(runs, methods, saved=tmp_path / "model.json", year=2001)
    with pytest.raises(UsageError, match="go together"):
        predict(runs, saved=tmp_path / "model.json")
    with pytest.raises(UsageError, match="no model was trained"):
        predict(runs, methods).model()


def test_transfer_is_training_on_one_and_testing_on_another() -> None:
    collections = made(3)
    found = transfer(collections, "ridge")
    assert found.rows() == ["c0", "c1", "c2", ALL_OTHERS, PLAIN]
    for i, source in enumerate(collections):
        for j, target in enumerate(collections):
            if i == j:
                assert np.isnan(found.values[i, j])
                continue
            scores = learned(Collection("t", 2001, target.predictions), [source], "ridge")
            assert found.values[i, j] == pytest.approx(matrix_value(scores, target, "tau", "runs"))
    both = learned(Collection("t", 2001, collections[0].predictions), collections[1:], "ridge")
    assert found.values[3, 0] == pytest.approx(matrix_value(both, collections[0], "tau", "runs"))
    assert found.table().column("c0")[0] is None
    assert found.figure().title == "Transfer of ridge between collections (τ of runs)"
    with pytest.raises(UsageError, match="two collections or more"):
        transfer(collections[:1])


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 10.0])
def test_mida_is_the_eigenproblem_of_its_definition(mu: float) -> None:
    """In small matrices what the definition says of a matrix with a row for every row of the features."""
    rng = np.random.default_rng(3)
    source = rng.random((9, 3))
    target = rng.random((7, 3)) * 2 + 1
    expected = mida_by_definition(source, target, mu)
    found = np.vstack(mida(source, target, mu=mu))
    for column in range(3):
        same = np.abs(found[:, column] @ expected[:, column])
        assert same == pytest.approx(np.linalg.norm(found[:, column]) * np.linalg.norm(expected[:, column]))
        assert np.linalg.norm(found[:, column]) == pytest.approx(np.linalg.norm(expected[:, column]))


def test_adapted_collections_lie_closer_together() -> None:
    rng = np.random.default_rng(4)
    source = rng.random((60, 4))
    target = rng.random((50, 4)) + np.array([2, 0, 0, 0])

    def apart(a: Floats, b: Floats) -> float:
        spread = np.vstack([a, b]).std(axis=0).max()
        return float(np.abs(a.mean(axis=0) - b.mean(axis=0)).max() / spread)

    assert apart(*mida(source, target, mu=0.01)) < apart(source, target) / 3


def test_transfer_after_adaptation() -> None:
    collections = made(3)
    plain = transfer(collections, "ridge")
    adapted = transfer(collections, "ridge", adaptation="mida(mu=2)")
    assert "adapted by mida(mu=2)" in adapted.table().caption
    assert np.isnan(adapted.values).sum() == 3
    np.testing.assert_array_equal(adapted.values[-1], plain.values[-1])
    with pytest.raises(UsageError, match="no adaptation 'tca'"):
        transfer(collections, "ridge", adaptation="tca")


def test_models_of_many_features_and_equal_ones() -> None:
    """Features that do not vary: the radial kernel's width is that of scikit-learn."""
    flat = ScoreMatrix.of(np.ones((4, 3)), measure="emap")
    truth = ScoreMatrix.of(np.arange(12).reshape(4, 3) / 12, measure="AP")
    found = trained([Collection("flat", 2000, (flat,), truth)], "svr")
    assert np.ptp(found.form.scores(np.zeros((5, 1)))) == 0
