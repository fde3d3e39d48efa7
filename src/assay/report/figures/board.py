"""Pictures of many collections: ranks that systems may have, a map of systems and collections, forest plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.board.aggregates import AGGREGATES
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, cells, classes, in_rows, mark_at, names, ranges, row_labels, some_of, tall, tips
from assay.report.theme import ACCENT, MAIN, MUTED

if TYPE_CHECKING:
    from assay.board.deciding import CollectionSubsets, LeftOut
    from assay.board.meta_analysis import RandomEffects
    from assay.board.ranked_systems import Board

TOP = 40
"""Systems that a picture shows at most unless asked for more."""


@draws("board.Board")
def rank_intervals(board: Board) -> Figure:
    """The ranks that each system may have, best first; those not significantly different from the first stand out."""
    leading = board.leading
    order = leading.order[: board.top or TOP]
    group = set(leading.first_group.tolist())
    decided = leading.pairs.decided
    first_kind = "not significantly different from the first" if decided else "not tested"
    kinds = [first_kind, "significantly worse than the first"]
    rows = rows_of(
        system=[board.data.systems[at] for at in order],
        rank=leading.ranks[order],
        low=leading.pairs.rank_low[order],
        high=leading.pairs.rank_high[order],
        value=leading.values[order],
        kind=[kinds[0] if at in group else kinds[1] for at in order.tolist()],
    )
    title = AGGREGATES[board.aggregate]
    tip = [("system", "system", ""), ("rank", "rank", "d"), ("low", "from", "d"), ("high", "to", "d")]
    tip.append(("value", title, ".4f"))
    all_in_group = group >= set(order.tolist())
    signs = _signs(kinds[:1] if all_in_group else kinds)
    x = amount("X", "rank", f"rank by {title}", form="d")
    made = ranges(names("Y", "system", None), x, "low", "high", tip=tip, **signs)
    count = some_of(len(order), len(board.data.systems))
    where = f"{len(board.data.collections)} collections"
    level = round(100 * board.level)
    return drawn(
        tall(made, len(order)),
        name="rank-intervals",
        title=f"Ranks that {count} systems may have on {where} ({level} %)",
        description=f"{board.verdict}.",
        note="Intervals hold for all systems at once." if decided else f"Not tested: {leading.pairs.how}.",
        rows=rows,
    )


def _signs(kinds: list[str]) -> dict[str, Any]:
    """Colour and shape by kind, with the legend above the picture."""
    signs = classes("kind", None, kinds, [MAIN, ACCENT][: len(kinds)])
    for sign in signs.values():
        sign.legend = altair().Legend(title=None, orient="top", labelLimit=320)
    return signs


def collection_map(board: Board) -> Figure:
    """Standardized means of systems on collections, best system first; a cell without scores is crossed out."""
    data = board.data
    ranked = [data.systems[at] for at in board.leading.order]
    without = [system for system in data.every_system if system not in data.systems]
    systems = [*ranked, *without][: board.top or TOP]
    place = {system: at for at, system in enumerate(data.every_system)}
    values = data.every_mean[[place[system] for system in systems]]
    there: list[dict[str, Any]] = []
    absent: list[dict[str, Any]] = []
    for system, row in zip(systems, values, strict=True):
        for collection, value in zip(data.every_collection, row.tolist(), strict=True):
            cell = rows_of(system=[system], collection=[collection], value=[value])
            (there if np.isfinite(value) else absent).extend(cell)
    step = row_labels(len(systems))
    x = names("X", "collection", None, sort=list(data.every_collection), labelAngle=-45)
    y = names("Y", "system", None, sort=systems, **step)
    tip = [("system", "system", ""), ("collection", "collection", ""), ("value", "standardized mean", ".4f")]
    made = cells(x, y, "value", "standardized mean", tip=tip)
    crosses = chart("absent").mark_point(shape="cross", angle=45, color=MUTED, size=40, filled=True)
    missing = crosses.encode(x=x, y=y, tooltip=tips([("system", "system", ""), ("collection", "has no scores on", "")]))
    layered = altair().layer(made, missing)
    count = some_of(len(systems), len(data.every_system))
    note = "A cross is a cell without scores." if absent else ""
    return drawn(
        in_rows(layered, len(systems)),
        name="collection-map",
        title=f"{data.measure} of {count} systems on {len(data.every_collection)} collections, standardized",
        description=f"{data.missing} of {data.present.size} cells have no scores. {board.verdict}.",
        note=note,
        rows=there,
        absent=absent,
    )


@draws("board.RandomEffects")
def forest(result: RandomEffects) -> Figure:
    """Mean differences from the baseline with intervals: of one system on every collection, or of all systems."""
    if result.system is not None:
        return _forest_of(result, result.system)
    order = [at for at in result.order() if np.isfinite(result.pooled.mean[at])][: result.top or TOP]
    pooled = result.pooled
    rows = rows_of(
        name=[result.systems[at] for at in order],
        mean=pooled.mean[order],
        low=pooled.low[order],
        high=pooled.high[order],
        new_low=pooled.predicted_low[order],
        new_high=pooled.predicted_high[order],
    )
    count = some_of(len(order), len(result.systems))
    where = f"{len(result.data.collections)} collections"
    above = int((pooled.low[order] > 0).sum())
    return _forest(
        result,
        rows,
        title=f"{result.scores} of {count} systems minus {result.baseline} over {where}",
        said=f"Of {len(order)} systems shown, each by itself, {above} are significantly better than {result.baseline}.",
    )


def _forest_of(result: RandomEffects, system: str) -> Figure:
    """One system: each collection, the mean of all, and a new collection."""
    at = result.systems.index(system)
    low, high = result.ends(system)
    pooled = result.pooled
    rows = rows_of(name=result.data.collections, mean=result.effects[at], low=low, high=high)
    summary = rows_of(
        name=["mean of all"],
        mean=[pooled.mean[at]],
        low=[pooled.low[at]],
        high=[pooled.high[at]],
        new_low=[pooled.predicted_low[at]],
        new_high=[pooled.predicted_high[at]],
    )
    tau = float(np.sqrt(pooled.tau2[at]))
    return _forest(
        result,
        [*rows, *summary],
        title=f"{result.scores} of {system} minus {result.baseline} on {len(rows)} collections",
        said=f"Mean {pooled.mean[at]:+.4f} from {pooled.low[at]:+.4f} to {pooled.high[at]:+.4f}, τ = {tau:.4f}.",
    )


def _forest(result: RandomEffects, rows: list[dict[str, Any]], *, title: str, said: str) -> Figure:
    """Points with intervals, thin lines of prediction behind them, and a dashed line at no difference."""
    alt = altair()
    y = names("Y", "name", None, sort=[row["name"] for row in rows])
    tip = [("name", "name", ""), ("mean", "difference", "+.4f"), ("low", "low", "+.4f"), ("high", "high", "+.4f")]
    tip += [("new_low", "new collection, low", "+.4f"), ("new_high", "new collection, high", "+.4f")]
    x = amount("X", "mean", f"difference from {result.baseline}", form="+.2f")
    new = chart().mark_rule(strokeWidth=7, opacity=0.3, color=MUTED)
    predicted = new.encode(y=y, x=alt.X("new_low", type="quantitative"), x2=alt.X2("new_high"))
    zero, mark = mark_at(0.0, axis="x")
    points = ranges(y, x, "low", "high", tip=tip, color=alt.value(MAIN))
    level = round(100 * result.level)
    note = f"Lines are {level} % intervals; the grey band is where a new collection is expected."
    return drawn(
        tall(alt.layer(predicted, points, zero), len(rows)),
        name="forest",
        title=title,
        description=said,
        note=note,
        rows=rows,
        mark=mark,
    )


@draws("board.LeftOut")
def left_out(result: LeftOut) -> Figure:
    """τ of the order without each collection with that by all, and of its own order with that by the others."""
    order = np.argsort(result.tau_without, kind="stable")
    kinds = ["order of all without it", "its own order, with that by the others"]
    rows = []
    for kind, taus in zip(kinds, (result.tau_without, result.tau_own), strict=True):
        ordered = [result.collections[at] for at in order]
        rows += rows_of(collection=ordered, tau=taus[order], kind=[kind] * len(order))
    signs = _signs(kinds)
    y = names("Y", "collection", None, sort=[result.collections[at] for at in order])
    tip = tips([("collection", "collection", ""), ("kind", "τ of", ""), ("tau", "τ", ".3f")])
    point = chart().mark_point(filled=True, size=60)
    made = point.encode(y=y, x=amount("X", "tau", "Kendall's τ-b"), tooltip=tip, **signs)
    most = result.collections[int(order[0])]
    return drawn(
        tall(made, len(order)),
        name="left-out",
        title=f"What each of {len(order)} collections does to the order of {len(result.systems)} systems",
        description=f"Without {most} the order changes most: τ = {result.tau_without.min():.3f}.",
        rows=rows,
    )


@draws("board.CollectionSubsets")
def subset_curves(result: CollectionSubsets) -> Figure:
    """τ of the best and the worst subset over the number of collections."""
    from assay.report.shapes import lines

    counts = list(result.found.cardinalities)
    rows = []
    for side in ("best", "worst"):
        rows += rows_of(count=counts, tau=result.found.values(side), side=[side] * len(counts))
    x = amount("X", "count", "collections", form="d", ticks=counts if len(counts) <= 20 else None)
    tip = [("side", "subset", ""), ("count", "collections", "d"), ("tau", "τ", ".3f")]
    made = lines(
        x, amount("Y", "tau", "Kendall's τ with all collections"), series="side", order=["best", "worst"], tip=tip
    )
    matrix = result.found.problem.matrix
    return drawn(
        made.properties(height=280),
        name="collection-subsets",
        title=f"How well fewer of {len(matrix.topics)} collections rank {len(matrix.runs)} systems",
        description=f"The best single collection reaches τ = {result.found.values('best')[0]:.3f}.",
        rows=rows,
    )
