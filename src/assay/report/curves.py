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
from assay.similarity.by_topic import RBO_KEYS

if TYPE_CHECKING:
    from assay.data import Run

RECALLS = tuple(i / 10 for i in range(11))
MOST_LINES = 8
"""A reader cannot follow more lines than this."""
USUAL_DEPTHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)


@dataclass(frozen=True, eq=False)
class RecallPrecision(Result):
    """Interpolated precision at eleven levels of recall, mean over topics: runs × levels."""

    runs: tuple[str, ...]
    precision: Floats
    topics: int

    def table(self) -> Table:
        """One row per run."""
        columns = {"run": ""}
        for recall in RECALLS:
            columns[f"{recall:.1f}"] = ".4f"
        rows = []
        for run, precision in zip(self.runs, self.precision, strict=True):
            rows.append((run, *precision))
        note = f"mean over {self.topics} topics of the highest precision at that recall or beyond"
        return Table.of(columns, rows, caption="Interpolated precision by recall", notes=[note])


def recall_precision(aligned: Aligned) -> RecallPrecision:
    """The recall-precision curve of each aligned run.

    >>> from assay.data import Qrels, Run
    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 1}})
    >>> curve = recall_precision(Aligned.of([Run.from_lists("r", {"1": ["a", "b", "c"]})], qrels))
    >>> curve.precision[0, [0, 5, 10]].round(3).tolist()
    [1.0, 1.0, 0.667]
    """
    measures = [f"IPrec(recall={recall:g})" for recall in RECALLS]
    scores = aligned.scores(measures)
    precision = np.stack([matrix.averages() for matrix in scores], axis=1)
    return RecallPrecision(scores.runs, precision, len(scores.topics))


@draws("report.RecallPrecision")
def recall_precision_curves(result: RecallPrecision) -> Figure:
    """One curve per run, for the eight runs with the largest area."""
    area = result.precision.mean(axis=1)
    largest_first = np.argsort(-area, kind="stable")
    order = largest_first[:MOST_LINES]
    shown = [result.runs[i] for i in order]
    rows = []
    for i in order:
        run = result.runs[i]
        curve = rows_of(recall=RECALLS, precision=result.precision[i])
        rows += [{"run": run, **point} for point in curve]

    x = amount("X", "recall", "recall", domain=(0, 1))
    y = amount("Y", "precision", "interpolated precision", domain=(0, 1))
    tip = [
        ("run", "run", ""),
        ("recall", "recall", ".1f"),
        ("precision", "precision", ".4f"),
    ]
    made = lines(x, y, series="run", order=shown, tip=tip)

    count = f"{len(shown)} runs"
    if len(shown) < len(result.runs):
        count = f"{len(shown)} of {len(result.runs)} runs"
    title = f"Precision over recall, {count}, mean of {result.topics} topics"
    first, *_, last = result.precision[order[0]]
    said = f"{shown[0]} starts at {first:.3f} and ends at {last:.3f}."
    return drawn(
        made.properties(height=320),
        name="recall-precision",
        title=title,
        description=said,
        rows=rows,
    )


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
        columns = {"depth": "d", "EXT": ".4f", "MIN": ".4f", "MAX": ".4f"}
        rows = zip(self.depths, self.ext, self.low, self.high, strict=True)
        first, second = self.runs
        caption = f"RBO of {first} and {second} by depth"
        note = f"p = {self.p:g}, mean over {self.topics} topics; MIN and MAX bound what deeper lists could give"
        return Table.of(columns, rows, caption=caption, notes=[note], keys=RBO_KEYS)


def overlap_by_depth(a: Run, b: Run, *, p: float = 0.9, depths: Sequence[int] | None = None) -> OverlapByDepth:
    """RBO of two runs cut at each depth (by default 1 … 100, spaced); Webber, Moffat & Zobel 2010."""
    from assay.similarity.by_topic import compare_runs

    chosen = tuple(depths) if depths else _usual_depths(a, b)
    if not chosen or min(chosen) < 1:
        raise UsageError(f"depths must be at least 1 (got {list(chosen)})")
    by_depth = []
    for depth in chosen:
        by_depth.append(compare_runs(a, b, p=p, depth=depth))
    means = [similarity.mean() for similarity in by_depth]
    return OverlapByDepth(
        runs=(a.name, b.name),
        depths=chosen,
        ext=np.array([mean.ext for mean in means]),
        low=np.array([mean.min for mean in means]),
        high=np.array([mean.max for mean in means]),
        p=p,
        topics=len(by_depth[0].topics),
    )


def _usual_depths(a: Run, b: Run) -> tuple[int, ...]:
    """The usual depths that at least one list reaches."""
    longest_of_a = a.sizes.max(initial=1)
    longest_of_b = b.sizes.max(initial=1)
    longest = max(longest_of_a, longest_of_b)
    return tuple(depth for depth in USUAL_DEPTHS if depth <= longest)


@draws("report.OverlapByDepth")
def overlap_curve(result: OverlapByDepth) -> Figure:
    """EXT over depth within the band from MIN to MAX."""
    rows = rows_of(
        depth=result.depths,
        ext=result.ext,
        low=result.low,
        high=result.high,
    )
    first, second = result.runs
    title = f"RBO of {first} and {second} by depth, p = {result.p:g}"
    depth = result.depths[-1]
    ext = result.ext[-1]
    low = result.low[-1]
    high = result.high[-1]
    said = f"At depth {depth} EXT is {ext:.3f} [{low:.3f}, {high:.3f}]."
    across = ("depth", "depth of the lists, docs")
    return with_band(rows, across, title, said, "overlap-by-depth", log=True)
