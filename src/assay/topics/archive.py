"""The best and worst subsets seen so far, a few distinct ones per cardinality: what every search fills.

Searches change an Archive as they go, so that a search that is stopped keeps what it has found; a file of it lets the
next search go on from there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.io.files import write_whole
from assay.topics.criteria import Numbers
from assay.topics.problem import Masks, Problem

BEST, WORST = 1, -1
SIDES = {"best": BEST, "worst": WORST}
Cell = tuple[int, int]
DIGITS = 12  # values that agree so far are equal: what differs beyond is the noise of floats


class Archive:
    """Up to `keep` distinct subsets per side and cardinality (all, or those named), best (or worst) first.

    Distinct means other topics, not another value. Equal values are ordered by their topics, so that nothing hangs on
    the order in which they were found.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        keep: int = 10,
        sides: tuple[int, ...] = (BEST, WORST),
        cardinalities: tuple[int, ...] = (),
    ) -> None:
        self.problem = problem
        self.cardinalities = sizes(cardinalities, problem.n)
        self._wanted = np.isin(np.arange(problem.n + 1), self.cardinalities)
        self.keep = keep
        self.sides = sides
        self.evaluations = 0
        self.proved: set[Cell] = set()
        self._sets: dict[Cell, dict[bytes, float]] = {cell: {} for cell in self.cells()}
        self._bar = np.full((2, problem.n + 1), -np.inf)
        self._aside: dict[str, list[Any]] = {"sets": [], "proved": []}  # of a file's cells that are not searched here

    def cells(self) -> Iterator[Cell]:
        """(side, cardinality) of every cell."""
        return ((side, c) for side in self.sides for c in self.cardinalities)

    def offer(self, sides: Numbers, masks: Masks, values: Floats) -> None:
        """Take in subsets, each for its side, where they are good enough."""
        sizes = masks.sum(axis=1)
        worthy = self.worthy(sides, sizes, sides * self.problem.goodness(values))
        packed = np.packbits(masks[worthy], axis=1)
        touched: set[Cell] = set()
        for side, size, value, key in zip(sides[worthy], sizes[worthy], values[worthy], packed, strict=True):
            cell = (int(side), int(size))
            self._sets[cell][key.tobytes()] = float(value)
            touched.add(cell)
        for cell in touched:
            self._trim(cell)

    def _trim(self, cell: Cell) -> None:
        side, c = cell
        sign = side if self.problem.higher else -side
        ordered = sorted(self._sets[cell].items(), key=lambda kv: (-sign * round(kv[1], DIGITS), kv[0]))[: self.keep]
        self._sets[cell] = dict(ordered)
        if len(ordered) == self.keep:
            self._bar[int(side < 0), c] = sign * ordered[-1][1] - 10.0**-DIGITS

    def worthy(self, sides: Numbers, sizes: Numbers, merit: Floats) -> Masks:
        """Whether subsets of such sides, sizes and merit would enter, where they are not in yet."""
        return np.asarray((merit >= self._bar[(sides < 0).astype(int), sizes]) & self._wanted[sizes])

    def bar(self, side: int, c: int) -> float:
        """The merit (goodness times side) that a new subset must reach to enter; minus infinity while there is room."""
        return float(self._bar[int(side < 0), c])

    def sets(self, side: int, c: int) -> tuple[Masks, Floats]:
        """Subsets of a cell, best (or worst) first, and their values."""
        found = self._sets.get((side, c), {})
        bits = np.frombuffer(b"".join(found), np.uint8).reshape(len(found), (self.problem.n + 7) // 8)
        return np.unpackbits(bits, axis=1, count=self.problem.n).astype(bool), np.array(list(found.values()))

    def value(self, side: int, c: int) -> float | None:
        """The best (or worst) value of a cell, or None where nothing was found yet."""
        return next(iter(self._sets[side, c].values()), None)

    def save(self, path: str | Path, *, seconds: float) -> None:
        """The archive as a JSON file, whole or not at all."""
        names = {side: name for name, side in SIDES.items()}
        sets = [
            [names[side], c, value, self.problem.names(mask)]
            for side, c in self.cells()
            for mask, value in zip(*self.sets(side, c), strict=True)
        ]
        record = {
            "measure": self.problem.matrix.measure,
            "criterion": self.problem.criterion,
            "fingerprint": fingerprint(self.problem),
            "evaluations": self.evaluations,
            "seconds": seconds,
            "proved": [[names[side], c] for side, c in sorted(self.proved)] + self._aside["proved"],
            "sets": sets + self._aside["sets"],
        }
        write_whole(Path(path), json.dumps(record, indent=1) + "\n")

    def load(self, path: str | Path) -> float:
        """Take in what a file holds; the seconds already spent. Values are computed anew, so a file cannot lie.

        What it holds of other cells is kept aside and saved again.
        """
        record = _record(path)
        if record["fingerprint"] != fingerprint(self.problem):
            raise DataError(f"{path}: made from other scores or another criterion; name another file to start afresh")
        mine: dict[str, list[Any]] = {"sets": [], "proved": []}
        for kind, rows in mine.items():
            for row in record[kind]:
                (rows if (SIDES[row[0]], row[1]) in self._sets else self._aside[kind]).append(row)
        if mine["sets"]:
            masks = np.array([self.problem.mask(row[3]) for row in mine["sets"]])
            self.offer(np.array([SIDES[row[0]] for row in mine["sets"]]), masks, self.problem.of_masks(masks))
        self.proved |= {(SIDES[name], c) for name, c in mine["proved"]}
        self.evaluations += record["evaluations"]
        return float(record["seconds"])


def sizes(cardinalities: tuple[int, ...], n: int) -> tuple[int, ...]:
    """The cardinalities asked for in ascending order, by default 1 … n-1; others are refused.

    >>> sizes((3, 1), 5), sizes((), 4)
    ((1, 3), (1, 2, 3))
    """
    for c in cardinalities:
        if not 1 <= c < n:
            raise UsageError(f"no subsets of {c} topics; there are 1 to {n - 1}")
    return tuple(sorted(set(cardinalities))) or tuple(range(1, n))


def fingerprint(problem: Problem) -> str:
    """A short name of the scores, runs, topics and criterion: two problems share it only if they are the same."""
    told = (problem.criterion, sorted(problem.parameters.items()), problem.matrix.runs, problem.matrix.topics)
    digest = hashlib.sha256(repr((told, problem.unit, problem.link is not None)).encode())
    digest.update(np.ascontiguousarray(problem.units, dtype=np.int64).tobytes())
    return digest.hexdigest()[:16]


def _record(path: str | Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        missing = {"sets", "proved", "fingerprint", "evaluations", "seconds"} - set(record)
    except (ValueError, TypeError):
        missing = {"everything"}
    if missing:
        raise DataError(f"{path}: not a file of a topic search; name another file to start afresh")
    return record
