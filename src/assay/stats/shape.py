"""What do the scores look like? Their density within the bounds of the measure, and whether differences look normal.

The tests of paired.py do not need normal differences at 50 topics; these two show when to prefer a resampling test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import for_tests_of_means
from assay.stats.effect import checked_rows, differences, standard_deviation
from assay.stats.limits import possible_differences, possible_scores
from assay.stats.pair_tests import by_average, pairs_with

MANY_TOPICS = 30
"""Topics from which on the mean of differences is nearly normal whatever they are."""
ALPHA = 0.05
"""Level of the verdict on normality."""
MOST_VALUES = 5000
"""The p of Shapiro and Wilk's test holds up to this many values."""
POINTS_AT_ONCE = 4096
SAMPLES = ("run", "topic")
"""What a density is of: the scores of a run over the topics, or of a topic over the runs."""


@dataclass(frozen=True, eq=False)
class Density(Result):
    """A kernel density estimate on a grid of points."""

    points: Floats
    density: Floats
    bandwidth: float
    n: int

    @property
    def peak(self) -> float:
        """The score at which the density is highest."""
        return float(self.points[int(self.density.argmax())])

    def table(self) -> Table:
        """Point and density."""
        columns = {"score": ".4f", "density": ".4f"}
        points = self.points.tolist()
        densities = self.density.tolist()
        rows = zip(points, densities, strict=True)
        note = f"Gaussian kernel, reflected at the bounds, bandwidth {self.bandwidth:.4g}, n = {self.n}"
        return Table.of(columns, rows, caption="Density of scores", notes=[note])


def density(
    scores: npt.ArrayLike, *, low: float = 0.0, high: float = 1.0, bandwidth: float | None = None, points: int = 201
) -> Density:
    """Gaussian kernel density of scores bounded to [low, high], with reflection: it integrates to 1 within the bounds.

    Mirror images 2·low − x and 2·high − x are added to the data, the sum is divided by the original n and cut at the
    bounds (Silverman 1986, §2.10; Webber 2010, §3.3). A bound may be infinite: the grid then ends three bandwidths
    beyond the scores, and nothing is reflected there. Bandwidth by default: rule_of_thumb.

    >>> d = density([0.2, 0.4, 0.9])
    >>> round(float(np.trapezoid(d.density, d.points)), 2)
    1.0
    """
    numbers = np.asarray(scores, dtype=np.float64)
    x = checked_rows(numbers.ravel())[0]
    least = x.min()
    greatest = x.max()
    if low >= high or least < low or greatest > high:
        raise UsageError(f"scores from {least:g} to {greatest:g} do not fit the bounds {low:g} to {high:g}")
    width = rule_of_thumb(x) if bandwidth is None else bandwidth
    if width <= 0:
        raise DataError("all scores are equal: there is no density to draw; give a bandwidth to smear them")
    first = low if np.isfinite(low) else least - 3 * width
    last = high if np.isfinite(high) else greatest + 3 * width
    grid = np.linspace(first, last, points)
    mirrored = x
    for bound in (low, high):
        if np.isfinite(bound):
            mirrored = np.concatenate([mirrored, 2 * bound - x])
    total = np.zeros(points)
    # A part of the data at a time: the distances of all points to all scores would not fit in memory.
    parts = max(1, mirrored.size // POINTS_AT_ONCE)
    for part in np.array_split(mirrored, parts):
        distance = (grid[:, None] - part) / width
        kernel = np.exp(-0.5 * distance**2)
        total += kernel.sum(axis=1)
    scale = x.size * width * np.sqrt(2 * np.pi)
    return Density(
        points=grid,
        density=total / scale,
        bandwidth=width,
        n=x.size,
    )


@dataclass(frozen=True, eq=False)
class ScoreDensities(Result):
    """Densities of the scores of runs or topics, or of differences from a baseline, by name."""

    what: str
    """What the values are, e.g. AP."""
    of: str
    """What the names are: run or topic."""
    curves: Mapping[str, Density]
    quartiles: Mapping[str, tuple[float, float, float]]

    def table(self) -> Table:
        """One row per curve: its number of values, quartiles, the most frequent value, and the bandwidth."""
        columns = {self.of: "", "n": "d", "first quartile": ".4f", "median": ".4f", "third quartile": ".4f"}
        columns |= {"peak": ".4f", "bandwidth": ".4f"}
        rows = []
        for name, curve in self.curves.items():
            rows.append((name, curve.n, *self.quartiles[name], curve.peak, curve.bandwidth))
        note = "peak: where the density is highest; Gaussian kernel, reflected at the ends of the measure's range"
        return Table.of(columns, rows, caption=f"Distribution of {self.what}", notes=[note])

    def record(self) -> dict[str, Any]:
        """The rows, and the curves as points and densities."""
        curves = []
        for name, curve in self.curves.items():
            points = curve.points.tolist()
            curves.append({"name": name, "points": points, "density": curve.density.tolist()})
        return {"curves": curves} | super().record()


def score_densities(
    matrix: ScoreMatrix,
    *,
    of: str = "run",
    names: Sequence[str] | None = None,
    baseline: str | None = None,
    bandwidth: float | None = None,
) -> ScoreDensities:
    """The densities of the scores of each run over the topics, or of each topic over the runs.

    names: only these runs or topics. baseline: of the differences from this run instead. Values stay within the range
    of the measure where that is known. Webber 2010, Figs. 3.19, 4.2 and 4.5.

    >>> matrix = ScoreMatrix.of([[0.1, 0.2, 0.4], [0.5, 0.6, 0.9]], runs=["old", "new"], measure="AP")
    >>> list(score_densities(matrix).curves), list(score_densities(matrix, baseline="old").curves)
    (['old', 'new'], ['new'])
    """
    one_of("of", of, SAMPLES)
    limits = possible_scores(matrix)
    what = matrix.measure
    values = matrix.values
    known = matrix.runs
    if baseline is not None:
        if of != "run":
            raise UsageError("differences from a baseline are those of runs; leave one of the two out")
        limits = possible_differences(matrix)
        values = values - matrix.of_run(baseline)
        what = f"differences in {matrix.measure} from {baseline}"
    if of == "topic":
        known = matrix.topics
        values = values.T
    chosen = [name for name in known if name != baseline] if names is None else list(names)
    curves = {}
    quartiles = {}
    low, high = limits or (-np.inf, np.inf)
    for name in chosen:
        if name not in known:
            raise UsageError(f"no {of} {name!r}{did_you_mean(name, known)}")
        sample = values[known.index(name)]
        curves[name] = density(sample, low=low, high=high, bandwidth=bandwidth)
        first, median, third = np.quantile(sample, [0.25, 0.5, 0.75]).tolist()
        quartiles[name] = (first, median, third)
    return ScoreDensities(what, of, curves, quartiles)


def rule_of_thumb(scores: npt.ArrayLike) -> float:
    """Silverman's bandwidth 0.9·min(S, IQR/1.34)·n^(−1/5) (1986, eq. 3.31); S alone where the quartiles coincide.

    >>> round(rule_of_thumb([1, 2, 3, 4, 5]), 4)
    0.9736
    """
    x = checked_rows(scores)[0]
    spread = float(standard_deviation(x)[0])
    upper, lower = np.quantile(x, [0.75, 0.25])
    quartiles = float(upper - lower) / 1.34
    if quartiles > 0:
        spread = min(spread, quartiles)
    shrinking = float(len(x)) ** -0.2
    return 0.9 * spread * shrinking


@dataclass(frozen=True)
class Normality(Result):
    """Shapiro and Wilk's W and p, skewness and excess kurtosis of n differences, and what that means."""

    unit = "topic"

    w: float
    p: float
    skewness: float
    kurtosis: float
    n: int

    def verdict(self, alpha: float = ALPHA) -> str:
        """One sentence for a person."""
        if self.p >= alpha:
            return "no sign that the differences are not normal"
        return f"the differences are not normal; {advice(self.n)}"

    def table(self) -> Table:
        """One row."""
        row = (self.w, self.p, self.skewness, self.kurtosis, self.n)
        return Table.of(
            {**NORMALITY_COLUMNS, "topics": "d"},
            [row],
            caption="Normality of the differences (Shapiro-Wilk)",
            notes=[self.verdict()],
            keys=NORMALITY_KEYS | {"topics": "n"},
        )


NORMALITY_KEYS = {"W": "w"}
NORMALITY_COLUMNS = {"W": ".4f", "p": "p", "skewness": "+.3f", "kurtosis": "+.3f"}


def normality(values: npt.ArrayLike) -> Normality:
    """Shapiro-Wilk test of one sample of differences, with skewness and excess kurtosis.

    Equal values throughout: W = 1, p = 1, nothing to test. At least 3 topics, at most 5,000.

    >>> normality([1, 2, 3, 4, 5]).verdict()
    'no sign that the differences are not normal'
    """
    from scipy.stats import kurtosis, shapiro, skew

    x = checked_rows(values, least=3)[0]
    n = len(x)
    if n > MOST_VALUES:
        raise UsageError(f"{n} values; the p of Shapiro and Wilk's test holds up to {MOST_VALUES}, take a sample")
    if np.ptp(x) == 0:
        return Normality(w=1.0, p=1.0, skewness=0.0, kurtosis=0.0, n=n)
    w, p = shapiro(x)
    return Normality(
        w=float(w),
        p=float(p),
        skewness=float(skew(x)),
        kurtosis=float(kurtosis(x)),
        n=n,
    )


def advice(topics: int) -> str:
    """What to do about differences that are not normal: the mean of many of them nearly is."""
    if topics >= MANY_TOPICS:
        return f"with {topics} topics the t test is usually sound; a randomisation test checks it"
    return f"with {topics} topics prefer a randomisation test"


@dataclass(frozen=True)
class RunsNormality(Result):
    """Whether the differences of every other run to the baseline look normal."""

    unit = "topic"

    measure: str
    baseline: str
    runs: tuple[str, ...]
    found: tuple[Normality, ...]
    n: int

    def table(self) -> Table:
        """One row per run."""
        rows = []
        not_normal = 0
        for run, test in zip(self.runs, self.found, strict=True):
            rows.append((run, test.w, test.p, test.skewness, test.kurtosis))
            if test.p < ALPHA:
                not_normal += 1
        share = f"{not_normal} of {len(rows)} with p < {ALPHA:g}"
        notes = [f"Shapiro-Wilk test, each run alone: {share}, n = {self.n} topics"]
        if not_normal:
            notes.append(f"where they are not normal: {advice(self.n)}")
        return Table.of(
            {"run": "", **NORMALITY_COLUMNS},
            rows,
            caption=f"{self.measure}: do the differences to {self.baseline} look normal?",
            notes=notes,
            keys=NORMALITY_KEYS,
        )

    def record(self) -> dict[str, Any]:
        """The rows, with the measure, the baseline and the number of topics."""
        settings = {"measure": self.measure, "baseline": self.baseline, "n": self.n}
        return settings | super().record()


def runs_normality(matrix: ScoreMatrix, *, baseline: str | None = None) -> RunsNormality:
    """Shapiro-Wilk test of the differences of every other run to the baseline, by default the best; runs by mean.

    >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9, 0.1], [0.4, 0.4, 0.6, 0.0]], runs=["new", "old"])
    >>> runs_normality(m, baseline="old").runs
    ('new',)
    """
    ordered = by_average(matrix)
    against = ordered.runs[0] if baseline is None else baseline
    first, second = pairs_with(ordered.runs, against)
    scores = for_tests_of_means(ordered).values
    rows = differences(scores[first], scores[second])
    return RunsNormality(
        measure=ordered.measure,
        baseline=against,
        runs=tuple(ordered.runs[i] for i in first),
        found=tuple(normality(row) for row in rows),
        n=len(ordered.topics),
    )
