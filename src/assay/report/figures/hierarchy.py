"""Pictures of topics in groups: systems over variants of queries, and differences over conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, mark_at, names, ranges, some_of, tall
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.hierarchy.conversations import Conversations
    from assay.hierarchy.variants import QueryVariants

TOP = 40
"""Systems that a picture shows at most."""


@draws("hierarchy.QueryVariants")
def variant_ranges(result: QueryVariants) -> Figure:
    """Mean score of each system between the means of its worst and best variants, best system first."""
    means, worst, best = result.summary()
    order = np.argsort(-means, kind="stable")[:TOP]
    rows = rows_of(
        system=[result.matrix.runs[at] for at in order], mean=means[order], worst=worst[order], best=best[order]
    )
    tip = [("system", "system", ""), ("mean", "mean", ".4f"), ("worst", "worst variants", ".4f")]
    tip.append(("best", "best variants", ".4f"))
    x = amount("X", "mean", result.matrix.measure)
    made = ranges(names("Y", "system", None), x, "worst", "best", tip=tip, color=altair().value(MAIN))
    count = some_of(len(order), len(means))
    return drawn(
        tall(made, len(order)),
        name="query-variants",
        title=f"{result.matrix.measure} of {count} systems over the variants of {len(result.groups.names)} topics",
        description=f"{result.verdict}.",
        note="Lines go from the worst to the best variant of each topic, averaged over topics.",
        rows=rows,
    )


@draws("hierarchy.Conversations")
def conversation_differences(result: Conversations) -> Figure:
    """Differences from the baseline with intervals that know the conversations, largest first."""
    shown = result.rows[:TOP]
    rows = rows_of(
        run=[row.run for row in shown],
        difference=[row.difference for row in shown],
        low=[row.low for row in shown],
        high=[row.high for row in shown],
    )
    tip = [("run", "run", ""), ("difference", "difference", "+.4f"), ("low", "low", "+.4f"), ("high", "high", "+.4f")]
    x = amount("X", "difference", f"difference from {result.baseline}", form="+.2f")
    zero, mark = mark_at(0.0, axis="x")
    points = ranges(names("Y", "run", None), x, "low", "high", tip=tip, color=altair().value(MAIN))
    count = some_of(len(shown), len(result.rows))
    return drawn(
        tall(altair().layer(points, zero), len(shown)),
        name="conversations",
        title=f"{result.measure} of {count} runs minus {result.baseline} over {len(result.groups.names)} conversations",
        description=f"{result.verdict}.",
        note=f"Lines are {round(100 * result.level)} % intervals; conversations are independent, turns are not.",
        rows=rows,
        mark=mark,
    )
