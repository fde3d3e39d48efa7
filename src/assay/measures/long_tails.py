"""What do the ranks past the end of a list add up to? Sums down to any cutoff, without a cell for each rank.

Past the end of a list nothing is gained, and what a measure weighs there is a smooth function of the rank.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.core.arrays import Floats, Ints
from assay.core.lazy import np

NODES = 48
"""Of the integral of one panel, whose end is twice its beginning: exact to the last digits."""


def sums_past(weight: Callable[[Floats], Floats], ends: Ints, last: int) -> Floats:
    """For each list Σ weight(i) over the ranks i after its end, down to the last; 0 where it ends there.

    >>> sums_past(lambda i: 0 * i + 1, np.array([1000, 10**9]), 10**9).tolist()
    [999999000.0, 0.0]
    """
    different, which = np.unique(ends, return_inverse=True)
    sums = [sum_over_ranks(weight, end + 1, last) for end in different.tolist()]
    return np.array(sums, dtype=np.float64)[which]


def sum_over_ranks(weight: Callable[[Floats], Floats], first: int, last: int) -> float:
    """Σ weight(i) for i = first … last, of a smooth weight and a first rank of 1,000 or so; 0 where last < first.

    Each sum is an integral with the first correction of Euler and Maclaurin,
    ∫ from first − 1/2 to last + 1/2 − (Δ(last) − Δ(first − 1)) / 24, Δ(i) = weight(i + 1) − weight(i). What is left out
    is some 1/first⁴ of the sum.

    >>> round(sum_over_ranks(lambda i: 1 / i, 1001, 10**9), 9)
    13.815010642
    >>> sum_over_ranks(lambda i: i, 1001, 1003), sum_over_ranks(lambda i: i, 5, 4)
    (3006.0, 0.0)
    """
    if last < first:
        return 0.0
    if last - first < NODES:
        return float(weight(np.arange(first, last + 1, dtype=np.float64)).sum())
    start, end = first - 0.5, last + 0.5
    panels = int(np.ceil(np.log2(end / start)))
    edges = np.append(start * 2.0 ** np.arange(panels), end)
    nodes, of_node = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    ranks = edges[:-1, None] + half * (nodes + 1)
    integral = float((weight(ranks) * of_node * half).sum())
    at_ends = weight(np.array([first - 1.0, first, last, last + 1.0]))
    return integral - float((at_ends[3] - at_ends[2]) - (at_ends[1] - at_ends[0])) / 24
