"""Pictures of cuts of a scale: α of every cut, sets of cuts around the best, and what they do to runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.crowd.cutgroups import GROUPS
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, classes, names, ranges, scatter, tall, tips
from assay.report.theme import ACCENT, COLOURS, MAIN, MUTED, STEP

if TYPE_CHECKING:
    from assay.crowd.cut_rankings import CutsByTau, RankingOverCuts
    from assay.crowd.cutgroups import CutGroups
    from assay.crowd.cuts import CutSearch
    from assay.crowd.cutsets import HonestCuts


@draws("crowd.CutSearch")
def cut_map(result: CutSearch) -> Figure:
    """α of every cut (across) on every topic, the best cut of each marked; with more levels only the best cuts."""
    best: list[dict[str, Any]] = []
    for cut in result.cuts:
        alpha = cut.alpha if np.isfinite(cut.alpha) else None
        best += [{"topic": cut.topic, "cut": point, "alpha": alpha} for point in cut.points]

    across = f"cut of {result.source.name}: labels up to here are low"
    x = amount("X", "cut", across)
    y = names("Y", "topic", "topic")
    tip = tips([("topic", "topic", ""), ("cut", "cut after", ".3g"), ("alpha", "α", ".4f")])
    diamond = chart("best").mark_point(shape="diamond", size=70, filled=True, color=ACCENT, opacity=1)
    layers = [diamond.encode(x=x, y=y, tooltip=tip)]
    rows = _alpha_rows(result)
    if result.curves is not None and result.curves.size:
        layers.insert(0, _alpha_cells(across, y, tip))

    points = [f"{cut.topic}: {', '.join(_in_short(cut.points))}" for cut in result.cuts[:6]]
    said = f"Best cuts (diamonds): {'; '.join(points)}."
    title = f"Where to cut {result.source.name} into {result.levels} levels ({result.way})"
    made = tall(altair().layer(*layers), len(result.cuts))
    return drawn(made, name="cuts", title=title, description=said, rows=rows, best=best)


def _alpha_rows(result: CutSearch) -> list[dict[str, Any]]:
    """α of every cut on every topic where it is defined, with the ends of its cell; none without curves."""
    if result.curves is None or not result.curves.size:
        return []
    places = np.array(result.source.levels[: result.curves.shape[1]])
    gap = float(np.diff(places).min()) if len(places) > 1 else 1.0
    rows = []
    for cut, curve in zip(result.cuts, result.curves, strict=True):
        defined = np.isfinite(curve)
        at = places[defined]
        rows += rows_of(
            topic=[cut.topic] * len(at),
            cut=at,
            start=at - gap / 2,
            end=at + gap / 2,
            alpha=curve[defined],
        )
    return rows


def _alpha_cells(title: str, y: Any, tip: Any) -> Any:
    """A cell for each cut on each topic, α as its intensity."""
    alt = altair()
    legend = alt.Legend(title="α", gradientLength=180, gradientThickness=10)
    colour = alt.Color("alpha", type="quantitative", legend=legend)
    x = alt.X("start", type="quantitative", scale=alt.Scale(nice=False), title=title)
    bar = chart().mark_bar(aria=False, height={"band": 1})
    return bar.encode(x=x, x2="end", y=y, color=colour, tooltip=tip)


def _in_short(grades: Iterable[float]) -> list[str]:
    return [f"{grade:g}" for grade in grades]


@draws("crowd.HonestCuts")
def cut_sets(result: HonestCuts) -> Figure:
    """For each topic the best cut within the range of its set, each cut point on its own."""
    rows: list[dict[str, Any]] = []
    for found in result.sets:
        if not len(found.cuts):
            continue
        low = found.cuts.min(axis=0)
        high = found.cuts.max(axis=0)
        of_topic = rows_of(cut=found.cuts[0], low=low, high=high, point=range(1, len(low) + 1))
        rows += [{"topic": found.topic, "members": len(found.cuts), **row} for row in of_topic]
    tip = [
        ("topic", "topic", ""),
        ("cut", "best cut", ".3g"),
        ("low", "from", ".3g"),
        ("high", "to", ".3g"),
        ("members", "cuts in the set", ",d"),
    ]
    x = amount("X", "cut", f"cut of {result.search.source.name}: labels up to here are low")
    y = names("Y", "topic", "topic", sort=[found.topic for found in result.sets])
    made = tall(ranges(y, x, "low", "high", tip=tip), len(result.sets))
    members = [len(found.cuts) for found in result.sets]
    said = f"Between {min(members):,} and {max(members):,} cuts of a topic cannot be distinguished from its best."
    title = f"Cuts into {result.search.levels} levels that cannot be distinguished from the best ({result.search.way})"
    return drawn(made, name="cut-sets", title=title, description=said, rows=rows)


@draws("crowd.RankingOverCuts")
def ranks_over_cuts(result: RankingOverCuts) -> Figure:
    """Each run's rank under the best cuts, within its ranks under the others of the sets."""
    ranks = result.ranks()
    order = np.argsort(ranks[0], kind="stable")
    runs = [result.runs[run] for run in order.tolist()]
    rows = rows_of(run=runs, rank=ranks[0][order], low=ranks.min(axis=0)[order], high=ranks.max(axis=0)[order])
    tip = [
        ("run", "run", ""),
        ("rank", "rank", ".3g"),
        ("low", "best rank", ".3g"),
        ("high", "worst rank", ".3g"),
    ]
    x = amount("X", "rank", "rank under the best cuts, and its range over the sets")
    made = tall(ranges(names("Y", "run", "run", sort=runs), x, "low", "high", tip=tip), len(runs))
    moved = int((ranks.max(axis=0) > ranks.min(axis=0)).sum())
    said = f"{moved} of {len(runs)} runs change their rank with the cut."
    title = "What the choice of a cut does to the ranking of runs"
    return drawn(made, name="cut-ranks", title=title, description=said, rows=rows)


@draws("crowd.CutGroups")
def groups_of_cuts(result: CutGroups) -> Figure:
    """Where the points of the best, median and worst cuts of each topic lie: mean, and the range of nine tenths."""
    rows: list[dict[str, Any]] = []
    for found in result.groups:
        low, high = np.percentile(found.cuts, [5, 95], axis=0)
        points = [f"point {j}" for j in range(1, result.levels)]
        of_group = rows_of(point=points, cut=found.cuts.mean(axis=0), low=low, high=high)
        rows += [{"topic": found.topic, "group": found.group, **row} for row in of_group]
    topics = list(dict.fromkeys(found.topic for found in result.groups))
    order = [f"point {j}" for j in range(1, result.levels)]
    alt = altair()
    y = names("Y", "topic", "topic", sort=topics)
    tip = tips([("topic", "topic", ""), ("point", "cut point", ""), ("cut", "mean", ".1f"), ("low", "5 %", ".1f"),
                ("high", "95 %", ".1f")])  # fmt: skip
    # The points of a cut have a lane each within the row of their topic.
    lane = alt.YOffset("point", type="nominal", sort=order)
    colour = classes("point", None, order, COLOURS[: len(order)])
    base = chart(None).encode(y=y, yOffset=lane, color=colour["color"], tooltip=tip)
    across = f"cut of {result.source.name}"
    rule = base.mark_rule(strokeWidth=2).encode(x=alt.X("low", type="quantitative", title=across), x2="high")
    point = base.mark_point(filled=True, size=30, opacity=1).encode(x=amount("X", "cut", across), shape=colour["shape"])
    height = max(3, len(topics)) * STEP * max(1, len(order) // 2)
    layers = alt.layer(rule, point, data=alt.NamedData(name="rows")).properties(height=height)
    made = layers.facet(facet=alt.Facet("group:N", title=None, sort=list(GROUPS)), columns=3)
    widths = {group: np.mean([g.width for g in result.groups if g.group == group]) for group in GROUPS}
    said = "Mean width " + ", ".join(f"{width:.0f} of the {group} cuts" for group, width in widths.items()) + "."
    title = f"Best, median and worst cuts of {result.source.name} into {result.levels} levels ({result.way})"
    note = "Mean of each cut point and the range of nine tenths of the cuts."
    return drawn(made, name="cut-groups", title=title, description=said, note=note, rows=rows)


@draws("crowd.CutsByTau")
def tau_of_cuts(result: CutsByTau) -> Figure:
    """τ with the reference against α: one point per cut, those that τ and α choose marked."""
    chosen = ["another cut"] * len(result.cuts)
    chosen[result.by_alpha] = "chosen by α"
    chosen[result.by_tau] = "chosen by τ"
    if result.by_tau == result.by_alpha:
        chosen[result.by_tau] = "chosen by both"
    cuts = [", ".join(_in_short(cut)) for cut in result.cuts.tolist()]
    rows = rows_of(cut=cuts, tau=result.tau, alpha=result.alpha, chosen=chosen)
    order = list(dict.fromkeys(sorted(chosen)))
    colours = [MUTED, ACCENT, MAIN][: len(order)] if "another cut" in order else [ACCENT, MAIN][: len(order)]
    tip = [("cut", "cut", ""), ("tau", "τ_b", ".4f"), ("alpha", "α", ".4f")]
    x = amount("X", "alpha", f"α by {result.way}", room=8)
    y = amount("Y", "tau", f"τ_b of {result.runs} runs with the reference", room=8)
    made = scatter(x, y, tip=tip, **classes("chosen", None, order, colours))
    best = cuts[result.by_tau]
    said = f"The highest τ is {np.nanmax(result.tau):.3f} at {best}; α chooses {cuts[result.by_alpha]}."
    title = f"Cuts of {result.source.name} by α and by the ranking of runs ({result.measure})"
    return drawn(made, name="cuts-by-tau", title=title, description=said, rows=rows)
