"""Is this collection big enough? What differences between its runs, and between a fair baseline and better runs, its
number of topics can find; and whether one σ of differences serves all pairs of runs.

Everything comes from the differences of all pairs of runs of one ScoreMatrix (Webber 2010, §5.2 and §5.3.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import DataError
from assay.core.registry import Registry
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.io.brought import score_matrix_of
from assay.io.column_names import Named
from assay.plan.powers import paired
from assay.stats.effect import checked_rows
from assay.stats.pair_tests import by_average
from assay.stats.resampling import checked_resamples, resampled_p
from assay.stats.t_power import TTest, detectable_effect, topics_needed, whole

WEIGHTS: Registry[Callable[[Ints], Floats]] = Registry("weights")
"""What a pair of a baseline and a better run counts, from the places of the baselines."""


@WEIGHTS.register("baselines")
def every_baseline(baselines: Ints) -> Floats:
    """every baseline counts the same"""
    return np.asarray(1 / np.bincount(baselines)[baselines])


@WEIGHTS.register("pairs")
def pair_by_pair(baselines: Ints) -> Floats:
    """every pair counts the same"""
    return np.ones(len(baselines))


@dataclass(frozen=True, eq=False)
class Differences:
    """A family of pairs of runs: |mean difference| and σ of the differences per topic, and a weight for each pair."""

    name: str
    mean: Floats
    sd: Floats
    weight: Floats

    def median_mean(self) -> float:
        """Median of the mean differences."""
        return quantile(self.mean, 0.5, self.weight)

    def sigma(self, q: float = 0.5) -> float:
        """A quantile of σ, by default the median."""
        return quantile(self.sd, q, self.weight)

    def share_above(self, delta: float) -> float:
        """Share of the pairs that differ in mean by δ or more; equal means never count."""
        large_enough = (self.mean >= delta) & (self.mean > 0)
        weight_above = self.weight[large_enough].sum()
        return float(weight_above / self.weight.sum())


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """What a collection can find: over all pairs of runs, and over baselines against better runs.

    `effect` is the effect size that its topics find; `topics` the number that the median difference of each family
    takes at the family's median σ (None where that is 0).
    """

    unit = "topic"

    measure: str
    runs: int
    n: int
    all: Differences
    baseline: Differences | None
    effect: float
    topics: tuple[int | None, int | None]
    line: tuple[float, float]
    power: float
    weights: str
    test: TTest

    def detectable(self, q: float = 0.5, family: Differences | None = None) -> float:
        """The difference that the topics find at a quantile of σ, by default the median of all pairs."""
        pairs = family or self.all
        return self.effect * pairs.sigma(q)

    def table(self) -> Table:
        """Two rows per family of pairs: at its median σ and at the 95th percentile."""
        of_all, of_baseline = self.topics
        rows = self._rows(self.all, of_all)
        if self.baseline is not None:
            rows += self._rows(self.baseline, of_baseline)
        formats = {
            "runs": "",
            "pairs": "d",
            "median |Δ|": ".4f",
            "at σ": "",
            "σ": ".4f",
            "δ found": ".4f",
            "% of pairs found": ".0f",
            "topics for median |Δ|": "d",
        }
        return Table.of(
            formats,
            rows,
            caption=f"{self.measure}: what {self.n:,} topics and {self.runs} runs can find",
            notes=self._notes(),
            keys={"runs": "family", "at σ": "quantile"},
        )

    def _rows(self, family: Differences, topics: int | None) -> list[tuple[Any, ...]]:
        """The two rows of a family; the topics that its median difference takes stand beside its median σ."""
        rows: list[tuple[Any, ...]] = []
        for q, level, needed in ((0.5, "median", topics), (0.95, "95 %", None)):
            delta = self.detectable(q, family)
            row = (
                family.name,
                len(family.mean),
                family.median_mean(),
                level,
                family.sigma(q),
                delta,
                100 * family.share_above(delta),
                needed,
            )
            rows.append(row)
        return rows

    def _notes(self) -> list[str]:
        intercept, slope = self.line
        sign = "+" if slope >= 0 else "−"
        notes = [
            f"δ found: the true difference that {self.n:,} topics find with power {self.power:g}; "
            "% of pairs found: observed differences as large as that.",
            f"σ of a pair ≈ {shown(intercept, '.3f')} {sign} {abs(slope):.3f} · |Δ| over all pairs.",
        ]
        if self.baseline is not None:
            weighting = WEIGHTS[self.weights].summary
            notes.append(f"A baseline is a run of the second quartile by mean; {weighting}.")
        test = self.test.words()
        notes.append(f"{test.capitalize()}.")
        return notes

    def record(self) -> dict[str, Any]:
        """The rows, with the measure, runs, topics, power and test."""
        settings = {
            "measure": self.measure,
            "runs": self.runs,
            "n": self.n,
            "power": self.power,
            "weights": self.weights,
            "test": self.test.words(),
        }
        return settings | super().record()


def audit(
    scores: Any,
    *,
    power: float = 0.8,
    weights: str = "baselines",
    test: TTest | None = None,
    columns: Named = None,
) -> Audit:
    """How small a difference the topics of a collection find, and how many topics realistic differences take.

    scores: a ScoreMatrix, what `assay.evaluate` returns for one measure, {run: {topic: score}}, a data frame or a path.
    columns: our column → that of a table, e.g. {"run": "model"}.
    Over all pairs: median and 95th percentile of σ, the differences detectable with them, the share of observed
    differences that are as large. Over baselines (places n//4 … n//2 by mean, the second quartile) against every run
    with a higher mean: the same, and topics for the median difference at the median σ. weights: every baseline counts
    the same (`baselines`) or every pair does (`pairs`). Webber 2010, §5.2, Tables 5.2 and 5.3.

    >>> found = audit(ScoreMatrix.of([[0.5, 0.7, 0.3], [0.1, 0.6, 0.2]], measure="AP"))
    >>> round(found.all.sigma(), 4), found.n
    (0.1732, 3)
    """
    matrix = needs_means(score_matrix_of(scores, columns=columns), "an audit")
    runs, n = matrix.shape
    if runs < 2 or n < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {n} topics; an audit needs two runs and two topics")
    WEIGHTS.entry(weights)  # an unknown name is an error before any work
    test = paired(test)
    mean, sd = pair_differences(by_average(matrix))
    each_pair_once = np.triu_indices(runs, 1)
    absolute = np.abs(mean[each_pair_once])
    every = Differences("all", absolute, sd[each_pair_once], np.ones(len(absolute)))
    baseline = _baselines(mean, sd, weights)
    topics_for_every = _topics(every, power, test)
    topics_for_baseline = _topics(baseline, power, test)
    return Audit(
        measure=matrix.measure,
        runs=runs,
        n=n,
        all=every,
        baseline=baseline,
        effect=detectable_effect(n, power=power, test=test),
        topics=(topics_for_every, topics_for_baseline),
        line=_line(every.mean, every.sd),
        power=power,
        weights=weights,
        test=test,
    )


def pair_differences(matrix: ScoreMatrix) -> tuple[Floats, Floats]:
    """Mean and sample sd over the topics of the difference of every two runs: two runs × runs arrays.

    >>> mean, sd = pair_differences(ScoreMatrix.of([[0.5, 0.7], [0.1, 0.5]]))
    >>> round(float(mean[0, 1]), 3), round(float(sd[0, 1]), 4)
    (0.3, 0.1414)
    """
    values = checked_rows(matrix.values)
    centred = values - values.mean(axis=1, keepdims=True)
    # Σ (x − y)² = Σ x² + Σ y² − 2·Σ x·y
    products = centred @ centred.T
    own = np.diag(products)
    squares = np.add.outer(own, own) - 2 * products
    # Pairs with the same difference on every topic leave only rounding, which may be below 0.
    largest = max(1e-300, float(own.max()))
    squares[squares < 1e-14 * largest] = 0.0
    means = matrix.averages()
    differences = np.subtract.outer(means, means)
    freedom = len(matrix.topics) - 1
    return differences, np.sqrt(squares / freedom)


def quantile(values: Floats, q: float, weight: Floats) -> float:
    """The least value whose cumulated weight reaches q; with equal weights numpy's linear quantile.

    >>> quantile(np.array([1.0, 2.0, 9.0]), 0.5, np.array([1.0, 1.0, 5.0]))
    9.0
    """
    if np.ptp(weight) == 0:
        return float(np.quantile(values, q))
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weight[order])
    wanted = q * cumulated[-1]
    place = np.searchsorted(cumulated, wanted)
    return float(values[order[place]])


def _baselines(mean: Floats, sd: Floats, weights: str) -> Differences | None:
    """Second-quartile runs against every better one, of runs in falling order of mean; None if there is none."""
    runs = len(mean)
    second_quartile = np.arange(runs // 4, runs // 2)
    is_better = mean[:, second_quartile] > 0
    quartile_place, run = np.nonzero(is_better.T)
    if not len(run):
        return None
    baseline = second_quartile[quartile_place]
    weight: Floats = WEIGHTS.call(weights, baseline)
    return Differences(
        name="better than baseline",
        mean=mean[run, baseline],
        sd=sd[run, baseline],
        weight=weight,
    )


def _topics(pairs: Differences | None, power: float, test: TTest) -> int | None:
    """The topics that the median difference takes at the median σ; None where one of them is 0."""
    if pairs is None:
        return None
    delta = pairs.median_mean()
    sigma = pairs.sigma()
    if delta == 0 or sigma == 0:
        return None
    topics = topics_needed(delta / sigma, power=power, test=test)
    return whole(topics)


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Intercept and slope of least squares; slope 0 where x does not vary."""
    x_mean = x.mean()
    centred = x - x_mean
    squares = float((centred**2).sum())
    slope = 0.0
    # Differences so small that their squares are 0 do not vary either.
    if np.ptp(x) > 0 and squares > 0:
        products = float((centred * y).sum())
        slope = products / squares
    intercept = float(y.mean()) - slope * float(x_mean)
    return intercept, slope


@dataclass(frozen=True, eq=False)
class OneSigma(Result):
    """Is one σ of differences plausible? Observed spread of the pairs' σ, and its spread if there were one σ."""

    unit = "topic"

    measure: str
    observed: float
    resampled: Floats
    p: float
    pairs: int
    seed: int

    def table(self) -> Table:
        """One row."""
        under_one_sigma = float(self.resampled.mean())
        row = (self.pairs, self.observed, under_one_sigma, self.p)
        notes = [
            "sd over the pairs of the σ of their differences, as observed and if all pairs drew from one population; "
            f"p = (b + 1)/(B + 1), B = {len(self.resampled)}, seed {self.seed}.",
            "A small p: the pairs have different σ, so that no single σ serves every comparison.",
        ]
        formats = {"pairs": "d", "observed": ".4f", "under one σ": ".4f", "p": "p"}
        caption = f"{self.measure}: is one σ plausible?"
        return Table.of(formats, [row], caption=caption, notes=notes)


def one_sigma(
    matrix: ScoreMatrix, *, resamples: int = 1000, seed: int = 0, jobs: int = 1, progress: Progress = silent
) -> OneSigma:
    """Resampling test that all pairs of runs share one σ of differences (Webber 2010, Algorithm 5.1).

    All mean-adjusted differences are pooled; every virtual pair draws as many of them, with replacement, as there are
    topics. Memory: two arrays of pairs × topics per job.
    """
    needs_means(matrix, "a test of σ")
    runs, n = matrix.shape
    if runs < 3 or n < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {n} topics; the test needs three runs and two topics")
    checked_resamples(resamples)
    values = checked_rows(matrix.values)
    adjusted = values - values.mean(axis=1, keepdims=True)
    first, second = np.triu_indices(runs, 1)
    differences = adjusted[first] - adjusted[second]
    observed = _spread_of_sigmas(differences)
    pool = differences.ravel()

    def drawn(rng: np.random.Generator) -> float:
        places = rng.integers(len(pool), size=differences.shape, dtype=np.int32)
        return _spread_of_sigmas(pool[places])

    spreads = ordered_map(
        drawn,
        generators(seed, resamples),
        jobs=jobs,
        threads=True,
        progress=progress,
    )
    resampled = np.array(spreads)
    reached = (resampled >= observed).sum()
    p = resampled_p(np.asarray(reached, dtype=np.float64), resamples)
    return OneSigma(
        measure=matrix.measure,
        observed=observed,
        resampled=resampled,
        p=float(p),
        pairs=len(first),
        seed=seed,
    )


def _spread_of_sigmas(differences: Floats) -> float:
    """The sd over the pairs (rows) of the σ of their differences."""
    sigmas = differences.std(axis=1, ddof=1)
    return float(sigmas.std(ddof=1))
