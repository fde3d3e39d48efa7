from __future__ import annotations

import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import Judging, Judgment
from assay.pooling.judging import ORDERS
from assay.pooling.voters import voters
from tests.pooling.collections import made, made_lists

RUNS = [
    Run.from_lists("a", {"1": list("ABC"), "2": list("XY")}),
    Run.from_lists("b", {"1": list("CAD"), "2": list("Z")}),
]


def judge(session: Judging, grades: dict[str, dict[str, int]], n: int) -> list[tuple[str, str]]:
    told = []
    for _ in range(n):
        for topic, doc in session.next():
            session.tell([Judgment(topic, doc, grades[topic][doc])])
            told.append((topic, doc))
    return told


def test_topics_take_turns() -> None:
    session = Judging(collected(RUNS), "depth")
    assert session.next(7) == [("1", "A"), ("2", "X"), ("1", "C"), ("2", "Z"), ("1", "B"), ("2", "Y"), ("1", "D")]
    session.tell([Judgment("1", "A", 0), Judgment("1", "C", 1)])
    assert session.next(2) == [("2", "X"), ("2", "Z")]
    assert session.judged() == 2
    assert session.qrels().to_dict() == {"1": {"A": 0, "C": 1}}


@pytest.mark.parametrize("order", ORDERS.names())
@pytest.mark.parametrize("spread", ["local", "global"])
def test_a_resumed_session_goes_on_as_it_would_have(order: str, spread: str) -> None:
    _, qrels = made(4, runs=4, topics=3, docs=30, depth=10)
    seen, grades = made_lists(4, runs=4, topics=3, docs=30, depth=10), qrels.to_dict()
    straight = Judging(seen, order, spread=spread, seed=5)
    told = judge(straight, grades, 20)
    resumed = Judging(seen, order, spread=spread, seed=5)
    resumed.tell(Judgment(t, d, grades[t][d]) for t, d in told[:11])
    assert judge(resumed, grades, 9) == told[11:]


def test_everything_is_judged_once() -> None:
    _, qrels = made(4, runs=4, topics=3, docs=30, depth=10)
    seen = made_lists(4, runs=4, topics=3, docs=30, depth=10)
    session = Judging(seen, "hedge", spread="global")
    told = judge(session, qrels.to_dict(), 1000)
    assert len(told) == len(set(told)) == sum(len(voters(seen, t).docs) for t in range(3))
    assert session.next(5) == []


def test_a_correction_counts_from_the_start() -> None:
    _, qrels = made(4, runs=4, topics=2, docs=30, depth=10)
    seen, grades = made_lists(4, runs=4, topics=2, docs=30, depth=10), qrels.to_dict()
    session, right = Judging(seen, "hedge"), Judging(seen, "hedge")
    told = judge(right, grades, 6)
    session.tell(Judgment(t, d, grades[t][d] if i != 2 else 1 - grades[t][d]) for i, (t, d) in enumerate(told))
    session.tell([Judgment(*told[2], grades[told[2][0]][told[2][1]])])
    assert session.next(8) == right.next(8)
    assert session.qrels().to_dict() == right.qrels().to_dict()


def test_runs_are_weighed_over_all_topics_together() -> None:
    session = Judging(collected(RUNS), "reweighting")
    first, second = session.orders
    assert first.log_weights is second.log_weights  # type: ignore[attr-defined]
    session.tell([Judgment("1", "A", 1), Judgment("1", "B", 0)])
    assert second.log_weights.tolist() != [0, 0]  # type: ignore[attr-defined]


def test_relevant_from_a_grade_on() -> None:
    strict, lenient = Judging(collected(RUNS), "move-to-front", rel=2), Judging(collected(RUNS), "move-to-front")
    for session in (strict, lenient):
        session.tell([Judgment("1", "A", 1), Judgment("2", "X", 0)])
    assert strict.next() == [("1", "C")]
    assert lenient.next() == [("1", "B")]


def test_groups_vote_as_one() -> None:
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (("a", "AB"), ("b", "AB"), ("c", "CD"))]
    seen = collected(runs, groups={"a": "g", "b": "g"})
    assert Judging(seen, "depth", by="group").orders[0].lists.runs == ("g", "c")


def test_mtc_session_stops_when_sure() -> None:
    _, qrels = made(6, runs=2, topics=6, docs=40, depth=20)
    seen = made_lists(6, runs=2, topics=6, docs=40, depth=20)
    session, grades = Judging(seen, "mtc", spread="global"), qrels.to_dict()
    while not session.confidence().reached(0.95):
        session.focus(session.confidence().undecided(0.95))
        assert judge(session, grades, 1)
    assert 0 < session.judged() < sum(len(voters(seen, t).docs) for t in range(6))
    assert session.confidence().above[1, 0] >= 0.95


def test_bad_input_is_one_clear_error() -> None:
    session = Judging(collected(RUNS))
    with pytest.raises(DataError, match="topic 1: doc 'Q' is not in the pool"):
        session.tell([Judgment("1", "Q", 1)])
    with pytest.raises(DataError, match="no topic '7' in the runs"):
        session.tell([Judgment("7", "A", 1)])
    with pytest.raises(UsageError, match="ask for at least 1"):
        session.next(0)
    with pytest.raises(UsageError, match="no spread 'wide'"):
        Judging(collected(RUNS), spread="wide")
    with pytest.raises(UsageError, match="only the order 'mtc'"):
        session.confidence()


@pytest.mark.parametrize("order", ORDERS.names())
def test_a_topic_that_no_run_has_is_never_asked(order: str) -> None:
    seen = collected(RUNS, Qrels.from_dict({"1": {"A": 1}, "7": {"Q": 1}}))
    session = Judging(seen, order, spread="global")
    assert {t for t, _ in session.next(10)} == {"1"}
    if order == "mtc":
        assert session.confidence().above.shape == (2, 2)


def test_a_topic_that_one_run_alone_has_and_runs_without_common_topics() -> None:
    apart = collected([Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"2": ["y"]})])
    for order in ORDERS.names():
        assert Judging(apart, order).next(5) == [("1", "x"), ("2", "y")]
