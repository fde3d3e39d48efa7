"""Pictures of crowd tasks: how they went, and what workers said of gold docs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, names, ranges, tall
from assay.report.theme import ACCENT

if TYPE_CHECKING:
    from assay.crowd.conduct import Conduct, GoldDocs

MOST_GOLD = 60


@draws("crowd.Conduct")
def conduct_bars(result: Conduct) -> Figure:
    """The share of the tasks that went each way."""
    ways = [f"{row.fact}: {row.value}" for row in result.rows]
    rows = rows_of(
        way=ways,
        tasks=[row.tasks for row in result.rows],
        share=[row.share for row in result.rows],
    )
    tip = [("way", "tasks", ""), ("tasks", "how many", ",d"), ("share", "share", ".3f")]
    y = names("Y", "way", None, sort=ways)
    x = amount("X", "share", "share of the tasks", domain=(0, 1), form="%")
    made = tall(bars(y, x, tip=tip), len(rows))
    said = "; ".join(f"{row.fact} {row.value}: {row.tasks:,}" for row in result.rows) + "."
    return drawn(made, name="conduct", title="How tasks went", description=said, rows=rows)


@draws("crowd.GoldDocs")
def gold_labels(result: GoldDocs) -> Figure:
    """Median and quartiles of the labels of each gold doc, and the label that is expected of it."""
    share = result.misordered / result.labels
    worst_first = np.argsort(-share, kind="stable")[:MOST_GOLD]
    docs = [" ".join(result.items[i]) for i in worst_first.tolist()]
    low, median, high = result.quartiles[worst_first].T
    rows = rows_of(
        doc=docs,
        gold=result.gold[worst_first],
        low=low,
        median=median,
        high=high,
        share=share[worst_first],
    )
    tip = [("doc", "gold doc", ""), ("gold", "expected", ".3g"), ("median", "median", ".3g"), ("low", "25 %", ".3g"),
           ("high", "75 %", ".3g"), ("share", "out of order", ".3f")]  # fmt: skip
    alt = altair()
    y = names("Y", "doc", "topic and gold doc", sort=docs)
    expected = chart().mark_tick(color=ACCENT, thickness=3, size=14)
    over = [expected.encode(y=y, x=alt.X("gold", type="quantitative"))]
    x = amount("X", "median", "label", room=6)
    made = tall(ranges(y, x, "low", "high", tip=tip, over=over), len(docs))
    said = f"{len(result.items)} gold docs; {int(result.misordered.sum()):,} labels of them are out of order."
    note = "Points are medians within the quartiles of the labels, bars the label that is expected."
    return drawn(made, name="gold-docs", title="Labels of the gold docs", description=said, note=note, rows=rows)
