"""Pictures of a store's pages: a run on every topic among the other runs of its collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, classes, scatter
from assay.report.theme import ACCENT, MAIN, MUTED, THIRD

if TYPE_CHECKING:
    from assay.store.run_facts import RunFacts

MOST_TOPICS = 100
"""Topics that the picture of a run shows; the table has all."""


@draws("store.RunFacts")
def run_on_topics(facts: RunFacts) -> Figure:
    """The run, the best and the median of its collection on every topic, easiest topic first."""
    alt = altair()
    order = np.argsort(-facts.median, kind="stable")[:MOST_TOPICS]
    series = {facts.run.tag: facts.scores, "best of all runs": facts.best, "median of all runs": facts.median}
    colours = [MAIN, THIRD, MUTED]
    if facts.baseline is not None and facts.baseline_scores is not None:
        series[f"baseline {facts.baseline.tag}"] = facts.baseline_scores
        colours.append(ACCENT)
    kinds = list(series)
    rows = rows_of(
        topic=[facts.topics[i] for _ in kinds for i in order],
        score=np.concatenate([values[order] for values in series.values()]),
        kind=[kind for kind in kinds for _ in order],
    )
    axis = alt.Axis(title="topics, by median", labelAngle=-90, labelOverlap="greedy", ticks=False, labelFontSize=10)
    x = alt.X("topic", type="nominal", sort=None, axis=axis)
    y = amount("Y", "score", facts.measure, zero=True)
    tip = [("topic", "topic", ""), ("kind", "run", ""), ("score", facts.measure, ".4f")]
    signs = classes("kind", None, kinds, colours)
    below = int((facts.scores < facts.median).sum())
    said = f"{facts.run.tag} is below the median of {facts.of_runs} runs on {below} of {len(facts.topics)} topics."
    return drawn(
        scatter(x, y, tip=tip, **signs).properties(height=280),
        name="run_on_topics",
        title=f"{facts.measure} of {facts.run.tag} on every topic",
        description=said,
        rows=rows,
    )
