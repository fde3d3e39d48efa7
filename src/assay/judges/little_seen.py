"""How sure is an estimate if the human topics say little, such as 12 topics that all score 0? Bounds instead of t.

Few topics unlike the others leave a t interval without width. Then the mean of the topics' rectifiers, human minus λ
times machine, has the Dirichlet bounds of `stats.bounded`, and the machine's mean on the other topics its own interval.
The two distances to an end are added as squares (Zou & Donner 2008).
"""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.judges.topic_estimators import quantile
from assay.stats.bounded import FEW, SAME_DECIMALS, bounded_ends, p_two_sided, shows_little

Limits = tuple[float, float] | None
LEAST_P, LARGEST_P = 1e-9, 0.5
HALVINGS = 18
"""Steps in which p is found, between LEAST_P and LARGEST_P: to a thousandth of itself."""


def says_little(y: Floats, f: Floats, weight: Floats) -> Bools:
    """Rows for which no t interval is due: human scores, or where the machine enters human − machine, hardly vary."""
    alone = _little(y)
    return alone | ((weight != 0) & (_little(y - f) | _little(y - weight[:, None] * f)))


def _little(rows: Floats) -> Bools:
    """`shows_little`, asked only of rows with few distinct values: of d values d − 1 at least are not the commonest."""
    distinct = np.count_nonzero(np.diff(np.sort(np.round(rows, SAME_DECIMALS), axis=1), axis=1), axis=1)
    little = distinct < min(FEW, rows.shape[1] - 1)
    if little.any():
        little[little] = shows_little(rows[little])
    return little


def bounded(
    value: Floats, scores: tuple[Floats, Floats, Floats], weight: Floats, limits: Limits, level: float
) -> tuple[Floats, Floats]:
    """Ends of each row: value − √((r̄ − low of r̄)² + (λ·half of ū)²), and likewise the upper; NaN without limits.

    scores: Y, F (rows × n) and U (rows × N) within the limits; r = Y − λF.

    >>> none = np.zeros((1, 12))
    >>> ends = bounded(np.zeros(1), (none, none, none), np.zeros(1), (0, 1), 0.95)
    >>> [round(float(end[0]), 3) + 0.0 for end in ends]
    [0.0, 0.265]
    """
    if limits is None or not np.isfinite(limits).all():
        nothing = np.full(len(value), np.nan)
        return nothing, nothing
    y, f, u = scores
    low, high = np.empty(len(value)), np.empty(len(value))
    for i, weighted in enumerate(weight.tolist()):
        rectified = y[i : i + 1] - weighted * f[i : i + 1]
        of_machine = sorted((weighted * limits[0], weighted * limits[1]))
        ends = bounded_ends(rectified, level, (limits[0] - of_machine[1], limits[1] - of_machine[0]))
        mean = float(rectified.mean())
        below, above = _of_machine(u[i], weighted, limits, level)
        low[i] = value[i] - np.hypot(mean - ends[0][0], below)
        high[i] = value[i] + np.hypot(ends[1][0] - mean, above)
    return low, high


def _of_machine(u: Floats, weight: float, limits: tuple[float, float], level: float) -> tuple[float, float]:
    """How far λ·ū reaches down and up."""
    if weight == 0:
        return 0.0, 0.0
    mean = float(u.mean())
    if shows_little(u)[0]:
        low, high = (float(end[0]) for end in bounded_ends(u, level, limits))
        ends = (weight * (mean - low), weight * (high - mean))
        return ends if weight > 0 else (-ends[1], -ends[0])
    half = abs(weight) * quantile(level, len(u) - 1) * float(u.std(ddof=1)) / np.sqrt(len(u))
    return half, half


def bounded_p(value: Floats, scores: tuple[Floats, Floats, Floats], weight: Floats, limits: Limits) -> Floats:
    """p of each value being 0: the level at which its interval begins to hold 0; 1 where that of 50 % does.

    NaN without limits.

    >>> ones = np.ones((1, 2))
    >>> float(bounded_p(np.ones(1), (ones, ones, ones), np.zeros(1), (-1, 1))[0])
    0.5
    """
    if limits is None or not np.isfinite(limits).all():
        return np.full(len(value), np.nan)
    p = np.ones(len(value))
    for i in range(len(value)):
        row = slice(i, i + 1)
        if weight[i] == 0:
            p[i] = p_two_sided(scores[0][i], 0.0, limits)
            continue
        of_row = (scores[0][row], scores[1][row], scores[2][row])
        p[i] = _inverted(value[row], of_row, weight[row], limits)
    return p


def _inverted(
    value: Floats, scores: tuple[Floats, Floats, Floats], weight: Floats, limits: tuple[float, float]
) -> float:
    """The least α whose interval leaves 0 out."""

    def leaves_out(alpha: float) -> bool:
        low, high = bounded(value, scores, weight, limits, 1 - alpha)
        return bool(low[0] > 0 or high[0] < 0)

    if not leaves_out(LARGEST_P):
        return 1.0
    low, high = np.log(LEAST_P), np.log(LARGEST_P)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if leaves_out(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))
