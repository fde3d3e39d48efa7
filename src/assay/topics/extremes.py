"""Best, Average and Worst for every cardinality, and the percentiles between: the curves of the fewer-topics studies.

Best and Worst come from a search, Average and percentiles from random subsets (from all subsets where those are fewer).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.scores import ScoreMatrix
from assay.topics.archive import sizes
from assay.topics.criteria import Numbers
from assay.topics.exact import all_values
from assay.topics.problem import Masks, Problem, problem
from assay.topics.search import SearchResult, Subset, search_subsets

if TYPE_CHECKING:
    from assay.topics.holdout import HoldoutResult

LEAST_RUNS = 6
"""Fewer runs cannot be split in two halves that rank anything."""


@dataclass(frozen=True, eq=False)
class Sample:
    """What random subsets of each cardinality `c` are worth.

    For each percentage p: `upper[p]` is the value that the best p % reach (their threshold), `upper_mean[p]` the mean
    of those; `lower` and `lower_mean` the same for the worst. `extremes`: the best and the worst subset drawn of each
    cardinality, in rows of true and false per topic. `exact`: cardinalities of which all subsets were taken.
    """

    c: tuple[int, ...]
    average: Floats
    upper: dict[float, Floats]
    upper_mean: dict[float, Floats]
    lower: dict[float, Floats]
    lower_mean: dict[float, Floats]
    extremes: Masks
    exact: frozenset[int]
    repetitions: int
    seed: int


@dataclass(frozen=True, eq=False)
class SeriesResult(Result):
    """The curves: cardinalities against Best, Average and Worst, with the search and the sample behind them."""

    problem: Problem
    found: SearchResult
    sample: Sample
    tested: HoldoutResult | None = None
    """The best subsets on runs that they were not chosen on."""
    untested: str = ""
    """Why they were not tested on other runs, where that was asked for."""

    @property
    def stopped(self) -> str:
        """Why the search stopped early: time, interrupt, or nothing."""
        return self.found.stopped

    def remarks(self) -> list[str]:
        """What a person should know of the making, beside the table."""
        effort = f"{self.found.evaluations} subsets valued in {self.found.seconds:.1f} s"
        return [self.untested, effort] if self.untested else [effort]

    @property
    def c(self) -> Numbers:
        """The cardinalities: 1 … n-1, or those asked for."""
        return np.array(self.sample.c)

    def reaching(self, value: float, series: str = "average") -> int | None:
        """The fewest topics with which a series (best, average, worst) is at least as good as `value` from there on."""
        curve = self.sample.average if series == "average" else self.found.values(series)
        goodness = self.problem.goodness(curve)
        wanted = self.problem.goodness(np.array([value]))
        good_enough = goodness >= wanted
        too_low = np.flatnonzero(~good_enough)
        first_place = too_low[-1] + 1 if len(too_low) else 0
        if first_place == len(curve):
            return None
        return self.sample.c[first_place]

    def table(self, *, at: tuple[int, ...] = ()) -> Table:
        """One row per cardinality (or those asked for); percentiles as thresholds and as means beyond them."""
        curves = {"best": self.found.values("best")}
        for p in self.sample.upper:
            curves[f"best {p:g} %"] = self.sample.upper[p]
            curves[f"mean of best {p:g} %"] = self.sample.upper_mean[p]
        curves["average"] = self.sample.average
        for p in self.sample.lower:
            curves[f"mean of worst {p:g} %"] = self.sample.lower_mean[p]
            curves[f"worst {p:g} %"] = self.sample.lower[p]
        curves["worst"] = self.found.values("worst")
        n = self.problem.n
        place = {c: i for i, c in enumerate(self.sample.c)}
        rows = []
        for c in at or self.sample.c:
            values = [float(curve[place[c]]) for curve in curves.values()]
            rows.append((c, c / n, *values, *self._held_out(c), self._proved(c)))
        columns = {"topics": "d", "share": ".3f", **dict.fromkeys(curves, ".4f")}
        if self.tested is not None:
            columns |= {"best, held out": ".4f", "random, held out": ".4f", "ahead": ".0%"}
        columns["proved"] = ""
        notes = [self.found.note(), self._sample_note()]
        if self.problem.truth is not None:
            notes.append(f"all {n} topics: {shown(self.all_topics(), '.4f')}")
        if self.tested is not None:
            notes.append(f"held out: {self.tested.note()}; ahead: share of splits where best beats random")
        return Table.of(columns, rows, caption=f"Subsets of {n} topics", notes=notes)

    def all_topics(self) -> float:
        """The value of all topics: a perfect one, unless the ranking to reach is that of a truth."""
        every_topic = np.ones((1, self.problem.n), bool)
        return float(self.problem.of_masks(every_topic)[0])

    def sets_table(self, *, at: tuple[int, ...] = ()) -> Table:
        """The topics of the best and the worst subset of each cardinality, or of those asked for."""
        rows = []
        for side, subset in self._extreme_sets(at):
            optimal = "proved" if subset.proved else ""
            rows.append((side, subset.c, subset.value, optimal, " ".join(subset.topics)))
        formats = {"sets": "", "topics": "d", self.problem.criterion: ".4f", "optimal": "", "set": ""}
        keys = {self.problem.criterion: "value"}
        return Table.of(formats, rows, caption="Topics of the best and worst subsets", keys=keys)

    def record(self) -> dict[str, Any]:
        """The curves, and the topics of the best and worst subsets."""
        named = []
        for side, subset in self._extreme_sets():
            of_subset = {"sets": side, "topics": subset.c, "value": subset.value, "set": list(subset.topics)}
            named.append(of_subset)
        return {**super().record(), "subsets": named}

    def _extreme_sets(self, at: tuple[int, ...] = ()) -> Iterator[tuple[str, Subset]]:
        """The best subset of each cardinality, or of those asked for; then the worst ones."""
        for side in ("best", "worst"):
            for c in at or self.sample.c:
                yield side, self.found.subsets(side, c=c)[0]

    def _held_out(self, c: int) -> list[float | None]:
        """What the best subsets of c topics reach on runs that they were not chosen on, and what random ones do."""
        if self.tested is None:
            return []
        if c not in self.tested.c:
            return [None, None, None]
        i = self.tested.c.index(c)
        best = self.tested.best[:, i].mean()
        random = self.tested.average[:, i].mean()
        ahead = self.tested.ahead()[i]
        return [float(best), float(random), float(ahead)]

    def _proved(self, c: int) -> str:
        return " ".join(side for side in ("best", "worst") if c in self.found.proved[side])

    def _sample_note(self) -> str:
        drawn = f"{self.sample.repetitions} random subsets per cardinality, seed {self.sample.seed}"
        return f"average and percentiles of {drawn}; of all subsets where those are no more"


def best_topics(
    matrix: Any,
    *,
    criterion: str = "tau",
    search: str = "auto",
    scale: str = "plain",
    top: float = 1.0,
    runs: int | None = None,
    truth: ScoreMatrix | None = None,
    cardinalities: tuple[int, ...] = (),
    repetitions: int = 5000,
    percentiles: tuple[float, ...] = (1.0,),
    holdout: bool = True,
    held_out_at: tuple[int, ...] = (),
    splits: int = 5,
    groups: Mapping[str, str] | None = None,
    seconds: float | None = None,
    resume: str | Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> SeriesResult:
    """How well, at best, on average and at worst, c topics rank the runs as all topics do, for every c (or some).

    matrix: scores of one measure in whatever form `assay.compare` takes them, or a Problem.
    A posteriori: the curves bound what choosing topics can bring, they choose none (Guiver, Mizzaro and Robertson
    2009). Best subsets are chosen on the very runs they are tested on; with `holdout`, from 6 runs on, the result also
    says what is left on other runs, over `splits` random halves (runs of one of `groups` stay together), for every c or
    those of `held_out_at`. The search starts from the extremes of the sample, so that no subset drawn is beyond Best or
    Worst. `runs` keeps the best by mean; with `truth` subsets of these topics are compared with the ranking by all
    topics of the truth, see `problem`.

    >>> m = ScoreMatrix.of([[0.5, 0.1, 0.4], [0.3, 0.2, 0.2], [0.1, 0.3, 0.1]])
    >>> best_topics(m).sample.average.round(3).tolist()
    [0.333, 0.939]
    """
    if isinstance(matrix, Problem):
        ready = matrix
    else:
        ready = problem(matrix, criterion=criterion, scale=scale, top=top, runs=runs, truth=truth)
    drawn = sample(ready, repetitions=repetitions, percentiles=percentiles, cardinalities=cardinalities, seed=seed)
    found = search_subsets(
        ready, search=search, cardinalities=cardinalities, seconds=seconds, resume=resume, known=drawn.extremes,
        seed=seed, progress=progress,
    )  # fmt: skip
    untested = _untested(ready, found) if holdout else ""
    if untested or not holdout:
        return SeriesResult(ready, found, drawn, None, untested)
    from assay.topics.holdout import hold_out

    tested = hold_out(
        ready, cardinalities=held_out_at or cardinalities, splits=splits, groups=groups, seed=seed, jobs=jobs,
        progress=progress,
    )  # fmt: skip
    return SeriesResult(ready, found, drawn, tested)


def _untested(ready: Problem, found: SearchResult) -> str:
    """Why the sets cannot be tested on other runs; nothing where they can."""
    runs = len(ready.matrix.runs)
    if found.stopped == "interrupt":
        return "interrupted: the sets were not tested on other runs"
    if runs < LEAST_RUNS:
        return f"{runs} runs are too few to hold out half of them; {LEAST_RUNS} are needed"
    return ""


def sample(
    ready: Problem,
    *,
    repetitions: int = 5000,
    percentiles: tuple[float, ...] = (1.0,),
    cardinalities: tuple[int, ...] = (),
    seed: int = 0,
) -> Sample:
    """Average and percentiles over random subsets of every cardinality, or of those named.

    One random order of the topics gives a subset of each cardinality, its first c topics: at each c the subsets are
    independent and uniform. Memory: repetitions × topics numbers.
    """
    if repetitions < 1 or any(not 0 < p < 100 for p in percentiles):
        raise UsageError("repetitions must be at least 1 and percentiles between 0 and 100")
    wanted = sizes(cardinalities, ready.n)
    rows, extremes = _random_subsets(ready, wanted, repetitions, seed)
    exact = frozenset(c for c in wanted if comb(ready.n, c) <= repetitions)
    for i, c in enumerate(wanted):
        if c in exact:
            rows[i], extremes[i] = _all_subsets(ready, c)
    ranked = [np.sort(ready.goodness(row))[::-1] for row in rows]
    return Sample(
        c=wanted,
        average=np.array([row.mean() for row in rows]),
        upper={p: _at(ready, ranked, p, top=True) for p in percentiles},
        upper_mean={p: _beyond(ready, ranked, p, top=True) for p in percentiles},
        lower={p: _at(ready, ranked, p, top=False) for p in percentiles},
        lower_mean={p: _beyond(ready, ranked, p, top=False) for p in percentiles},
        extremes=np.concatenate(extremes),
        exact=exact,
        repetitions=repetitions,
        seed=seed,
    )


def _all_subsets(ready: Problem, c: int) -> tuple[Floats, Masks]:
    """The values of all subsets of c topics; the greatest and the least of them."""
    every_value = []
    highest = -np.inf
    lowest = np.inf
    for values, sets in all_values(ready, c):
        every_value.append(values)
        if values.max() > highest:
            highest = values.max()
            greatest = sets.masks(np.array([values.argmax()]))
        if values.min() < lowest:
            lowest = values.min()
            least = sets.masks(np.array([values.argmin()]))
    return np.concatenate(every_value), np.concatenate([greatest, least])


def random_values(ready: Problem, wanted: tuple[int, ...], repetitions: int, seed: int) -> list[Floats]:
    """For each cardinality the values of random subsets; two criteria with one seed value the same subsets."""
    if repetitions < 1:
        raise UsageError(f"{repetitions} repetitions; at least 1 is needed")
    values, _ = _random_subsets(ready, wanted, repetitions, seed)
    return values


def all_where_few(ready: Problem, wanted: tuple[int, ...], drawn: list[Floats], repetitions: int) -> list[Floats]:
    """The values of the random subsets, but those of all subsets where these are no more than the draws."""
    values = list(drawn)
    for i, c in enumerate(wanted):
        if comb(ready.n, c) <= repetitions:
            values[i], _ = _all_subsets(ready, c)
    return values


def _random_subsets(
    ready: Problem, wanted: tuple[int, ...], repetitions: int, seed: int
) -> tuple[list[Floats], list[Masks]]:
    """For each cardinality the values of random subsets; the greatest and the least of them."""
    rng = generator(seed)
    units = ready.units
    last_topic = np.array(wanted) - 1
    orders = np.empty((repetitions, ready.n), np.uint16)
    values = np.empty((repetitions, len(wanted)))
    for part in chunks(repetitions, max(1, 2_000_000 // units.size)):
        count = part.stop - part.start
        orders[part] = np.argsort(rng.random((count, ready.n)), axis=1)
        every_sum = np.cumsum(units[orders[part]], axis=1, dtype=units.dtype)
        sums = every_sum[:, last_topic].reshape(-1, units.shape[1])
        part_values = ready.of_sums(sums, np.tile(wanted, count))
        values[part] = part_values.reshape(count, -1)
    extremes = []
    for c, column in zip(wanted, values.T, strict=True):
        ends = orders[[column.argmax(), column.argmin()]]
        place_of_topic = np.argsort(ends, axis=1)
        extremes.append(place_of_topic < c)
    return list(values.T), extremes


def _at(ready: Problem, ranked: list[Floats], p: float, *, top: bool) -> Floats:
    """The value at position ⌈p/100 · R⌉ from the best (or from the worst)."""
    values = []
    for row in ranked:
        position = _position(p, row)
        values.append(row[position - 1] if top else row[-position])
    return ready.goodness(np.array(values))


def _beyond(ready: Problem, ranked: list[Floats], p: float, *, top: bool) -> Floats:
    """The mean of the values from that position outwards."""
    means = []
    for row in ranked:
        position = _position(p, row)
        beyond = row[:position] if top else row[-position:]
        means.append(beyond.mean())
    return ready.goodness(np.array(means))


def _position(p: float, values: Floats) -> int:
    """⌈p/100 · R⌉, which a product of floats that is a little too large does not push to the next number."""
    return ceil(p / 100 * len(values) - 1e-9)
