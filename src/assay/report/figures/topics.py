"""Pictures of fewer topics: Best, Average and Worst by cardinality, which topics they keep, what one would conclude."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.tables import shown
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, lines, names, scatter, tips
from assay.report.theme import ACCENT, COLOURS, MAIN, MUTED, THIRD

if TYPE_CHECKING:
    from assay.topics.clusters import ClusterList
    from assay.topics.conclusions import ConclusionsResult
    from assay.topics.extremes import SeriesResult
    from assay.topics.good_enough import GoodSubsets
    from assay.topics.hits import HitsResult
    from assay.topics.holdout import HoldoutResult
    from assay.topics.one_per_cluster import ClusterResult
    from assay.topics.search import SearchResult
    from assay.topics.stability import StabilityResult
    from assay.topics.subset_means import SubsetMeans
    from assay.topics.synthetic import GrowthResult

Curves = dict[str, Sequence[float] | Floats]


@draws("topics.SeriesResult")
def series_curves(result: SeriesResult, *, share: bool = False) -> Figure:
    """Best, Average and Worst over the number of topics c, or with `share` over c/n; also the percentiles."""
    curves: Curves = {"best": result.found.values("best")}
    curves |= {f"best {p:g} %": v for p, v in result.sample.upper.items()}
    curves |= {"average": result.sample.average}
    curves |= {f"worst {p:g} %": v for p, v in result.sample.lower.items()}
    curves |= {"worst": result.found.values("worst")}
    if result.problem.truth is not None:  # otherwise all topics have the perfect value
        curves["all topics"] = np.full(len(result.c), result.all_topics())
    enough = result.reaching(0.9)
    said = "" if enough is None else f"On average {enough} topics reach .9. "
    n, title = result.problem.n, result.problem.title
    return _over_topics(
        result.c, curves, n=n if share else None, y=title, name="series", said=said + result.found.note(),
        title=f"How well fewer of the {n} topics rank the {len(result.problem.matrix.runs)} runs",
    )  # fmt: skip


@draws("topics.SearchResult")
def search_curves(result: SearchResult) -> Figure:
    """Values of the best (and worst) subset of each cardinality; of a single one the topics of all sets found."""
    if len(result.cardinalities) == 1:
        return _topics_of_sets(result)
    found = result.sets
    c = sorted(set.intersection(*(set(v) for v in found.values())))
    curves: Curves = {side: np.array([float(found[side][k][1][0]) for k in c]) for side in found}
    title = f"Best and worst subsets of {result.problem.n} topics"
    return _over_topics(c, curves, y=result.problem.title, title=title, name="subsets", said=result.note())


def _topics_of_sets(result: SearchResult) -> Figure:
    """Which topics (across) are in each of the best and worst sets of one size (downwards)."""
    alt = altair()
    (c,) = result.cardinalities
    rows = []
    order = []
    for side in result.sets:
        for subset in result.subsets(side, c=c):
            name = f"{side} {subset.place}"
            order.append(name)
            count = len(subset.topics)
            rows += rows_of(topic=subset.topics, name=[name] * count, side=[side] * count, value=[subset.value] * count)
    topics = list(result.problem.matrix.topics)
    colour = alt.Color(
        "side", type="nominal", legend=alt.Legend(title="set"),
        scale=alt.Scale(domain=["best", "worst"], range=[MAIN, ACCENT]),
    )  # fmt: skip
    x = names("X", "topic", "topic", sort=topics, labelAngle=-90, labelOverlap="greedy", labelFontSize=9, ticks=False)
    y = names("Y", "name", None, sort=order, ticks=False)
    tip = tips([("topic", "topic", ""), ("name", "set", ""), ("value", result.problem.title, ".4f")])
    made = chart().mark_rect(aria=False).encode(x=x, y=y, color=colour, tooltip=tip)
    title = f"Topics of the best and worst sets of {c} topics"
    shaped = made.properties(height=16 * len(order))
    said = f"Topics that are in none of them are left out. {result.note()}."
    return drawn(shaped, name="sets", title=title, description=said, rows=rows)


@draws("topics.GoodSubsets")
def good_shares(result: GoodSubsets) -> Figure:
    """The share of subsets that are good enough over the number of topics, by criterion and by all at once."""
    curves: Curves = dict(result.named_shares())
    half = result.enough(0.5)
    said = "" if half is None else f"From {half} topics on half of the subsets are good. "
    said += f"{result.repetitions} random subsets of each size."
    title = f"How many subsets of {result.topics} topics are good enough"
    return _over_topics(result.c, curves, y="share of the subsets", title=title, name="good", said=said)


@draws("topics.SubsetMeans")
def means_of_runs(result: SubsetMeans) -> Figure:
    """Mean score of each run on the best and worst subsets over its mean on all topics, one panel per size."""
    alt = altair()
    runs = result.found.problem.matrix.runs
    rows = []
    panels = []
    for (side, c), means in result.means.items():
        values = {of_side: shown(result.values[of_side, c], ".2f") for of_side in ("best", "worst")}
        panel = f"{c} topics: {values['best']}, {values['worst']}"
        panels.append(panel)
        rows += rows_of(
            run=runs, panel=[panel] * len(runs), side=[side] * len(runs), full=result.full, subset=means
        )  # fmt: skip
    tip = [("run", "run", ""), ("side", "set", ""), ("full", "all topics", ".4f"), ("subset", "subset", ".4f")]
    x = amount("X", "full", "mean on all topics")
    y = amount("Y", "subset", "mean on the subset")
    scale = alt.Scale(domain=["best", "worst"], range=[MAIN, ACCENT])
    colour = alt.Color("side", type="nominal", scale=scale, legend=alt.Legend(title="set"))
    point = chart(None).mark_point(filled=True, size=24, opacity=0.6).encode(x=x, y=y, color=colour, tooltip=tips(tip))
    in_order = list(dict.fromkeys(panels))
    made = point.properties(data=alt.NamedData(name="rows"), width=210, height=210).facet(
        facet=alt.Facet("panel:N", title=None, sort=in_order), columns=min(3, len(in_order))
    )
    criterion = result.found.problem.title
    said = f"One point per run and subset; above, {criterion} of the best and the worst subset. {result.found.note()}."
    return drawn(made, name="means", title="Means of the runs on subsets of the topics", description=said, rows=rows)


@draws("topics.HoldoutResult")
def held_out(result: HoldoutResult) -> Figure:
    """Subsets on the runs they were chosen on and on others."""
    curves: Curves = {
        "best, own runs": result.chosen.mean(axis=0), "best, held out": result.best.mean(axis=0),
        "random": result.average.mean(axis=0), "worst, held out": result.worst.mean(axis=0),
    }  # fmt: skip
    title = "Chosen topics on runs they were not chosen on"
    said = f"Means over {len(result.best)} splits; {result.how}."
    return _over_topics(result.c, curves, y=result.problem.title, title=title, name="held-out", said=said)


@draws("topics.ClusterResult")
def cluster_curves(result: ClusterResult) -> Figure:
    """One topic per cluster against random topics."""
    c = range(1, len(result.clustered) + 1)
    curves: Curves = {"one per cluster": result.clustered, "random": result.average}
    title = "One topic from each cluster against random topics"
    return _over_topics(c, curves, y=result.problem.title, title=title, name="clusters", said=f"{result.recipe}.")


@draws("topics.ClusterList")
def silhouettes(result: ClusterList) -> Figure:
    """How well each topic fits its cluster, cluster by cluster, the best fitting first."""
    alt = altair()
    rows = []
    for number, places in enumerate(result.clusters, start=1):
        best_first = places[np.argsort(-result.silhouettes[places], kind="stable")]
        topics = [result.matrix.topics[place] for place in best_first]
        rows += rows_of(topic=topics, cluster=[number] * len(topics), silhouette=result.silhouettes[best_first])
    order = [str(row["topic"]) for row in rows]
    x = names("X", "topic", "topic", sort=order, labelAngle=-90, labelOverlap="greedy", labelFontSize=9, ticks=False)
    y = amount("Y", "silhouette", "silhouette")
    # Where colours repeat, a legend would say nothing.
    legend = alt.Legend(title="cluster", columns=8) if len(result.clusters) <= len(COLOURS) else None
    colour = alt.Color("cluster", type="nominal", legend=legend, scale=alt.Scale(range=COLOURS))
    tip = tips([("topic", "topic", ""), ("cluster", "cluster", "d"), ("silhouette", "silhouette", "+.3f")])
    made = chart().mark_bar().encode(x=x, y=y, color=colour, tooltip=tip).properties(height=260)
    mean = shown(float(result.silhouettes.mean()), "+.3f")
    said = f"Mean silhouette {mean}; {result.recipe}. {result.largest:.0%} of the topics are in the largest cluster."
    title = f"How well the topics fit their {len(result.clusters)} clusters"
    return drawn(made, name="silhouettes", title=title, description=said, rows=rows)


@draws("topics.GrowthResult")
def growth_curves(result: GrowthResult) -> Figure:
    """Best, Average and Worst for ground truths of several sizes."""
    alt = altair()
    order = ["best", "average", "worst"]
    rows = [{"size": r.size, "topics": r.c, "series": s, "value": getattr(r, s)} for r in result.rows for s in order]
    colour = alt.Color(
        "size", type="ordinal", legend=alt.Legend(title="topics in all"), scale=alt.Scale(scheme="viridis")
    )
    dash = alt.StrokeDash("series", type="nominal", sort=order, legend=alt.Legend(title=None))
    tip = [
        ("series", "series", ""),
        ("size", "topics in all", "d"),
        ("topics", "topics", "d"),
        ("value", "value", ".4f"),
    ]
    made = chart().mark_line().encode(
        x=amount("X", "topics", "topics in the subset"), y=amount("Y", "value", result.criterion), color=colour,
        strokeDash=dash, tooltip=tips(tip),
    ).properties(height=300)  # fmt: skip
    said = f"{result.how}. Means over {result.draws} draws, seed {result.seed}."
    return drawn(made, name="growth", title="What a larger set of topics does", description=said, rows=rows)


@draws("topics.StabilityResult")
def pixels(result: StabilityResult) -> Figure:
    """Which topics (across) are in the best and in the worst set of each cardinality (upwards)."""
    best, worst = result.found.masks("best"), result.found.masks("worst")
    alt = altair()
    topics = result.found.problem.matrix.topics
    c, t = np.nonzero(best | worst)
    kinds = np.where(best & worst, "both", np.where(best, "best", "worst"))[c, t]
    rows = rows_of(cardinality=c + 1, topic=[topics[i] for i in t], kind=kinds)
    colour = alt.Color(
        "kind", type="nominal", legend=alt.Legend(title="in the set"),
        scale=alt.Scale(domain=["best", "worst", "both"], range=[MAIN, ACCENT, THIRD]),
    )  # fmt: skip
    x = names(
        "X", "topic", "topic", sort=list(topics), labelAngle=-90, labelOverlap="greedy", labelFontSize=9, ticks=False
    )
    y = alt.Y(
        "cardinality",
        type="ordinal",
        sort="descending",
        axis=alt.Axis(title="topics in the set", labelOverlap="greedy", ticks=False),
    )
    tip = tips([("topic", "topic", ""), ("cardinality", "topics in the set", "d"), ("kind", "in", "")])
    made = chart().mark_rect(aria=False).encode(x=x, y=y, color=colour, tooltip=tip)
    said = (
        f"Stability {result.chain['best']:.3f} for the best sets, {result.chain['worst']:.3f} for the worst; "
        f"they share {100 * result.overlap.mean():.0f} % of their topics on average."
    )
    title = "Which topics the best and worst sets keep"
    return drawn(
        made.properties(height=min(600, max(160, 7 * len(best)))),
        name="pixels",
        title=title,
        description=said,
        rows=rows,
    )


@draws("topics.ConclusionsResult")
def conclusion_areas(result: ConclusionsResult, *, kind: str = "random") -> Figure:
    """Shares of the pairs of runs by outcome (SSA, SSD, SN, NS, NN) over the number of topics, stacked."""
    from assay.topics.conclusions import OUTCOMES

    alt = altair()
    words = {
        "SSA": "both significant, agree", "SSD": "both significant, disagree", "SN": "only on the subset",
        "NS": "only on all topics", "NN": "neither",
    }  # fmt: skip
    rows = [
        {"set": k, "outcome": f"{o}: {words[o]}", "order": j, **row}
        for k, found in result.shares.items()
        for j, o in enumerate(OUTCOMES)
        for row in rows_of(topics=result.c, share=100 * found[:, j])
    ]
    domain = [f"{o}: {words[o]}" for o in OUTCOMES]
    scale = alt.Scale(domain=domain, range=[COLOURS[2], COLOURS[1], COLOURS[3], COLOURS[4], MUTED])
    colour = alt.Color("outcome", type="nominal", scale=scale, legend=alt.Legend(title=None))
    tip = tips(
        [("set", "set", ""), ("topics", "topics", "d"), ("outcome", "outcome", ""), ("share", "% of pairs", ".1f")]
    )
    y = alt.Y("share", type="quantitative", stack="zero", title="% of pairs of runs", scale=alt.Scale(domain=[0, 100]))
    x = amount("X", "topics", "topics in the set")
    area = chart(None).mark_area().encode(x=x, y=y, color=colour, tooltip=tip, order="order:Q")
    made = area.properties(data=alt.NamedData(name="rows")).facet(
        facet=alt.Facet("set:N", title=None, sort=list(result.shares)), columns=len(result.shares)
    )
    middle = len(result.c) // 2  # all topics are the last
    agree = result.shares[kind][middle, 0] if kind in result.shares else 0.0
    said = (
        f"{100 * result.full:.1f} % of {result.pairs} pairs are significant on all topics ({result.test}); "
        f"with {result.c[middle]} topics at random {100 * agree:.1f} % are so and agree."
    )
    title = "What one would conclude with fewer topics"
    return drawn(made, name="conclusions", title=title, description=said, rows=rows)


@draws("topics.HitsResult")
def hits_map(result: HitsResult) -> Figure:
    """Topics by ease (authority) and by how well they tell runs apart (hubness)."""
    rows = rows_of(topic=result.matrix.topics, ease=result.topic_authority, hubness=result.topic_hubness)
    tip = [("topic", "topic", ""), ("ease", "ease", ".4f"), ("hubness", "hubness", ".4f")]
    x, y = (
        amount("X", "ease", "authority: ease of the topic"),
        amount("Y", "hubness", "hubness: tells good runs from bad"),
    )
    best = result.matrix.topics[int(np.argmax(result.topic_hubness))]
    said = f"Topic {best} tells good runs from bad best."
    made = scatter(x, y, tip=tip).properties(height=320)
    return drawn(made, name="hits", title="Ease and hubness of the topics", description=said, rows=rows)


def _over_topics(c: Any, curves: Curves, *, y: str, title: str, name: str, said: str, n: int | None = None) -> Figure:
    rows = [
        {"series": s, **row}
        for s, v in curves.items()
        for row in rows_of(topics=[k / n if n else k for k in c], value=v)
    ]
    tip = [("series", "series", ""), ("topics", "topics", ".2f" if n else "d"), ("value", y, ".4f")]
    x = amount("X", "topics", "share of the topics, c/n" if n else "topics in the subset, c")
    order = list(curves)
    made = lines(x, amount("Y", "value", y), series="series", order=order, tip=tip, points=False).properties(height=300)
    return drawn(made, name=name, title=title, description=said, rows=rows)
