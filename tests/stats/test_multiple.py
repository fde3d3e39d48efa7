"""Corrections against statsmodels, and the price of not correcting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from assay.core.errors import DataError, UsageError
from assay.stats.multiple import CORRECTIONS, corrected, family_in_words, family_wise_error
from assay.stats.pairwise import all_pairs
from tests.oracles.stats import trec8

THEIRS = {"bonferroni": "bonferroni", "holm": "holm", "bh": "fdr_bh"}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from(sorted(THEIRS)))
@settings(deadline=None, max_examples=80)
def test_agrees_with_statsmodels(p: list[float], name: str) -> None:
    assert corrected(p, name) == pytest.approx(multipletests(p, method=THEIRS[name])[1], abs=1e-12)


@given(st.lists(st.floats(0, 1), max_size=30))
@settings(deadline=None, max_examples=50)
def test_laws_of_corrections(p: list[float]) -> None:
    by = {e.name: corrected(p, e.name) for e in CORRECTIONS}
    assert (by["none"] == np.array(p)).all()
    assert (by["bonferroni"] >= by["holm"] - 1e-15).all()
    assert (by["holm"] >= by["bh"] - 1e-12).all()
    assert (by["bh"] >= by["none"] - 1e-15).all()
    order = np.argsort(p, kind="stable")
    assert all((np.diff(v[order]) >= -1e-15).all() for v in by.values())


# Shares of the 8,256 pairs of TREC-8 with p < .05 under the paired t test.
@pytest.mark.parametrize(
    ("correction", "share"), [("none", 0.724), ("holm", 0.374), ("bonferroni", 0.361), ("bh", 0.703)]
)
def test_shares_of_trec8(correction: str, share: float) -> None:
    pairs = all_pairs(trec8())
    assert len(pairs) == 8256
    assert pairs.share(0.05, correction) == pytest.approx(share, abs=5e-4)


def test_family_wise_error_of_not_correcting() -> None:
    assert family_wise_error(0.05, 1) == pytest.approx(0.05)
    assert family_wise_error(0.05, 28) == pytest.approx(1 - 0.95**28)
    assert "0.762" in family_in_words("none", 28, 0.05)
    assert "holm over 28 tests" in family_in_words("holm", 28, 0.05)


def test_family_wise_error_is_held_in_simulation() -> None:
    """1,000 families of 20 true nulls: how often any p falls below .05."""
    p = np.random.default_rng(9).random((1000, 20))
    any_false = {e.name: np.mean([(corrected(row, e.name) < 0.05).any() for row in p]) for e in CORRECTIONS}
    assert any_false["none"] == pytest.approx(family_wise_error(0.05, 20), abs=0.05)
    assert all(any_false[name] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000) for name in ("bonferroni", "holm", "bh"))


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="between 0 and 1"):
        corrected([0.5, 1.5])
    with pytest.raises(UsageError, match="no correction 'bonferoni'; did you mean bonferroni"):
        corrected([0.5], "bonferoni")
