"""All methods over several collections: accuracy, the oracle, paired tests; and how far methods agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, wilcoxon

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.nojudgments.against_truth import MEASURES
from assay.nojudgments.learn import Collection
from assay.nojudgments.method_agreement import method_agreement
from assay.nojudgments.over_collections import COLUMNS, ORACLE, MethodsCompared, methods_compared

METHODS = ("emap", "sakai-lin", "wu-crestani-v4")


def made(collections: int = 8) -> list[Collection]:
    """Collections on which emap is good, sakai-lin fair, and wu-crestani-v4 noise."""
    rng = np.random.default_rng(2)
    judged = []
    for number in range(collections):
        truth = rng.uniform(0, 0.4, (20, 1)) + rng.uniform(0, 0.3, (20, 9))
        predictions = []
        for name, noise in zip(METHODS, (0.1, 0.5, 5.0), strict=True):
            values = truth + noise * rng.normal(size=truth.shape)
            predictions.append(ScoreMatrix.of(values, measure=name))
        judged.append(Collection(f"c{number}", 2000, tuple(predictions), ScoreMatrix.of(truth, measure="AP")))
    return judged


def test_every_cell_is_the_accuracy_of_one_method_on_one_collection() -> None:
    collections = made()
    found = methods_compared(collections)
    assert found.methods == (*METHODS, "combined (average)", ORACLE)
    for j, collection in enumerate(collections):
        assert collection.truth is not None
        for i, prediction in enumerate(collection.predictions):
            tau = kendalltau(prediction.values.mean(axis=1), collection.truth.values.mean(axis=1))[0]
            assert found.values[i, j] == pytest.approx(tau)
        assert found.values[-1, j] == found.values[:3, j].max()


@pytest.mark.parametrize(("level", "axis"), [("topics", 0), ("cells", None)])
def test_other_levels(level: str, axis: int | None) -> None:
    collections = made(3)
    found = methods_compared(collections, statistic="pearson", level=level)
    for j, collection in enumerate(collections):
        assert collection.truth is not None
        for i, prediction in enumerate(collection.predictions):
            sides = [
                m.values.ravel() if axis is None else m.values.mean(axis=axis) for m in (prediction, collection.truth)
            ]
            assert found.values[i, j] == pytest.approx(pearsonr(*sides)[0])


def test_of_the_error_less_is_better() -> None:
    found = methods_compared(made(3), statistic="error", level="cells")
    assert (found.values[-1] == found.values[:3].min(axis=0)).all()
    medians = dict(zip(found.table().column("method"), found.table().column("median"), strict=True))
    assert medians[ORACLE] == min(medians.values())


def test_pairs_are_tested_over_collections_and_corrected() -> None:
    found = methods_compared(made(), correction="bonferroni")
    assert len(found.pairs) == 10
    for (first, second), pair in zip(combinations(range(5), 2), found.pairs, strict=True):
        assert (pair.first, pair.second) == (first, second)
        differences = found.values[first] - found.values[second]
        assert pair.difference == pytest.approx(differences.mean())
        if np.any(differences):
            p = wilcoxon(differences[differences != 0], method="exact").pvalue
            assert pair.p == pytest.approx(p)
        assert pair.corrected_p == pytest.approx(min(1.0, 10 * pair.p))
    assert found.tests().column("p")[0] == min(pair.p for pair in found.pairs)
    assert found.tests().column("p")[0] < 0.05


def test_a_method_that_says_nothing_has_dashes_and_no_test() -> None:
    collections = []
    for collection in made(4):
        flat = ScoreMatrix.of(np.ones((20, 9)), measure="soboroff")
        collections.append(replace(collection, predictions=(*collection.predictions, flat)))
    found = methods_compared(collections)
    last = found.table().rows[-1]
    assert last == ("soboroff", *[None] * 8)
    undefined = [pair for pair in found.pairs if np.isnan(pair.p)]
    assert len(undefined) == 5  # with each of the three methods, the combination and the oracle
    assert found.tests().rows[-1][2:] == (None, None, None)
    assert len({row["method"] for row in found.figure().spec["datasets"]["rows"]}) == 5


@pytest.mark.parametrize(("names", "key"), [(("mean", "b"), "mean"), (("DL-19", "dl 19"), "dl_19")])
def test_a_collection_does_not_take_the_column_of_another(names: tuple[str, str], key: str) -> None:
    one, two = made(2)
    with pytest.raises(UsageError, match=f"its column would be called '{key}'"):
        methods_compared([replace(one, name=names[0]), replace(two, name=names[1])])


def test_the_error_is_that_of_cells() -> None:
    with pytest.raises(UsageError, match="give the level cells"):
        methods_compared(made(2), statistic="error")


def test_one_collection_has_no_tests() -> None:
    found = methods_compared(made(1))
    assert found.pairs == ()
    assert len(found.tables()) == 1


def test_figures() -> None:
    found: MethodsCompared = methods_compared(made(3), fusions=["average", "borda"])
    assert "6 methods over 3 collections" in found.figure().title
    assert "3 collections over 5 methods" in found.figure(by="collection").title
    with pytest.raises(UsageError, match="no box plot of each 'topic'"):
        found.figure(by="topic")


def test_bad_collections() -> None:
    (one, two) = made(2)
    with pytest.raises(UsageError, match="no collections"):
        methods_compared([])
    with pytest.raises(UsageError, match="'c0' is there twice"):
        methods_compared([one, one])
    with pytest.raises(UsageError, match="other methods"):
        methods_compared([one, Collection("c1", 2000, two.predictions[:2], two.truth)])
    with pytest.raises(DataError, match="no true scores"):
        methods_compared([Collection("c1", 2000, two.predictions)])
    with pytest.raises(UsageError, match="no measure of accuracy 'rho'"):
        methods_compared([one], statistic="rho")
    with pytest.raises(UsageError, match="no level 'docs'"):
        methods_compared([one], level="docs")


def test_every_column_of_accuracy_can_be_compared() -> None:
    assert set(COLUMNS.values()) == {*MEASURES, "δ"}


@pytest.mark.parametrize(("correlation", "oracle"), [("pearson", pearsonr), ("tau-b", kendalltau)])
def test_agreement_of_methods_on_cells(correlation: str, oracle: object) -> None:
    predictions = made(1)[0].predictions
    found = method_agreement(predictions, level="cells", correlation=correlation)
    for a, b in combinations(range(3), 2):
        wanted = oracle(predictions[a].values.ravel(), predictions[b].values.ravel())[0]  # type: ignore[operator]
        assert found.values[a, b] == found.values[b, a] == pytest.approx(wanted)
    table = found.table()
    assert len(table.rows) == 3
    assert table.column("correlation") == sorted(table.column("correlation"), reverse=True)


def test_a_method_that_says_nothing_agrees_with_none() -> None:
    flat = ScoreMatrix.of(np.ones((20, 9)), measure="flat")
    found = method_agreement([*made(1)[0].predictions, flat], level="runs")
    assert found.table().rows[-1][2] is None
    assert "undefined" in found.table().text()
    with pytest.raises(UsageError, match="needs two or more"):
        method_agreement([flat])
