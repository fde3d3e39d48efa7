"""Step-down max-t: golden values by enumeration, a plain loop, and error rates that hold."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.stats.max_t import Places, flipped_critical, flipped_family, possible_best
from assay.stats.pair_tests import every_pair

G1 = np.array(
    [
        [0.31, 0.35, 0.33, 0.29],
        [0.52, 0.60, 0.49, 0.55],
        [0.11, 0.19, 0.14, 0.12],
        [0.78, 0.80, 0.81, 0.70],
        [0.25, 0.36, 0.22, 0.30],
        [0.64, 0.66, 0.70, 0.60],
        [0.40, 0.52, 0.41, 0.39],
        [0.07, 0.10, 0.05, 0.09],
    ]
).T


def against_the_first(runs: int) -> tuple[Places, Places]:
    return np.arange(1, runs), np.zeros(runs - 1, dtype=np.intp)


def test_a_fixed_baseline() -> None:
    family = flipped_family(G1, *against_the_first(4))
    assert family.t == pytest.approx([4.3901, 0.7567, -0.3388], abs=5e-5)
    assert family.p == pytest.approx([4 / 256, 0.679688, 0.8125], abs=5e-7)
    assert family.critical == pytest.approx(3.5305, abs=5e-5)
    assert family.exact
    assert family.flips == 256


def test_all_pairs() -> None:
    first, second = every_pair(4)
    family = flipped_family(G1, first, second)
    found = {(i + 1, j + 1): (abs(t), p) for i, j, t, p in zip(first, second, family.t, family.p)}
    printed = {
        (2, 4): (5.4, 0.015625),
        (1, 2): (4.3901, 0.015625),
        (2, 3): (2.4129, 0.117188),
        (1, 3): (0.7567, 0.679688),
        (3, 4): (0.5533, 0.679688),
        (1, 4): (0.3388, 0.8125),
    }
    for pair, (t, p) in printed.items():
        assert found[pair][0] == pytest.approx(t, abs=5e-5)
        assert found[pair][1] == pytest.approx(p, abs=6e-7)
    assert family.critical == pytest.approx(3.6711, abs=5e-5)


def test_the_runs_that_may_be_the_best() -> None:
    critical = flipped_critical(G1, 0.05)
    assert critical == pytest.approx([2.6242, 2.4560, 2.4834, 2.4021], abs=5e-5)

    best = possible_best(G1, critical=critical)
    assert best.ahead == pytest.approx([0, 0.097465, 0.001570, 0], abs=6e-7)
    assert best.inside.tolist() == [False, True, True, False]
    assert best.behind[1:3] == pytest.approx([-0.001570, -0.108459], abs=6e-7)


def plain_p(rows: Floats, flips: Floats) -> list[float]:
    """Step-down max-t by one loop over flips and one over pairs."""
    n = rows.shape[1]

    def t(row: Floats) -> float:
        return abs(float(row.mean() / (row.std(ddof=1) / np.sqrt(n))))

    observed = [t(row) for row in rows]
    order = sorted(range(len(rows)), key=lambda j: -observed[j])
    p = [0.0] * len(rows)
    before = 0.0
    for rank, j in enumerate(order):
        reached = 0
        for signs in flips:
            largest = max(t(rows[other] * signs) for other in order[rank:])
            reached += largest >= observed[j] - 1e-9
        before = max(before, reached / len(flips))
        p[j] = before
    return p


def test_as_a_plain_loop_has_it() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 1, (4, 6)) + np.array([[0], [0.9], [0.2], [0]])
    first, second = every_pair(4)
    flips = np.array(np.meshgrid(*[[1, -1]] * 6)).reshape(6, -1).T
    family = flipped_family(scores, first, second)
    assert family.p == pytest.approx(plain_p(scores[first] - scores[second], flips), abs=1e-12)


def test_a_pair_without_any_difference_is_no_member() -> None:
    scores = np.vstack([G1, G1[0]])
    with_twin = flipped_family(scores, *against_the_first(5))
    assert with_twin.members == 3
    assert with_twin.p[3] == 1.0
    assert with_twin.p[:3].tolist() == flipped_family(G1, *against_the_first(4)).p.tolist()


def test_chunks_do_not_change_p(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(2).normal(0, 1, (12, 20))
    whole = flipped_family(scores, *every_pair(12), resamples=499)
    monkeypatch.setattr("assay.stats.max_t.MEMBERS_AT_ONCE", 7)
    parts = flipped_family(scores, *every_pair(12), resamples=499)
    assert parts.p.tolist() == whole.p.tolist()
    assert parts.critical == whole.critical


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_side(alternative: str) -> None:
    scores = np.vstack([np.zeros(12), np.random.default_rng(3).normal(0.6, 1, 12)])
    two = flipped_family(scores, *against_the_first(2)).p[0]
    one = flipped_family(scores, *against_the_first(2), alternative=alternative).p[0]
    assert one == pytest.approx(two / 2 if alternative == "greater" else 1 - two / 2, abs=1e-3)


def test_the_family_wise_error_holds() -> None:
    rng = np.random.default_rng(4)
    wrong = covered = 0
    repeats = 150
    for _ in range(repeats):
        scores = rng.normal(0, 0.2, 25) + rng.normal(0, 0.1, (10, 25)) * np.where(np.arange(10) < 3, 3, 1)[:, None]
        family = flipped_family(scores, *against_the_first(10), resamples=399)
        wrong += bool(family.p.min() < 0.05)
        covered += bool((np.abs(family.t) <= family.critical).all())
    assert wrong / repeats < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / repeats)
    assert covered / repeats > 0.95 - 2.6 * np.sqrt(0.05 * 0.95 / repeats)
    # one-sided p of the possible best: the truly best run is inside
    assert possible_best(rng.normal(0, 1, (5, 30)) + np.array([[3], [0], [0], [0], [0]])).inside.tolist()[0]
