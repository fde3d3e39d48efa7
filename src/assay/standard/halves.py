"""How often do two-sample tests between collections go wrong? Random halves of the topics of one collection.

False positives: a run that seems to differ from itself. False negatives: two runs that surely differ and are missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats import all_pairs

CHUNK = 500  # splits at a time: memory 500 × (topics + a few times runs) floats


@dataclass(frozen=True, eq=False)
class FalsePositives:
    """The share of runs that differ significantly from themselves, one value per random split in halves."""

    measure: str
    rates: Floats
    alpha: float
    seed: int

    @property
    def mean(self) -> float:
        """Mean over the splits; near α when the test is honest."""
        return float(self.rates.mean())

    @property
    def high(self) -> float:
        """97.5th percentile over the splits: how bad luck with the topics can get."""
        return float(np.quantile(self.rates, 0.975))

    def table(self) -> Table:
        """Mean, median, 97.5th percentile and maximum of the rate."""
        row = (self.measure, self.mean, float(np.median(self.rates)), self.high, float(self.rates.max()))
        note = (
            f"Two-sample t of each run against itself on random halves of the topics, two-sided, α = {self.alpha:g}; "
            f"{len(self.rates)} splits, seed {self.seed}."
        )
        formats = {"scores": "", "mean": ".3f", "median": ".3f", "97.5 %": ".3f", "maximum": ".3f"}
        return Table.of(formats, [row], caption="Runs that differ from themselves (false positives)", notes=[note])


@dataclass(frozen=True)
class FalseNegatives:
    """For each form of the scores the share of surely different pairs whose difference a two-sample test misses."""

    measures: tuple[str, ...]
    rates: tuple[float, ...]
    true_pairs: int
    pairs: int
    samples: int
    alpha: float
    sure: float
    seed: int

    def table(self) -> Table:
        """One row per form of the scores."""
        note = (
            f"{self.true_pairs} of {self.pairs} pairs of runs surely differ (paired t, p < {self.sure:g}, every form). "
            f"{self.samples} draws of such a pair and a half, two-sample t, α = {self.alpha:g}, seed {self.seed}."
        )
        rows = zip(self.measures, self.rates, strict=True)
        return Table.of(
            {"scores": "", "missed": ".3f"}, rows, caption="Missed differences (false negatives)", notes=[note]
        )


def false_positives(
    matrix: ScoreMatrix, *, splits: int = 2000, alpha: float = 0.05, seed: int = 0, progress: Progress = silent
) -> FalsePositives:
    """Share of runs significantly different from themselves on two random halves of the topics, split by split.

    Two-sided two-sample t. Identical halves give no difference. Webber 2010, §4.6.1. Needs four topics.

    >>> m = ScoreMatrix.of([[0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.2, 0.2]])
    >>> false_positives(m, splits=10).mean
    0.0
    """
    half = _half(matrix)
    rng, rates = generator(seed), []
    for part in chunks(splits, CHUNK):
        mask = _halves(rng, part.stop - part.start, matrix.shape[1], half)
        t, critical = _masked_t(matrix.values, matrix.values, mask, half, alpha)
        rates.append((np.abs(t) > critical).mean(axis=0))
        progress(part.stop, splits)
    return FalsePositives(matrix.measure, np.concatenate(rates), alpha, seed)


def false_negatives(
    forms: Sequence[ScoreMatrix], *, samples: int = 5000, alpha: float = 0.05, sure: float = 0.001, seed: int = 0
) -> FalseNegatives:
    """How often a true difference is missed when the two runs are scored on different halves of the topics.

    `forms` are the same runs and topics in several forms (raw, standardized …). A pair counts as truly different if
    the paired t test on all topics has p < `sure` in every form. Webber 2010, §4.6.1 to 4.6.2.
    """
    if not forms:
        raise UsageError("no scores given; at least one form of them is needed")
    first = forms[0]
    if any(m.runs != first.runs or m.topics != first.topics for m in forms):
        raise DataError("the forms of the scores have different runs or topics; they must be the same ones")
    half, pairs = _half(first), _sure_pairs(forms, sure)
    if not len(pairs):
        raise DataError(f"no pair of runs differs at p < {sure:g} in every form; there is nothing that could be missed")
    rng, missed = generator(seed), np.zeros(len(forms))
    for part in chunks(samples, CHUNK):
        mask = _halves(rng, part.stop - part.start, first.shape[1], half)
        i, j = pairs[rng.integers(len(pairs), size=len(mask))].T
        for k, m in enumerate(forms):
            t, critical = _rowwise_t(m.values[i], m.values[j], mask, half, alpha)
            missed[k] += (np.abs(t) <= critical).sum()
    runs = first.shape[0]
    rates = tuple((missed / samples).tolist())
    names = tuple(m.measure for m in forms)
    return FalseNegatives(names, rates, len(pairs), runs * (runs - 1) // 2, samples, alpha, sure, seed)


def t_of_rows(x: Floats, y: Floats, *, alpha: float = 0.05) -> tuple[Floats, float]:
    """Student's two-sample t of the rows of x against those of y, and its two-sided critical value.

    Pooled variance; t is 0 where the means are equal and ±∞ where only the variance is 0. One topic each leaves no
    degree of freedom: t is 0, so that nothing is significant.
    """
    n, m = x.shape[1], y.shape[1]
    squares = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) + ((y - y.mean(axis=1, keepdims=True)) ** 2).sum(
        axis=1
    )
    return _t(x.mean(axis=1) - y.mean(axis=1), squares, n, m), _critical(n + m - 2, alpha)


def _t(difference: Floats, squares: Floats, n: int, m: int) -> Floats:
    if n + m < 3:
        return np.zeros_like(difference)
    error = np.sqrt(np.maximum(squares, 0.0) / (n + m - 2) * (1 / n + 1 / m))
    sure = np.where(np.abs(difference) > 1e-12, np.copysign(np.inf, difference), 0.0)
    return np.where(error > 1e-12, difference / np.where(error > 0, error, 1.0), sure)


def _critical(df: int, alpha: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(df, 1), 1 - alpha / 2))


def _masked_t(x: Floats, y: Floats, mask: Floats, half: int, alpha: float) -> tuple[Floats, float]:
    """t of every row of x inside the mask against the same row of y outside it: rows × splits."""
    n, m = half, x.shape[1] - half
    sums, others = x @ mask.T, y @ (1 - mask).T
    squares = (x**2) @ mask.T - sums**2 / n + (y**2) @ (1 - mask).T - others**2 / m
    return _t(sums / n - others / m, squares, n, m), _critical(n + m - 2, alpha)


def _rowwise_t(x: Floats, y: Floats, mask: Floats, half: int, alpha: float) -> tuple[Floats, float]:
    """t of row i of x inside mask i against row i of y outside it."""
    n, m = half, x.shape[1] - half
    sums, others = (x * mask).sum(axis=1), (y * (1 - mask)).sum(axis=1)
    squares = (x**2 * mask).sum(axis=1) - sums**2 / n + (y**2 * (1 - mask)).sum(axis=1) - others**2 / m
    return _t(sums / n - others / m, squares, n, m), _critical(n + m - 2, alpha)


def _halves(rng: np.random.Generator, splits: int, topics: int, half: int) -> Floats:
    """One row per split: 1 for the topics of the first half."""
    mask = np.zeros((splits, topics))
    mask[:, :half] = 1.0
    return rng.permuted(mask, axis=1)


def _half(matrix: ScoreMatrix) -> int:
    if matrix.shape[1] < 4:
        raise DataError(f"{matrix.measure}: {matrix.shape[1]} topics; halves need at least four")
    return matrix.shape[1] // 2


def _sure_pairs(forms: Sequence[ScoreMatrix], sure: float) -> Ints:
    """Pairs of runs whose paired t has p < sure in every form."""
    if not 0 < sure < 1:
        raise UsageError(f"sure: a significance level lies between 0 and 1 (got {sure})")
    found = [all_pairs(m) for m in forms]
    every = np.logical_and.reduce([pairs.p < sure for pairs in found])
    return np.stack([found[0].first[every], found[0].second[every]], axis=1).astype(np.int64)
