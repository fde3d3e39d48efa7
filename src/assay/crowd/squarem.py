"""Where does an EM end, and how does it get there soon? Squared extrapolation, and a stop by what a map still changes.

A map is one E-step and one M-step. The log-likelihood settles long before the parameters do, so a fit has converged
when one map moves what is seen of the hidden values (posteriors, worths) by less than the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from assay.core.arrays import Floats

MOST_MAPS = 2000
LARGEST_CHANGE = 1e-6
"""A posterior that moves by less in one map has arrived; at 1e-4 grades may still turn."""
ROUNDING = 1e-12
SHORTEST_STEP = -1.01
"""A step this close to −1 is the two plain maps themselves."""
LEAST_SHARE = 0.1
"""An extrapolation leaves a share at least this part of what it was: from 0 no map leads back."""


class Expected(NamedTuple):
    """What an E-step sees: hidden values (the stop looks at them), the log-likelihood, what else the M-step needs."""

    seen: Floats
    value: float
    rest: Any = None


@dataclass(frozen=True)
class Model:
    """An E-step, parameters → Expected, and an M-step, (parameters, Expected) → parameters; parameters are one vector.

    The E-step's value is the number that a map never lowers: the log-likelihood, penalised where the M-step is.
    shares: whether all parameters are shares or counts, above 0.
    """

    expect: Callable[[Floats], Expected]
    maximise: Callable[[Floats, Expected], Floats]
    shares: bool = False

    def map(self, state: Floats, expected: Expected) -> tuple[Floats, Expected]:
        """The parameters after one map, and what is seen from there."""
        moved = self.maximise(state, expected)
        return moved, self.expect(moved)


@dataclass(frozen=True, eq=False)
class Fit:
    """Where a fit ended: parameters, what is seen from there, the values on the way, the last change."""

    state: Floats
    expected: Expected
    history: tuple[float, ...]
    change: float
    converged: bool

    @property
    def maps(self) -> int:
        """How many maps it took."""
        return len(self.history)

    @property
    def posterior(self) -> Floats:
        """The hidden values, seen from the last parameters."""
        return self.expected.seen

    @property
    def likelihood(self) -> float:
        """The log-likelihood, or what stands for it, at the last parameters."""
        return self.expected.value

    def ending(self, restarts: int = 1, what: str = "log-likelihood", moved: str = "posterior") -> str:
        """How the fit ended, in words; `what` names the number that was made large, `moved` what the stop looks at."""
        how = "converged" if self.converged else "stopped, not converged,"
        starts = f"; best of {restarts} starts" if restarts > 1 else ""
        return (
            f"{how} after {self.maps} iterations ({what} {self.likelihood:.4f}, the last changed a {moved} by "
            f"{self.change:.1g}){starts}."
        )


def fitted(
    model: Model, state: Floats, *, iterations: int = MOST_MAPS, tolerance: float = LARGEST_CHANGE, plain: bool = False
) -> Fit:
    """Maps from `state`, in cycles of two plain ones and one from the point that they point to (SQUAREM, S3).

    With r = θ₁ − θ, v = θ₂ − θ₁ − r and a = min(−‖r‖/‖v‖, −1) that point is θ − 2a r + a² v. It is drawn back,
    a ← (a − 1)/2, as long as the value there is not finite or below that at θ₂: the value never falls. Converged when
    the second map of a cycle changes what is seen by less than the tolerance. plain: without extrapolation.
    Varadhan and Roland 2008.
    """
    expected = model.expect(state)
    history: list[float] = []
    points: list[Floats] = [state]
    change = np.inf
    for _ in range(iterations):
        if len(points) == 3 and not plain:
            state, expected = _extrapolated(model, points, expected)
            points = []
        moved, seen = model.map(state, expected)
        change = largest_change(seen, expected)
        state, expected = moved, seen
        points = [*points[-2:], state]
        history.append(expected.value)
        if change < tolerance and (plain or len(points) == 3):
            break
    return Fit(state, expected, tuple(history), change, change < tolerance)


def largest_change(expected: Expected, before: Expected) -> float:
    """How far the hidden value that moved most has moved."""
    return float(np.abs(expected.seen - before.seen).max(initial=0.0))


def _extrapolated(model: Model, points: list[Floats], expected: Expected) -> tuple[Floats, Expected]:
    """The point that two maps point to, drawn back until its value is no lower than theirs; and what is seen there."""
    start, first, second = points
    r = first - start
    v = second - first - r
    bend = float(np.linalg.norm(v))
    if bend == 0:
        return second, expected
    a = min(-float(np.linalg.norm(r)) / bend, -1.0)
    while a <= SHORTEST_STEP:
        far = start - 2 * a * r + a**2 * v
        if model.shares:
            far = np.maximum(far, LEAST_SHARE * second)
        with np.errstate(all="ignore"):
            seen = model.expect(far)
        if np.isfinite(seen.value) and seen.value >= expected.value - ROUNDING:
            return far, seen
        a = (a - 1) / 2
    return second, expected
