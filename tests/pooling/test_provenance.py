"""What is known of a pool: found where the runs account for it, given where somebody says so, else unknown."""

from __future__ import annotations

import pytest

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import known_pool, left_out, pool
from tests.pooling.collections import made


def judged_pool(runs: list[Run], depth: int) -> Qrels:
    """The pool of these runs, judged: every third doc is relevant."""
    found = pool(collected(runs), f"depth(k={depth})").qrels().to_dict()
    return Qrels.from_dict({t: {d: int(i % 3 == 0) for i, d in enumerate(docs)} for t, docs in found.items()})


@pytest.mark.parametrize("depth", [1, 5, 12])
def test_a_pool_to_a_depth_is_found(depth: int) -> None:
    runs, _ = made(1, runs=6, topics=4)
    found = known_pool(runs, judged_pool(runs, depth))
    assert (found.source, found.depth, found.known) == ("found", depth, True)
    assert found.runs == tuple(r.name for r in runs)
    assert found.judged == found.accounted == len(judged_pool(runs, depth))


def test_a_run_that_was_not_pooled_is_told_from_those_that_were() -> None:
    runs, _ = made(1, runs=6, topics=4)
    found = known_pool(runs, judged_pool(runs[:4], 5))
    assert (found.source, found.depth) == ("found", 5)
    assert found.runs == tuple(r.name for r in runs[:4])


def test_some_runs_of_a_pool_are_not_the_pool() -> None:
    """Two runs of six: nothing is claimed, for what one of them alone brought others brought as well."""
    runs, _ = made(1, runs=6, topics=4)
    qrels = judged_pool(runs, 5)
    two = known_pool(runs[:2], qrels)
    assert (two.source, two.known, two.runs, two.depth) == ("unknown", False, (), None)
    assert 0 < two.accounted < two.judged
    assert "name the runs that were pooled" in two.reason
    given = known_pool(runs[:2], qrels, pool_runs=runs)
    assert (given.source, given.depth, len(given.runs)) == ("given", 5, 6)
    assert given.lists is not None
    assert two.lists is None
    honest = left_out(given.lists, "P@5", depth=5).of([r.name for r in runs[:2]])
    naive = left_out(runs[:2], "P@5", qrels=qrels, depth=5)
    assert (naive.loss <= honest.loss).all()
    assert naive.loss.min() < honest.loss.min()


def test_judgments_deep_in_the_lists_are_no_pool() -> None:
    """One relevant doc a topic, far down in both runs: that they retrieved it does not make them its pool."""
    runs = [Run.from_lists(n, {"1": [*docs, "gold"]}) for n, docs in (("a", "ABCD"), ("b", "EFGH"))]
    assert not known_pool(runs, Qrels.from_dict({"1": {"gold": 1}})).known


def test_pooled_docs_without_judgment_count_as_pooled() -> None:
    runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in (("a", "ABX"), ("b", "BCY"))]
    assert known_pool(runs, Qrels.from_dict({"1": {"A": 1, "B": -1, "C": 0}})).depth == 2


def test_the_depth_may_be_given() -> None:
    runs, _ = made(1, runs=6, topics=4)
    qrels = judged_pool(runs, 5)
    assert known_pool(runs, qrels, depth=5).known
    assert not known_pool(runs, qrels, depth=4).known
    assert known_pool(runs[:1], qrels, pool_runs=runs, depth=3).depth == 3
    with pytest.raises(UsageError, match="at least 1 doc deep"):
        known_pool(runs, qrels, depth=0)
    with pytest.raises(UsageError, match="no runs of the pool"):
        known_pool(runs, qrels, pool_runs=[])


def test_a_result_like_any_other() -> None:
    runs, _ = made(1, runs=3, topics=2)
    record = known_pool(runs, judged_pool(runs, 5)).record()
    assert record["result"] == "known_pool"
    assert set(record["rows"][0]) == {"pool", "runs", "depth", "judged", "accounted"}
