"""Which reference runs, how many, and for how long?

`longevity` compares old factors with new ones, `reference_size` draws small reference sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_rows, settled
from assay.rankings.batch import pearson_rows
from assay.standard.factors import FORM, Factors, standardize


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
