"""The best and worst subsets seen so far, a few distinct ones per cardinality: what every search fills.

Searches change an Archive as they go, so that a search that is stopped keeps what it has found; a file of it lets the
next search continue from there.
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

    Distinct means other topics, not another value. Equal values are ordered by their topics, so that the order in which
    they were found does not matter.
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
        self.keep = keep
        self.sides = sides
        self.evaluations = 0
        self.proved: set[Cell] = set()
        every_size = np.arange(problem.n + 1)
        self._wanted = np.isin(every_size, self.cardinalities)
        # The merit that a new subset must reach, sides × sizes.
        self._bar = np.full((2, len(every_size)), -np.inf)
        # The value of each subset of a cell, by its topics as packed bits.
        self._sets: dict[Cell, dict[bytes, float]] = {cell: {} for cell in self.cells()}
        # What a file holds of cells that are not searched here.
        self._aside: dict[str, list[Any]] = {"sets": [], "proved": []}

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
        """Keep the first few sets of a cell, and remember what a better one must reach."""
        side, size = cell
        sign = side if self.problem.higher else -side

        def place(entry: tuple[bytes, float]) -> tuple[float, bytes]:
            topics, value = entry
            rounded = round(value, DIGITS)
            return -sign * rounded, topics

        best_first = sorted(self._sets[cell].items(), key=place)
        kept = best_first[: self.keep]
        self._sets[cell] = dict(kept)
        if len(kept) == self.keep:
            _, last_value = kept[-1]
            self._bar[int(side < 0), size] = sign * last_value - 10.0**-DIGITS

    def worthy(self, sides: Numbers, sizes: Numbers, merit: Floats) -> Masks:
        """Whether subsets of such sides, sizes and merit would enter, where they are not in yet."""
        row = (sides < 0).astype(int)
        good_enough = merit >= self._bar[row, sizes]
        return np.asarray(good_enough & self._wanted[sizes])

    def bar(self, side: int, c: int) -> float:
        """The merit (goodness times side) that a new subset must reach to enter; minus infinity while there is room."""
        return float(self._bar[int(side < 0), c])

    def sets(self, side: int, c: int) -> tuple[Masks, Floats]:
        """Subsets of a cell, best (or worst) first, and their values."""
        sets = self._sets.get((side, c), {})
        bytes_of_set = (self.problem.n + 7) // 8
        packed = np.frombuffer(b"".join(sets), np.uint8)
        rows = packed.reshape(len(sets), bytes_of_set)
        masks = np.unpackbits(rows, axis=1, count=self.problem.n).astype(bool)
        values = np.array(list(sets.values()))
        return masks, values

    def value(self, side: int, c: int) -> float | None:
        """The best (or worst) value of a cell, or None where nothing was found yet."""
        return next(iter(self._sets[side, c].values()), None)

    def save(self, path: str | Path, *, seconds: float) -> None:
        """The archive as a JSON file, whole or not at all."""
        names = {side: name for name, side in SIDES.items()}
        sets = []
        for side, c in self.cells():
            masks, values = self.sets(side, c)
            for mask, value in zip(masks, values, strict=True):
                sets.append([names[side], c, value, self.problem.names(mask)])
        proved = [[names[side], c] for side, c in sorted(self.proved)]
        record = {
            "measure": self.problem.matrix.measure,
            "criterion": self.problem.criterion,
            "fingerprint": fingerprint(self.problem),
            "evaluations": self.evaluations,
            "seconds": seconds,
            "proved": proved + self._aside["proved"],
            "sets": sets + self._aside["sets"],
        }
        write_whole(Path(path), json.dumps(record, indent=1) + "\n", again=True)

    def load(self, path: str | Path) -> float:
        """Take in what a file holds; the seconds already spent. Values are computed anew, so a file cannot lie.

        What it holds of other cells is kept aside and saved again.
        """
        record = _record(path)
        if record["fingerprint"] != fingerprint(self.problem):
            raise DataError(f"{path}: made from other scores or another criterion; name another file to start afresh")
        sides = []
        masks = []
        for row in record["sets"]:
            name, c, _, topics = row
            if (SIDES[name], c) in self._sets:
                sides.append(SIDES[name])
                masks.append(self.problem.mask(topics))
            else:
                self._aside["sets"].append(row)
        if masks:
            self.offer(np.array(sides), np.array(masks), self.problem.of_masks(np.array(masks)))
        for row in record["proved"]:
            name, c = row
            if (SIDES[name], c) in self._sets:
                self.proved.add((SIDES[name], c))
            else:
                self._aside["proved"].append(row)
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
    parameters = sorted(problem.parameters.items())
    question = (problem.criterion, parameters, problem.matrix.runs, problem.matrix.topics)
    has_link = problem.link is not None
    described = repr((question, problem.unit, has_link))
    scores = np.ascontiguousarray(problem.units, dtype=np.int64)
    digest = hashlib.sha256(described.encode())
    digest.update(scores.tobytes())
    if problem.truth is not None:
        digest.update(np.ascontiguousarray(problem.full, dtype=np.float64).tobytes())
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
