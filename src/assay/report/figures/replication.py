"""Pictures of replications: improvements with intervals, topic by topic, and systems over a series of collections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import (
    amount,
    classes,
    diagonal,
    lines,
    mark_at,
    names,
    ranges,
    scatter,
    shortened,
    some_of,
    tall,
    tips,
)
from assay.report.theme import ACCENT, MAIN

if TYPE_CHECKING:
    from assay.replication import Replication, ScoreSeries
    from assay.replication.simulated_ratios import RatioCoverage

TOP = 10
"""Systems that a picture of a series shows at most unless asked for more."""


@draws("replication.Replication")
def improvements(result: Replication) -> Figure:
    """The improvement over the baseline in both experiments, with intervals, and where there is none."""
    two = result.experiments
    shown = {q.key: q for q in result.quantities}
    rows = []
    for which, experiment in (("original", two.original), ("replicated", two.replicated)):
        quantity = shown[f"improvement_{which}"]
        label = f"{which} ({len(experiment.topics)} topics)"
        rows += rows_of(name=[label], mean=[quantity.value], low=[quantity.low], high=[quantity.high])
    x = amount("X", "mean", f"improvement in {two.measure} over the baseline", form="+.2f")
    tip = [
        ("name", "experiment", ""),
        ("mean", "improvement", "+.4f"),
        ("low", "low", "+.4f"),
        ("high", "high", "+.4f"),
    ]
    zero, mark = mark_at(0.0, axis="x")
    points = ranges(names("Y", "name", None), x, "low", "high", tip=tip, color=altair().value(MAIN))
    title = f"{shortened(two.original.system, 24)} over {shortened(two.original.baseline, 24)}: {result.outcome}"
    return drawn(
        tall(altair().layer(points, zero), len(rows)),
        name="replication",
        title=title,
        description=f"{result.verdict}.",
        note=f"Lines are {round(100 * result.level)} % intervals.",
        rows=rows,
        mark=mark,
    )


def topic_improvements(result: Replication) -> Figure:
    """The improvement on each topic in both experiments; on the dashed line they are the same."""
    two = result.experiments
    before = two.original.improvement
    after = two.replicated.improvement
    rows = rows_of(topic=two.original.topics, before=before, after=after)
    both = np.concatenate([before, after])
    line, ends = diagonal(float(both.min()), float(both.max()))
    tip = [("topic", "topic", ""), ("before", "original", "+.4f"), ("after", "replicated", "+.4f")]
    x = amount("X", "before", f"original improvement in {two.measure}", form="+.2f")
    y = amount("Y", "after", "replicated improvement", form="+.2f")
    made = altair().layer(line, scatter(x, y, tip=tip, many=len(rows) > 100))
    r = float(np.corrcoef(before, after)[0, 1]) if before.std() and after.std() else None
    agreement = "" if r is None else f" Their correlation is {r:.2f}."
    return drawn(
        made.properties(height=320),
        name="topic-improvements",
        title=f"Improvements on {len(rows)} topics, original and replicated",
        description=f"{result.verdict}.{agreement}",
        rows=rows,
        diagonal=ends,
    )


@draws("replication.ScoreSeries")
def standardized_lines(result: ScoreSeries) -> Figure:
    """Standardized means of the systems over the collections, in the order of time."""
    places = result.shown()[: result.top or TOP]
    rows: list[dict[str, Any]] = []
    for at in places:
        rows += rows_of(
            system=[result.systems[at]] * len(result.collections),
            collection=result.collections,
            value=result.standardized[at],
            mean=result.means[at],
            rank=result.ranks[at],
        )
    order = [result.systems[at] for at in places]
    tip = [("system", "system", ""), ("collection", "collection", ""), ("value", "standardized mean", ".4f")]
    tip += [("mean", result.measure, ".4f"), ("rank", "rank", "d")]
    x = names("X", "collection", None, sort=list(result.collections), labelAngle=0)
    y = amount("Y", "value", f"standardized {result.measure}")
    made = lines(x, y, series="system", order=order, tip=tip)
    count = some_of(len(places), len(result.systems))
    return drawn(
        made.properties(height=320),
        name="score-series",
        title=f"{result.measure} of {count} systems over {len(result.collections)} collections, standardized",
        description=f"{result.verdict}.",
        note="Standardized on each topic relative to the same systems: a line that falls loses against the others.",
        rows=rows,
    )


@draws("replication.RatioCoverage")
def coverage_points(result: RatioCoverage) -> Figure:
    """Coverage of each kind of interval in every setting, beside the level that it claims."""
    kinds = list(dict.fromkeys(cell.interval for cell in result.cells))
    settings = []
    for cell in result.cells:
        where = "same topics" if cell.paired else "other topics"
        settings.append(f"{cell.topics} topics, effect {cell.effect:g}, {cell.law}, {where}")
    rows = rows_of(
        setting=settings,
        kind=[cell.interval for cell in result.cells],
        covered=[cell.covered for cell in result.cells],
        unbounded=[cell.unbounded for cell in result.cells],
    )
    signs = classes("kind", None, kinds, [MAIN, ACCENT][: len(kinds)])
    tip = [("setting", "setting", ""), ("kind", "interval", ""), ("covered", "coverage", ".3f")]
    tip.append(("unbounded", "without bounds", ".3f"))
    level, mark = mark_at(result.level, axis="x")
    y = names("Y", "setting", None, sort=list(dict.fromkeys(settings)), labelLimit=320)
    point = chart().mark_point(filled=True, size=60)
    points = point.encode(y=y, x=amount("X", "covered", "coverage", form=".2f"), tooltip=tips(tip), **signs)
    worst = {kind: min(cell.covered for cell in result.cells if cell.interval == kind) for kind in kinds}
    said = ", ".join(f"{kind} {value:.3f}" for kind, value in worst.items())
    return drawn(
        tall(altair().layer(points, level), len(set(settings))),
        name="ratio-coverage",
        title=f"Share of {round(100 * result.level)} % intervals that hold the true effect ratio",
        description=f"The lowest coverage of each kind: {said}.",
        rows=rows,
        mark=mark,
    )
