"""Pictures of likeness: every run against every other, two runs by topic or persistence, one engine over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, band, cells, lines, names, ranges, scatter, tall
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.similarity.by_topic import PSweep, RunSimilarity
    from assay.similarity.matrix import SimilarityMatrix
    from assay.similarity.over_time import SeriesResult
    from assay.similarity.shared_preferences import PreferenceSimilarity
    from assay.similarity.systems import RankingComparison

MOST = 60
"""Runs that a matrix shows at most: those given first."""


@draws("similarity.SimilarityMatrix")
def similarity_map(result: SimilarityMatrix, *, most: int = MOST) -> Figure:
    """Similarity of every two runs, like beside like (average linkage on 1 − similarity)."""
    return _map(result.runs, result.mean, result.recipe, most)


@draws("similarity.PreferenceSimilarity")
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


@draws("similarity.SeriesResult")
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


@draws("similarity.RankingComparison")
def two_rankings(result: RankingComparison) -> Figure:
    """Mean scores of the same runs by two score matrices."""
    first, second = result.means
    said = "; ".join(f"{c.name} {c.value:.3f}" for c in result.correlations if c.value is not None) + "."
    title = f"{len(result.runs)} runs by {result.names[0]} and by {result.names[1]}"
    return means_against(result.runs, first, second, result.names, title, said)


@draws("similarity.PSweep")
def p_curve(result: PSweep) -> Figure:
    """EXT over p within the band from MIN to MAX."""
    rows = rows_of(
        p=[m.p for m in result.means], ext=[m.ext for m in result.means], low=[m.min for m in result.means],
        high=[m.max for m in result.means],
    )  # fmt: skip
    title = f"RBO of {result.runs[0]} and {result.runs[1]} by persistence"
    first, last = result.means[0], result.means[-1]
    said = f"EXT goes from {first.ext:.3f} at p = {first.p:g} to {last.ext:.3f} at p = {last.p:g}."
    return with_band(rows, ("p", "persistence p"), title, said, "overlap-by-p")


@draws("similarity.RunSimilarity")
def topic_overlap(result: RunSimilarity, *, most: int = 60) -> Figure:
    """EXT with [MIN, MAX] of two runs on every topic, the most different first."""
    order = np.argsort([r.ext for r in result.rbo], kind="stable")[:most]
    kept = [result.rbo[i] for i in order]
    rows = rows_of(
        topic=[result.topics[i] for i in order], ext=[r.ext for r in kept], low=[r.min for r in kept],
        high=[r.max for r in kept],
    )  # fmt: skip
    tip = [("topic", "topic", ""), ("ext", "EXT", ".4f"), ("low", "MIN", ".4f"), ("high", "MAX", ".4f")]
    x = amount("X", "ext", "RBO, EXT within [MIN, MAX]", domain=(0, 1))
    made = ranges(names("Y", "topic", "topic"), x, "low", "high", tip=tip, color=altair().value(MAIN))
    mean = result.mean()
    some = f", {len(kept)} most different of {len(result.topics)}" if len(kept) < len(result.topics) else ""
    said = f"Mean RBO {mean.ext:.3f}; least alike on topic {result.topics[order[0]]} ({kept[0].ext:.3f})."
    title = f"How alike {result.runs[0]} and {result.runs[1]} are, topic by topic{some}"
    return drawn(tall(made, len(kept)), name="overlap-by-topic", title=title, description=said, rows=rows)


def means_against(
    runs: Sequence[str],
    x: Sequence[float] | Floats,
    y: Sequence[float] | Floats,
    axes: tuple[str, str],
    title: str,
    said: str,
) -> Figure:
    """Two means of the same runs, one on each axis."""
    rows = rows_of(run=runs, first=x, second=y)
    tip = [("run", "run", ""), ("first", axes[0], ".4f"), ("second", axes[1], ".4f")]
    points = scatter(amount("X", "first", axes[0]), amount("Y", "second", axes[1]), tip=tip)
    return drawn(points.properties(height=340), name="rankings", title=title, description=said, rows=rows)


def with_band(
    rows: list[dict[str, Any]], x: tuple[str, str], title: str, said: str, name: str, *, log: bool = False
) -> Figure:
    """EXT as a line within the band from MIN to MAX, over what `x` names (field and title)."""
    alt = altair()
    across = amount("X", x[0], x[1], log=log, ticks=[row[x[0]] for row in rows] if log else None)
    tip = [(x[0], x[1], ""), ("ext", "EXT", ".4f"), ("low", "MIN", ".4f"), ("high", "MAX", ".4f")]
    y = amount("Y", "ext", "rank-biased overlap", domain=(0, 1))
    line = lines(across, y, series="", order=(), tip=tip)
    made = alt.layer(band(across, "low", "high", "rank-biased overlap"), line).properties(height=280)
    return drawn(made, name=name, title=title, description=said + " The band is [MIN, MAX].", rows=rows)
