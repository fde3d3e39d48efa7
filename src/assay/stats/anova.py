"""Do the runs differ at all? One-way and two-way analysis of variance, and Friedman's test, in closed form.

The two-way analysis takes out what the topics do, as pairing does for two runs; its residual is what Tukey's test and
the topic-set-size designs stand on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix, same_scores
from assay.data.tested_means import needs_means, scores_of_one_measure
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
        if not self.df:
            return 0.0
        return self.squares / self.df

    def _row(self) -> tuple[str | float | None, ...]:
        """The line as a row of the table."""
        return (
            self.name,
            self.squares,
            self.df,
            self.mean_square,
            self.f,
            self.p,
            self.eta2,
            self.partial_eta2,
            self.omega2,
            self.partial_omega2,
        )


@dataclass(frozen=True)
class Anova(Result):
    """An analysis of variance: the effects, the residual, and n observations in all."""

    unit = "topic"

    effects: tuple[Source, ...]
    residual: Source
    n: int
    recipe: str
    measure: str = ""

    def __getitem__(self, name: str) -> Source:
        sources = (*self.effects, self.residual)
        for source in sources:
            if source.name == name:
                return source
        known = ", ".join(source.name for source in sources)
        raise DataError(f"no source of variance {name!r}; there are: {known}")

    def table(self) -> Table:
        """One row per source of variance."""
        columns = {"source": "", "SS": ".5f", "df": "d", "MS": ".6f", "F": ".4f", "p": "p"}
        columns |= {"η²": ".4f", "partial η²": ".4f", "ω²": ".4f", "partial ω²": ".4f"}
        keys = {"SS": "ss", "MS": "ms", "F": "f"}
        keys |= {"η²": "eta2", "partial η²": "partial_eta2", "ω²": "omega2", "partial ω²": "partial_omega2"}
        rows = [source._row() for source in (*self.effects, self.residual)]
        caption = "Analysis of variance"
        if self.measure:
            caption = f"{self.measure}: analysis of variance"
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
    left = Source("residual", *residual)
    mse = left.mean_square
    total = sum(squares for _, squares, _ in effects) + left.squares
    sources = []
    for name, squares, df in effects:
        f, p = _f_test(squares, df, left)
        surplus = max(squares - df * mse, 0.0)
        source = Source(
            name=name,
            squares=squares,
            df=df,
            f=f,
            p=p,
            eta2=float(ratio(squares, total)),
            partial_eta2=float(ratio(squares, squares + left.squares)),
            omega2=float(ratio(surplus, total + mse)),
            partial_omega2=float(ratio(surplus, surplus + n * mse)),
        )
        sources.append(source)
    return Anova(tuple(sources), left, n, recipe, measure)


def _f_test(squares: float, df: int, residual: Source) -> tuple[float, float]:
    """F of an effect against the residual, and its p."""
    from scipy.special import fdtrc

    if not df:
        return 0.0, 1.0
    f = float(ratio(squares / df, residual.mean_square))
    if np.isinf(f):
        return f, 0.0
    if f > 0:
        return f, float(fdtrc(df, residual.df, f))
    return f, 1.0


def one_way(groups: Sequence[npt.ArrayLike] | Floats) -> Anova:
    """One-way analysis: groups of scores (one per run) that need not share topics nor be equally many.

    On runs with common topics it forgets the pairing; use two_way there.

    >>> a = one_way([[1, 2, 3], [2, 3, 4]])
    >>> round(a["run"].f, 4), round(a["run"].p, 4), a["residual"].df
    (1.5, 0.2879, 4)
    """
    samples = [checked_rows(group, least=1)[0] for group in groups]
    count = len(samples)
    n = sum(map(len, samples))
    if count < 2 or n <= count:
        raise DataError(f"{count} groups of {n} scores; one-way analysis needs two groups and more scores than that")
    scores = np.concatenate(samples)
    grand_mean = scores.mean()
    between = 0.0
    within = 0.0
    for sample in samples:
        mean = sample.mean()
        between += len(sample) * (mean - grand_mean) ** 2
        within += ((sample - mean) ** 2).sum()
    between, within = without_noise([float(between), float(within)], scores)
    recipe = f"one-way analysis of variance, {count} runs, {n} scores; topics are not taken out"
    effect = ("run", between, count - 1)
    residual = (within, n - count)
    return analysed([effect], residual, n, recipe)


def one_way_by_measure(matrices: Sequence[ScoreMatrix]) -> list[Anova]:
    """One-way analysis of the runs of all matrices, for each measure: every run is a group, on whatever topics it has.

    A run that is in two matrices of one measure is an error: it would be two groups of one name.

    >>> old = ScoreMatrix.of([[1, 2, 3]], runs=["old"], measure="AP")
    >>> new = ScoreMatrix.of([[2, 3, 4]], runs=["new"], topics=["7", "8", "9"], measure="AP")
    >>> [round(a["run"].f, 4) for a in one_way_by_measure([old, new])]
    [1.5]
    """
    by_measure: dict[str, list[ScoreMatrix]] = {}
    for matrix in matrices:
        needs_means(matrix, "an analysis of variance")
        by_measure.setdefault(canonical(matrix.measure), []).append(matrix)
    analyses = []
    for of_measure in by_measure.values():
        runs: dict[str, Floats] = {}
        for matrix in of_measure:
            same_scores(of_measure[0], matrix)
            for run in matrix.runs:
                if run in runs:
                    raise DataError(f"{matrix.measure}: run {run!r} is in two files; give it once, or rename one")
                runs[run] = matrix.of_run(run)
        analyses.append(replace(one_way(list(runs.values())), measure=of_measure[0].measure))
    return analyses


def two_way(matrix: ScoreMatrix) -> Anova:
    """Two-way analysis without replication: runs and topics as effects, the rest as residual.

    >>> a = two_way(ScoreMatrix.of([[1, 2, 4], [2, 3, 3]]))
    >>> round(a["topic"].squares, 4), round(a["run"].squares, 4), round(a["residual"].squares, 4)
    (4.0, 0.1667, 1.3333)
    """
    needs_means(matrix, "an analysis of variance")
    runs, topics = matrix.shape
    if runs < 2 or topics < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {topics} topics; two-way analysis needs at least 2 × 2")
    centred = checked_rows(matrix.values) - matrix.values.mean()
    run_effect = centred.mean(axis=1, keepdims=True)
    topic_effect = centred.mean(axis=0, keepdims=True)
    rest = centred  # in place: there may be millions of topics
    rest -= run_effect
    rest -= topic_effect
    squares = [
        float(topics * (run_effect**2).sum()),
        float(runs * (topic_effect**2).sum()),
        float(np.square(rest, out=rest).sum()),
    ]
    del centred, rest
    of_run, of_topic, of_rest = without_noise(squares, matrix.values)
    run_df = runs - 1
    topic_df = topics - 1
    return analysed(
        [("run", of_run, run_df), ("topic", of_topic, topic_df)],
        residual=(of_rest, run_df * topic_df),
        n=runs * topics,
        recipe=f"two-way analysis of variance without replication, {runs} runs × {topics:,} topics",
        measure=matrix.measure,
    )


def variance_factors(df: int, level: float = 0.95) -> tuple[float, float]:
    """Between which multiples of a mean square the variance that it estimates lies: df/χ², exact for normal scores.

    >>> [round(factor, 2) for factor in variance_factors(9)]
    [0.47, 3.33]
    """
    from scipy.special import chdtri

    tail = (1 - level) / 2
    return df / float(chdtri(df, tail)), df / float(chdtri(df, 1 - tail))


def estimates_alone(freedom: Mapping[str, int]) -> str:
    """What is known of components of variance beside the estimates; freedom: degrees of freedom of what they rest on.

    >>> estimates_alone({"10 runs": 9}).partition(": ")[2]
    'even with normal scores the truth may be 0.47 to 3.3 times that (10 runs; 95 %)'
    """
    ranges = []
    for what, df in freedom.items():
        low, high = variance_factors(df)
        ranges.append(f"{low:.2g} to {high:.2g} times that ({what}")
    words = "), ".join(ranges)
    return f"σ² are estimates without intervals: even with normal scores the truth may be {words}; 95 %)"


def without_noise(squares: Sequence[float], values: Floats) -> list[float]:
    """Sums of squares, with 0 where there is only the rounding of these values."""
    noise = 1e-24 * float((values**2).sum())
    return [0.0 if s <= noise else s for s in squares]


@dataclass(frozen=True)
class Friedman(Result):
    """Friedman's test: χ², its p, Kendall's W, and the mean rank of each run (1 is best)."""

    unit = "topic"

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
        best_first = np.argsort(self.mean_ranks, kind="stable")
        rows = [(self.runs[i], self.mean_ranks[i]) for i in best_first]
        test = f"Friedman test with tie correction, {len(self.runs)} runs, n = {self.n} topics"
        chi2 = f"χ² = {self.chi2:.4f}, {self.df} degrees of freedom, {p_value(self.p)}"
        note = f"{test}: {chi2}, Kendall's W = {self.w:.4f}"
        caption = "Mean ranks"
        if self.measure:
            caption = f"{self.measure}: mean ranks"
        columns = {"run": "", "mean rank": ".3f"}
        return Table.of(columns, rows, caption=caption, notes=[note])

    def record(self) -> dict[str, Any]:
        """χ², p and W, and the rows."""
        test = {
            "measure": self.measure,
            "chi2": self.chi2,
            "df": self.df,
            "p": self.p,
            "w": self.w,
            "n": self.n,
        }
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

    k, n = scores_of_one_measure(matrix).shape
    if k < 2 or n < 2:
        raise DataError(f"{matrix.measure}: {k} runs × {n} topics; Friedman's test needs at least 2 × 2")
    scores = rounded(checked_rows(matrix.values))
    ranks = np.asarray(rankdata(-scores, axis=0))
    mean_ranks = ranks.mean(axis=1)
    middle = (k + 1) / 2
    between_runs = n * ((mean_ranks - middle) ** 2).sum()
    in_all = float(((ranks - middle) ** 2).sum())
    w = float(ratio(between_runs, in_all))
    chi2 = n * (k - 1) * w
    return Friedman(
        runs=matrix.runs,
        mean_ranks=mean_ranks,
        chi2=chi2,
        df=k - 1,
        p=float(chdtrc(k - 1, chi2)),
        w=w,
        n=n,
        measure=matrix.measure,
    )
