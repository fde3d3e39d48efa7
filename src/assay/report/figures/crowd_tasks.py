"""Pictures of crowd tasks: how they went, and what workers said of gold docs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, lines, names, ranges, tall
from assay.report.theme import ACCENT

if TYPE_CHECKING:
    from assay.crowd.allocation import Allocation
    from assay.crowd.allocation_replay import AllocationReplay
    from assay.crowd.conduct import Conduct, GoldDocs

MOST_GOLD = 60
MOST_PAIRS = 40


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


@draws("crowd.AllocationReplay")
def wrong_pairs(result: AllocationReplay) -> Figure:
    """Pairs of runs in the wrong order by the number of labels, as many for all docs and sent where they matter."""
    for_all = "as many for every doc"
    staked = "as many for docs with a stake"
    sent = "sent where they matter"
    rows = rows_of(
        labels=[*(row.labels for row in result.rows), *(row.staked for row in result.rows), *result.budgets],
        wrong=[*(2 * [row.wrong_for_all for row in result.rows]), *result.wrong.tolist()],
        way=[for_all] * len(result.rows) + [staked] * len(result.rows) + [sent] * len(result.budgets),
    )
    tip = [("way", "labels", ""), ("labels", "how many", ",d"), ("wrong", "wrong pairs", ".4f")]
    x = amount("X", "labels", "labels", zero=True)
    y = amount("Y", "wrong", "share of pairs of runs in the wrong order", zero=True)
    made = lines(x, y, series="way", order=[for_all, staked, sent], tip=tip)
    last = result.rows[-1]
    reached = (
        f"{last.needed:,} sent where they matter" if last.needed is not None else "no number sent where they matter"
    )
    said = f"{last.labels:,} labels, {last.k} for every doc, are matched by {reached}."
    title = f"Labels where they matter, against as many for all ({result.measure}, {result.runs} runs)"
    return drawn(made, name="allocation", title=title, description=said, rows=rows)


@draws("crowd.Allocation")
def uncertain_pairs(result: Allocation) -> Figure:
    """The differences of the least certain pairs of runs, with twice their error from labels."""
    certain = np.abs(result.delta) / result.error
    least_first = np.argsort(certain, kind="stable")[:MOST_PAIRS]
    pairs = [f"{result.runs[result.pairs[p][0]]} − {result.runs[result.pairs[p][1]]}" for p in least_first.tolist()]
    delta = result.delta[least_first]
    reach = 2 * result.error[least_first]
    rows = rows_of(pair=pairs, delta=delta, low=delta - reach, high=delta + reach)
    tip = [("pair", "runs", ""), ("delta", "Δ", "+.4f"), ("low", "low", "+.4f"), ("high", "high", "+.4f")]
    y = names("Y", "pair", None, sort=pairs)
    made = tall(
        ranges(y, amount("X", "delta", f"difference in {result.measure}", form="+"), "low", "high", tip=tip), len(pairs)
    )
    crossing = int((certain < 2).sum())
    said = f"{crossing} of {len(result.pairs)} differences lie within two errors of 0, by the labels alone."
    return drawn(made, name="uncertain-pairs", title="Comparisons that labels leave open", description=said, rows=rows)
