"""Pictures of p-values: how many pairs of runs are significantly different, by measure or by test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from assay.core.arrays import Floats
from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, lines, mark_at

if TYPE_CHECKING:
    from assay.stats.pair_tests import PairsResult

MOST_PAIRS = 400
"""Points of one curve; of more pairs only some are drawn, evenly spaced."""


@draws("stats.PairsResult")
def pair_curve(result: PairsResult) -> Figure:
    """The same for one family of tests."""
    return pair_curves({result.test: result})


def pair_curves(results: Mapping[str, PairsResult], *, alpha: float = 0.05) -> Figure:
    """The same for families of tests by name, e.g. by measure."""
    curves = {}
    shares = []
    for name, result in results.items():
        curves[name] = -np.sort(-result.p)  # largest first, not-a-number last
        percent = 100 * result.share(alpha)
        shares.append(f"{name} {percent:.1f} %")
    one = next(iter(results.values()))
    title = f"p-values of {len(one.p):,} pairs of runs, {one.n:,} topics"
    recipe = one.recipe[:1].upper() + one.recipe[1:]
    said = f"Pairs with p < {alpha:g} (dashed), not corrected: {', '.join(shares)}. {recipe}."
    return asl_chart(curves, alpha, title, said)


def asl_chart(curves: dict[str, Floats], alpha: float, title: str, said: str) -> Figure:
    """Descending p-values of all pairs of runs, one line per measure or test, and the level that is asked for."""
    rows = []
    for name, p in curves.items():
        place = np.arange(len(p)) + 1
        percent = 100 * place / max(1, len(p))
        step = -(-len(p) // MOST_PAIRS)  # rounded up
        points = rows_of(share=percent[::step], p=p[::step])
        rows += [{"measure": name, **point} for point in points]
    tip = [
        ("measure", "measure", ""),
        ("share", "% of pairs", ".1f"),
        ("p", "p", ".4f"),
    ]
    x = amount("X", "share", "% of the pairs, largest p first", domain=(0, 100))
    y = amount("Y", "p", "p-value")
    line = lines(x, y, series="measure", order=list(curves), tip=tip, points=False)
    level, at = mark_at(alpha)
    made = altair().layer(line, level).properties(height=300)
    return drawn(made, name="asl", title=title, description=said, rows=rows, mark=at)
