"""What one table or figure of a work says, and what comes out here: a verdict and, where it differs, the reason."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reproduction.places import Work

ROOT = Path(__file__).resolve().parent.parent
AS_PRINTED = "as printed"
DIFFERS = "differs"
MISSING = "cannot be had"
VERDICTS = (AS_PRINTED, DIFFERS, MISSING)
RANDOM = "both rest on random draws, and differ by no more than chance"


@dataclass(frozen=True)
class Line:
    """One number or statement: as the work prints it, as it comes out here, and the verdict."""

    what: str
    printed: str
    ours: str
    verdict: str
    because: str = ""


@dataclass(frozen=True)
class Item:
    """One table or figure: what it shows, the command that makes it here, and the function that gives its lines."""

    work: Work
    place: str
    title: str
    command: str
    lines: Callable[[], Iterable[Line]]
    needs: tuple[str, ...] = ()
    """Folders of the real data."""
    slow: bool = False
    """Takes more than some seconds: `make reproduce` makes it, the tests leave it alone."""

    @property
    def key(self) -> str:
        """How tests and the page call the item."""
        return f"{self.work.name}, {self.place}"

    def made(self) -> list[Line]:
        """Its lines, or one that says which data are not here."""
        absent = [name for name in self.needs if not (data_folder() / name).exists()]
        if absent:
            raise FileNotFoundError(f"{self.key}: no folder {absent[0]!r} in {data_folder().name}; set ASSAY_DATA")
        return list(self.lines())


ITEMS: list[Item] = []


def data_folder() -> Path:
    """Where the real data lie."""
    return Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))


def reproduces(
    work: Work, place: str, title: str, *, command: str, needs: Iterable[str] = (), slow: bool = False
) -> Callable[[Callable[[], Iterator[Line]]], Callable[[], Iterator[Line]]]:
    """Register a function that yields the lines of a table or figure (or of a section, for numbers in the text).

    command: what a person types to see the numbers; several lines are several commands.
    """

    def register(function: Callable[[], Iterator[Line]]) -> Callable[[], Iterator[Line]]:
        ITEMS.append(Item(work, place, title, command, function, tuple(needs), slow))
        return function

    return register


def cannot_be_had(work: Work, places: str | Iterable[str], title: str, because: str) -> None:
    """Register tables or figures that public data do not allow, or that hold nothing to compute, with the reason."""
    for place in [places] if isinstance(places, str) else places:
        line = Line("all of it", "–", "–", MISSING, because)
        ITEMS.append(Item(work, place, title, "", lambda line=line: [line]))  # type: ignore[misc]


def line(what: str, printed: str, ours: float, *, because: str = "") -> Line:
    """A number: as printed if ours, rounded to the printed digits, is what the work prints; else it needs a reason.

    printed: as in the work, e.g. ".048", "186", "54 %", "1,234". A reason for a number that is as printed is an
    error: it is out of date.
    """
    is_as_printed = _rounds_to(ours, printed)
    if is_as_printed:
        return judged(what, printed, printed, is_as_printed, because=because)
    whole = float(ours).is_integer() and not _digits(printed)
    shown = f"{ours:,.0f}" if whole else f"{ours:,.{_digits(printed) + 1}f}"
    if _plain(printed).startswith((".", "-.")):
        shown = shown.replace("0.", ".", 1)
    if printed.endswith("%"):
        shown += " %"
    return judged(what, printed, shown.replace("-", "−"), is_as_printed, because=because)


def _plain(printed: str) -> str:
    """A printed number as Python reads it."""
    return printed.replace(",", "").replace("−", "-").removesuffix("%").strip()


def _number(printed: str) -> float:
    return float(_plain(printed))


def _digits(printed: str) -> int:
    """Decimals of a printed number."""
    return len(_plain(printed).partition(".")[2])


def _rounds_to(ours: float, printed: str) -> bool:
    """A half may have been rounded either way, and binary fractions are not exactly on it."""
    half = 0.5 * 10 ** -_digits(printed)
    return abs(ours - _number(printed)) <= half * (1 + 1e-9)


def cell(what: str, printed: str, ours: float, otherwise: str) -> Line:
    """A number of a table whose numbers differ, where they do, for one reason."""
    return line(what, printed, ours, because="" if _rounds_to(ours, printed) else otherwise)


def drawn(what: str, printed: str, ours: float, error: float, *, because: str = RANDOM) -> Line:
    """A number from random draws: as printed, or differs by no more than chance allows, which is an error otherwise.

    error: standard error of the difference between the printed study and ours.
    """
    if abs(ours - _number(printed)) > 4 * error + 0.5 * 10 ** -_digits(printed):
        raise ValueError(f"{what}: printed {printed}, ours {ours}, standard error {error}: more than chance")
    return cell(what, printed, ours, because)


def missing(what: str, printed: str, because: str) -> Line:
    """A number of a table that public data do not allow, beside others that they do."""
    return Line(what, printed, "–", MISSING, because)


def statement(what: str, printed: str, ours: str, holds: bool, *, because: str = "") -> Line:
    """A statement of a text or of a figure without numbers: as printed if it holds here, else it needs a reason."""
    return judged(what, printed, ours, holds, because=because)


def judged(what: str, printed: str, ours: str, is_as_printed: bool, *, because: str = "") -> Line:
    """A line with its verdict; what differs says why, and what does not differ has nothing to explain."""
    if not is_as_printed and not because:
        raise ValueError(f"{what}: printed {printed}, ours {ours}; what differs needs a reason")
    if is_as_printed and because:
        raise ValueError(f"{what}: ours is as printed ({printed}); the reason {because!r} is out of date")
    return Line(what, printed, ours, AS_PRINTED if is_as_printed else DIFFERS, because)
