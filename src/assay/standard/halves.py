"""How far do scores on two halves of the topics agree, and how often do two-sample tests between them go wrong?

κ: how far the means of the runs move. False positives: a run that seems to differ from itself. False negatives: two
runs that surely differ and are missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.standard.mean_moves import kappas
from assay.stats import all_pairs

SURE = 0.001
"""The p of the paired test below which two runs surely differ."""
CHUNK = 500  # splits at a time: memory 500 × (topics + a few times runs) floats


@dataclass(frozen=True, eq=False)
class FalsePositives(Result):
    """The share of runs that differ significantly from themselves, one value per random split in halves."""

    unit = "topic"

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
        formats = {"measure": "", "mean": ".3f", "median": ".3f", "97.5 %": ".3f", "maximum": ".3f"}
        return Table.of(
            formats,
            [self._row()],
            caption="Runs that differ from themselves (false positives)",
            notes=[self.how()],
            keys={"97.5 %": "high"},
        )

    def _row(self) -> tuple[str, float, float, float, float]:
        """Measure, mean, median, 97.5th percentile and maximum."""
        median = float(np.median(self.rates))
        maximum = float(self.rates.max())
        return self.measure, self.mean, median, self.high, maximum

    def how(self) -> str:
        """The test and the splits, in one sentence."""
        test = f"two-sided, α = {self.alpha:g}; {len(self.rates)} splits, seed {self.seed}."
        return f"Two-sample t of each run against itself on random halves of the topics, {test}"


@dataclass(frozen=True)
class FalseNegatives(Result):
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
        rows = zip(self.measures, self.rates, strict=True)
        caption = "Missed differences (false negatives)"
        return Table.of({"measure": "", "missed": ".3f"}, rows, caption=caption, notes=[self.how()])

    def how(self) -> str:
        """Which pairs, and how they were tested, in two sentences."""
        pairs = f"{self.true_pairs} of {self.pairs} pairs of runs"
        sure = f"{pairs} surely differ (paired t, p < {self.sure:g}, every form)."
        draws = f"{self.samples} draws of such a pair and a half"
        tested = f"{draws}, two-sample t, α = {self.alpha:g}, seed {self.seed}."
        return f"{sure} {tested}"


@dataclass(frozen=True)
class HalfErrors(Result):
    """κ and both kinds of error of two-sample tests between random halves, for several forms of the same scores.

    `negatives` is None where no pair of runs surely differs, so that nothing could be missed.
    """

    unit = "topic"

    positives: tuple[FalsePositives, ...]
    negatives: FalseNegatives | None
    kappas: tuple[Floats, ...]
    """κ between the halves, by form and split."""

    def table(self) -> Table:
        """One row per form of the scores."""
        missed_by_form: list[float | None]
        if self.negatives is None:
            missed_by_form = [None] * len(self.positives)
            how_missed = f"no pair of runs differs at p < {SURE:g} in every form, so that nothing could be missed."
        else:
            missed_by_form = list(self.negatives.rates)
            how_missed = self.negatives.how()
        rows = []
        for of_form, missed, kappa in zip(self.positives, missed_by_form, self.kappas, strict=True):
            rows.append((*of_form._row(), missed, kappa.mean()))
        formats = {
            "measure": "",
            "false positives": ".3f",
            "median": ".3f",
            "97.5 %": ".3f",
            "maximum": ".3f",
            "missed": ".3f",
            "mean κ": ".3f",
        }
        how_positive = self.positives[0].how()
        return Table.of(
            formats,
            rows,
            caption="How often two-sample tests between random halves of the topics go wrong",
            notes=[
                f"False positives: {how_positive}",
                f"Missed: {how_missed}",
                "κ: RMSE of the runs' means between the halves, over the mean sd of the means; lower is better.",
            ],
            keys={"97.5 %": "high", "mean κ": "mean_kappa"},
        )


def half_errors(
    forms: Sequence[ScoreMatrix], *, splits: int = 2000, alpha: float = 0.05, seed: int = 0, progress: Progress = silent
) -> HalfErrors:
    """κ, false positives and false negatives of two-sample tests on random halves, for each form of the scores."""
    positives = []
    of_halves = []
    for matrix in forms:
        of_form = false_positives(matrix, splits=splits, alpha=alpha, seed=seed)
        positives.append(of_form)
        of_halves.append(half_kappas(matrix, splits=splits, seed=seed))
        progress(len(positives), len(forms))
    negatives = None
    if len(_sure_pairs(forms, SURE)):
        negatives = false_negatives(forms, samples=splits, alpha=alpha, seed=seed)
    return HalfErrors(tuple(positives), negatives, tuple(of_halves))


def half_kappas(matrix: ScoreMatrix, *, splits: int = 2000, seed: int = 0) -> Floats:
    """κ between two random halves of the topics, split by split: how far the means of the runs move by chance alone.

    Webber 2010, §4.6.2 and Fig. 4.10. The halves are those of `false_positives` with the same seed.

    >>> m = ScoreMatrix.of([[0.1, 0.1, 0.1, 0.1], [0.3, 0.3, 0.3, 0.3]])
    >>> bool((half_kappas(m, splits=5) < 1e-12).all())
    True
    """
    topics = len(matrix.topics)
    half = _half(matrix)
    rng = generator(seed)
    parts = []
    for part in chunks(splits, CHUNK):
        mask = _halves(rng, part.stop - part.start, topics, half)
        inside = matrix.values @ mask.T / half
        outside = matrix.values @ (1 - mask.T) / (topics - half)
        parts.append(kappas(inside, outside))
    return np.concatenate(parts)


def false_positives(
    matrix: ScoreMatrix, *, splits: int = 2000, alpha: float = 0.05, seed: int = 0, progress: Progress = silent
) -> FalsePositives:
    """Share of runs significantly different from themselves on two random halves of the topics, split by split.

    Two-sided two-sample t. Identical halves give no difference. Webber 2010, §4.6.1. Needs four topics.

    >>> m = ScoreMatrix.of([[0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.2, 0.2]])
    >>> false_positives(m, splits=10).mean
    0.0
    """
    scores = matrix.values
    topics = scores.shape[1]
    half = _half(matrix)
    rng = generator(seed)
    rates = []
    for part in chunks(splits, CHUNK):
        mask = _halves(rng, part.stop - part.start, topics, half)
        t, critical = _masked_t(scores, scores, mask, half, alpha)
        differs = np.abs(t) > critical
        rates.append(differs.mean(axis=0))
        progress(part.stop, splits)
    return FalsePositives(matrix.measure, np.concatenate(rates), alpha, seed)


def false_negatives(
    forms: Sequence[ScoreMatrix], *, samples: int = 5000, alpha: float = 0.05, sure: float = SURE, seed: int = 0
) -> FalseNegatives:
    """How often a true difference is missed when the two runs are scored on different halves of the topics.

    `forms` are the same runs and topics in several forms (raw, standardized …). A pair counts as truly different if
    the paired t test on all topics has p < `sure` in every form. Webber 2010, §4.6.1 to 4.6.2.
    """
    _check_same_runs_and_topics(forms)
    runs, topics = forms[0].shape
    half = _half(forms[0])
    pairs = _sure_pairs(forms, sure)
    if not len(pairs):
        raise DataError(f"no pair of runs differs at p < {sure:g} in every form; there is nothing that could be missed")
    rng = generator(seed)
    missed = np.zeros(len(forms))
    for part in chunks(samples, CHUNK):
        mask = _halves(rng, part.stop - part.start, topics, half)
        drawn = rng.integers(len(pairs), size=len(mask))
        first_runs, second_runs = pairs[drawn].T
        for form, matrix in enumerate(forms):
            x = matrix.values[first_runs]
            y = matrix.values[second_runs]
            t, critical = _rowwise_t(x, y, mask, half, alpha)
            not_significant = np.abs(t) <= critical
            missed[form] += not_significant.sum()
    return FalseNegatives(
        measures=tuple(matrix.measure for matrix in forms),
        rates=tuple((missed / samples).tolist()),
        true_pairs=len(pairs),
        pairs=runs * (runs - 1) // 2,
        samples=samples,
        alpha=alpha,
        sure=sure,
        seed=seed,
    )


def _check_same_runs_and_topics(forms: Sequence[ScoreMatrix]) -> None:
    if not forms:
        raise UsageError("no scores given; at least one form of them is needed")
    first = forms[0]
    for matrix in forms:
        if matrix.runs != first.runs or matrix.topics != first.topics:
            raise DataError("the forms of the scores have different runs or topics; they must be the same ones")


def t_of_rows(x: Floats, y: Floats, *, alpha: float = 0.05) -> tuple[Floats, float]:
    """Student's two-sample t of the rows of x against those of y, and its two-sided critical value.

    Pooled variance; t is 0 where the means are equal and ±∞ where only the variance is 0. One topic each leaves no
    degree of freedom: t is 0, so that nothing is significant.
    """
    n = x.shape[1]
    m = y.shape[1]
    x_means = x.mean(axis=1, keepdims=True)
    y_means = y.mean(axis=1, keepdims=True)
    x_squares = ((x - x_means) ** 2).sum(axis=1)
    y_squares = ((y - y_means) ** 2).sum(axis=1)
    difference = (x_means - y_means)[:, 0]
    t = _t(difference, x_squares + y_squares, n, m)
    return t, _critical(n + m - 2, alpha)


def _t(difference: Floats, squares: Floats, n: int, m: int) -> Floats:
    """t from the difference of the means and the sum of squared deviations of both samples."""
    if n + m < 3:
        return np.zeros_like(difference)
    variance = np.maximum(squares, 0.0) / (n + m - 2)
    error = np.sqrt(variance * (1 / n + 1 / m))
    # Without spread every difference is sure, and one that is rounding alone is none.
    sure = np.abs(difference) > 1e-12
    without_spread = np.where(sure, np.copysign(np.inf, difference), 0.0)
    divisor = np.where(error > 0, error, 1.0)
    return np.where(error > 1e-12, difference / divisor, without_spread)


def _critical(df: int, alpha: float) -> float:
    """The two-sided critical value of t."""
    from scipy.special import stdtrit

    upper = 1 - alpha / 2
    return float(stdtrit(max(df, 1), upper))


def _masked_t(x: Floats, y: Floats, mask: Floats, half: int, alpha: float) -> tuple[Floats, float]:
    """t of every row of x inside the mask against the same row of y outside it: rows × splits."""
    n = half
    m = x.shape[1] - half
    inside = mask.T
    outside = 1 - inside
    inner_sums = x @ inside
    outer_sums = y @ outside
    # Σ (x − mean)² = Σ x² − (Σ x)²/n, of each half. One expression: named arrays of this size cost a tenth more.
    squares = (x**2) @ inside - inner_sums**2 / n + (y**2) @ outside - outer_sums**2 / m
    t = _t(inner_sums / n - outer_sums / m, squares, n, m)
    return t, _critical(n + m - 2, alpha)


def _rowwise_t(x: Floats, y: Floats, mask: Floats, half: int, alpha: float) -> tuple[Floats, float]:
    """t of row i of x inside mask i against row i of y outside it."""
    n = half
    m = x.shape[1] - half
    outside = 1 - mask
    inner_sums = (x * mask).sum(axis=1)
    outer_sums = (y * outside).sum(axis=1)
    inner_squares = (x**2 * mask).sum(axis=1)
    outer_squares = (y**2 * outside).sum(axis=1)
    squares = inner_squares - inner_sums**2 / n + outer_squares - outer_sums**2 / m
    difference = inner_sums / n - outer_sums / m
    t = _t(difference, squares, n, m)
    return t, _critical(n + m - 2, alpha)


def _halves(rng: np.random.Generator, splits: int, topics: int, half: int) -> Floats:
    """One row per split: 1 for the topics of the first half."""
    mask = np.zeros((splits, topics))
    mask[:, :half] = 1.0
    return rng.permuted(mask, axis=1)


def _half(matrix: ScoreMatrix) -> int:
    """The number of topics of the first half."""
    needs_means(matrix, "a comparison of halves")
    topics = len(matrix.topics)
    if topics < 4:
        raise DataError(f"{matrix.measure}: {topics} topics; halves need at least four")
    return topics // 2


def _sure_pairs(forms: Sequence[ScoreMatrix], sure: float) -> Ints:
    """Pairs of runs whose paired t has p < sure in every form."""
    if not 0 < sure < 1:
        raise UsageError(f"sure: a significance level lies between 0 and 1 (got {sure})")
    tested = [all_pairs(matrix, interval=None) for matrix in forms]
    differs = [pairs.p < sure for pairs in tested]
    in_every_form = np.logical_and.reduce(differs)
    first = tested[0].first[in_every_form]
    second = tested[0].second[in_every_form]
    places = np.stack([first, second], axis=1)
    return places.astype(np.int64)
