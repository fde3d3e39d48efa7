"""Pictures of standardization: where variance comes from, collections side by side, reference runs, years."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, cells, lines, mark_at, names, scatter, tips
from assay.report.theme import ACCENT, MAIN

if TYPE_CHECKING:
    from assay.standard.collections import Comparabilities
    from assay.standard.halves import HalfErrors
    from assay.standard.items import ItemTotal
    from assay.standard.reference import ReferenceSize
    from assay.standard.variance import Components
    from assay.standard.yearly import Trend


@draws("standard.Components")
def components(result: Components) -> Figure:
    """The shares of variance that are due to runs, to topics and to their interaction, as one bar."""
    alt = altair()
    parts = {"run": result.run, "topic": result.topic, "run × topic": result.interaction}
    total = sum(parts.values()) or 1.0
    rows = rows_of(
        source=list(parts),
        variance=list(parts.values()),
        share=[100 * v / total for v in parts.values()],
        bar=[result.measure] * 3,
    )
    tip = tips([("source", "due to", ""), ("variance", "variance", ".6f"), ("share", "%", ".1f")])
    colour = alt.Color("source", type="nominal", sort=list(parts), legend=alt.Legend(title="due to"))
    x = alt.X(
        "share",
        type="quantitative",
        title="% of the variance of scores",
        scale=alt.Scale(domain=[0, 100]),
        axis=alt.Axis(tickCount=6),
        stack="zero",
    )
    made = chart().mark_bar(size=34).encode(y=names("Y", "bar", None), x=x, color=colour, tooltip=tip, order="order:Q")
    said = ", ".join(f"{row['source']} {row['share']:.1f} %" for row in rows)
    n = f"{result.runs} runs, {result.topics:,} topics"
    for i, row in enumerate(rows):
        row["order"] = i
    title = f"Where the variance of {result.measure} comes from ({n})"
    said = f"{said}. Reliability of the order of the runs Eρ² = {result.generalizability():.3f}."
    return drawn(made.properties(height=60), name="variance", title=title, description=said, rows=rows)


@draws("standard.HalfErrors")
def errors_of_halves(result: HalfErrors) -> Figure:
    """The mean κ between random halves of the topics, by form of the scores."""
    measures = [positives.measure for positives in result.positives]
    kappas = [float(kappa.mean()) for kappa in result.kappas]
    rows = rows_of(measure=measures, kappa=kappas)
    tip = tips([("measure", "scores", ""), ("kappa", "mean κ", ".3f")])
    bar = chart().mark_bar(height={"band": 0.75}, color=MAIN)
    made = bar.encode(
        y=names("Y", "measure", None, sort=measures), x=amount("X", "kappa", "mean κ", zero=True), tooltip=tip
    )  # fmt: skip
    said = ", ".join(f"{name} κ {kappa:.3f}" for name, kappa in zip(measures, kappas, strict=True))
    title = "How far random halves of the topics agree on the runs"
    return drawn(
        made.properties(height=28 * len(measures) + 20), name="halves", title=title, description=f"{said}.", rows=rows
    )


@draws("standard.Comparabilities")
def collection_distances(result: Comparabilities) -> Figure:
    """dRMSE (κ) between every two collections as a map; low is comparable."""
    pairs = [pair for pair in result.pairs if pair.kappa is not None]
    rows = []
    for pair in pairs:
        rows += rows_of(first=[pair.first], second=[pair.second], kappa=[pair.kappa], rmse=[pair.rmse])
    for pair in pairs:
        rows += rows_of(first=[pair.second], second=[pair.first], kappa=[pair.kappa], rmse=[pair.rmse])
    tip = [("first", "collection", ""), ("second", "other", ""), ("kappa", "κ", ".3f"), ("rmse", "RMSE", ".4f")]
    every_name = [name for pair in result.pairs for name in (pair.first, pair.second)]
    order = list(dict.fromkeys(every_name))
    x = names("X", "second", None, sort=order, labelAngle=-45)
    y = names("Y", "first", None, sort=order)
    made = cells(x, y, "kappa", "κ = dRMSE", tip=tip).properties(height=max(2, len(order)) * 44)
    said = ""
    if pairs:
        nearest = min(pairs, key=lambda pair: pair.kappa or 0.0)
        said = f"Most comparable: {nearest.first} and {nearest.second}, κ = {nearest.kappa:.3f}."
    title = f"How far {result.measure} moves between collections (dRMSE, low is comparable)"
    return drawn(made, name="collections", title=title, description=said, rows=rows)


@draws("standard.ReferenceSize")
def reference_sizes(result: ReferenceSize) -> Figure:
    """τ with the full reference set over the number of reference runs."""
    alt = altair()
    series = ["in 50 % of samples", "in 95 %", "in 99 %"]
    rows = [
        {"share": name, **row}
        for j, name in enumerate(series)
        for row in rows_of(runs=result.sizes, tau=result.taus[:, j])
    ]
    tip = [("share", "reached", ""), ("runs", "reference runs", "d"), ("tau", "τ", ".3f")]
    x, y = amount("X", "runs", "reference runs"), amount("Y", "tau", "Kendall τ with all reference runs")
    line = lines(x, y, series="share", order=series, tip=tip)
    raw, at = mark_at(result.raw)
    said = f"Dashed: τ of standardized with raw scores, {result.raw:.3f}. {result.samples} samples per size."
    title = f"How many reference runs {result.measure} needs"
    made = alt.layer(line, raw).properties(height=280)
    return drawn(made, name="reference-size", title=title, description=said, rows=rows, mark=at)


@draws("standard.Trend")
def trend(result: Trend) -> Figure:
    """Standardized means of each year's runs: range, quartiles and median."""
    alt = altair()
    five = np.array([np.quantile(m, (0, 0.25, 0.5, 0.75, 1)) for m in result.means])
    rows = rows_of(
        year=result.labels, low=five[:, 0], q1=five[:, 1], median=five[:, 2], q3=five[:, 3], high=five[:, 4],
        best=result.best, mean=[float(means.mean()) for means in result.means],
    )  # fmt: skip
    tip = tips(
        [("year", "year", ""), ("median", "median", ".3f"), ("high", "highest", ".3f"), ("best", "best run", "")]
    )
    x = names("X", "year", "year", labelAngle=0)
    base = chart().encode(x=x, tooltip=tip)
    layers = [
        base.mark_rule(color=MAIN).encode(y=alt.Y("low:Q", title="standardized mean score"), y2="high:Q"),
        base.mark_bar(size=22, color=MAIN, opacity=0.6).encode(y="q1:Q", y2="q3:Q"),
        base.mark_tick(size=22, thickness=3, color=ACCENT).encode(y="median:Q"),
        base.mark_point(shape="diamond", size=60, filled=True, color=MAIN).encode(y="mean:Q"),
    ]
    slope = "" if result.slope is None else f" T{result.slope.said()[0][1:]}."
    said = f"Medians: {', '.join(f'{y} {m:.3f}' for y, m in zip(result.labels, five[:, 2], strict=True))}.{slope}"
    title = "Runs of each year on one scale: range, quartiles, median; a diamond is the mean"
    return drawn(alt.layer(*layers).properties(height=300), name="trend", title=title, description=said, rows=rows)


@draws("standard.ItemTotal")
def item_total(result: ItemTotal) -> Figure:
    """Each topic's mean score and its correlation with the mean over all topics: which topics tell runs apart."""
    rows = rows_of(topic=result.topics, mean=result.mean, correlation=result.correlation, sd=result.sd)
    rows = [row for row in rows if row["correlation"] is not None]
    tip = [
        ("topic", "topic", ""),
        ("mean", "mean", ".3f"),
        ("correlation", "with the total", ".3f"),
        ("sd", "sd", ".3f"),
    ]
    x, y = (
        amount("X", "mean", f"mean {result.measure} of the topic"),
        amount("Y", "correlation", "correlation with the total"),
    )
    low = min(rows, key=lambda r: r["correlation"], default=None)
    said = "" if low is None else f"Least in line with the others: topic {low['topic']} ({low['correlation']:.3f})."
    made = scatter(x, y, tip=tip).properties(height=300)
    return drawn(made, name="items", title="Which topics go with the total", description=said, rows=rows)
