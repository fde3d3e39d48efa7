"""Pictures of what a collection can find: power and detectable differences, components of variance, comparability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.core.tables import p_value
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.shapes import amount, bars, cells, lines, mark_at, names, scatter, tall, tips
from assay.report.theme import ACCENT, COLOURS, MAIN

if TYPE_CHECKING:
    from assay.plan.audit import Audit, OneSigma
    from assay.plan.depth import DepthTradeoff
    from assay.plan.power import PowerCurve
    from assay.plan.stopping import StoppingBias
    from assay.plan.trial import BestTrial
    from assay.standard.collections import Comparabilities
    from assay.standard.items import ItemTotal
    from assay.standard.reference import ReferenceSize, Trend
    from assay.standard.variance import Components

MOST_POINTS, FEW_POINTS = 2000, 200
"""Points that a scatter shows, of more pairs every so-manieth is taken; and until when they are drawn large."""


def power_curves(result: PowerCurve) -> Figure:
    """The detectable difference over the number of topics, one line per σ; the power, where a difference is given."""
    if result.powers is not None and result.delta is not None:
        field, label, values = "power", f"power to find δ = {result.delta:g}", result.powers
    else:
        field, label, values = "delta", f"difference found with power {result.power:g}", result.detectable
    series = [f"σ = {s:g}" for s in result.sigmas]
    rows = [
        {"sigma": name, **row}
        for j, name in enumerate(series)
        for row in rows_of(topics=result.topics, **{field: values[:, j]})
    ]
    tip = [("sigma", "sd of differences", ""), ("topics", "topics", "d"), (field, field, ".4f")]
    y = amount("Y", field, label, zero=True, domain=(0, 1) if field == "power" else None)
    made = lines(amount("X", "topics", "topics"), y, series="sigma", order=series, tip=tip, title=None)
    first, last = values[0, 0], values[-1, 0]
    said = f"With {series[0]} from {first:.3f} at {result.topics[0]} topics to {last:.3f} at {result.topics[-1]}."
    title = f"{'Power' if field == 'power' else 'Detectable difference'} over the number of topics"
    return drawn(made.properties(height=280), name="power", title=title, description=said, rows=rows)


def audit_map(result: Audit) -> Figure:
    """Every pair of runs: its difference and the σ of it, and the line above which the topics find it."""
    alt = altair()
    step = -(-len(result.all.mean) // MOST_POINTS)
    mean, sd = result.all.mean[::step], result.all.sd[::step]
    found = np.where(mean >= result.effect * sd, "found", "not found")
    rows = rows_of(difference=mean, sd=sd, found=found)
    far = float(sd.max(initial=0.0))
    edge = rows_of(sd=[0.0, far], difference=[0.0, result.effect * far])
    kinds = alt.Color("found", type="nominal", legend=alt.Legend(title=f"with power {result.power:g}"))
    kinds.scale = alt.Scale(domain=["found", "not found"], range=[MAIN, ACCENT])
    tip = [("difference", "|Δ|", ".4f"), ("sd", "σ", ".4f")]
    x, y = (
        amount("X", "sd", "σ of the differences per topic"),
        amount("Y", "difference", f"|Δ {result.measure}|", zero=True),
    )
    points = scatter(x, y, tip=tip, many=len(rows) > FEW_POINTS, color=kinds)
    line = chart("edge").mark_line(strokeDash=[4, 4]).encode(x="sd:Q", y="difference:Q", color=alt.value(COLOURS[6]))
    share = 100 * result.all.share_above(result.detectable())
    said = (
        f"{result.n} topics find a difference of {result.detectable():.4f} at the median σ of {result.all.sigma():.4f} "
        f"with power {result.power:g}; {share:.0f} % of the pairs of runs differ by as much."
    )
    title = f"Differences in {result.measure} that {result.n} topics can find"
    made = alt.layer(points, line).properties(height=300)
    return drawn(made, name=f"audit-{result.measure}", title=title, description=said, rows=rows, edge=edge)


def sigma_spread(result: OneSigma) -> Figure:
    """The spread of σ over pairs as seen, against its spread if all pairs had one σ."""
    alt = altair()
    counts, edges = np.histogram(result.resampled, bins=30)
    rows = rows_of(low=edges[:-1], high=edges[1:], count=counts)
    x = alt.X("low", type="quantitative", bin="binned", title="spread of σ over the pairs")
    tip = tips([("low", "from", ".4f"), ("high", "to", ".4f"), ("count", "samples", "d")])
    histogram = chart().mark_bar(color=MAIN).encode(x=x, x2="high", y=amount("Y", "count", "resamples"), tooltip=tip)
    seen, at = mark_at(result.observed, axis="x")
    said = f"Observed spread {result.observed:.4f} (dashed), {p_value(result.p)}, {result.pairs} pairs."
    title = f"{result.measure}: is one σ of differences plausible?"
    made = alt.layer(histogram, seen).properties(height=240)
    return drawn(made, name="one-sigma", title=title, description=said, rows=rows, mark=at)


def trial_totals(result: BestTrial) -> Figure:
    """Total topics over the size of the trial, the best size marked."""
    alt = altair()
    rows = rows_of(trial=[p.trial for p in result.plans], total=[p.total for p in result.plans])
    x, y = amount("X", "trial", "topics of the trial"), amount("Y", "total", "topics of trial and experiment")
    tip = [("trial", "trial", "d"), ("total", "total", "d")]
    line = lines(x, y, series="", order=(), tip=tip, points=False)
    best, at = mark_at(result.best.trial, axis="x")
    said = f"A trial of {result.best.trial} topics is cheapest: {result.best.total} topics in all."
    made = alt.layer(line, best).properties(height=260)
    return drawn(made, name="trial", title="What a trial of each size costs", description=said, rows=rows, mark=at)


def depth_curves(result: DepthTradeoff) -> Figure:
    """The share of pairs of runs told apart over the depth of judging, for the same budget."""
    rows = rows_of(depth=result.depths, found=result.found, topics=result.topics, judged=result.judgments.mean(axis=1))
    tip = [
        ("depth", "depth", "d"),
        ("found", "pairs found", ".3f"),
        ("topics", "topics", "d"),
        ("judged", "docs per topic", ".1f"),
    ]
    x, y = (
        amount("X", "depth", "judging depth, docs", log=True, ticks=result.depths),
        amount("Y", "found", "share of pairs told apart", domain=(0, 1)),
    )
    made = lines(x, y, series="", order=(), tip=tip).properties(height=260)
    best = int(result.found.argmax())
    here = f"Depth {result.depths[best]} with {result.topics[best]} topics"
    said = f"{here} tells most pairs apart: {100 * result.found[best]:.1f} %."
    title = f"Depth against breadth for {result.budget:,} judgments"
    return drawn(made, name="depth", title=title, description=said, rows=rows)


def stopping_rates(result: StoppingBias) -> Figure:
    """False positives of stopping on power, without looks, and stopping on significance, mean over the pairs."""
    alt = altair()
    kinds = {"power": "stop on power", "fixed": "no looks", "significance": "stop on significance"}
    rows = rows_of(how=list(kinds.values()), rate=[result.average(k) for k in kinds])
    tip = [("how", "how", ""), ("rate", "false positives", ".4f")]
    shown = bars(names("Y", "how", None), amount("X", "rate", "share of false positives", zero=True), tip=tip)
    level, at = mark_at(result.test.alpha, axis="x")
    said = "; ".join(f"{row['how']}: {row['rate']:.3f}" for row in rows) + f". Dashed: α = {result.test.alpha:g}."
    made = tall(alt.layer(shown, level), 3)
    return drawn(made, name="stopping", title="What stopping early costs", description=said, rows=rows, mark=at)


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
    n = f"{result.runs} runs, {result.topics} topics"
    for i, row in enumerate(rows):
        row["order"] = i
    title = f"Where the variance of {result.measure} comes from ({n})"
    said = f"{said}. Reliability of the order of the runs Eρ² = {result.generalizability():.3f}."
    return drawn(made.properties(height=60), name="variance", title=title, description=said, rows=rows)


def collection_distances(result: Comparabilities) -> Figure:
    """dRMSE (κ) between every two collections as a map; low is comparable."""
    pairs = [p for p in result.pairs if p.kappa is not None]
    both = [(p.first, p.second, p) for p in pairs] + [(p.second, p.first, p) for p in pairs]
    rows = rows_of(
        first=[a for a, _, _ in both], second=[b for _, b, _ in both], kappa=[p.kappa for *_, p in both],
        rmse=[p.rmse for *_, p in both],
    )  # fmt: skip
    tip = [("first", "collection", ""), ("second", "other", ""), ("kappa", "κ", ".3f"), ("rmse", "RMSE", ".4f")]
    order = list(dict.fromkeys(name for p in result.pairs for name in (p.first, p.second)))
    x, y = names("X", "second", None, sort=order, labelAngle=-45), names("Y", "first", None, sort=order)
    made = cells(x, y, "kappa", "κ = dRMSE", tip=tip).properties(height=max(2, len(order)) * 44)
    low = min(pairs, key=lambda p: p.kappa or 0.0) if pairs else None
    said = "" if low is None else f"Most comparable: {low.first} and {low.second}, κ = {low.kappa:.3f}."
    title = f"How far {result.measure} moves between collections (dRMSE, low is comparable)"
    return drawn(made, name="collections", title=title, description=said, rows=rows)


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


def trend(result: Trend) -> Figure:
    """Standardized means of each year's runs: range, quartiles and median."""
    alt = altair()
    five = np.array([np.quantile(m, (0, 0.25, 0.5, 0.75, 1)) for m in result.means])
    rows = rows_of(
        year=result.labels, low=five[:, 0], q1=five[:, 1], median=five[:, 2], q3=five[:, 3], high=five[:, 4],
        best=result.best,
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
    ]
    slope = "" if result.slope is None else f" The median changes by {result.slope:+.4f} a year."
    said = f"Medians: {', '.join(f'{y} {m:.3f}' for y, m in zip(result.labels, five[:, 2], strict=True))}.{slope}"
    title = "Runs of each year on one scale: range, quartiles, median"
    return drawn(alt.layer(*layers).properties(height=300), name="trend", title=title, description=said, rows=rows)


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
