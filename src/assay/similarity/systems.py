"""How similarly do two sets of scores rank the same runs, and how sure is that? Correlations with intervals.

Where the flow stands: two score matrices → **result**. The correlations themselves are in `assay.rankings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import generator
from assay.core.errors import DataError
from assay.core.keys import key_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import IN_WORDS, from_means, on_scale_of_means
from assay.data.scores import ScoreMatrix
from assay.rankings import CORRELATIONS, settled

USUAL = ("tau-b", "tau-ap", "pearson", "spearman", "rbo")
KEYS = {"tau-b": "tau"}
"""Correlations that a record calls otherwise than the registry does."""


@dataclass(frozen=True)
class Correlation:
    """One correlation with its bootstrap interval; low and high are None without one."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    undefined: int = 0
    """Bootstrap samples in which it had no value, e.g. because all runs tied."""


@dataclass(frozen=True)
class RankingComparison(Result):
    """How similarly two score matrices rank their common runs."""

    unit = "topic"

    names: tuple[str, str]
    runs: tuple[str, ...]
    means: tuple[tuple[float, ...], tuple[float, ...]]
    correlations: tuple[Correlation, ...]
    recipe: str

    def table(self) -> Table:
        """One row per correlation."""
        rows = []
        notes = [self.recipe]
        for one in self.correlations:
            rows.append((one.name, one.value, one.low, one.high))
            if one.undefined:
                notes.append(f"{one.name}: undefined in {one.undefined} samples, left out")
        if any(one.value is None for one in self.correlations):
            notes.append("–: undefined, one of the two gives all runs the same score")
        truth, estimate = self.names
        return Table.of(
            {"measure": "", "value": ".4f", "low": ".4f", "high": ".4f"},
            rows,
            caption=f"{truth} against {estimate}: {len(self.runs)} runs",
            notes=notes,
        )

    def record(self) -> dict[str, Any]:
        """Each correlation by its key (tau, tau_ap, pearson, spearman, …), and the table."""
        record = super().record()
        for one in self.correlations:
            key = KEYS.get(one.name, key_of(one.name))
            record[key] = one.value
        return record


def compare_rankings(
    truth: ScoreMatrix,
    estimate: ScoreMatrix,
    *,
    measures: Sequence[str] = USUAL,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> RankingComparison:
    """Correlations of the average scores of the runs that both matrices have, with percentile intervals over topics.

    Where both have the same topics the same topics are drawn for both, else each draws its own. delta compares cell by
    cell if the topics are the same, else the means. A correlation without a value, e.g. of constant scores, is None.
    With resamples=0, or where one of the two has a single topic, there are no intervals.

    >>> x = ScoreMatrix.of([[.1, .2], [.3, .5], [.6, .6]])
    >>> compare_rankings(x, x, measures=["tau-b"], resamples=0).correlations[0].value
    1.0
    """
    a, b = on_common_runs(truth, estimate)
    paired = set(a.topics) == set(b.topics)
    if paired:
        b = b.select(topics=a.topics)
    if min(len(a.topics), len(b.topics)) < 2:
        resamples = 0
    drawn = _drawn_means(a, b, paired, resamples, seed)
    correlations = [_correlation(measure, a, b, paired, drawn, level) for measure in measures]
    means_of_a = tuple(a.averages().tolist())
    means_of_b = tuple(b.averages().tolist())
    return RankingComparison(
        names=(truth.measure, estimate.measure),
        runs=a.runs,
        means=(means_of_a, means_of_b),
        correlations=tuple(correlations),
        recipe=_recipe(a, b, paired, resamples, level, seed),
    )


def on_common_runs(truth: ScoreMatrix, estimate: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Both matrices on the runs that both have, in the order of the first; fewer than two are an error."""
    estimated = set(estimate.runs)
    common = [run for run in truth.runs if run in estimated]
    if len(common) < 2:
        raise DataError(f"{len(common)} runs are in both score files; two or more are needed to compare rankings")
    return truth.select(runs=common), estimate.select(runs=common)


def _recipe(a: ScoreMatrix, b: ScoreMatrix, paired: bool, resamples: int, level: float, seed: int) -> str:
    topics = f"{len(a.topics)} topics" if paired else f"{len(a.topics)} and {len(b.topics)} topics, drawn apart"
    averages = f"{IN_WORDS[a.aggregate]}s"
    if a.aggregate != b.aggregate:
        averages += f" of the first and {IN_WORDS[b.aggregate]}s of the second"
    if not resamples:
        return f"{averages} over {topics}; no intervals"
    drawn = f"{resamples} bootstrap samples of topics, seed {seed}"
    return f"{averages} over {topics}; {100 * level:.0f} % percentile intervals, {drawn}"


def _drawn_means(a: ScoreMatrix, b: ScoreMatrix, paired: bool, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """resamples × runs, of both: averages over topics drawn with replacement."""
    rng = generator(seed)
    weights_for_a = topic_weights(len(a.topics), resamples, rng)
    weights_for_b = weights_for_a if paired else topic_weights(len(b.topics), resamples, rng)
    return settled(_averages(a, weights_for_a)), settled(_averages(b, weights_for_b))


def _averages(matrix: ScoreMatrix, weights: Floats) -> Floats:
    """samples × runs: the averages over topics with these weights, as the measure averages them."""
    how = matrix.aggregate
    if how != "median":
        means = weights @ on_scale_of_means(matrix.values, how).T
        return from_means(means, how, len(matrix.topics))
    topics = np.arange(len(matrix.topics))
    medians = np.empty((len(weights), len(matrix.runs)))
    for sample, shares in enumerate(weights):
        times = np.rint(shares * len(topics)).astype(np.int64)
        drawn = np.repeat(topics, times)
        medians[sample] = np.median(matrix.values[:, drawn], axis=1)
    return medians


def topic_weights(topics: int, resamples: int, rng: np.random.Generator) -> Floats:
    """resamples × topics: the share of each topic in a bootstrap sample of as many topics."""
    every_topic_alike = np.full(topics, 1 / topics)
    counts = rng.multinomial(topics, every_topic_alike, size=resamples)
    return counts / topics


def _correlation(
    measure: str, a: ScoreMatrix, b: ScoreMatrix, paired: bool, drawn: tuple[Floats, Floats], level: float
) -> Correlation:
    correlation = CORRELATIONS.bound(measure)

    def value(x: Floats, y: Floats) -> float:
        try:
            return float(correlation(x, y))
        except DataError:
            return float("nan")

    if CORRELATIONS.entry(measure).name == "delta" and paired:
        return Correlation(measure, value(a.values, b.values), None, None)
    observed = value(settled(a.averages()), settled(b.averages()))
    if not np.isfinite(observed):
        return Correlation(measure, None, None, None)
    means_of_a, means_of_b = drawn
    in_samples = np.array([value(x, y) for x, y in zip(means_of_a, means_of_b, strict=True)])
    defined = in_samples[np.isfinite(in_samples)]
    if not len(defined):
        return Correlation(measure, observed, None, None)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    undefined = len(in_samples) - len(defined)
    return Correlation(measure, observed, float(low), float(high), undefined)
