"""Do the runs differ at all? One-way and two-way analysis of variance, and Friedman's test, in closed form.

The two-way analysis takes out what the topics do, as pairing does for two runs; its residual is what Tukey's test and
the topic-set-size designs stand on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.scores import ScoreMatrix
from assay.stats.effect import checked_rows, ratio, rounded


@dataclass(frozen=True)
class Source:
    """One line of an analysis of variance; F, p, η² and ω² are None for the residual."""

    name: str
    squares: float
    df: int
    f: float | None = None
    p: float | None = None
    eta2: float | None = None
    partial_eta2: float | None = None
    omega2: float | None = None
    partial_omega2: float | None = None

    @property
    def mean_square(self) -> float:
        """Sum of squares over degrees of freedom."""
        return self.squares / self.df if self.df else 0.0


@dataclass(frozen=True)
class Anova(Result):
    """An analysis of variance: the effects, the residual, and n observations in all."""

    effects: tuple[Source, ...]
    residual: Source
    n: int
    recipe: str
    measure: str = ""

    def __getitem__(self, name: str) -> Source:
        for source in (*self.effects, self.residual):
            if source.name == name:
                return source
        known = ", ".join(s.name for s in (*self.effects, self.residual))
        raise DataError(f"no source of variance {name!r}; there are: {known}")

    def table(self) -> Table:
        """One row per source of variance."""
        columns = {"source": "", "SS": ".5f", "df": "d", "MS": ".6f", "F": ".4f", "p": "p"}
        columns |= {"η²": ".4f", "partial η²": ".4f", "ω²": ".4f", "partial ω²": ".4f"}
        keys = {"η²": "eta2", "partial η²": "partial_eta2", "ω²": "omega2", "partial ω²": "partial_omega2"}
        rows = [
            (s.name, s.squares, s.df, s.mean_square, s.f, s.p, s.eta2, s.partial_eta2, s.omega2, s.partial_omega2)
            for s in (*self.effects, self.residual)
        ]
        caption = f"{self.measure}: analysis of variance" if self.measure else "Analysis of variance"
        return Table.of(columns, rows, caption=caption, notes=[self.recipe], keys=keys)

    def record(self) -> dict[str, Any]:
        """The rows, with the measure and the number of scores."""
        return {"measure": self.measure, "n": self.n} | super().record()


def analysed(
    effects: Sequence[tuple[str, float, int]], residual: tuple[float, int], n: int, recipe: str, measure: str = ""
) -> Anova:
    """F, p and effect sizes of effects given as (name, sum of squares, df), all tested against one residual.

    η² = SS/SS_total, partial η² = SS/(SS + SS_residual), ω² = (SS − df·MSE)/(SS_total + MSE), partial
    ω² = df(F−1)/(df(F−1) + n); negative ω² are 0. No variance of an effect: F = 0, p = 1. No residual: F = ∞, p = 0.
    """
    from scipy.special import fdtrc

    left = Source("residual", *residual)
    total = sum(squares for _, squares, _ in effects) + left.squares
    sources = []
    for name, squares, df in effects:
        f = float(ratio(squares / df, left.mean_square)) if df else 0.0
        p = 0.0 if np.isinf(f) else float(fdtrc(df, left.df, f)) if df and f > 0 else 1.0
        surplus = max(squares - df * left.mean_square, 0.0)
        sources.append(
            Source(
                name, squares, df, f, p,
                eta2=float(ratio(squares, total)),
                partial_eta2=float(ratio(squares, squares + left.squares)),
                omega2=float(ratio(surplus, total + left.mean_square)),
                partial_omega2=float(ratio(surplus, surplus + n * left.mean_square)),
            )
        )  # fmt: skip
    return Anova(tuple(sources), left, n, recipe, measure)


def one_way(groups: Sequence[npt.ArrayLike] | Floats) -> Anova:
    """One-way analysis: groups of scores (one per run) that need not share topics nor be equally many.

    On runs with common topics it forgets the pairing; use two_way there.

    >>> a = one_way([[1, 2, 3], [2, 3, 4]])
    >>> round(a["run"].f, 4), round(a["run"].p, 4), a["residual"].df
    (1.5, 0.2879, 4)
    """
    samples = [checked_rows(g, least=1)[0] for g in groups]
    n = sum(map(len, samples))
    if len(samples) < 2 or n <= len(samples):
        raise DataError(
            f"{len(samples)} groups of {n} scores; one-way analysis needs two groups and more scores than that"
        )
    grand = np.concatenate(samples).mean()
    between = float(sum(len(s) * (s.mean() - grand) ** 2 for s in samples))
    within = float(sum(((s - s.mean()) ** 2).sum() for s in samples))
    between, within = without_noise([between, within], np.concatenate(samples))
    recipe = f"one-way analysis of variance, {len(samples)} runs, {n} scores; topics are not taken out"
    return analysed([("run", between, len(samples) - 1)], (within, n - len(samples)), n, recipe)


def two_way(matrix: ScoreMatrix) -> Anova:
    """Two-way analysis without replication: runs and topics as effects, the rest as residual.

    >>> a = two_way(ScoreMatrix.of([[1, 2, 4], [2, 3, 3]]))
    >>> round(a["topic"].squares, 4), round(a["run"].squares, 4), round(a["residual"].squares, 4)
    (4.0, 0.1667, 1.3333)
    """
    runs, topics = matrix.shape
    if runs < 2 or topics < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {topics} topics; two-way analysis needs at least 2 × 2")
    centred = checked_rows(matrix.values) - matrix.values.mean()
    of_run = centred.mean(axis=1)
    of_topic = centred.mean(axis=0)
    rest = centred - of_run[:, None] - of_topic[None, :]
    squares = [topics * (of_run**2).sum(), runs * (of_topic**2).sum(), (rest**2).sum()]
    by_run, by_topic, residual = without_noise([float(s) for s in squares], matrix.values)
    recipe = f"two-way analysis of variance without replication, {runs} runs × {topics} topics"
    effects = [("run", by_run, runs - 1), ("topic", by_topic, topics - 1)]
    return analysed(effects, (residual, (runs - 1) * (topics - 1)), runs * topics, recipe, matrix.measure)


def without_noise(squares: Sequence[float], values: Floats) -> list[float]:
    """Sums of squares, with 0 where there is only the rounding of these values."""
    noise = 1e-24 * float((values**2).sum())
    return [0.0 if s <= noise else s for s in squares]


@dataclass(frozen=True)
class Friedman(Result):
    """Friedman's test: χ², its p, Kendall's W, and the mean rank of each run (1 is best)."""

    runs: tuple[str, ...]
    mean_ranks: Floats
    chi2: float
    df: int
    p: float
    w: float
    n: int
    measure: str = ""

    def table(self) -> Table:
        """Mean ranks, best first."""
        order = np.argsort(self.mean_ranks, kind="stable")
        rows = [(self.runs[i], self.mean_ranks[i]) for i in order]
        note = (
            f"Friedman test with tie correction, {len(self.runs)} runs, n = {self.n} topics: "
            f"χ² = {self.chi2:.4f}, {self.df} degrees of freedom, {p_value(self.p)}, Kendall's W = {self.w:.4f}"
        )
        caption = f"{self.measure}: mean ranks" if self.measure else "Mean ranks"
        return Table.of({"run": "", "mean rank": ".3f"}, rows, caption=caption, notes=[note])

    def record(self) -> dict[str, Any]:
        """χ², p and W, and the rows."""
        test = {"measure": self.measure, "chi2": self.chi2, "df": self.df, "p": self.p, "w": self.w, "n": self.n}
        return test | super().record()


def friedman(matrix: ScoreMatrix) -> Friedman:
    """Do the ranks of the runs on the topics differ more than chance? Tied scores share their mean rank.

    χ² = (k−1)·SS of the mean ranks over the mean within-topic variance of the ranks, k − 1 degrees of freedom. All
    scores tied on every topic: χ² = 0, p = 1.

    >>> f = friedman(ScoreMatrix.of([[3, 3, 3], [2, 2, 2], [1, 1, 1]]))
    >>> f.chi2, round(f.p, 4), f.w
    (6.0, 0.0498, 1.0)
    """
    from scipy.special import chdtrc
    from scipy.stats import rankdata

    k, n = matrix.shape
    if k < 2 or n < 2:
        raise DataError(f"{matrix.measure}: {k} runs × {n} topics; Friedman's test needs at least 2 × 2")
    ranks = np.asarray(rankdata(-rounded(checked_rows(matrix.values)), axis=0))
    means = ranks.mean(axis=1)
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    w = float(ratio(n * ((means - (k + 1) / 2) ** 2).sum(), spread))
    chi2 = n * (k - 1) * w
    return Friedman(matrix.runs, means, chi2, k - 1, float(chdtrc(k - 1, chi2)), w, n, matrix.measure)
