"""Text measures: the examples of their papers, edges, and bad input."""

from __future__ import annotations

import sys

import pytest

from assay.core.errors import DataError, MissingExtra, UsageError
from assay.measures.text import (
    TEXT_MEASURES,
    Nugget,
    NuggetMatch,
    PyramidMatch,
    Units,
    nugget_f,
    nugget_match,
    nugget_precision,
    nugget_recall,
    pourpre,
    pyramid_f,
    rouge,
    s_measure,
    s_sharp,
    t_measure,
    unit_recall,
)


def test_nuggets_golden() -> None:
    """Lin & Demner-Fushman 2005, fig. 2: r = 2, a = 1, V = 4 and 450 or 250 characters."""
    long, short = (NuggetMatch(vital=2, okay=1, vital_in_key=4, length=n) for n in (450, 250))
    assert nugget_recall(long) == 0.5
    assert nugget_precision(long) == pytest.approx(0.666667, abs=5e-7)
    assert [nugget_f(long, beta=b) for b in (3.0, 5.0)] == pytest.approx([0.512821, 0.504854], abs=5e-7)
    assert nugget_precision(short) == 1.0
    assert nugget_f(short) == pytest.approx(0.526316, abs=5e-7)


@pytest.mark.parametrize(
    ("match", "precision", "f"),
    [
        (NuggetMatch(0, 0, 4, 0), 0.0, 0.0),
        (NuggetMatch(0, 0, 4, 500), 0.0, 0.0),
        (NuggetMatch(1, 0, 1, 100), 1.0, 1.0),
        (NuggetMatch(0, 3, 4, 100), 1.0, 0.0),
    ],
)
def test_nugget_edges(match: NuggetMatch, precision: float, f: float) -> None:
    assert nugget_precision(match) == precision
    assert nugget_f(match) == f


def test_a_key_without_vital_nuggets_is_refused() -> None:
    with pytest.raises(DataError, match="leave the question out"):
        nugget_f(NuggetMatch(0, 1, 0, 10))
    with pytest.raises(DataError, match="leave the question out"):
        pourpre([Nugget("a", vital=False)], ["a"])


def test_pyramid_is_nugget_f_for_equal_votes() -> None:
    pyramid = PyramidMatch(votes=[1, 1, 1, 1], matched=[True, True, False, False], length=450)
    assert pyramid_f(pyramid) == pytest.approx(nugget_f(NuggetMatch(2, 0, 4, 450)))
    assert pyramid_f(PyramidMatch([0, 0], [True, False], 10)) == 0.0
    with pytest.raises(DataError, match="one of each"):
        pyramid_f(PyramidMatch([1], [True, False], 10))


def test_pourpre_matches_with_one_string() -> None:
    """The golden of the paper: three of four terms in the best string, not four in several."""
    assert nugget_match("A B C D", ["A", "B C D", "D", "A D"]) == 0.75
    assert nugget_match("A B", []) == 0.0
    assert nugget_match("", ["a"]) == 0.0


def test_pourpre_weighs_terms_by_idf() -> None:
    assert nugget_match("rare word", ["rare"], idf={"rare": 3.0, "word": 1.0}) == 0.75
    assert nugget_match("unknown", ["unknown"], idf={}) == 0.0


def test_pourpre_score() -> None:
    """Vital "a b" half matched and okay "c" matched: recall .5, allowance 200 of 150 characters."""
    answers = ["a" + " x" * 0, "c " + "x" * 148]
    value = pourpre([Nugget("a b"), Nugget("c", vital=False)], answers)
    assert value == pytest.approx(10 * 1.0 * 0.5 / (9 * 1.0 + 0.5))
    longer = pourpre([Nugget("a b"), Nugget("c", vital=False)], ["a", "c " + "x" * 398])
    assert longer == pytest.approx(10 * 0.5 * 0.5 / (9 * 0.5 + 0.5))


FIRST = Units([3, 1, 3], [10, 5, 5], matched={0: 100, 1: 50}, length=500)
SECOND = Units([2, 6, 2, 2], [2, 5, 3, 2], matched={1: 400}, length=10)


@pytest.mark.parametrize(
    ("units", "expected"),
    [(FIRST, [0.667, 0.571, 1650 / 3420, 0.03, 0.056]), (SECOND, [0.25, 0.5, 600 / 5914, 0.5, 0.169])],
)
def test_direct_answers_golden(units: Units, expected: list[float]) -> None:
    """NTCIREVAL's sample, L = 500, β = 1."""
    values = [
        unit_recall(units),
        unit_recall(units, weighted=True),
        s_measure(units, L=500),
        t_measure(units),
        s_sharp(units, L=500, beta=1.0),
    ]
    assert values == pytest.approx(expected, abs=5e-4)


def test_s_sharp_prefers_recall_with_beta_10() -> None:
    assert s_sharp(FIRST, L=500) == pytest.approx(0.4198, abs=5e-5)


def test_minimal_output_takes_heavy_and_short_strings_first() -> None:
    """Weights 3, 3, 1 with lengths 5, 10, 5: offsets 5, 15, 20, so Σ w(500 − offset) = 1485 + 1455 + 480."""
    perfect = Units([3, 1, 3], [10, 5, 5], matched={2: 5, 0: 15, 1: 20}, length=20)
    assert s_measure(perfect, L=500) == 1.0
    assert t_measure(perfect) == 1.0
    assert s_sharp(perfect, L=500) == 1.0


def test_s_and_t_can_exceed_1_and_s_sharp_cannot() -> None:
    terse = Units([1], [10], matched={0: 2}, length=5)
    assert s_measure(terse, L=20) == pytest.approx(1.8)
    assert t_measure(terse) == 2.0
    assert s_sharp(terse, L=20) == 1.0


def test_empty_outputs_score_0() -> None:
    empty = Units([1.0], [5], matched={}, length=0)
    assert [s_measure(empty, L=500), t_measure(empty), s_sharp(empty, L=500), unit_recall(empty)] == [0.0] * 4
    assert unit_recall(Units([], [], {}, 0)) == 0.0
    assert s_measure(Units([], [], {}, 0), L=500) == 0.0


def test_units_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="not among"):
        Units([1], [1], matched={3: 1}, length=1)
    with pytest.raises(DataError, match="one of each"):
        Units([1, 2], [1], matched={}, length=1)


@pytest.mark.parametrize(
    ("kind", "precision", "recall", "f"),
    [("rouge1", 0.8, 0.666667, 0.727273), ("rouge2", 0.25, 0.2, 0.222222), ("rougeL", 0.8, 0.666667, 0.727273)],
)
def test_rouge_golden(kind: str, precision: float, recall: float, f: float) -> None:
    pytest.importorskip("rouge_score")
    values = [
        rouge(["the cat sat on the mat"], "the cat on a mat", kind=kind, value=v) for v in ("precision", "recall", "f")
    ]
    assert values == pytest.approx([precision, recall, f], abs=5e-7)


def test_rouge_takes_the_best_reference() -> None:
    pytest.importorskip("rouge_score")
    assert rouge(["nothing alike", "the cat"], "the cat") == 1.0


@pytest.mark.parametrize("given", [{"kind": "rouge0"}, {"value": "joy"}])
def test_unknown_rouge_is_refused(given: dict[str, str]) -> None:
    pytest.importorskip("rouge_score")
    with pytest.raises(UsageError, match="kinds are"):
        rouge(["a"], "a", **given)


def test_missing_rouge_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    with pytest.raises(MissingExtra, match="rouge-score"):
        rouge(["a"], "a")


@pytest.mark.parametrize("name", TEXT_MEASURES.names())
def test_every_measure_is_documented(name: str) -> None:
    assert TEXT_MEASURES[name].summary
    assert TEXT_MEASURES[name].facts["paper"]
