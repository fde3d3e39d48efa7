"""How many topics should a new collection have? Sakai's three designs, exact and as his spreadsheets compute them.

By the t test (two runs), by one-way ANOVA (m runs) and by the width of a confidence interval; the variance they need is
estimated from scores of an earlier collection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix, same_scores
from assay.data.tested_means import needs_means
from assay.stats.anova import variance_factors
from assay.stats.pair_tests import by_average
from assay.stats.t_power import TTest, above_alpha, between, positive, root, topics_needed, whole

PAIRED_VARIANCE = (
    "The variance of paired differences is taken as twice that of scores, as if two runs had nothing in common; pairs "
    "of real runs need fewer topics, see `assay plan audit`."
)
LINES = {  # λ ≈ c₀ + c₁·√(m − 1) by (α, β): Sakai 2018, Table 6.4
    (0.01, 0.1): (10.439, 5.213),
    (0.01, 0.2): (7.736, 4.551),
    (0.01, 0.3): (6.030, 4.077),
    (0.01, 0.4): (4.733, 3.675),
    (0.01, 0.5): (3.653, 3.302),
    (0.05, 0.1): (7.049, 4.244),
    (0.05, 0.2): (4.860, 3.584),
    (0.05, 0.3): (3.522, 3.112),
    (0.05, 0.4): (2.543, 2.712),
    (0.05, 0.5): (1.765, 2.341),
}


@dataclass(frozen=True)
class Size(Result):
    """Topics by one design: exact, by Sakai's approximation, and its first guess before any stepping.

    `start` is a real number; published tables sometimes print its ceiling.
    """

    unit = "topic"

    design: str
    exact: int
    approximation: int
    start: float
    recipe: str

    def table(self) -> Table:
        """One row."""
        return sizes_table([self])


@dataclass(frozen=True)
class Sizes(Result):
    """Topics by several designs, all for scores of one variance."""

    unit = "topic"

    designs: tuple[Size, ...]
    variance: float
    freedom: int = 0
    """Degrees of freedom of the earlier topics that the variance is from; 0 where it was given."""

    def table(self) -> Table:
        """One row per design."""
        return sizes_table(self.designs, remarks=[PAIRED_VARIANCE, *self._of_estimate()])

    def _of_estimate(self) -> list[str]:
        """How far an estimated variance, and with it every number of topics, may be off."""
        if not self.freedom:
            return []
        low, high = variance_factors(self.freedom)
        return [
            f"The variance is estimated from earlier topics: even with normal scores the truth, and with it the topics "
            f"needed, may be {low:.2g} to {high:.2g} times as large (95 %)."
        ]

    def record(self) -> dict[str, Any]:
        """The rows, with the variance of scores that they rest on."""
        return {"variance": self.variance} | super().record()


def sizes_table(sizes: Sequence[Size], *, remarks: Sequence[str] = ()) -> Table:
    """One row per design."""
    rows = []
    notes = []
    for size in sizes:
        rows.append((size.design, size.exact, size.approximation, size.start))
        notes.append(f"{size.design}: {size.recipe}.")
    return Table.of(
        {"design": "", "topics": "d", "Sakai's approximation": "d", "first guess": ".2f"},
        rows,
        caption="Topics for a new collection",
        notes=[*notes, *remarks],
        keys={"Sakai's approximation": "approximation"},
    )


def sizes(
    *earlier: ScoreMatrix,
    variance: float | None = None,
    difference: float = 0.05,
    runs: int = 10,
    best: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Sizes:
    """Topics for a new collection by the t test, by ANOVA of `runs` runs and by the width of an interval.

    `difference` is the difference, range or width wanted. The variance of the scores of a run is given, or pooled over
    `earlier` collections of one measure, on the `best` runs of each.

    >>> [size.exact for size in sizes(variance=0.05, difference=0.1).designs]
    [81, 80, 158, 156, 155]
    """
    if (variance is None) == (not earlier):
        raise UsageError("give the variance, or scores of earlier collections to estimate it from")
    if best is not None and not earlier:
        raise UsageError("best: a given variance needs no runs to estimate it from; leave it out")
    for matrix in earlier[1:]:
        same_scores(earlier[0], matrix)
    freedom = 0
    if variance is None:
        variance = score_variance(*earlier, runs=best)
        freedom = sum(len(matrix.topics) - 1 for matrix in earlier)  # runs share topics, so they add none
    positive("variance", variance)
    of_differences = 2 * variance
    designs = (
        topics_by_t(difference, variance=of_differences, alpha=alpha, power=power),
        topics_by_t(difference, variance=variance, alpha=alpha, power=power, design="two-sample"),
        topics_by_anova(difference, runs=runs, variance=variance, alpha=alpha, power=power),
        topics_by_interval(difference, variance=of_differences, alpha=alpha),
        topics_by_interval(difference, variance=variance, alpha=alpha, design="two-sample"),
    )
    return Sizes(designs, variance, freedom)


def topics_by_t(
    difference: float, *, variance: float, alpha: float = 0.05, power: float = 0.8, design: str = "paired"
) -> Size:
    """Topics with which a two-sided t test finds a true difference with the given power.

    `variance` is that of the differences (twice the variance of scores when unknown) for `paired`, that of the scores
    for `two-sample`. Exact: noncentral t. Approximation: Φ-based power of Nagata, stepping up from
    ((z_α/2 + z_β)/Δ)² + z²_α/2 / 2. Sakai 2016; 2018, ch. 6.

    >>> topics_by_t(0.1, variance=0.096).exact
    78
    """
    test = TTest(alpha, 2, design)
    positive("difference", difference)
    sigma = positive("variance", variance) ** 0.5
    d = difference / sigma
    exact = whole(topics_needed(d, power=power, test=test))
    z_alpha = _upper_z(alpha / 2)
    z_beta = _upper_z(1 - power)
    samples = _samples(design)
    start = samples * ((z_alpha + z_beta) / d) ** 2 + z_alpha**2 / (2 * samples)

    def is_enough(n: int) -> bool:
        return _t_power(n, d, test) >= power

    approximation = _smallest(is_enough, round(start))
    recipe = f"{test.words()}, power {power:g}, difference {difference:g}, variance {variance:g}"
    return Size(f"t test, {design}", exact, approximation, start, recipe)


def topics_by_anova(spread: float, *, runs: int, variance: float, alpha: float = 0.05, power: float = 0.8) -> Size:
    """Topics with which one-way ANOVA of m runs is significant when best and worst truly differ by `spread`.

    Exact: noncentral F with λ = n·spread²/(2·variance), m − 1 and m(n − 1) degrees of freedom. Approximation: Patnaik's
    and Fisher's, with the two variances added. First guess: λ(α, β, m)·2·variance/spread², λ by Sakai's line where he
    gives one, else from the noncentral χ². Sakai 2016; 2018, ch. 6.

    >>> size = topics_by_anova(0.1, runs=10, variance=0.05)
    >>> size.exact, size.approximation
    (158, 157)
    """
    if runs < 2:
        raise UsageError(f"runs: ANOVA compares at least two (got {runs})")
    per_topic = positive("spread", spread) ** 2 / (2 * positive("variance", variance))
    above_alpha(power, between("alpha", alpha))
    start = _first_lambda(alpha, 1 - power, runs) / per_topic

    def is_enough(n: int) -> bool:
        return anova_power(n, runs=runs, effect=per_topic, alpha=alpha) >= power

    def is_nearly_enough(n: int) -> bool:
        return _anova_power_near(n, runs, per_topic, alpha) >= power

    exact = _smallest(is_enough, round(start))
    approximation = _smallest(is_nearly_enough, round(start))
    recipe = f"one-way ANOVA of {runs} runs, α = {alpha:g}, power {power:g}, range {spread:g}, variance {variance:g}"
    return Size(f"ANOVA, {runs} runs", exact, approximation, start, recipe)


def topics_by_interval(width: float, *, variance: float, alpha: float = 0.05, design: str = "paired") -> Size:
    """Topics with which the expected width of the 1 − α interval of a difference is at most `width`.

    2·t_α/2·E[√V]/√n ≤ width, E[√V] = σ·√(2/φ)·Γ((φ + 1)/2)/Γ(φ/2); approximation E[√V] ≈ σ(1 − 1/4φ); first guess
    4·z²·variance/width² (two samples: twice each, φ = 2n − 2). Sakai 2016; 2018, ch. 6.

    >>> topics_by_interval(0.1, variance=0.096).exact
    150
    """
    TTest(alpha, 2, design)
    samples = _samples(design)
    positive("variance", variance)
    positive("width", width)
    start = 4 * samples * _upper_z(alpha / 2) ** 2 * variance / width**2
    exact = _interval_topics(width, variance, alpha, samples, _expected_sd)
    near = _interval_topics(width, variance, alpha, samples, _expected_sd_near)
    each = "" if design == "paired" else ", topics of each of the two sets"
    level = f"{100 * (1 - alpha):g} %"
    recipe = f"expected width of the {level} interval, {design}, width {width:g}, variance {variance:g}{each}"
    return Size(f"interval, {design}", exact, near, start, recipe)


def score_variance(*matrices: ScoreMatrix, runs: int | None = None, two_way: bool = False) -> float:
    """σ² of scores within a run, from earlier collections: residual variance of one-way ANOVA, pooled over them.

    Σ(x − mean of the run)²/(m(n − 1)) on the best `runs` runs of each collection (all by default); with `two_way` the
    residual without the topics' share. For paired designs double the first: σ_t² = 2σ². Sakai 2016, eq. 36.

    >>> round(score_variance(ScoreMatrix.of([[0.1, 0.3], [0.2, 0.6]])), 4)
    0.05
    """
    total = 0.0
    freedom = 0
    for matrix in matrices:
        needs_means(matrix, "the size of a collection")
        x = by_average(matrix).values[:runs]
        m, n = x.shape
        if n < 2 or (two_way and m < 2):
            raise DataError(f"{matrix.measure}: {m} runs × {n} topics; a variance needs at least two topics and runs")
        residual = x - x.mean(axis=1, keepdims=True)
        if two_way:
            residual = residual - residual.mean(axis=0)
        total += float((residual**2).sum())
        freedom += (m - 1) * (n - 1) if two_way else m * (n - 1)
    if not freedom:
        raise UsageError("no scores given; the variance of an earlier collection is needed")
    return total / freedom


def anova_power(topics: float, *, runs: int, effect: float, alpha: float = 0.05) -> float:
    """Power of one-way ANOVA with λ = topics·effect, effect = spread²/(2·variance), by the noncentral F law.

    >>> round(anova_power(78, runs=2, effect=0.1), 4)
    0.7926
    """
    from scipy.special import fdtri, ncfdtr

    a, e = runs - 1, runs * (topics - 1)
    return float(1 - ncfdtr(a, e, topics * effect, float(fdtri(a, e, 1 - alpha))))


def _samples(design: str) -> int:
    """Topic sets of a design."""
    return 1 if design == "paired" else 2


def _t_power(n: int, d: float, test: TTest) -> float:
    """Nagata's approximation of the power of a two-sided t test, by the normal law."""
    from scipy.special import ndtr, stdtrit

    samples = _samples(test.design)
    df = samples * (n - 1)
    shift = (n / samples) ** 0.5 * d
    critical = float(stdtrit(df, 1 - test.alpha / 2))
    scale = (1 + critical * critical / (2 * df)) ** 0.5
    shrink = 1 - 1 / (4 * df)
    below = (-critical * shrink - shift) / scale
    above = (critical * shrink - shift) / scale
    return float(ndtr(below) + 1 - ndtr(above))


def _anova_power_near(n: int, runs: int, effect: float, alpha: float) -> float:
    from scipy.special import fdtri, ndtr

    between_runs = runs - 1
    residual = runs * (n - 1)
    shift = n * effect
    critical = float(fdtri(between_runs, residual, 1 - alpha))
    # Patnaik: the noncentral χ² is c times a central one with a_star degrees of freedom; Fisher: its root is normal.
    c = (between_runs + 2 * shift) / (between_runs + shift)
    a_star = (between_runs + shift) ** 2 / (between_runs + 2 * shift)
    of_residual = (critical / residual) ** 0.5 * (2 * residual - 1) ** 0.5
    of_runs = (c / between_runs) ** 0.5 * (2 * a_star - 1) ** 0.5
    scale = (c / between_runs + critical / residual) ** 0.5
    return float(1 - ndtr((of_residual - of_runs) / scale))


def _first_lambda(alpha: float, beta: float, runs: int) -> float:
    """λ for these errors, by Sakai's line where he gives one, else from the noncentral χ²."""
    line = LINES.get((round(alpha, 9), round(beta, 9)))
    if line:
        intercept, slope = line
        return intercept + slope * (runs - 1) ** 0.5
    from scipy.special import chdtri, chndtr

    critical = float(chdtri(runs - 1, alpha))

    def excess_power(shift: float) -> float:
        power = float(1 - chndtr(critical, runs - 1, shift))
        return power - (1 - beta)

    return root(excess_power, low=0.0, what="λ")


def _interval_topics(
    width: float, variance: float, alpha: float, samples: int, expected_sd: Callable[[int], float]
) -> int:
    from scipy.special import stdtrit

    def expected_width(n: int) -> float:
        df = samples * (n - 1)
        point = stdtrit(df, 1 - alpha / 2)
        return float(2 * point * (samples * variance / n) ** 0.5 * expected_sd(df))

    return _smallest(lambda n: expected_width(n) <= width, 2)


def _upper_z(p: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(p))


def _expected_sd(df: int) -> float:
    from scipy.special import gammaln

    return float((2 / df) ** 0.5 * np.exp(gammaln((df + 1) / 2) - gammaln(df / 2)))


def _expected_sd_near(df: int) -> float:
    return 1 - 1 / (4 * df)


def _smallest(enough: Callable[[int], bool], start: int) -> int:
    """The least n ≥ 2 that is enough, for a criterion that once met stays met, searched from near the answer."""
    low, high = 1, max(2, start)
    while not enough(high):
        low, high = high, 2 * high
        if high > 10**9:
            raise UsageError("topics: more than a billion would be needed; ask for less")
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
