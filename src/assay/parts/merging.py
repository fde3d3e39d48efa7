"""How are parts put together so that nobody can tell how many there were? Sums without rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError

LOWEST = -1074
"""The exponent of the smallest number above 0: every finite number is a whole multiple of 2^LOWEST."""
MANTISSA = 53
"""Bits of the whole number that a float is, times a power of two."""
HALF = 27
"""Each mantissa is added in two halves of at most this many bits."""
AT_ONCE = 1 << 24
"""Values that are added at a time: sums of this many halves are whole numbers that a float holds exactly."""


@dataclass(frozen=True)
class ExactSum:
    """A sum of floats without rounding, and how many they are; it is rounded once, when it is asked for.

    The sum is a whole number of units of 2^-1074, so that adding is exact and its order cannot matter: the mean has the
    same bits for one part or a thousand, in whatever order they come.

    >>> one = ExactSum.of([0.1, 0.2]) + ExactSum.of([0.3])
    >>> one.total, one.mean, sum([0.1, 0.2, 0.3])
    (0.6, 0.2, 0.6000000000000001)
    """

    units: int = 0
    count: int = 0

    @classmethod
    def of(cls, values: Floats | list[float]) -> ExactSum:
        """The sum of these values, which must be finite."""
        array = np.asarray(values, dtype=np.float64).ravel()
        if not np.isfinite(array).all():
            raise DataError("a sum of scores needs finite numbers")
        units = 0
        for start in range(0, len(array), AT_ONCE):
            units += _units(array[start : start + AT_ONCE])
        return cls(units, len(array))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units, self.count + other.count)

    @property
    def total(self) -> float:
        """The sum, rounded once."""
        return self.units / (1 << -LOWEST)

    @property
    def mean(self) -> float:
        """The mean, rounded once; 0 without values."""
        if not self.count:
            return 0.0
        return self.units / (self.count << -LOWEST)


def _units(values: Floats) -> int:
    """The exact sum of some values in units of 2^LOWEST."""
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, MANTISSA).astype(np.int64)
    # From the smallest numbers on the exponent stays, and the mantissa has fewer bits.
    shift = np.maximum(exponent - MANTISSA - LOWEST, 0)
    too_far = np.maximum(LOWEST - (exponent - MANTISSA), 0)
    whole >>= too_far
    high = whole >> HALF
    low = whole - (high << HALF)
    sums_of_high = np.bincount(shift, weights=high)
    sums_of_low = np.bincount(shift, weights=low)
    total = 0
    for place in np.flatnonzero((sums_of_high != 0) | (sums_of_low != 0)).tolist():
        both = (int(sums_of_high[place]) << HALF) + int(sums_of_low[place])
        total += both << place
    return total
