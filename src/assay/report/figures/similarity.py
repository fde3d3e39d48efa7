"""Pictures of likeness: every run against every other, two runs by topic or persistence, one engine over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, band, cells, lines, names, ranges, scatter, tall
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.similarity.by_topic import PSweep, RunSimilarity
    from assay.similarity.depth_curves import SimilarityCurves
    from assay.similarity.matrix import SimilarityMatrix
    from assay.similarity.over_time import SeriesResult
    from assay.similarity.shared_preferences import PreferenceSimilarity
    from assay.similarity.systems import RankingComparison

MOST = 60
"""Runs that a matrix shows at most: those given first."""
RBO = "rank-biased overlap"
BOUNDS_TIP = (
    ("ext", "EXT", ".4f"),
    ("low", "MIN", ".4f"),
    ("high", "MAX", ".4f"),
)


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
    mutual = (distance + distance.T) / 2
    mutual = np.maximum(0.0, mutual)
    np.fill_diagonal(mutual, 0.0)
    condensed = squareform(mutual, checks=False)
    tree = linkage(condensed, method="average", optimal_ordering=True)
    order: list[int] = leaves_list(tree).tolist()
    return order


def _map(runs: Sequence[str], matrix: Floats, recipe: str, most: int) -> Figure:
    kept = matrix[:most, :most]
    order = clustered(kept)
    n = len(order)
    shown = kept[np.ix_(order, order)]
    labels = [runs[i] for i in order]
    rows = rows_of(
        run=[labels[cell // n] for cell in range(n * n)],
        other=labels * n,
        similarity=shown.ravel(),
    )

    small = {"labelFontSize": 10, "ticks": False}
    x = names("X", "other", None, labelAngle=-90, **small)
    y = names("Y", "run", None, **small)
    tip = [
        ("run", "run", ""),
        ("other", "other", ""),
        ("similarity", "similarity", ".3f"),
    ]
    made = cells(x, y, "similarity", "similarity", tip=tip, domain=(0, 1))
    height = max(14 * n, min(520, 30 * n))

    count = f"{n} of {len(runs)} runs" if n < len(runs) else f"{n} runs"
    return drawn(
        made.properties(height=height),
        name="similarity",
        title=f"How alike {count} are",
        description=_most_alike(labels, shown, recipe),
        rows=rows,
    )


def _most_alike(labels: Sequence[str], similarity: Floats, recipe: str) -> str:
    """The two runs that are most alike, and how similarity was computed."""
    n = len(labels)
    if n < 2:
        return recipe
    itself = np.eye(n, dtype=bool)
    others = np.where(itself, -np.inf, np.nan_to_num(similarity, nan=-np.inf))
    first, second = divmod(int(others.argmax()), n)
    highest = others[first, second]
    pair = f"{labels[first]} and {labels[second]} ({highest:.3f})"
    return f"{pair}. {recipe}." if len(labels) == 2 else f"Most alike: {pair}. {recipe}."


@draws("similarity.SeriesResult")
def over_time(result: SeriesResult) -> Figure:
    """RBO of each run with the next: mean over topics, and the band from the least to the most stable topic."""
    steps = [f"{before} → {after}" for before, after in pairwise(result.runs)]
    means = result.step_means()
    rows = rows_of(
        place=range(1, len(steps) + 1),
        step=steps,
        mean=means,
        low=result.steps.min(axis=1),
        high=result.steps.max(axis=1),
    )
    tip = [
        ("step", "step", ""),
        ("mean", "mean RBO", ".4f"),
        ("low", "lowest topic", ".4f"),
        ("high", "highest", ".4f"),
    ]
    x = amount("X", "place", "step")
    y = amount("Y", "mean", RBO, domain=(0, 1))
    line = lines(x, y, series="", order=(), tip=tip)
    lowest_to_highest = band(x, "low", "high", RBO)
    made = altair().layer(lowest_to_highest, line).properties(height=260)

    change = int(means.argmin())
    start_to_end = result.ends.mean()
    said = f"The largest change is {steps[change]} ({means[change]:.3f}); start to end {start_to_end:.3f}."
    title = f"How much results change from run to run, {len(result.topics)} topics"
    return drawn(made, name="over-time", title=title, description=said, rows=rows)


@draws("similarity.RankingComparison")
def two_rankings(result: RankingComparison) -> Figure:
    """Mean scores of the same runs by two score matrices."""
    first, second = result.means
    first_name, second_name = result.names
    title = f"{len(result.runs)} runs by {first_name} and by {second_name}"
    defined = [c for c in result.correlations if c.value is not None]
    said = "; ".join(f"{c.name} {c.value:.3f}" for c in defined)
    return means_against(result.runs, first, second, result.names, title, f"{said}.")


@draws("similarity.PSweep")
def p_curve(result: PSweep) -> Figure:
    """EXT over p within the band from MIN to MAX."""
    means = result.means
    rows = rows_of(
        p=[mean.p for mean in means],
        ext=[mean.ext for mean in means],
        low=[mean.min for mean in means],
        high=[mean.max for mean in means],
    )
    one, other = result.runs
    title = f"RBO of {one} and {other} by persistence"
    first = means[0]
    last = means[-1]
    said = f"EXT goes from {first.ext:.3f} at p = {first.p:g} to {last.ext:.3f} at p = {last.p:g}."
    return with_band(rows, ("p", "persistence p"), title, said, "overlap-by-p")


@draws("similarity.SimilarityCurves")
def similarity_curves(result: SimilarityCurves) -> Figure:
    """Similarities over depth, p or days, one line each; days in their order."""
    rows = []
    for name, values in result.curves.items():
        rows += [{"curve": name, **row} for row in rows_of(at=result.at, similarity=values)]
    tip = [("curve", "curve", ""), ("at", result.over, ""), ("similarity", "similarity", ".4f")]
    if result.over == "day":
        x = names("X", "at", "day", sort=list(result.at))
    else:
        is_depth = result.over == "depth"
        title = "depth of the lists, docs" if is_depth else "persistence p"
        x = amount("X", "at", title, log=is_depth, ticks=list(result.at) if is_depth else None)
    y = amount("Y", "similarity", "similarity, mean over topics")
    made = lines(x, y, series="curve", order=list(result.curves), tip=tip).properties(height=300)
    ends = [f"{name} from {values[0]:.3f} to {values[-1]:.3f}" for name, values in result.curves.items()]
    said = f"{'; '.join(ends)}. {result.recipe}."
    return drawn(made, name=f"similarity-by-{result.over}", title=result.caption, description=said, rows=rows)


@draws("similarity.RunSimilarity")
def topic_overlap(result: RunSimilarity, *, most: int = 60) -> Figure:
    """EXT with [MIN, MAX] of two runs on every topic, the most different first."""
    by_topic = [overlap.ext for overlap in result.rbo]
    order = np.argsort(by_topic, kind="stable")[:most]
    topics = [result.topics[i] for i in order]
    kept = [result.rbo[i] for i in order]
    rows = rows_of(
        topic=topics,
        ext=[overlap.ext for overlap in kept],
        low=[overlap.min for overlap in kept],
        high=[overlap.max for overlap in kept],
    )
    tip = [("topic", "topic", ""), *BOUNDS_TIP]
    x = amount("X", "ext", "RBO, EXT within [MIN, MAX]", domain=(0, 1))
    y = names("Y", "topic", "topic")
    made = ranges(y, x, "low", "high", tip=tip, color=altair().value(MAIN))

    first, second = result.runs
    title = f"How alike {first} and {second} are, topic by topic"
    if len(kept) < len(result.topics):
        title += f", {len(kept)} most different of {len(result.topics)}"
    mean = result.mean()
    said = f"Mean RBO {mean.ext:.3f}; least alike on topic {topics[0]} ({kept[0].ext:.3f})."
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
    first, second = axes
    rows = rows_of(run=runs, first=x, second=y)
    tip = [
        ("run", "run", ""),
        ("first", first, ".4f"),
        ("second", second, ".4f"),
    ]
    points = scatter(
        amount("X", "first", first),
        amount("Y", "second", second),
        tip=tip,
    )
    return drawn(points.properties(height=340), name="rankings", title=title, description=said, rows=rows)


def with_band(
    rows: list[dict[str, Any]], x: tuple[str, str], title: str, said: str, name: str, *, log: bool = False
) -> Figure:
    """EXT as a line within the band from MIN to MAX, over what `x` names (field and title)."""
    field, field_title = x
    ticks = [row[field] for row in rows] if log else None
    across = amount("X", field, field_title, log=log, ticks=ticks)
    y = amount("Y", "ext", RBO, domain=(0, 1))
    tip = [(field, field_title, ""), *BOUNDS_TIP]
    line = lines(across, y, series="", order=(), tip=tip)
    low_to_high = band(across, "low", "high", RBO)
    made = altair().layer(low_to_high, line).properties(height=280)
    said += " The band is [MIN, MAX]."
    return drawn(made, name=name, title=title, description=said, rows=rows)
