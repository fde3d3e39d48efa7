"""Swap search: values of swaps, slopes, descents, and that it finds what is known."""

from __future__ import annotations

import numpy as np
import pytest

from assay.topics.archive import Archive
from assay.topics.problem import problem
from assay.topics.search import SearchResult, search_subsets
from assay.topics.swap import States, descend, swap_values, topic_slopes
from tests.topics.bounds import at_least_the_bounds
from tests.topics.released import made, released_top96

# The Best series of Pearson's correlation for c = 1 … 49 that the successor of the first program ships as expected
# (NewBestSub, the 96 runs of TREC-8): ours must reach it at every c.
EXPECTED = """
.8073 .8687 .9107 .9280 .9403 .9561 .9649 .9703 .9741 .9764 .9777 .9803 .9838 .9855 .9873 .9883 .9894 .9905 .9912 .9913
.9921 .9929 .9934 .9936 .9939 .9940 .9943 .9945 .9946 .9946 .9949 .9961 .9962 .9963 .9968 .9968 .9967 .9968 .9984 .9990
.9991 .9993 .9994 .9995 .9996 .9997 .9998 .9999 .9999"""


@pytest.fixture(scope="module")
def pearson_found() -> SearchResult:
    return search_subsets(released_top96(), criterion="pearson", search="swap")


@pytest.fixture(scope="module")
def tau_found() -> SearchResult:
    return search_subsets(released_top96(), criterion="tau", search="swap")


def test_pearson_reaches_the_bounds(pearson_found: SearchResult) -> None:
    assert at_least_the_bounds(pearson_found)


def test_tau_reaches_the_bounds(tau_found: SearchResult) -> None:
    assert at_least_the_bounds(tau_found)


def test_pearson_is_at_least_the_released_series_everywhere(pearson_found: SearchResult) -> None:
    expected = np.array([float(v) for v in EXPECTED.split()])
    assert (pearson_found.values("best") >= expected - 5.1e-5).all()


def test_figures_2_1_and_2_2(pearson_found: SearchResult, tau_found: SearchResult) -> None:
    """Roitero 2020, after Guiver et al.: τ above .8 with 6 topics; ρ above .95 with 8, worst ρ below it with 40."""
    assert tau_found.values("best")[6 - 1] > 0.8
    assert pearson_found.values("best")[8 - 1] > 0.95
    assert pearson_found.values("worst")[40 - 1] < 0.95


def test_ten_distinct_sets_everywhere(tau_found: SearchResult) -> None:
    for side in ("best", "worst"):
        for c, (masks, values) in tau_found.sets[side].items():
            assert len(np.unique(masks, axis=0)) == len(masks) == 10
            assert (masks.sum(axis=1) == c).all()
            np.testing.assert_allclose(values, tau_found.problem.of_masks(masks), atol=1e-12)
            assert (np.diff(values) <= 0).all() if side == "best" else (np.diff(values) >= 0).all()


@pytest.mark.parametrize("criterion", ["pearson", "tau", "spearman"])
def test_values_of_swaps_are_those_of_the_swapped_sets(criterion: str) -> None:
    ready = problem(made(), criterion=criterion)
    masks = np.zeros((2, 10), bool)
    masks[0, [0, 3, 4]] = masks[1, [1, 2, 9]] = True
    drop, add = np.array([[0, 3], [1, 9]]), np.array([[1, 2, 5], [0, 4, 8]])
    found = swap_values(ready, masks, ready.sums(masks), drop, add)
    for k in range(2):
        for i in range(2):
            for j in range(3):
                after = masks[k].copy()
                after[drop[k, i]], after[add[k, j]] = False, True
                assert found[k, i, j] == pytest.approx(ready.of_masks(after[None, :])[0], abs=1e-9)


def test_slopes_of_pearson_are_derivatives() -> None:
    ready = problem(made(), criterion="pearson")
    mask = np.zeros((1, 10), bool)
    mask[0, [0, 3, 4]] = True
    sums = ready.sums(mask).astype(float)
    slope = topic_slopes(ready, sums)[0] / np.sqrt(((ready.full - ready.full.mean()) ** 2).sum())
    step = 1e-5
    moved = ready.of_sums(sums + step * ready.units, 3)
    np.testing.assert_allclose((moved - ready.of_sums(sums, 3)) / step, slope, atol=1e-5)


def test_a_descent_never_loses() -> None:
    ready = problem(made(runs=20, topics=40, seed=5))
    archive = Archive(ready)
    rng = np.random.default_rng(0)
    masks = np.argsort(np.argsort(rng.random((30, 40)), axis=1), axis=1) < np.arange(5, 35)[:, None]
    sides = np.where(np.arange(30) % 2, 1, -1)
    descend(archive, States(sides, masks), width=6)
    for side, mask in zip(sides, masks, strict=True):
        start = ready.of_masks(mask[None, :])[0]
        reached = archive.value(int(side), int(mask.sum()))
        assert reached is not None
        assert side * reached >= side * start


@pytest.mark.parametrize("criterion", ["tau-ap", "rbo", "spearman", "error-rate"])
def test_other_criteria_find_the_proved_sets_of_a_small_matrix(criterion: str) -> None:
    ready = problem(made(runs=10, topics=9, seed=2), criterion=criterion)
    swapped, proved = search_subsets(ready, search="swap"), search_subsets(ready, search="exact")
    for side in ("best", "worst"):
        np.testing.assert_allclose(swapped.values(side), proved.values(side), atol=1e-12)


def test_gmap_searches_too() -> None:
    ready = problem(made(runs=10, topics=9), criterion="pearson", scale="gmap")
    assert not ready.quadratic
    np.testing.assert_allclose(
        search_subsets(ready, search="swap").values(), search_subsets(ready, search="exact").values(), atol=1e-12
    )
