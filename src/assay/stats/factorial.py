"""What makes a system good: its stop list, its stemmer, its model? Factorial analysis of variance on crossed systems.

Every combination of levels is one run; topics are taken out as in the two-way analysis, and all effects of the factors,
with their interactions, are tested against what is left (Ferro & Silvello 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.io.sheet import Sheet, read_sheet
from assay.stats.anova import Anova, analysed, without_noise
from assay.stats.letters import compact_letters
from assay.stats.resampling import checked_share, percent
from assay.stats.tukey import studentized_range_point

Design = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class FactorLevels:
    """Levels of one factor, best first: mean ± half, such that two levels differ exactly when these do not overlap."""

    factor: str
    levels: tuple[str, ...]
    means: Floats
    half: float
    letters: tuple[str, ...]
    recipe: str

    def table(self) -> Table:
        """One row per level."""
        rows = [
            (level, mean, mean - self.half, mean + self.half, letters)
            for level, mean, letters in zip(self.levels, self.means.tolist(), self.letters, strict=True)
        ]
        columns = {self.factor: "", "mean": ".4f", "low": ".4f", "high": ".4f", "letters": ""}
        return Table.of(columns, rows, caption=f"Levels of {self.factor}", notes=[self.recipe])


@dataclass(frozen=True)
class Factorial:
    """The analysis of variance of a factorial design and the levels of each factor."""

    anova: Anova
    factors: tuple[FactorLevels, ...]

    def tables(self) -> list[Table]:
        """The analysis, then one table per factor."""
        return [self.anova.table(), *(f.table() for f in self.factors)]

    def table(self) -> Table:
        """The analysis of variance."""
        return self.anova.table()


def factorial(matrix: ScoreMatrix, design: Design, *, level: float = 0.95) -> Factorial:
    """Effects of each factor and of all interactions, with η² and ω², and Tukey intervals of each factor's levels.

    `design` says for each factor which level each run of the matrix has; every combination must be there exactly once.
    The sums of squares are those of the balanced design, by inclusion and exclusion of its marginal means.

    >>> m = ScoreMatrix.of([[1, 2], [2, 4], [5, 6], [6, 9]])
    >>> f = factorial(m, {"stop": ["no", "no", "yes", "yes"], "stem": ["no", "yes", "no", "yes"]})
    >>> [(s.name, round(s.squares, 3), s.df) for s in f.anova.effects]
    [('stop', 36.125, 1), ('stem', 6.125, 1), ('stop × stem', 0.125, 1), ('topic', 6.125, 1)]
    """
    checked_share(level, "the level of an interval")
    levels, cube = _crossed(matrix, design)
    names, (runs, topics) = list(levels), matrix.shape
    effects = _effects(cube)
    by_topic = cube.mean(axis=tuple(range(len(names)))) - cube.mean()
    rest = cube - cube.mean(axis=-1, keepdims=True) - by_topic
    parts = [effect for axes, effect in effects.items() if axes] + [by_topic]
    *explained, left = without_noise([_squares(part, cube) for part in [*parts, rest]], cube)
    labels = [" × ".join(names[a] for a in axes) for axes in effects if axes] + ["topic"]
    recipe = (
        f"factorial analysis of variance, {' × '.join(str(len(v)) for v in levels.values())} runs × {topics} topics; "
        "topics taken out, all effects tested against the residual"
    )
    residual = (left, (runs - 1) * (topics - 1))
    sources = list(zip(labels, explained, map(_df, parts), strict=True))
    anova = analysed(sources, residual, cube.size, recipe, matrix.measure)
    factors = [
        _levels_of(name, levels[name], effects[i,].ravel() + cube.mean(), anova, level) for i, name in enumerate(names)
    ]
    return Factorial(anova, tuple(factors))


def _effects(cube: Floats) -> dict[tuple[int, ...], Floats]:
    """Effect of every set of factors: its marginal means less the effects of all its smaller sets."""
    factors = tuple(range(cube.ndim - 1))
    effects: dict[tuple[int, ...], Floats] = {}
    for size in range(len(factors) + 1):
        for axes in combinations(factors, size):
            margin = cube.mean(axis=tuple(a for a in range(cube.ndim) if a not in axes), keepdims=True)
            smaller = [effects[s] for s in effects if set(s) < set(axes)]
            effects[axes] = margin - sum(smaller, np.zeros(1))
    return effects


def _squares(effect: Floats, cube: Floats) -> float:
    return float((effect**2).sum()) * cube.size / effect.size


def _df(effect: Floats) -> int:
    return int(np.prod([n - 1 for n in effect.shape if n > 1]))


def _levels_of(name: str, levels: tuple[str, ...], means: Floats, anova: Anova, level: float) -> FactorLevels:
    """Tukey's critical difference is q·√(MSE/scores per level); half of it goes to each side of a mean."""
    residual, each = anova.residual, anova.n // len(levels)
    q = studentized_range_point(level, len(levels), residual.df)
    critical = q * np.sqrt(residual.mean_square / each)
    order = np.argsort(-means, kind="stable")
    sorted_means = means[order]
    different = np.abs(sorted_means[:, None] - sorted_means) > critical + 1e-12  # equal means differ by rounding
    recipe = (
        f"Tukey HSD over {len(levels)} levels of {each} scores each, critical difference {critical:.6f} at "
        f"{percent(level)}: two levels differ where their intervals do not overlap"
    )
    names = tuple(levels[i] for i in order)
    return FactorLevels(name, names, sorted_means, critical / 2, compact_letters(different).labels, recipe)


def _crossed(matrix: ScoreMatrix, design: Design) -> tuple[dict[str, tuple[str, ...]], Floats]:
    """Levels of each factor and the scores as an array factor × … × topic."""
    if not design or matrix.shape[1] < 2:
        raise DataError(f"{matrix.measure}: a factorial analysis needs at least one factor and two topics")
    levels = {name: tuple(dict.fromkeys(column)) for name, column in design.items()}
    for name, column in design.items():
        if len(column) != len(matrix.runs) or len(levels[name]) < 2:
            raise DataError(
                f"factor {name!r}: {len(column)} entries with {len(levels[name])} levels for {len(matrix.runs)} runs"
            )
    shape = tuple(map(len, levels.values()))
    codes = [np.array([levels[name].index(v) for v in column]) for name, column in design.items()]
    places: npt.NDArray[np.intp] = np.ravel_multi_index(tuple(codes), shape)
    counts = np.bincount(places, minlength=int(np.prod(shape)))
    if (counts != 1).any():
        where = np.unravel_index(int(np.argmax(counts != 1)), shape)
        combination = ", ".join(v[i] for v, i in zip(levels.values(), where, strict=True))
        raise DataError(
            f"{counts[counts != 1][0]} runs with ({combination}); a factorial design needs every combination once"
        )
    return levels, matrix.values[np.argsort(places)].reshape(*shape, matrix.shape[1])


def read_grid(path: str | Path, *, measure: str = "score") -> tuple[ScoreMatrix, dict[str, tuple[str, ...]]]:
    """Scores and design of a table whose first columns are factors and whose others are topics, as the grid of points.

    A factor is a leading column whose cells are not all numbers; runs are named by their levels, as smart/porter/BM25.
    """
    sheet = read_sheet(path)
    width = next((j for j in range(len(sheet.header)) if _all_numbers(sheet, j)), len(sheet.header))
    if not width or width == len(sheet.header) or not sheet.rows:
        raise DataError(f"{sheet.where}: a factorial table has columns of factors, then a column of scores per topic")
    design = {sheet.header[j].strip(): tuple(row[j].strip() for row in sheet.rows) for j in range(width)}
    values = [[sheet.finite(i, j) for j in range(width, len(sheet.header))] for i in range(len(sheet.rows))]
    runs = ["/".join(parts) for parts in zip(*design.values(), strict=True)]
    topics = [h.strip() for h in sheet.header[width:]]
    return ScoreMatrix.of(values, runs=runs, topics=topics, measure=measure), design


def _all_numbers(sheet: Sheet, column: int) -> bool:
    try:
        return bool([float(row[column]) for row in sheet.rows])
    except ValueError:
        return False
