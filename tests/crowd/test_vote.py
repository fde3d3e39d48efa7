"""The simple rules: values by hand, ties, and intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agreement.ratings import Ratings
from assay.agreement.scales import MAGNITUDE, S2, S4, S100, Scale
from assay.core.errors import DataError, UsageError
from assay.crowd.aggregation import aggregate
from assay.crowd.identified import common_accuracy
from assay.crowd.vote import AGGREGATIONS
from assay.data import Labels
from tests.crowd.simulated import categories


def of(*values: float, doc: str = "d") -> Labels:
    return Labels.from_rows([("1", doc, f"w{i}", v) for i, v in enumerate(values)])


@pytest.mark.parametrize(
    ("method", "values", "expected"),
    [
        ("mean", (0, 10, 50), 20.0),
        ("median", (0, 10, 50), 10.0),
        ("median", (0, 10, 20, 50), 15.0),
        ("median(ties=low)", (0, 10, 20, 50), 10.0),
        ("median(ties=high)", (0, 10, 20, 50), 20.0),
        ("trimmed", (0, 40, 50, 60, 100), 50.0),
        ("trimmed(share=0)", (0, 40, 50, 60, 100), 50.0),
        ("trimmed(share=0.4)", (0, 40, 50, 60, 100), 50.0),
        ("geometric", (10, 40), 20.0),
        ("geometric(add=1)", (0, 3), 1.0),
    ],
)
def test_numbers_by_hand(method: str, values: tuple[float, ...], expected: float) -> None:
    judged = aggregate(of(*values), method, scale=S100)
    assert judged.estimate[0] == pytest.approx(expected)
    assert judged.grade[0] == pytest.approx(expected)
    assert judged.qrels().grades[0] == judged.grade[0]
    assert judged.low[0] <= judged.grade[0] <= judged.high[0]
    assert judged.labels.tolist() == [len(values)]


def test_unknown_tie_rules_and_shares_are_refused() -> None:
    with pytest.raises(UsageError, match="no tie rule 'both'; known: middle, low, high"):
        aggregate(of(1, 2), "median(ties=both)", scale=S100)
    with pytest.raises(UsageError, match="no tie rule 'middle'; known: low, high, random"):
        aggregate(of(0, 1), "majority(ties=middle)")
    with pytest.raises(UsageError, match=r"cannot be trimmed"):
        aggregate(of(1, 2), "trimmed(share=0.5)", scale=S100)
    with pytest.raises(DataError, match="labels \\+ add must be above 0"):
        aggregate(of(0, 1), "geometric", scale=S100)
    with pytest.raises(UsageError, match="no parameter 'tie'"):
        aggregate(of(0, 1), "majority(tie=low)")


@pytest.mark.parametrize(("ties", "grade"), [("low", 0), ("high", 3)])
def test_majority_and_its_tie_rule(ties: str, grade: int) -> None:
    judged = aggregate(of(0, 3, 3, 0, 1), f"majority(ties={ties})", scale=S4)
    assert judged.grade[0] == grade
    assert "1 docs tied" in judged.notes[0]


def test_random_ties_come_from_the_seed() -> None:
    rows = [("1", f"d{i}", w, v) for i in range(200) for w, v in (("a", 0.0), ("b", 1.0))]
    one, again, other = (aggregate(Labels.from_rows(rows), f"majority(ties=random, seed={s})").grade for s in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()
    assert 0.35 < one.mean() < 0.65


def test_common_accuracy_recovers_that_of_equal_workers() -> None:
    labels, _ = categories(np.full(20, 0.8), docs=3000, per_doc=6, levels=4)
    votes = Ratings.of_labels(labels, scale=S4, repeats="all").votes()
    assert common_accuracy(votes) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("method", ["mean", "median", "trimmed", "weighted"])
def test_intervals_cover_the_mean_of_the_crowd(method: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.uniform(30, 70, 600)
    rows = [("1", f"d{i:03d}", f"w{j}", float(v)) for i in range(600) for j, v in enumerate(rng.normal(truth[i], 8, 8))]
    judged = aggregate(Labels.from_rows(rows), method, scale=S100)
    inside = (judged.low <= truth) & (truth <= judged.high)
    assert 0.93 <= inside.mean() <= 0.999


def test_a_doc_with_one_label_takes_the_spread_of_the_set() -> None:
    rows = [("1", "a", f"w{i}", v) for i, v in enumerate((20.0, 40, 60))] + [("1", "b", "w0", 50.0)]
    judged = aggregate(Labels.from_rows(rows), "mean", scale=S100)
    assert judged.sd[1] > judged.sd[0]
    assert judged.high[1] - judged.low[1] > 40


def test_equal_labels_do_not_prove_certainty() -> None:
    rows = [("1", "a", f"w{i}", 0.0) for i in range(5)] + [("1", "b", f"w{i}", 20.0 * i) for i in range(5)]
    assert aggregate(Labels.from_rows(rows), "mean", scale=S100).high[0] > 0


def test_magnitudes_become_shares_of_the_topics_highest() -> None:
    rows = [("t", "a", "1", 10.0), ("t", "b", "1", 100.0), ("t", "a", "2", 1.0), ("t", "b", "2", 10.0)]
    judged = aggregate(Labels.from_rows(rows), "geometric", scale=MAGNITUDE)
    assert judged.grade.tolist() == [10, 100]
    assert any("geometric averaging" in n for n in judged.notes)
    assert any("2 units have fewer than 4 docs" in n for n in judged.notes)
    with pytest.raises(DataError, match="label 0 is not on the scale magnitude"):
        aggregate(of(0, 1), "median", scale=MAGNITUDE)


def test_weights_follow_quality() -> None:
    labels, _ = categories(np.array([0.95] * 6 + [0.5] * 6), docs=300, per_doc=6)
    weights = [f["weight"] for f in aggregate(labels, "weighted").workers.values()]
    assert min(weights[:6]) > max(weights[6:])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40))
@settings(max_examples=25, deadline=None)
def test_every_aggregation_gives_grades_within_bounds(rows: list[tuple[int, int, int]]) -> None:
    labels = Labels.from_rows([("1", f"d{d}", f"w{w}", float(y)) for d, w, y in rows])
    for entry in AGGREGATIONS:
        if entry.facts["kind"] == "preferences" or entry.name == "geometric":
            continue
        scale = Scale.interval(0, 3) if entry.facts["kind"] == "numbers" else S4
        judged = aggregate(labels, entry.name, scale=scale)
        assert ((judged.low <= judged.grade) & (judged.grade <= judged.high)).all()
        assert (judged.low >= 0).all()
        assert (judged.high <= 3).all()
        assert np.isfinite(judged.sd).all()
        assert len(judged.qrels()) == len({d for d, _, _ in rows})


def test_every_aggregation_ignores_the_order_of_rows_and_the_names_of_workers() -> None:
    labels, _ = categories(np.linspace(0.6, 0.95, 8), docs=40, per_doc=5, levels=4)
    rows = [(labels.topics[0], labels.docs[d], labels.workers[w], y) for d, w, y in
            zip(labels.doc, labels.worker, labels.label)]  # fmt: skip
    shuffled = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    for entry in AGGREGATIONS:
        if entry.facts["kind"] == "preferences" or entry.name in ("geometric", "mace"):  # mace: random starts
            continue
        scale = Scale.interval(0, 3) if entry.facts["kind"] == "numbers" else S4
        a, b = (aggregate(Labels.from_rows(r), entry.name, scale=scale) for r in (rows, shuffled))
        assert a.items == b.items
        np.testing.assert_allclose(a.estimate, b.estimate, atol=1e-4)


def test_repeated_labels() -> None:
    labels = Labels.from_rows([("1", "a", "w", 0.0), ("1", "a", "w", 90.0)])
    means = [aggregate(labels, "mean", scale=S100, repeats=r).grade[0] for r in ("all", "first", "last")]
    assert means == [45, 0, 90]
    with pytest.raises(UsageError, match="no way to treat repeated labels 'none'"):
        aggregate(labels, "mean", scale=S100, repeats="none")


def test_one_label_per_doc_says_nothing_of_how_sure_it_is() -> None:
    alone = Labels.from_rows([("1", "a", "u", 1.0), ("1", "b", "v", 0.0), ("1", "c", "u", 0.0)])
    found = aggregate(alone, "majority", scale=S2)
    assert found.grade.tolist() == [1, 0, 0]
    assert found.probability.tolist() == [0.5, 0.5, 0.5]
    assert "no doc has two labels" in found.notes[0]
