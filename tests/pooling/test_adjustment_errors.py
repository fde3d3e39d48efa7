from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.core.engine import generators
from assay.core.errors import UsageError
from assay.data.lists import collected
from assay.pooling.adjustment_errors import adjustment_accuracy, best_runs, unpooled_bias
from tests.oracles import pooling as oracle
from tests.pooling.collections import made, made_lists


@pytest.mark.parametrize("seed", range(5))
def test_one_draw_by_plain_loops(seed: int) -> None:
    """Algorithm 6.3 with one draw of runs and one of topics, against Algorithms 6.1 and 6.2 written out."""
    runs, qrels = made(seed, runs=6, topics=7, docs=80)
    found = adjustment_accuracy(
        collected(runs, qrels), "P@5", depth=5, widths=[3], common=[4], samples=1, topic_samples=1, seed=seed
    )
    (rng,) = generators(seed, 1)
    *pooled, new = (runs[s] for s in rng.choice(6, size=4, replace=False))
    drawn = [qrels.topics[t] for t in rng.permuted(np.arange(7)[None, :], axis=1)[0, :4]]
    lists = [{t: run.ranking(t) for t in qrels.topics} for run in (*pooled, new)]
    relevant = {t: {d for d, g in docs.items() if g} for t, docs in qrels.to_dict().items()}
    wanted = oracle.adjustment_trial(lists[:-1], lists[-1], relevant, 5, drawn)
    assert found.raw[0] == pytest.approx(abs(wanted.raw), abs=1e-12)
    assert found.systems_bias[0] == pytest.approx(wanted.systems, abs=1e-12)
    for name in ("sampled", "unadjusted", "adjusted"):
        assert getattr(found, name)[0, 0] == pytest.approx(abs(getattr(wanted, name)), abs=1e-12), name


def test_unadjusted_error_falls_with_the_share_of_topics_left() -> None:
    # (N − n)/N: with unjudged docs not relevant all errors have one sign, so it is exact but for the draw of topics.
    found = adjustment_accuracy(
        made_lists(1, runs=8, topics=20), "P@10", widths=[2, 4], common=[5, 10], samples=30, topic_samples=200
    )
    expected = found.raw[:, None] * (20 - np.array([5, 10])) / 20
    np.testing.assert_allclose(found.unadjusted, expected, rtol=0.02)
    # Printed in Tables 6.2 and 6.4: .127 with none of 249 common, .122 with 10; .451 with none of 50, .361 with 10.
    assert round(0.127 * 239 / 249, 3) == 0.122
    assert round(0.451 * 40 / 50, 3) == 0.361


def test_adjusted_scores_are_nearer() -> None:
    found = adjustment_accuracy(
        made_lists(2, runs=10, topics=30), "tRBP@10", widths=[2, 4], common=[10, 20], samples=40, topic_samples=50
    )
    assert (found.adjusted < found.unadjusted).all()
    assert (found.systems < found.raw).all()
    assert (found.adjusted[:, 1] < found.adjusted[:, 0]).all()
    assert (found.helps > 0.5).all()
    rows = found.table().rows
    assert [r[1] for r in rows[:4]] == [
        "common topics only",
        "unadjusted",
        "adjusted from topics",
        "adjusted from systems",
    ]


def test_with_all_topics_common_nothing_is_left_to_estimate() -> None:
    found = adjustment_accuracy(
        made_lists(2, runs=5, topics=6), "P@5", widths=[2], common=[6], samples=5, topic_samples=3
    )
    np.testing.assert_allclose([found.adjusted, found.unadjusted, found.sampled], 0, atol=1e-12)


def test_bias_from_systems_is_zero_on_average() -> None:
    # Pooled and unpooled runs come from one population, so that the mean signed error is 0 (Webber 2010, Table 6.1).
    found = adjustment_accuracy(
        made_lists(5, runs=10, topics=10), "P@10", widths=[3], common=[5], samples=400, topic_samples=1
    )
    assert abs(found.systems_bias[0]) < 4 * 1.3 * found.systems[0] / np.sqrt(400)


def test_seeds_and_jobs() -> None:
    seen = made_lists(2, runs=5, topics=6)
    one, same, two, other = (
        adjustment_accuracy(seen, "P@5", widths=[2], common=[3], samples=6, topic_samples=5, seed=s, jobs=j)
        for s, j in ((1, 1), (1, 1), (1, 2), (2, 1))
    )
    np.testing.assert_array_equal(one.adjusted, same.adjusted)
    np.testing.assert_array_equal(one.adjusted, two.adjusted)
    assert one.adjusted[0, 0] != other.adjusted[0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"widths": [5]}, "one run must remain"),
        ({"common": [9]}, "9 common topics of 6"),
        ({"samples": 0}, "at least 1"),
    ],
)
def test_bad_input_is_one_clear_error(options: dict[str, object], message: str) -> None:
    chosen: dict[str, object] = {"widths": [2], "common": [3], "samples": 2} | options
    with pytest.raises(UsageError, match=message):
        adjustment_accuracy(made_lists(2, runs=5, topics=6), "P@5", **chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_a_run_unlike_the_pool_by_plain_loops(seed: int) -> None:
    """Tables 6.1 right and 6.4: the new run is of one kind, the pooled ones of another."""
    runs, qrels = made(seed, runs=7, topics=7, docs=80)
    manual, automatic = [run.name for run in runs[:3]], [run.name for run in runs[3:]]
    found = adjustment_accuracy(
        collected(runs, qrels), "P@5", depth=5, widths=[3], common=[4], samples=1, topic_samples=1, seed=seed,
        pooled=automatic, new=manual,
    )  # fmt: skip
    (rng,) = generators(seed, 1)
    new = runs[int(rng.choice([0, 1, 2]))]
    pooled = [runs[place] for place in rng.choice([3, 4, 5, 6], size=3, replace=False)]
    drawn = [qrels.topics[t] for t in rng.permuted(np.arange(7)[None, :], axis=1)[0, :4]]
    lists = [{t: run.ranking(t) for t in qrels.topics} for run in (*pooled, new)]
    relevant = {t: {d for d, g in docs.items() if g} for t, docs in qrels.to_dict().items()}
    wanted = oracle.adjustment_trial(lists[:-1], lists[-1], relevant, 5, drawn)
    assert found.raw[0] == pytest.approx(abs(wanted.raw), abs=1e-12)
    assert found.systems_bias[0] == pytest.approx(wanted.systems, abs=1e-12)
    assert found.adjusted[0, 0] == pytest.approx(abs(wanted.adjusted), abs=1e-12)
    assert "3 new runs against pools of 4" in found.recipe


@pytest.mark.parametrize("seed", range(3))
def test_signed_bias_of_one_draw(seed: int) -> None:
    runs, qrels = made(seed, runs=6, topics=7, docs=80)
    found = unpooled_bias(collected(runs, qrels), "P@5", depth=5, widths=[3], samples=1, seed=seed)
    (rng,) = generators(seed, 1)
    *pooled, new = (runs[s] for s in rng.choice(6, size=4, replace=False))
    lists = [{t: run.ranking(t) for t in qrels.topics} for run in (*pooled, new)]
    relevant = {t: {d for d, g in docs.items() if g} for t, docs in qrels.to_dict().items()}
    wanted = oracle.adjustment_trial(lists[:-1], lists[-1], relevant, 5, [qrels.topics[0]])
    assert found.errors["nonrelevant"][0, 0] == pytest.approx(wanted.raw, abs=1e-12)


def test_signed_bias_agrees_with_the_mean_absolute_error() -> None:
    """Counted as not relevant, unjudged docs can only lose: the mean error is the bias without its sign."""
    seen = made_lists(4, runs=8, topics=10)
    bias = unpooled_bias(seen, "P@10", widths=[2, 5], samples=10, seed=3)
    accuracy = adjustment_accuracy(seen, "P@10", widths=[2, 5], common=[2], samples=10, topic_samples=1, seed=3)
    np.testing.assert_allclose(-bias.errors["nonrelevant"].mean(axis=1), accuracy.raw, atol=1e-12)
    assert (bias.errors["condensed"].mean(axis=1) > bias.errors["nonrelevant"].mean(axis=1)).all()
    row = dict(zip(bias.table().columns, bias.table().rows[0], strict=True))
    assert row["first quartile"] <= row["median"] <= row["third quartile"]


def test_best_runs_are_those_of_the_highest_mean() -> None:
    seen = made_lists(4, runs=8, topics=10)
    names = best_runs(seen, "P@10", 8)
    assert best_runs(seen, "P@10", 3) == names[:3]
    assert best_runs(seen, "P@10", 1, among=names[5:]) == [names[5]]
    with pytest.raises(UsageError, match="the 9 best of 8 runs"):
        best_runs(seen, "P@10", 9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooled": ["nope"]}, "no run 'nope'"),
        ({"new": []}, "no run is named"),
        ({"pooled": ["r00", "r01"], "new": ["r00"], "widths": [2]}, "a width of 2 of 2 runs"),
    ],
)
def test_bad_names_of_runs_are_one_clear_error(options: dict[str, Any], message: str) -> None:
    seen = made_lists(2, runs=5, topics=6)
    with pytest.raises(UsageError, match=message):
        unpooled_bias(seen, "P@5", **options)
