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
        more = ", …" if len(self.lines) > SHOWN else ""
        return self.problem, len(self.lines), ", ".join(map(str, self.lines[:SHOWN])) + more, self.what


def findings(labels: Labels, *, scale: Scale) -> list[Finding]:
    """All oddities of the labels; an empty list if there is none. Rows are named by line, or from 1 without lines."""
    item, _ = labels.items()
    per_doc, per_worker = np.bincount(item)[item], np.bincount(labels.worker)[labels.worker]
    kinds = (
        ("label outside the scale", scale.outside(labels.label), f"the scale is {scale.name}: {scale.described()}"),
        (TWICE, repeated(labels), "all count unless repeats=first or last is chosen"),
        ("doc with one label", per_doc == 1, "nothing shows how sure its grade is"),
        ("worker with one label", per_worker == 1, "nothing can be said about the worker"),
    )
    return [Finding(name, _lines(labels, rows), what) for name, rows, what in kinds if rows.any()]


def _lines(labels: Labels, rows: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    places = np.flatnonzero(rows)
    return tuple((places + 1 if labels.lines is None else labels.lines[places]).tolist())


def findings_table(found: list[Finding]) -> Table:
    """One row per kind of oddity."""
    formats = {"problem": "", "rows": "d", "lines": "", "what it means": ""}
    notes = () if found else ("Nothing odd was found.",)
    return Table.of(formats, [f.row() for f in found], caption="What is odd in the file", notes=notes)
