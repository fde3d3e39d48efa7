"""Pictures of likeness: every run against every other, one engine over time, two rankings of the same runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.core.arrays import Floats
from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.shapes import amount, band, cells, lines, names, scatter, tall

if TYPE_CHECKING:
    from assay.agreement.kappa import Contingency
    from assay.crowd.ranking import RankingAgreement
    from assay.similarity.matrix import SimilarityMatrix
    from assay.similarity.preferences import PreferenceSimilarity
    from assay.similarity.series import SeriesResult
    from assay.similarity.systems import RankingComparison

MOST = 60
"""Runs that a matrix shows at most: those given first."""


def similarity_map(result: SimilarityMatrix, *, most: int = MOST) -> Figure:
    """Similarity of every two runs, like beside like (average linkage on 1 − similarity)."""
    return _map(result.runs, result.mean, result.recipe, most)


def preference_map(result: PreferenceSimilarity, *, most: int = MOST) -> Figure:
    """Shared preferences of every two runs, like beside like."""
    return _map(result.runs, result.matrix, f"shared preferences among {result.among} docs", most)


def clustered(similarity: Floats) -> list[int]:
    """An order of the runs that puts like beside like: leaves of average linkage on 1 − similarity.

    >>> clustered(np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]]))
    [1, 2, 0]
    """
    n = len(similarity)
    if n < 3:
        return list(range(n))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1 - np.nan_to_num(similarity, nan=0.0)
    both = np.maximum(0.0, (distance + distance.T) / 2)
    np.fill_diagonal(both, 0.0)
    order: list[int] = leaves_list(
        linkage(squareform(both, checks=False), method="average", optimal_ordering=True)
    ).tolist()
    return order


def _map(runs: Sequence[str], matrix: Floats, recipe: str, most: int) -> Figure:
    kept = matrix[:most, :most]
    order = clustered(kept)
    n = len(order)
    i, j = np.divmod(np.arange(n * n), n)
    shown = kept[np.ix_(order, order)]
    labels = [runs[o] for o in order]
    rows = rows_of(run=[labels[a] for a in i], other=[labels[b] for b in j], similarity=shown.ravel())
    tip = [("run", "run", ""), ("other", "other", ""), ("similarity", "similarity", ".3f")]
    small = {"labelFontSize": 10, "ticks": False}
    x, y = names("X", "other", None, labelAngle=-90, **small), names("Y", "run", None, **small)
    off = np.where(np.eye(n, dtype=bool), -np.inf, np.nan_to_num(shown, nan=-np.inf))
    a, b = np.unravel_index(int(off.argmax()), off.shape)
    said = f"Most alike: {labels[a]} and {labels[b]} ({off[a, b]:.3f}). {recipe}." if n > 1 else recipe
    some = f"{n} of {len(runs)} runs" if n < len(runs) else f"{n} runs"
    made = cells(x, y, "similarity", "similarity", tip=tip, domain=(0, 1)).properties(
        height=max(14 * n, min(520, 30 * n))
    )
    return drawn(made, name="similarity", title=f"How alike {some} are", description=said, rows=rows)


def over_time(result: SeriesResult) -> Figure:
    """RBO of each run with the next: mean over topics, and the band from the least to the most stable topic."""
    alt = altair()
    steps = [f"{a} → {b}" for a, b in zip(result.runs, result.runs[1:], strict=False)]
    low, high = result.steps.min(axis=1), result.steps.max(axis=1)
    rows = rows_of(place=range(1, len(steps) + 1), step=steps, mean=result.step_means(), low=low, high=high)
    tip = [
        ("step", "step", ""),
        ("mean", "mean RBO", ".4f"),
        ("low", "lowest topic", ".4f"),
        ("high", "highest", ".4f"),
    ]
    x, y = amount("X", "place", "step"), amount("Y", "mean", "rank-biased overlap", domain=(0, 1))
    line = lines(x, y, series="", order=(), tip=tip)
    made = alt.layer(band(x, "low", "high", "rank-biased overlap"), line).properties(height=260)
    change = int(result.step_means().argmin())
    there, ends = result.step_means()[change], result.ends.mean()
    said = f"The largest change is {steps[change]} ({there:.3f}); start to end {ends:.3f}."
    title = f"How much results change from run to run, {len(result.topics)} topics"
    return drawn(made, name="over-time", title=title, description=said, rows=rows)


def two_rankings(result: RankingComparison) -> Figure:
    """Mean scores of the same runs by two score matrices."""
    first, second = result.means
    said = "; ".join(f"{c.name} {c.value:.3f}" for c in result.correlations if c.value is not None) + "."
    title = f"{len(result.runs)} runs by {result.names[0]} and by {result.names[1]}"
    return _against(result.runs, first, second, result.names, title, said)


def crowd_ranking(result: RankingAgreement) -> Figure:
    """Mean scores of the same runs under the crowd's judgments and under the reference."""
    title = f"{len(result.runs)} runs under two sets of judgments"
    axes = (f"mean {result.measure}, reference", f"mean {result.measure}, these judgments")
    return _against(result.runs, result.reference, result.ours, axes, title, f"Kendall τ_b {result.tau:.3f}.")


def _against(
    runs: Sequence[str],
    x: Sequence[float] | Floats,
    y: Sequence[float] | Floats,
    axes: tuple[str, str],
    title: str,
    said: str,
) -> Figure:
    rows = rows_of(run=runs, first=x, second=y)
    tip = [("run", "run", ""), ("first", axes[0], ".4f"), ("second", axes[1], ".4f")]
    points = scatter(amount("X", "first", axes[0]), amount("Y", "second", axes[1]), tip=tip)
    return drawn(points.properties(height=340), name="rankings", title=title, description=said, rows=rows)


def contingency(result: Contingency) -> Figure:
    """How often two assessors met in each pair of labels."""
    n = len(result.values)
    i, j = np.divmod(np.arange(n * n), n)
    labels = [f"{v:g}" for v in result.values]
    rows = rows_of(first=[labels[a] for a in i], second=[labels[b] for b in j], count=result.counts.ravel())
    tip = [("first", result.names[0], ""), ("second", result.names[1], ""), ("count", "items", "d")]
    x, y = names("X", "second", result.names[1], labelAngle=0), names("Y", "first", result.names[0])
    made = tall(cells(x, y, "count", "items", tip=tip), 2 * n)
    same = float(np.trace(result.counts) / max(1, result.counts.sum()))
    title = f"Labels of {result.names[0]} and {result.names[1]}"
    return drawn(
        made, name="labels-met", title=title, description=f"{100 * same:.1f} % of the labels are equal.", rows=rows
    )
