"""How alike do two sets of scores rank the same runs, and how sure is that? Correlations with intervals over topics.

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
from assay.data.scores import ScoreMatrix
from assay.rankings import CORRELATIONS, settled

USUAL = ("tau-b", "tau-ap", "pearson", "spearman", "rbo")
KEYS = {"tau-b": "tau", "spearman": "rho"}
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
    """How alike two score matrices rank their common runs."""

    names: tuple[str, str]
    runs: tuple[str, ...]
    means: tuple[tuple[float, ...], tuple[float, ...]]
    correlations: tuple[Correlation, ...]
    recipe: str

    def table(self) -> Table:
        """One row per correlation."""
        rows = [(c.name, c.value, c.low, c.high) for c in self.correlations]
        columns = {"measure": "", "value": ".4f", "low": ".4f", "high": ".4f"}
        notes = [self.recipe]
        notes += [f"{c.name}: undefined in {c.undefined} samples, left out" for c in self.correlations if c.undefined]
        if any(c.value is None for c in self.correlations):
            notes.append("–: undefined, one of the two gives all runs the same score")
        caption = f"{self.names[0]} against {self.names[1]}: {len(self.runs)} runs"
        return Table.of(columns, rows, caption=caption, notes=notes)

    def record(self) -> dict[str, Any]:
        """Each correlation by its key (tau, tau_ap, pearson, rho, …), and the table."""
        values = {KEYS.get(c.name, key_of(c.name)): c.value for c in self.correlations}
        return {**super().record(), **values}


def compare_rankings(
    truth: ScoreMatrix,
    estimate: ScoreMatrix,
    *,
    measures: Sequence[str] = USUAL,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> RankingComparison:
    """Correlations of the mean scores of the runs that both matrices have, with percentile intervals over topics.

    Where both have the same topics the same topics are drawn for both, else each draws its own. delta compares cell by
    cell if the topics are the same, else the means. A correlation without a value, e.g. of constant scores, is None.
    With resamples=0, or where one of the two has a single topic, there are no intervals.

    >>> x = ScoreMatrix.of([[.1, .2], [.3, .5], [.6, .6]])
    >>> compare_rankings(x, x, measures=["tau-b"], resamples=0).correlations[0].value
    1.0
    """
    common = [run for run in truth.runs if run in set(estimate.runs)]
    if len(common) < 2:
        raise DataError(f"{len(common)} runs are in both score files; two or more are needed to compare rankings")
    a, b = truth.select(runs=common), estimate.select(runs=common)
    paired = set(a.topics) == set(b.topics)
    if paired:
        b = b.select(topics=a.topics)
    if min(len(a.topics), len(b.topics)) < 2:
        resamples = 0
    drawn = _drawn_means(a, b, paired, resamples, seed)
    correlations = tuple(_correlation(measure, a, b, paired, drawn, level) for measure in measures)
    means = (tuple(a.means().tolist()), tuple(b.means().tolist()))
    recipe = _recipe(a, b, paired, resamples, level, seed)
    return RankingComparison((truth.measure, estimate.measure), tuple(common), means, correlations, recipe)


def _recipe(a: ScoreMatrix, b: ScoreMatrix, paired: bool, resamples: int, level: float, seed: int) -> str:
    topics = f"{len(a.topics)} topics" if paired else f"{len(a.topics)} and {len(b.topics)} topics, drawn apart"
    if not resamples:
        return f"means over {topics}; no intervals"
    drawn = f"{resamples} bootstrap samples of topics, seed {seed}"
    return f"means over {topics}; {100 * level:.0f} % percentile intervals, {drawn}"


def _drawn_means(a: ScoreMatrix, b: ScoreMatrix, paired: bool, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """resamples × runs, of both: means over topics drawn with replacement."""
    rng = generator(seed)
    n, m = len(a.topics), len(b.topics)
    for_a = rng.multinomial(n, np.full(n, 1 / n), size=resamples) / n
    for_b = for_a if paired else rng.multinomial(m, np.full(m, 1 / m), size=resamples) / m
    return settled(for_a @ a.values.T), settled(for_b @ b.values.T)


def _correlation(
    measure: str, a: ScoreMatrix, b: ScoreMatrix, paired: bool, drawn: tuple[Floats, Floats], level: float
) -> Correlation:
    entry, given = CORRELATIONS.parse(measure)

    def value(x: Floats, y: Floats) -> float:
        try:
            return entry.function(x, y, **given)
        except DataError:
            return float("nan")

    if entry.name == "delta" and paired:
        return Correlation(measure, value(a.values, b.values), None, None)
    observed = value(settled(a.means()), settled(b.means()))
    if not np.isfinite(observed):
        return Correlation(measure, None, None, None)
    in_samples = np.array([value(x, y) for x, y in zip(*drawn, strict=True)])
    defined = in_samples[np.isfinite(in_samples)]
    if not len(defined):
        return Correlation(measure, observed, None, None)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Correlation(measure, observed, float(low), float(high), len(in_samples) - len(defined))
