"""What makes a system good: its stop list, its stemmer, its model? Factorial analysis of variance on crossed systems.

Every combination of levels is one run; topics are taken out as in the two-way analysis, and all effects of the factors,
with their interactions, are tested against what is left (Ferro & Silvello 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.io.sheet import Sheet, read_sheet
from assay.stats.anova import Anova, analysed, without_noise
from assay.stats.effect import checked_rows
from assay.stats.letters import compact_letters
from assay.stats.resampling import checked_share, percent
from assay.stats.tukey import studentized_range_point

Design = Mapping[str, Sequence[str]]
Levels = dict[str, tuple[str, ...]]
ROUNDING = 1e-12
"""Means that are equal may differ by this much."""
LEVEL_COLUMNS = {"level": "", "mean": ".4f", "low": ".4f", "high": ".4f", "letters": ""}


@dataclass(frozen=True, eq=False)
class FactorLevels(Result):
    """Levels of one factor, best first: mean ± half, so that two levels differ exactly when these do not overlap."""

    unit = "topic"

    factor: str
    levels: tuple[str, ...]
    means: Floats
    half: float
    letters: tuple[str, ...]
    recipe: str

    def rows(self) -> list[tuple[str, float, float, float, str]]:
        """Level, mean, low, high, letters."""
        rows = []
        for level, mean, letters in zip(self.levels, self.means.tolist(), self.letters, strict=True):
            rows.append((level, mean, mean - self.half, mean + self.half, letters))
        return rows

    def table(self) -> Table:
        """One row per level."""
        return Table.of(LEVEL_COLUMNS, self.rows(), caption=f"Levels of {self.factor}", notes=[self.recipe])


PARTS = ("analysis", "levels")
"""What a factorial analysis says, a table each."""


@dataclass(frozen=True)
class Factorial(Result):
    """The analysis of variance of a factorial design and the levels of each factor."""

    unit = "topic"

    anova: Anova
    factors: tuple[FactorLevels, ...]

    def tables(self) -> list[Table]:
        """The analysis, then one table per factor."""
        return [self.anova.table(), *(f.table() for f in self.factors)]

    def part(self, name: str) -> Table:
        """One of the two tables that hold all of it, by its name in PARTS."""
        return (
            self.table() if one_of("part of a factorial analysis", name, PARTS) == "analysis" else self.levels_table()
        )

    def levels_table(self) -> Table:
        """The levels of all factors in one table, for programs."""
        rows = [(factor.factor, *row) for factor in self.factors for row in factor.rows()]
        notes = [f"{factor.factor}: {factor.recipe}" for factor in self.factors]
        return Table.of({"factor": ""} | LEVEL_COLUMNS, rows, caption="Levels of the factors", notes=notes)

    def record(self) -> dict[str, Any]:
        """The analysis, and the levels of every factor under `levels`."""
        return {**self.anova.record(), "result": "factorial", "levels": self.levels_table().record()["rows"]}


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
    levels, cube = _crossed(needs_means(matrix, "an analysis of variance"), design)
    effects = _effects(cube)
    anova = _analysis(matrix, levels, cube, effects)
    factors = []
    for i, name in enumerate(levels):
        means = effects[i,].ravel() + cube.mean()
        factors.append(_levels_of(name, levels[name], means, anova, level))
    return Factorial(anova, tuple(factors))


def _analysis(matrix: ScoreMatrix, levels: Levels, cube: Floats, effects: dict[tuple[int, ...], Floats]) -> Anova:
    """Every set of factors and the topics, tested against what they leave."""
    names = list(levels)
    runs, topics = matrix.shape
    every_factor = tuple(range(len(names)))
    by_topic = cube.mean(axis=every_factor) - cube.mean()
    rest = cube - cube.mean(axis=-1, keepdims=True) - by_topic
    labels = []
    parts = []
    for axes, effect in effects.items():
        if axes:  # the empty set is the grand mean, which no test is about
            labels.append(" × ".join(names[axis] for axis in axes))
            parts.append(effect)
    labels.append("topic")
    parts.append(by_topic)
    squares = [_squares(part, cube) for part in [*parts, rest]]
    *explained, left = without_noise(squares, cube)
    sources = list(zip(labels, explained, map(_df, parts), strict=True))
    residual = (left, (runs - 1) * (topics - 1))
    sizes = " × ".join(str(len(known)) for known in levels.values())
    recipe = (
        f"factorial analysis of variance, {sizes} runs × {topics} topics; "
        "topics taken out, all effects tested against the residual"
    )
    return analysed(sources, residual, cube.size, recipe, matrix.measure)


def _effects(cube: Floats) -> dict[tuple[int, ...], Floats]:
    """Effect of every set of factors: its marginal means less the effects of all its smaller sets."""
    factors = tuple(range(cube.ndim - 1))
    effects: dict[tuple[int, ...], Floats] = {}
    for size in range(len(factors) + 1):
        for axes in combinations(factors, size):
            others = tuple(axis for axis in range(cube.ndim) if axis not in axes)
            effect = cube.mean(axis=others, keepdims=True)
            smaller = np.zeros(1)
            for known, known_effect in effects.items():
                if set(known) < set(axes):
                    smaller = smaller + known_effect
            effects[axes] = effect - smaller
    return effects


def _squares(effect: Floats, cube: Floats) -> float:
    """The sum of squares of an effect over all scores: each of its values stands for several."""
    return float((effect**2).sum()) * cube.size / effect.size


def _df(effect: Floats) -> int:
    return int(np.prod([n - 1 for n in effect.shape if n > 1]))


def _levels_of(name: str, levels: tuple[str, ...], means: Floats, anova: Anova, level: float) -> FactorLevels:
    """Tukey's critical difference is q·√(MSE/scores per level); half of it goes to each side of a mean."""
    scores_each = anova.n // len(levels)
    q = studentized_range_point(level, len(levels), anova.residual.df)
    critical = q * np.sqrt(anova.residual.mean_square / scores_each)
    order = np.argsort(-means, kind="stable")
    sorted_means = means[order]
    gaps = np.abs(sorted_means[:, None] - sorted_means)
    letters = compact_letters(gaps > critical + ROUNDING).labels
    recipe = (
        f"Tukey HSD over {len(levels)} levels of {scores_each} scores each, critical difference {critical:.6f} at "
        f"{percent(level)}: two levels differ where their intervals do not overlap"
    )
    names = tuple(levels[i] for i in order)
    return FactorLevels(name, names, sorted_means, critical / 2, letters, recipe)


def _crossed(matrix: ScoreMatrix, design: Design) -> tuple[Levels, Floats]:
    """Levels of each factor and the scores as an array factor × … × topic."""
    if not design or matrix.shape[1] < 2:
        raise DataError(f"{matrix.measure}: a factorial analysis needs at least one factor and two topics")
    checked_rows(matrix.values)
    levels: Levels = {}
    codes = []
    for name, column in design.items():
        known = tuple(dict.fromkeys(column))
        if len(column) != len(matrix.runs) or len(known) < 2:
            entries = f"{len(column)} entries with {len(known)} levels"
            raise DataError(f"factor {name!r}: {entries} for {len(matrix.runs)} runs")
        levels[name] = known
        codes.append(np.array([known.index(value) for value in column]))
    shape = tuple(len(known) for known in levels.values())
    places = np.ravel_multi_index(tuple(codes), shape)
    _check_every_combination(places, levels, shape)
    return levels, matrix.values[np.argsort(places)].reshape(*shape, matrix.shape[1])


def _check_every_combination(places: Any, levels: Levels, shape: tuple[int, ...]) -> None:
    """An error that names the first combination of levels that no run has, or several have."""
    counts = np.bincount(places, minlength=int(np.prod(shape)))
    if (counts == 1).all():
        return
    first = int(np.argmax(counts != 1))
    where = np.unravel_index(first, shape)
    combination = ", ".join(known[i] for known, i in zip(levels.values(), where, strict=True))
    raise DataError(f"{counts[first]} runs with ({combination}); a factorial design needs every combination once")


def read_grid(path: str | Path, *, measure: str = "score") -> tuple[ScoreMatrix, dict[str, tuple[str, ...]]]:
    """Scores and design of a table whose first columns are factors and whose others are topics, as the grid of points.

    A factor is a leading column whose cells are not all numbers; runs are named by their levels, as smart/porter/BM25.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "grid.csv"
    >>> _ = path.write_text("stop,stem,1,2\\nno,no,.1,.2\\nno,yes,.2,.4\\n")
    >>> matrix, design = read_grid(path)
    >>> matrix.runs, design["stem"]
    (('no/no', 'no/yes'), ('no', 'yes'))
    """
    sheet = read_sheet(path)
    every_column = range(len(sheet.header))
    width = next((j for j in every_column if _all_numbers(sheet, j)), len(sheet.header))
    if not width or width == len(sheet.header) or not sheet.rows:
        raise DataError(f"{sheet.where}: a factorial table has columns of factors, then a column of scores per topic")
    design = {}
    for j in range(width):
        design[sheet.header[j].strip()] = tuple(row[j].strip() for row in sheet.rows)
    values = []
    for i in range(len(sheet.rows)):
        values.append([sheet.finite(i, j) for j in every_column[width:]])
    runs = ["/".join(parts) for parts in zip(*design.values(), strict=True)]
    topics = [heading.strip() for heading in sheet.header[width:]]
    return ScoreMatrix.of(values, runs=runs, topics=topics, measure=measure), design


def _all_numbers(sheet: Sheet, column: int) -> bool:
    """Whether a column has numbers in all its rows, and rows at all."""
    try:
        numbers = [float(row[column]) for row in sheet.rows]
    except ValueError:
        return False
    return len(numbers) > 0
