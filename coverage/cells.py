"""How often is a claim wrong in one cell? Repeats with seeds of their own, in blocks that any engine can take."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple

import numpy as np

from assay.core.engine import chunks, ordered_stream
from assay.core.errors import AssayError
from claims import Limit, Row, loaded
from worlds import Case, NoData

BLOCK = 50
TOLERANCE = 2.6
"""Monte Carlo standard deviations above what is promised at which a cell fails."""
AGAIN = 4


class Task(NamedTuple):
    """Some repeats of one cell."""

    row: str
    world: str
    n: int
    first: int
    last: int


class Tally(NamedTuple):
    """What came out of some repeats: how many there were, how many made a claim, and how wrong these were in all."""

    repeats: int
    made: int
    wrong: float
    squares: float
    seconds: float

    @classmethod
    def summed(cls, parts: Sequence[Tally]) -> Tally:
        """All parts as one, added up in their order."""
        repeats, made, wrong, squares, seconds = (sum(column) for column in zip(*parts, strict=True))
        return cls(int(repeats), int(made), wrong, squares, seconds)


class Cell(NamedTuple):
    """One stored result."""

    row: str
    world: str
    n: int
    declared: str
    tally: Tally

    @property
    def error(self) -> float:
        """How often the claims that were made were wrong; NaN if none was made."""
        return self.tally.wrong / self.tally.made if self.tally.made else math.nan

    def deviation(self, nominal: float) -> float:
        """Monte Carlo standard deviation of the error if the claim holds exactly."""
        made, wrong, squares = self.tally.made, self.tally.wrong, self.tally.squares
        if not made:
            return math.nan
        is_share = abs(squares - wrong) > 1e-9  # several claims a repeat: their shares vary as they do
        variance = max(0.0, squares / made - self.error**2) if is_share else nominal * (1 - nominal)
        return math.sqrt(variance / made)

    def fails(self, row: Row) -> bool:
        """Whether the claim was wrong more often than is promised and than chance explains."""
        return self.error > row.nominal + TOLERANCE * self.deviation(row.nominal)

    def limit(self, row: Row) -> Limit | None:
        """The limit that names this cell, if it fails by design."""
        return next((limit for limit in row.limits if limit.covers(self.world, self.n, self.error)), None)


def tallied(task: Task) -> Tally | None:
    """The repeats of a task, each with a generator of its own, so that no order matters; None without its data."""
    row = loaded()[task.row]
    name = f"{task.row}/{task.world}/{task.n}"
    own = int.from_bytes(sha256(name.encode()).digest()[:8], "big")
    outcomes: list[float] = []
    start = time.process_time()
    for repeat in range(task.first, task.last):
        case = Case(task.world, task.n, np.random.default_rng([own, repeat]))
        try:
            outcome = _outcome(row, case)
        except NoData:
            return None
        if outcome is not None:
            outcomes.append(float(outcome))
    used = time.process_time() - start
    squares = sum(outcome**2 for outcome in outcomes)
    return Tally(task.last - task.first, len(outcomes), math.fsum(outcomes), squares, used)


def _outcome(row: Row, case: Case) -> float | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return row.wrong(case)
        except AssayError:
            return None  # it says that this cannot be known, which is no claim


def measured(row: Row, cells: list[tuple[str, int]], repeats: int, jobs: int = 1) -> Iterator[Cell]:
    """The cells of a row, one after the other, by the engine that is chosen; cells without their data are left out.

    Of a thousand cells some come out too high by chance. One that fails is measured once more, with AGAIN times as many
    other repeats, and these alone count.
    """
    for cell in _measured(row, cells, range(repeats), jobs):
        if cell.fails(row) and cell.limit(row) is None:
            yield from _measured(row, [(cell.world, cell.n)], range(repeats, (1 + AGAIN) * repeats), jobs)
        else:
            yield cell


def _measured(row: Row, cells: list[tuple[str, int]], repeats: range, jobs: int) -> Iterator[Cell]:
    """The cells of a row, with the repeats of these numbers."""
    parts_of_cell = [repeats[part] for part in chunks(len(repeats), BLOCK)]
    tasks = [Task(row.name, world, n, part.start, part.stop) for world, n in cells for part in parts_of_cell]
    tallies = ordered_stream(tallied, tasks, jobs=jobs)
    of_tasks = zip(tasks, tallies, strict=True)
    for (world, n), own in groupby(of_tasks, key=lambda pair: (pair[0].world, pair[0].n)):
        parts = [tally for _, tally in own]
        found = [tally for tally in parts if tally is not None]
        if len(found) == len(parts):
            yield Cell(row.name, world, n, row.declared, Tally.summed(found))
