"""What was found: every oddity with its place, and of many files the kinds of oddities with the worst file of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.core.results import Result
from assay.core.tables import Table

SHOWN = 5
"""Findings of one kind that are listed by line; the rest are counted."""
FEW_FILES = 10
"""Of more files than this a person is shown the kinds of findings first, not every finding."""
LEVELS = ("error", "remark")


@dataclass(frozen=True)
class Finding:
    """One thing that is odd: an error that keeps the file from being scored, or a remark."""

    where: str
    line: int | None
    level: str
    what: str
    kind: str = "other"
    """What it is called among the findings of many files."""
    amount: float = 1
    """How much of it there is: lines, docs, topics, or per cent."""

    def place(self) -> str:
        """The file, with the line where there is one."""
        return f"{self.where}:{self.line}" if self.line else self.where


@dataclass(frozen=True)
class Findings(Result):
    """All that is odd in some files, and how far the order of tied docs could move the scores of their runs."""

    found: tuple[Finding, ...]
    ties: Table = field(default_factory=lambda: ties_table(()))

    @property
    def errors(self) -> int:
        """How many of them are errors."""
        return sum(f.level == "error" for f in self.found)

    @property
    def files(self) -> int:
        """How many files have something odd."""
        return len({f.where for f in self.found})

    def table(self) -> Table:
        """One row per finding."""
        rows = [(f.place(), f.level, f.what) for f in self.found]
        return Table.of({"where": "", "level": "", "what": ""}, rows, notes=["", self._counts()])

    def tables(self) -> list[Table]:
        """The findings, and the table of ties where there are any."""
        return [self.table(), *([self.ties] if self.ties.rows else [])]

    def shown(self, *, every: bool = False) -> list[Table]:
        """What a person is shown: all of it, or of more than FEW_FILES files the summary and the worst of it."""
        if every or self.files <= FEW_FILES:
            return self.tables()
        return [self.summary(), *self._worst_errors(), *self._worst_ties()]

    def summary(self) -> Table:
        """One row per kind of finding: how many files have it, and the file with most of it."""
        rows = []
        for level in LEVELS:
            of_level = [f for f in self.found if f.level == level]
            for kind in dict.fromkeys(f.kind for f in of_level):
                rows.append((level, kind, *_spread([f for f in of_level if f.kind == kind])))
        columns = {"level": "", "kind": "", "files": "d", "worst": "", "there": ""}
        caption = f"What is odd in {self.files} files"
        return Table.of(columns, rows, caption=caption, notes=[f"{self._counts()}; --all shows every one"])

    def _worst_errors(self) -> list[Table]:
        """The first errors, at most SHOWN; none where there are none."""
        errors = [f for f in self.found if f.level == "error"]
        if not errors:
            return []
        rows = [(f.place(), f.what) for f in errors[:SHOWN]]
        return [Table.of({"where": "", "what": ""}, rows, caption=_first(len(rows), len(errors), "errors"))]

    def _worst_ties(self) -> list[Table]:
        """The scores that the order of tied docs could move most."""
        if not self.ties.rows:
            return []
        by_move = sorted(self.ties.rows, key=lambda row: -float(row[-1]))
        caption = _first(min(SHOWN, len(by_move)), len(by_move), "scores that ties could move, the most first")
        return [replace(self.ties, rows=tuple(by_move[:SHOWN]), caption=caption)]

    def _counts(self) -> str:
        return f"{self.errors} errors, {len(self.found) - self.errors} remarks"

    def record(self) -> dict[str, Any]:
        """As of every result, with the number of errors and of remarks."""
        return {**super().record(), "errors": self.errors, "remarks": len(self.found) - self.errors}


def _spread(of_kind: Sequence[Finding]) -> tuple[int, str, str]:
    """How many files have findings of one kind, the file with most of it, and what is said of that file."""
    amounts: dict[str, float] = {}
    for finding in of_kind:
        amounts[finding.where] = amounts.get(finding.where, 0) + finding.amount
    worst = max(amounts, key=lambda where: amounts[where])
    there = [finding for finding in of_kind if finding.where == worst]
    said = there[0].what
    if len(there) > 1:
        said = f"{amounts[worst]:g} lines; the first, line {there[0].line}: {said}"
    return len(amounts), worst, said


def _first(shown: int, all_of_them: int, what: str) -> str:
    return f"{shown} of {all_of_them} {what}; --all shows the rest" if shown < all_of_them else what.capitalize()


def ties_table(rows: Sequence[Sequence[object]], binary_from: float | None = None) -> Table:
    """The table of tie sensitivity; binary_from: the grade from which on judgments were made binary, if they were."""
    formats = {"run": "", "measure": "", "mean": ".4f", "worst order": ".4f", "best order": ".4f", "could move": ".4f"}
    note = "mean: ties by doc id; worst and best: over all orders of docs of equal score"
    notes = [note] if binary_from is None else [note, f"judgments: binary, relevant from grade {binary_from:g} on"]
    return Table.of(formats, rows, caption="Tie sensitivity", notes=notes)
