"""The one call for all searches: merging, budget, resume, interruption, seeds; NSGA-II and the greedy exchange."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.topics.archive import Archive
from assay.topics.holdout import hold_out
from assay.topics.nsga import first_population, fronts, offspring
from assay.topics.problem import problem
from assay.topics.search import SEARCHES, search_subsets
from tests.oracles import topics as oracle
from tests.topics.released import made


@pytest.mark.parametrize(
    "name", ["swap", "exact", "greedy(k=1)", "greedy(k=3)", "nsga(population=50, evaluations=2000)", "auto"]
)
@pytest.mark.parametrize("criterion", ["tau", "pearson"])
def test_no_search_beats_proof_and_each_value_is_its_set_s(name: str, criterion: str) -> None:
    ready = problem(made(runs=9, topics=9, seed=1), criterion=criterion)
    found, proved = search_subsets(ready, search=name), search_subsets(ready, search="exact")
    assert (found.values("best") <= proved.values("best") + 1e-12).all()
    assert (found.values("worst") >= proved.values("worst") - 1e-12).all()
    for side in ("best", "worst"):
        np.testing.assert_allclose(found.values(side), ready.of_masks(found.masks(side)), atol=1e-12)
    assert found.evaluations > 0


@pytest.mark.parametrize("name", SEARCHES.names())
def test_same_seed_same_sets(name: str) -> None:
    text = "nsga(population=40, evaluations=800)" if name == "nsga" else name
    one, two = (search_subsets(made(), search=text, seed=3) for _ in range(2))
    for side in ("best", "worst"):
        np.testing.assert_array_equal(one.masks(side), two.masks(side))


def test_merged_searches_are_at_least_as_good_as_each() -> None:
    matrix = made(runs=15, topics=20, seed=4)
    small = "nsga(population=60, evaluations=600)"
    merged = search_subsets(matrix, search=f"{small}+greedy(k=1)").values("best")
    assert (merged >= search_subsets(matrix, search="greedy(k=1)").values("best")).all()
    assert (merged >= search_subsets(matrix, search=small).values("best") - 0.05).all()


def test_greedy_with_more_exchange_is_seldom_worse_and_k_is_bounded() -> None:
    matrix = made(runs=15, topics=14, seed=6)
    one, three = (search_subsets(matrix, search=f"greedy(k={k})").values("best") for k in (1, 3))
    assert three.mean() >= one.mean()
    with pytest.raises(UsageError, match="k must be from 1 to 3"):
        search_subsets(matrix, search="greedy(k=4)")


def test_greedy_one_adds_one_topic_at_a_time() -> None:
    masks = search_subsets(made(), search="greedy(k=1)").masks("best")
    assert all((masks[i] <= masks[i + 1]).all() for i in range(len(masks) - 1))


def test_a_budget_stops_with_all_cells_filled() -> None:
    found = search_subsets(made(runs=15, topics=30), search="nsga(population=60, evaluations=100000000)", seconds=0.2)
    assert found.stopped == "time"
    assert len(found.values("worst")) == 29
    assert "time budget" in found.note()


def test_an_interrupt_keeps_the_best_so_far() -> None:
    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    found = search_subsets(made(), search="swap", progress=stop)
    assert found.stopped == "interrupt"
    assert len(found.values()) == 9


def test_an_interrupt_ends_what_is_a_mean_of_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short = replace(search_subsets(made(), search="swap"), stopped="interrupt")
    monkeypatch.setattr("assay.topics.holdout.search_subsets", lambda *_, **__: cut_short)
    with pytest.raises(KeyboardInterrupt):
        hold_out(made())


def test_nothing_beats_a_perfect_set() -> None:
    found = search_subsets(made(runs=3, topics=12), search="swap", keep=2)
    perfect = [c for c in range(1, 12) if found.sets["best"][c][1].tolist() == [1.0, 1.0]]
    assert perfect
    assert found.proved == {"best": frozenset(perfect), "worst": frozenset()}


def test_slow_criteria_are_proved_less_far() -> None:
    quick, slow = (
        search_subsets(made(runs=4, topics=26), criterion=c, cardinalities=(6,)) for c in ("tau", "spearman")
    )
    assert quick.evaluations > 200_000
    assert slow.evaluations > 200_000  # 230,230 subsets: both are listed
    beyond = search_subsets(made(runs=4, topics=28), criterion="spearman", cardinalities=(6,))  # 376,740
    assert beyond.evaluations < 200_000


def test_an_interrupt_before_anything_is_an_interrupt() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_subsets(made(), search="exact", progress=stop)


def test_resume_goes_on_and_adds_up(tmp_path: Path) -> None:
    path, matrix = tmp_path / "found.json", made(runs=15, topics=16)
    first = search_subsets(matrix, search="nsga(population=40, evaluations=400)", resume=path)
    second = search_subsets(matrix, search="swap(rounds=1)", resume=path)
    assert (second.values("best") >= first.values("best")).all()
    assert second.evaluations > first.evaluations
    proved = search_subsets(matrix, search="exact", resume=path)
    assert proved.proved["best"] == frozenset(range(1, 16))
    assert search_subsets(matrix, search="greedy(k=1)", resume=path).proved == proved.proved


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    search_subsets(made(), search="greedy(k=1)", resume=path)
    with pytest.raises(DataError, match="other scores or another criterion"):
        search_subsets(made(seed=1), search="greedy(k=1)", resume=path)
    with pytest.raises(DataError, match="other scores or another criterion"):
        search_subsets(made(), search="greedy(k=1)", criterion="pearson", resume=path)
    for text in ("{}", "[1]", "not json"):
        path.write_text(text)
        with pytest.raises(DataError, match="not a file of a topic search"):
            search_subsets(made(), resume=path)


def test_one_side_only() -> None:
    found = search_subsets(made(), search="swap", sides=("worst",))
    assert list(found.sets) == ["worst"]
    with pytest.raises(UsageError, match="no side 'middle'"):
        search_subsets(made(), sides=("middle",))


def test_gaps_are_told() -> None:
    found = search_subsets(made(), search="exact(subsets=20)")
    assert found.subsets("best", c=1)[0].proved
    with pytest.raises(UsageError, match="no subsets of 2 topics; add"):
        found.values()
    with pytest.raises(UsageError, match="no subsets of 5 topics"):
        found.subsets(c=5)


def test_equal_values_keep_distinct_sets_in_one_order() -> None:
    ready = problem(made(runs=3, topics=8))
    masks = np.array([[i == j for j in range(8)] for i in range(8)])
    one, two = Archive(ready, keep=4), Archive(ready, keep=4)
    values = np.full(8, 0.5)
    one.offer(np.ones(8, int), masks, values)
    two.offer(np.ones(8, int), masks[::-1], values)
    np.testing.assert_array_equal(one.sets(1, 1)[0], two.sets(1, 1)[0])
    assert len(one.sets(1, 1)[0]) == 4


def test_table_and_note() -> None:
    found = search_subsets(made(), search="exact")
    assert found.table("best").columns == ("topics", "place", "tau", "optimal", "set")
    assert found.table("worst", c=3).column("optimal") == ["proved"] * 10
    assert found.note().startswith("Kendall's τ-b with the ranking of 12 runs by all 10 topics; search exact")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_fronts_are_the_peeled_ones(points: list[tuple[int, int]]) -> None:
    costs = np.array(points, float)
    assert fronts(costs)[0].tolist() == oracle.dominated_ranks(costs)


def test_first_population_holds_every_cardinality() -> None:
    masks = first_population(20, 100, np.random.default_rng(0))
    assert masks[:19].sum(axis=1).tolist() == list(range(1, 20))
    assert masks.any(axis=1).all()


def test_children_are_and_and_or() -> None:
    rng = np.random.default_rng(0)
    masks = rng.random((40, 12)) < 0.5
    masks[0] = True
    rank, crowding = np.zeros(40, int), np.zeros(40)
    children: Any = offspring(masks, rank, crowding, rng, crossover=1.0, mutation=0.0)
    known = {tuple(m) for m in masks}
    pairs = {tuple(a & b) for a in masks for b in masks} | {tuple(a | b) for a in masks for b in masks}
    assert all(tuple(c) in pairs for c in children if c.sum() > 1)
    copies = offspring(masks, rank, crowding, rng, crossover=0.0, mutation=0.0)
    assert all(tuple(c) in known for c in copies)
    flipped = offspring(masks, rank, crowding, rng, crossover=0.0, mutation=1.0)
    distance = [min(int((c ^ m).sum()) for m in masks) for c in flipped]
    assert max(distance) <= 2  # one flip, or one flip and the repair of an empty child


def test_nsga_needs_a_subset_per_topic() -> None:
    with pytest.raises(UsageError, match="at least one subset per topic"):
        search_subsets(made(topics=10), search="nsga(population=5)")
