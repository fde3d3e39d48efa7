"""Session measures: examples by hand, and the two forms side by side."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.measures.sessions import (
    SESSION_MEASURES,
    Session,
    expected_session_ndcg,
    normalised_session_dcg,
    session_dcg,
    session_dcg_by_list,
)

TOY = Session([[0, 1], [2, 0]], judged=[2, 1], docs=[["a", "b"], ["c", "a"]])


def test_golden_of_the_joined_form() -> None:
    """Kanoulas et al. 2011, bq = 4: 1.492283, over 2.630930 (each doc once) or 3.863247 (the best list twice)."""
    assert session_dcg(TOY, k=2) == pytest.approx(1.492283, abs=5e-7)
    assert normalised_session_dcg(TOY, k=2, ideal="once") == pytest.approx(1.492283 / 2.630930, abs=1e-6)
    assert normalised_session_dcg(TOY, k=2) == pytest.approx(1.492283 / 3.863247, abs=1e-6)


def test_exponential_gain_of_the_track() -> None:
    one = Session([[2]], judged=[2])
    assert session_dcg(one, k=1, gain="exp") == 3.0


def test_first_form_by_hand() -> None:
    """DCG of (0, 1) is 1 with b = 2; that of (2, 0) is 2, divided by 1 + log4(2) = 1.5."""
    assert session_dcg_by_list(TOY, k=2) == pytest.approx(1 + 2 / 1.5)


def test_first_form_rewards_asking_again() -> None:
    """The same docs in two lists beat one list in the first form, not in the joined one."""
    one, two = Session([[0, 0, 2, 2]]), Session([[0, 0], [2, 2]])
    assert session_dcg_by_list(two, k=4) > session_dcg_by_list(one, k=4)
    assert session_dcg(two, k=2) < session_dcg(one, k=4)


def test_repeated_docs_gain_nothing_the_second_time() -> None:
    again = Session([[2], [2]], judged=[2], docs=[["a"], ["a"]])
    assert normalised_session_dcg(again, k=1, ideal="once") == 1.0
    assert normalised_session_dcg(again, k=1) == 1.0
    with pytest.raises(UsageError, match="docs"):
        normalised_session_dcg(Session([[2], [2]], judged=[2]), k=1, ideal="once")


lists = st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=3)


@given(lists=lists, extra=st.lists(st.integers(0, 3), max_size=3))
@settings(max_examples=60, deadline=None)
def test_bounds(lists: list[list[int]], extra: list[int]) -> None:
    """Lists of distinct docs: every normalised score lies in [0, 1]."""
    docs = [[f"{q}-{r}" for r in range(len(grades))] for q, grades in enumerate(lists)]
    session = Session(lists, judged=[x for grades in lists for x in grades] + extra, docs=docs)
    for k in (1, 3):
        for ideal in ("repeat", "once"):
            assert 0 <= normalised_session_dcg(session, k=k, ideal=ideal) <= 1 + 1e-12
        assert 0 <= expected_session_ndcg(session, k=k) <= 1 + 1e-12
        assert session_dcg(session, k=k) >= 0
        assert session_dcg_by_list(session, k=k) >= 0


def test_expected_ndcg_by_hand() -> None:
    """One list (0, 1), down = .5: she stops at rank 1 with .5 (nDCG 0) and at rank 2 with .5 (nDCG .63093)."""
    value = expected_session_ndcg(Session([[0, 1]], judged=[1]), k=2, down=0.5)
    assert value == pytest.approx(0.5 * 0.6309298)


def test_sampled_paths_agree_with_all_paths() -> None:
    session = Session([[0, 1, 2], [2, 0, 1], [1, 1, 0]], judged=[2, 2, 1, 1])
    exact = expected_session_ndcg(session, k=3)
    longer = Session([list(x) + [0] * 17 for x in session.lists], judged=session.judged)
    wide = expected_session_ndcg(longer, k=20, down=0.5, samples=4000, seed=3)
    short = expected_session_ndcg(
        Session([list(x) + [0] * 9 for x in session.lists], judged=session.judged), k=12, down=0.5
    )
    assert 0 < exact < 1
    assert wide == pytest.approx(short, abs=0.02)
    assert wide == expected_session_ndcg(longer, k=20, down=0.5, samples=4000, seed=3)


@pytest.mark.parametrize("name", SESSION_MEASURES.names())
def test_empty_sessions_score_0(name: str) -> None:
    for session in (Session([]), Session([[]]), Session([[0, 0]], judged=[0], docs=[["a", "b"]])):
        assert SESSION_MEASURES[name].function(session) == 0.0
    assert SESSION_MEASURES[name].facts["paper"]


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="known: repeat, once"):
        normalised_session_dcg(TOY, ideal="best")
    with pytest.raises(UsageError, match="probability"):
        expected_session_ndcg(TOY, down=1.5)


def test_fractions_of_grades_are_not_cut() -> None:
    halves = Session([[0, 0.5], [1, 0]], judged=[1, 0.5])
    whole = Session([[0, 1], [2, 0]], judged=[2, 1])
    assert session_dcg(halves, k=2) == pytest.approx(session_dcg(whole, k=2) / 2)
    assert normalised_session_dcg(halves, k=2) == pytest.approx(normalised_session_dcg(whole, k=2))


@pytest.mark.parametrize(
    ("measure", "message"),
    [("sDCG(k=0)", "sDCG: k must be at least 1"), ("esnDCG(down=2)", "esnDCG: down must be from 0 to 1")],
)
def test_limits_of_parameters(measure: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SESSION_MEASURES.call(measure, Session([[1]]))
