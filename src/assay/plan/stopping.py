"""What does it cost to stop on power? The bias of an experiment that grows until its power suffices, by simulation.

Topics are drawn from the differences of a pair of runs, shifted to mean 0, so that every significant result is false.
For comparison: samples of the same sizes that nobody looked at, and stopping at the first significant result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, chunks, generator, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.plan.power import TTest, between, detectable_effect, paired, power_of

LONGEST = 4  # an experiment is given up after this many times the topics it was meant to take
CHUNK = 500  # experiments at a time: memory 500 × LONGEST × topics floats, a few times


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
class StoppingBias:
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
        columns = ("topics", "sigma", "mean", "power", "fixed", "significance")
        rows = [(b.pair, *(getattr(b, c) for c in columns)) for b in self.pairs]
        if len(self.pairs) > 1:
            rows.append(("mean", *(self.average(c) for c in columns)))
        formats = {"pair": "", "topics": ".1f", "s/σ": ".4f", "mean/σ": "+.4f", "stop on power": ".4f"}
        formats |= {"no looks": ".4f", "stop on significance": ".4f"}
        notes = [
            f"{self.samples} experiments a pair, topics drawn with replacement, differences shifted to mean 0; looks "
            f"from {self.minimum} topics on, {self.step} apart, until the power is that of {self.target} topics.",
            f"Last three columns: share significant, all of them false positives. {self.test.words().capitalize()}, "
            f"seed {self.seed}.",
        ]
        given_up = self.average("unfinished")
        notes += [f"{100 * given_up:.2f} % were given up at {LONGEST} times the topics."] if given_up else []
        return Table.of(formats, rows, caption="What stopping on power costs", notes=notes)


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

    Baselines come from the second quartile by mean, the others from the top three; a matrix of two runs gives that one
    pair. Pairs with the same difference on every topic are left out. The difference to be detected is the one that
    `target` topics find.
    Webber 2010, §5.3.3, Figs. 5.9 and 5.10.
    """
    if matrix.shape[0] < 2 or matrix.shape[1] < 3:
        raise DataError(f"{matrix.measure}: {matrix.shape[0]} runs × {matrix.shape[1]} topics; needs 2 runs, 3 topics")
    if not 2 <= minimum <= target:
        raise UsageError(f"minimum: must lie between 2 and the target of {target} topics (got {minimum})")
    test, ranked = paired(test), matrix.by_mean()
    drawn = baseline_pairs(ranked.shape[0], pairs, seed=seed)
    chosen = [(e, b) for e, b in drawn if np.ptp(ranked.values[e] - ranked.values[b]) > 1e-12]
    if not chosen:
        raise DataError(f"{matrix.measure}: no two runs differ from topic to topic; there is nothing to simulate")
    looks = np.arange(minimum, LONGEST * target + 1, step)
    goal = detectable_effect(target, power=power, test=test)
    bearable = goal / detectable_effects(looks, power=power, test=test)

    def one(task: tuple[tuple[int, int], np.random.Generator]) -> Bias:
        (e, b), rng = task
        d = ranked.values[e] - ranked.values[b]
        return _simulated(f"{ranked.runs[e]} – {ranked.runs[b]}", d, looks, bearable, samples, test, rng)

    tasks = list(zip(chosen, generators(seed, len(chosen)), strict=True))
    found = ordered_map(one, tasks, jobs=jobs, threads=True, progress=progress)
    return StoppingBias(tuple(found), target, minimum, step, samples, seed, test)


def baseline_pairs(runs: int, pairs: int, *, seed: int = 0) -> list[tuple[int, int]]:
    """Random (experimental, baseline) places of runs in falling order of mean, none twice.

    Baselines come from the second quartile, experimental runs from the top three; with fewer than four runs every two
    runs are a pair. All possible pairs if there are no more than asked for.

    >>> baseline_pairs(4, 10)
    [(0, 1), (2, 1)]
    """
    if runs < 4:
        possible = [(a, b) for b in range(runs) for a in range(b)]
    else:
        possible = [(e, b) for b in range(runs // 4, runs // 2) for e in range(3 * runs // 4) if e != b]
    if len(possible) <= pairs:
        return possible
    return [possible[i] for i in sorted(generator(seed).choice(len(possible), size=pairs, replace=False))]


def detectable_effects(topics: Ints, *, power: float = 0.8, test: TTest | None = None) -> Floats:
    """detectable_effect of many numbers of topics at once, by bisection."""
    between("power", power)
    low, high = np.zeros(len(topics)), np.full(len(topics), 1.0)
    while (short := power_of(topics, high, test) < power).any():
        high = np.where(short, 2 * high, high)
    for _ in range(50):
        middle = (low + high) / 2
        enough = power_of(topics, middle, test) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _simulated(
    pair: str, d: Floats, looks: Ints, bearable: Floats, samples: int, test: TTest, rng: np.random.Generator
) -> Bias:
    """`bearable` is the s/σ at which each look has power enough."""
    scaled = (d - d.mean()) / d.std()
    critical = _critical(looks, test)
    parts = [
        _experiments(scaled, part.stop - part.start, looks, bearable, critical, test.sides, rng)
        for part in chunks(samples, CHUNK)
    ]
    means = np.concatenate(parts, axis=1).mean(axis=1)
    return Bias(pair, *means.tolist())


def _experiments(
    population: Floats, n: int, looks: Ints, bearable: Floats, critical: Floats, sides: int, rng: np.random.Generator
) -> Floats:
    """One column per experiment: topics, s, mean, and whether each of the three tests found something; unfinished."""
    sd, t, mean = _running(population, n, looks, rng)
    enough = sd <= bearable
    unfinished = ~enough.any(axis=1)
    stop = np.where(unfinished, len(looks) - 1, enough.argmax(axis=1))
    row = np.arange(n)
    found = (np.abs(t) if sides == 2 else t) > critical
    before = np.arange(len(looks)) <= stop[:, None]
    _, fresh, _ = _running(population, n, looks, rng)
    fixed = (np.abs(fresh) if sides == 2 else fresh)[row, stop] > critical[stop]
    outcome = (looks[stop], sd[row, stop], mean[row, stop], found[row, stop], fixed, (found & before).any(axis=1))
    return np.stack([*map(np.asarray, outcome), unfinished]).astype(np.float64)


def _running(population: Floats, n: int, looks: Ints, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """sd, t and mean of the first topics of n random sequences, at every look."""
    x = population[rng.integers(len(population), size=(n, int(looks[-1])))]
    mean = x.cumsum(axis=1)[:, looks - 1] / looks
    squares = (x**2).cumsum(axis=1)[:, looks - 1] - looks * mean**2
    sd = np.sqrt(np.maximum(squares, 1e-300) / (looks - 1))
    return sd, mean * np.sqrt(looks) / sd, mean


def _critical(looks: Ints, test: TTest) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(looks - 1.0, 1 - test.alpha / test.sides), dtype=np.float64)
