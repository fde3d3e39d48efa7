"""Depth against breadth: plain loops on random runs, the thesis's figures on Robust 2004, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.plan.depths import depth
from tests.conftest import real_data
from tests.oracles.plan import pair_at_depth
from tests.pooling.collections import made


def collection(
    seed: int, runs: int = 3, topics: int = 6, docs: int = 12
) -> tuple[list[dict[str, list[str]]], dict[str, dict[str, int]]]:
    """Random rankings of random length; one run lacks a topic, one ranks an unknown one."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(docs)]
    grades = {f"t{t}": {d: int(rng.integers(0, 3)) for d in names if rng.random() < 0.8} for t in range(topics)}
    lists = [
        {f"t{t}": list(rng.permutation(names)[: rng.integers(1, docs)]) for t in range(topics)} for _ in range(runs)
    ]
    del lists[0]["t0"]
    lists[1]["unjudged"] = names[:3]
    return [{t: [str(d) for d in r] for t, r in one.items()} for one in lists], grades


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]))
def test_by_plain_loops(seed: int, rel: int) -> None:
    lists, grades = collection(seed)
    runs = [Run.from_lists(f"run{i}", one) for i, one in enumerate(lists)]
    found = depth(runs, Qrels.from_dict(grades), depths=(1, 3, 20), rel=rel)
    wanted = {
        k: sorted(pair_at_depth(lists[a], lists[b], grades, k, rel) for a, b in ((0, 1), (0, 2), (1, 2)))
        for k in (1, 3, 20)
    }
    for i, k in enumerate((1, 3, 20)):
        seen = sorted(zip(found.judgments[i].tolist(), found.effects[i].tolist(), strict=True))
        assert np.array(seen) == pytest.approx(np.array(wanted[k]), abs=1e-9)


def test_robust_2004() -> None:
    """Three runs of Robust 2004: docs per topic near the thesis's means of 100 pairs, 3.37, 8.1, 15.7 and 151.

    5,000 judgments: 33 topics at depth 100, 161 at depth 20, 617 at depth 5 are printed.
    """
    from assay.io import read_qrels, read_run

    folder = real_data("trec-robust-2004")
    runs = [read_run(path) for path in sorted((folder / "runs").iterdir())]
    found = depth(runs, read_qrels(folder / "qrels.txt.xz"))
    docs = dict(zip(found.depths, found.judgments.mean(axis=1), strict=True))
    assert [docs[k] for k in (2, 5, 10, 100)] == pytest.approx([3.37, 8.1, 15.7, 151], rel=0.05)
    topics = dict(zip(found.depths, found.topics.tolist(), strict=True))
    assert [topics[k] for k in (100, 20, 5)] == pytest.approx([33, 161, 617], rel=0.07)
    assert found.found[0] >= found.found[-1]  # many topics judged shallow find more
    assert 45 * topics[100] > topics[5] > 15 * topics[100]


def test_identical_runs_have_no_effect() -> None:
    lists, grades = collection(1)
    runs = [Run.from_lists(name, lists[2]) for name in "abcd"]
    found = depth(runs, Qrels.from_dict(grades), depths=(2, 5))
    assert not found.effects.any()
    assert not found.found.any()
    assert "nan" not in found.table().text().lower()


def test_bad_input() -> None:
    lists, grades = collection(1)
    runs, qrels = [Run.from_lists(f"r{i}", one) for i, one in enumerate(lists)], Qrels.from_dict(grades)
    with pytest.raises(DataError, match="needs two of each"):
        depth(runs[:1], qrels)
    with pytest.raises(UsageError, match="must be positive"):
        depth(runs, qrels, depths=(0, 5))
    with pytest.raises(UsageError, match="must be positive"):
        depth(runs, qrels, budget=0)
    nothing = depth(runs, qrels, budget=1)
    assert nothing.topics.max() <= 1
    assert not nothing.found.any()


def test_a_topic_that_costs_something_to_start() -> None:
    runs, qrels = made(1, runs=6, topics=10)
    free = depth(runs, qrels, depths=(2, 10), budget=200)
    dear = depth(runs, qrels, depths=(2, 10), budget=200, start_up=15)
    assert dear.topics.tolist() == [int(200 // (docs + 15)) for docs in free.judgments.mean(axis=1)]
    np.testing.assert_array_equal(dear.effects, free.effects)
    assert "costs as much as 15 judgments" in dear.table().notes[-1]
    with pytest.raises(UsageError, match="0 judgments or more"):
        depth(runs, qrels, start_up=-1)
