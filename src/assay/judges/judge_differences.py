"""Which of several judges is nearer to people? Differences of coefficients by leaving topics out one at a time.

A coefficient such as α is no mean of topics, but its jackknife pseudo-values are nearly that: one number for each. So
all pairs of judges go through the step-down max-t of `stats.max_t`, which knows how the judges correlate; with fewer
than 10 topics p is Holm's and the intervals are Bonferroni's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.tables import Table
from assay.stats.bounded import unlike
from assay.stats.clustered import jackknife, jackknife_error, t_quantile
from assay.stats.max_t import FEWEST_TOPICS, flipped_family
from assay.stats.multiple import corrected

Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class JudgesCompared:
    """The difference of two judges in one coefficient, with interval and p that hold for the whole family."""

    first: str
    second: str
    measure: str
    difference: float
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True)
class Differences:
    """All pairs of a family, what was tested and how, and how sure the intervals are."""

    rows: tuple[JudgesCompared, ...]
    recipe: str
    level: float

    def of(self, first: str, second: str) -> JudgesCompared:
        """One pair, in the order in which it was compared."""
        for row in self.rows:
            if (row.first, row.second) == (first, second):
                return row
        raise UsageError(f"{first!r} and {second!r} were not compared, or not in this order")

    def table(self, caption: str, notes: Sequence[str] = ()) -> Table:
        """One row for each pair."""
        columns = {
            "judge": "", "against": "", "coefficient": "", "difference": "+.4f", "low": "+.4f", "high": "+.4f",
            "p corrected": "p",
        }  # fmt: skip
        rows = [(row.first, row.second, row.measure, row.difference, row.low, row.high, row.p) for row in self.rows]
        said = [self.recipe, f"low, high: {100 * self.level:g} % intervals that hold for all rows at once", *notes]
        if any(row.p is None for row in self.rows):
            said.append("–: undefined, or hardly another value, without one of the topics: no test and no interval")
        return Table.of(columns, rows, caption=caption, notes=said)


def leave_topics_out(tables: Floats) -> Floats:
    """Sums over all topics (the first axis) but one, for each topic."""
    return np.asarray(tables.sum(axis=0, keepdims=True) - tables)


def jackknife_ends(value: float, left_out: Floats, level: float, limits: tuple[float, float] = (-1.0, 1.0)) -> Ends:
    """θ ± t·√((n − 1)/n Σ(θ₍₋ᵢ₎ − θ̄)²) within the limits of the coefficient.

    None where it is undefined without one of the topics, or hardly ever another value.

    >>> jackknife_ends(0.5, np.array([0.5, 0.5, 0.5]), 0.95)
    (None, None)
    """
    if not _has_error(left_out) or np.isnan(value):
        return None, None
    low, high = jackknife(value, left_out).interval(level)
    return max(limits[0], low), min(limits[1], high)


def _has_error(left_out: Floats) -> bool:
    """Whether values without each topic say how sure the value is: known, and not mostly the same one."""
    topics = len(left_out)
    return topics > 1 and bool(np.isfinite(left_out).all()) and 2 * int(unlike(left_out)[0]) >= topics


def pseudo_values(value: float, left_out: Floats) -> Floats:
    """One number for each topic, with the coefficient as their mean: θ − (n − 1)(θ₍₋ᵢ₎ − θ̄).

    They are nθ − (n − 1)θ₍₋ᵢ₎, moved so that p belongs to the difference that is shown and not to one less its bias.
    """
    return np.asarray(value - (len(left_out) - 1) * (left_out - left_out.mean()))


def compared(
    names: Sequence[str], values: Floats, left_out: Floats, pairs: tuple[Ints, Ints], measure: str, *,
    level: float = 0.95, resamples: int | None = None, seed: int = 0,
) -> Differences:  # fmt: skip
    """The differences of pairs of coefficients, all considered together.

    values: of each judge. left_out: judges × topics, the values without each topic. pairs: the places of the first and
    of the second of each pair.
    """
    first, second = pairs
    topics = left_out.shape[1]
    pseudo = np.stack([pseudo_values(float(v), row) for v, row in zip(values, left_out, strict=True)])
    between = left_out[first] - left_out[second]
    known = np.array([_has_error(row) for row in between], dtype=bool)
    p, critical, recipe = _family(pseudo, first[known], second[known], topics, level, resamples, seed)
    corrected_p = np.full(len(first), np.nan)
    corrected_p[known] = p
    rows = []
    for i, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        difference = float(values[a] - values[b])
        ends: Ends = (None, None)
        if known[i]:
            half = critical * jackknife_error(between[i])
            ends = _open_at_zero(difference - half, difference + half, bool(corrected_p[i] < 1 - level))
        given = None if np.isnan(corrected_p[i]) else float(corrected_p[i])
        rows.append(JudgesCompared(names[a], names[b], measure, difference, *ends, given))
    return Differences(tuple(rows), recipe, level)


def _family(
    pseudo: Floats, first: Ints, second: Ints, topics: int, level: float, resamples: int | None, seed: int
) -> tuple[Floats, float, str]:
    """p of each pair, the critical t of all intervals, and the recipe."""
    if not len(first):
        return np.ones(0), np.inf, "no two judges can be compared"
    alpha = round(1 - level, 12)
    if topics >= FEWEST_TOPICS:
        family = flipped_family(pseudo, first, second, alpha=alpha, resamples=resamples, seed=seed)
        recipe = f"{family.recipe(seed)}; {topics} topics, delete-one-topic jackknife"
        return family.p, family.critical, recipe
    from scipy.special import stdtr

    rows = pseudo[first] - pseudo[second]
    t = rows.mean(axis=1) / (rows.std(axis=1, ddof=1) / np.sqrt(topics))
    p = corrected(2 * stdtr(topics - 1, -np.abs(t)), "holm")
    critical = t_quantile(1 - alpha / 2 / len(first), topics - 1)
    return (
        p,
        critical,
        f"t tests of {topics} topics, delete-one-topic jackknife; p by Holm over {len(first)} differences",
    )


def _open_at_zero(low: float, high: float, significant: bool) -> tuple[float, float]:
    """An interval that does not hold 0 where the step-down test rejects: it is cut there."""
    if significant and low < 0 < high:
        return (0.0, high) if low + high > 0 else (low, 0.0)
    return low, high
