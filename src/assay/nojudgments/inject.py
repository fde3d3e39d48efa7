"""A few topics judged, the rest predicted: how well do runs rank when true columns replace predicted ones?

Which topics to judge is chosen by criteria that need no judgments (P1–P4, usable in practice) or that know the truth
(T1–T5, bounds). One subset is not a result: everything is repeated and its spread reported. Roitero 2020, §6.5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generators, silent
from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
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
    """Predicted column most like the predicted means of the runs."""
    return _column_taus(predicted.values, predicted.means())


@CHOICES.register("P3", practical=True, search=True)
def best_predicted_subset(
    predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator, *, low: bool = False
) -> Floats:
    """The subset that ranks runs most like all topics do, searched on the predicted matrix."""
    return _best_subsets(predicted, rng, low)


@CHOICES.register("P4", practical=True, search=False)
def predicted_hubness(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Hubness on the predicted matrix: topics that tell good runs from bad ones."""
    return hits(predicted).topic_hubness


@CHOICES.register("T1", practical=False, search=False)
def like_true_column(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Predicted column most like the true column."""
    pairs = zip(predicted.values.T, truth.values.T, strict=True)
    return np.concatenate([_taus_with(guess[None, :], true) for guess, true in pairs])


@CHOICES.register("T2", practical=False, search=False)
def like_true_means(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """True column most like the true means of the runs."""
    return _column_taus(truth.values, truth.means())


@CHOICES.register("T3", practical=False, search=False)
def predicted_like_true_means(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Predicted column most like the true means of the runs."""
    return _column_taus(predicted.values, truth.means())


@CHOICES.register("T4", practical=False, search=True)
def best_true_subset(
    predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator, *, low: bool = False
) -> Floats:
    """The subset that ranks runs most like all topics do, searched on the true matrix."""
    return _best_subsets(truth, rng, low)


@CHOICES.register("T5", practical=False, search=False)
def true_hubness(predicted: ScoreMatrix, truth: ScoreMatrix, rng: np.random.Generator) -> Floats:
    """Hubness on the true matrix."""
    return hits(truth).topic_hubness


def injected(
    predicted: ScoreMatrix, truth: ScoreMatrix, topics: Sequence[str], *, rescale: bool = False
) -> ScoreMatrix:
    """The predicted matrix with the true columns of some topics in it; the other topics need no true scores.

    rescale: the predicted columns are first brought to the mean and sd of the true columns put in, without which small
    predicted scores hardly weigh. A topic that is not in both, or a run without true scores, is an error.

    >>> p, t = ScoreMatrix.of([[1, 2], [3, 4]]), ScoreMatrix.of([[0.6], [0.8]], topics=["2"])
    >>> injected(p, t, ["2"]).values.tolist()
    [[1.0, 0.6], [3.0, 0.8]]
    """
    unknown = [t for t in topics if t not in predicted.topics or t not in truth.topics]
    if unknown:
        raise UsageError(f"no topic {unknown[0]!r} in both matrices")
    chosen = np.array([t in set(topics) for t in predicted.topics])
    known = truth.select(runs=predicted.runs, topics=[t for t in predicted.topics if t in set(topics)]).values
    values = _rescaled(predicted.values, known) if rescale and len(topics) else predicted.values.copy()
    values[:, chosen] = known
    measure, signature = (
        f"{predicted.measure}+{len(topics)}",
        f"{predicted.signature}|true scores of {len(topics)} topics",
    )
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
    rescale: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Injection:
    """τ-b of the means over predicted and judged topics with the true means, for growing numbers of judged topics.

    choice: one of CHOICES; low takes the other end (the lowest correlation, the worst subset). Choices without chance
    (P2, P4, T1–T3, T5) are made once; P3 and T4 search anew in each repetition. sizes: 1, 2, 5, 10, 20, … by default.

    >>> guesses = ScoreMatrix.of([[0.2, 0.4, 0.1], [0.3, 0.1, 0.2]], measure="wu-crestani")
    >>> truth = ScoreMatrix.of([[0.1, 0.5, 0.2], [0.3, 0.0, 0.1]], measure="AP")
    >>> [row[0] for row in injection(guesses, truth, sizes=[1, 3], repetitions=4).table().rows]
    [1, 3]
    """
    ours, real = matched(predicted, truth)
    n = len(ours.topics)
    wanted = tuple(sizes) if sizes is not None else tuple(c for c in (1, 2, 5, 10, 20, 50, 100, 200, 500) if c < n)
    if not wanted or min(wanted) < 1 or max(wanted) > n:
        raise UsageError(f"sizes: between 1 and {n} topics can be judged, not {list(wanted)}")
    entry, _ = CHOICES.parse(choice)
    times = repetitions if entry.facts["search"] or entry.name == "P1" else 1
    taus, alone = np.empty((times, len(wanted))), np.empty((times, len(wanted)))
    for i, rng in enumerate(generators(seed, times)):
        chosen = _chosen(entry.function, ours, real, rng, wanted, low=low, search=entry.facts["search"])
        taus[i], alone[i] = _taus(ours, real, chosen, rescale), _taus(ours, real, chosen, rescale, alone=True)
        progress(i + 1, times)
    none = float(_taus_with(ours.means()[None, :], real.means())[0])
    recipe = f"{entry.summary} repetitions={times}, seed={seed}, rescale={rescale}, {len(ours.runs)} runs, {n} topics"
    return Injection(f"{entry.name}{' low' if low else ''}", wanted, taus, alone, none, recipe)


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
    n = len(predicted.topics)
    if search:
        found = np.vstack([function(predicted, truth, rng, low=low), np.ones(n)])
        return np.asarray(found[np.array(sizes) - 1])
    merit = function(predicted, truth, rng)
    place = np.empty(n, dtype=np.int64)
    place[np.argsort(merit if low else -merit, kind="stable")] = np.arange(n)
    return (place < np.array(sizes)[:, None]).astype(np.float64)


def _taus(predicted: ScoreMatrix, truth: ScoreMatrix, chosen: Floats, rescale: bool, *, alone: bool = False) -> Floats:
    """τ of the mean scores for each row of judged topics."""
    judged = chosen @ truth.values.T
    if alone:
        sums = judged
    elif rescale:
        masks = chosen.astype(bool)
        sums = np.array(
            [np.where(m, truth.values, _rescaled(predicted.values, truth.values[:, m])).sum(axis=1) for m in masks]
        )
    else:
        sums = judged + (1 - chosen) @ predicted.values.T
    return _taus_with(sums, truth.values.sum(axis=1))


def _rescaled(predicted: Floats, known: Floats) -> Floats:
    """The predicted scores brought to the mean and sd of the true scores that are known."""
    spread = float(predicted.std())
    return np.asarray((predicted - predicted.mean()) / (spread if spread > 0 else 1.0) * known.std() + known.mean())


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
    sizes: Ints = np.arange(1, len(matrix.topics))
    return np.array([archive.sets(side, int(c))[0][0] for c in sizes], dtype=np.float64)
