"""When does an estimate from sampled docs have an interval, and if not, how many labels would help?

nDCG divides by an ideal list, so the number of relevant docs must be known too: with 3 relevant docs sampled per topic
intervals that a machine assists covered .93 and more in simulations, with 1 or fewer from .28; those of people alone
covered .95 only where that number was known to a tenth. An interval as wide as half the range of the measure says too
little. What does not hold is not printed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.judges.topic_estimators import quantile

ENOUGH_RELEVANT = 3.0
"""Relevant docs in the sample per topic for an estimate of nDCG with a machine."""
KNOWN_TO = 0.1
"""Mean relative error of the number of relevant docs for an estimate of nDCG by people alone."""
WIDEST = 0.5
"""Of the range of the measure: an interval at least so wide is refused."""


@dataclass(frozen=True, eq=False)
class DocInterval:
    """Estimates of runs with their ends; NaN where they are refused, and how many times as many labels would help."""

    value: Floats
    low: Floats
    high: Floats
    error: Floats
    refused: Bools
    times: float
    why: str

    @property
    def width(self) -> Floats:
        """high − low."""
        return np.asarray(self.high - self.low)


def doc_interval(
    value: Floats, error: Floats, degrees: Floats, level: float, limits: tuple[float, float] | None, *,
    needs: tuple[float, str] = (1.0, ""), all_judged: bool = False,
) -> DocInterval:  # fmt: skip
    """value ± t·error within the limits of the measure, of rows that have enough for it.

    needs: how many times as many labels the whole estimate needs, with the reason; 1 if it has enough. Rows without
    degrees of freedom are refused. all_judged: nothing was left out, so the error is 0 and nothing is refused.

    >>> found = doc_interval(np.array([0.9]), np.array([0.1]), np.array([40.0]), 0.95, (0.0, 1.0))
    >>> round(float(found.low[0]), 3), float(found.high[0])
    (0.698, 1.0)
    """
    if all_judged:
        nobody = np.zeros(len(value), dtype=bool)
        return DocInterval(value, value, value, np.zeros(len(value)), nobody, 1.0, "")
    half = np.array([quantile(level, max(1.0, d)) for d in degrees.tolist()]) * error
    few = degrees < 1
    times, why = needs
    wide = np.zeros(len(value), dtype=bool)
    bounded = limits is not None and bool(np.isfinite(limits).all())
    if limits is not None and bounded:
        share = 2 * half / (limits[1] - limits[0])
        typical = float(np.median(share))
        # All or none: rows with narrow intervals are those that happen to have few relevant docs in the sample.
        wide[:] = typical >= WIDEST
        if wide.any():
            times = max(times, (typical / WIDEST) ** 2)
            why = (
                why
                or f"intervals are {2 * np.median(half):.2f} wide (median) on a range of {limits[1] - limits[0]:.3g}"
            )
    refused = few | wide | (needs[0] > 1)
    low, high = value - half, value + half
    if limits is not None:
        value, low, high = (np.clip(ends, *limits) for ends in (value, low, high))
    blank = [np.where(refused, np.nan, numbers) for numbers in (value, low, high)]
    return DocInterval(blank[0], blank[1], blank[2], error, refused, times, why)


def ndcg_needs(relevant: float, error: float, *, assisted: bool) -> tuple[float, str]:
    """How many times as many labels nDCG needs, and why: 1 if it has enough.

    >>> ndcg_needs(0.5, 0.9, assisted=True)[0], ndcg_needs(5.0, 0.3, assisted=True)[0]
    (6.0, 1.0)
    """
    if assisted:
        if relevant >= ENOUGH_RELEVANT:
            return 1.0, ""
        said = f"{relevant:.2g} relevant docs are in the sample per topic, {ENOUGH_RELEVANT:g} are needed"
        return ENOUGH_RELEVANT / max(relevant, 1e-3), said
    if error <= KNOWN_TO:
        return 1.0, ""
    said = f"the number of relevant docs has a relative error of {error:.2g}, {KNOWN_TO:g} is needed"
    return float(min(1e3, (error / KNOWN_TO) ** 2)), said
