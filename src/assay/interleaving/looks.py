"""How may one look at an experiment before its end? Bounds for planned looks, and an interval that always holds.

Who tests at every look finds a difference far too often. Planned looks share α by a spending function (Jennison &
Turnbull 2000, §§2, 7); who wants to look every day takes the confidence sequence, wider at any one time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from assay.core.arrays import Floats
from assay.core.registry import Registry

NODES = 100
"""Nodes of the integrals over the statistic at each look."""
FARTHEST = 9.0
"""A bound of this many standard errors is never reached."""

Spending = Callable[[Floats, float], Floats]
SPENDING: Registry[Spending] = Registry("spending")


@SPENDING.register("obrien-fleming")
def obrien_fleming(times: Floats, alpha: float) -> Floats:
    """Bounds of z by Lan & DeMets 1983 with α(t) = 2 − 2Φ(z/√t): hardly any at first, nearly all of α at the end.

    >>> obrien_fleming(np.array([0.5, 1.0]), 0.05).round(4).tolist()
    [2.7718, 1.9793]
    """
    from scipy.special import ndtr, ndtri

    spent = 2 * ndtr(-ndtri(1 - alpha / 2) / np.sqrt(times))
    bounds: list[float] = []
    for _ in times:
        bounds.append(_root(lambda bound: _overspent([*bounds, bound], times, spent)))
    return np.array(bounds)


def _overspent(bounds: list[float], times: Floats, spent: Floats) -> float:
    """How much more than its share of α the last of these looks has spent, with those before it."""
    look = len(bounds)
    return float(_exits(bounds, times[:look]).sum() - spent[look - 1])


@SPENDING.register("pocock")
def pocock(times: Floats, alpha: float) -> Floats:
    """The same bound of z at each look, Pocock 1977: easier to reach early, dearer at the end.

    >>> float(pocock(np.array([0.25, 0.5, 0.75, 1.0]), 0.05)[0].round(4))
    2.3613
    """
    constant = _root(lambda bound: float(_exits([bound] * len(times), times).sum()) - alpha)
    return np.full(len(times), constant)


@cache
def bounds_of(looks: int, alpha: float = 0.05, spending: str = "obrien-fleming") -> Floats:
    """The bound of |z| at each of this many looks after equal shares of the experiment.

    >>> bounds_of(4).round(4).tolist()
    [3.9199, 2.774, 2.2982, 2.0426]
    """
    bounds: Floats = SPENDING.call(spending, np.arange(1, looks + 1) / looks, alpha)
    return bounds


def growth(looks: int, alpha: float = 0.05, power: float = 0.8, spending: str = "obrien-fleming") -> float:
    """How many times as large an experiment must be for the same power as one with a single look.

    >>> round(growth(4), 3), round(growth(4, spending="pocock"), 3)
    (1.031, 1.202)
    """
    from scipy.special import ndtri

    times = np.arange(1, looks + 1) / looks
    bounds = bounds_of(looks, alpha, spending)
    drift = _root(lambda d: float(_exits(bounds, times, d).sum()) - power, low=0.1)
    return float((drift / (ndtri(1 - alpha / 2) + ndtri(power))) ** 2)


def _exits(bounds: Sequence[float] | Floats, times: Floats, drift: float = 0.0) -> Floats:
    """The chance to leave (−bound, bound) first at each look: Brownian motion with drift, seen at these times."""
    from scipy.special import ndtr

    nodes, weights = _nodes()
    chances, before, places, mass = [], 0.0, np.zeros(1), np.ones(1)
    for bound, time in zip(bounds, times.tolist(), strict=True):
        step, sd = time - before, float(np.sqrt(time - before))
        reach = min(float(bound), FARTHEST) * np.sqrt(time)
        above = ndtr((places + drift * step - reach) / sd)
        below = ndtr((-reach - places - drift * step) / sd)
        chances.append(float(mass @ (above + below)))
        inside = reach * nodes
        shifted = (inside[:, None] - places - drift * step) / sd
        mass = reach * weights * ((np.exp(-0.5 * shifted**2) / (sd * np.sqrt(2 * np.pi))) @ mass)
        before, places = time, inside
    return np.array(chances)


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


def _root(gap: Callable[[float], float], low: float = 0.5) -> float:
    from scipy.optimize import brentq

    return float(brentq(gap, low, FARTHEST, xtol=1e-9))


def always_radius(seen: int, planned: int, alpha: float = 0.05) -> float:
    """Half the width, in standard deviations, of an interval for the mean of the first `seen` users that always holds.

    √(2(tρ² + 1)/(t²ρ²)·ln(√(tρ² + 1)/α)) with ρ² such that it is tightest near the planned number of users. Waudby-
    Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Thm 2.2.

    >>> round(always_radius(100, 500), 6)
    0.336389
    """
    rho = tuning(planned, alpha)
    scaled = seen * rho + 1
    return float(np.sqrt(2 * scaled / (seen**2 * rho) * np.log(np.sqrt(scaled) / alpha)))


def tuning(planned: int, alpha: float = 0.05) -> float:
    """ρ² = (−2 ln α + ln(−2 ln α + 1))/planned.

    >>> round(tuning(500), 7)
    0.0158723
    """
    return float((-2 * np.log(alpha) + np.log(-2 * np.log(alpha) + 1)) / planned)


def always_p(t: float, seen: int, planned: int, alpha: float = 0.05) -> float:
    """The smallest α at which the interval that always holds leaves out 0, for a mean of t standard errors."""
    scaled = seen * tuning(planned, alpha) + 1
    exponent = t**2 * (scaled - 1) / (2 * scaled)
    return float(min(1.0, np.exp(0.5 * np.log(scaled) - exponent)))
