"""How many of the small p-values are luck? Corrections for families of tests, and what not correcting costs.

A family is either all pairs of runs or every run against one baseline; pairwise.py makes both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.registry import Registry

Correction = Callable[[Floats], Floats]
CORRECTIONS: Registry[Correction] = Registry("correction")


def corrected(p: npt.ArrayLike, correction: str = "holm") -> Floats:
    """p-values of one family after one of CORRECTIONS, in the order given; compare them with α as they are.

    >>> corrected([0.01, 0.04, 0.03], "holm")
    array([0.03, 0.06, 0.06])
    >>> corrected([0.01, 0.04, 0.03], "bh")
    array([0.03, 0.04, 0.04])
    """
    values = np.asarray(p, dtype=np.float64)
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise DataError("a p-value must lie between 0 and 1")
    after: Floats = CORRECTIONS.call(correction, values.ravel())
    return after.reshape(values.shape)


@CORRECTIONS.register("none", controls="each test alone")
def uncorrected(p: Floats) -> Floats:
    """No correction: the family-wise error grows with every test."""
    return p.copy()


@CORRECTIONS.register("bonferroni", controls="family-wise error")
def bonferroni(p: Floats) -> Floats:
    """p·m for a family of m tests."""
    return np.minimum(1.0, p * p.size)


@CORRECTIONS.register("holm", controls="family-wise error")
def holm(p: Floats) -> Floats:
    """Holm 1979: the i-th smallest p times m − i + 1, never below the one before; sharper than Bonferroni."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _back(np.minimum(1.0, stepped), order)


@CORRECTIONS.register("bh", controls="false discovery rate")
def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini & Hochberg 1995: the i-th smallest p times m/i, never above the one after; of what is called
    significant, at most a share α is expected to be false."""
    order = np.argsort(p, kind="stable")
    scaled = p[order] * p.size / np.arange(1, p.size + 1)
    return _back(np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1]), order)


def family_wise_error(alpha: float, tests: int) -> float:
    """Chance of at least one false alarm in that number of independent uncorrected tests: 1 − (1−α)^tests.

    >>> round(family_wise_error(0.05, 10), 4)
    0.4013
    """
    return float(-np.expm1(tests * np.log1p(-alpha)))


def family_in_words(correction: str, tests: int, alpha: float) -> str:
    """The part of a recipe that says what was corrected, and what not correcting costs."""
    entry = CORRECTIONS.entry(correction)
    if tests == 1:
        return "a single test, p needs no correction"
    if entry.name != "none":
        return f"p corrected by {entry.name} over {tests} tests, which controls the {entry.facts['controls']}"
    chance = family_wise_error(alpha, tests)
    return (
        f"p not corrected for {tests} tests: if no run differed, the chance of at least one p < {alpha:g} "
        f"would be {chance:.3f} were the tests independent"
    )


def _back(values: Floats, order: npt.NDArray[np.intp]) -> Floats:
    """Sorted values in the order before sorting."""
    result = np.empty_like(values)
    result[order] = values
    return result
