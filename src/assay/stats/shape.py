"""What do the scores look like? Their density within the bounds of the measure, and whether differences look normal.

The tests of paired.py do not need normal differences at 50 topics; these two show when to prefer a resampling test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.effect import checked_rows, differences, standard_deviation
from assay.stats.pairs import pairs_with

MANY, ALPHA = 30, 0.05
"""Topics from which on the mean of differences is nearly normal whatever they are; level of the verdict."""


@dataclass(frozen=True, eq=False)
class Density:
    """A kernel density estimate on a grid of points."""

    points: Floats
    density: Floats
    bandwidth: float
    n: int

    def table(self) -> Table:
        """Point and density."""
        note = f"Gaussian kernel, reflected at the bounds, bandwidth {self.bandwidth:.4g}, n = {self.n}"
        rows = zip(self.points.tolist(), self.density.tolist(), strict=True)
        return Table.of({"score": ".4f", "density": ".4f"}, rows, caption="Density of scores", notes=[note])


def density(
    scores: npt.ArrayLike, *, low: float = 0.0, high: float = 1.0, bandwidth: float | None = None, points: int = 201
) -> Density:
    """Gaussian kernel density of scores bounded to [low, high], with reflection: it integrates to 1 within the bounds.

    Mirror images 2·low − x and 2·high − x are added to the data, the sum is divided by the original n and cut at the
    bounds (Silverman 1986, §2.10; Webber 2010, §3.3). Bandwidth by default: rule_of_thumb.

    >>> d = density([0.2, 0.4, 0.9])
    >>> round(float(np.trapezoid(d.density, d.points)), 2)
    1.0
    """
    x = checked_rows(np.ravel(np.asarray(scores, dtype=np.float64)))[0]
    if low >= high or x.min() < low or x.max() > high:
        raise UsageError(f"scores from {x.min():g} to {x.max():g} do not fit the bounds {low:g} to {high:g}")
    h = rule_of_thumb(x) if bandwidth is None else bandwidth
    if h <= 0:
        raise DataError("all scores are equal: there is no density to draw; give a bandwidth to smear them")
    grid = np.linspace(low, high, points)
    sources = np.concatenate([x, 2 * low - x, 2 * high - x])
    total = np.zeros(points)
    for part in np.array_split(sources, max(1, sources.size // 4096)):
        total += np.exp(-0.5 * ((grid[:, None] - part) / h) ** 2).sum(axis=1)
    return Density(grid, total / (x.size * h * np.sqrt(2 * np.pi)), h, x.size)


def rule_of_thumb(scores: npt.ArrayLike) -> float:
    """Silverman's bandwidth 0.9·min(S, IQR/1.34)·n^(−1/5) (1986, eq. 3.31); S alone where the quartiles coincide.

    >>> round(rule_of_thumb([1, 2, 3, 4, 5]), 4)
    0.9736
    """
    x = checked_rows(scores)[0]
    spread = float(standard_deviation(x)[0])
    quartiles = float(np.subtract(*np.quantile(x, [0.75, 0.25]))) / 1.34
    return 0.9 * (min(spread, quartiles) if quartiles > 0 else spread) * float(len(x)) ** -0.2


@dataclass(frozen=True)
class Normality:
    """Shapiro and Wilk's W and p, skewness and excess kurtosis of n differences, and what that means."""

    w: float
    p: float
    skewness: float
    kurtosis: float
    n: int

    def verdict(self, alpha: float = 0.05) -> str:
        """One sentence for a person."""
        if self.p >= alpha:
            return "no sign that the differences are not normal"
        return f"the differences are not normal; {advice(self.n)}"

    def table(self) -> Table:
        """One row."""
        columns = {"W": ".4f", "p": "p", "skewness": "+.3f", "kurtosis": "+.3f", "topics": "d"}
        rows = [(self.w, self.p, self.skewness, self.kurtosis, self.n)]
        return Table.of(columns, rows, caption="Normality of the differences (Shapiro-Wilk)", notes=[self.verdict()])


def normality(values: npt.ArrayLike) -> Normality:
    """Shapiro-Wilk test of one sample of differences, with skewness and excess kurtosis.

    Equal values throughout: W = 1, p = 1, nothing to test. At least 3 topics, at most 5,000.

    >>> normality([1, 2, 3, 4, 5]).verdict()
    'no sign that the differences are not normal'
    """
    from scipy.stats import kurtosis, shapiro, skew

    x = checked_rows(values, least=3)[0]
    if len(x) > 5000:
        raise UsageError(f"{len(x)} values; the p of Shapiro and Wilk's test holds up to 5000, take a sample")
    if np.ptp(x) == 0:
        return Normality(1.0, 1.0, 0.0, 0.0, len(x))
    w, p = shapiro(x)
    return Normality(float(w), float(p), float(skew(x)), float(kurtosis(x)), len(x))


def advice(topics: int) -> str:
    """What to do about differences that are not normal: the mean of many of them nearly is."""
    if topics >= MANY:
        return f"with {topics} topics the t test is usually sound; a randomisation test checks it"
    return f"with {topics} topics prefer a randomisation test"


def normality_table(matrix: ScoreMatrix, baseline: str) -> Table:
    """Shapiro-Wilk test of the differences of every other run to the baseline, one row each."""
    first, second = pairs_with(matrix.runs, baseline)
    rows = differences(matrix.values[first], matrix.values[second])
    found = [(matrix.runs[i], normality(d)) for i, d in zip(first, rows, strict=True)]
    columns = {"run": "", "W": ".4f", "p": "p", "skewness": "+.3f", "kurtosis": "+.3f"}
    lines = [(run, n.w, n.p, n.skewness, n.kurtosis) for run, n in found]
    odd = sum(n.p < ALPHA for _, n in found)
    notes = [
        f"Shapiro-Wilk test, each run alone: {odd} of {len(found)} with p < {ALPHA:g}, n = {matrix.shape[1]} topics"
    ]
    notes += [f"where they are not normal: {advice(matrix.shape[1])}"] if odd else []
    return Table.of(
        columns, lines, caption=f"{matrix.measure}: do the differences to {baseline} look normal?", notes=notes
    )
