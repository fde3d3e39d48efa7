"""Pictures of what a collection can find: power, detectable differences, trials, depth, stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.core.tables import p_value
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, lines, mark_at, names, scatter, tall, tips
from assay.report.theme import ACCENT, COLOURS, MAIN

if TYPE_CHECKING:
    from assay.plan.audits import Audit, OneSigma
    from assay.plan.depths import DepthTradeoff
    from assay.plan.drawn_topics import SigmaSamples, TopicInclusion
    from assay.plan.powers import PowerCurve
    from assay.plan.stopping import StoppingBias
    from assay.plan.trials import BestTrial

MOST_POINTS, FEW_POINTS = 2000, 200
"""Points that a scatter shows, of more pairs some are taken, evenly spaced; and until when they are drawn large."""


@draws("plan.PowerCurve")
def power_curves(result: PowerCurve) -> Figure:
    """The detectable difference over the number of topics, one line per σ; the power, where a difference is given."""
    if result.powers is not None and result.delta is not None:
        field = "power"
        label = f"power to find δ = {result.delta:g}"
        what = "Power"
        domain = (0, 1)
        values = result.powers
    else:
        field = "delta"
        label = f"difference found with power {result.power:g}"
        what = "Detectable difference"
        domain = None
        values = result.detectable
    series = [f"σ = {sigma:g}" for sigma in result.sigmas]
    rows = []
    for name, of_sigma in zip(series, values.T, strict=True):
        columns = {"sigma": [name] * len(of_sigma), "topics": result.topics, field: of_sigma}
        rows += rows_of(**columns)
    tip = [("sigma", "sd of differences", ""), ("topics", "topics", "d"), (field, field, ".4f")]
    x = amount("X", "topics", "topics")
    y = amount("Y", field, label, zero=True, domain=domain)
    made = lines(x, y, series="sigma", order=series, tip=tip, title=None)
    first = values[0, 0]
    last = values[-1, 0]
    said = f"With {series[0]} from {first:.3g} at {result.topics[0]:,} topics to {last:.3g} at {result.topics[-1]:,}."
    title = f"{what} over the number of topics"
    return drawn(made.properties(height=280), name="power", title=title, description=said, rows=rows)


@draws("plan.Audit")
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
    share = f"; {100 * result.all.share_above(result.detectable()):.0f} % of the pairs of runs differ by as much"
    said = (
        f"{result.n:,} topics find a difference of {result.detectable():.4f} at the median σ of "
        f"{result.all.sigma():.4f} with power {result.power:g}{share if len(rows) > 1 else ''}."
    )
    if not result.all.sigma():
        said = f"No difference in {result.measure} varies from topic to topic: these scores say nothing of power."
    title = f"Differences in {result.measure} that {result.n:,} topics can find"
    made = alt.layer(points, line).properties(height=300)
    return drawn(made, name=f"audit-{result.measure}", title=title, description=said, rows=rows, edge=edge)


@draws("plan.OneSigma")
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


@draws("plan.BestTrial")
def trial_totals(result: BestTrial) -> Figure:
    """Total topics over the size of the trial, the best size marked."""
    alt = altair()
    rows = rows_of(trial=[plan.trial for plan in result.plans], total=[plan.total for plan in result.plans])
    tip = [("trial", "trial", "d"), ("total", "total", "d")]
    x = amount("X", "trial", "topics of the trial")
    y = amount("Y", "total", "topics of trial and experiment")
    line = lines(x, y, series="", order=(), tip=tip, points=False)
    best, at = mark_at(result.best.trial, axis="x")
    made = alt.layer(line, best).properties(height=260)
    said = f"A trial of {result.best.trial} topics is cheapest: {result.best.total} topics in all."
    title = "What a trial of each size costs"
    return drawn(made, name="trial", title=title, description=said, rows=rows, mark=at)


@draws("plan.SigmaSamples")
def sigma_points(result: SigmaSamples) -> Figure:
    """Where σ of drawn topics falls over σ of all topics, one pair of points per pair of runs; lines: the formula."""
    alt = altair()
    ends = {"low": (result.low, 1 - result.margin), "high": (result.high, 1 + result.margin)}
    rows = []
    for end, (values, factor) in ends.items():
        kind = [end] * len(values)
        rows += rows_of(end=kind, sigma=result.sigma, seen=values, formula=factor * result.sigma)
    tip = [("end", "end of the interval", ""), ("sigma", "σ of all topics", ".4f"), ("seen", "σ of the draw", ".4f")]
    x = amount("X", "sigma", "σ on all topics")
    y = amount("Y", "seen", f"σ on {result.topics} topics")
    points = scatter(x, y, tip=tip, many=True)
    formula = chart().mark_line(strokeWidth=2).encode(
        x=x, y=alt.Y("formula", type="quantitative"), detail=alt.Detail("end", type="nominal"), color=alt.value(ACCENT)
    )  # fmt: skip
    made = alt.layer(points, formula).properties(height=320)
    said = (
        f"Points: ends of the {100 * result.level:g} % interval seen; lines: σ ± z·σ/√(2n). "
        f"{100 * result.covered:.1f} % of the draws are within the lines."
    )
    title = f"What {result.topics} topics say of σ, {len(result.sigma)} pairs of runs"
    return drawn(made, name="sigma", title=title, description=said, rows=rows)


@draws("plan.TopicInclusion")
def inclusion_points(result: TopicInclusion) -> Figure:
    """How often each topic is in the final topic set, over its difference; the mean difference marked."""
    rows = rows_of(topic=result.topics, difference=result.differences, included=100 * result.included)
    tip = [("topic", "topic", ""), ("difference", "difference", "+.4f"), ("included", "% of the sets", ".2f")]
    x = amount("X", "difference", f"difference, {result.pair[0]} − {result.pair[1]}", form="+.2f")
    y = amount("Y", "included", "% of the final topic sets")
    mean, at = mark_at(float(result.differences.mean()), axis="x")
    made = altair().layer(scatter(x, y, tip=tip), mean).properties(height=300)
    said = f"Sets of {result.size:.1f} topics on average. Dashed: the mean difference."
    title = "Topics that an experiment ends with when it stops on power"
    return drawn(made, name="inclusion", title=title, description=said, rows=rows, mark=at)


@draws("plan.DepthTradeoff")
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


@draws("plan.StoppingBias")
def stopping_rates(result: StoppingBias) -> Figure:
    """False positives of stopping on power, without looks, and stopping on significance, mean over the pairs."""
    alt = altair()
    kinds = {"power": "stop on power", "fixed": "no looks", "significance": "stop on significance"}
    rows = rows_of(how=list(kinds.values()), rate=[result.average(kind) for kind in kinds])
    tip = [("how", "how", ""), ("rate", "false positives", ".4f")]
    x = amount("X", "rate", "share of false positives", zero=True)
    y = names("Y", "how", None)
    level, at = mark_at(result.test.alpha, axis="x")
    made = tall(alt.layer(bars(y, x, tip=tip), level), 3)
    rates = "; ".join(f"{row['how']}: {row['rate']:.3f}" for row in rows)
    said = f"{rates}. Dashed: α = {result.test.alpha:g}."
    return drawn(made, name="stopping", title="What stopping early costs", description=said, rows=rows, mark=at)
