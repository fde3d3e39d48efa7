"""Pictures of tables and scores: every run on every topic, where relevant docs stand, how labels are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import (
    amount,
    beyond,
    cells,
    colour_range,
    in_rows,
    names,
    row_labels,
    some_of,
    tall,
    tips,
)
from assay.report.theme import ACCENT, MAIN

if TYPE_CHECKING:
    from assay.data import Labels
    from assay.data.grades import Grades
    from assay.data.scores import ScoreMatrix

MOST_RUNS, MOST_TOPICS = 250, 100
"""Runs and topics that a picture shows at most unless asked for more."""
Places = npt.NDArray[np.intp]
BLUES = ("#a6cee3", "#2e93c9", "#0072b2", "#003f63")
UNJUDGED, USELESS = "not judged", "not relevant"
BINS = 20
COUNT_TIP = (("count", "labels", ",d"), ("share", "%", ".1f"))


@draws("data.ScoreMatrix")
def score_map(matrix: ScoreMatrix, *, top: int = MOST_RUNS, most_topics: int = MOST_TOPICS) -> Figure:
    """Every run on every topic as intensity; rows by mean or name, columns by ease, spread or name.

    With more runs or topics than asked for: the best runs, and the topics on which all runs differ most.
    """
    ordered = matrix.by_average()
    spread = ordered.values.std(axis=0)
    widest = np.argsort(-spread, kind="stable")[:most_topics]
    kept = np.sort(widest)
    kept_topics = [ordered.topics[j] for j in kept]
    part = ordered.select(runs=ordered.runs[:top], topics=kept_topics)
    runs, topics = part.shape
    ease = ordered.values.mean(axis=0)[kept]
    row_places = {
        "by_mean": list(range(runs)),
        "by_name": _rank_of_names(part.runs),
    }
    column_places = {
        "in_order": list(range(topics)),
        "easy_first": _rank(-ease),
        "most_spread_first": _rank(-spread[kept]),
    }
    made = _intensities(matrix.measure, part.values)
    made = _sortable(made, list(row_places), list(column_places))

    run_count = some_of(runs, len(matrix.runs))
    topic_count = some_of(topics, len(matrix.topics))
    title = f"{matrix.measure} of {run_count} runs on {topic_count} topics"
    if topics < len(matrix.topics):
        title += " (those on which the runs differ most)"
    return drawn(
        in_rows(made, runs),
        name=f"map-{matrix.measure}",
        title=title,
        description=_topics_in_words(part.topics, ease, spread[kept]),
        rows=_score_rows(part),
        runs=rows_of(run=part.runs, **row_places),
        topics=rows_of(topic=part.topics, ease=ease, **column_places),
    )


def _score_rows(matrix: ScoreMatrix) -> list[dict[str, Any]]:
    """One row per run and topic."""
    rows = []
    for run, scores in zip(matrix.runs, matrix.values, strict=True):
        of_run = rows_of(topic=matrix.topics, score=scores)
        rows += [{"run": run, **row} for row in of_run]
    return rows


def _intensities(measure: str, values: Floats) -> Any:
    """The map itself; `row` and `column` of a cell say where it stands."""
    alt = altair()
    domain = colour_range(values)
    title = measure if domain is None else [measure, beyond(domain, values)]
    axis = alt.Axis(
        title="topic",
        labelAngle=-90,
        labelOverlap="greedy",
        ticks=False,
        labelFontSize=10,
    )
    by_column = alt.EncodingSortField("column", op="min")
    by_row = alt.EncodingSortField("row", op="min")
    x = alt.X("topic", type="nominal", sort=by_column, axis=axis)
    y = names("Y", "run", None, sort=by_row, ticks=False, **row_labels(len(values)))
    tip = [
        ("run", "run", ""),
        ("topic", "topic", ""),
        ("score", measure, ".4f"),
        ("ease", "topic mean", ".4f"),
    ]
    has_two_sides = bool(values.min() < 0)
    return cells(x, y, "score", title, tip=tip, domain=domain, diverging=has_two_sides)


def _sortable(made: Any, places: list[str], columns: list[str]) -> Any:
    """The map with menus for the order of its rows and columns, looked up in the data `runs` and `topics`."""
    alt = altair()
    menus = [_choice("runs", places), _choice("topics", columns)]
    runs = alt.NamedData(name="runs")
    topics = alt.NamedData(name="topics")
    of_run = alt.LookupData(runs, "run", places)
    of_topic = alt.LookupData(topics, "topic", ["ease", *columns])
    row = "datum[order_runs === 'by_name' ? 'by_name' : 'by_mean']"
    column = "datum[order_topics]"
    return (
        made.add_params(*menus)
        .transform_lookup("run", from_=of_run)
        .transform_lookup("topic", from_=of_topic)
        .transform_calculate(row=row, column=column)
    )


def _choice(what: str, options: list[str]) -> Any:
    """A menu beside the chart by which its rows or columns are ordered."""
    alt = altair()
    labels = [o.replace("_", " ") for o in options]
    menu = alt.binding_select(options=options, labels=labels, name=f"Order of {what}: ")
    return alt.param(name=f"order_{what}", value=options[0], bind=menu)


def _topics_in_words(topics: Sequence[str], ease: Floats, spread: Floats) -> str:
    """Where the runs differ most, and which topics are the hardest and the easiest."""
    if np.ptp(spread) < 1e-9:
        most = "Runs differ by as much on every topic"
    else:
        most = f"Runs differ most on topic {topics[int(spread.argmax())]}"
    if np.ptp(ease) < 1e-9:
        return f"{most}; every topic has the same mean."
    hard = int(ease.argmin())
    easy = int(ease.argmax())
    hardest = f"topic {topics[hard]} is the hardest ({ease[hard]:.3f} on average)"
    easiest = f"{topics[easy]} the easiest ({ease[easy]:.3f})"
    return f"{most}; {hardest}, {easiest}."


def _rank(values: Floats) -> list[int]:
    """The place of each value in ascending order, from 0."""
    order = np.argsort(values, kind="stable")
    places: list[int] = np.argsort(order, kind="stable").tolist()
    return places


def _rank_of_names(texts: Sequence[str]) -> list[int]:
    """The place of each text in alphabetical order, from 0."""
    order = sorted(range(len(texts)), key=lambda i: texts[i])
    places = [0] * len(texts)
    for place, i in enumerate(order):
        places[i] = place
    return places


def distribution(raw: ScoreMatrix, standard: ScoreMatrix) -> Figure:
    """Scores of all runs on each topic, topics by ease: the quartiles and range, raw beside standardized."""
    alt = altair()
    ease = raw.values.mean(axis=0)
    order = np.argsort(-ease, kind="stable")
    topics = [raw.topics[j] for j in order]
    rows = _quartiles(raw, topics, order)
    rows += _quartiles(standard, topics, order)
    panels = alt.Facet("scores:N", title=None, sort=[raw.measure, standard.measure])
    layers = alt.layer(*_quartile_layers(), data=alt.NamedData(name="rows"))
    made = layers.facet(facet=panels, columns=2)
    easiest = ease[order[0]]
    hardest = ease[order[-1]]
    return drawn(
        made.resolve_scale(y="independent"),
        name=f"distribution-{raw.measure}",
        title=f"{raw.measure} per topic, raw and standardized: median, quartiles and range over {len(raw.runs)} runs",
        description=f"The mean raw score falls from {easiest:.3f} on the easiest topic to {hardest:.3f} on the "
        "hardest; standardized scores have the same centre and spread on every topic.",
        rows=rows,
    )


def _quartiles(matrix: ScoreMatrix, topics: Sequence[str], order: Places) -> list[dict[str, Any]]:
    """The quartiles and range of the scores on each topic, one row each."""
    scores = matrix.values[:, order]
    low, q1, median, q3, high = np.percentile(scores, [0, 25, 50, 75, 100], axis=0)
    return rows_of(
        place=range(1, len(topics) + 1),
        topic=topics,
        scores=[matrix.measure] * len(topics),
        low=low,
        q1=q1,
        median=median,
        q3=q3,
        high=high,
    )


def _quartile_layers() -> list[Any]:
    """Range and quartiles as areas, the median as a line, and rules that are not seen and carry the tooltip."""
    alt = altair()
    x = amount("X", "place", "topics, easiest first")
    tip = [
        ("topic", "topic", ""),
        ("low", "lowest", ".3f"),
        ("q1", "lower quartile", ".3f"),
        ("median", "median", ".3f"),
        ("q3", "upper quartile", ".3f"),
        ("high", "highest", ".3f"),
    ]
    low = alt.Y("low:Q", title="score")
    whole_range = chart(None).mark_area(opacity=0.18, color=MAIN)
    middle_half = chart(None).mark_area(opacity=0.4, color=MAIN)
    median = chart(None).mark_line(color=ACCENT)
    unseen = chart(None).mark_rule(opacity=0, strokeWidth=6, aria=False)
    return [
        whole_range.encode(x=x, y=low, y2="high:Q"),
        middle_half.encode(x=x, y="q1:Q", y2="q3:Q"),
        median.encode(x=x, y="median:Q"),
        unseen.encode(x=x, y="low:Q", y2="high:Q", tooltip=tips(tip)),
    ]


@draws("data.Grades")
def relevance_map(grades: Grades, *, run: str = "the run", depth: int = 50, most_topics: int = 100) -> Figure:
    """The grade at every rank (columns) of every topic (rows): relevant docs, judged others, and docs nobody judged."""
    alt = altair()
    topic, rank, kinds = _judged_as(grades, depth, most_topics)
    rows = rows_of(
        topic=[grades.topics[i] for i in topic],
        rank=rank + 1,
        kind=kinds,
    )
    deepest = int(rank.max(initial=0)) + 1
    axis = alt.Axis(
        title="rank",
        labelAngle=0,
        labelOverlap="greedy",
        ticks=False,
        values=_ticks(deepest),
    )
    x = alt.X("rank", type="ordinal", axis=axis)
    y = names("Y", "topic", "topic", ticks=False, labelOverlap="greedy", labelFontSize=10)
    tip = [
        ("topic", "topic", ""),
        ("rank", "rank", "d"),
        ("kind", "judged as", ""),
    ]
    rect = chart().mark_rect(aria=False)
    made = rect.encode(x=x, y=y, color=_by_kind(kinds), tooltip=tips(tip))

    topics = len(np.unique(topic))
    made = tall(made, topics) if topics < 40 else made.properties(height=topics * 10)
    unjudged = kinds.count(UNJUDGED)
    not_relevant = kinds.count(USELESS)
    relevant = len(kinds) - unjudged - not_relevant
    counts = f"Of {len(kinds)} docs shown {relevant} are relevant and {unjudged} not judged"
    return drawn(
        made,
        name="relevance-map",
        title=f"Where {run} puts relevant docs: first {depth} ranks of {topics} topics",
        description=f"{counts} ({topics} topics, {depth} ranks).",
        rows=rows,
    )


def _by_kind(kinds: Sequence[str]) -> Any:
    """Yellow for docs nobody judged, grey for those that are not relevant, and a blue for each grade."""
    alt = altair()
    levels = {kind for kind in kinds if kind.startswith("grade ")}
    ascending = sorted(levels, key=lambda level: float(level.split()[1]))
    scale = alt.Scale(
        domain=[UNJUDGED, USELESS, *ascending],
        range=["#e3b448", "#b9bcc0", *_blues(len(ascending))],
    )
    legend = alt.Legend(title=None)
    return alt.Color("kind", type="nominal", scale=scale, legend=legend)


def _judged_as(grades: Grades, depth: int, most_topics: int) -> tuple[Places, Places, list[str]]:
    """Topic, rank from 0 and kind (not judged, not relevant, grade 1 …) of every doc that is shown."""
    shown = np.s_[:most_topics, :depth]
    inside = grades.inside()
    topic, rank = np.nonzero(inside[shown])
    judged = grades.judged()[topic, rank].tolist()
    values = np.asarray(grades.ranked)[topic, rank].tolist()
    kinds = []
    for is_judged, value in zip(judged, values, strict=True):
        if not is_judged:
            kinds.append(UNJUDGED)
        elif value > 0:
            kinds.append(f"grade {value:g}")
        else:
            kinds.append(USELESS)
    return topic, rank, kinds


def _ticks(depth: int) -> list[int]:
    return [1, *range(5, depth + 1, 5)]


def _blues(n: int) -> list[str]:
    """Blues from light to dark, one per grade; with few grades the darker ones."""
    if n <= len(BLUES):
        return list(BLUES[len(BLUES) - n :])
    lightest = np.array([0xA6, 0xCE, 0xE3], dtype=np.float64)
    darkest = np.array([0x00, 0x3F, 0x63], dtype=np.float64)
    blues = []
    for share in np.linspace(0, 1, n):
        red, green, blue = lightest + (darkest - lightest) * share
        blues.append(f"#{round(red):02x}{round(green):02x}{round(blue):02x}")
    return blues


@draws("data.Labels")
def label_distribution(labels: Labels) -> Figure:
    """How often each label was given; a fine scale in bins."""
    levels, counts = np.unique(labels.label, return_counts=True)
    if len(levels) <= BINS + 5:
        made, rows = _label_bars(levels, counts)
    else:
        made, rows = _label_bins(labels.label)
    most_frequent = float(levels[int(counts.argmax())])
    count = f"{len(labels):,} labels"
    said = f"{count} by {len(labels.workers):,} workers; the most frequent is {most_frequent:g}."
    return drawn(
        made.properties(height=240),
        name="labels",
        title=f"How the {count} are spread over the scale",
        description=said,
        rows=rows,
    )


def _label_bars(levels: Floats, counts: Ints) -> tuple[Any, list[dict[str, Any]]]:
    """A bar for each label."""
    in_order = [f"{level:g}" for level in levels]
    rows = rows_of(label=in_order, count=counts, share=_percent(counts))
    x = names("X", "label", "label", sort=in_order, labelAngle=0)
    y = amount("Y", "share", "% of the labels", zero=True)
    tip = [("label", "label", ""), *COUNT_TIP]
    bar = chart().mark_bar(color=MAIN)
    return bar.encode(x=x, y=y, tooltip=tips(tip)), rows


def _label_bins(values: Floats) -> tuple[Any, list[dict[str, Any]]]:
    """A bar for each of BINS parts of the scale."""
    counts, edges = np.histogram(values, bins=BINS)
    rows = rows_of(
        low=edges[:-1],
        high=edges[1:],
        count=counts,
        share=_percent(counts),
    )
    x = altair().X("low", type="quantitative", bin="binned", title="label")
    y = amount("Y", "share", "% of the labels", zero=True)
    tip = [("low", "from", ".3g"), ("high", "to", ".3g"), *COUNT_TIP]
    bar = chart().mark_bar(color=MAIN)
    return bar.encode(x=x, x2="high", y=y, tooltip=tips(tip)), rows


def _percent(counts: Ints) -> Floats:
    return 100 * counts / max(1, counts.sum())
