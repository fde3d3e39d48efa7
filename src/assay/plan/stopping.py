"""What does it cost to stop on power? The bias of an experiment that grows until its power suffices, by simulation.

Topics are drawn from the differences of a pair of runs, shifted to mean 0, so that every significant result is false.
For comparison: samples of the same sizes that nobody looked at, and stopping at the first significant result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, chunks, generator, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.plan.powers import paired
from assay.stats.pair_tests import by_average
from assay.stats.t_power import TTest, between, detectable_effect, power_of

LONGEST = 4
"""An experiment is given up after this many times the topics it was meant to take."""
CHUNK = 500
"""Experiments at a time: memory 500 × LONGEST × topics floats, a few times."""
HALVINGS = 50
"""Steps of a bisection, after which no digit changes."""
NO_SPREAD = 1e-12
"""Differences within this are the same on every topic, up to rounding."""
COLUMNS = {
    "topics": ("topics", ".1f", "topics"),
    "sigma": ("s/σ", ".4f", "sigma_ratio"),
    "mean": ("mean/σ", "+.4f", "mean_ratio"),
    "power": ("stop on power", ".4f", "false_positives_power"),
    "fixed": ("no looks", ".4f", "false_positives_fixed"),
    "significance": ("stop on significance", ".4f", "false_positives_significance"),
}
"""Field of Bias → heading, format and key."""


@dataclass(frozen=True)
class Bias:
    """One pair of runs: how an experiment that stops on power comes out when there is no difference.

    At the stop: `sigma` is the mean of s/σ, the sd seen over the true one, `mean` that of the mean difference over σ.
    False positive rates: `power` when one stops on power, `fixed` on fresh samples of the same sizes, `significance`
    when one tests at every look and stops at the first significant result.
    """

    pair: str
    topics: float
    sigma: float
    mean: float
    power: float
    fixed: float
    significance: float
    unfinished: float


@dataclass(frozen=True)
class StoppingBias(Result):
    """Several pairs of runs, and how the experiments were run."""

    pairs: tuple[Bias, ...]
    target: int
    minimum: int
    step: int
    samples: int
    seed: int
    test: TTest

    def average(self, what: str) -> float:
        """Mean over the pairs of one of the columns of Bias."""
        return float(np.mean([getattr(b, what) for b in self.pairs]))

    def table(self) -> Table:
        """One row per pair and their mean."""
        rows = [(bias.pair, *(getattr(bias, field) for field in COLUMNS)) for bias in self.pairs]
        if len(self.pairs) > 1:
            rows.append(("mean", *(self.average(field) for field in COLUMNS)))
        formats = {"pair": ""}
        keys = {}
        for heading, form, key in COLUMNS.values():
            formats[heading] = form
            keys[heading] = key
        notes = [
            f"{self.samples} experiments a pair, topics drawn with replacement, differences shifted to mean 0; looks "
            f"from {self.minimum} topics on, {self.step} apart, until the power is that of {self.target} topics.",
            f"Last three columns: share significant, all of them false positives. {self.test.words().capitalize()}, "
            f"seed {self.seed}.",
        ]
        given_up = self.average("unfinished")
        if given_up:
            notes.append(f"{100 * given_up:.2f} % were given up at {LONGEST} times the topics.")
        return Table.of(formats, rows, caption="What stopping on power costs", notes=notes, keys=keys)


def stopping_bias(
    matrix: ScoreMatrix,
    *,
    pairs: int = 25,
    target: int = 100,
    minimum: int = 30,
    step: int = 1,
    samples: int = 1000,
    power: float = 0.8,
    test: TTest | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> StoppingBias:
    """The bias of stopping on power, on random pairs of a baseline and another run.

    Baselines come from the second quartile by mean, the others from the top three quartiles; a matrix of two runs gives
    that one pair. Pairs with the same difference on every topic are left out. The difference to be detected is the one
    that `target` topics find. Webber 2010, §5.3.3, Figs. 5.9 and 5.10.

    >>> scores = ScoreMatrix.of(np.random.default_rng(0).random((4, 20)))
    >>> len(stopping_bias(scores, target=20, minimum=10, samples=20).pairs)
    2
    """
    needs_means(matrix, "stopping on power")
    runs, topics = matrix.shape
    if runs < 2 or topics < 3:
        raise DataError(f"{matrix.measure}: {runs} runs × {topics} topics; needs 2 runs, 3 topics")
    if not 2 <= minimum <= target:
        raise UsageError(f"minimum: must lie between 2 and the target of {target} topics (got {minimum})")
    planned = paired(test)
    populations = _populations(by_average(matrix), pairs, seed)
    looks = np.arange(minimum, LONGEST * target + 1, step)
    goal = detectable_effect(target, power=power, test=planned)
    effects = detectable_effects(looks, power=power, test=planned)
    plan = _Plan(looks, goal / effects, planned)

    def simulated(task: tuple[tuple[str, Floats], np.random.Generator]) -> Bias:
        (pair, differences), rng = task
        return _simulated(pair, differences, plan, samples, rng)

    rngs = generators(seed, len(populations))
    tasks = list(zip(populations, rngs, strict=True))
    biases = ordered_map(simulated, tasks, jobs=jobs, threads=True, progress=progress)
    return StoppingBias(tuple(biases), target, minimum, step, samples, seed, planned)


def _populations(ranked: ScoreMatrix, pairs: int, seed: int) -> list[tuple[str, Floats]]:
    """Random pairs by name with their differences per topic; those with the same difference everywhere are left out."""
    populations = []
    for better, baseline in baseline_pairs(ranked.shape[0], pairs, seed=seed):
        differences = ranked.values[better] - ranked.values[baseline]
        if np.ptp(differences) > NO_SPREAD:
            populations.append((f"{ranked.runs[better]} – {ranked.runs[baseline]}", differences))
    if not populations:
        raise DataError(f"{ranked.measure}: no two runs differ from topic to topic; there is nothing to simulate")
    return populations


def baseline_pairs(runs: int, pairs: int, *, seed: int = 0) -> list[tuple[int, int]]:
    """Random (experimental, baseline) places of runs in falling order of mean, none twice.

    Baselines come from the second quartile, experimental runs from the top three quartiles; with fewer than four runs
    every two runs are a pair. All possible pairs if there are no more than asked for.

    >>> baseline_pairs(4, 10)
    [(0, 1), (2, 1)]
    """
    possible = []
    if runs < 4:
        for baseline in range(runs):
            possible += [(better, baseline) for better in range(baseline)]
    else:
        for baseline in range(runs // 4, runs // 2):
            possible += [(other, baseline) for other in range(3 * runs // 4) if other != baseline]
    if len(possible) <= pairs:
        return possible
    drawn = generator(seed).choice(len(possible), size=pairs, replace=False)
    return [possible[i] for i in sorted(drawn)]


def detectable_effects(topics: Ints, *, power: float = 0.8, test: TTest | None = None) -> Floats:
    """detectable_effect of many numbers of topics at once, by bisection."""
    between("power", power)
    low = np.zeros(len(topics))
    high = np.ones(len(topics))
    too_low = power_of(topics, high, test) < power
    while too_low.any():
        high = np.where(too_low, 2 * high, high)
        too_low = power_of(topics, high, test) < power
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = power_of(topics, middle, test) >= power
        low = np.where(enough, low, middle)
        high = np.where(enough, middle, high)
    return high


class _Plan(NamedTuple):
    """The numbers of topics at which one looks, the s/σ at which each look has power enough, and the test."""

    looks: Ints
    bearable: Floats
    test: TTest


def _simulated(pair: str, differences: Floats, plan: _Plan, samples: int, rng: np.random.Generator) -> Bias:
    """The means over many experiments that draw their topics from these differences, shifted to mean 0 and scaled."""
    population = (differences - differences.mean()) / differences.std()
    parts = []
    for part in chunks(samples, CHUNK):
        experiments = part.stop - part.start
        parts.append(_experiments(population, experiments, plan, rng))
    outcomes = np.concatenate(parts, axis=1)
    means = outcomes.mean(axis=1)
    return Bias(pair, *means.tolist())


def _experiments(population: Floats, n: int, plan: _Plan, rng: np.random.Generator) -> Floats:
    """One column per experiment: topics, s, mean, and whether each of the three tests found something; unfinished."""
    looks = plan.looks
    critical = _critical(looks, plan.test)
    sd, t, mean = _running(population, n, looks, rng)
    enough = sd <= plan.bearable
    unfinished = ~enough.any(axis=1)
    stop = np.where(unfinished, len(looks) - 1, enough.argmax(axis=1))
    last_look = (np.arange(n), stop)  # of each experiment
    significant = _extreme(t, plan.test) > critical
    until_stop = np.arange(len(looks)) <= stop[:, None]
    # Other topics that nobody looked at, as many as each experiment ended with.
    _, other_t, _ = _running(population, n, looks, rng)
    fixed = _extreme(other_t, plan.test)[last_look] > critical[stop]
    outcomes = [
        looks[stop],
        sd[last_look],
        mean[last_look],
        significant[last_look],
        fixed,
        (significant & until_stop).any(axis=1),
        unfinished,
    ]
    return np.array(outcomes, dtype=np.float64)


def _extreme(t: Floats, test: TTest) -> Floats:
    """What is compared with the critical t: its size, or t itself where the test is one-sided."""
    return np.abs(t) if test.sides == 2 else t


def _running(population: Floats, n: int, looks: Ints, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """sd, t and mean of the first topics of n random sequences, at every look."""
    most = int(looks[-1])
    topics = rng.integers(len(population), size=(n, most))
    differences = population[topics]
    sums = differences.cumsum(axis=1)
    sums_of_squares = (differences**2).cumsum(axis=1)
    at_looks = looks - 1
    mean = sums[:, at_looks] / looks
    squares = sums_of_squares[:, at_looks] - looks * mean**2
    sd = np.sqrt(np.maximum(squares, 1e-300) / (looks - 1))
    t = mean * np.sqrt(looks) / sd
    return sd, t, mean


def _critical(looks: Ints, test: TTest) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(looks - 1.0, 1 - test.alpha / test.sides), dtype=np.float64)
