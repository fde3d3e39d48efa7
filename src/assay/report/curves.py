"""Curves over ranks that the report computes and draws: precision over recall, and how far two lists agree by depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.report.figure import Figure, drawn, rows_of
from assay.report.figures import draws
from assay.report.figures.similarity import with_band
from assay.report.shapes import amount, lines
from assay.scoring import Aligned

if TYPE_CHECKING:
    from assay.data import Run

RECALLS = tuple(i / 10 for i in range(11))
MOST_LINES = 8
"""More lines than this cannot be told apart."""


@dataclass(frozen=True, eq=False)
class RecallPrecision(Result):
    """Interpolated precision at eleven levels of recall, mean over topics: runs × levels."""

    runs: tuple[str, ...]
    precision: Floats
    topics: int

    def table(self) -> Table:
        """One row per run."""
        rows = [(run, *row) for run, row in zip(self.runs, self.precision, strict=True)]
        columns = {"run": "", **{f"{r:.1f}": ".4f" for r in RECALLS}}
        note = f"mean over {self.topics} topics of the highest precision at that recall or beyond"
        return Table.of(columns, rows, caption="Interpolated precision by recall", notes=[note])


def recall_precision(aligned: Aligned) -> RecallPrecision:
    """The recall-precision curve of each aligned run.

    >>> from assay.data import Qrels, Run
    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 1}})
    >>> found = recall_precision(Aligned.of([Run.from_lists("r", {"1": ["a", "b", "c"]})], qrels))
    >>> found.precision[0, [0, 5, 10]].round(3).tolist()
    [1.0, 1.0, 0.667]
    """
    found = aligned.scores([f"IPrec(recall={r:g})" for r in RECALLS])
    return RecallPrecision(found.runs, np.stack([m.means() for m in found], axis=1), len(found.topics))


@draws("report.RecallPrecision")
def recall_precision_curves(result: RecallPrecision) -> Figure:
    """One curve per run, for the eight runs with the largest area."""
    order = np.argsort(-result.precision.mean(axis=1), kind="stable")[:MOST_LINES]
    shown = [result.runs[i] for i in order]
    rows = [
        {"run": result.runs[i], **row} for i in order for row in rows_of(recall=RECALLS, precision=result.precision[i])
    ]
    x = amount("X", "recall", "recall", domain=(0, 1))
    y = amount("Y", "precision", "interpolated precision", domain=(0, 1))
    tip = [("run", "run", ""), ("recall", "recall", ".1f"), ("precision", "precision", ".4f")]
    made = lines(x, y, series="run", order=shown, tip=tip).properties(height=320)
    some = f"{len(shown)} of {len(result.runs)} runs" if len(shown) < len(result.runs) else f"{len(shown)} runs"
    said = f"{shown[0]} starts at {result.precision[order[0], 0]:.3f} and ends at {result.precision[order[0], -1]:.3f}."
    title = f"Precision over recall, {some}, mean of {result.topics} topics"
    return drawn(made, name="recall-precision", title=title, description=said, rows=rows)


@dataclass(frozen=True, eq=False)
class OverlapByDepth(Result):
    """RBO of two runs when both lists are cut at each depth, mean over topics: EXT and its bounds MIN and MAX."""

    runs: tuple[str, str]
    depths: tuple[int, ...]
    ext: Floats
    low: Floats
    high: Floats
    p: float
    topics: int

    def table(self) -> Table:
        """One row per depth."""
        rows = list(zip(self.depths, self.ext, self.low, self.high, strict=True))
        caption = f"RBO of {self.runs[0]} and {self.runs[1]} by depth"
        note = f"p = {self.p:g}, mean over {self.topics} topics; MIN and MAX bound what deeper lists could give"
        return Table.of({"depth": "d", "EXT": ".4f", "MIN": ".4f", "MAX": ".4f"}, rows, caption=caption, notes=[note])


def overlap_by_depth(a: Run, b: Run, *, p: float = 0.9, depths: Sequence[int] | None = None) -> OverlapByDepth:
    """RBO of two runs cut at each depth (by default 1 … 100, spaced); Webber, Moffat & Zobel 2010."""
    from assay.similarity.by_topic import compare_runs

    longest = int(max(np.diff(r.bounds).max(initial=1) for r in (a, b)))
    chosen = tuple(depths) if depths else tuple(d for d in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100) if d <= longest)
    if not chosen or min(chosen) < 1:
        raise UsageError(f"depths must be at least 1 (got {list(chosen)})")
    found = [compare_runs(a, b, p=p, depth=d) for d in chosen]
    means = [f.mean() for f in found]
    ext, low, high = (np.array([getattr(m, s) for m in means]) for s in ("ext", "min", "max"))
    return OverlapByDepth((a.name, b.name), chosen, ext, low, high, p, len(found[0].topics))


@draws("report.OverlapByDepth")
def overlap_curve(result: OverlapByDepth) -> Figure:
    """EXT over depth within the band from MIN to MAX."""
    rows = rows_of(depth=result.depths, ext=result.ext, low=result.low, high=result.high)
    title = f"RBO of {result.runs[0]} and {result.runs[1]} by depth, p = {result.p:g}"
    said = f"At depth {result.depths[-1]} EXT is {result.ext[-1]:.3f} [{result.low[-1]:.3f}, {result.high[-1]:.3f}]."
    return with_band(rows, ("depth", "depth of the lists, docs"), title, said, "overlap-by-depth", log=True)
