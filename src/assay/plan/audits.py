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
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.plan.powers import TTest, detectable_effect, paired, topics_needed, whole
from assay.stats.effect import checked_rows
from assay.stats.pair_tests import by_mean
from assay.stats.resampling import checked_resamples, resampled_p

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
        return float(self.weight[(self.mean >= delta) & (self.mean > 0)].sum() / self.weight.sum())


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """What a collection can find: over all pairs of runs, and over baselines against better runs.

    `effect` is the effect size that its topics find; `topics` the number that the median difference of each family
    takes at the family's median σ (None where that is 0).
    """

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
        return self.effect * (family or self.all).sigma(q)

    def table(self) -> Table:
        """Two rows per family of pairs: at its median σ and at the 95th percentile."""
        rows = []
        for family, topics in zip((self.all, self.baseline), self.topics, strict=True):
            if family is None:
                continue
            for q, level in ((0.5, "median"), (0.95, "95 %")):
                delta = self.detectable(q, family)
                share = 100 * family.share_above(delta)
                kind = (family.name, len(family.mean), family.median_mean(), level)
                rows.append((*kind, family.sigma(q), delta, share, topics if q == 0.5 else None))
        formats = {"runs": "", "pairs": "d", "median |Δ|": ".4f", "at σ": "", "σ": ".4f", "δ found": ".4f"}
        formats |= {"% of pairs found": ".0f", "topics for median |Δ|": "d"}
        notes = [
            f"δ found: the true difference that {self.n} topics find with power {self.power:g}; "
            "% of pairs found: observed differences as large as that.",
            f"σ of a pair ≈ {self.line[0]:.3f} + {self.line[1]:.3f} · |Δ| over all pairs.",
            f"{self.test.words().capitalize()}.",
        ]
        if self.baseline is not None:
            notes.insert(2, f"A baseline is a run of the second quartile by mean; {WEIGHTS[self.weights].summary}.")
        caption = f"{self.measure}: what {self.n} topics and {self.runs} runs can find"
        return Table.of(formats, rows, caption=caption, notes=notes, keys={"runs": "family", "at σ": "quantile"})

    def record(self) -> dict[str, Any]:
        """The rows, with the measure, runs, topics, power and test."""
        settings = {"measure": self.measure, "runs": self.runs, "n": self.n, "power": self.power}
        return settings | {"weights": self.weights, "test": self.test.words()} | super().record()


def audit(matrix: ScoreMatrix, *, power: float = 0.8, weights: str = "baselines", test: TTest | None = None) -> Audit:
    """How small a difference the topics of a collection find, and how many topics realistic differences take.

    Over all pairs: median and 95th percentile of σ, the differences detectable with them, the share of observed
    differences that are as large. Over baselines (places n//4 … n//2 by mean, the second quartile) against every run
    with a higher mean: the same, and topics for the median difference at the median σ. weights: every baseline counts
    the same (`baselines`) or every pair does (`pairs`). Webber 2010, §5.2, Tables 5.2 and 5.3.

    >>> found = audit(ScoreMatrix.of([[0.5, 0.7, 0.3], [0.1, 0.6, 0.2]], measure="AP"))
    >>> round(found.all.sigma(), 4), found.n
    (0.1732, 3)
    """
    runs, n = matrix.shape
    if runs < 2 or n < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {n} topics; an audit needs two runs and two topics")
    WEIGHTS.parse(weights)  # an unknown name is an error before any work
    test = paired(test)
    mean, sd = pair_differences(by_mean(matrix))
    upper = np.triu_indices(runs, 1)
    every = Differences("all", np.abs(mean[upper]), sd[upper], np.ones(len(upper[0])))
    baseline = _baselines(mean, sd, weights)
    effect = detectable_effect(n, power=power, test=test)
    topics = (_topics(every, power, test), _topics(baseline, power, test))
    line = _line(every.mean, every.sd)
    return Audit(matrix.measure, runs, n, every, baseline, effect, topics, line, power, weights, test)


def pair_differences(matrix: ScoreMatrix) -> tuple[Floats, Floats]:
    """Mean and sample sd over the topics of the difference of every two runs: two runs × runs arrays.

    >>> mean, sd = pair_differences(ScoreMatrix.of([[0.5, 0.7], [0.1, 0.5]]))
    >>> round(float(mean[0, 1]), 3), round(float(sd[0, 1]), 4)
    (0.3, 0.1414)
    """
    values = checked_rows(matrix.values)
    centred = values - values.mean(axis=1, keepdims=True)
    products = centred @ centred.T
    own = np.diag(products)
    squares = np.add.outer(own, own) - 2 * products
    # Pairs with the same difference on every topic leave only rounding, which may be below 0.
    squares[squares < 1e-14 * max(1e-300, float(own.max()))] = 0.0
    means = matrix.means()
    return np.subtract.outer(means, means), np.sqrt(squares / (matrix.shape[1] - 1))


def quantile(values: Floats, q: float, weight: Floats) -> float:
    """The least value whose cumulated weight reaches q; with equal weights numpy's linear quantile.

    >>> quantile(np.array([1.0, 2.0, 9.0]), 0.5, np.array([1.0, 1.0, 5.0]))
    9.0
    """
    if np.ptp(weight) == 0:
        return float(np.quantile(values, q))
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(cumulated, q * cumulated[-1])])


def _baselines(mean: Floats, sd: Floats, weights: str) -> Differences | None:
    """Second-quartile runs against every better one, of runs in falling order of mean; None if there is none."""
    runs = len(mean)
    pairs = []
    for baseline in range(runs // 4, runs // 2):
        pairs += [(run, baseline) for run in range(runs) if mean[run, baseline] > 0]
    if not pairs:
        return None
    better, base = np.array(pairs).T
    share: Floats = WEIGHTS.call(weights, base)
    return Differences("better than baseline", mean[better, base], sd[better, base], share)


def _topics(pairs: Differences | None, power: float, test: TTest) -> int | None:
    if pairs is None or pairs.median_mean() == 0 or pairs.sigma() == 0:
        return None
    return whole(topics_needed(pairs.median_mean() / pairs.sigma(), power=power, test=test))


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Intercept and slope of least squares; slope 0 where x does not vary."""
    dx = x - x.mean()
    squares = float((dx**2).sum())
    # Differences so small that their squares are 0 do not vary either.
    slope = float((dx * y).sum()) / squares if np.ptp(x) > 0 and squares > 0 else 0.0
    return float(y.mean()) - slope * float(x.mean()), slope


@dataclass(frozen=True, eq=False)
class OneSigma(Result):
    """Is one σ of differences plausible? Observed spread of the pairs' σ, and its spread if there were one σ."""

    measure: str
    observed: float
    resampled: Floats
    p: float
    pairs: int
    seed: int

    def table(self) -> Table:
        """One row."""
        row = (self.pairs, self.observed, float(self.resampled.mean()), self.p)
        notes = [
            "sd over the pairs of the σ of their differences, as observed and if all pairs drew from one population; "
            f"p = (b + 1)/(B + 1), B = {len(self.resampled)}, seed {self.seed}.",
            "A small p: the pairs have different σ, so that no single σ serves every comparison.",
        ]
        formats = {"pairs": "d", "observed": ".4f", "under one σ": ".4f", "p": "p"}
        return Table.of(formats, [row], caption=f"{self.measure}: is one σ plausible?", notes=notes)


def one_sigma(
    matrix: ScoreMatrix, *, resamples: int = 1000, seed: int = 0, jobs: int = 1, progress: Progress = silent
) -> OneSigma:
    """Resampling test that all pairs of runs share one σ of differences (Webber 2010, Algorithm 5.1).

    All mean-adjusted differences are pooled; every virtual pair draws as many of them, with replacement, as there are
    topics. Memory: two arrays of pairs × topics per job.
    """
    runs, n = matrix.shape
    if runs < 3 or n < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {n} topics; the test needs three runs and two topics")
    checked_resamples(resamples)
    values = checked_rows(matrix.values)
    x = values - values.mean(axis=1, keepdims=True)
    first, second = np.triu_indices(runs, 1)
    centred = x[first] - x[second]
    observed = float(centred.std(axis=1, ddof=1).std(ddof=1))
    pool = centred.ravel()

    def drawn(rng: np.random.Generator) -> float:
        virtual = pool[rng.integers(len(pool), size=centred.shape, dtype=np.int32)]
        return float(virtual.std(axis=1, ddof=1).std(ddof=1))

    draws = generators(seed, resamples)
    resampled = np.array(ordered_map(drawn, draws, jobs=jobs, threads=True, progress=progress))
    reached = np.asarray((resampled >= observed).sum(), dtype=np.float64)
    p = float(resampled_p(reached, resamples))
    return OneSigma(matrix.measure, observed, resampled, p, len(first), seed)
