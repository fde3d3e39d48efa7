"""Best and worst subsets for every cardinality, by whatever search: one call, with budget, resume and progress.

`auto` swaps, sweeps, and proves what can be proved in seconds. Searches joined by + share one archive, so that their
findings are merged; with a time budget they continue, with other random numbers, until it is spent.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.registry import Registry, Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.archive import BEST, SIDES, Archive, Cell
from assay.topics.criteria import CRITERIA
from assay.topics.exact import exact
from assay.topics.greedy import greedy
from assay.topics.nsga import nsga
from assay.topics.problem import Masks, Problem, problem
from assay.topics.swap import Steps, swap
from assay.topics.sweep import sweep

SEARCHES: Registry[Callable[..., Steps]] = Registry("search")
"""Facts: again, the parameters with which a search is repeated while there is time; without it, it has an end."""
ENDS = {"": "", "time": ", stopped by the time budget", "interrupt": ", interrupted"}
"""How a note ends, by why a search stopped."""
SEARCHES.register("swap", again={})(swap)
SEARCHES.register("sweep", again={"rounds": 60})(sweep)
SEARCHES.register("exact")(exact)
SEARCHES.register("greedy")(greedy)
SEARCHES.register("nsga", again={})(nsga)


@SEARCHES.register("auto", again={"proof": False})
def auto(
    archive: Archive, rng: np.random.Generator, *, effort: Annotated[int, Within(1)] = 1, proof: bool = True
) -> Steps:
    """Swaps, then sweeps from what they found, `effort` times; then proof where it is cheap.

    Up to 60 topics every cardinality is tried whose proof takes seconds; beyond, only those of a few topics in or out.
    Criteria that are slow to value are proved a topic or so less far.
    """
    for _ in range(effort):
        yield from swap(archive, rng)
        yield from sweep(archive, rng)
    if proof:
        subsets = 2_200_000 if CRITERIA[archive.problem.criterion].facts["quick"] else 250_000
        yield from exact(archive, rng, subsets=subsets, sums=120_000_000, deepest=12)


@dataclass(frozen=True)
class Subset:
    """One subset: its cardinality, its rank among those found, its value, its topics, and whether it is proved."""

    c: int
    place: int
    value: float
    topics: tuple[str, ...]
    proved: bool


@dataclass(frozen=True, eq=False)
class SearchResult(Result):
    """The best or worst subsets of every cardinality (`sets`), and what finding them took.

    `proved` holds, for each side, the cardinalities whose sets are proved to be the best (or worst) there are.
    """

    problem: Problem
    search: str
    sets: dict[str, dict[int, tuple[Masks, Floats]]]
    proved: dict[str, frozenset[int]]
    cardinalities: tuple[int, ...]
    evaluations: int
    seconds: float
    stopped: str
    seed: int

    def values(self, side: str = "best") -> Floats:
        """The best (or worst) value for every cardinality searched, by default c = 1 … n-1."""
        return np.array([values[0] for _, values in self._every(side)])

    def masks(self, side: str = "best") -> Masks:
        """The best (or worst) subset for every cardinality searched, cardinalities × topics."""
        return np.array([masks[0] for masks, _ in self._every(side)])

    def _every(self, side: str) -> list[tuple[Masks, Floats]]:
        missing = [c for c in self.cardinalities if c not in self.sets[side]]
        if missing:
            raise UsageError(
                f"search {self.search} found no subsets of {missing[0]} topics; add +swap to fill the gaps"
            )
        return [self.sets[side][c] for c in self.cardinalities]

    def subsets(self, side: str = "best", *, c: int) -> list[Subset]:
        """The distinct subsets kept for one cardinality, best (or worst) first."""
        if c not in self.sets[side]:
            raise UsageError(f"no subsets of {c} topics were found by {self.search}; of {self.problem.n} topics")
        masks, values = self.sets[side][c]
        proved = c in self.proved[side]
        subsets: list[Subset] = []
        for mask, value in zip(masks, values.tolist(), strict=True):
            place = len(subsets) + 1
            topics = self.problem.names(mask)
            subsets.append(Subset(c, place, value, topics, proved))
        return subsets

    def note(self) -> str:
        """The search in words."""
        runs = len(self.problem.matrix.runs)
        question = f"{self.problem.title} with the ranking of {runs} runs by {self.problem.reference}"
        search = f"search {self.search}, {self.evaluations} evaluations, seed {self.seed}"
        return f"{question}; {search}{ENDS[self.stopped]}"

    def table(self, side: str = "best", *, c: int | None = None) -> Table:
        """One row per cardinality; with c the distinct subsets of that cardinality."""
        if c is None:
            shown = [self.subsets(side, c=size)[0] for size in sorted(self.sets[side])]
        else:
            shown = self.subsets(side, c=c)
        rows = []
        for subset in shown:
            optimal = "proved" if subset.proved else ""
            topics = " ".join(subset.topics)
            rows.append((subset.c, subset.place, subset.value, optimal, topics))
        return Table.of(
            {"topics": "d", "place": "d", self.problem.criterion: ".4f", "optimal": "", "set": ""},
            rows,
            caption=f"{side.capitalize()} subsets",
            notes=[self.note()],
            keys={self.problem.criterion: "value"},
        )


def search_subsets(
    matrix: ScoreMatrix | Problem,
    *,
    criterion: str = "tau",
    search: str = "auto",
    sides: tuple[str, ...] = ("best", "worst"),
    cardinalities: tuple[int, ...] = (),
    scale: str = "plain",
    top: float = 1.0,
    keep: int = 10,
    seconds: float | None = None,
    resume: str | Path | None = None,
    known: Masks | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> SearchResult:
    """The best and worst subsets of every cardinality that rank the runs as all topics do, and as badly as can be.

    With `cardinalities` only of those, which is much faster. `search` names one or several of SEARCHES, joined by +.
    After `seconds`, or on Ctrl-C, the best so far is returned; searches that chance can help use all of the time, the
    others end when they are done. With `resume` the archive is read from that file if it exists, and written to it at
    the end. `known` subsets (rows of true and false per topic) are taken in at first.

    >>> m = ScoreMatrix.of([[0.5, 0.1, 0.4], [0.3, 0.2, 0.2], [0.1, 0.3, 0.1]])
    >>> found = search_subsets(m, criterion="tau")
    >>> found.values("best").tolist(), found.subsets("worst", c=1)[0].topics
    ([1.0, 1.0], ('2',))
    """
    ready = matrix if isinstance(matrix, Problem) else problem(matrix, criterion=criterion, scale=scale, top=top)
    archive = Archive(ready, keep=keep, sides=_sides(sides), cardinalities=cardinalities)
    spent = 0.0
    if resume is not None and Path(resume).exists():
        spent = archive.load(resume)
    if known is not None:
        known_values = ready.of_masks(known)
        for side in archive.sides:
            archive.offer(np.full(len(known), side), known, known_values)
    start = time.perf_counter()
    deadline = None if seconds is None else start + seconds
    stopped = _run(archive, search, seed, deadline, progress)
    spent += time.perf_counter() - start
    if resume is not None:
        archive.save(resume, seconds=spent)
    return _result(archive, search, stopped, spent, seed)


def finished(found: SearchResult) -> SearchResult:
    """A search that ran to its end. One that Ctrl-C cut short is no part of a mean: then the whole stops."""
    if found.stopped == "interrupt":
        raise KeyboardInterrupt
    return found


def _run(archive: Archive, names: str, seed: int, deadline: float | None, progress: Progress) -> str:
    """Run the searches in turn; why they stopped early, or nothing."""
    named = names.split("+")
    try:
        for turn, search in enumerate(_turns(named, endless=deadline is not None)):
            rng = np.random.default_rng([seed, turn, archive.evaluations])  # a resumed search takes other ways
            for done, total in search(archive, rng):
                progress(done, total)
                late = deadline is not None and time.perf_counter() > deadline
                if late and (turn >= len(named) or _complete(archive)):
                    return "time"
            if _settled(archive):
                break
    except KeyboardInterrupt:
        if not _complete(archive):
            raise
        return "interrupt"
    return ""


def _turns(names: list[str], *, endless: bool) -> Iterator[Callable[..., Steps]]:
    """The searches named; then, if there is no end, those that gain by it over and over."""
    searches = {name: SEARCHES.bound(name) for name in names}
    yield from [searches[name] for name in names]
    again = []
    for name in names:
        facts = SEARCHES.entry(name).facts
        if "again" in facts:
            again.append(functools.partial(searches[name], **facts["again"]))
    while endless and again:
        yield from again


def _complete(archive: Archive) -> bool:
    """Whether every cell has a set: before that there is nothing to keep."""
    return all(archive.value(*cell) is not None for cell in archive.cells())


def _settled(archive: Archive) -> bool:
    """Whether every cell is proved, so that nothing is left to find."""
    return set(archive.cells()) <= archive.proved | _perfect(archive)


def _result(archive: Archive, name: str, stopped: str, seconds: float, seed: int) -> SearchResult:
    sets: dict[str, dict[int, tuple[Masks, Floats]]] = {}
    proved: dict[str, frozenset[int]] = {}
    proved_cells = archive.proved | _perfect(archive)
    for side_name, side in SIDES.items():
        if side not in archive.sides:
            continue
        proved[side_name] = frozenset(c for proved_side, c in proved_cells if proved_side == side)
        sets[side_name] = {}
        for c in archive.cardinalities:
            masks, _ = archive.sets(side, c)
            if len(masks):
                # values from whole sums, not from increments
                sets[side_name][c] = masks, archive.problem.of_masks(masks)
    return SearchResult(
        problem=archive.problem,
        search=name,
        sets=sets,
        proved=proved,
        cardinalities=archive.cardinalities,
        evaluations=archive.evaluations,
        seconds=seconds,
        stopped=stopped,
        seed=seed,
    )


def _perfect(archive: Archive) -> set[Cell]:
    """Cells whose sets all rank the runs just as all topics do: nothing can be better."""
    perfect_value = 1.0 if archive.problem.higher else 0.0
    perfect = set()
    for side, c in archive.cells():
        _, values = archive.sets(side, c)
        if side == BEST and len(values) and np.abs(values - perfect_value).max() < 1e-12:
            perfect.add((BEST, c))
    return perfect


def _sides(names: tuple[str, ...]) -> tuple[int, ...]:
    for name in names:
        if name not in SIDES:
            raise UsageError(f"no side {name!r}; known: best, worst")
    return tuple(side for name, side in SIDES.items() if name in names)
