"""Conversations against statsmodels and scipy; with one turn each, everything is the plain result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AssayError
from assay.data import ScoreMatrix
from assay.hierarchy import by_group, compare_conversations, topic_groups
from assay.hierarchy.conversations import intraclass_correlation
from assay.plan import power
from assay.plan.powers import design_effect
from assay.standard import standardize
from assay.stats import compare_two


def made(sizes: list[int], seed: int = 0, together: float = 0.1, alone: float = 0.1, gain: float = 0.05) -> ScoreMatrix:
    """Two runs; differences of a conversation move together."""
    rng = np.random.default_rng(seed)
    place = np.repeat(np.arange(len(sizes)), sizes)
    old = rng.uniform(0.2, 0.6, len(place))
    new = old + gain + rng.normal(0, together, len(sizes))[place] + rng.normal(0, alone, len(place))
    ids = [f"{c}_{turn}" for c, size in enumerate(sizes) for turn in range(1, size + 1)]
    return ScoreMatrix.of([new, old], runs=["new", "old"], topics=ids, measure="nDCG@3")


@pytest.mark.parametrize("sizes", [[4] * 12, [1, 7, 3, 9, 2, 5, 4, 8, 3, 6, 2, 4]])
def test_turns_have_the_cluster_robust_error_by_matrices(sizes: list[int]) -> None:
    """CR2 and its degrees of freedom by brute force: A_g = (I − H_gg)^−½ on the residuals of each conversation."""
    matrix = made(sizes)
    [row] = compare_conversations(matrix, baseline="old", weights="turns").rows
    d = matrix.of_run("new") - matrix.of_run("old")
    place, n = np.repeat(np.arange(len(sizes)), sizes), len(d)
    hat = np.full((n, n), 1 / n)
    parts = np.zeros((len(sizes), n))
    for g in range(len(sizes)):
        inside = place == g
        values, vectors = np.linalg.eigh(np.eye(inside.sum()) - hat[np.ix_(inside, inside)])
        half = vectors @ np.diag(values**-0.5) @ vectors.T
        parts[g] = np.ones(inside.sum()) @ half @ (np.eye(n) - hat)[inside] / n
    error = np.sqrt(((parts @ d) ** 2).sum())
    assert row.difference == pytest.approx(d.mean())
    assert row.error == pytest.approx(error)
    spread = parts @ parts.T
    freedom = np.trace(spread) ** 2 / (spread**2).sum()
    assert row.p == pytest.approx(2 * stats.t.sf(abs(d.mean()) / error, freedom), rel=1e-6)


def test_conversations_are_a_paired_t_test_of_their_means() -> None:
    matrix = made([1, 7, 3, 9, 2, 5, 4, 8])
    [row] = compare_conversations(matrix, baseline="old").rows
    means = by_group(matrix)
    tested = stats.ttest_rel(means.of_run("new"), means.of_run("old"))
    assert row.p == pytest.approx(tested.pvalue)
    assert [row.low, row.high] == pytest.approx(list(tested.confidence_interval()))


def test_equal_sizes_make_both_weights_one() -> None:
    matrix = made([4] * 12)
    one, other = (compare_conversations(matrix, baseline="old", weights=w).rows[0] for w in ("conversations", "turns"))
    assert [one.difference, one.error, one.p] == pytest.approx([other.difference, other.error, other.p])


@pytest.mark.parametrize("weights", ["conversations", "turns"])
def test_one_turn_each_is_the_plain_comparison(weights: str) -> None:
    matrix = made([1] * 30)
    found = compare_conversations(matrix, baseline="old", weights=weights)
    [row] = found.rows
    plain = compare_two(matrix.of_run("new"), matrix.of_run("old"))
    assert [row.difference, row.low, row.high] == pytest.approx([plain.mean_difference, plain.low, plain.high])
    assert row.p == pytest.approx(plain.p)
    assert row.design_effect == pytest.approx(1)
    assert np.isnan(row.icc)
    assert found.table().column("icc") == [None]


def test_one_turn_each_leaves_scores_standardized_scores_and_power_as_they_are() -> None:
    matrix = made([1] * 10)
    assert (by_group(matrix).values == matrix.values).all()
    for per in ("worst", "best"):
        assert (by_group(matrix, per=per).values == matrix.values).all()
    assert (standardize(by_group(matrix)).values == standardize(matrix).values).all()
    plain = power(delta=0.05, sigma=0.2)
    assert power(delta=0.05, sigma=0.2, turns=1, icc=0.7).table().rows == plain.table().rows


def test_icc_by_hand_and_by_simulation() -> None:
    """MSB = 2·(.15² + .15²)/1 = .09, MSW = (4 · .05²)/2 = .005: ICC = .085/.095."""
    groups = topic_groups(["1_1", "1_2", "2_1", "2_2"])
    assert intraclass_correlation(np.array([0.1, 0.2, 0.4, 0.5]), groups) == pytest.approx(0.085 / 0.095)
    matrix = made([5] * 3000, together=0.1, alone=0.2)
    [row] = compare_conversations(matrix, baseline="old").rows
    assert row.icc == pytest.approx(0.1**2 / (0.1**2 + 0.2**2), abs=0.02)
    assert row.design_effect == pytest.approx(design_effect(5, row.icc), rel=0.01)


def test_p_is_uniform_if_nothing_differs_and_that_of_turns_would_not_be() -> None:
    """At α = .05 conversations reject in 5 % of cases, turns taken for topics in far more."""
    rejected = []
    for seed in range(800):
        matrix = made([6] * 15, seed, gain=0.0)
        [row] = compare_conversations(matrix, baseline="old").rows
        of_turns = stats.ttest_rel(*matrix.values).pvalue
        rejected.append([row.p, float(of_turns)])
    conversations, turns = (np.array(rejected) < 0.05).mean(axis=0)
    assert 0.03 < conversations < 0.07
    assert turns > 0.2


@pytest.mark.parametrize("weights", ["conversations", "turns"])
def test_conversations_that_are_nearly_all_alike_have_no_interval_without_width(weights: str) -> None:
    same = made([3] * 12)
    same = ScoreMatrix.of([same.values[0], same.values[0]], runs=["new", "old"], topics=same.topics, measure="nDCG@3")
    [row] = compare_conversations(same, baseline="old", weights=weights).rows
    assert row.low < 0 < row.high
    assert row.p == pytest.approx(1.0)
    unknown = ScoreMatrix.of(10 * same.values, runs=["new", "old"], topics=same.topics, measure="clicks")
    found = compare_conversations(unknown, baseline="old", weights=weights)
    assert found.table().column("low") == [None]
    assert "no interval" in found.verdict


def test_a_best_run_that_was_picked_after_seeing_is_one_of_all_pairs() -> None:
    """Five equal runs: the picked best with p over four tests is wrong too often, all pairs are not."""
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(200):
        turns = rng.uniform(0.2, 0.6, 60) + rng.normal(0, 0.1, (5, 20)).repeat(3, axis=1)
        ids = [f"{c}_{t}" for c in range(20) for t in range(3)]
        found = compare_conversations(ScoreMatrix.of(turns, topics=ids))
        assert found.family == 10
        wrong += min(row.corrected_p for row in found.rows) < 0.05
    assert wrong / 200 <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 200)


def test_power_with_turns_is_that_of_simulated_conversations() -> None:
    """ICC .5 and 6 turns: the planned power of the test over conversations, within the noise of 600 trials."""
    sigma = float(np.hypot(0.1, 0.1))
    plan = power(topics=30, delta=0.05, sigma=sigma, turns=6, icc=0.5)
    found = [compare_conversations(made([6] * 30, seed, gain=0.05), baseline="old").rows[0].p for seed in range(600)]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(plan.power, abs=0.05)
    assert "design effect 3.50" in plan.table().notes[-1]
    by_effect = power(topics=30, effect=0.05 / sigma, turns=6, icc=0.5)
    assert by_effect.power == pytest.approx(plan.power)


def test_the_baseline_is_the_best_run_unless_named_and_p_is_corrected() -> None:
    rng = np.random.default_rng(0)
    matrix = ScoreMatrix.of(
        np.array([[0.3], [0.5], [0.4]]) + rng.normal(0, 0.1, (3, 20)),
        topics=[f"{c}/{t}" for c in range(5) for t in range(4)],
    )
    found = compare_conversations(matrix)
    assert found.baseline == "run2"
    assert [row.run for row in found.rows] == ["run3", "run1"]
    assert found.family == 3
    assert found.rows[0].corrected_p >= found.rows[0].p
    assert "5 conversations of 4 turns" in found.verdict


@pytest.mark.parametrize(
    ("matrix", "given", "message"),
    [
        (made([3, 3]), {"baseline": "bm25"}, "no run 'bm25', the baseline"),
        (made([3]), {}, "1 conversation; an interval needs two or more"),
        (made([3, 3]).select(runs=["old"]), {}, "1 run; comparing takes two or more"),
        (made([3, 3]), {"weights": "topics"}, "no weights 'topics'"),
        (made([3, 3]), {"correction": "none at all"}, "no correction"),
        (made([3, 3]), {"level": 0.0}, "level must lie between 0 and 1"),
        (ScoreMatrix.of(np.ones((2, 2))), {}, "have no separator in common"),
    ],
)
def test_bad_input(matrix: ScoreMatrix, given: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError, match=r"^[^\n]*$") as error:
        compare_conversations(matrix, **given).table()
    assert message in str(error.value)


@pytest.mark.parametrize(("turns", "icc"), [(0.5, 0.1), (4, 1.5), (4, -0.1)])
def test_bad_plans(turns: float, icc: float) -> None:
    with pytest.raises(AssayError, match=r"(turns|icc): "):
        power(delta=0.05, sigma=0.2, turns=turns, icc=icc)


def test_same_scores_have_no_difference() -> None:
    matrix = made([3, 3, 3])
    twice = ScoreMatrix.of([matrix.values[0]] * 2, topics=matrix.topics)
    [row] = compare_conversations(twice, baseline="run2").rows
    assert (row.difference, row.p, row.design_effect) == (0, 1, 1)
