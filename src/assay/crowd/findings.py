"""What is odd in a labels file, with line numbers: before anybody aggregates it.

Labels outside the scale, a worker twice on a doc, docs and workers with a single label. Nothing is repaired or dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.agreement.ratings import repeated
from assay.agreement.scales import Scale
from assay.core.tables import Table
from assay.data import Labels

SHOWN = 8
TWICE = "same worker twice on a doc"


@dataclass(frozen=True)
class Finding:
    """One kind of oddity: how many rows, their lines, and what it means."""

    problem: str
    lines: tuple[int, ...]
    what: str

    def row(self) -> tuple[str, int, str, str]:
        """Problem, count, the first lines, meaning."""
        first = ", ".join(map(str, self.lines[:SHOWN]))
        more = ", …" if len(self.lines) > SHOWN else ""
        return self.problem, len(self.lines), first + more, self.what


def findings(labels: Labels, *, scale: Scale) -> list[Finding]:
    """All oddities of the labels; an empty list if there is none. Rows are named by line, or from 1 without lines."""
    item, _ = labels.items()
    per_doc = np.bincount(item)[item]
    per_worker = np.bincount(labels.worker)[labels.worker]
    on_scale = f"the scale is {scale.name}: {scale.described()}"
    kinds = (
        ("label outside the scale", scale.outside(labels.label), on_scale),
        (TWICE, repeated(labels), "all count unless repeats=first or last is chosen"),
        ("doc with one label", per_doc == 1, "nothing shows how sure its grade is"),
        ("worker with one label", per_worker == 1, "nothing can be said about the worker"),
    )
    found = []
    for problem, rows, what in kinds:
        if rows.any():
            found.append(Finding(problem, _lines(labels, rows), what))
    return found


def repeats_remark(labels: Labels, *, scale: Scale, counted: str) -> str | None:
    """A sentence on workers who labelled a doc more than once: how often, on which lines, and what is counted."""
    repeats = next((finding for finding in findings(labels, scale=scale) if finding.problem == TWICE), None)
    if repeats is None:
        return None
    _, count, lines, _ = repeats.row()
    return f"{TWICE}, {count} labels (lines {lines}): {counted}"


def _lines(labels: Labels, rows: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """The lines of these rows in their file, or their numbers from 1."""
    places = np.flatnonzero(rows)
    numbers = places + 1 if labels.lines is None else labels.lines[places]
    return tuple(numbers.tolist())


def findings_table(found: list[Finding]) -> Table:
    """One row per kind of oddity."""
    formats = {"problem": "", "rows": "d", "lines": "", "what it means": ""}
    rows = [finding.row() for finding in found]
    notes = () if found else ("Nothing odd was found.",)
    return Table.of(formats, rows, caption="What is odd in the file", notes=notes)
