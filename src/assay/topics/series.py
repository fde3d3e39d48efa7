"""Best, Average and Worst for every cardinality, and the percentiles between: the curves of the fewer-topics studies.

Best and Worst come from a search, Average and percentiles from random subsets (from all subsets where those are fewer).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.archive import sizes
from assay.topics.criteria import Numbers
from assay.topics.exact import all_values
from assay.topics.problem import Masks, Problem, problem
from assay.topics.search import SearchResult, search


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
class SeriesResult:
    """The curves: cardinalities against Best, Average and Worst, with the search and the sample behind them."""

    problem: Problem
    found: SearchResult
    sample: Sample

    @property
    def c(self) -> Numbers:
        """The cardinalities: 1 … n-1, or those asked for."""
        return np.array(self.sample.c)

    def reaching(self, value: float, series: str = "average") -> int | None:
        """The fewest topics with which a series (best, average, worst) is at least as good as `value` from there on."""
        curve = {"best": self.found.values("best"), "worst": self.found.values("worst")}.get(
            series, self.sample.average
        )
        good = self.problem.goodness(curve) >= self.problem.goodness(np.array([value]))[0]
        below = np.flatnonzero(~good)
        first = 0 if not len(below) else int(below[-1]) + 1
        return int(self.c[first]) if first < len(good) else None

    def table(self, *, at: tuple[int, ...] = ()) -> Table:
        """One row per cardinality (or those asked for); percentiles as thresholds and as means beyond them."""
        columns = {"topics": "d", "share": ".3f", "best": ".4f"}
        curves: list[Floats] = [self.found.values("best")]
        for p in self.sample.upper:
            columns |= {f"best {p:g} %": ".4f", f"mean of best {p:g} %": ".4f"}
            curves += [self.sample.upper[p], self.sample.upper_mean[p]]
        columns["average"] = ".4f"
        curves.append(self.sample.average)
        for p in self.sample.lower:
            columns |= {f"mean of worst {p:g} %": ".4f", f"worst {p:g} %": ".4f"}
            curves += [self.sample.lower_mean[p], self.sample.lower[p]]
        columns |= {"worst": ".4f", "proved": ""}
        curves.append(self.found.values("worst"))
        n, place = self.problem.n, {c: i for i, c in enumerate(self.sample.c)}
        rows = [(c, c / n, *(float(v[place[c]]) for v in curves), self._proved(c)) for c in at or self.sample.c]
        return Table.of(columns, rows, caption=f"Subsets of {n} topics", notes=[self.found.note(), self._sample_note()])

    def _proved(self, c: int) -> str:
        return " ".join(side for side in ("best", "worst") if c in self.found.proved[side])

    def _sample_note(self) -> str:
        drawn = f"{self.sample.repetitions} random subsets per cardinality, seed {self.sample.seed}"
        return f"average and percentiles of {drawn}; of all subsets where those are no more"


def series(
    matrix: ScoreMatrix | Problem,
    *,
    criterion: str = "tau",
    search_by: str = "auto",
    scale: str = "plain",
    top: float = 1.0,
    cardinalities: tuple[int, ...] = (),
    repetitions: int = 5000,
    percentiles: tuple[float, ...] = (1.0,),
    seconds: float | None = None,
    resume: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> SeriesResult:
    """How well, at best, on average and at worst, c topics rank the runs as all topics do, for every c (or some).

    A posteriori: the curves bound what choosing topics can bring, they choose none (Guiver, Mizzaro and Robertson
    2009). Best subsets are chosen on the very runs they are tested on; `holdout` says what is left on other runs. The
    search starts from the extremes of the sample, so that no subset drawn is beyond Best or Worst.

    >>> m = ScoreMatrix.of([[0.5, 0.1, 0.4], [0.3, 0.2, 0.2], [0.1, 0.3, 0.1]])
    >>> s = series(m)
    >>> s.sample.average.round(3).tolist()
    [0.333, 0.939]
    """
    ready = matrix if isinstance(matrix, Problem) else problem(matrix, criterion=criterion, scale=scale, top=top)
    drawn = sample(ready, repetitions=repetitions, percentiles=percentiles, cardinalities=cardinalities, seed=seed)
    found = search(
        ready, search=search_by, cardinalities=cardinalities, seconds=seconds, resume=resume, known=drawn.extremes,
        seed=seed, progress=progress,
    )  # fmt: skip
    return SeriesResult(ready, found, drawn)


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
    parts = list(all_values(ready, c))
    values = np.concatenate([found for found, _ in parts])
    ends = [max(parts, key=lambda part: part[0].max()), min(parts, key=lambda part: part[0].min())]
    places = [ends[0][0].argmax(), ends[1][0].argmin()]
    return values, np.concatenate([ends[i][1].masks(np.array([places[i]])) for i in range(2)])


def _random_subsets(
    ready: Problem, wanted: tuple[int, ...], repetitions: int, seed: int
) -> tuple[list[Floats], list[Masks]]:
    """For each cardinality the values of random subsets; the greatest and the least of them."""
    rng, n, last = generator(seed), ready.n, np.array(wanted) - 1
    orders, values = np.empty((repetitions, n), np.uint16), np.empty((repetitions, len(wanted)))
    for part in chunks(repetitions, max(1, 2_000_000 // ready.units.size)):
        orders[part] = np.argsort(rng.random((part.stop - part.start, n)), axis=1)
        sums = np.cumsum(ready.units[orders[part]], axis=1, dtype=ready.units.dtype)[:, last]
        found = ready.of_sums(sums.reshape(-1, sums.shape[2]), np.tile(wanted, len(sums)))
        values[part] = found.reshape(len(sums), -1)
    ends = [orders[[column.argmax(), column.argmin()]] for column in values.T]
    return list(values.T), [np.argsort(order, axis=1) < c for order, c in zip(ends, wanted, strict=True)]


def _at(ready: Problem, ranked: list[Floats], p: float, *, top: bool) -> Floats:
    """The value at position ⌈p/100 · R⌉ from the best (or from the worst)."""
    places = [ceil(p / 100 * len(row) - 1e-9) for row in ranked]
    found = np.array([row[k - 1] if top else row[-k] for row, k in zip(ranked, places, strict=True)])
    return ready.goodness(found)


def _beyond(ready: Problem, ranked: list[Floats], p: float, *, top: bool) -> Floats:
    """The mean of the values from that position outwards."""
    places = [ceil(p / 100 * len(row) - 1e-9) for row in ranked]
    found = np.array([(row[:k] if top else row[-k:]).mean() for row, k in zip(ranked, places, strict=True)])
    return ready.goodness(found)
