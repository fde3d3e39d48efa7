"""Which doc is better, when workers compare two at a time? Bradley–Terry strengths with their uncertainty.

In: rows (topic, doc, other, worker, label) where the label is 1 if `doc` was preferred, 0 if `other`, .5 for a tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay.agreement.scales import PREFERENCE
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import coded_names
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS
from assay.data import Labels
from assay.io.labels import read_labels


@dataclass(frozen=True, eq=False)
class Preferences:
    """Labels whose row compares `doc` with the doc of number `other`; both index `labels.docs`.

    >>> pairs = Preferences.from_rows([("1", "a", "b", "w", 1), ("1", "b", "c", "w", 1)])
    >>> pairs.labels.docs, pairs.other.tolist()
    (('a', 'b', 'c'), [1, 2])
    """

    labels: Labels
    other: Ints

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, str, float]], *, name: str = "preferences") -> Preferences:
        """Preferences from (topic, doc, other, worker, label)."""
        columns = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
        labels = Labels.from_rows(zip(columns[0], columns[1], columns[3], columns[4], strict=True), name=name)
        return _paired(labels, list(columns[2]))


def read_preferences(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Preferences:
    """Preferences of a file with the columns topic, doc, other, worker, label (1 this doc, 0 the other, .5 a tie)."""
    named = dict(columns or {})
    other = named.pop("other", "other")
    labels = PREFERENCE.checked(read_labels(path, columns=named))
    second = read_labels(path, columns={**named, "doc": other})
    return _paired(labels, [second.docs[d] for d in second.doc.tolist()])


def _paired(labels: Labels, others: list[str]) -> Preferences:
    PREFERENCE.checked(labels)
    firsts = [labels.docs[d] for d in labels.doc.tolist()]
    same = next((i for i, (a, b) in enumerate(zip(firsts, others, strict=True)) if a == b), None)
    if same is not None:
        line = None if labels.lines is None else int(labels.lines[same])
        raise DataError.at(labels.name, line, f"doc {firsts[same]!r} is compared with itself")
    docs, codes = coded_names([*firsts, *others])
    n = len(firsts)
    return Preferences(replace(labels, docs=docs, doc=codes[:n]), codes[n:])


@AGGREGATIONS.register("bradley-terry", kind="preferences")
def bradley_terry(
    preferences: Preferences, *, prior: float = 0.5, iterations: int = 10_000, tolerance: float = 1e-10
) -> Uncertain:
    """Strength λ of each doc of a topic: P(doc preferred to other) = λ_doc/(λ_doc + λ_other).

    The grade is the chance, in percent, of being preferred to the average doc, 100·λ/(1+λ). prior: imaginary wins and
    losses of each doc against the average one, so that a doc that won every time stays finite. A tie is half a win for
    each. Interval: ±1.96 sd of log λ from the information matrix of the topic. Hunter 2004 (MM updates).

    >>> rows = [("1", "a", "b", "w", 1)] * 3 + [("1", "a", "b", "w", 0)]
    >>> bradley_terry(Preferences.from_rows(rows), prior=1e-9).estimate.round(3).tolist()
    [63.397, 36.603]
    """
    from scipy.special import expit

    if not prior > 0:
        raise UsageError(f"a prior of {prior:g} cannot hold docs that were never compared; it must be above 0")
    labels = preferences.labels
    if not len(labels):
        raise DataError(f"{labels.name}: there are no preferences")
    n = len(labels.docs)
    keys, code = np.unique(
        np.concatenate([labels.topic * n + labels.doc, labels.topic * n + preferences.other]), return_inverse=True
    )
    first, second = code[: len(labels)], code[len(labels) :]
    topic = keys // n
    wins = np.bincount(first, labels.label, len(keys)) + np.bincount(second, 1.0 - labels.label, len(keys))
    log, done = _strengths(first, second, wins.astype(np.float64), topic, prior, iterations, tolerance)
    sd = _errors(first, second, log, topic, prior)
    items = tuple((labels.topics[t], labels.docs[d]) for t, d in zip(topic.tolist(), (keys % n).tolist(), strict=True))
    chance, low, high = (100 * expit(v) for v in (log, log - 1.96 * sd, log + 1.96 * sd))
    counts = np.bincount(np.concatenate([first, second]), minlength=len(keys))
    how = "converged" if done < iterations else "stopped, not converged,"
    notes = (f"Bradley–Terry: {how} after {done} iterations; {len(labels)} comparisons, prior {prior:g}.",)
    chance, low, high = (np.round(v, 9) for v in (chance, low, high))
    return Uncertain(
        method="Bradley–Terry",
        items=items,
        grade=chance,
        low=low,
        high=high,
        probability=np.full(len(keys), np.nan),
        sd=sd * chance * (100 - chance) / 100,
        labels=counts,
        estimate=chance,
        levels=np.array([0.0, 100.0]),
        notes=notes,
    )


def _strengths(
    first: Ints, second: Ints, wins: Floats, topic: Ints, prior: float, iterations: int, tolerance: float
) -> tuple[Floats, int]:
    """Log strengths with mean 0 in each topic, by MM updates, and how many were needed."""
    size, log = np.bincount(topic), np.zeros(len(wins))
    for done in range(1, iterations + 1):
        strength = np.exp(log)
        shared = 1 / (strength[first] + strength[second])
        met = np.bincount(first, shared, len(wins)) + np.bincount(second, shared, len(wins))
        moved = np.log(np.maximum(wins + prior, 1e-300)) - np.log(met + 2 * prior / (strength + 1))
        moved -= (np.bincount(topic, moved) / size)[topic]
        if np.abs(moved - log).max() <= tolerance:
            return moved, done
        log = moved
    return log, iterations


def _errors(first: Ints, second: Ints, log: Floats, topic: Ints, prior: float) -> Floats:
    """Standard errors of the centred log strengths: the inverse information of each topic, docs × docs."""
    sd = np.zeros(len(log))
    strength = np.exp(log)
    p = strength[first] / (strength[first] + strength[second])
    anchor = 2 * prior * strength / (1 + strength) ** 2
    for t in np.unique(topic):
        docs, rows = np.flatnonzero(topic == t), np.flatnonzero(topic[first] == t)
        start, m = docs[0], len(docs)
        flat = np.bincount((first[rows] - start) * m + second[rows] - start, (p * (1 - p))[rows], m * m)
        met = flat.reshape(m, m) + flat.reshape(m, m).T
        information = np.diag(met.sum(axis=1) + anchor[docs]) - met
        centre = np.eye(m) - 1 / m
        sd[docs] = np.sqrt(np.diag(np.linalg.pinv(centre @ information @ centre, hermitian=True)).clip(min=0))
    return sd
