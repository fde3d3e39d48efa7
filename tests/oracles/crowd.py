"""Slow and plain: label models, α and cuts, one label at a time."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

Label = tuple[str, str, int]
"""(doc, worker, answer)."""
Counts = dict[str, tuple[list[float], list[float]]]
"""Of each worker how often (spammed, honest), and how often spam fell on each level, without the priors."""


def dawid_skene(labels: Sequence[Label], *, levels: int, iterations: int) -> dict[str, list[float]]:
    """Posterior of each doc after so many EM steps from the shares of the votes."""
    docs = sorted({d for d, _, _ in labels})
    posterior = {}
    for doc in docs:
        votes = Counter(y for d, _, y in labels if d == doc)
        posterior[doc] = [votes[c] / sum(votes.values()) for c in range(levels)]
    for _ in range(iterations):
        prior = [sum(posterior[d][c] for d in docs) / len(docs) for c in range(levels)]
        counts: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0] * levels))
        for doc, worker, answer in labels:
            for c in range(levels):
                counts[worker][answer][c] += posterior[doc][c]
        error = {
            w: {
                y: [max(v, 1e-10) / sum(max(o[c], 1e-10) for o in answers.values()) for c, v in enumerate(row)]
                for y, row in answers.items()
            }
            for w, answers in counts.items()
        }
        for doc in docs:
            logs = [math.log(max(prior[c], 1e-10)) for c in range(levels)]
            for d, w, y in labels:
                if d == doc:
                    logs = [v + math.log(error[w][y][c]) for c, v in enumerate(logs)]
            posterior[doc] = _normed(logs)
    return posterior


def mace(
    labels: Sequence[Label],
    *,
    levels: int,
    spam: Mapping[str, Sequence[float]],
    habit: Mapping[str, Sequence[float]],
    iterations: int,
    misread: tuple[Mapping[str, str], Sequence[int]] | None = None,
) -> tuple[dict[str, list[float]], Counts]:
    """Posterior of each doc after so many variational steps from this start, and the last step's counts.

    misread: the worker and the level under which the habit of a worker at a level is looked up once it has been counted
    (a program that counts in one order and reads in another).
    """
    posterior, counts = _mace_step(labels, levels, spam, habit)
    for _ in range(iterations):
        last = counts
        spam = {w: _log_mean([v + 0.5 for v in row]) for w, (row, _) in last.items()}
        right = {w: _log_mean([v + 10.0 for v in row]) for w, (_, row) in last.items()}
        seen, column = misread or ({w: w for w in right}, range(levels))
        habit = {w: [right[seen[w]][c] for c in column] for w in right}
        posterior, counts = _mace_step(labels, levels, spam, habit)
    return posterior, last


def _mace_step(
    labels: Sequence[Label], levels: int, spam: Mapping[str, Sequence[float]], habit: Mapping[str, Sequence[float]]
) -> tuple[dict[str, list[float]], Counts]:
    """Posterior of each doc; and of each worker the expected (spammed, honest) and the spam at each level."""
    logs: dict[str, list[float]] = defaultdict(lambda: [0.0] * levels)
    for doc, worker, answer in labels:
        guessed = spam[worker][0] * habit[worker][answer]
        for c in range(levels):
            logs[doc][c] += math.log(guessed + spam[worker][1] * (answer == c))
    posterior = {doc: _normed(row) for doc, row in logs.items()}
    counts: Counts = {w: ([0.0, 0.0], [0.0] * levels) for w in spam}
    for doc, worker, answer in labels:
        guessed, honest = spam[worker][0] * habit[worker][answer], spam[worker][1]
        known = posterior[doc][answer] * honest / (guessed + honest)
        both, spammed = counts[worker]
        both[0] += 1 - known
        both[1] += known
        spammed[answer] += 1 - known
    return posterior, counts


def mace_bound(labels: Sequence[Label], counts: Counts, *, levels: int) -> float:
    """The evidence lower bound of workers with these counts: how well they explain the labels, less what they cost.

    Σ_doc log Σ_level 1/K · Π_label (spam·habit + honest·[answer = level]) − Σ_worker (KL of spam + KL of habit)
    """
    spam = {w: _log_mean([v + 0.5 for v in row]) for w, (row, _) in counts.items()}
    habit = {w: _log_mean([v + 10.0 for v in row]) for w, (_, row) in counts.items()}
    logs: dict[str, list[float]] = defaultdict(lambda: [-math.log(levels)] * levels)
    for doc, worker, answer in labels:
        for c in range(levels):
            logs[doc][c] += math.log(spam[worker][0] * habit[worker][answer] + spam[worker][1] * (answer == c))
    evidence = sum(max(row) + math.log(sum(math.exp(v - max(row)) for v in row)) for row in logs.values())
    return evidence - sum(_divergence(row, 0.5) + _divergence(habits, 10.0) for row, habits in counts.values())


def _log_mean(counts: Sequence[float]) -> list[float]:
    return [math.exp(float(digamma(v) - digamma(sum(counts)))) for v in counts]


def _divergence(extra: Sequence[float], prior: float) -> float:
    """KL of Dirichlet(prior + extra) from Dirichlet(prior, …)."""
    total, k = sum(extra) + prior * len(extra), len(extra)
    value = math.lgamma(total) - math.lgamma(k * prior)
    for e in extra:
        value += math.lgamma(prior) - math.lgamma(prior + e) + e * float(digamma(prior + e) - digamma(total))
    return value


def _normed(logs: Sequence[float]) -> list[float]:
    raised = [math.exp(v - max(logs)) for v in logs]
    return [v / sum(raised) for v in raised]


def alpha(units: Sequence[Sequence[float]]) -> float:
    """Krippendorff's interval α of units with their values; NaN where nothing varies."""
    pairable = [u for u in units if len(u) > 1]
    values = [v for u in pairable for v in u]
    observed = sum(sum((a - b) ** 2 for a, b in itertools.permutations(u, 2)) / (len(u) - 1) for u in pairable)
    expected = sum((a - b) ** 2 for a, b in itertools.permutations(values, 2)) / max(1, len(values) - 1)
    return 1 - observed / expected if expected > 0 else math.nan


def cut(value: float, points: Sequence[float]) -> int:
    """The level of a value: how many cut points lie below it."""
    return sum(value > p for p in points)


def median_cut(values: Sequence[float], points: Sequence[float], ties: str) -> float:
    """The low or high median of the cut values."""
    cuts = [cut(v, points) for v in values]
    return statistics.median_low(cuts) if ties == "low" else statistics.median_high(cuts)


def way_alpha(
    rows: Sequence[tuple[str, str, float]],
    way: str,
    points: Sequence[float],
    *,
    target: Mapping[str, int] | None = None,
    ties: str = "low",
    undefined: str = "skip",
) -> float:
    """α of one cut by one way of choosing, for the labels (doc, worker, value) of one topic; tasks are workers."""
    of_doc: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for doc, worker, value in rows:
        of_doc[doc].append((worker, value))
    if way == "Tw_alpha":
        return alpha([[cut(v, points) for _, v in pairs] for pairs in of_doc.values()])
    if way in ("D_a+t", "D_t+a"):
        units = []
        for doc, pairs in of_doc.items():
            values = [v for _, v in pairs]
            ours = cut(statistics.median(values), points) if way == "D_a+t" else median_cut(values, points, ties)
            units.append([ours, (target or {}).get(doc, 0)])
        return alpha(units)
    found = []
    for task in dict.fromkeys(w for _, w, _ in rows):
        units = []
        for doc, worker, value in rows:
            if worker != task:
                continue
            others = [v for w, v in of_doc[doc] if w != task]
            if way == "H":
                units.append([cut(value, points), (target or {}).get(doc, 0)])
            elif others and way == "H_t+a":
                units.append([cut(value, points), median_cut(others, points, ties)])
            elif others:
                units.append([cut(value, points), cut(statistics.median(others), points)])
        one = alpha(units)
        if not math.isnan(one):
            found.append(one)
        elif undefined == "one":
            found.append(1.0)
    return sum(found) / len(found) if found else math.nan


def pairwise(x: Sequence[float], y: Sequence[float]) -> float:
    """Pairs with different x that y puts strictly in x's order, over all pairs."""
    n, same = len(x), 0
    for i, j in itertools.permutations(range(n), 2):
        same += x[i] < x[j] and y[i] < y[j]
    return same / math.comb(n, 2)


def glad_loss(
    state: npt.NDArray[np.float64], item: npt.NDArray[Any], worker: npt.NDArray[Any], own: npt.NDArray[Any], levels: int
) -> tuple[float, npt.NDArray[np.float64]]:
    """Minus GLAD's expected log joint density at (abilities, log eases) and its slope, for a general minimiser."""
    workers = int(worker.max()) + 1
    ease = np.exp(state[workers + item])
    x = state[worker] * ease
    value = (own * x - np.logaddexp(0, x) - (1 - own) * math.log(levels - 1)).sum() - 0.5 * ((state - 1) ** 2).sum()
    slope = (own - 1 / (1 + np.exp(-x))) * ease
    of_workers = np.bincount(worker, slope, workers)
    of_docs = np.bincount(item, slope * state[worker], len(state) - workers)
    return -float(value), state - 1 - np.concatenate([of_workers, of_docs])
