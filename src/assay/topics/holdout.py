"""What is left of the best subsets on runs, measures or collections they were not chosen on?

The best subset of a search fits the runs it was searched on. Here it is chosen on some runs and tested on others: the
number to quote when someone asks what a subset is worth. Robertson 2011; Berto, Mizzaro and Robertson 2013.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.archive import sizes
from assay.topics.conclusions import spaced
from assay.topics.extremes import sample
from assay.topics.problem import Problem, problem
from assay.topics.search import SearchResult, finished, search_subsets

QUICK = "swap(starts=3, rounds=3)"


@dataclass(frozen=True, eq=False)
class HoldoutResult(Result):
    """Values of subsets where they were chosen and where they were tested, per cardinality.

    Rows of the arrays are splits of the runs (one row for a transfer), columns the cardinalities `c`. `top` is the mean
    over the ten best sets, `average` what random subsets reach on the tested runs.
    """

    problem: Problem
    c: tuple[int, ...]
    chosen: Floats
    best: Floats
    top: Floats
    average: Floats
    worst: Floats
    how: str
    seed: int

    def ahead(self) -> Floats:
        """For each cardinality the share of splits in which the best subset beats random ones."""
        goodness_of_best = self.problem.goodness(self.best)
        goodness_of_random = self.problem.goodness(self.average)
        return np.asarray((goodness_of_best > goodness_of_random).mean(axis=0))

    def table(self) -> Table:
        """One row per cardinality, means over the splits; `ahead` is the share of splits where best beats random."""
        columns = {
            "best, own runs": self.chosen,
            "best, held out": self.best,
            "ten best, held out": self.top,
            "random": self.average,
            "worst, held out": self.worst,
        }
        means = [values.mean(axis=0) for values in columns.values()]
        rows = list(zip(self.c, *means, self.ahead(), strict=True))
        formats = {"topics": "d", **dict.fromkeys(columns, ".4f"), "ahead": ".0%"}
        return Table.of(formats, rows, caption="Subsets on runs they were not chosen on", notes=[self.note()])

    def note(self) -> str:
        """The criterion and the splits, in words."""
        return f"{self.problem.title}; {self.how}, seed {self.seed}"


def hold_out(
    matrix: ScoreMatrix | Problem,
    *,
    criterion: str = "tau",
    scale: str = "plain",
    top: float = 1.0,
    cardinalities: tuple[int, ...] = (),
    splits: int = 5,
    groups: Mapping[str, str] | None = None,
    search: str = QUICK,
    repetitions: int = 500,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> HoldoutResult:
    """Subsets chosen on a random half of the runs and tested on the other half, over several splits.

    Runs of one group (`groups`: run → group) stay on one side, since they resemble each other. Worst subsets are tested
    too. Needs at least 6 runs.

    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> hold_out(m, cardinalities=(3,), splits=2).best.shape
    (2, 1)
    """
    if splits < 1:
        raise UsageError(f"{splits} splits; at least 1 is needed")
    whole = matrix if isinstance(matrix, Problem) else problem(matrix, criterion=criterion, scale=scale, top=top)
    wanted = sizes(cardinalities or spaced(whole.n), whole.n)

    def tested(rng: np.random.Generator) -> Tested:
        own_runs, other_runs = halved(whole.matrix.runs, rng, groups)
        own = whole.of_runs(own_runs)
        other = whole.of_runs(other_runs)
        result = finished(search_subsets(own, search=search, cardinalities=wanted, seed=seed))
        return _tested(result, other, wanted, repetitions, seed)

    of_splits = ordered_map(tested, generators(seed, splits), jobs=jobs, forks=True, progress=progress)
    curves = np.stack([np.array(of_split) for of_split in of_splits], axis=1)
    half = f"half of the {len(whole.matrix.runs)} runs"
    how = f"chosen by {search} on {half}, tested on the others, {splits} splits"
    if groups is not None:
        how += ", groups kept together"
    return _result(whole, wanted, curves, how, seed)


def transfer(
    source: ScoreMatrix,
    target: ScoreMatrix,
    *,
    criterion: str = "tau",
    scale: str = "plain",
    cardinalities: tuple[int, ...] = (),
    search: str = "auto",
    repetitions: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> HoldoutResult:
    """Subsets chosen on one matrix and tested on another: another measure, or other runs on the same topics.

    Only topics that both have are used.

    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> same = transfer(m, m, cardinalities=(3,))
    >>> same.best.tolist() == same.chosen.tolist()
    True
    """
    target_topics = set(target.topics)
    common = [topic for topic in source.topics if topic in target_topics]
    if len(common) < 2:
        raise DataError(f"{source.measure} and {target.measure}: {len(common)} common topics; at least 2 are needed")
    source_scores = source.select(topics=common)
    target_scores = target.select(topics=common)
    own = problem(source_scores, criterion=criterion, scale=scale)
    other = problem(target_scores, criterion=criterion, scale=scale)
    wanted = sizes(cardinalities or spaced(own.n), own.n)
    result = finished(search_subsets(own, search=search, cardinalities=wanted, seed=seed, progress=progress))
    tested = _tested(result, other, wanted, repetitions, seed)
    curves = np.array(tested)[:, None]
    here = f"chosen by {search} on {len(source.runs)} runs by {source.measure}"
    there = f"tested on {len(target.runs)} runs by {target.measure}, {own.n} common topics"
    return _result(other, wanted, curves, f"{here}, {there}", seed)


def halved(
    runs: tuple[str, ...], rng: np.random.Generator, groups: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """The runs in two random halves; runs of one group together, so that halves are as equal as groups allow.

    >>> one, two = halved(("a1", "a2", "b1", "b2", "c1", "d1"), np.random.default_rng(0), {"a1": "a", "a2": "a"})
    >>> len(one), len(two), ("a1" in one) == ("a2" in one)
    (3, 3, True)
    """
    by_group: dict[str, list[str]] = {}
    for run in runs:
        group = f"group {groups[run]}" if groups and run in groups else f"run {run}"
        by_group.setdefault(group, []).append(run)
    blocks = list(by_group.values())
    # the largest groups first, each to the smaller half; groups of one size in random order
    shuffled = [blocks[i] for i in rng.permutation(len(blocks))]
    largest_first = sorted(shuffled, key=len, reverse=True)
    one: set[str] = set()
    two: set[str] = set()
    for block in largest_first:
        smaller = two if len(one) > len(two) else one
        smaller.update(block)
    if min(len(one), len(two)) < 3:
        raise DataError(f"{len(runs)} runs in {len(blocks)} groups; holding out half of them needs 3 runs on each side")
    return [run for run in runs if run in one], [run for run in runs if run in two]


class Tested(NamedTuple):
    """Values of subsets of each cardinality: of the best where it was chosen, the others on runs held out."""

    chosen: Floats
    best: Floats
    ten_best: Floats
    average: Floats
    worst: Floats


def _tested(result: SearchResult, other: Problem, wanted: tuple[int, ...], repetitions: int, seed: int) -> Tested:
    """The subsets of a search on other runs, and random subsets there."""
    chosen, best, ten_best, worst = np.empty((4, len(wanted)))
    for i, c in enumerate(wanted):
        best_sets, values_where_chosen = result.sets["best"][c]
        worst_sets, _ = result.sets["worst"][c]
        best_there = other.of_masks(best_sets)
        worst_there = other.of_masks(worst_sets)
        chosen[i] = values_where_chosen[0]
        best[i] = best_there[0]
        ten_best[i] = best_there.mean()
        worst[i] = worst_there[0]
    average = sample(other, repetitions=repetitions, cardinalities=wanted, seed=seed).average
    return Tested(chosen, best, ten_best, average, worst)


def _result(problem: Problem, wanted: tuple[int, ...], curves: Floats, how: str, seed: int) -> HoldoutResult:
    """The result, from the fields of `Tested` × splits × cardinalities."""
    chosen, best, ten_best, average, worst = curves
    return HoldoutResult(
        problem=problem,
        c=wanted,
        chosen=chosen,
        best=best,
        top=ten_best,
        average=average,
        worst=worst,
        how=how,
        seed=seed,
    )
