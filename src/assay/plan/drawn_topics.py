"""What do a few drawn topics say of σ, and which topics does an experiment end with that stops on power?

Where it stands: a score matrix → topics drawn again and again → **spread of σ**, **inclusion of topics**. Both are
what formulas for a trial or an iterative experiment take for granted (Webber 2010, Figs. 5.6 and 5.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, chunks, generator, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.plan.powers import paired
from assay.plan.stopping import NO_SPREAD, detectable_effects
from assay.rankings.batch import pearson_rows
from assay.stats.effect import checked_rows
from assay.stats.pair_tests import every_pair
from assay.stats.resampling import checked_share
from assay.stats.t_power import TTest, positive

TRIALS_AT_ONCE = 500
"""Memory: this number × topics floats, a few times."""


@dataclass(frozen=True, eq=False)
class SigmaSamples(Result):
    """σ of the differences of pairs of runs, and where the σ of `topics` drawn topics falls, pair by pair."""

    measure: str
    topics: int
    of: int
    level: float
    sigma: Floats
    """σ of each pair on all topics."""
    low: Floats
    high: Floats
    """Quantiles of the σ of drawn topics, of each pair."""
    covered: float
    """Share of the draws whose σ is within the interval of the formula."""
    samples: int
    seed: int

    @property
    def margin(self) -> float:
        """Half of the interval of the formula, as a share of σ: z / √(2n)."""
        from scipy.special import ndtri

        return float(ndtri((1 + self.level) / 2) / np.sqrt(2 * self.topics))

    def table(self) -> Table:
        """One row: the interval of the formula σ/√(2n), the interval seen, and how often the formula's holds."""
        seen_low = float((self.low / self.sigma).mean())
        seen_high = float((self.high / self.sigma).mean())
        row = (len(self.sigma), 1 - self.margin, 1 + self.margin, seen_low, seen_high, 100 * self.covered)
        formats = {"pairs": "d", "formula low": ".3f", "formula high": ".3f", "low": ".3f", "high": ".3f"}
        formats["% covered"] = ".1f"
        notes = [
            f"σ of the differences on {self.topics} of {self.of} topics, over σ on all of them; {100 * self.level:g} % "
            "intervals, by the formula σ ± z·σ/√(2n), which takes differences for normal, and as seen in the draws",
            f"low, high: means over the pairs; covered: draws whose σ is within the formula's interval; {self.samples} "
            f"draws, seed {self.seed}",
        ]
        caption = f"{self.measure}: what {self.topics} topics say of σ"
        return Table.of(formats, [row], caption=caption, notes=notes, keys={"% covered": "covered_percent"})


def sigma_samples(
    matrix: ScoreMatrix,
    *,
    topics: int = 30,
    pairs: int = 1000,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> SigmaSamples:
    """Where σ of `topics` random topics falls about σ of all topics, for all pairs of runs or `pairs` random ones.

    Topics are drawn without replacement. Pairs with the same difference on every topic are left out. The formula,
    σ/√(2n), is that of a trial (`trial`); differences have heavier tails than it supposes (Webber 2010, Fig. 5.6).

    >>> scores = ScoreMatrix.of(np.random.default_rng(0).normal(size=(4, 200)), measure="AP")
    >>> found = sigma_samples(scores, topics=30, samples=200)
    >>> len(found.sigma), bool(found.covered > 0.9)
    (6, True)
    """
    checked_share(level, "level")
    runs, of = matrix.shape
    if runs < 2 or not 2 <= topics < of:
        raise UsageError(f"{topics} of {of} topics, {runs} runs; draw at least 2 topics and fewer than all, of 2 runs")
    if min(pairs, samples) < 1:
        raise UsageError("pairs and samples are at least 1")
    differences = _some_differences(matrix, pairs, seed)
    sigma = differences.std(axis=1, ddof=1)
    rng = generator(seed)
    order = np.argsort(rng.random((samples, of)), axis=1)[:, :topics]
    tail = (1 - level) / 2

    def drawn(difference: Floats) -> Floats:
        """σ of every draw of topics, of one pair."""
        return np.asarray(difference[order].std(axis=1, ddof=1))

    sigmas = np.array(ordered_map(drawn, list(differences), jobs=jobs, threads=True, progress=progress))
    low, high = np.quantile(sigmas, [tail, 1 - tail], axis=1)
    found = SigmaSamples(matrix.measure, topics, of, level, sigma, low, high, 0.0, samples, seed)
    within = np.abs(sigmas / sigma[:, None] - 1) <= found.margin
    return SigmaSamples(matrix.measure, topics, of, level, sigma, low, high, float(within.mean()), samples, seed)


def _some_differences(matrix: ScoreMatrix, pairs: int, seed: int) -> Floats:
    """Differences of all pairs, or of random ones where there are more, without those that never vary."""
    values = checked_rows(needs_means(matrix, "a sample of σ").values)
    first, second = every_pair(len(values))
    if len(first) > pairs:
        chosen = np.sort(generator(seed).choice(len(first), size=pairs, replace=False))
        first, second = first[chosen], second[chosen]
    differences = values[first] - values[second]
    varied = differences[np.ptp(differences, axis=1) > NO_SPREAD]
    if not len(varied):
        raise DataError(f"{matrix.measure}: no two runs differ from topic to topic; σ is 0 everywhere")
    return np.asarray(varied)


@dataclass(frozen=True, eq=False)
class TopicInclusion(Result):
    """How often each topic is in the topic set of an experiment that stops on power, with its difference."""

    unit = "topic"

    pair: tuple[str, str]
    topics: tuple[str, ...]
    differences: Floats
    included: Floats
    """Share of the experiments that include each topic."""
    size: float
    """Topics of an experiment, on average."""
    unfinished: float
    """Share of the experiments that took all topics without reaching the power."""
    delta: float
    trials: int
    minimum: int
    seed: int
    test: TTest
    power: float

    @property
    def statistic(self) -> float:
        """χ² of the inclusions against the same share for every topic."""
        mean = self.included.mean()
        variance = self.trials * mean * (1 - mean)
        if variance == 0:
            return 0.0
        return float(((self.trials * (self.included - mean)) ** 2).sum() / variance)

    @property
    def p(self) -> float:
        """p of χ² with one degree of freedom less than there are topics."""
        from scipy.special import chdtrc

        return float(chdtrc(len(self.topics) - 1, self.statistic))

    @property
    def distance(self) -> float:
        """Correlation of inclusion with the distance of a topic's difference from the mean: negative means a bias.

        NaN where all topics are included equally often.
        """
        away = np.abs(self.differences - self.differences.mean())
        return float(pearson_rows(away[None, :], self.included)[0])

    def table(self) -> Table:
        """One row per topic, by its difference."""
        order = np.argsort(self.differences, kind="stable")
        mean = float(self.included.mean())
        rows = []
        for i in order:
            rows.append((self.topics[i], self.differences[i], self.included[i], self.included[i] / max(mean, 1e-12)))
        formats = {"topic": "", "difference": "+.4f", "included": ".4f", "over the mean": ".3f"}
        first, second = self.pair
        notes = [
            f"mean difference {shown(float(self.differences.mean()), '+.4f')}; {self.size:.1f} of {len(self.topics)} "
            f"topics on average",
            f"χ² = {self.statistic:.1f}, p = {shown(self.p, 'p')}, for the same inclusion of every topic; correlation "
            f"of inclusion with the distance from the mean difference {shown(self.distance, '+.3f')}",
            f"{self.trials} experiments that draw topics, from {self.minimum} on, until a difference of {self.delta:g} "
            f"has power {self.power:g}; {self.test.words()}, seed {self.seed}",
        ]
        if self.unfinished:
            notes.append(f"{100 * self.unfinished:.1f} % of them took all topics and did not reach that power")
        caption = f"Which topics an experiment ends with: {first} – {second}"
        return Table.of(formats, rows, caption=caption, notes=notes)

    def record(self) -> dict[str, Any]:
        """χ² and its p, and the rows."""
        return {"chi_square": self.statistic, "p": self.p, **super().record()}


def topic_inclusion(
    pair: ScoreMatrix,
    *,
    delta: float,
    power: float = 0.8,
    minimum: int = 10,
    trials: int = 20_000,
    test: TTest | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> TopicInclusion:
    """How often each topic is included when topics are drawn without replacement until `delta` has the power.

    Sets with a small sd end early, so that topics with a usual difference are in more of the sets that somebody ends
    with (Webber 2010, §5.3.3 and Fig. 5.8). The pair is a matrix of two runs.

    >>> scores = ScoreMatrix.of(np.random.default_rng(1).standard_t(3, size=(2, 60)), runs=["new", "old"], measure="AP")
    >>> topic_inclusion(scores, delta=0.9, trials=500).distance < 0
    True
    """
    runs, topics = pair.shape
    if runs != 2:
        raise UsageError(f"{runs} runs; topic inclusion is of two, choose them")
    if not 2 <= minimum <= topics:
        raise UsageError(f"minimum: must lie between 2 and the {topics} topics (got {minimum})")
    if trials < 1:
        raise UsageError("trials: at least 1 experiment is needed")
    positive("delta", delta)
    values = checked_rows(needs_means(pair, "the plan of an experiment").values)
    differences = values[0] - values[1]
    if np.ptp(differences) <= NO_SPREAD:
        raise DataError("the runs differ by the same amount on every topic; any topics have power")
    planned = paired(test)
    looks = np.arange(minimum, topics + 1)
    bearable = delta / detectable_effects(looks, power=power, test=planned)

    def drawn(task: tuple[int, np.random.Generator]) -> tuple[Ints, int, int]:
        count, rng = task
        return _included(differences, looks, bearable, count, rng)

    counts = [part.stop - part.start for part in chunks(trials, TRIALS_AT_ONCE)]
    tasks = list(zip(counts, generators(seed, len(counts)), strict=True))
    counted = ordered_map(drawn, tasks, jobs=jobs, threads=True, progress=progress)
    inclusions = np.sum([included for included, _, _ in counted], axis=0)
    return TopicInclusion(
        pair=(pair.runs[0], pair.runs[1]),
        topics=pair.topics,
        differences=differences,
        included=inclusions / trials,
        size=sum(size for _, size, _ in counted) / trials,
        unfinished=sum(unfinished for _, _, unfinished in counted) / trials,
        delta=delta,
        trials=trials,
        minimum=minimum,
        seed=seed,
        test=planned,
        power=power,
    )


def _included(
    differences: Floats, looks: Ints, bearable: Floats, count: int, rng: np.random.Generator
) -> tuple[Ints, int, int]:
    """Of `count` experiments: how many include each topic, their topics in all, and how many never had power."""
    topics = len(differences)
    order = np.argsort(rng.random((count, topics)), axis=1)
    drawn = differences[order]
    sums = drawn.cumsum(axis=1)[:, looks - 1]
    squares = (drawn**2).cumsum(axis=1)[:, looks - 1]
    variance = np.maximum(squares - sums**2 / looks, 0.0) / (looks - 1)
    enough = np.sqrt(variance) <= bearable
    unfinished = ~enough.any(axis=1)
    stop = np.where(unfinished, len(looks) - 1, enough.argmax(axis=1))
    size = looks[stop]
    taken = np.arange(topics) < size[:, None]
    included = np.bincount(order[taken], minlength=topics)
    return included, int(size.sum()), int(unfinished.sum())
