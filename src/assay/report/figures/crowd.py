"""Pictures of a crowd: who labels how, how sure the judgments are, where to cut, how long it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.figures.similarity import means_against
from assay.report.shapes import amount, band, bars, classes, lines, names, scatter, tall, tips
from assay.report.theme import ACCENT, MAIN, MUTED

if TYPE_CHECKING:
    from assay.crowd.cuts import CutSearch
    from assay.crowd.effort import Fewer, RunOut, TimeByPosition
    from assay.crowd.profiles import GainProfile
    from assay.crowd.quality import DocQuality, TopicQuality, WorkerQuality
    from assay.crowd.system_ranking import RankingAgreement
    from assay.crowd.uncertain import Uncertain

MOST_WORKERS = 2000
MOST_DOCS = 200


@draws("crowd.WorkerQuality")
def worker_scatter(result: WorkerQuality) -> Figure:
    """Each worker's number of labels and agreement with the others, suspects marked with their reasons."""
    keep = np.flatnonzero(np.isfinite(result.facts["agreement"]))
    # The most suspect are drawn last, so that they lie on top.
    keep = keep[np.argsort(-result.facts["suspicion"][keep], kind="stable")][:MOST_WORKERS][::-1]
    rows = rows_of(
        worker=[result.workers[i] for i in keep], labels=result.facts["labels"][keep],
        agreement=result.facts["agreement"][keep], reasons=["; ".join(result.reasons[i]) for i in keep],
        kind=["look again" if result.reasons[i] else "usual" for i in keep],
    )  # fmt: skip
    tip = [
        ("worker", "worker", ""),
        ("labels", "labels", "d"),
        ("agreement", "agreement", ".3f"),
        ("reasons", "reasons", ""),
    ]
    x, y = (
        amount("X", "labels", "labels given", log=True),
        amount("Y", "agreement", "agreement with the others (1 is full)"),
    )
    made = scatter(x, y, tip=tip, **classes("kind", None, ["usual", "look again"], [MAIN, ACCENT])).properties(
        height=340
    )
    suspects = result.suspects()
    most = f", first of all {', '.join(suspects[:5])}" if suspects else ""
    said = f"{len(suspects)} of {len(result.workers):,} workers deserve a second look{most}."
    return drawn(made, name="workers", title=f"How {len(keep):,} workers label", description=said, rows=rows)


@draws("crowd.TopicQuality")
def quality_by_topic(result: TopicQuality) -> Figure:
    """α of the labels of every topic."""
    table = result.table()
    rows = rows_of(topic=table.column("topic"), alpha=table.column("α"), labels=table.column("labels"))
    known = sorted((r for r in rows if r["alpha"] is not None), key=lambda r: r["alpha"])
    tip = [("topic", "topic", ""), ("alpha", "α", ".3f"), ("labels", "labels", "d")]
    made = bars(names("Y", "topic", "topic"), amount("X", "alpha", "Krippendorff's α", zero=True), tip=tip)
    said = f"α lies between {known[0]['alpha']:.3f} and {known[-1]['alpha']:.3f}." if known else "α is not defined."
    return drawn(
        tall(made, len(known)), name="topics", title="α of the labels of each topic", description=said, rows=known
    )


@draws("crowd.DocQuality")
def doc_controversy(result: DocQuality) -> Figure:
    """The spread of labels against their mean, doc by doc (at most 2,000, the most controversial)."""
    order = np.argsort(-result.controversy, kind="stable")[:MOST_WORKERS]
    rows = rows_of(
        topic=[result.items[i][0] for i in order], doc=[result.items[i][1] for i in order], mean=result.mean[order],
        controversy=result.controversy[order], labels=result.labels[order],
    )  # fmt: skip
    tip = [("topic", "topic", ""), ("doc", "doc", ""), ("mean", "mean", ".2f"), ("controversy", "controversy", ".3f")]
    x, y = (
        amount("X", "mean", "mean label"),
        amount("Y", "controversy", "controversy (1: split between both ends)", zero=True),
    )
    said = f"Most controversial: {rows[0]['doc']} of topic {rows[0]['topic']}." if rows else ""
    made = scatter(x, y, tip=tip).properties(height=320)
    all_docs = len(result.items)
    which = f": the {len(rows):,} most controversial of {all_docs:,}" if len(rows) < all_docs else ""
    return drawn(made, name="docs", title=f"On which docs workers disagree{which}", description=said, rows=rows)


@draws("crowd.Uncertain")
def uncertain_grades(result: Uncertain) -> Figure:
    """How many docs got each grade, by how probable it is; for numbers all docs in order with their intervals."""
    if np.isnan(result.probability).all():
        return _sorted_grades(result)
    alt = altair()
    sure = np.select([result.probability >= 0.95, result.probability >= 0.75], ["above .95", ".75 to .95"], "below .75")
    order = ["above .95", ".75 to .95", "below .75"]
    rows = []
    for j, kind in enumerate(order):
        grades, counts = np.unique(result.grade[sure == kind], return_counts=True)
        rows += [{"sure": kind, "order": j, **r} for r in rows_of(grade=[f"{g:g}" for g in grades], docs=counts)]
    colour = alt.Color(
        "sure", type="nominal", scale=alt.Scale(domain=order, range=[MAIN, MUTED, ACCENT]),
        legend=alt.Legend(title="probability of the grade"),
    )  # fmt: skip
    in_order = [f"{g:g}" for g in np.unique(result.grade)]
    tip = tips([("grade", "grade", ""), ("sure", "probability", ""), ("docs", "docs", ",d")])
    y = alt.Y("docs", type="quantitative", stack="zero", title="docs")
    made = (
        chart()
        .mark_bar()
        .encode(
            x=names("X", "grade", "grade", sort=in_order, labelAngle=0), y=y, color=colour, tooltip=tip, order="order:Q"
        )
    )
    share = float((result.probability >= 0.95).mean())
    said = f"{100 * share:.0f} % of {len(result.grade):,} docs have a grade of probability .95 or more."
    title = f"Grades by {result.method}, and how sure they are"
    return drawn(made.properties(height=260), name="grades", title=title, description=said, rows=rows)


def _sorted_grades(result: Uncertain) -> Figure:
    """Docs from the lowest to the highest estimate, evenly picked, each within its 95 % interval."""
    alt = altair()
    order = np.argsort(result.estimate, kind="stable")
    place = np.unique(np.linspace(0, len(order) - 1, MOST_DOCS).astype(np.int64))
    shown = order[place]
    rows = rows_of(
        share=100 * (place + 1) / len(order), grade=result.estimate[shown],
        low=result.low[shown], high=result.high[shown],
        topic=[result.items[i][0] for i in shown], doc=[result.items[i][1] for i in shown],
    )  # fmt: skip
    tip = [
        ("topic", "topic", ""),
        ("doc", "doc", ""),
        ("grade", "grade", ".1f"),
        ("low", "low", "d"),
        ("high", "high", "d"),
    ]
    x, label = amount("X", "share", "% of the docs, lowest grade first"), "grade with its 95 % interval"
    line = lines(x, amount("Y", "grade", label), series="", order=(), tip=tip, points=False)
    made = alt.layer(band(x, "low", "high", label), line).properties(height=280)
    said = f"The intervals are {np.median(result.high - result.low):g} wide in the median of {len(order):,} docs."
    title = f"Grades by {result.method}, and how sure they are"
    return drawn(made, name="grades", title=title, description=said, rows=rows)


@draws("crowd.CutSearch")
def cut_map(result: CutSearch) -> Figure:
    """α of every cut (across) on every topic, the best cut of each marked; with more levels only the best cuts."""
    alt = altair()
    best = [
        {"topic": c.topic, "cut": p, "alpha": c.alpha if np.isfinite(c.alpha) else None}
        for c in result.cuts
        for p in c.points
    ]
    tip = [("topic", "topic", ""), ("cut", "cut after", ".3g"), ("alpha", "α", ".4f")]
    x = amount("X", "cut", f"cut of {result.source.name}: labels up to here are low")
    y = names("Y", "topic", "topic")
    marks = (
        chart("best")
        .mark_point(shape="diamond", size=70, filled=True, color=ACCENT, opacity=1)
        .encode(x=x, y=y, tooltip=tips(tip))
    )
    rows: list[dict[str, object]] = []
    layers = [marks]
    if result.curves is not None and result.curves.size:
        places = np.array(result.source.levels[: result.curves.shape[1]])
        gap = float(np.diff(places).min()) if len(places) > 1 else 1.0
        for c, curve in zip(result.cuts, result.curves, strict=True):
            finite = np.isfinite(curve)
            rows += rows_of(
                topic=[c.topic] * int(finite.sum()), cut=places[finite], start=places[finite] - gap / 2,
                end=places[finite] + gap / 2, alpha=curve[finite],
            )  # fmt: skip
        colour = alt.Color(
            "alpha", type="quantitative", legend=alt.Legend(title="α", gradientLength=180, gradientThickness=10)
        )
        across = alt.X("start", type="quantitative", scale=alt.Scale(nice=False), title=x.to_dict()["axis"]["title"])
        layers.insert(
            0,
            chart()
            .mark_bar(aria=False, height={"band": 1})
            .encode(x=across, x2="end", y=y, color=colour, tooltip=tips(tip)),
        )
    said = "; ".join(f"{c.topic}: {', '.join(f'{p:g}' for p in c.points)}" for c in result.cuts[:6])
    title = f"Where to cut {result.source.name} into {result.levels} levels ({result.way})"
    made = tall(alt.layer(*layers), len(result.cuts))
    return drawn(made, name="cuts", title=title, description=f"Best cuts (diamonds): {said}.", rows=rows, best=best)


@draws("crowd.GainProfile")
def gain_profile(result: GainProfile) -> Figure:
    """Median label per reference grade within its quartiles."""
    alt = altair()
    rows = rows_of(
        level=result.levels,
        low=result.quartiles[:, 0],
        median=result.quartiles[:, 1],
        high=result.quartiles[:, 2],
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
    line = lines(x, amount("Y", "median", "label: median and quartiles"), series="", order=(), tip=tip)
    made = alt.layer(band(x, "low", "high", "label: median and quartiles"), line).properties(height=280)
    said = f"The medians rise {result.shape}ly." if "linear" in result.shape else "Too few levels to tell a shape."
    return drawn(made, name="gains", title="What each reference grade is worth in labels", description=said, rows=rows)


@draws("crowd.TimeByPosition")
def time_by_position(result: TimeByPosition) -> Figure:
    """Seconds per label by position in the task: median within quartiles."""
    alt = altair()
    table = result.table()
    rows = rows_of(
        position=table.column("position"), median=table.column("median"), low=table.column("lower quartile"),
        high=table.column("upper quartile"), labels=table.column("labels"),
    )  # fmt: skip
    tip = [
        ("position", "position", "d"),
        ("median", "median, s", ".1f"),
        ("low", "lower quartile", ".1f"),
        ("high", "upper quartile", ".1f"),
        ("labels", "labels", "d"),
    ]
    x = amount("X", "position", "position in the task")
    line = lines(x, amount("Y", "median", "seconds per label", zero=True), series="", order=(), tip=tip)
    made = alt.layer(band(x, "low", "high", "seconds per label"), line).properties(height=260)
    said = (
        f"Median {rows[0]['median']:.1f} s for the first label, {rows[-1]['median']:.1f} s for the last."
        if rows
        else ""
    )
    return drawn(
        made, name="time", title="How long a label takes, by position in the task", description=said, rows=rows
    )


@draws("crowd.Fewer")
def fewer(result: Fewer) -> Figure:
    """Agreement with the reference when less is judged: mean within quartiles."""
    alt = altair()
    known = [(n, a) for n, a in zip(result.amounts, result.agreement, strict=True) if len(a)]
    five = np.array([[a.mean(), *np.percentile(a, [25, 75])] for _, a in known])
    rows = rows_of(amount=[n for n, _ in known], mean=five[:, 0], low=five[:, 1], high=five[:, 2])
    tip = [
        ("amount", result.what, "d"),
        ("mean", "mean", ".3f"),
        ("low", "lower quartile", ".3f"),
        ("high", "upper quartile", ".3f"),
    ]
    x, label = amount("X", "amount", result.what), "pairwise agreement with the reference"
    line = lines(x, amount("Y", "mean", label), series="", order=(), tip=tip)
    made = alt.layer(band(x, "low", "high", label), line).properties(height=260)
    said = f"From {five[0, 0]:.3f} with {known[0][0]} to {five[-1, 0]:.3f} with {known[-1][0]} {result.what}."
    return drawn(made, name="fewer", title=f"What fewer {result.what} would cost", description=said, rows=rows)


@draws("crowd.RunOut")
def run_out(result: RunOut) -> Figure:
    """Tasks with exactly k labels at the low and at the high end of the scale."""
    alt = altair()
    rows = [
        {"end": e, **r}
        for e, v in (("low", result.low), ("high", result.high))
        for r in rows_of(k=range(len(v)), tasks=v)
    ]
    colour = alt.Color("end", type="nominal", sort=["low", "high"], legend=alt.Legend(title="end of the scale"))
    offset = alt.XOffset("end", type="nominal", sort=["low", "high"])
    tip = tips([("end", "end", ""), ("k", "labels at it", "d"), ("tasks", "tasks", "d")])
    x = alt.X("k", type="ordinal", axis=alt.Axis(title="labels of a task at that end", labelAngle=0))
    made = chart().mark_bar().encode(x=x, y=amount("Y", "tasks", "tasks"), color=colour, xOffset=offset, tooltip=tip)
    both = sum(result.potential)
    said = f"{both} of {result.chances} labels repeat an end of the scale within their task."
    title = "Do workers run out of values at the ends of the scale?"
    return drawn(made.properties(height=260), name="run-out", title=title, description=said, rows=rows)


@draws("crowd.RankingAgreement")
def crowd_ranking(result: RankingAgreement) -> Figure:
    """Mean scores of the same runs under the crowd's judgments and under the reference."""
    title = f"{len(result.runs)} runs under two sets of judgments"
    axes = (f"mean {result.measure}, reference", f"mean {result.measure}, these judgments")
    return means_against(result.runs, result.reference, result.ours, axes, title, f"Kendall τ_b {result.tau:.3f}.")
