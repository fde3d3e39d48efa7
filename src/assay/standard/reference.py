"""Which reference runs, how many, and for how long? And what trend do common reference runs show over the years?

`longevity` compares old factors with new ones, `reference_size` draws small reference sets, `trend` standardizes the
runs of several years by reference runs that all years share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.standard.factors import Factors, factors, standardized


@dataclass(frozen=True)
class Longevity:
    """Correlations of the runs' mean scores under old factors with those under their own."""

    measure: str
    runs: int
    pearson: float
    tau: float
    form: str

    def table(self) -> Table:
        """One row."""
        note = f"Means of {self.runs} runs, standardized ({self.form}) by the given factors and by the runs themselves."
        row = (self.measure, self.pearson, self.tau)
        formats = {"measure": "", "Pearson": ".3f", "Kendall τ": ".3f"}
        return Table.of(formats, [row], caption="Do old factors still serve?", notes=[note])


@dataclass(frozen=True, eq=False)
class ReferenceSize:
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
        rows = [(m, *row) for m, row in zip(self.sizes, self.taus, strict=True)]
        formats = {"reference runs": "d", "τ, 50 %": ".3f", "τ, 95 %": ".3f", "τ, 99 %": ".3f"}
        return Table.of(formats, rows, caption=f"{self.measure}: how many reference runs?", notes=notes)


@dataclass(frozen=True, eq=False)
class Trend:
    """Standardized means of each year's own runs: lowest, quartiles, highest, and the best run.

    `slope` is the change of the median per year by least squares, None if fewer than two labels are numbers.
    """

    labels: tuple[str, ...]
    means: tuple[Floats, ...]
    best: tuple[str, ...]
    reference: tuple[str, ...]
    slope: float | None
    recipe: str

    def table(self) -> Table:
        """One row per year or collection."""
        five = [np.quantile(m, (0, 0.25, 0.5, 0.75, 1)) for m in self.means]
        rows = [(y, len(m), *q, b) for y, m, q, b in zip(self.labels, self.means, five, self.best, strict=True)]
        notes = [f"Standardized by {len(self.reference)} common reference runs, {self.recipe}."]
        if self.slope is not None:
            notes.append(f"The median changes by {self.slope:+.4f} a year.")
        formats = {"year": "", "runs": "d", "lowest": ".3f", "25 %": ".3f", "median": ".3f", "75 %": ".3f"}
        formats |= {"highest": ".3f", "best run": ""}
        return Table.of(formats, rows, caption="Trend over the years", notes=notes)


def longevity(matrix: ScoreMatrix, old: Factors | ScoreMatrix, *, form: str = "z") -> Longevity:
    """How far the runs keep their means and their order when old factors stand in for their own.

    Pearson's r and Kendall's τ-b over the runs. Webber, Moffat & Zobel 2008, Table 2; Webber 2010, Table 4.7.
    """
    if matrix.shape[0] < 3:
        raise DataError(f"{matrix.measure}: {matrix.shape[0]} runs; a correlation needs at least three")
    by_old, own = (standardized(matrix, by, form=form).means() for by in (old, None))
    r, tau = _pearson(by_old, own), float(_taus(by_old[None], own)[0])
    return Longevity(matrix.measure, matrix.shape[0], r, tau, form)


def reference_size(
    matrix: ScoreMatrix,
    reference: ScoreMatrix,
    *,
    sizes: Sequence[int] = (2, 3, 5, 10, 15, 20, 30, 50),
    samples: int = 2000,
    form: str = "z",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> ReferenceSize:
    """How few reference runs give the order that all of them give.

    Per size m: draw m reference runs, standardize `matrix` by them, take τ of the order with that under all reference
    runs; the 50th, 95th and 99th percentile from the top. Sizes above the reference set are left out.
    Webber, Moffat & Zobel 2008, Fig. 4; Webber 2010, Fig. 4.8.
    """
    columns = reference.select(topics=matrix.topics)
    usable = tuple(m for m in sizes if 2 <= m <= len(columns.runs))
    if not usable:
        raise UsageError(f"sizes: none of {list(sizes)} lies between 2 and the {len(columns.runs)} reference runs")
    whole = standardized(matrix, columns, form=form).means()

    def one(task: tuple[int, np.random.Generator]) -> Floats:
        return _sampled(matrix, columns, whole, task[0], samples, form, task[1])

    tasks = zip(usable, generators(seed, len(usable)), strict=True)
    taus = ordered_map(one, tasks, jobs=jobs, threads=True, progress=progress)
    raw = float(_taus(matrix.means()[None], whole)[0])
    return ReferenceSize(matrix.measure, usable, np.array(taus), raw, samples, len(columns.runs), seed)


def _sampled(
    matrix: ScoreMatrix, columns: ScoreMatrix, whole: Floats, m: int, samples: int, form: str, rng: np.random.Generator
) -> Floats:
    """The median, 5th and 1st percentile of τ over random reference sets of m runs."""
    means = np.empty((samples, len(whole)))
    for i in range(samples):
        chosen = columns.values[rng.choice(len(columns.values), size=m, replace=False)]
        means[i] = standardized(matrix, factors(ScoreMatrix.of(chosen, topics=columns.topics)), form=form).means()
    return np.quantile(_taus(means, whole), (0.5, 0.05, 0.01))


def trend(
    collections: Mapping[str, ScoreMatrix],
    reference: Sequence[str],
    *,
    form: str = "cdf",
    smoothing: str | None = "virtual",
) -> Trend:
    """The standardized means of each collection's own runs, all standardized by the same reference runs.

    `collections` maps a label, usually the year, to the scores of its own runs and of the reference runs, which every
    collection needs. .5 is the mean of the reference. Webber 2010, §8.2.1, whose form and smoothing are the defaults.
    """
    if not reference:
        raise UsageError("reference: no reference run named; a trend needs runs that every collection has")
    means, best = [], []
    for label, matrix in collections.items():
        own = [r for r in matrix.runs if r not in set(reference)]
        if not own:
            raise DataError(f"{label}: only the reference runs are there; a trend needs other runs too")
        by = matrix.select(runs=list(reference))
        scores = standardized(matrix.select(runs=own), by, form=form, smoothing=smoothing).means()
        means.append(scores)
        best.append(own[int(np.argmax(scores))])
    recipe = f"form {form}, smoothing {smoothing or 'none'}"
    slope = _slope(tuple(collections), [float(np.median(m)) for m in means])
    return Trend(tuple(collections), tuple(means), tuple(best), tuple(reference), slope, recipe)


def _slope(labels: tuple[str, ...], medians: list[float]) -> float | None:
    years = [(float(y), m) for y, m in zip(labels, medians, strict=True) if y.strip().lstrip("-").isdigit()]
    if len({y for y, _ in years}) < 2:
        return None
    x, y = np.array(years).T
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def _pearson(x: Floats, y: Floats) -> float:
    dx, dy = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((dx**2).sum() * (dy**2).sum()))
    return float((dx * dy).sum()) / norm if norm > 0 else 0.0


def _taus(rows: Floats, against: Floats) -> Floats:
    """Kendall's τ-b of every row with one ranking, by the signs of all pairs; 0 where a ranking is all ties."""
    i, j = np.triu_indices(len(against), 1)
    want = np.sign(against[i] - against[j])
    taus = np.empty(len(rows))
    for k, row in enumerate(rows):
        seen = np.sign(row[i] - row[j])
        norm = np.sqrt(float(np.abs(seen).sum()) * float(np.abs(want).sum()))
        taus[k] = float(seen @ want) / norm if norm > 0 else 0.0
    return taus
