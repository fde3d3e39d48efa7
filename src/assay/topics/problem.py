"""A matrix and a criterion, made ready for many subsets: whole-number scores, the ranking by all topics, checks.

Where the flow stands: scores → **problem** → searches, series, stability. Everything that follows asks a Problem how
good subsets are, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.io.brought import score_matrix_of
from assay.topics.criteria import CRITERIA, CriterionFunction, Numbers

Masks = npt.NDArray[np.bool_]
SCALES: Registry[Callable[..., Floats]] = Registry("scale")


@SCALES.register("plain")
def plain(values: Floats) -> Floats:
    """The scores as they are."""
    return values


@SCALES.register("log")
def log_scores(values: Floats, *, epsilon: Annotated[float, Within(0, open=True)] = 1e-5, add: bool = False) -> Floats:
    """ln of each score (logAP); zeros become epsilon, or with add=true epsilon is added to every score.

    >>> log_scores(np.array([[1.0, 0.0]])).round(4).tolist()
    [[0.0, -11.5129]]
    """
    positive = values + epsilon if add else np.maximum(values, epsilon)
    return np.log(positive)


@SCALES.register("logit")
def logit_scores(values: Floats, *, epsilon: Annotated[float, Within(0, 0.5, open=True)] = 1e-5) -> Floats:
    """ln(score / (1 - score)) (logitAP), scores kept within epsilon of 0 and 1.

    >>> logit_scores(np.array([[0.5, 1.0]])).round(4).tolist()
    [[0.0, 11.5129]]
    """
    kept = np.clip(values, epsilon, 1 - epsilon)
    return np.asarray(np.log(kept / (1 - kept)))


@SCALES.register("gmap", link=np.exp)
def geometric(values: Floats, *, epsilon: Annotated[float, Within(0, open=True)] = 1e-5) -> Floats:
    """Geometric means over the topics (GMAP) in place of arithmetic ones; ranks as `log`, differs for Pearson."""
    return log_scores(values, epsilon=epsilon)


@dataclass(frozen=True, eq=False)
class Moments:
    """Pearson's correlation of a subset from sums over its topics: N/√Q with N = Σ gain_t and Q = Σ product_tu.

    `centred` holds the scores (topics × runs) less the topic's mean over the runs, in units.
    """

    centred: Floats
    gain: Floats
    product: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """How well do subsets of these topics rank these runs as all topics do?

    `units` holds the scores, topics × runs, as whole numbers of `unit`: decimals exactly, other scores in fixed point,
    so that equal sums are equal whatever the order of adding. `named` is the criterion and the scale as written.
    """

    matrix: ScoreMatrix
    criterion: str
    units: Numbers
    unit: float
    function: CriterionFunction
    parameters: dict[str, Any]
    title: str
    higher: bool
    link: Callable[[Floats], Floats] | None
    named: tuple[str, str]
    truth: ScoreMatrix | None = None
    """Scores of the same runs whose ranking by all topics is to be reached; by default that of the matrix itself."""

    def of_runs(self, runs: list[str]) -> Problem:
        """The same question for some of the runs."""
        criterion, scale = self.named
        return problem(self.matrix.select(runs=runs), criterion=criterion, scale=scale, truth=self.truth)

    @property
    def reference(self) -> str:
        """What the rankings of subsets are compared with, in words."""
        if self.truth is None:
            return f"all {self.n} topics"
        return f"the truth, {self.truth.measure} on {len(self.truth.topics)} topics"

    @property
    def n(self) -> int:
        """Number of topics."""
        return len(self.units)

    @cached_property
    def full(self) -> Numbers:
        """Sums over all topics (of the truth, if one is given), per run; with geometric means, those."""
        if self.truth is not None:
            _, scale = self.named
            units, unit = whole_numbers(SCALES.call(scale, self.truth.values.T))
            by_truth = replace(self, units=units, unit=unit, truth=None)
            return by_truth.full
        sums = self.units.sum(axis=0)
        linked = self._linked(sums[None, :], np.array([self.n]))
        return np.asarray(linked[0])

    @property
    def quadratic(self) -> bool:
        """Whether a swap can be valued from sums of products alone, as for Pearson's correlation of means."""
        return self.criterion == "pearson" and self.link is None

    @cached_property
    def moments(self) -> Moments:
        """What a quadratic criterion is made of."""
        topic_means = self.units.mean(axis=1, keepdims=True)
        centred = self.units - topic_means
        target = self.full - self.full.mean()
        length = np.sqrt(target @ target)
        return Moments(
            centred=centred,
            gain=centred @ target / length,
            product=centred @ centred.T,
        )

    @cached_property
    def floats(self) -> Floats:
        """The units as floats: what products of matrices are fast on."""
        return self.units.astype(np.float64)

    def sums(self, masks: Masks) -> Numbers:
        """Sums over each subset (subsets × topics of true and false), per run."""
        if self.units.dtype == np.int32:  # exact in floats, and fast
            return times(masks.astype(np.float64), self.floats).astype(np.int32)
        return np.asarray(masks.astype(np.int64) @ self.units)

    def weighted_sums(self, weights: Numbers) -> Numbers:
        """Sums in which each topic counts by a whole number (subsets × topics), per run."""
        if self.units.dtype == np.int32:  # exact in floats, and fast
            return times(weights.astype(np.float64), self.floats).astype(np.int64)
        return np.asarray(weights.astype(np.int64) @ self.units)

    def of_sums(self, sums: Numbers, sizes: npt.ArrayLike) -> Floats:
        """The criterion's value of subsets given their sums and sizes."""
        linked = self._linked(sums, np.asarray(sizes))
        return self.function(linked, self.full, **self.parameters)

    def of_masks(self, masks: Masks) -> Floats:
        """The criterion's value of subsets."""
        return self.of_sums(self.sums(masks), masks.sum(axis=1))

    def of_topics(self, topics: list[str] | tuple[str, ...]) -> float:
        """The criterion's value of one subset, by the names of its topics."""
        mask = self.mask(topics)
        values = self.of_masks(mask[None, :])
        return float(values[0])

    def mask(self, topics: list[str] | tuple[str, ...]) -> Masks:
        """True for these topics."""
        place_of_topic = {topic: place for place, topic in enumerate(self.matrix.topics)}
        mask = np.zeros(self.n, bool)
        for topic in topics:
            if topic not in place_of_topic:
                raise UsageError(f"{self.matrix.measure}: no topic {topic!r} in the matrix")
            mask[place_of_topic[topic]] = True
        return mask

    def names(self, mask: Masks) -> tuple[str, ...]:
        """The topics of a subset."""
        return tuple(compress(self.matrix.topics, mask))

    def goodness(self, values: Floats) -> Floats:
        """Values turned so that more is better."""
        return values if self.higher else -values

    def _linked(self, sums: Numbers, sizes: Numbers) -> Numbers:
        """The sums themselves, or with a link (geometric means) the linked means."""
        if self.link is None:
            return sums
        size_of_row = np.broadcast_to(sizes, len(sums))
        return self.link(sums * self.unit / size_of_row[:, None])


def times(rows: Floats, matrix: Floats, most: int = 200_000) -> Floats:
    """rows @ matrix in pieces of at most `most` products, too small for the BLAS to wake its threads.

    Those cost more than they bring here, and on a busy machine stand still for milliseconds.
    """
    product = np.empty((len(rows), matrix.shape[1]))
    rows_at_once = most // matrix.size
    for part in chunks(len(rows), rows_at_once):
        np.matmul(rows[part], matrix, out=product[part])
    return product


def problem(
    matrix: Any,
    *,
    criterion: str = "tau",
    scale: str = "plain",
    top: float = 1.0,
    runs: int | None = None,
    truth: ScoreMatrix | None = None,
) -> Problem:
    """Scores made ready: the criterion by name, the scale of the scores, all runs, the top share by mean or the best.

    matrix: scores of one measure in whatever form `assay.compare` takes them.
    `runs`: the number of best runs to keep. `truth`: scores of the same runs, whose ranking by all their topics the
    subsets are to reach; the matrix may then hold predicted scores (Roitero 2020, Fig. 6.5), and the best runs are the
    best by the truth.

    >>> p = problem(ScoreMatrix.of([[0.5, 0.1], [0.3, 0.2], [0.1, 0.3]]))
    >>> p.units.tolist(), p.of_topics(["1"]), round(p.of_topics(["2"]), 4)
    ([[5, 3, 1], [1, 2, 3]], 1.0, -1.0)
    """
    matrix = score_matrix_of(matrix)
    if truth is None:
        kept = top_runs(matrix, top, runs=runs)
    else:
        _same_averages(matrix, truth, scale)
        truth = top_runs(_with_runs_of(truth, matrix), top, runs=runs)
        kept = matrix.select(runs=list(truth.runs))
    scale = _scale_of(matrix, scale)
    entry = CRITERIA.entry(criterion)
    units, unit = whole_numbers(SCALES.call(scale, kept.values.T))
    ready = Problem(
        matrix=kept,
        criterion=entry.name,
        units=units,
        unit=unit,
        function=entry.function,
        parameters=CRITERIA.given(criterion),
        title=entry.facts["title"],
        higher=entry.facts["higher"],
        link=SCALES.entry(scale).facts.get("link"),
        named=(criterion, scale),
        truth=truth,
    )
    return _checked(ready)


def _scale_of(matrix: ScoreMatrix, scale: str) -> str:
    """The scale on which the topics of a matrix are averaged: geometric means have their own, and medians none."""
    SCALES.entry(scale)  # an unknown name is an error before any other
    if matrix.aggregate == "geometric":
        if scale not in ("plain", "gmap"):
            raise UsageError(f"{matrix.measure} is a geometric mean, the scale gmap; leave out the scale {scale}")
        return "gmap"
    if matrix.aggregate in ("median", "harmonic"):
        needs_means(matrix, "a subset of topics")
    return scale


def _same_averages(matrix: ScoreMatrix, truth: ScoreMatrix, scale: str) -> None:
    """An error where one of the two has geometric means, and the other has not."""
    if _scale_of(matrix, scale) != _scale_of(truth, scale):
        raise DataError(
            f"{matrix.measure} and the truth, {truth.measure}: only one of them is a geometric mean over topics; "
            "give two of a kind, or the scale gmap"
        )


def _with_runs_of(truth: ScoreMatrix, matrix: ScoreMatrix) -> ScoreMatrix:
    """The runs of the matrix, in its order, in the truth; an error if it lacks one of them."""
    known = set(truth.runs)
    missing = [run for run in matrix.runs if run not in known]
    if missing:
        raise DataError(
            f"the truth, {truth.measure}: no run {missing[0]!r} ({len(missing)} of {len(matrix.runs)} runs are not in "
            "it); give scores of all runs"
        )
    return truth.select(runs=list(matrix.runs))


def top_runs(matrix: ScoreMatrix, share: float, *, runs: int | None = None) -> ScoreMatrix:
    """The best share of the runs by mean, rounded down, or the `runs` best, in the order of the matrix.

    >>> scores = ScoreMatrix.of([[0.1], [0.3], [0.2], [0.4]])
    >>> top_runs(scores, 0.75).runs, top_runs(scores, 1, runs=2).runs
    (('run2', 'run3', 'run4'), ('run2', 'run4'))
    """
    if not 0 < share <= 1:
        raise UsageError(f"the share of runs to keep must be above 0 and at most 1, not {share}")
    if runs is not None and share != 1:
        raise UsageError("give a share of the runs to keep or their number, not both")
    if runs is not None and not 1 <= runs <= len(matrix.runs):
        raise UsageError(f"the {runs} best runs; there are {len(matrix.runs)}")
    if share == 1 and runs is None:
        return matrix
    count = runs or int(share * len(matrix.runs) + 1e-9)
    best = matrix.by_average().runs[:count]
    return matrix.select(runs=[run for run in matrix.runs if run in best])


def whole_numbers(values: Floats, *, digits: int = 6) -> tuple[Numbers, float]:
    """The values as whole numbers of a unit: decimals of up to `digits` places exactly, others in fixed point.

    32 bits where the sum of all rows fits, else 64.

    >>> whole_numbers(np.array([[0.25, 0.5]]))
    (array([[25, 50]], dtype=int32), 0.01)
    """
    column_sums = np.abs(values).sum(axis=0)
    largest_sum = max(float(column_sums.max(initial=0.0)), 1e-300)
    for places in range(digits + 1):
        factor = 10.0**places
        if largest_sum * factor >= 2**53:  # such numbers have no exact sums
            break
        scaled = values * factor
        rounded = np.rint(scaled)
        rest = np.abs(scaled - rounded).max(initial=0.0)
        if rest < 1e-7:
            kind = np.int32 if largest_sum * factor < 2**31 - 1 else np.int64
            return rounded.astype(kind), 10.0**-places
    unit = float(2.0 ** np.ceil(np.log2(largest_sum) - 52))  # sums of all rows stay below 2**53: exact in floats too
    return np.rint(values / unit).astype(np.int64), unit


def _checked(ready: Problem) -> Problem:
    runs, topics = ready.matrix.shape
    where = ready.matrix.measure
    if runs < 3:
        raise DataError(f"{where}: {runs} runs; ranking by subsets needs at least 3")
    if topics < 2:
        raise DataError(f"{where}: {topics} topic; a subset needs at least 2 topics to choose from")
    if len(np.unique(ready.full)) < 2:
        where = ready.matrix.measure if ready.truth is None else f"the truth, {ready.truth.measure}"
        raise DataError(f"{where}: every run has the same mean over all topics; there is no ranking to keep")
    return ready
