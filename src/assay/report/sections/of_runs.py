"""The sections that need the runs themselves: pool and unjudged docs, ties, similarity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.core.tables import Table
from assay.report.material import DEPTHS, Material
from assay.report.sections import SECTIONS, Block


@SECTIONS.register("pool", title="Pool and unjudged docs", need="runs")
def pool_section(m: Material) -> Iterator[Block]:
    """How much of each run is judged, between which scores judging the rest would leave it, what the pool hides."""
    from assay.report.curves import recall_precision, recall_precision_curves
    from assay.report.figures.data import relevance_map
    from assay.report.figures.pooling import bias_bars

    yield (
        "Docs that nobody judged count as not relevant. A run that brought docs to the pool has an advantage over one "
        "that did not. Two extremes: the unjudged docs are all not relevant, or all of the top grade."
    )
    yield judged_table(m)
    yield from bounds_tables(m)
    if m.aligned is not None:
        best = m.best_runs[0].name
        yield from m.drawing(relevance_map, m.aligned.grades(best), run=best)
        leading = m.aligned.select([run.name for run in m.best_runs[:8]])
        yield from m.drawing(recall_precision_curves, recall_precision(leading))
    left = m.left_out
    if left is None:
        yield (f"What the pool hides cannot be said: {m.pool.reason} (--pool-runs).")
        return
    yield (
        f"Leave one out: the docs that only one {left.by} has in its first {left.depth} count as never judged, and its "
        "runs are scored again."
    )
    yield from m.drawing(bias_bars, left, top=m.top)
    yield left.table()


def judged_table(m: Material) -> Table:
    """The share of judged docs at several depths, the least judged run first."""
    means = np.stack([x.averages() for x in m.judged], axis=1)
    order = np.argsort(means[:, 1], kind="stable")
    rows = [(m.judged[0].runs[i], *(100 * means[i])) for i in order]
    columns = {"run": "", **{f"first {d}": ".1f" for d in DEPTHS}}
    note = "mean over topics of the share of retrieved docs that are judged (grade 0 or more), at each depth"
    return Table.of(columns, rows, caption="Judged docs, %", notes=[note])


def bounds_tables(m: Material) -> Iterator[Table]:
    """Per measure: the mean with the unjudged docs not relevant, and with all of them at the top grade."""
    found = m.bounds
    columns = zip(found.low.averages(), found.high.averages(), found.low.measures, strict=True)
    for i, (lows, highs, measure) in enumerate(columns):
        order = np.argsort(-np.array(lows), kind="stable").tolist()
        rows = [(found.low.runs[run], lows[run], highs[run], highs[run] - lows[run]) for run in order]
        formats = {"run": "", "not relevant": ".4f", "top grade": ".4f", "change": "+.4f"}
        kind = "the ends of a range" if found.kinds[i] == "range" else "two scenarios"
        note = f"all unjudged docs not relevant, and all of the top grade, past the end of a list too: {kind}"
        caption = f"{measure}: what judging the unjudged docs could do"
        yield Table.of(formats, rows, caption=caption, notes=[note, found.reasons[i]])


@SECTIONS.register("ties", title="Tie sensitivity", need="runs")
def ties_section(m: Material) -> Iterator[Block]:
    """How far the order of docs of equal score could move the means."""
    if not m.ties.rows:
        yield "No run has docs of equal score, so their order cannot matter."
        return
    yield (
        "Docs of equal score have no order of their own. For every run with ties: its mean with ties by doc id, "
        "and in the worst and in the best order of tied docs."
    )
    yield m.ties


@SECTIONS.register("similarity", title="How alike the runs are", need="runs")
def similarity_section(m: Material) -> Iterator[Block]:
    """RBO of every two runs, clustered, and of the two best by depth."""
    from assay.report.curves import overlap_by_depth, overlap_curve
    from assay.report.figures.similarity import similarity_map

    runs = m.best_runs
    if len(runs) < 2:
        yield "One run alone has nothing to be compared with."
        return
    some = f" Compared are the {len(runs)} best of {len(m.runs)} runs." if len(runs) < len(m.runs) else ""
    yield f"Alike means that two runs return the same docs at the same ranks, not that they are equally good.{some}"
    yield from m.drawing(similarity_map, m.similarity)
    yield m.similarity.pairs()
    yield from m.drawing(overlap_curve, overlap_by_depth(runs[0], runs[1]))
