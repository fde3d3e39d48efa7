"""What is left of the best subsets on runs, measures or collections they were not chosen on?

The best subset of a search fits the runs it was searched on. Here it is chosen on some runs and tested on others: the
number to quote when someone asks what a subset is worth. Robertson 2011; Berto, Mizzaro and Robertson 2013.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generators, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.archive import sizes
from assay.topics.conclusions import spaced
from assay.topics.problem import Masks, Problem, problem
from assay.topics.search import SearchResult, finished, search
from assay.topics.series import sample

QUICK = "swap(starts=3, rounds=3)"


@dataclass(frozen=True, eq=False)
class HoldoutResult:
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

    def table(self) -> Table:
        """One row per cardinality, means over the splits; `ahead` is the share of splits where best beats random."""
        good, random = self.problem.goodness(self.best), self.problem.goodness(self.average)
        ahead = (good > random).mean(axis=0)
        means = [x.mean(axis=0) for x in (self.chosen, self.best, self.top, self.average, self.worst)]
        rows = [(c, *(float(x[i]) for x in means), float(ahead[i])) for i, c in enumerate(self.c)]
        columns = {"topics": "d", "best, own runs": ".4f", "best, held out": ".4f", "ten best, held out": ".4f"}
        columns |= {"random": ".4f", "worst, held out": ".4f", "ahead": ".0%"}
        return Table.of(columns, rows, caption="Subsets on runs they were not chosen on", notes=[self._note()])

    def _note(self) -> str:
        return f"{self.problem.title}; {self.how}, seed {self.seed}"


def holdout(
    matrix: ScoreMatrix | Problem,
    *,
    criterion: str = "tau",
    scale: str = "plain",
    top: float = 1.0,
    cardinalities: tuple[int, ...] = (),
    splits: int = 5,
    groups: Mapping[str, str] | None = None,
    search_by: str = QUICK,
    repetitions: int = 500,
    seed: int = 0,
    progress: Progress = silent,
) -> HoldoutResult:
    """Subsets chosen on a random half of the runs and tested on the other half, over several splits.

    Runs of one group (`groups`: run → group) stay on one side, since they resemble each other. Worst subsets are tested
    too. Needs at least 6 runs.
    """
    if splits < 1:
        raise UsageError(f"{splits} splits; at least 1 is needed")
    whole = matrix if isinstance(matrix, Problem) else problem(matrix, criterion=criterion, scale=scale, top=top)
    wanted = sizes(cardinalities or spaced(whole.n), whole.n)
    rows: list[list[Floats]] = []
    for number, rng in enumerate(generators(seed, splits)):
        own, other = (whole.of_runs(half) for half in halved(whole.matrix.runs, rng, groups))
        found = finished(search(own, search=search_by, cardinalities=wanted, seed=seed))
        rows.append(_tested(found, other, wanted, repetitions, seed))
        progress(number + 1, splits)
    parts = [np.array(part) for part in zip(*rows, strict=True)]
    kept = "" if groups is None else ", groups kept together"
    half = f"half of the {len(whole.matrix.runs)} runs"
    how = f"chosen by {search_by} on {half}, tested on the others, {splits} splits{kept}"
    return HoldoutResult(whole, wanted, parts[0], parts[1], parts[2], parts[3], parts[4], how, seed)


def transfer(
    source: ScoreMatrix,
    target: ScoreMatrix,
    *,
    criterion: str = "tau",
    scale: str = "plain",
    cardinalities: tuple[int, ...] = (),
    search_by: str = "auto",
    repetitions: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> HoldoutResult:
    """Subsets chosen on one matrix and tested on another: another measure, or other runs on the same topics.

    Only topics that both have are used.
    """
    common = [t for t in source.topics if t in set(target.topics)]
    if len(common) < 2:
        raise DataError(f"{source.measure} and {target.measure}: {len(common)} common topics; at least 2 are needed")
    own, other = (problem(m.select(topics=common), criterion=criterion, scale=scale) for m in (source, target))
    wanted = sizes(cardinalities or spaced(own.n), own.n)
    found = finished(search(own, search=search_by, cardinalities=wanted, seed=seed, progress=progress))
    parts = [row[None, :] for row in _tested(found, other, wanted, repetitions, seed)]
    there = f"tested on {len(target.runs)} runs by {target.measure}, {own.n} common topics"
    how = f"chosen by {search_by} on {len(source.runs)} runs by {source.measure}, {there}"
    return HoldoutResult(other, wanted, parts[0], parts[1], parts[2], parts[3], parts[4], how, seed)


def halved(
    runs: tuple[str, ...], rng: np.random.Generator, groups: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """The runs in two random halves; runs of one group together, so that halves are as equal as groups allow.

    >>> one, two = halved(("a1", "a2", "b1", "b2", "c1", "d1"), np.random.default_rng(0), {"a1": "a", "a2": "a"})
    >>> len(one), len(two), ("a1" in one) == ("a2" in one)
    (3, 3, True)
    """
    blocks: dict[str, list[str]] = {}
    for run in runs:
        blocks.setdefault(f"group {groups[run]}" if groups and run in groups else f"run {run}", []).append(run)
    order = list(blocks.values())
    halves: tuple[list[str], list[str]] = ([], [])
    for place in sorted(rng.permutation(len(order)).tolist(), key=lambda i: -len(order[i])):
        halves[len(halves[0]) > len(halves[1])].extend(order[place])
    if min(map(len, halves)) < 3:
        raise DataError(f"{len(runs)} runs in {len(order)} groups; holding out half of them needs 3 runs on each side")
    one, two = (set(half) for half in halves)
    return [r for r in runs if r in one], [r for r in runs if r in two]


def _tested(found: SearchResult, other: Problem, wanted: tuple[int, ...], repetitions: int, seed: int) -> list[Floats]:
    """Value where chosen; on `other`: value of the best, mean of the top sets, random average, value of the worst."""

    def there(side: str, c: int) -> Floats:
        masks: Masks = found.sets[side][c][0]
        return other.of_masks(masks)

    return [
        np.array([found.sets["best"][c][1][0] for c in wanted]),
        np.array([there("best", c)[0] for c in wanted]),
        np.array([there("best", c).mean() for c in wanted]),
        sample(other, repetitions=repetitions, cardinalities=wanted, seed=seed).average,
        np.array([there("worst", c)[0] for c in wanted]),
    ]
