"""A budget over all topics: one depth that it pays for, or as many docs for every topic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Run
from assay.data.lists import Lists, collected
from assay.pooling import pool
from assay.pooling.budgets import affordable_depth, spread_evenly
from assay.pooling.pools import POOLS
from tests.pooling.collections import made_lists

WHOLE = made_lists(3, runs=6, topics=5)


@pytest.mark.parametrize("budget", [5, 17, 40, 99, 100_000])
def test_a_pool_by_depth_is_as_deep_as_the_budget_pays_for(budget: int) -> None:
    smallest = len(pool(WHOLE, "depth(k=1)"))
    if budget < smallest:
        with pytest.raises(UsageError, match=f"budget {budget}: depth 1 has {smallest} docs already"):
            pool(WHOLE, "depth(k=100)", budget=budget)
        return
    found = pool(WHOLE, "depth(k=100)", budget=budget)
    assert len(found) <= budget
    # The method that it names makes the same pool, and one rank more would cost too much, or does not exist.
    again = pool(WHOLE, found.method)
    assert again.docs.tolist() == found.docs.tolist()
    k = int(found.method.removeprefix("depth(k=").removesuffix(")"))
    assert len(pool(WHOLE, f"depth(k={k + 1})")) > budget or k == WHOLE.depth
    assert f"budget {budget}, {budget - len(found)} not spent" in found.table().notes[0]


def test_the_depth_of_the_method_is_the_deepest() -> None:
    assert pool(WHOLE, "depth(k=2)", budget=10_000).docs.tolist() == pool(WHOLE, "depth(k=2)").docs.tolist()


@pytest.mark.parametrize("method", [name for name in POOLS.names() if name != "depth"])
@pytest.mark.parametrize("budget", [3, 18, 10_000])
def test_other_pools_give_every_topic_the_same_number(method: str, budget: int) -> None:
    whole = pool(WHOLE, method)
    found = pool(WHOLE, method, budget=budget)
    assert len(found) == min(budget, len(whole))
    counts = np.bincount(found.topic, minlength=5)
    assert counts.max() - counts.min() <= 1 or budget > len(whole)
    for t in range(5):
        first = whole.items[whole.topic == t][: counts[t]]
        assert found.items[found.topic == t].tolist() == first.tolist()
    assert len(pool(WHOLE, f"{method}(n=2)", budget=10_000)) == 10


def lists_of_sizes(*sizes: int) -> Lists:
    return collected([Run.from_lists("a", {str(t): [f"d{i}" for i in range(n)] for t, n in enumerate(sizes)})])


def test_what_a_topic_cannot_use_goes_to_the_others() -> None:
    found = pool(lists_of_sizes(2, 10, 10), "rrf", budget=13)
    assert np.bincount(found.topic).tolist() == [2, 6, 5]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(1, 200))
def test_spread_against_one_doc_at_a_time(sizes: list[int], budget: int) -> None:
    """Give each topic one doc in turn until the budget or the docs run out."""
    counts = [0] * len(sizes)
    left = budget
    while left and any(c < s for c, s in zip(counts, sizes, strict=True)):
        for t, size in enumerate(sizes):
            if left and counts[t] < size:
                counts[t] += 1
                left -= 1
    assert spread_evenly(np.array(sizes), budget).tolist() == counts


@given(st.lists(st.integers(1, 20), min_size=1, max_size=40), st.integers(1, 60))
def test_depth_against_counting(ranks: list[int], budget: int) -> None:
    best_ranks = np.array(ranks)
    fitting = [k for k in range(1, max(ranks) + 1) if (best_ranks <= k).sum() <= budget]
    if fitting:
        assert affordable_depth(best_ranks, budget) == max(fitting)
    else:
        with pytest.raises(UsageError, match="depth 1 has"):
            affordable_depth(best_ranks, budget)


def test_a_budget_of_nothing() -> None:
    with pytest.raises(UsageError, match="budget is 0"):
        pool(WHOLE, budget=0)
