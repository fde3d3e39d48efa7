"""Pictures of tables and scores: every run on every topic, where relevant docs stand, how labels are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import (
    amount,
    cells,
    names,
    some_of,
    tall,
    tips,
)
from assay.report.theme import ACCENT, MAIN

if TYPE_CHECKING:
    from assay.data import Labels
    from assay.data.grades import Grades
    from assay.data.scores import ScoreMatrix

TOP, MOST_TOPICS = 40, 100
"""Runs and topics that a picture shows at most unless told."""
Places = npt.NDArray[np.intp]
BLUES = ("#a6cee3", "#2e93c9", "#0072b2", "#003f63")
UNJUDGED, USELESS = "not judged", "not relevant"
BINS = 20


@draws("data.ScoreMatrix")
def score_map(matrix: ScoreMatrix, *, top: int = TOP, most_topics: int = MOST_TOPICS) -> Figure:
    """Every run on every topic as intensity; rows by mean or name, columns by ease, spread or name.

    With more runs or topics than asked for: the best runs, and the topics on which all runs differ most.
    """
    alt = altair()
    ordered = matrix.by_mean()
    spread = ordered.values.std(axis=0)
    kept = np.sort(np.argsort(-spread, kind="stable")[:most_topics])
    part = ordered.select(runs=ordered.runs[:top], topics=[ordered.topics[j] for j in kept])
    runs, topics = part.shape
    ease = ordered.values.mean(axis=0)[kept]
    i, j = np.divmod(np.arange(runs * topics), topics)
    rows = rows_of(run=[part.runs[a] for a in i], topic=[part.topics[b] for b in j], score=part.values.ravel())
    places = {"by_mean": np.arange(runs), "by_name": _rank_of_names(part.runs)}
    columns = {"in_order": np.arange(topics), "easy_first": _rank(-ease), "most_spread_first": _rank(-spread[kept])}
    column = alt.EncodingSortField("column", op="min")
    axis = alt.Axis(title="topic", labelAngle=-90, labelOverlap="greedy", ticks=False, labelFontSize=10)
    x = alt.X("topic", type="nominal", sort=column, axis=axis)
    y = names("Y", "run", None, sort=alt.EncodingSortField("row", op="min"), ticks=False)
    tip = [("run", "run", ""), ("topic", "topic", ""), ("score", matrix.measure, ".4f"), ("ease", "topic mean", ".4f")]
    made = cells(x, y, "score", matrix.measure, tip=tip, diverging=bool(part.values.min() < 0))
    whole = (
        f"{matrix.measure} of {some_of(runs, len(matrix.runs))} runs on {some_of(topics, len(matrix.topics))} topics"
    )
    left = " (those on which the runs differ most)" if topics < len(matrix.topics) else ""
    return drawn(
        tall(_sortable(made, list(places), list(columns)), runs), name=f"map-{matrix.measure}", title=whole + left,
        description=_topics_in_words(part.topics, ease, spread[kept]), rows=rows,
        runs=rows_of(run=part.runs, **{k: v.tolist() for k, v in places.items()}),
        topics=rows_of(topic=part.topics, ease=ease, **{k: v.tolist() for k, v in columns.items()}),
    )  # fmt: skip


def _sortable(made: Any, places: list[str], columns: list[str]) -> Any:
    """The map with menus for the order of its rows and columns, looked up in the data `runs` and `topics`."""
    alt = altair()
    return (
        made.add_params(_choice("runs", places), _choice("topics", columns))
        .transform_lookup("run", from_=alt.LookupData(alt.NamedData(name="runs"), "run", places))
        .transform_lookup("topic", from_=alt.LookupData(alt.NamedData(name="topics"), "topic", ["ease", *columns]))
        .transform_calculate(
            row="datum[order_runs === 'by_name' ? 'by_name' : 'by_mean']", column="datum[order_topics]"
        )
    )


def _choice(what: str, options: list[str]) -> Any:
    """A menu beside the chart by which its rows or columns are ordered."""
    alt = altair()
    labels = [o.replace("_", " ") for o in options]
    menu = alt.binding_select(options=options, labels=labels, name=f"Order of {what}: ")
    return alt.param(name=f"order_{what}", value=options[0], bind=menu)


def _topics_in_words(topics: Sequence[str], ease: Floats, spread: Floats) -> str:
    flat = np.ptp(spread) < 1e-9
    most = (
        "Runs differ by as much on every topic" if flat else f"Runs differ most on topic {topics[int(spread.argmax())]}"
    )
    if np.ptp(ease) < 1e-9:
        return f"{most}; every topic has the same mean."
    hard, easy = int(ease.argmin()), int(ease.argmax())
    hardest = f"topic {topics[hard]} is the hardest ({ease[hard]:.3f} on average)"
    return f"{most}; {hardest}, {topics[easy]} the easiest ({ease[easy]:.3f})."


def _rank(values: Floats) -> npt.NDArray[np.int64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


def _rank_of_names(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    order = sorted(range(len(texts)), key=lambda i: texts[i])
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[order] = np.arange(len(texts))
    return ranks


def distribution(raw: ScoreMatrix, standard: ScoreMatrix) -> Figure:
    """Scores of all runs on each topic, topics by ease: the quartiles and range, raw beside standardized."""
    alt = altair()
    order = np.argsort(-raw.values.mean(axis=0), kind="stable")
    parts = []
    for matrix in (raw, standard):
        low, q1, q2, q3, high = np.percentile(matrix.values[:, order], [0, 25, 50, 75, 100], axis=0)
        topics = [raw.topics[j] for j in order]
        kind = [matrix.measure] * len(topics)
        place = range(1, len(topics) + 1)
        parts += rows_of(place=place, topic=topics, scores=kind, low=low, q1=q1, median=q2, q3=q3, high=high)
    x = amount("X", "place", "topics, easiest first")
    tip = [("topic", "topic", ""), ("low", "lowest", ".3f"), ("q1", "lower quartile", ".3f")]
    tip += [("median", "median", ".3f"), ("q3", "upper quartile", ".3f"), ("high", "highest", ".3f")]
    layers = [
        chart(None).mark_area(opacity=0.18, color=MAIN).encode(x=x, y=alt.Y("low:Q", title="score"), y2="high:Q"),
        chart(None).mark_area(opacity=0.4, color=MAIN).encode(x=x, y="q1:Q", y2="q3:Q"),
        chart(None).mark_line(color=ACCENT).encode(x=x, y="median:Q"),
        chart(None)
        .mark_rule(opacity=0, strokeWidth=6, aria=False)
        .encode(x=x, y="low:Q", y2="high:Q", tooltip=tips(tip)),
    ]
    made = alt.layer(*layers, data=alt.NamedData(name="rows")).facet(
        facet=alt.Facet("scores:N", title=None, sort=[raw.measure, standard.measure]), columns=2,
    ).resolve_scale(y="independent")  # fmt: skip
    fall = raw.values.mean(axis=0)[order]
    return drawn(
        made, name=f"distribution-{raw.measure}", rows=parts,
        title=f"{raw.measure} per topic, raw and standardized: median, quartiles and range over {len(raw.runs)} runs",
        description=f"The mean raw score falls from {fall[0]:.3f} on the easiest topic to {fall[-1]:.3f} on the "
        "hardest; standardized scores have the same centre and spread on every topic.",
    )  # fmt: skip


@draws("data.Grades")
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


def _ticks(depth: int) -> list[int]:
    return [1, *range(5, depth + 1, 5)]


def _blues(n: int) -> list[str]:
    """Blues from light to dark, one per grade; with few grades the darker ones."""
    if n <= len(BLUES):
        return list(BLUES[len(BLUES) - n :])
    ends = np.array([[0xA6, 0xCE, 0xE3], [0x00, 0x3F, 0x63]], dtype=np.float64)
    steps = ends[0] + (ends[1] - ends[0]) * np.linspace(0, 1, n)[:, None]
    return ["#" + "".join(f"{round(c):02x}" for c in row) for row in steps]


@draws("data.Labels")
def label_distribution(labels: Labels) -> Figure:
    """How often each label was given; a fine scale in bins."""
    alt = altair()
    levels, counts = np.unique(labels.label, return_counts=True)
    share = 100 * counts / max(1, counts.sum())
    if len(levels) <= BINS + 5:
        rows = rows_of(label=[f"{v:g}" for v in levels], count=counts, share=share)
        tip = tips([("label", "label", ""), ("count", "labels", ",d"), ("share", "%", ".1f")])
        x = names("X", "label", "label", sort=[f"{v:g}" for v in levels], labelAngle=0)
        made = (
            chart().mark_bar(color=MAIN).encode(x=x, y=amount("Y", "share", "% of the labels", zero=True), tooltip=tip)
        )
    else:
        counts, edges = np.histogram(labels.label, bins=BINS)
        share = 100 * counts / max(1, counts.sum())
        rows = rows_of(low=edges[:-1], high=edges[1:], count=counts, share=share)
        tip = tips([("low", "from", ".3g"), ("high", "to", ".3g"), ("count", "labels", ",d"), ("share", "%", ".1f")])
        x = alt.X("low", type="quantitative", bin="binned", title="label")
        y = amount("Y", "share", "% of the labels", zero=True)
        made = chart().mark_bar(color=MAIN).encode(x=x, x2="high", y=y, tooltip=tip)
    most = float(levels[int(np.unique(labels.label, return_counts=True)[1].argmax())])
    said = f"{len(labels):,} labels by {len(labels.workers):,} workers; the most frequent is {most:g}."
    title = f"How the {len(labels):,} labels are spread over the scale"
    return drawn(made.properties(height=240), name="labels", title=title, description=said, rows=rows)
