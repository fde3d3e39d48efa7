"""Pictures of pools: how fast judging pays, what a pool does to a run that it lacks, who brought what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.tables import shown as as_shown
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, cells, lines, names, tall, tips
from assay.report.theme import ACCENT, MAIN

if TYPE_CHECKING:
    from assay.pooling.adjust import Adjustment
    from assay.pooling.adjustment_errors import Accuracy, UnpooledBias
    from assay.pooling.bias import LeftOut
    from assay.pooling.collection_facts import CollectionFacts, PoolByType
    from assay.pooling.judging_curves import Curves
    from assay.pooling.mtc import Confidence
    from assay.pooling.pools import Contributions

TOP = 40


@draws("pooling.Curves")
def judging_curves(result: Curves) -> Figure:
    """The share of the relevant docs found by each judging order over the docs judged per topic."""
    orders = [c.order for c in result.curves]
    rows = [
        {"order": c.order, **row}
        for c in result.curves
        for row in rows_of(
            budget=result.budgets, found=100 * c.relevant.mean(axis=1) / max(1, result.relevant), tau=c.tau.mean(axis=1)
        )
    ]
    tip = [
        ("order", "order", ""),
        ("budget", "docs per topic", "d"),
        ("found", "% of relevant", ".1f"),
        ("tau", "τ", ".3f"),
    ]
    x, y = (
        amount("X", "budget", "docs judged per topic"),
        amount("Y", "found", "% of the relevant docs found", domain=(0, 100)),
    )
    made = lines(x, y, series="order", order=orders, tip=tip, title="order").properties(height=320)
    areas = result.areas()
    best = max(areas, key=lambda k: areas[k])
    said = f"{best} finds relevant docs fastest (area {areas[best]:.3f}). {result.recipe}."
    title = f"How fast each order of judging finds the {result.relevant:,} relevant docs"
    return drawn(made, name="judging", title=title, description=said, rows=rows)


@draws("pooling.LeftOut")
def bias_bars(result: LeftOut, *, top: int = TOP) -> Figure:
    """What each run's mean loses (or gains) when the pool lacks it, the greatest loss first."""
    alt = altair()
    order = np.lexsort((np.arange(len(result.runs)), result.loss))[:top]
    runs = [result.runs[i] for i in order]
    how = {"nonrelevant": "unjudged not relevant", "condensed": "unjudged taken out"}
    rows = []
    for kind, words in how.items():
        if kind in result.unpooled:
            bias = result.unpooled[kind] - result.pooled
            rows += rows_of(
                how=[words] * len(runs),
                run=runs,
                bias=bias[order],
                alone=result.relevant_alone[order],
                pooled=result.pooled[order],
            )
    tip = [("run", "run", ""), ("how", "when left out", ""), ("bias", "change", "+.4f"), ("pooled", "pooled", ".4f")]
    tip += [("alone", "relevant docs it alone found", "d")]
    scale = alt.Scale(domain=list(how.values()), range=[MAIN, ACCENT])
    colour = alt.Color("how", type="nominal", scale=scale, legend=alt.Legend(title=None))
    offset = alt.YOffset("how", type="nominal", sort=list(how.values()))
    y = names("Y", "run", None, sort=runs)
    x = amount("X", "bias", f"change of mean {result.measure} when left out", zero=True, form="+.3f")
    made = tall(bars(y, x, tip=tip, color=colour, yOffset=offset), len(order))
    some = f"{len(order)} runs"
    if len(order) < len(result.runs):
        some = f"{len(order)} of {len(result.runs)} runs"
    worst = int(result.loss.argmin())
    change = as_shown(float(result.loss.mean()), "+.4f")
    most = as_shown(float(result.loss[worst]), "+.4f")
    said = f"Mean change {change}; {result.runs[worst]} loses most ({most})."
    title = f"What the pool hides: {some} left out of it, by {result.by}, depth {result.depth}"
    return drawn(made, name="pool-bias", title=title, description=said, rows=rows)


@draws("pooling.Contributions")
def contributions(result: Contributions, *, top: int = TOP) -> Figure:
    """Docs that each run or group brought to the pool, those it alone brought marked."""
    alt = altair()
    order = np.argsort(-result.contributed, kind="stable")[:top]
    parts = {"also from others": result.contributed - result.alone, "from it alone": result.alone}
    rows = [
        {"part": k, "order": j, **row}
        for j, (k, v) in enumerate(parts.items())
        for row in rows_of(name=[result.names[i] for i in order], docs=v[order])
    ]
    scale = alt.Scale(domain=list(parts), range=[MAIN, ACCENT])
    colour = alt.Color("part", type="nominal", scale=scale, legend=alt.Legend(title=None))
    tip = tips([("name", result.by, ""), ("part", "docs", ""), ("docs", "number", "d")])
    x = alt.X("docs", type="quantitative", stack="zero", title="docs in the pool")
    y = names("Y", "name", None, sort=[result.names[i] for i in order])
    made = tall(chart().mark_bar().encode(y=y, x=x, color=colour, tooltip=tip, order="order:Q"), len(order))
    most = result.names[int(result.alone.argmax())]
    said = f"{most} brought most docs that no other {result.by} brought ({int(result.alone.max())})."
    return drawn(
        made, name="contributions", title=f"What each {result.by} brought to the pool", description=said, rows=rows
    )


@draws("pooling.Adjustment")
def adjustment(result: Adjustment) -> Figure:
    """A run's mean as scored and as adjusted for the pool's bias."""
    rows = rows_of(what=["as scored", "adjusted"], score=[result.unpooled, result.adjusted])
    tip = [("what", "mean", ""), ("score", "score", ".4f")]
    made = tall(bars(names("Y", "what", None), amount("X", "score", "mean score", zero=True), tip=tip), 2)
    said = (
        f"{result.unpooled:.4f} becomes {result.adjusted:.4f} by the method {result.method}. Advice: {result.advice}."
    )
    title = f"{result.run}: mean score without its pooling bias"
    return drawn(made, name="adjustment", title=title, description=said, rows=rows)


@draws("pooling.Accuracy")
def adjustment_errors(result: Accuracy) -> Figure:
    """Mean absolute error of each estimator over the number of pooled runs, most common topics."""
    series = {"as scored": result.raw, "by other systems": result.systems, "by topics": result.adjusted}
    rows = [
        {"how": k, **row}
        for k, v in series.items()
        for row in rows_of(width=result.widths, error=np.atleast_2d(v.reshape(len(result.widths), -1))[:, -1])
    ]
    tip = [("how", "how", ""), ("width", "pooled runs", "d"), ("error", "mean absolute error", ".4f")]
    x, y = amount("X", "width", "runs in the pool"), amount("Y", "error", "mean absolute error", zero=True)
    made = lines(x, y, series="how", order=list(series), tip=tip).properties(height=280)
    return drawn(
        made, name="adjusted", title="How well adjustments undo the pool's bias", description=result.recipe, rows=rows
    )


@draws("pooling.UnpooledBias")
def unpooled_bias(result: UnpooledBias) -> Figure:
    """Mean bias of a run outside the pool over the number of pooled runs, with the quartiles as bars."""
    alt = altair()
    words = {"nonrelevant": "unjudged not relevant", "condensed": "unjudged taken out"}
    rows = []
    for unjudged, errors in result.errors.items():
        low, high = np.quantile(errors, [0.25, 0.75], axis=1)
        how = [words[unjudged]] * len(result.widths)
        rows += rows_of(how=how, width=result.widths, bias=errors.mean(axis=1), low=low, high=high)
    tip = [("how", "how", ""), ("width", "runs in the pool", "d"), ("bias", "bias", "+.4f")]
    tip += [("low", "first quartile", "+.4f"), ("high", "third quartile", "+.4f")]
    x = alt.X("width", type="ordinal", title="runs in the pool", axis=alt.Axis(labelAngle=0))
    scale = alt.Scale(domain=list(words.values()), range=[MAIN, ACCENT])
    colour = alt.Color("how", type="nominal", scale=scale, legend=alt.Legend(title=None))
    beside = alt.XOffset("how", type="nominal", sort=list(words.values()))
    base = chart().encode(x=x, xOffset=beside, color=colour, tooltip=tips(tip))
    title_of_y = f"unpooled − pooled mean {result.measure}"
    rule = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low", type="quantitative", title=title_of_y), y2=alt.Y2("high")
    )
    point = base.mark_point(size=60, filled=True, opacity=1).encode(y=amount("Y", "bias", title_of_y, form="+.2f"))
    made = alt.layer(rule, point).properties(height=300)
    said = "Points: mean bias; bars: first to third quartile."
    title = "What a run loses or gains outside the pool"
    return drawn(made, name="unpooled-bias", title=title, description=said, rows=rows)


@draws("pooling.Confidence")
def confidences(result: Confidence) -> Figure:
    """How sure it is that the run of each row is better than that of each column."""
    order = np.argsort(-result.means, kind="stable")[:TOP].tolist()
    rows = []
    for i in order:
        others = [j for j in order if j != i]
        rows += rows_of(
            run=[result.runs[i]] * len(others),
            other=[result.runs[j] for j in others],
            sure=result.above[i, others],
        )
    tip = [("run", "run", ""), ("other", "better than", ""), ("sure", "probability", ".3f")]
    x = names("X", "other", "than this run", labelAngle=-90, ticks=False)
    y = names("Y", "run", None, ticks=False)
    made = tall(cells(x, y, "sure", "P(better)", tip=tip, domain=(0, 1)), len(order))
    undecided = int(result.undecided().sum()) // 2
    said = f"Best by the judgments so far: {result.runs[order[0]]}; {undecided} pairs are undecided."
    return drawn(made, name="confidence", title="How sure the order of the runs is", description=said, rows=rows)


@draws("pooling.CollectionFacts")
def docs_per_topic(result: CollectionFacts) -> Figure:
    """Relevant docs of each topic, most first; with parts the mean judged docs per topic of each, by relevance."""
    if result.parts:
        return _docs_per_part(result)
    order = np.argsort(-result.relevant, kind="stable")
    topics = [result.topics[i] for i in order]
    rows = rows_of(topic=topics, relevant=result.relevant[order], judged=result.judged[order])
    tip = [("topic", "topic", ""), ("relevant", "relevant", "d"), ("judged", "judged", "d")]
    x = names("X", "topic", "topic", sort=topics, labelAngle=-90, labelOverlap="greedy", labelFontSize=9, ticks=False)
    y = amount("Y", "relevant", "relevant docs", zero=True)
    bar = chart().mark_bar().encode(x=x, y=y, tooltip=tips(tip), color=altair().value(MAIN))
    made = bar.properties(height=280)
    mean = result.relevant.mean()
    said = f"{mean:.1f} relevant docs per topic on average, from {result.relevant.min()} to {result.relevant.max()}."
    title = f"Relevant docs of {len(topics)} topics"
    return drawn(made, name="relevant", title=title, description=said, rows=rows)


def _docs_per_part(result: CollectionFacts) -> Figure:
    kinds = ("relevant", "not relevant")
    rows = []
    for part, places in result.parts.items():
        relevant = result.relevant[list(places)].mean()
        judged = result.judged[list(places)].mean()
        for order, docs in enumerate((relevant, judged - relevant)):
            rows += rows_of(part=[part], kind=[kinds[order]], docs=[docs], order=[order])
    made = _stacked(rows, "part", "docs judged per topic", kinds, sort=list(result.parts))
    said = f"Mean docs judged per topic, relevant from grade {result.rel:g} on."
    return drawn(made, name="judged", title="Judged docs per topic", description=said, rows=rows)


@draws("pooling.PoolByType")
def docs_by_type(result: PoolByType) -> Figure:
    """Relevant docs that each type of run brought, those that no other type brought marked."""
    kinds = ("from it alone", "also from others")
    rows = []
    for i, name in enumerate(result.names):
        alone = result.relevant_alone[i]
        for order, docs in enumerate((alone, result.relevant[i] - alone)):
            rows += rows_of(part=[name], kind=[kinds[order]], docs=[docs], order=[order])
    made = _stacked(rows, result.column, "relevant docs", kinds, sort=list(result.names))
    most = int(result.relevant_alone.argmax())
    share = 100 * result.relevant_alone[most] / max(1, result.all_relevant)
    said = f"{share:.1f} % of the {result.all_relevant} relevant docs come from {result.names[most]} runs alone."
    return drawn(made, name="by-type", title=f"Relevant docs by {result.column} of run", description=said, rows=rows)


def _stacked(rows: list[dict[str, Any]], what: str, y: str, kinds: Sequence[str], *, sort: list[str]) -> Any:
    """Columns of two parts each."""
    alt = altair()
    scale = alt.Scale(domain=list(kinds), range=[ACCENT, MAIN])
    colour = alt.Color("kind", type="nominal", scale=scale, legend=alt.Legend(title=None))
    tip = tips([("part", what, ""), ("kind", "docs", ""), ("docs", "number", ".1f")])
    height = alt.X("docs", type="quantitative", stack="zero", title=y)
    bar = (
        chart()
        .mark_bar()
        .encode(y=names("Y", "part", what, sort=sort), x=height, color=colour, tooltip=tip, order="order:Q")
    )
    return tall(bar, len(sort))
