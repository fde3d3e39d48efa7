"""A few topics judged, the rest predicted: how well do runs rank when true columns replace predicted ones?

Which topics to judge is chosen by criteria that need no judgments (P1–P4, usable in practice) or that know the truth
(T1–T5, bounds). One subset is not a result: everything is repeated and its spread reported. Roitero 2020, §6.5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, generators, silent
from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.nojudgments.against_truth import matched
from assay.rankings import kendall_rows, settled
from assay.topics.hits import hits

CHOICES: Registry[Callable[..., Floats]] = Registry("choice of topics to judge")
"""Functions of (predicted, truth, rng) that give each topic a merit, the highest judged first; those with the fact
`search` instead give a row of chosen topics (1 or 0) for each number of topics 1 … n − 1, and take `low`."""


@CHOICES.register("P1", practical=True, search=False)
def random_order(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """At random."""
    return rng.random(len(predicted.topics))


@CHOICES.register("P2", practical=True, search=False)
def like_predicted_means(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Predicted column most similar to the predicted means of the runs."""
    return _column_taus(predicted.values, predicted.averages())


@CHOICES.register("P3", practical=True, search=True)
def best_predicted_subset(
    predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator, *, low: bool = False
) -> Floats:
    """The subset that ranks runs most as all topics do, searched on the predicted matrix."""
    return _best_subsets(predicted, rng, low)


@CHOICES.register("P4", practical=True, search=False)
def predicted_hubness(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Hubness on the predicted matrix: topics that tell good runs from bad ones."""
    return hits(predicted).topic_hubness


@CHOICES.register("T1", practical=False, search=False)
def like_true_column(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Predicted column most similar to the true column."""
    columns = zip(predicted.values.T, truth.values.T, strict=True)
    taus = [_taus_with(guessed[None, :], true) for guessed, true in columns]
    return np.concatenate(taus)


@CHOICES.register("T2", practical=False, search=False)
def like_true_means(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """True column most similar to the true means of the runs."""
    return _column_taus(truth.values, truth.averages())


@CHOICES.register("T3", practical=False, search=False)
def predicted_like_true_means(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Predicted column most similar to the true means of the runs."""
    return _column_taus(predicted.values, truth.averages())


@CHOICES.register("T4", practical=False, search=True)
def best_true_subset(
    predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator, *, low: bool = False
) -> Floats:
    """The subset that ranks runs most as all topics do, searched on the true matrix."""
    return _best_subsets(truth, rng, low)


@CHOICES.register("T5", practical=False, search=False)
def true_hubness(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Hubness on the true matrix."""
    return hits(truth).topic_hubness


MIXTURES: Registry[Callable[[Floats, Floats], Floats]] = Registry("mixture of judged and predicted topics")
"""Functions of (predicted columns, true columns) that give the predicted columns as they go beside the true ones."""


@MIXTURES.register("plain")
def plain(predicted: Floats, known: Floats) -> Floats:
    """Predicted scores as they are (Roitero 2020): those of a method with small scores hardly weigh."""
    return predicted


@MIXTURES.register("rescaled")
def rescaled(predicted: Floats, known: Floats) -> Floats:
    """Predicted scores brought to the mean and sd of the true ones that are known."""
    spread = float(predicted.std())
    if spread == 0:
        spread = 1.0
    z = (predicted - predicted.mean()) / spread
    return np.asarray(z * known.std() + known.mean())


@MIXTURES.register("weighted")
def weighted(predicted: Floats, known: Floats) -> Floats:
    """Each predicted column shrunk by its reliability on the judged topics; it counts as one judged topic.

    Let m be the means of the runs on the b judged topics. Column p becomes (b·m + f)/(b + 1), where
    f = mean(m) + s·(p − mean(p)) is the least-squares line of m on p, and s is 0 where it would be negative.
    Predicted columns share their errors: all of them together are worth no more than one.
    """
    judged_means = known.mean(axis=1, keepdims=True)
    level = judged_means.mean()
    deviations = predicted - predicted.mean(axis=0)
    variance = (deviations**2).mean(axis=0)
    covariance = (deviations * (judged_means - level)).mean(axis=0)
    # A column whose spread is only rounding says nothing of the runs.
    varies = variance > (1e-12 * np.abs(predicted).max(axis=0, initial=1e-300)) ** 2
    slope = np.divide(covariance, variance, out=np.zeros_like(variance), where=varies)
    fitted = level + np.maximum(slope, 0) * deviations
    judged = known.shape[1]
    return np.asarray((judged * judged_means + fitted) / (judged + 1))


def injected(predicted: ScoreMatrix, truth: ScoreMatrix, topics: Sequence[str], *, mix: str = "plain") -> ScoreMatrix:
    """The predicted matrix with the true columns of some topics in it; the other topics need no true scores.

    mix: one of MIXTURES, what the predicted columns become beside true ones. A topic that is not in both, or a run
    without true scores, is an error.

    >>> p, t = ScoreMatrix.of([[1, 2], [3, 4]]), ScoreMatrix.of([[0.6], [0.8]], topics=["2"])
    >>> injected(p, t, ["2"]).values.tolist()
    [[1.0, 0.6], [3.0, 0.8]]
    """
    needs_means(truth, "a mixture of predicted and judged topics")
    for topic in topics:
        if topic not in predicted.topics or topic not in truth.topics:
            raise UsageError(f"no topic {topic!r} in both matrices")
    judged = [topic for topic in predicted.topics if topic in set(topics)]
    known = truth.select(runs=predicted.runs, topics=judged).values
    is_judged = np.isin(predicted.topics, judged)
    values = predicted.values.copy()
    if judged:
        values = _mixture(mix, predicted.values, known, is_judged)
    measure = f"{predicted.measure}+{len(topics)}"
    signature = f"{predicted.signature}|true scores of {len(topics)} topics|mix:{mix}"
    return ScoreMatrix(predicted.runs, predicted.topics, values, measure, signature)


@dataclass(frozen=True, eq=False)
class Injection(Result):
    """τ with the true ranking for each number of judged topics, repetitions × sizes."""

    choice: str
    sizes: tuple[int, ...]
    taus: Floats
    alone: Floats
    """τ of the judged topics alone, without the predicted ones."""
    none: float
    """τ of the prediction without any judged topic."""
    recipe: str

    def table(self) -> Table:
        """One row per number of judged topics: mean, sd and range over repetitions, and the judged topics alone."""
        spread = self.taus.std(axis=0, ddof=1) if len(self.taus) > 1 else [None] * len(self.sizes)
        rows = zip(
            self.sizes,
            self.taus.mean(axis=0),
            spread,
            self.taus.min(axis=0),
            self.taus.max(axis=0),
            self.alone.mean(axis=0),
            strict=True,
        )
        columns = {"judged": "d", "τ": ".3f", "sd": ".3f", "lowest": ".3f", "highest": ".3f", "judged alone": ".3f"}
        caption = f"Judged topics among predicted ones, chosen by {self.choice}; none judged: τ {self.none:.3f}"
        keys = {"sd": "tau_sd", "lowest": "tau_low", "highest": "tau_high", "judged alone": "tau_judged_alone"}
        return Table.of(columns, list(rows), caption=caption, notes=[self.recipe], keys=keys)


def injection(
    predicted: ScoreMatrix,
    truth: ScoreMatrix,
    choice: str = "P1",
    *,
    sizes: Sequence[int] | None = None,
    repetitions: int = 100,
    low: bool = False,
    mix: str = "plain",
    seed: int = 0,
    progress: Progress = silent,
) -> Injection:
    """τ-b of the means over predicted and judged topics with the true means, for growing numbers of judged topics.

    choice: one of CHOICES; low takes the other end (the lowest correlation, the worst subset). Choices without chance
    (P2, P4, T1–T3, T5) are made once; P3 and T4 search again in each repetition. sizes: 1, 2, 5, 10, 20, … by default.
    mix: one of MIXTURES, what the predicted columns become beside the judged ones.

    >>> guesses = ScoreMatrix.of([[0.2, 0.4, 0.1], [0.3, 0.1, 0.2]], measure="wu-crestani")
    >>> truth = ScoreMatrix.of([[0.1, 0.5, 0.2], [0.3, 0.0, 0.1]], measure="AP")
    >>> [row[0] for row in injection(guesses, truth, sizes=[1, 3], repetitions=4).table().rows]
    [1, 3]
    """
    guessed, real = matched(predicted, needs_means(truth, "a mixture of predicted and judged topics"))
    n = len(guessed.topics)
    if sizes is None:
        sizes = [size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500) if size < n]
    if not sizes or min(sizes) < 1 or max(sizes) > n:
        raise UsageError(f"sizes: between 1 and {n} topics can be judged, not {list(sizes)}")
    entry = CHOICES.entry(choice)
    searches = entry.facts["search"]
    by_chance = searches or entry.name == "P1"
    times = repetitions if by_chance else 1
    taus = np.empty((times, len(sizes)))
    alone = np.empty((times, len(sizes)))
    for i, rng in enumerate(generators(seed, times)):
        chosen = _chosen(entry.function, guessed, real, rng, sizes, low=low, search=searches)
        taus[i] = _mixture_taus(guessed, real, chosen, mix)
        alone[i] = _taus_with(chosen @ real.values.T, real.values.sum(axis=1))
        progress(i + 1, times)
    tau_of_prediction = _taus_with(guessed.averages()[None, :], real.averages())[0]
    size = f"{len(guessed.runs)} runs, {n} topics"
    return Injection(
        choice=f"{entry.name} low" if low else entry.name,
        sizes=tuple(sizes),
        taus=taus,
        alone=alone,
        none=float(tau_of_prediction),
        recipe=f"{entry.summary} repetitions={times}, seed={seed}, mix={mix}, {size}",
    )


def _chosen(
    function: Callable[..., Floats],
    predicted: ScoreMatrix,
    truth: ScoreMatrix,
    rng: np.random.Generator,
    sizes: Sequence[int],
    *,
    low: bool,
    search: bool,
) -> Floats:
    """sizes × topics: 1 where a topic is judged."""
    topics = len(predicted.topics)
    numbers = np.array(sizes)
    if search:
        best_subsets = function(predicted, truth, rng, low=low)
        every_size = np.vstack([best_subsets, np.ones(topics)])
        return np.asarray(every_size[numbers - 1])
    merit = function(predicted, truth, rng)
    first_judged_first = np.argsort(merit if low else -merit, kind="stable")
    place = np.empty(topics, dtype=np.int64)
    place[first_judged_first] = np.arange(topics)
    return (place < numbers[:, None]).astype(np.float64)


def _mixture_taus(predicted: ScoreMatrix, truth: ScoreMatrix, chosen: Floats, mix: str) -> Floats:
    """τ of the sums of true scores on judged topics and predicted ones on the others, for each row of judged topics."""
    sums = np.empty((len(chosen), len(truth.runs)))
    for row, is_judged in enumerate(chosen.astype(bool)):
        mixture = _mixture(mix, predicted.values, truth.values[:, is_judged], is_judged)
        sums[row] = mixture.sum(axis=1)
    return _taus_with(sums, truth.values.sum(axis=1))


def _mixture(mix: str, predicted: Floats, known: Floats, is_judged: Bools) -> Floats:
    """True scores on the judged topics, on the others what the mixture makes of the predicted ones."""
    values = np.array(MIXTURES.call(mix, predicted, known))
    values[:, is_judged] = known
    return values


def _column_taus(columns: Floats, means: Floats) -> Floats:
    """τ-b of each topic's column with the means of the runs."""
    return _taus_with(columns.T, means)


def _taus_with(rows: Floats, truth: Floats) -> Floats:
    """τ-b of each row of scores with the true ones; 0 where a row says nothing, for it ranks no run above another."""
    return kendall_rows(settled(rows), settled(truth), undefined=0.0)


def _best_subsets(matrix: ScoreMatrix, rng: np.random.Generator, low: bool) -> Floats:
    """One good (or bad) subset for each number of topics, by a short swap search."""
    from assay.topics.archive import BEST, WORST, Archive
    from assay.topics.problem import problem
    from assay.topics.swap import swap

    side = WORST if low else BEST
    archive = Archive(problem(matrix, criterion="tau"), keep=1, sides=(side,))
    for _ in swap(archive, rng, starts=1, rounds=1):
        pass
    best_subsets = []
    for size in range(1, len(matrix.topics)):
        subsets, _ = archive.sets(side, size)
        best_subsets.append(subsets[0])
    return np.array(best_subsets, dtype=np.float64)
