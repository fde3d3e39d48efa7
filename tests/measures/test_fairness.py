"""Exposure of groups: values by hand, plain loops, and what TREC Fair says of targets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.measures.fairness import (
    FAIRNESS_MEASURES,
    GroupedTopic,
    attention_weighted_rank_fairness,
    expected_exposure_disparity,
    expected_exposure_loss,
    expected_exposure_relevance,
    fair_track_score,
    jensen_shannon,
)

A, B, HALF = [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]


def topic(ranking: list[list[float]], grades: list[int], relevant: list[list[float]], **more: object) -> GroupedTopic:
    rel_grades = more.pop("relevant_grades", [1] * len(relevant))
    docs: Floats = np.array(relevant, dtype=np.float64).reshape(-1, 2)
    facts: dict[str, object] = {"relevant_grades": np.array(rel_grades, dtype=np.float64), **more}
    return GroupedTopic([np.array(ranking, dtype=np.float64)], [np.array(grades)], docs, **facts)  # type: ignore[arg-type]


FOUR = topic([A, A, B, HALF], [1, 0, 1, 1], [A, B, HALF])
"""Attention 1, 1, 1/log₂3, 1/2; A gets 1 + 1 + 1/4, B gets 1/log₂3 + 1/4; relevant docs are half A, half B."""


def test_awrf_and_the_track_score_by_hand() -> None:
    third = 1 / math.log2(3)
    a = 2.25 / (2.5 + third)
    b = (third + 0.25) / (2.5 + third)
    divergence = 0.0
    for share in (a, b):
        middle = (share + 0.5) / 2
        divergence += (share * math.log(share / middle) + 0.5 * math.log(0.5 / middle)) / 2
    assert attention_weighted_rank_fairness(FOUR) == pytest.approx(1 - divergence, abs=1e-15)
    assert attention_weighted_rank_fairness(FOUR) == pytest.approx(0.9746397986953653, abs=1e-15)
    ndcg = (1 + third + 0.5) / (2 + third)
    assert fair_track_score(FOUR) == pytest.approx(ndcg * (1 - divergence), abs=1e-15)
    assert ndcg == pytest.approx(0.8099531166420329, abs=1e-15)


def test_awrf_at_its_ends() -> None:
    assert attention_weighted_rank_fairness(topic([A, B], [1, 1], [A, B])) == 1.0
    worst = topic([A], [0], [B])
    assert attention_weighted_rank_fairness(worst) == pytest.approx(1 - math.log(2), abs=1e-15)
    assert attention_weighted_rank_fairness(topic([], [], [B])) == 0.0 == fair_track_score(topic([], [], [B]))
    assert attention_weighted_rank_fairness(FOUR, k=1) < attention_weighted_rank_fairness(FOUR)
    geometric = attention_weighted_rank_fairness(FOUR, attention="geometric", p=0.5)
    exposure = np.array([1 + 0.5 + 0.0625, 0.25 + 0.0625])
    assert geometric == pytest.approx(1 - jensen_shannon(exposure / exposure.sum(), np.array(HALF)), abs=1e-15)


def ee(one: GroupedTopic, **how: object) -> tuple[float, float, float]:
    """EE-L, EE-D, EE-R with attention 1, ½, ¼ …"""
    settings: dict[str, object] = {"attention": "geometric", "p": 0.5, **how}
    measures = (expected_exposure_loss, expected_exposure_disparity, expected_exposure_relevance)
    loss, disparity, relevance = (measure(one, **settings) for measure in measures)
    return loss, disparity, relevance


def test_expected_exposure_by_hand() -> None:
    """Attention 1, ½, ¼: all values are binary fractions, so that they are exact."""
    first = topic([A, B], [1, 1], [A, B])
    # ε = (1, ½); both docs are worth ¾: ε* = (¾, ¾)
    assert ee(first, k=2) == (0.125, 1.25, 1.125)
    turned = GroupedTopic([*first.rankings, np.array([B, A])], [*first.grades, np.ones(2)], first.relevant, np.ones(2))
    # two rankings, each first once: ε = (¾, ¾)
    assert ee(turned, k=2) == (0.0, 1.125, 1.125)
    # a better grade goes first: ε* = (1, ½)
    assert ee(topic([A, B], [2, 1], [A, B], relevant_grades=[2, 1]), k=2)[0] == pytest.approx(0.0, abs=1e-30)
    below = topic([B, A, B], [0, 1, 1], [A, B])
    # relevant docs alone: ε = (½, ¼), ε* = (⅞, ⅞)
    assert ee(below, k=3) == (0.53125, 0.3125, 0.65625)
    # all docs: ε = (½, 1¼)
    assert ee(below, k=3, docs="all") == (0.28125, 1.8125, 1.53125)
    assert ee(topic([], [], [A, B]), k=2) == (1.125, 0.0, 0.0)


def test_loss_is_disparity_less_twice_relevance_and_the_target() -> None:
    rng = np.random.default_rng(0)
    ranking = rng.dirichlet(np.ones(3), 30)
    relevant = rng.dirichlet(np.ones(3), 8)
    grades = rng.integers(0, 3, 30).astype(np.float64)
    one = GroupedTopic([ranking], [grades], relevant, rng.integers(1, 4, 8).astype(float))
    loss, disparity, relevance = ee(one, k=20, attention="log")
    ideal = GroupedTopic([relevant], [np.ones(8)], relevant, one.relevant_grades)
    target_square = expected_exposure_loss(
        GroupedTopic([np.zeros((0, 3))], [np.zeros(0)], relevant, one.relevant_grades)
    )
    assert loss == pytest.approx(disparity - 2 * relevance + target_square)
    assert ideal.distribution().sum() == pytest.approx(1)


def test_targets() -> None:
    population = np.array([0.2, 0.8])
    both = topic([A], [1], [A, B], target="both", population=population)
    assert both.distribution() == pytest.approx([0.35, 0.65])
    alone = topic([A], [1], [A, B], target="population", population=population)
    assert alone.distribution().tolist() == [0.2, 0.8]
    assert topic([A], [1], [A], target="equal").distribution().tolist() == [0.5, 0.5]
    # half of the relevant docs are of no known group: the population speaks of the other half alone
    relevant = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    mixed = GroupedTopic([], [], relevant, np.ones(2), "both", np.array([0.2, 0.8, 0.0]), unknown=2)
    assert mixed.distribution() == pytest.approx([0.3, 0.2, 0.5])


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(DataError, match="topic '7' has no relevant doc with a group, and so no target"):
        attention_weighted_rank_fairness(topic([A], [0], [], topic="7"))
    with pytest.raises(UsageError, match="attention"):
        attention_weighted_rank_fairness(FOUR, attention="linear")
    with pytest.raises(UsageError, match="docs"):
        expected_exposure_loss(FOUR, docs="some")
    with pytest.raises(UsageError, match="p"):
        FAIRNESS_MEASURES.bound("AWRF(p=2)")
    assert FAIRNESS_MEASURES["EE-L"].facts["lower_is_better"]
