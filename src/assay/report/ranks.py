"""Pictures of ranked lists: precision over recall, where the relevant docs of each topic stand, how far two lists agree
as they go deeper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.tables import Table
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.shapes import amount, band, lines, names, ranges, tall, tips
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.data import Qrels, Run
    from assay.data.grades import Grades
    from assay.similarity.by_topic import PSweep, RunSimilarity

Places = npt.NDArray[np.intp]
BLUES = ("#a6cee3", "#2e93c9", "#0072b2", "#003f63")
UNJUDGED, USELESS = "not judged", "not relevant"
RECALLS = tuple(i / 10 for i in range(11))
MOST_LINES = 8
"""More lines than this cannot be told apart."""


@dataclass(frozen=True, eq=False)
class RecallPrecision:
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


def recall_precision(runs: Sequence[Run], qrels: Qrels) -> RecallPrecision:
    """The recall-precision curve of each run.

    >>> from assay.data import Qrels, Run
    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 1}})
    >>> found = recall_precision([Run.from_lists("r", {"1": ["a", "b", "c"]})], qrels)
    >>> found.precision[0, [0, 5, 10]].round(3).tolist()
    [1.0, 1.0, 0.667]
    """
    from assay.scoring import evaluate

    found = evaluate(runs, qrels, [f"IPrec(recall={r:g})" for r in RECALLS])
    return RecallPrecision(found[0].runs, np.stack([m.means() for m in found], axis=1), len(qrels.topics))


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


def relevance_map(grades: Grades, *, run: str = "the run", depth: int = 50, most_topics: int = 100) -> Figure:
    """The grade at every rank (columns) of every topic (rows): relevant docs, judged others, and docs nobody judged."""
    alt = altair()
    topic, rank, kinds = _judged_as(grades, depth, most_topics)
    levels = sorted({k for k in kinds if k.startswith("grade ")}, key=lambda k: float(k.split()[1]))
    scale = alt.Scale(domain=[UNJUDGED, USELESS, *levels], range=["#e3b448", "#b9bcc0", *_blues(len(levels))])
    rows = rows_of(topic=[grades.topics[i] for i in topic], rank=rank + 1, kind=kinds)
    ticks = _ticks(int(rank.max(initial=0)) + 1)
    axis = alt.Axis(title="rank", labelAngle=0, labelOverlap="greedy", ticks=False, values=ticks)
    colour = alt.Color("kind", type="nominal", scale=scale, legend=alt.Legend(title=None))
    y = names("Y", "topic", "topic", ticks=False, labelOverlap="greedy", labelFontSize=10)
    tip = tips([("topic", "topic", ""), ("rank", "rank", "d"), ("kind", "judged as", "")])
    cells = chart().mark_rect(aria=False)
    made = cells.encode(x=alt.X("rank", type="ordinal", axis=axis), y=y, color=colour, tooltip=tip)
    topics, unjudged = len(np.unique(topic)), kinds.count(UNJUDGED)
    relevant = len(kinds) - unjudged - kinds.count(USELESS)
    shown = f"Of {len(kinds)} docs shown {relevant} are relevant and {unjudged} not judged"
    return drawn(
        tall(made, topics) if topics < 40 else made.properties(height=topics * 10), name="relevance-map",
        title=f"Where {run} puts relevant docs: first {depth} ranks of {topics} topics",
        description=f"{shown} ({topics} topics, {depth} ranks).", rows=rows,
    )  # fmt: skip


def _judged_as(grades: Grades, depth: int, most_topics: int) -> tuple[Places, Places, list[str]]:
    """Topic, rank from 0 and kind (not judged, not relevant, grade 1 …) of every doc that is shown."""
    part = np.s_[:most_topics, :depth]
    topic, rank = np.nonzero(grades.inside()[part])
    known, grade = grades.judged()[part][topic, rank], np.asarray(grades.ranked)[part][topic, rank]
    kinds = [
        UNJUDGED if not k else f"grade {g:g}" if g > 0 else USELESS
        for k, g in zip(known.tolist(), grade.tolist(), strict=True)
    ]
    return topic, rank, kinds


@dataclass(frozen=True, eq=False)
class OverlapByDepth:
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


def overlap_curve(result: OverlapByDepth) -> Figure:
    """EXT over depth within the band from MIN to MAX."""
    rows = rows_of(depth=result.depths, ext=result.ext, low=result.low, high=result.high)
    title = f"RBO of {result.runs[0]} and {result.runs[1]} by depth, p = {result.p:g}"
    said = f"At depth {result.depths[-1]} EXT is {result.ext[-1]:.3f} [{result.low[-1]:.3f}, {result.high[-1]:.3f}]."
    return _with_band(rows, ("depth", "depth of the lists, docs"), title, said, "overlap-by-depth", log=True)


def p_curve(result: PSweep) -> Figure:
    """EXT over p within the band from MIN to MAX."""
    rows = rows_of(
        p=[m.p for m in result.means], ext=[m.ext for m in result.means], low=[m.min for m in result.means],
        high=[m.max for m in result.means],
    )  # fmt: skip
    title = f"RBO of {result.runs[0]} and {result.runs[1]} by persistence"
    first, last = result.means[0], result.means[-1]
    said = f"EXT goes from {first.ext:.3f} at p = {first.p:g} to {last.ext:.3f} at p = {last.p:g}."
    return _with_band(rows, ("p", "persistence p"), title, said, "overlap-by-p")


def topic_overlap(result: RunSimilarity, *, most: int = 60) -> Figure:
    """EXT with [MIN, MAX] of two runs on every topic, the most different first."""
    order = np.argsort([r.ext for r in result.rbo], kind="stable")[:most]
    kept = [result.rbo[i] for i in order]
    rows = rows_of(
        topic=[result.topics[i] for i in order], ext=[r.ext for r in kept], low=[r.min for r in kept],
        high=[r.max for r in kept],
    )  # fmt: skip
    tip = [("topic", "topic", ""), ("ext", "EXT", ".4f"), ("low", "MIN", ".4f"), ("high", "MAX", ".4f")]
    x = amount("X", "ext", "RBO, EXT within [MIN, MAX]", domain=(0, 1))
    made = ranges(names("Y", "topic", "topic"), x, "low", "high", tip=tip, color=altair().value(MAIN))
    mean = result.mean()
    some = f", {len(kept)} most different of {len(result.topics)}" if len(kept) < len(result.topics) else ""
    said = f"Mean RBO {mean.ext:.3f}; least alike on topic {result.topics[order[0]]} ({kept[0].ext:.3f})."
    title = f"How alike {result.runs[0]} and {result.runs[1]} are, topic by topic{some}"
    return drawn(tall(made, len(kept)), name="overlap-by-topic", title=title, description=said, rows=rows)


def _with_band(
    rows: list[dict[str, Any]], x: tuple[str, str], title: str, said: str, name: str, *, log: bool = False
) -> Figure:
    alt = altair()
    across = amount("X", x[0], x[1], log=log, ticks=[row[x[0]] for row in rows] if log else None)
    tip = [(x[0], x[1], ""), ("ext", "EXT", ".4f"), ("low", "MIN", ".4f"), ("high", "MAX", ".4f")]
    y = amount("Y", "ext", "rank-biased overlap", domain=(0, 1))
    line = lines(across, y, series="", order=(), tip=tip)
    made = alt.layer(band(across, "low", "high", "rank-biased overlap"), line).properties(height=280)
    return drawn(made, name=name, title=title, description=said + " The band is [MIN, MAX].", rows=rows)


def _ticks(depth: int) -> list[int]:
    return [1, *range(5, depth + 1, 5)]


def _blues(n: int) -> list[str]:
    """Blues from light to dark, one per grade; with few grades the darker ones."""
    if n <= len(BLUES):
        return list(BLUES[len(BLUES) - n :])
    ends = np.array([[0xA6, 0xCE, 0xE3], [0x00, 0x3F, 0x63]], dtype=np.float64)
    steps = ends[0] + (ends[1] - ends[0]) * np.linspace(0, 1, n)[:, None]
    return ["#" + "".join(f"{round(c):02x}" for c in row) for row in steps]
