from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rankings.counts import ascending_pairs, concordant_pairs, midranks, tied_pairs

relaxed = settings(deadline=None, max_examples=60)
small = st.lists(st.integers(0, 4), min_size=0, max_size=12)


@relaxed
@given(st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_ascending_pairs_are_counted_as_by_listing(n: int, seed: int) -> None:
    permutation = np.random.default_rng(seed).permutation(n)
    listed = sum(permutation[i] < permutation[j] for i in range(n) for j in range(i + 1, n))
    assert int(ascending_pairs(permutation)) == listed


@relaxed
@given(st.data())
def test_concordant_pairs_with_ties_are_counted_as_by_listing(data: st.DataObject) -> None:
    x = data.draw(small)
    y = data.draw(st.lists(st.integers(0, 4), min_size=len(x), max_size=len(x)))
    n = len(x)
    listed = sum((x[i] - x[j]) * (y[i] - y[j]) > 0 for i in range(n) for j in range(i + 1, n))
    assert int(concordant_pairs(np.array(x), np.array(y))) == listed


def test_many_rows_are_counted_at_once() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, (5, 3, 30)), rng.integers(0, 9, (5, 3, 30))
    single = [[int(concordant_pairs(x[i, j], y[i, j])) for j in range(3)] for i in range(5)]
    assert concordant_pairs(x, y).tolist() == single


@relaxed
@given(small)
def test_midranks_and_tied_pairs(x: list[int]) -> None:
    from scipy.stats import rankdata

    assert midranks(x).tolist() == rankdata(x).tolist()
    assert int(tied_pairs(x)) == sum(x[i] == x[j] for i in range(len(x)) for j in range(i))
