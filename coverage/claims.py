"""What does assay claim, and when is a claim wrong? One Row for each claim, in the files `rows_*.py` of this folder."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from assay.version import __version__
from worlds import Case

HERE = Path(__file__).parent
KINDS = ("interval", "p", "set", "verdict", "rank", "probability", "power")
SIZES = (5, 10, 25, 50, 100)
FEW = (10, 50)
WORLDS = ("normal", "skewed", "0/1", "sparse")
FAMILY_WORLDS = (*WORLDS, "uneven")
THIRDS = tuple(f"{world}, a third better" for world in FAMILY_WORLDS)
QUICK = 5.0
"""Milliseconds: a call that takes at most this is repeated MANY times, a slower one SOME times."""
MANY, SOME = 2000, 400
SLACK = 1e-9

Wrong = Callable[[Case], float | None]


@dataclass(frozen=True)
class Limit:
    """Where a claim is known to fail, and how the output says it; beyond `at_most` it fails all the same."""

    says: str
    at_most: float
    worlds: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()

    def covers(self, world: str, n: int, error: float) -> bool:
        """Whether the cell is named here; no worlds or no sizes are all of them."""
        named = (not self.worlds or world in self.worlds) and (not self.sizes or n in self.sizes)
        return named and error <= self.at_most


@dataclass(frozen=True)
class Row:
    """One claim: what is promised, the library function that makes it, and the worlds in which it is tried.

    wrong: one repeat. It draws a case with known truth, calls the function, and says how wrong the claim was: 1 or 0,
    or a share of several claims; None where the function claims nothing. An error of assay is a refusal to claim.
    """

    name: str
    area: str
    kind: str
    unit: str
    calls: tuple[str, ...]
    promises: str
    nominal: float
    wrong: Wrong
    ms: float
    entries: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    worlds: tuple[str, ...] = WORLDS
    sizes: tuple[int, ...] = SIZES
    real: tuple[str, ...] = ()
    real_sizes: tuple[int, ...] = FEW
    limits: tuple[Limit, ...] = ()

    @property
    def repeats(self) -> int:
        """How often each cell is tried."""
        return MANY if self.ms <= QUICK else SOME

    @property
    def cells(self) -> list[tuple[str, int]]:
        """World and number of units of every cell, known truth first."""
        some = [n for n in self.sizes if n in FEW]
        known = [(world, n) for world in self.worlds for n in (some if world in THIRDS else self.sizes)]
        return known + [(world, n) for world in self.real for n in self.real_sizes]

    @property
    def seconds(self) -> float:
        """CPU seconds that the whole row takes."""
        return self.ms / 1000 * self.repeats * len(self.cells)

    @property
    def declared(self) -> str:
        """A hash of the declaration, of the lines of `wrong` and of the version: what stored results rest on."""
        own = {key: value for key, value in vars(self).items() if key not in ("wrong", "limits", "ms", "promises")}
        text = repr((own, inspect.getsource(self.wrong), __version__))
        return sha256(text.encode()).hexdigest()[:12]


def outside(low: float, truth: float, high: float) -> bool:
    """Whether an interval leaves out the truth; ends that touch it contain it."""
    return not low - SLACK <= truth <= high + SLACK


ROWS: dict[str, Row] = {}


def area(title: str) -> Callable[..., Callable[[Wrong], Wrong]]:
    """A decorator for the claims of one area: `claim = area("Comparing runs")`, then `@claim("…", kind=…, …)`."""

    def claim(name: str, **declared: object) -> Callable[[Wrong], Wrong]:
        def add(wrong: Wrong) -> Wrong:
            row = Row(name=name, area=title, wrong=wrong, **declared)  # type: ignore[arg-type]
            if name in ROWS or row.kind not in KINDS:
                raise ValueError(f"{name}: declared twice, or of no known kind")
            ROWS[name] = row
            return wrong

        return add

    return claim


@functools.cache
def loaded() -> dict[str, Row]:
    """Every row by its name, in the order of files and lines."""
    for path in sorted(HERE.glob("rows_*.py")):
        importlib.import_module(path.stem)
    return ROWS


def chosen(rows: str = "", only: str = "") -> list[Row]:
    """The rows of these files (`stats,board`) whose name contains `only`."""
    files = {f"rows_{name.strip()}" for name in rows.split(",") if name.strip()}
    return [
        row
        for row in loaded().values()
        if (not files or row.wrong.__module__ in files) and only.lower() in row.name.lower()
    ]
