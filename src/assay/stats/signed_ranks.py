"""Which share of all sign patterns has a rank sum as large? The exact distribution behind Wilcoxon's test."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.rankings.counts import midranks
from assay.stats.resampling import one_or_both

EXACT_BELOW = 50
"""Topics from which on Wilcoxon's test takes the normal approximation."""


def is_exact(topics: int, exact: bool | None) -> bool:
    """Whether Wilcoxon's test takes all sign patterns: if that is asked for, else below 50 topics.

    >>> is_exact(49, None), is_exact(50, None), is_exact(10, False)
    (True, False, False)
    """
    return topics < EXACT_BELOW if exact is None else exact


def signed_ranks(rows: Floats) -> Floats:
    """Ranks of |difference| among the non-zero ones, ties sharing their mean rank, with the sign of the difference."""
    # Zeros have the lowest ranks: without them all others move down by their number.
    is_zero = rows == 0
    ranks = midranks(np.abs(rows)) - is_zero.sum(axis=1, keepdims=True)
    return np.where(is_zero, 0.0, np.sign(rows) * ranks)


def exact_signed_rank_p(ranks: Floats, alternative: str) -> Floats:
    """P over all sign patterns of the ranks of each row; rows with the same ranks share one distribution.

    Memory: kinds of rows × n(n+1) numbers.
    """
    # Mean ranks of ties are halves: the doubled ranks are whole numbers.
    doubled = np.rint(2 * np.abs(ranks)).astype(np.int64)
    observed = np.where(ranks > 0, doubled, 0).sum(axis=1)
    kinds, kind = np.unique(np.sort(doubled, axis=1), axis=0, return_inverse=True)
    below = np.cumsum(_shares_of_sums(kinds), axis=1)
    kind = kind.ravel()
    less = below[kind, observed]
    greater = 1 - np.where(observed > 0, below[kind, np.maximum(observed - 1, 0)], 0.0)
    return np.clip(one_or_both(greater, less, alternative), 0.0, 1.0)


def _shares_of_sums(kinds: npt.NDArray[np.int64]) -> Floats:
    """For each row of whole numbers the share of its subsets with the sum 0, 1, 2, …, built number by number."""
    sums = np.arange(int(kinds.sum(axis=1).max(initial=0)) + 1)
    share = np.zeros((len(kinds), len(sums)))
    share[:, 0] = 1.0
    for place in range(kinds.shape[1]):
        before = sums - kinds[:, place, None]
        shifted = np.take_along_axis(share, np.maximum(before, 0), axis=1)
        share = (share + np.where(before >= 0, shifted, 0)) / 2
    return share
