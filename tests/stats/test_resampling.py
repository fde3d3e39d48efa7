"""Draws are uniform, reproducible and independent of chunks; counting tails never doubles one."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.stats import resampling
from assay.stats.resampling import every_sign_flip, resampled_p, sign_flips, tail_counts, topic_counts


def test_counts_draw_every_topic_equally_often() -> None:
    counts = np.concatenate(list(topic_counts(10, 5000, seed=1)))
    assert (counts.sum(axis=1) == 10).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(10), abs=0.06)
    assert counts.var() == pytest.approx(0.9, abs=0.02)  # Binomial(10, 1/10)


def test_flips_are_fair() -> None:
    flips = np.concatenate(list(sign_flips(10, 5000, seed=1)))
    assert set(np.unique(flips)) == {-1.0, 1.0}
    assert np.abs(flips.mean(axis=0)).max() < 0.06


def test_every_sign_flip_is_every_pattern_once() -> None:
    flips = np.concatenate(list(every_sign_flip(11)))
    assert len({tuple(row) for row in flips}) == 2**11


def test_draws_come_in_blocks_and_are_the_same_again() -> None:
    blocks = list(topic_counts(5, 1200, seed=3))
    assert [len(b) for b in blocks] == [512, 512, 176]
    assert all((a == b).all() for a, b in zip(blocks, topic_counts(5, 1200, seed=3), strict=True))
    assert not (np.concatenate(list(topic_counts(5, 1200, seed=4))) == np.concatenate(blocks)).all()


def test_two_sided_tail_is_the_absolute_value_not_a_doubled_tail() -> None:
    skewed = np.array([[-9.0], [-1.0], [0.0], [2.0], [8.0]])
    two, up, down = (
        float(tail_counts(skewed, np.array([2.0]), alternative=a)[0]) for a in ("two-sided", "greater", "less")
    )
    assert (two, up, down) == (3, 2, 4)
    assert two != 2 * min(up, down)


def test_a_resampled_p_is_never_zero_unless_asked() -> None:
    assert float(resampled_p(np.array(0.0), 9999)) == 1e-4
    assert float(resampled_p(np.array(149.0), 5000, plain=True)) == 0.0298  # Webber 2010, §3.3.3: (68 + 81)/5000


@pytest.mark.parametrize("bad", [0, -5])
def test_no_resamples_is_an_error(bad: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        list(topic_counts(5, bad))


def test_an_unknown_alternative_is_an_error() -> None:
    with pytest.raises(UsageError, match="known: two-sided, greater, less"):
        resampling.checked_alternative("both")
