from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from assay.agreement.across_scales import pairwise_agreement
from assay.agreement.alpha import alpha_of_coincidences, alpha_of_cuts, coincidences, krippendorff_alpha
from assay.agreement.beta_phi import phi
from assay.agreement.kappa import (
    cohen_kappa,
    contingencies,
    contingency,
    fleiss_kappa,
    kappa_of_table,
)
from assay.agreement.ratings import Ratings
from assay.agreement.result import AGREEMENTS, agreement, reference_agreement, usual_measures
from assay.agreement.scales import S2, S4, S100
from assay.core.errors import AssayError, DataError, UsageError
from assay.crowd import aggregate, best_cuts
from assay.crowd.quality import topic_quality, worker_quality
from assay.data import Labels, Qrels
from assay.io import read_qrels
from assay.io.labels import read_labels
from tests.oracles import agreement as plain

relaxed = settings(deadline=None, max_examples=60)
LEVELS = ("nominal", "ordinal", "interval", "ratio")

# Krippendorff 2007, four raters × twelve units, – where a rater gave none.
GRID = """1 2 3 3 2 1 4 1 2 – – –
          1 2 3 3 2 2 4 1 2 5 – 3
          – 3 3 3 2 3 4 2 2 5 1 –
          1 2 3 3 2 4 4 1 2 5 1 –"""
CELLS = [(i, float(x)) for row in GRID.splitlines() for i, x in enumerate(row.split()) if x != "–"]
columns = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=25)


# --- Krippendorff's α


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491), ("ratio", 0.7974)]
)
def test_alpha_of_krippendorffs_example(level: str, expected: float) -> None:
    items, values = zip(*CELLS, strict=True)
    assert round(krippendorff_alpha(items, values, level=level), 4) == expected  # type: ignore[arg-type]


@relaxed
@given(columns)
def test_alpha_is_the_listing_of_all_pairs(cells: list[tuple[int, int]]) -> None:
    items, values = zip(*cells, strict=True)
    pairable = [v for i, v in cells if items.count(i) > 1]
    assume(len(set(pairable)) > 1)
    for level in LEVELS:
        found = krippendorff_alpha(items, values, level=level)  # type: ignore[arg-type]
        assert found == pytest.approx(plain.alpha(items, values, level), abs=1e-9)
        distinct, met = coincidences(items, values)
        again = alpha_of_coincidences(met, distinct, level=level)  # type: ignore[arg-type]
        assert float(again) == pytest.approx(found, abs=1e-9)


def test_alpha_is_the_packages_on_a_table_with_gaps() -> None:
    rng = np.random.default_rng(0)
    table = np.where(rng.random((6, 40)) < 0.7, rng.integers(0, 8, (6, 40)) + rng.integers(0, 3, 40), np.nan)
    rater, item = np.nonzero(~np.isnan(table))
    for level in LEVELS:
        theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=level)  # type: ignore[arg-type]
        ours = krippendorff_alpha(item, table[rater, item], level=level)  # type: ignore[arg-type]
        assert ours == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_cuts_is_alpha_after_cutting() -> None:
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(30), 4)
    value = np.clip(rng.normal(50, 30, 120).round() + 10 * (item % 5), 0, 100)
    cuts = np.array(list(combinations(range(10, 100, 15), 3)))
    for level in LEVELS:
        found = alpha_of_cuts(item, value, cuts, level=level)  # type: ignore[arg-type]
        for row, alpha in zip(cuts, found, strict=True):
            levels = np.searchsorted(row, value, side="left")
            assert alpha == pytest.approx(krippendorff_alpha(item, levels, level=level), abs=1e-9)  # type: ignore[arg-type]


def test_a_cut_that_leaves_one_level_has_no_alpha() -> None:
    found = alpha_of_cuts(["a", "a", "b", "b"], [1, 2, 3, 4], [[0], [2], [4]])
    assert np.isnan(found[[0, 2]]).all()
    assert found[1] == 1


def test_alpha_on_the_s100_labels(data: Callable[[str], Path]) -> None:
    """52,590 labels of the TREC-8 topics on a scale of 101 levels; α of the package krippendorff.

    Five workers labelled a doc twice; a table worker × doc has room for one, the first. On the scale cut at 50 the
    labels from 50 up count as relevant (.516219); with 50 itself below the cut α is .536924.
    """
    labels = read_labels(data("crowd-s100-trec8/judgments.tsv.xz"), times=100)
    assert len(labels) == 52_590
    ratings = Ratings.of_labels(labels)
    assert ratings.left_out == 5
    interval = krippendorff_alpha(ratings.item, ratings.value, level="interval")
    assert interval == pytest.approx(0.603157, abs=5e-7)
    cuts = alpha_of_cuts(ratings.item, ratings.value, [[49], [50]])
    assert cuts == pytest.approx([0.516219, 0.536924], abs=5e-7)
    found = agreement(ratings.binary(50), measures=["alpha(level=nominal)"], per_topic=False)
    assert found.value("alpha(level=nominal)") == pytest.approx(0.516219, abs=5e-7)


# --- κ


def test_kappa_of_sakais_example() -> None:
    assert kappa_of_table([[50, 30], [10, 10]]) == pytest.approx((60 - 56) / (100 - 56))
    assert round(kappa_of_table([[50, 30], [10, 10]]), 4) == 0.0909


@relaxed
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_kappa_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    assume(len({*a, *b}) > 1)
    for weights in ("none", "linear", "quadratic"):
        # scikit-learn weighs places in a list of labels: with the whole scale given these are the grades themselves.
        theirs = cohen_kappa_score(a, b, labels=range(4), weights=None if weights == "none" else weights)
        assert cohen_kappa(a, b, weights=weights) == pytest.approx(theirs, abs=1e-12)
        assert cohen_kappa(a, b, weights=weights) == pytest.approx(plain.kappa(a, b, weights), abs=1e-12)


GRADED = ([0, 0, 0, 0, 1, 1, 1, 3, 3, 3], [0, 0, 0, 1, 1, 1, 3, 3, 3, 0])


@pytest.mark.parametrize("weighting", ["linear", "quadratic"])
def test_weights_are_distances_of_grades_and_not_of_places(weighting: Any) -> None:
    """Nobody gave a 2: grades 1 and 3 stay two apart, for two assessors, for a table and for a whole set of labels."""
    a, b = GRADED
    expected = plain.kappa(a, b, weighting)
    assert expected != pytest.approx(cohen_kappa_score(a, b, weights=weighting), abs=0.01)
    assert expected == pytest.approx(cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=weighting))
    assert cohen_kappa(a, b, weights=weighting) == pytest.approx(expected)
    counts = contingency(a, b).counts
    assert kappa_of_table(counts, weights=weighting, values=[0, 1, 3]) == pytest.approx(expected)
    rows = [("1", f"d{i}", who, float(v)) for who, column in (("a", a), ("b", b)) for i, v in enumerate(column)]
    found = agreement(Labels.from_rows(rows), measures=f"kappa(weighting={weighting})", per_topic=False)
    assert found.rows[0].value == pytest.approx(expected)
    # Fractional grades are grades like others.
    halves = [[v / 2 for v in column] for column in GRADED]
    assert cohen_kappa(*halves, weights=weighting) == pytest.approx(expected)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_the_unit_of_the_labels_does_not_matter(unit: float) -> None:
    a, b = GRADED
    labels = np.array([a, b]).ravel() * unit
    items = np.tile(np.arange(10), 2)
    for level in LEVELS:
        expected = krippendorff_alpha(items, np.array([a, b]).ravel(), level=level)  # type: ignore[arg-type]
        assert krippendorff_alpha(items, labels, level=level) == pytest.approx(expected)  # type: ignore[arg-type]
    for weights in ("none", "linear", "quadratic"):
        found = cohen_kappa(labels[:10], labels[10:], weights=weights)
        assert found == pytest.approx(cohen_kappa(a, b, weights=weights))


def test_fleiss_is_statsmodels_and_fleiss_example() -> None:
    """Fleiss 1971's layout: ten subjects, fourteen raters, five categories; κ = .210."""
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert round(fleiss_kappa(table), 3) == 0.210
    assert fleiss_kappa(table) == pytest.approx(fleiss_of_statsmodels(np.array(table)), abs=1e-12)


def test_fleiss_leaves_out_items_with_one_label() -> None:
    assert fleiss_kappa([[3, 0], [0, 3], [2, 1], [1, 0]]) == fleiss_kappa([[3, 0], [0, 3], [2, 1]])


def test_contingency_counts() -> None:
    found = contingency([0, 0, 1, 2], [0, 1, 1, 0], names=("anna", "ben"))
    assert found.counts.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert found.table().rows[-1] == ("all", 2, 2, 0, 4)


# --- pairwise agreement


@pytest.mark.parametrize(
    ("x", "y", "expected", "untied"),
    [
        ([0, 1, 0, 1], [10, 80, 90, 90], 2 / 6, 2 / 4),
        ([0, 0, 0, 0, 1, 1, 1, 1], list(range(8)), 16 / 28, 1.0),
        ([0, 0, 1], [5, 7, 6], 1 / 3, 1 / 2),
    ],
)
def test_pairwise_agreement_vectors(x: list[float], y: list[float], expected: float, untied: float) -> None:
    assert pairwise_agreement(x, y) == pytest.approx(expected)
    assert pairwise_agreement(x, y, untied=True) == pytest.approx(untied)


def test_pairwise_agreement_rounded() -> None:
    vectors = [([0, 1, 0, 1], [10, 80, 90, 90]), ([0, 0, 0, 0, 1, 1, 1, 1], range(8)), ([0, 0, 1], [5, 7, 6])]
    assert [round(pairwise_agreement(x, y), 4) for x, y in vectors] == [0.3333, 0.5714, 0.3333]


@relaxed
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=20))
def test_pairwise_agreement_is_its_listing(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    assert pairwise_agreement(x, y) == pytest.approx(plain.pairwise_agreement(x, y))


def test_pairwise_agreement_is_asymmetric() -> None:
    assert pairwise_agreement([0, 1], [5, 5]) == 0
    assert pairwise_agreement([5, 5], [0, 1]) == 0
    assert pairwise_agreement([0, 1], [5, 5], untied=True) == 0
    with pytest.raises(DataError, match="no pair of items is ordered"):
        pairwise_agreement([5, 5], [0, 1], untied=True)


# --- Φ


@pytest.mark.parametrize(("pi", "expected"), [(1, -0.4142), (2, 0.0), (4, 0.5), (10, 0.9375), (20, 0.9980)])
def test_phi_of_a_precision_and_of_data_drawn_with_it(pi: float, expected: float) -> None:
    assert round(1 - 2 ** (1 - pi / 2), 4) == expected
    rng = np.random.default_rng(int(pi))
    mu = rng.uniform(0.3, 0.7, 30)
    x = rng.beta(mu[:, None] * pi, (1 - mu[:, None]) * pi, (30, 400))
    found = phi(np.repeat(np.arange(30), 400), x.ravel(), scale=(0, 1))
    # Labels are drawn in by 1/(2l) from the ends, which matters where they pile up there: −.36, not −.41, at π = 1.
    assert found.phi == pytest.approx(expected, abs=0.06 if pi < 2 else 0.04)


def test_phi_of_full_agreement_and_of_bad_scales() -> None:
    assert phi([0, 0, 1, 1], [5, 5, 7, 7], scale=(0, 10)).phi == pytest.approx(1)
    with pytest.raises(DataError, match="outside the scale"):
        phi([0, 0], [5, 11], scale=(0, 10))
    with pytest.raises(UsageError, match="lower to a higher"):
        phi([0, 0], [5, 5], scale=(10, 0))
    with pytest.raises(DataError, match="two labels"):
        phi([0, 1], [5, 5], scale=(0, 10))


# --- whole sets of labels


def made_labels(seed: int = 0, workers: int = 4, docs: int = 20, topics: int = 3) -> Labels:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, (topics, docs))
    rows = [
        (str(t), f"d{d}", f"w{w}", float(np.clip(truth[t, d] + rng.integers(-1, 2), 0, 3)))
        for t in range(topics)
        for d in range(docs)
        for w in range(workers)
        if rng.random() < 0.8
    ]
    return Labels.from_rows(rows)


def test_every_measure_is_its_plain_function_per_topic_and_in_all() -> None:
    labels = made_labels()
    ratings = Ratings.of_labels(labels)
    found = agreement(labels, measures=["alpha(level=ordinal)", "fleiss", "kappa", "overlap(rel=2)"])
    assert found.value("alpha(level=ordinal)") == pytest.approx(
        krippendorff_alpha(ratings.item, ratings.value, level="ordinal")
    )
    counts = np.zeros((len(ratings.items), 4))
    np.add.at(counts, (ratings.item, ratings.value.astype(int)), 1)
    assert found.value("fleiss") == pytest.approx(fleiss_kappa(counts))
    kappas, overlaps = [], []
    for a, b in combinations(range(4), 2):
        rows = [ratings.worker == w for w in (a, b)]
        of = [dict(zip(ratings.item[r], ratings.value[r], strict=True)) for r in rows]
        both = sorted(of[0].keys() & of[1].keys())
        x, y = ([o[i] for i in both] for o in of)
        kappas.append(cohen_kappa(x, y))
        relevant = [{i for i in both if o[i] >= 2} for o in of]
        overlaps.append(len(relevant[0] & relevant[1]) / len(relevant[0] | relevant[1]))
    assert found.value("kappa") == pytest.approx(np.mean(kappas))
    assert found.value("overlap(rel=2)") == pytest.approx(np.mean(overlaps))
    one = ratings.of_topic(1)
    assert found.value("alpha(level=ordinal)", "1") == pytest.approx(
        krippendorff_alpha(one.item, one.value, level="ordinal")
    )
    assert len(found.topic_table().rows) == 4 * 3


@pytest.mark.parametrize(
    "measure", ["alpha(level=nominal)", "alpha(level=ordinal)", "alpha(level=ratio)", "fleiss", "kappa"]
)
def test_weighted_items_are_the_measure_on_as_many_copies(measure: str) -> None:
    ratings = Ratings.of_labels(made_labels(seed=1))
    weights = np.random.default_rng(0).multinomial(len(ratings.doc), np.full(len(ratings.doc), 1 / len(ratings.doc)), 3)
    entry, parameters = AGREEMENTS.parse(measure)
    found = entry.function(ratings, weights.astype(float), **parameters)
    for row, value in zip(weights, found, strict=True):
        copies = [
            (item * 100 + c, rater, v)
            for item, rater, v in zip(ratings.item, ratings.worker, ratings.value, strict=True)
            for c in range(row[item])
        ]
        items, raters, values = zip(*copies, strict=True)
        drawn = Ratings.of(items, values, raters)
        again = entry.function(drawn, np.ones((1, len(drawn.items))), **parameters)[0]
        assert value == pytest.approx(again, abs=1e-9)


def test_several_qrels() -> None:
    anna = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 2}, "2": {"x": 1}}, name="anna")
    ben = Qrels.from_dict({"1": {"a": 1, "b": 1, "c": 2}, "3": {"x": 0}}, name="ben")
    found = agreement([anna, ben], measures=["kappa", "overlap"])
    assert found.value("kappa") == pytest.approx(cohen_kappa([1, 0, 2], [1, 1, 2]))
    assert found.value("overlap") == pytest.approx(2 / 3)
    assert found.value("kappa", "2") is None
    table = contingencies(Ratings.of_qrels([anna, ben]))[0]
    assert table.names == ("anna", "ben")
    assert table.counts.sum() == 3


def test_annotators_of_deep_learning_2019(data: Callable[[str], Path]) -> None:
    """TREC 2019 Deep Learning, 188 passages judged anew by eight people: fair agreement, better on the order."""
    labels = read_labels(data("trec-dl-2019-passage/annotators.tsv"), where={"round": "agreement"})
    found = agreement(labels, per_topic=False)
    kappa, quadratic = found.value("kappa"), found.value("kappa(weighting=quadratic)")
    assert kappa == pytest.approx(0.2419, abs=5e-5)
    assert quadratic == pytest.approx(0.5039, abs=5e-5)
    assert len(contingencies(Ratings.of_labels(labels))) == 28


def test_a_topic_called_all_is_a_topic() -> None:
    rows = [("1", "a", "u", 0), ("1", "a", "v", 0), ("1", "b", "u", 2), ("1", "b", "v", 2)]
    rows += [("all", "a", "u", 0), ("all", "a", "v", 2), ("all", "b", "u", 2), ("all", "b", "v", 0)]
    labels = Labels.from_rows([(topic, doc, worker, float(label)) for topic, doc, worker, label in rows])
    found = agreement(labels, measures="fleiss")
    assert found.table().column("topic") == ["(all)"]
    assert found.topic_table().column("topic") == ["1", "all"]
    assert (found.value("fleiss", "1"), found.value("fleiss", "all"), found.value("fleiss")) == (1, -1, 0)
    truth = Qrels.from_dict({"1": {"a": 0, "b": 1}, "all": {"a": 0, "b": 1}})
    against = reference_agreement(labels, truth)
    assert against.value("ordered pairs", "1") == 1
    assert against.value("ordered pairs", "all") == 0
    assert against.table().column("items") == [4, 4]


def test_reference_agreement_on_s100(data: Callable[[str], Path]) -> None:
    labels = read_labels(data("crowd-s100-trec8/judgments.tsv.xz"))
    qrels = read_qrels(data("crowd-s100-trec8/trec8-qrels.txt"))
    found = reference_agreement(labels, qrels)
    per_topic = [r.value for r in found.rows if r.measure == "ordered pairs" and r.topic != "all"]
    assert len(per_topic) == 18
    # The README of the data gives AUCs of .83 to .99 per topic; without ties of the means the two are the same thing.
    assert min(v for v in per_topic if v is not None) > 0.8
    assert found.value("pairs") < found.value("ordered pairs")  # type: ignore[operator]


# --- one level, one meaning of judged


@pytest.mark.parametrize(
    ("values", "level"),
    [((0, 1), "nominal"), ((0, 1, 3), "ordinal"), ((0.5, 40, 80), "interval"), ((-3, 500), "interval")],
)
def test_one_default_level_follows_from_the_scale(values: tuple[float, ...], level: Any) -> None:
    rng = np.random.default_rng(0)
    rows = [("1", f"d{d}", f"w{w}", float(rng.choice(values))) for d in range(30) for w in range(3)]
    labels = Labels.from_rows(rows)
    ratings = Ratings.of([d for _, d, _, _ in rows], [v for *_, v in rows])
    expected = krippendorff_alpha(ratings.item, ratings.value, level=level)
    assert krippendorff_alpha(ratings.item, ratings.value) == expected
    found = agreement(labels, measures="alpha")
    assert found.value("alpha") == pytest.approx(expected)
    assert found.rows[0].measure == f"alpha(level={level})"
    assert f"α is {level} by default" in found.table().text()
    if min(values) >= 0:
        quality = worker_quality(labels)
        assert quality.alpha == pytest.approx(expected)
        assert f"({level})" in quality.notes[0]
        assert topic_quality(labels).table().rows[-1][4] == pytest.approx(expected)


def test_a_scale_that_is_named_decides_the_level() -> None:
    labels = made_labels()
    found = agreement(labels, measures="alpha", scale=S100, per_topic=False)
    assert found.rows[0].measure == "alpha(level=interval)"
    assert agreement(labels, measures="alpha").rows[0].measure == "alpha(level=ordinal)"
    with pytest.raises(DataError, match="label 2 is outside the scale S2"):
        agreement(Ratings.of(["a", "a"], [0, 2]), scale=S2)


def test_phi_is_a_measure_that_needs_the_scale() -> None:
    labels = made_labels()
    found = agreement(labels, measures=["phi"], scale=S4)
    ratings = Ratings.of_labels(labels)
    alone = phi(ratings.item, ratings.value, scale=(0, 3))
    assert found.rows[0].value == alone.phi
    with pytest.raises(UsageError, match="phi needs the two ends of the scale"):
        agreement(labels, measures=["phi"])


def test_a_grade_below_zero_was_not_judged() -> None:
    """Docs that an assessor only pooled (−1) are no disagreement: they are not there."""
    judged = {"1": {"a": 1, "b": 0, "c": 2}}
    pooled = {"1": {"a": 1, "b": 0, "c": 2, "d": -1, "e": -2}}
    ben = Qrels.from_dict({"1": {"a": 1, "b": 1, "c": 2, "d": 0, "e": 1}}, name="ben")
    found = [agreement([Qrels.from_dict(g, name="anna"), ben]) for g in (judged, pooled)]
    assert [r.value for r in found[0].rows] == [r.value for r in found[1].rows]
    assert [r.items for r in found[0].rows] == [r.items for r in found[1].rows]
    labels = Labels.from_rows([("1", d, "w", v) for d, v in zip("abcde", (1, 0, 2, 2, 2), strict=True)])
    ordered = [reference_agreement(labels, Qrels.from_dict(g)) for g in (judged, pooled)]
    assert [r.value for r in ordered[0].rows] == [r.value for r in ordered[1].rows] == [1, 1, 1, 1]


# --- bad input


def test_labels_nobody_can_agree_on_are_refused() -> None:
    alone = Labels.from_rows([("1", "a", "w1", 1), ("1", "b", "w2", 0)])
    with pytest.raises(DataError, match="two assessors"):
        agreement(alone)
    with pytest.raises(DataError, match="no item has two labels"):
        krippendorff_alpha(["a", "b"], [0, 1])
    with pytest.raises(DataError, match="all labels are equal"):
        krippendorff_alpha(["a", "a"], [1, 1])
    with pytest.raises(DataError, match="one and the same value"):
        cohen_kappa([1, 1], [1, 1])
    with pytest.raises(DataError, match="all labels are equal"):
        fleiss_kappa([[3, 0], [3, 0]])


def test_a_worker_with_one_label_takes_part() -> None:
    rows = [("1", "a", "w1", 1), ("1", "a", "w2", 1), ("1", "b", "w1", 0), ("1", "b", "w2", 0), ("1", "b", "w3", 1)]
    found = agreement(Labels.from_rows(rows), measures=["alpha(level=nominal)", "kappa"])
    assert found.value("alpha(level=nominal)") == pytest.approx(
        plain.alpha([0, 0, 1, 1, 1], [1, 1, 0, 0, 1], "nominal")
    )
    assert found.value("kappa") is not None


def test_constant_labels_show_a_dash() -> None:
    rows = [("1", d, w, 1.0) for d in "ab" for w in "xy"]
    found = agreement(Labels.from_rows(rows))
    assert all(r.value is None and r.low is None for r in found.rows)
    assert "nan" not in found.table().text()
    assert "undefined, all labels are equal" in found.table().text()


def test_the_usual_measures_depend_on_the_number_of_assessors() -> None:
    many = Ratings.of(np.repeat(np.arange(60), 2), np.arange(120) % 3)
    assert "kappa" not in usual_measures(many)
    assert "kappa" in usual_measures(Ratings.of_labels(made_labels()))
    with pytest.raises(UsageError, match="take alpha or fleiss"):
        agreement(many, measures=["kappa"])


def test_of_two_values_all_levels_and_weights_are_one() -> None:
    rng = np.random.default_rng(5)
    labels = Ratings.of(np.repeat(np.arange(30), 3), rng.integers(0, 2, 90), np.tile(np.arange(3), 30))
    assert usual_measures(labels) == ("alpha(level=nominal)", "fleiss", "kappa")
    names = [f"alpha(level={level})" for level in ("nominal", "ordinal", "interval")]
    names += [f"kappa(weighting={w})" for w in ("none", "linear", "quadratic")]
    found = agreement(labels, measures=names, per_topic=False)
    values = [found.value(n) for n in names]
    assert values[:3] == pytest.approx([values[0]] * 3, abs=1e-12)
    assert values[3:] == pytest.approx([values[3]] * 3, abs=1e-12)


def test_labels_become_binary_from_the_lowest_relevant_one() -> None:
    with pytest.raises(UsageError, match="is a number"):
        Ratings.of(["a", "a"], [0, 1]).binary(float("nan"))


@pytest.mark.parametrize(
    "call",
    [
        lambda: krippendorff_alpha(["a", "a"], [0, 1], level="cardinal"),  # type: ignore[arg-type]
        lambda: krippendorff_alpha(["a", "a"], [-1, 1], level="ratio"),
        lambda: krippendorff_alpha(["a", "a"], [0, float("nan")]),
        lambda: krippendorff_alpha(["a"], [0, 1]),
        lambda: cohen_kappa([0, 1], [0]),
        lambda: cohen_kappa([0, 1], [0, 1], weights="cubic"),  # type: ignore[arg-type]
        lambda: kappa_of_table([[1, 2]]),
        lambda: fleiss_kappa([1, 2]),
        lambda: pairwise_agreement([1], [1]),
        lambda: pairwise_agreement([1, 2], [1]),
        lambda: alpha_of_cuts(["a", "a"], [0, 1], [[2, 1]]),
        lambda: agreement([Qrels.from_dict({"1": {"a": 1}})]),
        lambda: agreement(made_labels(), measures=["kapa"]),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_error(call: Callable[[], object]) -> None:
    with pytest.raises(AssayError) as caught:
        call()
    assert "\n" not in str(caught.value)


TWO_WORKERS = Labels.from_rows([("1", d, w, v) for w in "uv" for d, v in (("a", 0), ("b", 3), ("c", 1))])
NAMED_SCALES: dict[str, Callable[[Any], object]] = {
    "agreement": lambda scale: agreement(TWO_WORKERS, measures="alpha", scale=scale).record(),
    "alpha": lambda scale: krippendorff_alpha(["a", "a", "b", "b"], [0, 1, 2, 2], scale=scale),
    "aggregate": lambda scale: aggregate(TWO_WORKERS, "mean", scale=scale).record(),
    "worker_quality": lambda scale: worker_quality(TWO_WORKERS, scale=scale).record(),
    "topic_quality": lambda scale: topic_quality(TWO_WORKERS, scale=scale).record(),
    "best_cuts": lambda scale: best_cuts(TWO_WORKERS, "Tw_alpha", source=scale).record(),
}


@pytest.mark.parametrize("call", NAMED_SCALES.values(), ids=NAMED_SCALES)
def test_a_scale_is_given_by_its_name_too(call: Callable[[Any], object]) -> None:
    assert call("s100") == call(S100)
    with pytest.raises(UsageError, match="no scale 'seven'; known: S2, S4"):
        call("seven")
    with pytest.raises(UsageError, match=r"float where a scale is expected \(7.5\); give its name"):
        call(7.5)
