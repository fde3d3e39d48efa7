"""How fair are rankings to groups of docs? Runs scored by the exposure of groups, topic by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.ids import Ids, coded
from assay.core.registry import one_of
from assay.data import Qrels, Run
from assay.data.doc_groups import ON_UNKNOWN, GroupShares
from assay.data.scores import ScoreMatrix, Scores
from assay.io.doc_groups import checked_population, doc_groups_of
from assay.measures.fairness import FAIRNESS_MEASURES, TARGETS, GroupedTopic

MEASURES = ("AWRF", "M1")
"""Measures where none is named."""


def evaluate_fairness(
    runs: Sequence[Run],
    qrels: Qrels,
    groups: Any,
    measures: Sequence[str] = MEASURES,
    *,
    attributes: Sequence[str] = (),
    target: str = "relevant",
    population: Mapping[str, float] | None = None,
    unknown: str = "error",
    rel: float = 1,
    separator: str | None = None,
) -> Scores:
    """Scores of runs by the exposure that they give to groups of docs: AWRF, M1, EE-L, EE-D, EE-R.

    groups: DocGroups, their file, {doc: group} or {doc: {group: share}}. attributes: those that make the groups, by
    default all together. target: what the groups should get, one of TARGETS; population: {group: share}, for targets
    that need it. unknown: docs without a group are an error, a group of their own, or give no exposure ("skip"). rel:
    the least grade of a relevant doc. separator: where a run has several rankings of a topic, what stands between the
    topic and the number of the ranking in its topics, as in 12-1 and 12-2. A topic that a run lacks has an empty
    ranking.

    >>> run = Run.from_lists("mine", {"1": ["a", "b", "c"]})
    >>> judged = Qrels.from_dict({"1": {"a": 1, "c": 1}})
    >>> found = evaluate_fairness([run], judged, {"a": "x", "b": "x", "c": "y"}, ["AWRF"])
    >>> round(float(found[0].values[0, 0]), 4)
    0.9631
    """
    if not measures:
        raise UsageError(f"no measure; give at least one of {', '.join(FAIRNESS_MEASURES.names())}")
    if not runs:
        raise UsageError("no run; give at least one")
    one_of("target", target, TARGETS)
    one_of("unknown", unknown, ON_UNKNOWN)
    shares = doc_groups_of(groups).by(attributes, unknown=unknown)
    shares, people = _with_population(shares, target, population, unknown)
    topics = _judged_topics(qrels, shares, rel, unknown)
    unknown_at = len(shares.groups) - 1 if unknown == "group" else None
    facts: dict[str, Any] = {"target": target, "population": people, "unknown": unknown_at}
    scorers = [FAIRNESS_MEASURES.bound(measure) for measure in measures]
    values = np.zeros((len(measures), len(runs), len(qrels.topics)))
    for at, run in enumerate(runs):
        lists = _Lists(run, qrels, shares, rel, unknown, separator)
        for t, topic in enumerate(qrels.topics):
            rankings, grades = lists.of(topic)
            relevant, relevant_grades = topics[topic]
            one = GroupedTopic(rankings, grades, relevant, relevant_grades, topic=topic, **facts)
            values[:, at, t] = [score(one) for score in scorers]
    names = [run.name for run in runs]
    sampled = "" if separator is None else f"|rankings:{separator}"
    wanted = target if people is None else f"{target}({_written(shares.groups, people)})"
    rules = f"groups:{shares.attribute}|target:{wanted}|unknown:{unknown}|rel:{rel:g}{sampled}|missing:zero"
    matrices = []
    for measure, scores in zip(measures, values, strict=True):
        signature = f"{measure}|{rules}"
        matrices.append(ScoreMatrix.of(scores, runs=names, topics=qrels.topics, measure=measure, signature=signature))
    return Scores(tuple(matrices))


def _written(groups: Sequence[str], people: Floats) -> str:
    """The shares of the population in a signature."""
    return ", ".join(f"{group} {share:g}" for group, share in zip(groups, people.tolist(), strict=True))


def _with_population(
    shares: GroupShares, target: str, population: Mapping[str, float] | None, unknown: str
) -> tuple[GroupShares, Floats | None]:
    """The groups with those that only the population has, and the shares of the population in this order."""
    needs = target in ("population", "both")
    if population is None:
        if needs:
            raise UsageError(f"target {target!r} needs the shares of the population; give them (--population)")
        return shares, None
    if not needs:
        raise UsageError(f"a population has no effect on target {target!r}; take target population or both")
    if " × " in shares.attribute:
        raise UsageError(f"a population is that of one attribute, and {shares.attribute} are several; choose one")
    people = checked_population(dict(population), "population")
    known = shares.groups[:-1] if unknown == "group" else shares.groups
    for group in known:
        if group not in people:
            raise UsageError(f"the population has no share of group {group!r}; give it, 0 if there is none")
    more = [group for group in people if group not in known]
    empty = len(more)
    columns = [shares.shares[:, : len(known)], np.zeros((len(shares.docs), empty)), shares.shares[:, len(known) :]]
    names = (*known, *more, *shares.groups[len(known) :])
    of_unknown = np.concatenate([np.zeros(len(known) + empty), shares.unknown[len(known) :]])
    wider = GroupShares(shares.attribute, names, shares.docs, np.hstack(columns), of_unknown)
    return wider, np.array([people.get(group, 0.0) for group in names])


def _judged_topics(qrels: Qrels, shares: GroupShares, rel: float, unknown: str) -> dict[str, tuple[Floats, Floats]]:
    """{topic: shares and grades of its relevant docs}."""
    of_docs = shares.of(qrels.docs)
    is_relevant = qrels.grades >= rel
    if unknown == "error":
        _refuse_unknown(of_docs, is_relevant, qrels.docs, f"relevant doc of {qrels.name}")
    found = {}
    for t, topic in enumerate(qrels.topics):
        rows = np.arange(qrels.bounds[t], qrels.bounds[t + 1])
        rows = rows[is_relevant[rows]]
        found[topic] = of_docs[rows], np.asarray(qrels.grades[rows], dtype=np.float64)
    return found


def _refuse_unknown(of_docs: Floats, asked: Any, docs: Ids, what: str) -> None:
    without = np.flatnonzero(asked & (of_docs.sum(axis=1) == 0))
    if len(without):
        doc = docs[int(without[0])]
        more = f", as {len(without) - 1} others" if len(without) > 1 else ""
        raise DataError(
            f"{what}: {doc!r} has no group{more}; give it one, or say what such docs are (--unknown group or skip)"
        )


class _Lists:
    """The rankings of one run as shares of groups and grades, topic by topic."""

    def __init__(
        self, run: Run, qrels: Qrels, shares: GroupShares, rel: float, unknown: str, separator: str | None
    ) -> None:
        self._run = run
        self._shares = shares.of(run.docs)
        self._topics = _rankings(run, qrels, separator)
        if unknown == "error":
            used = [topic for of_topic in self._topics.values() for topic in of_topic]
            asked = np.zeros(len(run.docs), dtype=bool)
            for topic in used:
                asked[run.topic_rows(topic)] = True
            _refuse_unknown(self._shares, asked, run.docs, f"run {run.name!r}")
        (self._ranked, self._judged), _ = coded([run.docs, qrels.docs])
        self._qrels = qrels
        self._rel = rel

    def of(self, topic: str) -> tuple[list[Floats], list[Floats]]:
        """The rankings of a topic; one without docs where the run lacks it."""
        rankings = []
        grades = []
        for ranked in self._topics.get(topic, ()):
            rows = self._run.topic_rows(ranked)
            rankings.append(self._shares[rows])
            grades.append(self._grades(topic, self._ranked[rows]))
        if not rankings:
            return [np.zeros((0, self._shares.shape[1]))], [np.zeros(0)]
        return rankings, grades

    def _grades(self, topic: str, docs: Ints) -> Floats:
        """The grades of docs, 0 for those that are not relevant or not judged."""
        rows = self._qrels.topic_rows(topic)
        judged = self._judged[rows]
        values = np.asarray(self._qrels.grades[rows], dtype=np.float64)
        if not len(judged):
            return np.zeros(len(docs))
        order = np.argsort(judged)
        at = np.minimum(np.searchsorted(judged[order], docs), len(judged) - 1)
        found = order[at]
        is_relevant = (judged[found] == docs) & (values[found] >= self._rel)
        return np.where(is_relevant, values[found], 0.0)


def _rankings(run: Run, qrels: Qrels, separator: str | None) -> dict[str, list[str]]:
    """{topic: the topics of the run that are its rankings}; an error where it has none of the judged topics."""
    if separator == "":
        raise UsageError("the separator is empty; give what stands between topic and ranking, e.g. '-'")
    found: dict[str, list[str]] = {}
    judged = set(qrels.topics)
    for own in natural_order(run.topics):
        topic = own if separator is None else own.rpartition(separator)[0]
        if topic in judged:
            found.setdefault(topic, []).append(own)
    if not found:
        some = run.topics[0] if run.topics else "none"
        how = "" if separator is None else f", written topic{separator}number,"
        raise DataError(f"run {run.name!r} has no topic{how} of {qrels.name}; there is {some!r}, check their names")
    return found
