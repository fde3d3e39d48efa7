"""Pictures of a crowd: who labels how, how sure the judgments are, where to cut, how long it took."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.figures.similarity import means_against
from assay.report.shapes import Tips, amount, band, bars, classes, lines, names, scatter, tall, tips
from assay.report.theme import ACCENT, MAIN, MUTED

if TYPE_CHECKING:
    from assay.crowd.campaigns import CampaignCurves
    from assay.crowd.effort import Fewer, RunOut, TimeByPosition
    from assay.crowd.profiles import GainProfile
    from assay.crowd.quality import DocQuality, TopicQuality, WorkerQuality
    from assay.crowd.system_ranking import RankingAgreement
    from assay.crowd.uncertain import Uncertain

MOST_WORKERS = 2000
MOST_DOCS = 200
MOST_POINTS = 20
"""A curve with more points than this is drawn without a dot at each."""
GRADE = ".4~g"
"""How a grade is written in a tooltip: it may be a fraction, or a whole number without a point."""
SURE = ("above .95", ".75 to .95", "below .75")


@draws("crowd.WorkerQuality")
def worker_scatter(result: WorkerQuality) -> Figure:
    """Each worker's number of labels and agreement with the others, suspects marked with their reasons."""
    agreement = result.facts["agreement"]
    known = np.flatnonzero(np.isfinite(agreement))
    most_suspect_first = np.argsort(-result.facts["suspicion"][known], kind="stable")
    kept = known[most_suspect_first][:MOST_WORKERS]
    kept = kept[::-1]  # the most suspect are drawn last, so that they lie on top
    reasons = [result.reasons[i] for i in kept]
    rows = rows_of(
        worker=[result.workers[i] for i in kept],
        labels=result.facts["labels"][kept],
        agreement=agreement[kept],
        reasons=["; ".join(of_worker) for of_worker in reasons],
        kind=["look again" if of_worker else "usual" for of_worker in reasons],
    )
    tip = [
        ("worker", "worker", ""),
        ("labels", "labels", "d"),
        ("agreement", "agreement", ".3f"),
        ("reasons", "reasons", ""),
    ]
    x = amount("X", "labels", "labels given", log=True)
    y = amount("Y", "agreement", "agreement with the others (1 is full)")
    marks = classes("kind", None, ["usual", "look again"], [MAIN, ACCENT])
    made = scatter(x, y, tip=tip, **marks).properties(height=340)

    suspects = result.suspects()
    said = f"{len(suspects)} of {len(result.workers):,} workers deserve a second look"
    if suspects:
        said += f", first of all {', '.join(suspects[:5])}"
    title = f"How {len(kept):,} workers label"
    return drawn(made, name="workers", title=title, description=f"{said}.", rows=rows)


@draws("crowd.TopicQuality")
def quality_by_topic(result: TopicQuality) -> Figure:
    """α of the labels of every topic."""
    table = result.table()
    rows = rows_of(
        topic=table.column("topic"),
        alpha=table.column("α"),
        labels=table.column("labels"),
    )
    known = [row for row in rows if row["alpha"] is not None]
    known.sort(key=lambda row: row["alpha"])
    tip = [
        ("topic", "topic", ""),
        ("alpha", "α", ".3f"),
        ("labels", "labels", "d"),
    ]
    y = names("Y", "topic", "topic")
    x = amount("X", "alpha", "Krippendorff's α", zero=True)
    made = tall(bars(y, x, tip=tip), len(known))
    said = "α is not defined."
    if known:
        lowest = known[0]["alpha"]
        highest = known[-1]["alpha"]
        said = f"α lies between {lowest:.3f} and {highest:.3f}."
    return drawn(made, name="topics", title="α of the labels of each topic", description=said, rows=known)


@draws("crowd.DocQuality")
def doc_controversy(result: DocQuality) -> Figure:
    """The spread of labels against their mean, doc by doc (at most 2,000, the most controversial)."""
    order = np.argsort(-result.controversy, kind="stable")[:MOST_WORKERS]
    items = [result.items[i] for i in order]
    rows = rows_of(
        topic=[topic for topic, _ in items],
        doc=[doc for _, doc in items],
        mean=result.mean[order],
        controversy=result.controversy[order],
        labels=result.labels[order],
    )
    tip = [
        ("topic", "topic", ""),
        ("doc", "doc", ""),
        ("mean", "mean", ".2f"),
        ("controversy", "controversy", ".3f"),
    ]
    x = amount("X", "mean", "mean label")
    y = amount("Y", "controversy", "controversy (1: split between both ends)", zero=True)
    made = scatter(x, y, tip=tip).properties(height=320)

    said = ""
    if items:
        topic, doc = items[0]
        said = f"Most controversial: {doc} of topic {topic}."
    title = "On which docs workers disagree"
    all_docs = len(result.items)
    if len(rows) < all_docs:
        title += f": the {len(rows):,} most controversial of {all_docs:,}"
    return drawn(made, name="docs", title=title, description=said, rows=rows)


@draws("crowd.Uncertain")
def uncertain_grades(result: Uncertain) -> Figure:
    """How many docs got each grade, by how probable it is; for numbers all docs in order with their intervals."""
    if np.isnan(result.probability).all():
        return _sorted_grades(result)
    alt = altair()
    high = result.probability >= 0.95
    middle = result.probability >= 0.75
    sure = np.select([high, middle], SURE[:2], SURE[2])
    rows = []
    for place, kind in enumerate(SURE):
        grades, counts = np.unique(result.grade[sure == kind], return_counts=True)
        of_kind = rows_of(grade=_in_short(grades), docs=counts)
        rows += [{"sure": kind, "order": place, **row} for row in of_kind]

    scale = alt.Scale(domain=list(SURE), range=[MAIN, MUTED, ACCENT])
    legend = alt.Legend(title="probability of the grade")
    colour = alt.Color("sure", type="nominal", scale=scale, legend=legend)
    ascending = _in_short(np.unique(result.grade))
    x = names("X", "grade", "grade", sort=ascending, labelAngle=0)
    y = alt.Y("docs", type="quantitative", stack="zero", title="docs")
    tip = [
        ("grade", "grade", ""),
        ("sure", "probability", ""),
        ("docs", "docs", ",d"),
    ]
    made = chart().mark_bar().encode(x=x, y=y, color=colour, tooltip=tips(tip), order="order:Q")
    percent = 100 * float(high.mean())
    said = f"{percent:.0f} % of {len(result.grade):,} docs have a grade of probability .95 or more."
    title = f"Grades by {result.method}, and how sure they are"
    return drawn(made.properties(height=260), name="grades", title=title, description=said, rows=rows)


def _in_short(grades: Iterable[float]) -> list[str]:
    return [f"{grade:g}" for grade in grades]


def _sorted_grades(result: Uncertain) -> Figure:
    """Docs from the lowest to the highest estimate, evenly picked, each within its 95 % interval."""
    order = np.argsort(result.estimate, kind="stable")
    docs = len(order)
    place = np.unique(np.linspace(0, docs - 1, MOST_DOCS).astype(np.int64))
    shown = order[place]
    items = [result.items[i] for i in shown]
    rows = rows_of(
        share=100 * (place + 1) / docs,
        grade=result.estimate[shown],
        low=result.low[shown],
        high=result.high[shown],
        topic=[topic for topic, _ in items],
        doc=[doc for _, doc in items],
    )
    tip = [
        ("topic", "topic", ""),
        ("doc", "doc", ""),
        ("grade", "grade", GRADE),
        ("low", "low", GRADE),
        ("high", "high", GRADE),
    ]
    x = amount("X", "share", "% of the docs, lowest grade first")
    label = "grade with its 95 % interval"
    made = _within_band(x, "grade", label, tip, points=False).properties(height=280)
    width = np.median(result.high - result.low)
    said = f"The intervals are {width:g} wide in the median of {docs:,} docs."
    title = f"Grades by {result.method}, and how sure they are"
    return drawn(made, name="grades", title=title, description=said, rows=rows)


def _within_band(x: Any, field: str, label: str, tip: Tips, *, zero: bool = False, points: bool = True) -> Any:
    """A line of one field within the band of the fields low and high."""
    y = amount("Y", field, label, zero=zero)
    line = lines(x, y, series="", order=(), tip=tip, points=points)
    return altair().layer(band(x, "low", "high", label), line)


@draws("crowd.GainProfile")
def gain_profile(result: GainProfile) -> Figure:
    """Median label per reference grade within its quartiles."""
    alt = altair()
    low, median, high = result.quartiles.T
    rows = rows_of(
        level=result.levels,
        low=low,
        median=median,
        high=high,
        count=result.count,
    )
    tip = [
        ("level", "reference grade", ".3g"),
        ("median", "median", ".3g"),
        ("low", "lower quartile", ".3g"),
        ("high", "upper quartile", ".3g"),
        ("count", result.what, "d"),
    ]
    axis = alt.Axis(values=list(result.levels), title="reference grade", format="g")
    x = alt.X("level", type="quantitative", axis=axis)
    made = _within_band(x, "median", "label: median and quartiles", tip).properties(height=280)
    said = "Too few levels to tell a shape."
    if "linear" in result.shape:
        said = f"The medians rise {result.shape}ly."
    return drawn(made, name="gains", title="What each reference grade is worth in labels", description=said, rows=rows)


@draws("crowd.TimeByPosition")
def time_by_position(result: TimeByPosition) -> Figure:
    """Seconds per label by position in the task: median within quartiles."""
    table = result.table()
    rows = rows_of(
        position=table.column("position"),
        median=table.column("median"),
        low=table.column("lower quartile"),
        high=table.column("upper quartile"),
        labels=table.column("labels"),
    )
    tip = [
        ("position", "position", "d"),
        ("median", "median, s", ".1f"),
        ("low", "lower quartile", ".1f"),
        ("high", "upper quartile", ".1f"),
        ("labels", "labels", "d"),
    ]
    x = amount("X", "position", "position in the task")
    made = _within_band(x, "median", "seconds per label", tip, zero=True).properties(height=260)
    said = ""
    if rows:
        first = rows[0]["median"]
        last = rows[-1]["median"]
        said = f"Median {first:.1f} s for the first label, {last:.1f} s for the last."
    title = "How long a label takes, by position in the task"
    return drawn(made, name="time", title=title, description=said, rows=rows)


@draws("crowd.Fewer")
def fewer(result: Fewer) -> Figure:
    """Agreement with the reference when less is judged: mean within quartiles."""
    amounts = []
    means = []
    quartiles = []
    for count, agreement in zip(result.amounts, result.agreement, strict=True):
        if len(agreement):
            amounts.append(count)
            means.append(agreement.mean())
            quartiles.append(np.percentile(agreement, [25, 75]))
    low, high = np.transpose(quartiles)
    rows = rows_of(amount=amounts, mean=means, low=low, high=high)
    tip = [
        ("amount", result.what, "d"),
        ("mean", "mean", ".3f"),
        ("low", "lower quartile", ".3f"),
        ("high", "upper quartile", ".3f"),
    ]
    x = amount("X", "amount", result.what)
    label = "pairwise agreement with the reference"
    made = _within_band(x, "mean", label, tip).properties(height=260)
    said = f"From {means[0]:.3f} with {amounts[0]} to {means[-1]:.3f} with {amounts[-1]} {result.what}."
    return drawn(made, name="fewer", title=f"What fewer {result.what} would cost", description=said, rows=rows)


@draws("crowd.RunOut")
def run_out(result: RunOut) -> Figure:
    """Tasks with exactly k labels at the low and at the high end of the scale."""
    alt = altair()
    rows = []
    for end, tasks in (("low", result.low), ("high", result.high)):
        of_end = rows_of(k=range(len(tasks)), tasks=tasks)
        rows += [{"end": end, **row} for row in of_end]
    ends = ["low", "high"]
    colour = alt.Color("end", type="nominal", sort=ends, legend=alt.Legend(title="end of the scale"))
    offset = alt.XOffset("end", type="nominal", sort=ends)
    x = alt.X("k", type="ordinal", axis=alt.Axis(title="labels of a task at that end", labelAngle=0))
    y = amount("Y", "tasks", "tasks")
    tip = [
        ("end", "end", ""),
        ("k", "labels at it", "d"),
        ("tasks", "tasks", "d"),
    ]
    made = chart().mark_bar().encode(x=x, y=y, color=colour, xOffset=offset, tooltip=tips(tip))
    repeated = sum(result.potential)
    said = f"{repeated} of {result.chances} labels repeat an end of the scale within their task."
    title = "Do workers run out of values at the ends of the scale?"
    return drawn(made.properties(height=260), name="run-out", title=title, description=said, rows=rows)


@draws("crowd.CampaignCurves")
def campaign_curves(result: CampaignCurves) -> Figure:
    """One line per campaign."""
    rows: list[dict[str, Any]] = []
    for campaign, (x_values, y_values) in result.curves.items():
        of_campaign = rows_of(x=x_values, y=y_values)
        rows += [{"campaign": campaign, **row} for row in of_campaign]
    order = list(result.curves)
    tip = [
        ("campaign", "campaign", ""),
        ("x", result.x, ".4~g"),
        ("y", result.y, ".3f"),
    ]
    x = amount("X", "x", result.x)
    y = amount("Y", "y", result.y, zero=result.name in ("labels", "time"))
    few = len(rows) <= MOST_POINTS * len(order)
    made = lines(x, y, series="campaign", order=order, tip=tip, points=few).properties(height=280)
    ends = []
    for campaign, (_, y_values) in result.curves.items():
        ends.append(f"{campaign} from {y_values[0]:.3f} to {y_values[-1]:.3f}")
    said = f"{result.y}: {'; '.join(ends)}."
    return drawn(made, name=f"campaigns-{result.name}", title=result.caption, description=said, rows=rows)


@draws("crowd.RankingAgreement")
def crowd_ranking(result: RankingAgreement) -> Figure:
    """Mean scores of the same runs under the crowd's judgments and under the reference."""
    title = f"{len(result.runs)} runs under two sets of judgments"
    axes = (
        f"mean {result.measure}, reference",
        f"mean {result.measure}, these judgments",
    )
    said = f"Kendall τ_b {result.tau:.3f}."
    return means_against(result.runs, result.reference, result.ours, axes, title, said)


# Pictures of cuts and of tasks live in files of their own and are registered when those are imported.
from assay.report.figures import crowd_cuts, crowd_reliability, crowd_tasks  # noqa: E402, F401
