from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import pool, pools
from assay.pooling.pools import POOLS, contributions, majorities
from tests.pooling.collections import made_lists, rankings, topic

FOUR = {"A": "abcd", "B": "adbe", "C": "cafe", "D": "bgef"}
THREE = {"x": "acbd", "y": "bcae", "z": "cabe"}


def chosen(text: str, runs: dict[str, str]) -> tuple[str, list[float]]:
    seen = topic(runs)
    entry, given_parameters = POOLS.parse(text)
    docs, weights = entry.function(seen, **given_parameters)
    return "".join(seen.docs.take(docs)), weights.round(4).tolist()


@pytest.mark.parametrize(
    ("text", "runs", "docs", "weights"),
    [
        # Worked by hand after Nuray & Can 2006: n points for the first of n docs, the rest shared equally.
        ("borda", THREE, "cabed", [13, 12, 11, 5, 4]),
        ("borda", FOUR, "abcedfg", [22, 20, 16, 15, 14, 13, 12]),
        ("rrf(n=2)", FOUR, "ab", [round(2 / 61 + 1 / 62, 4), round(1 / 62 + 1 / 63 + 1 / 61, 4)]),
        ("rrf(c=0)", FOUR, "abcedfg", [2.5, 1.8333, 1.3333, 0.8333, 0.75, 0.5833, 0.5]),
        ("dcg(n=1)", FOUR, "a", [2.6309]),
        ("rbp(n=1)", FOUR, "a", [0.56]),
        ("take(n=4)", FOUR, "acbd", [1, 1, 1, 0.5]),
        ("depth(k=1)", FOUR, "acb", [1, 1, 1]),
        ("depth(k=2)", FOUR, "acbdg", [1, 1, 1, 0.5, 0.5]),
    ],
)
def test_golden_pools(text: str, runs: dict[str, str], docs: str, weights: list[float]) -> None:
    assert chosen(text, runs) == (docs, weights)


def test_condorcet_counts_majorities() -> None:
    # Voters a>b>c, a>c>b, a>(b=c), b>a, c>a: a beats both 4 to 1, b and c tie 2 to 2.
    docs, weights = chosen("condorcet", {"1": "abc", "2": "acb", "3": "a", "4": "ba", "5": "ca"})
    assert docs == "abc"
    assert weights[1] == weights[2] < weights[0]


@given(rankings())
def test_condorcet_is_the_count_of_duels(runs: dict[str, str]) -> None:
    docs, _ = chosen("condorcet", runs)

    def beats(x: str, y: str) -> int:
        votes = 0
        for ranking in runs.values():
            far = len(ranking) + 1
            rank = {d: ranking.index(d) if d in ranking else far for d in (x, y)}
            votes += int(np.sign(rank[y] - rank[x]))
        return int(np.sign(votes))

    record = {d: [beats(d, e) for e in docs if e != d] for d in docs}
    keys = [(record[d].count(1), -record[d].count(-1)) for d in docs]
    assert keys == sorted(keys, reverse=True)


def test_majorities_are_the_same_in_small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = made_lists(3).topic(0)
    whole = majorities(seen)
    monkeypatch.setattr(pools, "PAIRS_AT_ONCE", 4 * len(seen.docs))
    np.testing.assert_array_equal(majorities(seen), whole)


def test_comb_sum_and_mnz() -> None:
    runs = [Run.from_dict("a", {"1": {"x": 4.0, "y": 2.0, "z": 0.0}}), Run.from_dict("b", {"1": {"y": 9.0, "w": 1.0}})]
    seen = collected(runs)
    summed = pool(seen, "combsum")
    assert dict(zip(summed.docs, summed.weights.tolist(), strict=True)) == {"y": 1.5, "x": 1.0, "w": 0.0, "z": 0.0}
    assert pool(seen, "combmnz").weights.tolist() == [3.0, 1.0, 0.0, 0.0]


@given(rankings())
@settings(max_examples=30, deadline=None)
def test_pools_are_sets_of_pooled_docs_and_nested_in_size(runs: dict[str, str]) -> None:
    every = sorted({d for ranking in runs.values() for d in ranking})
    for entry in POOLS:
        docs, weights = chosen(entry.name, runs)
        assert sorted(docs) == every
        assert weights == sorted(weights, reverse=True)
        if "n" in entry.parameters:
            assert chosen(f"{entry.name}(n=2)", runs)[0] == docs[:2]


def test_pool_of_a_collection_keeps_topics_together() -> None:
    seen = made_lists(1, runs=5, topics=3)
    found = pool(seen, "rrf(n=7)")
    assert np.bincount(found.topic).tolist() == [7, 7, 7]
    qrels = found.qrels()
    assert qrels.topics == seen.topics
    assert set(qrels.grades.tolist()) == {-1}
    assert found.table().columns == ("topic", "doc", "weight")


def test_groups_vote_once() -> None:
    copies = {f"copy{i}": "AB" for i in range(5)}
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (copies | {"x": "CD", "y": "CD"}).items()]
    teams = dict.fromkeys(copies, "copies") | {"x": "x", "y": "y"}
    seen = collected(runs, groups=teams)
    assert pool(seen, "rrf(n=1)").docs.tolist() == ["A"]
    assert pool(seen, "rrf(n=1)", by="group").docs.tolist() == ["C"]
    with pytest.raises(UsageError, match="known: run, group"):
        pool(seen, by="year")


def test_contributions_by_run_and_by_group() -> None:
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (("a", "AB"), ("b", "BC"), ("c", "CD"))]
    seen = collected(runs, Qrels.from_dict({"1": {"A": 1, "C": 1, "D": 0}}), groups={"b": "g", "c": "g"})
    found = contributions(seen, pool(seen, "depth(k=2)"))
    columns = (found.contributed, found.alone, found.relevant, found.relevant_alone)
    assert [c.tolist() for c in columns if c is not None] == [[2, 2, 2], [1, 0, 1], [1, 1, 1], [1, 0, 0]]
    by_group = contributions(seen, pool(seen, "depth(k=2)"), by="group")
    assert by_group.alone.tolist() == [1, 2]
    unjudged = collected(runs)
    assert contributions(unjudged, pool(unjudged)).table().column("relevant") == [None, None, None]


@pytest.mark.parametrize("text", POOLS.names())
def test_a_topic_that_no_run_has_gives_no_docs(text: str) -> None:
    seen = collected([Run.from_lists("a", {"1": ["A"]})], Qrels.from_dict({"1": {"A": 1}, "7": {"Q": 1}}))
    assert pool(seen, text).docs.tolist() == ["A"]


@pytest.mark.parametrize("text", ["depth(k=0)", "rrf(n=0)", "rbp(p=1)", "borda(k=3)", "nosuch"])
def test_a_pool_that_makes_no_sense_is_an_error(text: str) -> None:
    with pytest.raises(UsageError):
        pool(made_lists(1, runs=3, topics=1), text)


@pytest.mark.parametrize("text", [t for t in POOLS.names() if t not in ("depth", "take")])
def test_fusion_does_not_know_the_order_of_the_runs(text: str) -> None:
    assert chosen(text, FOUR) == chosen(text, dict(reversed(list(FOUR.items()))))
