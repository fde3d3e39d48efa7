"""Which interval of an effect ratio holds what it says? Experiments with a known ratio, simulated many times.

What the default rests on: the share of 95 % intervals that hold the true ratio, by kind of interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.replication.ratios import RATIO_INTERVALS, ratio_of_means
from assay.stats.resampling import checked_generator, checked_resamples, checked_share, percent

LAWS = ("normal", "skewed")
"""The law of improvements on topics: normal, or with a long tail to the right as differences of AP have."""
CORRELATION = 0.7
"""Of the improvements of both experiments on the same topics."""


@dataclass(frozen=True)
class CoverageCell:
    """One setting of the simulation, and what became of its intervals."""

    topics: int
    effect: float
    law: str
    paired: bool
    interval: str
    covered: float
    unbounded: float
    width: float
    """Median width of the intervals that have bounds."""


@dataclass(frozen=True)
class RatioCoverage(Result):
    """How often intervals of the effect ratio hold the true one."""

    cells: tuple[CoverageCell, ...]
    ratio: float
    level: float
    trials: int
    resamples: int
    seed: int

    def table(self) -> Table:
        """One row per setting and kind of interval."""
        columns = {"topics": "d", "effect": ".2f", "law": "", "same topics": "", "interval": ""}
        columns |= {"coverage": ".3f", "without bounds": ".3f", "median width": ".2f"}
        rows = []
        for cell in self.cells:
            setting = [cell.topics, cell.effect, cell.law, cell.paired, cell.interval]
            rows.append([*setting, cell.covered, cell.unbounded, cell.width])
        notes = [
            f"true effect ratio {self.ratio:g}, {self.trials} simulated replications each, B = {self.resamples}, "
            f"seed {self.seed}; same topics: correlation {CORRELATION:g}",
            "effect: original improvement / its sd over topics; an interval without bounds holds every ratio",
        ]
        caption = f"Share of {percent(self.level)} intervals that hold the true effect ratio"
        return Table.of(columns, rows, caption=caption, notes=notes)


def ratio_coverage(
    *,
    topics: Sequence[int] = (25, 50),
    effects: Sequence[float] = (0.3, 0.5, 1.0),
    ratio: float = 0.8,
    laws: Sequence[str] = LAWS,
    level: float = 0.95,
    trials: int = 500,
    resamples: int = 500,
    seed: int = 0,
) -> RatioCoverage:
    """Coverage of every kind of interval of an effect ratio, on the same topics and on others.

    An original improvement has mean `effect` and sd 1 over topics, a replicated one mean ratio · effect and sd 1.

    >>> found = ratio_coverage(topics=[30], effects=[1.0], laws=["normal"], trials=50, resamples=50)
    >>> [cell.interval for cell in found.cells]
    ['fieller', 'percentile', 'fieller', 'percentile']
    """
    checked_share(level, "level")
    checked_resamples(resamples)
    checked_resamples(trials)
    rng = checked_generator(seed)
    cells = []
    for law in laws:
        for count in topics:
            for effect in effects:
                for paired in (True, False):
                    samples = _samples(law, count, effect, ratio, paired, trials, rng)
                    for interval in RATIO_INTERVALS:
                        ends = _ends(samples, paired, interval, level, resamples)
                        cells.append(_cell(ends, ratio, count, effect, law, paired, interval))
    return RatioCoverage(tuple(cells), ratio, level, trials, resamples, seed)


def _samples(
    law: str, topics: int, effect: float, ratio: float, paired: bool, trials: int, rng: np.random.Generator
) -> list[tuple[Floats, Floats]]:
    """(replicated, original) improvements of each trial."""
    shared = CORRELATION if paired else 0.0
    samples = []
    for _ in range(trials):
        common = _noise(law, topics, rng)
        original = _noise(law, topics, rng)
        replicated = _noise(law, topics, rng)
        # Sums of squares of the weights are 1, so that both have sd 1 and this correlation.
        own = np.sqrt(1 - shared)
        first = effect + np.sqrt(shared) * common + own * original
        second = ratio * effect + np.sqrt(shared) * common + own * replicated
        samples.append((second, first))
    return samples


def _noise(law: str, topics: int, rng: np.random.Generator) -> Floats:
    """Mean 0 and sd 1."""
    if law == "normal":
        return rng.standard_normal(topics)
    return rng.exponential(size=topics) - 1.0


def _ends(samples: list[tuple[Floats, Floats]], paired: bool, interval: str, level: float, resamples: int) -> Floats:
    """trials × 2: the interval of each trial, each with draws of its own."""
    ends = []
    for trial, (above, below) in enumerate(samples):
        found = ratio_of_means(
            above, below, paired=paired, interval=interval, level=level, resamples=resamples, seed=trial
        )
        ends.append((found.low, found.high))
    return np.array(ends)


def _cell(
    ends: Floats, ratio: float, topics: int, effect: float, law: str, paired: bool, interval: str
) -> CoverageCell:
    low, high = ends.T
    covered = (low <= ratio) & (ratio <= high)
    bounded = np.isfinite(low) & np.isfinite(high)
    width = float(np.median((high - low)[bounded])) if bounded.any() else float("nan")
    return CoverageCell(
        topics=topics,
        effect=effect,
        law=law,
        paired=paired,
        interval=interval,
        covered=float(covered.mean()),
        unbounded=float(1 - bounded.mean()),
        width=width,
    )
