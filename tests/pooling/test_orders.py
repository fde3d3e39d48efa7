"""What every judging order keeps, and the orders of a small example worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.pooling.bandits import Bandit
from assay.pooling.judging import ORDERS, order_of
from assay.pooling.orders import Hedge, Order, precision_share
from tests.oracles import pooling as oracle
from tests.pooling.collections import TOY, TOY_RELEVANT, rankings, topic

EVERY = [*ORDERS.names(), "max-mean(rate=0)", "thompson(rate=0.5)", "max-mean(credit=pulled)",
         "move-to-front(known=skip)", "residual(aim=equalise)", "mtc(measure=dcg)"]  # fmt: skip


def judged(order: Order, relevant: set[str]) -> str:
    """The docs in the order of judging, all of the pool."""
    out = ""
    while len(found := order.next()):
        doc = order.lists.docs[int(found[0])]
        out += doc
        order.tell(int(found[0]), doc in relevant)
    return out


@pytest.mark.parametrize(
    ("text", "docs"),
    [
        # Three runs CBAED, CFAHG, DCAGB; A, F, G relevant; β = .1, p = .8, Beta(1, 1). Ten readings, ten orders.
        ("move-to-front", "CDBFAHGE"),
        ("move-to-front(known=skip)", "CFAHDBGE"),
        ("max-mean", "CBFAHGDE"),
        ("max-mean(credit=pulled)", "CFAHGDBE"),
        ("max-mean(rate=0)", "CBAEFHDG"),
        ("max-mean(rate=0,credit=pulled)", "CFAHDBEG"),
        ("residual(aim=minimise)", "CADBGFEH"),
        ("residual(aim=equalise)", "CADBFGEH"),
        ("residual(aim=top)", "CADFGBHE"),
        ("hedge", "CDAFHBGE"),
        ("depth", "CDBFAEHG"),
    ],
)
def test_golden_orders(text: str, docs: str) -> None:
    assert judged(order_of(text, topic(TOY)), TOY_RELEVANT) == docs


def test_hedge_example() -> None:
    # Lists ABC and BDA: values, then the weights after B was judged not relevant.
    order = order_of("hedge", topic({"s1": "ABC", "s2": "BDA"}))
    assert isinstance(order, Hedge)
    np.testing.assert_allclose(
        order.weights() @ precision_share(order.lists), [0.8370, 1.0397, 0.1438, 0.3466], atol=5e-5
    )
    order.tell(1, False)
    np.testing.assert_allclose(order.weights(), [0.6895, 0.3105], atol=5e-5)
    assert order.next().tolist() == [0]
    assert (order.weights() @ precision_share(order.lists))[0] == pytest.approx(1.0452, abs=5e-5)


def test_a_run_that_outweighs_all_others_by_far_leaves_them_the_docs_it_lacks() -> None:
    runs = {"best": "ABCDEFGH", "good": "AZYX", "bad": "QRST"}
    order = order_of("hedge(beta=0.000001)", topic(runs))
    assert judged(order, set("ABCDEFGHZYX")) == "ABCDEFGHZYXQRST"


@pytest.mark.parametrize("method", ["depth", "hedge", "move-to-front", "max-mean", "mtc", "residual"])
@given(runs=rankings(), data=st.data())
@settings(max_examples=40)
def test_orders_agree_with_plain_loops(method: str, runs: dict[str, str], data: st.DataObject) -> None:
    every = sorted({d for r in runs.values() for d in r})
    relevant = set(data.draw(st.lists(st.sampled_from(every))))
    found = judged(order_of(method, topic(runs)), relevant)
    assert list(found) == oracle.judged_in_order(method, runs, relevant)


@pytest.mark.parametrize("text", EVERY)
@given(runs=rankings(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_laws_of_all_orders(text: str, runs: dict[str, str], data: st.DataObject) -> None:
    seen = topic(runs)
    relevant = set(data.draw(st.lists(st.sampled_from(seen.docs.tolist()))))
    order, replayed = order_of(text, seen, seed=7), order_of(text, seen, seed=7)
    everything = order.next(100)
    assert sorted(everything.tolist()) == list(range(len(seen.docs)))
    told: list[int] = []
    while len(found := order.next()):
        assert order.next(3)[0] == found[0] == order.next()[0]
        assert np.isfinite(order.value())
        told.append(int(found[0]))
        for each in (order, replayed):
            each.tell(told[-1], seen.docs[told[-1]] in relevant)
        # Nobody asked the second order anything, and it stands where the first one does.
        assert replayed.next().tolist() == order.next().tolist()
    assert sorted(told) == list(range(len(seen.docs)))
    assert order.value() == float("-inf")
    assert order.next(5).tolist() == []


@pytest.mark.parametrize("text", EVERY)
def test_a_judgment_nobody_asked_for_is_welcome_and_a_second_one_is_no_news(text: str) -> None:
    seen = topic(TOY)
    order = order_of(text, seen)
    last = int(order.next(8)[-1])
    order.tell(last, True)
    after = order.next(8).tolist()
    order.tell(last, True)
    assert order.next(8).tolist() == after
    assert last not in after
    assert len(after) == 7


@pytest.mark.parametrize("text", ["thompson", "epsilon-greedy", "random"])
def test_seeds_part_random_orders(text: str) -> None:
    seen = topic({f"s{i}": "".join(np.random.default_rng(i).permutation(list("ABCDEFGHIJKL"))) for i in range(6)})
    one, same, other = (order_of(text, seen, seed=s).next(12).tolist() for s in (1, 1, 2))
    assert one == same != other


def test_bandits_fade_and_credit() -> None:
    order = order_of("max-mean(rate=0.5)", topic({"a": "AB", "b": "A"}))
    assert isinstance(order, Bandit)
    order.tell(0, True)
    order.tell(1, False)
    assert order.hits.tolist() == [0.5, 1.0]
    assert order.plays.tolist() == [1.5, 1.0]


def test_ucb_plays_every_run_first() -> None:
    order = order_of("ucb(credit=pulled)", topic({"a": "AB", "b": "CD", "c": "EF"}))
    assert judged(order, {"C"})[:3] == "ACE"


def test_epsilon_greedy_without_exploration_is_greedy() -> None:
    order = order_of("epsilon-greedy(c=0)", topic({"a": "AB", "b": "CD"}))
    assert judged(order, {"C", "D"}) == "ACDB"


def test_one_run_alone_is_judged_from_the_top() -> None:
    for text in EVERY:
        if not text.startswith(("mtc", "reweighting")):
            assert judged(order_of(text, topic({"a": "DCBA"})), {"B"}) == "DCBA"
        else:
            assert sorted(judged(order_of(text, topic({"a": "DCBA"})), {"B"})) == list("ABCD")


@pytest.mark.parametrize(
    "text",
    ["nosuch", "hedge(beta=1)", "hedge(gamma=1)", "move-to-front(known=maybe)", "move-to-front(drop=0)", "ucb(rate=2)",
     "max-mean(credit=none)", "epsilon-greedy(d=0)", "residual(p=1)", "residual(aim=up)", "mtc(prior=0)",
     "mtc(measure=err)", "reweighting(epsilon=0.9)", "reweighting(steps=0)"],
)  # fmt: skip
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        order_of(text, topic(TOY))


def test_every_order_explains_itself() -> None:
    for entry in ORDERS:
        assert entry.summary
        assert entry.facts["paper"]
