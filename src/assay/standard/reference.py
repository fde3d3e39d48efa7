"""Which reference runs, how many, and for how long? And what trend do common reference runs show over the years?

`longevity` compares old factors with new ones, `reference_size` draws small reference sets, `trend` standardizes the
runs of several years by reference runs that all years share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generator, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix, same_scores
from assay.rankings import kendall_rows, settled
from assay.rankings.batch import pearson_rows
from assay.standard.factors import FORM, Factors, standardize

QUARTILES = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True)
class Longevity(Result):
    """Correlations of the runs' mean scores under old factors with those under their own.

    NaN where all runs have the same mean, so that there is no order to keep.
    """

    measure: str
    runs: int
    pearson: float
    tau: float
    form: str

    def table(self) -> Table:
        """One row."""
        notes = [
            f"Means of {self.runs} runs, standardized ({self.form}) by the given factors and by the runs themselves."
        ]
        if np.isnan(self.tau):
            notes.append("All runs have the same mean: there is no order that could be kept.")
        row = (self.measure, self.runs, self.pearson, self.tau)
        formats = {"measure": "", "runs": "d", "Pearson": ".3f", "Kendall τ": ".3f"}
        keys = {"Pearson": "pearson", "Kendall τ": "tau"}
        return Table.of(formats, [row], caption="Do old factors still serve?", notes=notes, keys=keys)


@dataclass(frozen=True, eq=False)
class ReferenceSize(Result):
    """Per size of the reference set: τ with the full set that is reached in 50, 95 and 99 % of the samples."""

    measure: str
    sizes: tuple[int, ...]
    taus: Floats
    raw: float
    samples: int
    full: int
    seed: int

    def table(self) -> Table:
        """One row per size."""
        notes = [
            f"τ of the order of the runs under m of {self.full} reference runs with that under all of them; "
            f"{self.samples} samples per size, seed {self.seed}.",
            f"Yardstick: τ of standardized with raw scores is {self.raw:.3f}.",
        ]
        rows = [(size, *taus) for size, taus in zip(self.sizes, self.taus, strict=True)]
        formats = {"reference runs": "d", "τ, 50 %": ".3f", "τ, 95 %": ".3f", "τ, 99 %": ".3f"}
        keys = {"τ, 50 %": "tau_50", "τ, 95 %": "tau_95", "τ, 99 %": "tau_99"}
        return Table.of(formats, rows, caption=f"{self.measure}: how many reference runs?", notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The table, and τ of standardized with raw scores."""
        return {**super().record(), "tau_raw": self.raw, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class Trend(Result):
    """Standardized means of each year's own runs: lowest, quartiles, highest, and the best run.

    `slope` is the change of the median per year by least squares, None if fewer than two labels are numbers.
    """

    labels: tuple[str, ...]
    means: tuple[Floats, ...]
    best: tuple[str, ...]
    reference: tuple[str, ...]
    slope: float | None
    recipe: str
    median_low: tuple[float, ...] = ()
    median_high: tuple[float, ...] = ()
    """95 % intervals of the medians, by drawing the runs of each year again."""
    slope_interval: tuple[float, float] | None = None

    def table(self) -> Table:
        """One row per year or collection."""
        rows = []
        for i, (label, means, best) in enumerate(zip(self.labels, self.means, self.best, strict=True)):
            interval = (self.median_low[i], self.median_high[i])
            rows.append((label, len(means), *np.quantile(means, QUARTILES), *interval, best))
        notes = [f"Standardized by {len(self.reference)} common reference runs, {self.recipe}."]
        if self.slope is not None:
            notes.append(f"The median changes by {self.change()} a year.")
        notes.append("median low, high: 95 % interval, runs of each year drawn again; it says nothing of the topics")
        formats = {"year": "", "runs": "d", "lowest": ".3f", "25 %": ".3f", "median": ".3f", "75 %": ".3f"}
        formats |= {"highest": ".3f", "median low": ".3f", "median high": ".3f", "best run": ""}
        keys = {"25 %": "quartile_1", "75 %": "quartile_3"}
        return Table.of(formats, rows, caption="Trend over the years", notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The table, and the slope of the medians."""
        low, high = self.slope_interval or (None, None)
        return {**super().record(), "slope": self.slope, "slope_low": low, "slope_high": high}

    def change(self) -> str:
        """The slope with its interval, in words."""
        shown = [f"{self.slope:+.4f}"]
        if self.slope_interval is not None:
            low, high = self.slope_interval
            shown.append(f"[{low:+.4f}, {high:+.4f}]")
        return " ".join(shown).replace("-", "−")


def longevity(matrix: ScoreMatrix, old: Factors | ScoreMatrix, *, form: str = FORM) -> Longevity:
    """How far the runs keep their means and their order when old factors stand in for their own.

    Pearson's r and Kendall's τ-b over the runs. Webber, Moffat & Zobel 2008, Table 2; Webber 2010, Table 4.7.

    >>> new = ScoreMatrix.of([[0.1, 0.3], [0.2, 0.5], [0.6, 0.4]])
    >>> longevity(new, ScoreMatrix.of([[0.1, 0.2], [0.3, 0.6]])).tau
    1.0
    """
    runs = matrix.shape[0]
    if runs < 3:
        raise DataError(f"{matrix.measure}: {runs} runs; a correlation needs at least three")
    by_old = settled(standardize(matrix, old, form=form).averages())
    by_own = settled(standardize(matrix, form=form).averages())
    one_row = by_old[None]
    r = pearson_rows(one_row, by_own)[0]
    tau = kendall_rows(one_row, by_own)[0]
    return Longevity(matrix.measure, runs, float(r), float(tau), form)


def reference_size(
    matrix: ScoreMatrix,
    reference: ScoreMatrix,
    *,
    sizes: Sequence[int] = (2, 3, 5, 10, 15, 20, 30, 50),
    samples: int = 2000,
    form: str = FORM,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> ReferenceSize:
    """How few reference runs give the order that all of them give.

    Per size m: draw m reference runs, standardize `matrix` by them, take τ of the order with that under all reference
    runs; the 50th, 95th and 99th percentile from the top. Sizes above the reference set are left out.
    Webber, Moffat & Zobel 2008, Fig. 4; Webber 2010, Fig. 4.8.

    >>> scores = ScoreMatrix.of([[0.1, 0.3], [0.2, 0.5], [0.6, 0.4]])
    >>> reference_size(scores, scores, sizes=(3,), samples=10).taus.round(6).tolist()
    [[1.0, 1.0, 1.0]]
    """
    columns = reference.select(topics=matrix.topics)
    references = len(columns.runs)
    usable = tuple(size for size in sizes if 2 <= size <= references)
    if not usable:
        raise UsageError(f"sizes: none of {list(sizes)} lies between 2 and the {references} reference runs")
    by_all = settled(standardize(matrix, columns, form=form).averages())

    def taus_with_all(means: Floats) -> Floats:
        # a reference set under which all runs have the same mean gives no order: τ 0
        return kendall_rows(settled(means), by_all, undefined=0.0)

    def percentiles(task: tuple[int, np.random.Generator]) -> Floats:
        size, rng = task
        means = _sampled_means(matrix, columns, size, samples, form, rng)
        return np.quantile(taus_with_all(means), (0.5, 0.05, 0.01))

    tasks = zip(usable, generators(seed, len(usable)), strict=True)
    taus = ordered_map(percentiles, tasks, jobs=jobs, threads=True, progress=progress)
    raw = float(taus_with_all(matrix.averages()[None])[0])
    return ReferenceSize(matrix.measure, usable, np.array(taus), raw, samples, references, seed)


def _sampled_means(
    matrix: ScoreMatrix, columns: ScoreMatrix, size: int, samples: int, form: str, rng: np.random.Generator
) -> Floats:
    """The standardized means of the runs under random sets of `size` reference runs, a row per set."""
    means = np.empty((samples, matrix.shape[0]))
    for i in range(samples):
        chosen = rng.choice(len(columns.runs), size=size, replace=False)
        reference = ScoreMatrix.of(
            columns.values[chosen], topics=columns.topics, measure=columns.measure, signature=columns.signature
        )
        means[i] = standardize(matrix, reference, form=form).averages()
    return means


def trend(
    collections: Mapping[str, ScoreMatrix],
    reference: Sequence[str] = (),
    *,
    references: Mapping[str, ScoreMatrix] | None = None,
    form: str = FORM,
    smoothing: str | None = "virtual",
    resamples: int = 2000,
    seed: int = 0,
) -> Trend:
    """The standardized means of each collection's own runs, all standardized by the same reference runs.

    `collections` maps a label, usually the year, to the scores of its own runs and of the reference runs, which every
    collection needs; all of one measure and policy. .5 is the mean of the reference. Webber 2010, §8.2.1, whose form
    and smoothing are the defaults. references: instead of names, the scores of the same reference runs on the topics of
    each collection, where they are kept apart. Intervals of the medians and of their slope draw the runs of each year
    again.

    >>> old = ScoreMatrix.of([[0.2, 0.4], [0.4, 0.6], [0.3, 0.5]], runs=["bm25", "rm3", "old"])
    >>> new = ScoreMatrix.of([[0.1, 0.3], [0.3, 0.5], [0.4, 0.6]], runs=["bm25", "rm3", "new"])
    >>> years = trend({"2019": old, "2020": new}, ["bm25", "rm3"])
    >>> years.best, round(years.slope, 3)
    (('old', 'new'), 0.158)
    """
    if resamples < 1:
        raise UsageError(f"resamples: at least 1 is needed (got {resamples})")
    names = _reference_names(reference, references, collections)
    for one, other in combinations(collections.values(), 2):
        same_scores(one, other)
    means = []
    medians = []
    best = []
    for label, matrix in collections.items():
        own_runs = [run for run in matrix.runs if run not in names]
        if not own_runs:
            raise DataError(f"{label}: only the reference runs are there; a trend needs other runs too")
        own = matrix.select(runs=own_runs)
        by = matrix.select(runs=list(names)) if references is None else references[label]
        own_means = standardize(own, by, form=form, smoothing=smoothing).averages()
        means.append(own_means)
        medians.append(float(np.median(own_means)))
        best.append(own_runs[int(own_means.argmax())])
    labels = tuple(collections)
    drawn = _drawn_medians(means, resamples, seed)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    slope = _slope(labels, medians)
    slope_interval = None
    if slope is not None:
        slopes = [_slope(labels, row) for row in drawn.tolist()]
        slope_low, slope_high = np.quantile(np.array(slopes, dtype=np.float64), [0.025, 0.975]).tolist()
        slope_interval = (slope_low, slope_high)
    return Trend(
        labels=labels,
        means=tuple(means),
        best=tuple(best),
        reference=names,
        slope=slope,
        recipe=f"form {form}, smoothing {smoothing or 'none'}",
        median_low=tuple(low.tolist()),
        median_high=tuple(high.tolist()),
        slope_interval=slope_interval,
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


def _drawn_medians(means: Sequence[Floats], resamples: int, seed: int) -> Floats:
    """resamples × collections: the medians of runs drawn again, with replacement, of each collection."""
    rng = generator(seed)
    medians = np.empty((resamples, len(means)))
    for i, of_year in enumerate(means):
        places = rng.integers(len(of_year), size=(resamples, len(of_year)))
        medians[:, i] = np.median(of_year[places], axis=1)
    return medians


def _slope(labels: tuple[str, ...], medians: list[float]) -> float | None:
    """Least squares over those labels that are years."""
    points = []
    for label, median in zip(labels, medians, strict=True):
        if label.strip().lstrip("-").isdigit():
            points.append((float(label), median))
    if len({year for year, _ in points}) < 2:
        return None
    years, values = np.array(points).T
    from_mean = years - years.mean()
    return float((from_mean * (values - values.mean())).sum() / (from_mean**2).sum())
