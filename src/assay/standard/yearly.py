"""Did runs get better over the years? The runs of several years on one scale, by reference runs that all years share.

What a slope is worth is decided by the means of the years: they carry topics, runs and every other shock of a year. The
part of topics, of runs and of the reference runs is shown beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.scores import ScoreMatrix, same_scores
from assay.standard.factors import FORM, standardize
from assay.stats.clustered import jackknife_error

QUARTILES = (0, 0.25, 0.5, 0.75, 1)
FEWEST_YEARS = 4
"""Means of years that a slope needs for an interval: two degrees of freedom are left."""


@dataclass(frozen=True)
class Slope:
    """The change of the yearly means by least squares, and the standard errors that its parts would have alone.

    `error` is that of the regression, with years − 2 degrees of freedom; nan with fewer than 4 years. topics, runs: of
    samples of them within the years. references: by leaving out one reference run at a time. nan where a part cannot be
    had. `parts_df` belongs to topics and runs together.
    """

    value: float
    years: int
    error: float
    topics: float
    runs: float
    references: float
    parts_df: float

    @property
    def p(self) -> float:
        """Two-sided, of no change; nan with fewer than 4 years."""
        from scipy.special import stdtr

        if not self.error > 0:
            return float("nan")
        return float(2 * stdtr(self.years - 2, -abs(self.value) / self.error))

    def interval(self) -> tuple[float, float]:
        """95 % by the means of years; nan with fewer than 4."""
        return self._ends(self.error, self.years - 2)

    def without_shocks(self) -> tuple[float, float]:
        """95 % if years had no shocks of their own: topics and runs alone, Satterthwaite's degrees of freedom."""
        return self._ends(float(np.hypot(self.topics, self.runs)), self.parts_df)

    def _ends(self, error: float, freedom: float) -> tuple[float, float]:
        from scipy.special import stdtrit

        if not error > 0:
            return float("nan"), float("nan")
        half = float(stdtrit(freedom, 0.975)) * error
        return self.value - half, self.value + half

    def said(self) -> list[str]:
        """The finding, then what its parts are."""
        change = f"the mean changes by {_signed(self.value)}"
        if self.error > 0:
            how = f"t with {self.years - 2} degrees of freedom over the means of {self.years} years"
            said = [f"{change} {_ends_said(self.interval())} a year, {p_value(self.p)} ({how})"]
        elif self.years >= FEWEST_YEARS:
            said = [f"{change} a year; no interval, since the means lie on a line"]
        else:
            said = [f"{change} a year; no interval: {self.years} years, and {FEWEST_YEARS} are needed"]
        parts = {"topics": self.topics, "runs": self.runs, "reference runs": self.references}
        shown = ", ".join(f"{name} {error:.4f}" for name, error in parts.items() if np.isfinite(error))
        if shown:
            said.append(f"standard error of the change a year if nothing else varied: {shown}")
        ends = self.without_shocks()
        if np.isfinite(ends[0]):
            said.append(f"{_ends_said(ends)} a year by topics and runs, if years had no shocks of their own")
        return said


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def _ends_said(ends: tuple[float, float]) -> str:
    return f"[{_signed(ends[0])}, {_signed(ends[1])}]"


@dataclass(frozen=True, eq=False)
class Trend(Result):
    """Standardized means of each year's own runs: lowest, quartiles, highest, their mean, and the best run.

    `slope` is the change of the mean per year, None if fewer than two labels are numbers.
    """

    unit = "year"

    labels: tuple[str, ...]
    means: tuple[Floats, ...]
    topics: tuple[int, ...]
    best: tuple[str, ...]
    reference: tuple[str, ...]
    slope: Slope | None
    recipe: str

    def table(self) -> Table:
        """One row per year or collection."""
        rows = []
        for label, means, topics, best in zip(self.labels, self.means, self.topics, self.best, strict=True):
            rows.append((label, len(means), topics, *np.quantile(means, QUARTILES), float(means.mean()), best))
        notes = [f"Standardized by {len(self.reference)} common reference runs, {self.recipe}."]
        if self.slope is not None:
            notes = [*self.slope.said(), *notes]
        formats = {"year": "", "runs": "d", "topics": "d", "lowest": ".3f", "25 %": ".3f", "median": ".3f"}
        formats |= {"75 %": ".3f", "highest": ".3f", "mean": ".3f", "best run": ""}
        keys = {"25 %": "quartile_1", "75 %": "quartile_3"}
        return Table.of(formats, rows, caption="Trend over the years", notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The table, and the slope of the means with its parts."""
        facts: dict[str, Any] = {"slope": None, "slope_low": None, "slope_high": None, "slope_p": None}
        if self.slope is not None:
            low, high = self.slope.interval()
            facts = {"slope": self.slope.value, "slope_low": low, "slope_high": high, "slope_p": self.slope.p}
            low, high = self.slope.without_shocks()
            facts |= {"slope_low_without_shocks": low, "slope_high_without_shocks": high}
            parts = {"topics": self.slope.topics, "runs": self.slope.runs, "references": self.slope.references}
            facts |= {f"slope_error_{name}": error for name, error in parts.items()}
        return {**super().record(), **{key: _finite(value) for key, value in facts.items()}}


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def trend(
    collections: Mapping[str, ScoreMatrix],
    reference: Sequence[str] = (),
    *,
    references: Mapping[str, ScoreMatrix] | None = None,
    form: str = FORM,
    smoothing: str | None = "virtual",
) -> Trend:
    """The standardized means of each collection's own runs, all standardized by the same reference runs.

    `collections` maps a label, usually the year, to the scores of its own runs and of the reference runs, which every
    collection needs; all of one measure and policy. .5 is the mean of the reference. Webber 2010, §8.2.1, whose form
    and smoothing are the defaults. references: instead of names, the scores of the same reference runs on the topics of
    each collection, where they are kept apart. The slope is that of the yearly means by least squares, with t of
    years − 2 degrees of freedom from 4 years on.

    >>> old = ScoreMatrix.of([[0.2, 0.4], [0.4, 0.6], [0.3, 0.5]], runs=["bm25", "rm3", "old"])
    >>> new = ScoreMatrix.of([[0.1, 0.3], [0.3, 0.5], [0.4, 0.6]], runs=["bm25", "rm3", "new"])
    >>> years = trend({"2019": old, "2020": new}, ["bm25", "rm3"])
    >>> years.best, round(years.slope.value, 3)
    (('old', 'new'), 0.158)
    """
    names = _reference_names(reference, references, collections)
    for one, other in combinations(collections.values(), 2):
        same_scores(one, other)
    own, by = {}, {}
    for label, matrix in collections.items():
        own_runs = [run for run in matrix.runs if run not in names]
        if not own_runs:
            raise DataError(f"{label}: only the reference runs are there; a trend needs other runs too")
        own[label] = matrix.select(runs=own_runs)
        by[label] = matrix.select(runs=list(names)) if references is None else references[label]
    after = {
        label: standardize(matrix, by[label], form=form, smoothing=smoothing).values for label, matrix in own.items()
    }
    means = tuple(values.mean(axis=1) for values in after.values())
    return Trend(
        labels=tuple(collections),
        means=means,
        topics=tuple(values.shape[1] for values in after.values()),
        best=tuple(matrix.runs[int(of_runs.argmax())] for matrix, of_runs in zip(own.values(), means, strict=True)),
        reference=names,
        slope=_slope(after, own, by, form, smoothing),
        recipe=f"form {form}, smoothing {smoothing or 'none'}",
    )


def _reference_names(
    reference: Sequence[str], references: Mapping[str, ScoreMatrix] | None, collections: Mapping[str, ScoreMatrix]
) -> tuple[str, ...]:
    """The names of the reference runs, which must be the same for all collections."""
    if (not reference) == (references is None):
        raise UsageError("reference: no reference run named; a trend needs runs that every collection has")
    if references is None:
        return tuple(reference)
    sets = {label: references[label] for label in collections if label in references}
    if len(sets) < len(collections):
        raise DataError("references: a collection has no scores of reference runs; give them for every collection")
    first, *others = sets.values()
    for other in others:
        odd = sorted(set(first.runs) ^ set(other.runs))
        if odd:
            raise DataError(f"reference run {odd[0]!r} is not on every collection; a trend needs the same ones")
    return first.runs


def _slope(
    after: Mapping[str, Floats],
    own: Mapping[str, ScoreMatrix],
    by: Mapping[str, ScoreMatrix],
    form: str,
    smoothing: str | None,
) -> Slope | None:
    """The slope over those labels that are years, with its parts."""
    labels = [label for label in after if label.strip().lstrip("-").isdigit()]
    years = np.array([float(label) for label in labels])
    if len(set(years.tolist())) < 2:
        return None
    from_mean = years - years.mean()
    weights = from_mean / (from_mean**2).sum()
    means = np.array([after[label].mean() for label in labels])
    value = float(weights @ means)
    blocks = [after[label] for label in labels]
    topics, topics_df = _within(weights, [values.mean(axis=0) for values in blocks])
    runs, runs_df = _within(weights, [values.mean(axis=1) for values in blocks])
    references = _by_references({label: (own[label], by[label]) for label in labels}, weights, form, smoothing)
    return Slope(
        value=value,
        years=len(years),
        error=_regression_error(means, from_mean, value),
        topics=topics,
        runs=runs,
        references=references,
        parts_df=_together((topics**2, topics_df), (runs**2, runs_df)),
    )


def _regression_error(means: Floats, from_mean: Floats, slope: float) -> float:
    """The standard error of a slope of least squares; nan with fewer than 4 means."""
    if len(means) < FEWEST_YEARS:
        return float("nan")
    rest = means - means.mean() - slope * from_mean
    return float(np.sqrt((rest**2).sum() / (len(means) - 2) / (from_mean**2).sum()))


def _within(weights: Floats, samples: Sequence[Floats]) -> tuple[float, float]:
    """The error of Σ w·mean from the spread within each sample, and its degrees of freedom; nan with a single value."""
    if min(len(values) for values in samples) < 2:
        return float("nan"), float("nan")
    parts = [w**2 * values.var(ddof=1) / len(values) for w, values in zip(weights, samples, strict=True)]
    pairs = [(float(part), len(values) - 1.0) for part, values in zip(parts, samples, strict=True)]
    return float(np.sqrt(sum(parts))), _together(*pairs)


def _together(*parts: tuple[float, float]) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances, each with its own."""
    squares = sum(variance**2 / freedom for variance, freedom in parts if variance)
    total = sum(variance for variance, _ in parts)
    return float(total**2 / squares) if squares else float("nan")


def _by_references(
    years: Mapping[str, tuple[ScoreMatrix, ScoreMatrix]], weights: Floats, form: str, smoothing: str | None
) -> float:
    """The delete-one-reference error of the slope; nan if what is left has no spread."""
    count = min(len(by.runs) for _, by in years.values())
    if count < (3 if smoothing is None else 2):
        return float("nan")
    slopes = []
    for left_out in next(iter(years.values()))[1].runs:
        means = []
        for own, by in years.values():
            rest = by.select(runs=[run for run in by.runs if run != left_out])
            means.append(float(standardize(own, rest, form=form, smoothing=smoothing).values.mean()))
        slopes.append(float(weights @ means))
    return jackknife_error(slopes)
