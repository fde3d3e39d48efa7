"""Do the intervals hold? How often each estimator covers the true mean when topics are resampled, and how wide it is.

The topics that have both labels play the population: human topics and machine topics are drawn from them with
replacement, again and again, and each interval either covers the mean over all of them or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import generators
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.judges.labelled_pairs import Scales, labelled
from assay.judges.listed import listed, one_measure
from assay.judges.topic_estimates import limits_of
from assay.judges.topic_estimators import ESTIMATORS, estimated, quantile
from assay.measures import Measure
from assay.stats.pair_tests import every_pair

MACHINE_ONLY = "machine only"
QUANTITIES = ("means", "differences")
MOST_ROWS = 200
"""Runs, or pairs of runs, on which coverage is tried; of more a random choice."""

SELDOM = 0.1
"""The least share of samples in which a row with bounds is tried, if there is any."""


@dataclass(frozen=True)
class CoverageRow:
    """One estimator of one quantity: how often its interval covers, how wide it is, beside that of people alone."""

    judge: str
    quantity: str
    method: str
    coverage: float
    width: float
    human_width: float


@dataclass(frozen=True, eq=False)
class Coverage(Result):
    """How often the interval of every estimator covers the truth."""

    measure: str
    rows: tuple[CoverageRow, ...]
    human: int
    machine: int
    samples: int
    level: float
    seed: int
    unit = "topic"

    def of(self, judge: str, quantity: str, method: str) -> CoverageRow:
        """One row."""
        for row in self.rows:
            if (row.judge, row.quantity, row.method) == (judge, quantity, method):
                return row
        raise DataError(f"no coverage of {method!r} for {quantity} under {judge!r}")

    def table(self) -> Table:
        """One row for each judge, quantity and estimator."""
        columns = {
            "judge": "", "quantity": "", "method": "", "coverage": ".3f", "width": ".4f", "human width": ".4f",
            "width share": ".3f",
        }  # fmt: skip
        rows = [
            (row.judge, row.quantity, row.method, row.coverage, row.width, row.human_width, row.width / row.human_width)
            for row in self.rows
        ]
        notes = [
            f"{self.human} human topics and {self.machine} machine topics resampled {self.samples} times for each run "
            f"or pair of runs, seed {self.seed}; wanted: {self.level:g}",
            "width share: width over that of the human topics alone",
        ]
        return Table.of(columns, rows, caption=f"{self.measure}: coverage of the intervals", notes=notes)


def coverage(
    human: ScoreMatrix,
    machine: Sequence[ScoreMatrix],
    judges: Sequence[str],
    *,
    topics: int = 20,
    others: int | None = None,
    samples: int = 200,
    methods: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
) -> Coverage:
    """Coverage of every estimator for means and differences of runs, from topics with human and machine scores.

    topics: human topics of each sample; others: machine topics, by default the rest of the topics there are.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random((3, 40))
    >>> human = ScoreMatrix.of(scores, measure="AP")
    >>> near = ScoreMatrix.of(0.9 * scores + 0.1 * rng.random((3, 40)), measure="AP")
    >>> found = coverage(human, [near], ["near"], topics=20, samples=50)
    >>> bool(found.of("near", "means", "tuned").width < found.of("near", "means", "classical").width)
    True
    """
    names = list(methods) or ESTIMATORS.names()
    rest = human.shape[1] - topics if others is None else others
    if topics < 2 or rest < 2:
        raise DataError(f"{topics} human and {rest} machine topics; coverage needs at least two of each")
    rows: list[CoverageRow] = []
    for judge, matrix in zip(judges, machine, strict=True):
        for quantity in QUANTITIES:
            rng = generators(seed, 1)[0]
            people, by_judge = _quantity(human.values, matrix.values, quantity, rng)
            limits = limits_of(human, matrix, None if quantity == "means" else "another run")
            if len(people):
                rows += _tried(judge, quantity, people, by_judge, names, topics, rest, samples, level, limits, rng)
    return Coverage(human.measure, tuple(rows), topics, rest, samples, level, seed)


def _quantity(human: Floats, machine: Floats, quantity: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rows of scores, or of differences of pairs of runs, under people and under the judge."""
    if quantity == "differences":
        first, second = every_pair(len(human))
        human = human[first] - human[second]
        machine = machine[first] - machine[second]
    # Two runs that are the same on every topic have nothing to cover.
    varying = np.flatnonzero(human.std(axis=1) > 0)
    if len(varying) > MOST_ROWS:
        varying = np.sort(rng.choice(varying, MOST_ROWS, replace=False))
    return human[varying], machine[varying]


def _tried(
    judge: str, quantity: str, human: Floats, machine: Floats, methods: Sequence[str], topics: int, others: int,
    samples: int, level: float, limits: tuple[float, float] | None, rng: np.random.Generator,
) -> list[CoverageRow]:  # fmt: skip
    """Every estimator on the same samples; all runs share the topics of a sample."""
    population = human.shape[1]
    truth = human.mean(axis=1)
    wanted = dict.fromkeys((*methods, "classical", MACHINE_ONLY))
    hits = dict.fromkeys(wanted, 0.0)
    widths = dict.fromkeys(wanted, 0.0)
    kept = dict.fromkeys(wanted, 0.0)
    for _ in range(samples):
        drawn = rng.integers(population, size=topics)
        more = rng.integers(population, size=others)
        y, f, u = human[:, drawn], machine[:, drawn], machine[:, more]
        for name in wanted:
            if name == MACHINE_ONLY:
                rows, share = np.arange(len(human)), np.full(len(human), 1 / len(human))
                low, high = _machine_only(f, u, level)
            else:
                found = estimated(y, f, u, name, limits=limits)
                rows, share = _chosen(found.little, rng)
                low, high = found.of_rows(rows).interval(level)
            known = np.isfinite(low)
            kept[name] += share[known].sum()
            hits[name] += ((low <= truth[rows]) & (truth[rows] <= high))[known] @ share[known]
            widths[name] += (high - low)[known] @ share[known]
    shown = [*methods, MACHINE_ONLY]

    def over(sums: dict[str, float], name: str) -> float:
        return sums[name] / kept[name] if kept[name] else float("nan")

    return [
        CoverageRow(judge, quantity, name, over(hits, name), over(widths, name), over(widths, "classical"))
        for name in shown
    ]


def _chosen(little: Bools, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """The rows that are tried on a sample, and the share of rows that each stands for.

    Bounds take long. So one of the rows that have them stands for all, another one each time; and where they are few,
    it is tried now and then only and stands for the samples between.
    """
    plain, bounded = np.flatnonzero(~little), np.flatnonzero(little)
    share = np.full(len(plain), 1 / len(little))
    tried = max(SELDOM, len(bounded) / len(little))
    if not len(bounded) or rng.random() >= tried:
        return plain, share
    return np.append(plain, rng.choice(bounded)), np.append(share, len(bounded) / len(little) / tried)


def _machine_only(f: Floats, u: Floats, level: float) -> tuple[Floats, Floats]:
    """What somebody does who takes the machine for people: the t interval of its scores on all topics."""
    scores = np.concatenate([f, u], axis=1)
    topics = scores.shape[1]
    half = quantile(level, topics - 1) * scores.std(axis=1, ddof=1) / np.sqrt(topics)
    centre = scores.mean(axis=1)
    return centre - half, centre + half


def coverage_of_judges(
    human: Any,
    machine: Any,
    runs: Any,
    *,
    measure: str | Measure = "nDCG@10",
    scale: Scales = None,
    jobs: int = 1,
    **how: Any,
) -> Coverage:
    """`coverage` from judgments, machine labels and runs: scores on the topics that both judged."""
    pairs = labelled(human, machine, scale=scale).compared()
    lists = listed(runs, pairs, jobs=jobs)
    wanted = one_measure(measure)
    by_judge = [lists.machine(wanted, j) for j in range(len(pairs.judges))]
    return coverage(lists.human(wanted), by_judge, pairs.judges, **how)
