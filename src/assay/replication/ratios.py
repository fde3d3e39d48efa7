"""How sure is a ratio of two means? Fieller's interval and the bootstrap, for the same topics or for others.

An effect ratio, a relative improvement and a relative drop are all ratios of means over topics. Where the mean below is
not clearly different from 0, no interval of a ratio has bounds, and this is said instead of a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.stats.bounded import bounded_ends, shows_little
from assay.stats.effect import checked_rows, rounded
from assay.stats.resampling import checked_generator, checked_share, topic_counts

RATIO_INTERVALS = ("fieller", "percentile")
"""How the interval of a ratio is made: by Fieller's theorem, or by the percentiles of a bootstrap over topics."""
RESAMPLES = 2000
"""Draws of a bootstrap where nobody asks for another number."""
Limits = tuple[float, float]
NOTHING = 1e-12
"""A mean below this share of its largest score is 0 up to rounding."""


@dataclass(frozen=True)
class Ratio(Result):
    """A ratio of two means and its interval; NaN where the mean below is 0, infinite ends where there are no bounds."""

    unit = "topic"

    value: float
    low: float
    high: float

    @property
    def defined(self) -> bool:
        """Whether there is a ratio: the mean below is not 0."""
        return bool(np.isfinite(self.value))

    @property
    def bounded(self) -> bool:
        """Whether the interval has two ends."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    def table(self) -> Table:
        """One row; a dash for what is not defined and for an end that is not there."""
        columns = {"ratio": ".4f", "low": ".4f", "high": ".4f"}
        return Table.of(columns, [(self.value, self.low, self.high)], caption="Ratio of two means")

    def below_one(self) -> Ratio:
        """1 − ratio, the share that is lost; the ends change places."""
        return Ratio(1 - self.value, 1 - self.high, 1 - self.low)


UNDEFINED = Ratio(float("nan"), float("nan"), float("nan"))


def ratio_of_means(
    above: npt.ArrayLike,
    below: npt.ArrayLike,
    *,
    paired: bool,
    interval: str = "fieller",
    level: float = 0.95,
    limits: tuple[Limits, Limits] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Ratio:
    """mean(above)/mean(below) with an interval; paired where both have one value for each of the same topics.

    Fieller: all θ for which mean(above) − θ·mean(below) is not significantly different from 0 by a t test, which is an
    interval where mean(below) is itself significantly different from 0, and has no bounds otherwise (Fieller 1954). Two
    samples: Welch's error with Satterthwaite's degrees of freedom at the ratio observed. percentile: of topics that are
    drawn again. limits: the least and largest value above and below. Where too few values differ for either interval,
    it is made of the Dirichlet bounds of both means within these limits, and has no bounds without limits.

    >>> round(ratio_of_means([0.2, 0.1, 0.3], [0.4, 0.3, 0.5], paired=True).value, 4)
    0.5
    >>> found = ratio_of_means([0.2, 0.1, 0.32, 0.22], [0.4, 0.3, 0.5, 0.35], paired=True)
    >>> round(found.low, 4), round(found.high, 4)
    (0.252, 0.7082)
    """
    one_of("interval", interval, RATIO_INTERVALS)
    checked_share(level, "level")
    x = checked_rows(above)[0]
    y = checked_rows(below)[0]
    if paired and len(x) != len(y):
        raise DataError(f"{len(x)} scores against {len(y)}; paired scores need the same topics in one order")
    if is_nothing(y):
        return UNDEFINED
    value = float(x.mean() / y.mean())
    if _hardly_varies(x, y, value, paired):
        low, high = (-np.inf, np.inf) if limits is None else _bounded_quotient(x, y, limits, level)
    elif interval == "fieller":
        low, high = _fieller(x, y, value, paired, level)
    else:
        draws = ratio_draws(x, y, paired=paired, resamples=resamples, seed=seed)
        low, high = percentiles(draws, level)
    return Ratio(value, low, high)


def _hardly_varies(x: Floats, y: Floats, value: float, paired: bool) -> bool:
    """Whether too few values differ for an interval of the ratio."""
    rows = (y, rounded(x - value * y)) if paired else (x, y)
    return any(bool(shows_little(row)[0]) for row in rows)


def _bounded_quotient(x: Floats, y: Floats, limits: tuple[Limits, Limits], level: float) -> tuple[float, float]:
    """Ends of all quotients of means within their bounds, each of which is left out in at most half of 1 − level."""
    (x_low,), (x_high,) = bounded_ends(x, (1 + level) / 2, limits[0])
    (y_low,), (y_high,) = bounded_ends(y, (1 + level) / 2, limits[1])
    if y_low <= 0 <= y_high:
        return -np.inf, np.inf
    corners = np.outer((x_low, x_high), (1 / y_low, 1 / y_high))
    return float(corners.min()), float(corners.max())


def is_nothing(scores: Floats) -> bool:
    """Whether the mean of scores is 0 up to rounding."""
    largest = float(np.abs(scores).max(initial=0.0))
    return abs(float(scores.mean())) <= NOTHING * largest


def _fieller(x: Floats, y: Floats, value: float, paired: bool, level: float) -> tuple[float, float]:
    """Both ends, or infinite ones where the mean below may be 0."""
    from scipy.special import stdtrit

    x_error = float(x.var(ddof=1)) / len(x)
    y_error = float(y.var(ddof=1)) / len(y)
    if paired:
        shared = float(np.cov(x, y)[0, 1]) / len(x)
        freedom = len(x) - 1.0
    else:
        shared = 0.0
        freedom = welch_freedom(x_error, value**2 * y_error, len(x), len(y))
    squared_t = float(stdtrit(freedom, (1 + level) / 2)) ** 2
    return _ends((float(x.mean()), float(y.mean())), (x_error, y_error, shared), squared_t)


def welch_freedom(first: float, second: float, first_topics: int, second_topics: int) -> float:
    """Satterthwaite's degrees of freedom of a sum of two squared errors."""
    squares = first**2 / (first_topics - 1) + second**2 / (second_topics - 1)
    if not squares:
        return first_topics + second_topics - 2.0
    return (first + second) ** 2 / squares


def _ends(means: tuple[float, float], errors: tuple[float, float, float], squared_t: float) -> tuple[float, float]:
    """The roots of (y² − t²v_y)θ² − 2(xy − t²v_xy)θ + (x² − t²v_x) = 0, x and y the means."""
    x, y = means
    x_error, y_error, shared = errors
    square = y**2 - squared_t * y_error
    if square <= NOTHING * y**2:
        return -np.inf, np.inf
    middle = x * y - squared_t * shared
    constant = x**2 - squared_t * x_error
    # Where both experiments are the same the roots are one, and rounding may make the difference negative.
    spread = float(np.sqrt(max(0.0, middle**2 - square * constant)))
    return (middle - spread) / square, (middle + spread) / square


def ratio_draws(x: Floats, y: Floats, *, paired: bool, resamples: int, seed: int) -> Floats:
    """The ratio on topics that are drawn again, together where they are paired; NaN where the mean below is 0."""
    [(x_means, y_means)] = drawn_means([(x, y)], paired=paired, resamples=resamples, seed=seed)
    return quotients(x_means, y_means)


def drawn_means(
    pairs: list[tuple[Floats, Floats]], *, paired: bool, resamples: int, seed: int
) -> list[tuple[Floats, Floats]]:
    """For each (first, second) the means of both on topics that are drawn again: the same draws for all pairs.

    All firsts are on one set of topics and all seconds on one; paired: on the same, so that these are drawn together.
    """
    rng = checked_generator(seed)
    firsts = np.stack([first for first, _ in pairs])
    seconds = np.stack([second for _, second in pairs])
    if paired:
        both = _means_of(np.concatenate([firsts, seconds]), resamples, rng)
        first_means = both[:, : len(pairs)]
        second_means = both[:, len(pairs) :]
    else:
        first_means = _means_of(firsts, resamples, rng)
        second_means = _means_of(seconds, resamples, rng)
    return [(first_means[:, i], second_means[:, i]) for i in range(len(pairs))]


def _means_of(rows: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """resamples × rows: the means of each row on topics drawn with replacement."""
    topics = rows.shape[1]
    blocks = [counts @ rows.T / topics for counts in topic_counts(topics, resamples, rng)]
    return np.concatenate(blocks)


def quotients(above: Floats, below: Floats) -> Floats:
    """above/below; NaN where there is nothing below."""
    there = below != 0
    return np.where(there, above / np.where(there, below, 1.0), np.nan)


def percentiles(draws: Floats, level: float) -> tuple[float, float]:
    """The percentile interval of the draws that have a value."""
    defined = draws[np.isfinite(draws)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
