"""Nugget recall, support and ARGUE: printed values, plain loops, and laws that hold whatever was assigned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.measures import TEXT_MEASURES
from assay.measures.assigned_answers import RECALLS, NuggetCounts, ReportCounts, SupportCounts
from tests.oracles import answers as oracle

KINDS = tuple(RECALLS)
OF_SUPPORT = ("SupportP", "SupportR", "SupportF1", "SentenceP")
NUGGET = st.tuples(st.sampled_from(["vital", "okay"]), st.sampled_from(list(oracle.CREDIT)))
NUGGETS = st.lists(NUGGET, max_size=12)
SENTENCES = st.lists(st.lists(st.sampled_from(list(oracle.SUPPORT)), max_size=4), max_size=8)

NUGGETIZER = [
    # The values that nuggetizer's own tests and those of a second implementation of its scores expect.
    ([("vital", "support"), ("okay", "partial_support")], (1.0, 1.0, 0.5, 0.75)),
    ([("vital", "support"), ("vital", "partial_support"), ("okay", "not_support")], (0.5, 0.75, 1 / 3, 0.5)),
    ([("vital", "support")], (1.0, 1.0, 1.0, 1.0)),
    ([("vital", "not_support")], (0.0, 0.0, 0.0, 0.0)),
    ([], (0.0, 0.0, 0.0, 0.0)),
]
ARGUE = [
    # Correctly cited sentences, sentences, correct nuggets, nuggets; the sentence support, nugget coverage and F1 that
    # Auto-ARGUE printed for topics 300, 308, 310, 334, 351 and 373 of its example run.
    (14, 15, 9, 15, 0.9333333333333333, 0.6, 0.7304347826086957),
    (9, 10, 6, 10, 0.9, 0.6, 0.7200000000000001),
    (10, 11, 6, 11, 0.9090909090909091, 0.5454545454545454, 0.6818181818181818),
    (16, 18, 15, 19, 0.8888888888888888, 0.7894736842105263, 0.8362369337979094),
    (11, 11, 8, 10, 1.0, 0.8, 0.888888888888889),
    (12, 13, 7, 13, 0.9230769230769231, 0.5384615384615384, 0.6801619433198379),
]


def score(measure: str, counts: object) -> float:
    return float(TEXT_MEASURES.call(measure, counts))


@pytest.mark.parametrize(("nuggets", "printed"), NUGGETIZER)
def test_nugget_recall_as_nuggetizer_has_it(
    nuggets: list[tuple[str, str]], printed: tuple[float, float, float, float]
) -> None:
    counts = NuggetCounts.of(nuggets)
    found = [score(kind, counts) for kind in ("V_strict", "V_lenient", "A_strict", "A_lenient")]
    assert found == pytest.approx(list(printed))


def test_weighted_recall_by_hand() -> None:
    """Two vital nuggets, one of them found; three okay, one found and one found partially."""
    nuggets = [("vital", "support"), ("vital", "not_support"), ("okay", "support"), ("okay", "partial_support")]
    counts = NuggetCounts.of([*nuggets, ("okay", "not_support")])
    assert score("W_strict", counts) == pytest.approx((1 + 0.5) / (2 + 1.5))
    assert score("W_lenient", counts) == pytest.approx((1 + 0.5 + 0.25) / (2 + 1.5))
    assert score("W_lenient(okay=1)", counts) == score("A_lenient", counts)
    assert score("W_lenient(okay=0)", counts) == score("V_lenient", counts)
    assert score("A_lenient(partial=0)", counts) == score("A_strict", counts)


def test_support_by_hand() -> None:
    """Four citations of three sentences, one sentence without any."""
    counts = SupportCounts.of([["full", "partial"], ["none"], ["full"], []])
    assert score("SupportP", counts) == 2.5 / 4
    assert score("SupportR", counts) == 2 / 4
    assert score("SupportF1", counts) == pytest.approx(2 * 0.625 * 0.5 / 1.125)
    assert score("SentenceP", counts) == 1 / 4
    assert score("SentenceP(partial=0.5)", counts) == 1.5 / 4
    assert score("SupportP(partial=0)", counts) == 2 / 4


def test_support_where_only_first_citations_were_judged() -> None:
    """One citation for each sentence that has any, as in TREC RAG 2024: precision over cited ones, recall over all."""
    counts = SupportCounts.of([["full"], ["partial"], ["none"], [], []])
    assert score("SupportP", counts) == 0.5
    assert score("SupportR", counts) == 0.3


@pytest.mark.parametrize(("cited", "sentences", "correct", "nuggets", "precision", "recall", "f1"), ARGUE)
def test_reports_as_auto_argue_scored_them(
    cited: int, sentences: int, correct: int, nuggets: int, precision: float, recall: float, f1: float
) -> None:
    support = SupportCounts.of([["full"]] * cited + [["none"]] * (sentences - cited))
    found = NuggetCounts.of([("okay", "support")] * correct + [("okay", "not_support")] * (nuggets - correct))
    report = ReportCounts(found, support)
    assert score("SentenceP", support) == precision
    assert score("A_strict", found) == recall
    assert score("ArgueF1", report) == pytest.approx(f1, abs=1e-15)


def test_the_recall_of_a_report_can_be_chosen() -> None:
    nuggets = NuggetCounts.of([("vital", "partial_support"), ("okay", "support")])
    report = ReportCounts(nuggets, SupportCounts.of([["full"]]))
    for kind in KINDS:
        recall = score(kind, nuggets)
        assert score(f"ArgueF1(recall={kind})", report) == pytest.approx(2 * recall / (1 + recall))
    with pytest.raises(UsageError, match="no kind of nugget recall 'NuggetR'; known: V_strict"):
        score("ArgueF1(recall=NuggetR)", report)


@given(NUGGETS)
def test_nugget_recall_against_a_loop(nuggets: list[tuple[str, str]]) -> None:
    counts = NuggetCounts.of(nuggets)
    for kind in KINDS:
        assert score(kind, counts) == pytest.approx(oracle.nugget_recall(nuggets, kind))


@given(SENTENCES)
def test_support_against_a_loop(sentences: list[list[str]]) -> None:
    counts = SupportCounts.of(sentences)
    for kind in OF_SUPPORT:
        assert score(kind, counts) == pytest.approx(oracle.support(sentences, kind))


@given(NUGGETS, st.randoms())
def test_strict_is_at_most_lenient_and_order_does_not_matter(nuggets: list[tuple[str, str]], rng: object) -> None:
    counts = NuggetCounts.of(nuggets)
    for which in "VAW":
        strict, lenient = score(f"{which}_strict", counts), score(f"{which}_lenient", counts)
        assert 0 <= strict <= lenient <= 1
    weighted = score("W_lenient", counts)
    ends = sorted([score("V_lenient", counts), score("A_lenient", counts)])
    if any(importance == "vital" for importance, _ in nuggets):
        assert ends[0] - 1e-12 <= weighted <= ends[1] + 1e-12
    rng.shuffle(nuggets)  # type: ignore[attr-defined]
    assert NuggetCounts.of(nuggets) == counts


@given(NUGGETS, st.integers(0, 11))
def test_more_support_never_scores_less(nuggets: list[tuple[str, str]], place: int) -> None:
    if not nuggets:
        return
    at = place % len(nuggets)
    better = [(i, "support") if k == at else (i, a) for k, (i, a) in enumerate(nuggets)]
    for kind in KINDS:
        assert score(kind, NuggetCounts.of(better)) >= score(kind, NuggetCounts.of(nuggets)) - 1e-12


@given(SENTENCES)
def test_support_lies_between_0_and_1(sentences: list[list[str]]) -> None:
    counts = SupportCounts.of(sentences)
    found = {kind: score(kind, counts) for kind in OF_SUPPORT}
    assert all(0 <= value <= 1 for value in found.values())
    assert found["SentenceP"] <= found["SupportR"]
    assert min(found["SupportP"], found["SupportR"]) - 1e-12 <= found["SupportF1"]
    assert found["SupportF1"] <= max(found["SupportP"], found["SupportR"]) + 1e-12
    uncited = SupportCounts.of([*sentences, []])
    assert score("SupportP", uncited) == found["SupportP"]
    assert score("SupportR", uncited) <= found["SupportR"]


def test_counts_may_be_arrays_of_many_answers() -> None:
    answers = [[("vital", "support")], [("okay", "partial_support"), ("vital", "not_support")], []]
    each = [NuggetCounts.of(nuggets) for nuggets in answers]
    fields = NuggetCounts.__dataclass_fields__
    many = NuggetCounts(**{name: np.array([getattr(one, name) for one in each]) for name in fields})
    for kind in KINDS:
        assert TEXT_MEASURES.call(kind, many).tolist() == [score(kind, one) for one in each]


@pytest.mark.parametrize("wrong", ["V_lenient(partial=2)", "W_strict(okay=-1)", "SupportP(partial=x)", "A_strict(k=1)"])
def test_parameters_outside_their_limits_are_refused(wrong: str) -> None:
    with pytest.raises(UsageError):
        score(wrong, NuggetCounts.of([]))
