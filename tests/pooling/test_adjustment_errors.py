from __future__ import annotations

import numpy as np
import pytest

from assay.core.engine import generators
from assay.core.errors import UsageError
from assay.data.lists import collected
from assay.pooling.adjustment_errors import adjustment_accuracy
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
