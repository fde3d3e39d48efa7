"""Which doc is better, when workers compare two at a time? Bradley–Terry strengths with their uncertainty.

In: rows (topic, doc, other, worker, label) where the label is 1 if `doc` was preferred, 0 if `other`, .5 for a tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from assay.agreement.scales import PREFERENCE
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import coded_names
from assay.core.registry import Within
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS
from assay.data import Labels
from assay.io.labels import labels_and_empty


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
        labelled = []
        others = []
        for topic, doc, other, worker, label in rows:
            labelled.append((topic, doc, worker, label))
            others.append(other)
        labels = Labels.from_rows(labelled, name=name)
        return _paired(labels, others)


PARTS = ("summary", "docs")
"""The tables of judgments from preference pairs, by name."""


def read_preferences(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Preferences:
    """Preferences of a file with the columns topic, doc, other, worker, label (1 this doc, 0 the other, .5 a tie)."""
    preferences, _ = preferences_and_empty(path, columns=columns, empty="error")
    return preferences


def preferences_and_empty(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    topic: str | None = None,
    empty: str = "drop",
) -> tuple[Preferences, list[int]]:
    """As `read_preferences`, and the lines that were left out because they hold no label.

    where, topic and empty are those of `assay.io.read_labels`; a label may be the word `this`, `other` or `tie`.
    """
    named = dict(columns or {})
    other = named.pop("other", "other")
    levels = PREFERENCE.words()
    labels, left_out = labels_and_empty(path, columns=named, levels=levels, where=where, topic=topic, empty=empty)
    # The other doc of each row is read as if it were the doc.
    second, _ = labels_and_empty(
        path, columns={**named, "doc": other}, levels=levels, where=where, topic=topic, empty=empty
    )
    others = [second.docs[code] for code in second.doc.tolist()]
    return _paired(PREFERENCE.checked(labels), others), left_out


def _paired(labels: Labels, others: list[str]) -> Preferences:
    """Preferences of labels and the other doc of each row, both docs numbered by one list of names."""
    PREFERENCE.checked(labels)
    docs = [labels.docs[code] for code in labels.doc.tolist()]
    _refuse_itself(labels, docs, others)
    names, codes = coded_names([*docs, *others])
    n = len(docs)
    renumbered = replace(labels, docs=names, doc=codes[:n])
    return Preferences(renumbered, codes[n:])


def _refuse_itself(labels: Labels, docs: list[str], others: list[str]) -> None:
    """An error that names the first row that compares a doc with itself."""
    for row, doc in enumerate(docs):
        if doc == others[row]:
            line = None if labels.lines is None else int(labels.lines[row])
            raise DataError.at(labels.name, line, f"doc {doc!r} is compared with itself")


@AGGREGATIONS.register("bradley-terry", kind="preferences")
def bradley_terry(
    preferences: Preferences,
    *,
    prior: Annotated[float, Within(0, open=True)] = 0.5,
    iterations: Annotated[int, Within(1)] = 10_000,
    tolerance: Annotated[float, Within(0)] = 1e-10,
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
    # A doc of two topics is two items: (topic, doc) as one number, then as places among those that occur.
    n = len(labels.docs)
    items_first = labels.topic * n + labels.doc
    items_second = labels.topic * n + preferences.other
    keys, code = np.unique(np.concatenate([items_first, items_second]), return_inverse=True)
    first = code[: len(labels)]
    second = code[len(labels) :]
    topic = keys // n

    wins = np.bincount(first, labels.label, len(keys)) + np.bincount(second, 1.0 - labels.label, len(keys))
    log, done = _strengths(first, second, wins.astype(np.float64), topic, prior, iterations, tolerance)
    sd = _errors(first, second, log, topic, prior)
    chance = np.round(100 * expit(log), 9)
    how = "converged" if done < iterations else "stopped, not converged,"
    note = f"Bradley–Terry: {how} after {done} iterations; {len(labels)} comparisons, prior {prior:g}."
    return Uncertain(
        method="Bradley–Terry",
        items=_names_of(labels, topic, keys % n),
        grade=chance,
        low=np.round(100 * expit(log - 1.96 * sd), 9),
        high=np.round(100 * expit(log + 1.96 * sd), 9),
        probability=np.full(len(keys), np.nan),
        sd=sd * chance * (100 - chance) / 100,
        labels=np.bincount(code, minlength=len(keys)),
        estimate=chance,
        levels=np.array([0.0, 100.0]),
        notes=(note,),
    )


def _names_of(labels: Labels, topics: Ints, docs: Ints) -> tuple[tuple[str, str], ...]:
    """(topic, doc) names of items given by their codes."""
    names = []
    for topic, doc in zip(topics.tolist(), docs.tolist(), strict=True):
        names.append((labels.topics[topic], labels.docs[doc]))
    return tuple(names)


def _strengths(
    first: Ints, second: Ints, wins: Floats, topic: Ints, prior: float, iterations: int, tolerance: float
) -> tuple[Floats, int]:
    """Log strengths with mean 0 in each topic, by MM updates, and how many were needed."""
    docs = len(wins)
    size = np.bincount(topic)
    log = np.zeros(docs)
    for done in range(1, iterations + 1):
        strength = np.exp(log)
        shared = 1 / (strength[first] + strength[second])
        met = np.bincount(first, shared, docs) + np.bincount(second, shared, docs)
        won = np.maximum(wins + prior, 1e-300)
        moved = np.log(won) - np.log(met + 2 * prior / (strength + 1))
        mean = np.bincount(topic, moved) / size
        moved -= mean[topic]
        if np.abs(moved - log).max() <= tolerance:
            return moved, done
        log = moved
    return log, iterations


def _errors(first: Ints, second: Ints, log: Floats, topic: Ints, prior: float) -> Floats:
    """Standard errors of the centred log strengths: the inverse information of each topic, docs × docs."""
    sd = np.zeros(len(log))
    strength = np.exp(log)
    p = strength[first] / (strength[first] + strength[second])
    variance = p * (1 - p)
    anchor = 2 * prior * strength / (1 + strength) ** 2
    for t in np.unique(topic):
        docs = np.flatnonzero(topic == t)
        rows = np.flatnonzero(topic[first] == t)
        m = len(docs)
        # The items of a topic stand together, so that a place within it is the distance from its first.
        row = first[rows] - docs[0]
        column = second[rows] - docs[0]
        one_way = np.bincount(row * m + column, variance[rows], m * m).reshape(m, m)
        met = one_way + one_way.T
        information = np.diag(met.sum(axis=1) + anchor[docs]) - met
        centre = np.eye(m) - 1 / m
        covariance = np.linalg.pinv(centre @ information @ centre, hermitian=True)
        sd[docs] = np.sqrt(np.diag(covariance).clip(min=0))
    return sd
