"""IntentQrels and IntentGrades: judgments by intent (subtopic) of a topic, and what a run makes of them.

Where the flow stands: beside `qrels` and `grades`, for diversity measures. A doc that is judged for a topic is judged
for all its intents: grade 0 where the file does not name it. A doc that has negative grades only is in the pool and not
judged, for all its intents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints, kept
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.ids import Ids
from assay.data import Qrels, Run
from assay.data.aligned import align
from assay.data.given import already_binary, as_grades, binary_grades, id_texts, numbers
from assay.data.grades import UNJUDGED, Grades, gain_of
from assay.data.topic_rows import TopicRows, bounds_of, counted

NONE = "0"
"""Stands for no intent in NTCIR and TREC files, for docs relevant to none; an intent if a doc is relevant to it."""

ByIntent = dict[str, dict[str, dict[str, float]]]
"""{topic: {doc: {intent: grade}}}."""

POOLED = -1
"""Stands for a row of the judgments where a doc is in the pool and not judged."""


@dataclass(frozen=True, eq=False, repr=False)
class IntentQrels(TopicRows):
    """Judged docs of each topic with a grade for each of its intents.

    Rows `bounds[t]:bounds[t + 1]` are the docs of topic t, ascending by the bytes of their ids; grades[row, i] is the
    grade for the topic's intent number i. Topics with fewer intents have probability 0 and no relevant doc for the
    rest.

    >>> q = IntentQrels.from_rows([("1", "a", "x", 2), ("1", "b", "y", 1)])
    >>> q
    IntentQrels('intents', 1 topic, 2 docs, up to 2 intents)
    >>> q.intents, q.grades.tolist(), q.probabilities.tolist()
    ((('a', 'b'),), [[2, 0], [0, 1]], [[0.5, 0.5]])
    """

    kind: ClassVar[str] = "intent qrels"
    topics: tuple[str, ...]
    intents: tuple[tuple[str, ...], ...]
    bounds: Ints
    docs: Ids
    grades: npt.NDArray[Any]
    probabilities: Floats
    navigational: Bools
    name: str = "intents"
    binary_from: float | None = None
    """The grade from which on a doc has grade 1, where judgments were made binary."""

    def __post_init__(self) -> None:
        """Nobody can change the columns: those that somebody else could write to are copied."""
        object.__setattr__(self, "grades", as_grades(self.grades, self.name))
        for column in ("bounds", "grades", "probabilities", "navigational"):
            object.__setattr__(self, column, kept(getattr(self, column)))

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[str | int, str | int, str | int, float]],
        *,
        probabilities: Mapping[tuple[str, str], float] | None = None,
        navigational: Iterable[tuple[str, str]] = (),
        name: str = "intents",
    ) -> IntentQrels:
        """Judgments from (topic, intent, doc, grade), with P(intent | topic) and the navigational (topic, intent).

        Without probabilities the intents of a topic are equally likely; an intent that they do not name has 0.
        """
        judged = _by_topic(rows, name)
        topics = natural_order(judged)
        listed: dict[str, list[str]] = {}
        for topic, intent in probabilities or ():
            listed.setdefault(topic, []).append(intent)
        intents = []
        docs = []
        sizes = []
        for topic in topics:
            intents.append(_intents_of(judged[topic], listed.get(topic, ())))
            of_topic = sorted(judged[topic], key=str.encode)
            docs += of_topic
            sizes.append(len(of_topic))
        width = max(map(len, intents), default=0)
        grades = [np.zeros((0, width))]
        for topic, names in zip(topics, intents, strict=True):
            grades.append(_grade_table(judged[topic], names, width))
        return cls(
            tuple(topics),
            tuple(map(tuple, intents)),
            bounds_of(sizes),
            Ids.of(docs),
            np.concatenate(grades),
            _chances(topics, intents, width, probabilities),
            _marked(topics, intents, width, set(navigational)),
            name,
        )

    def _described(self) -> list[str]:
        return [f"up to {counted(self.grades.shape[1], 'intent')}"]

    def to_dict(self) -> ByIntent:
        """{topic: {doc: {intent: grade}}}."""
        rows_by_topic = self.by_topic(self.grades.tolist())
        nested: ByIntent = {}
        for topic, intents in zip(self.topics, self.intents, strict=True):
            docs = nested[topic] = {}
            for doc, grades in rows_by_topic[topic].items():
                # a row is as long as the most intents of any topic
                docs[doc] = dict(zip(intents, grades, strict=False))
        return nested

    def binary(self, rel: float = 1) -> IntentQrels:
        """Judgments as relevant or not: grade 1 from rel on, and 0 below; a negative grade stays, as not judged.

        >>> IntentQrels.from_rows([("1", "a", "x", 2), ("1", "b", "y", 1)]).binary(rel=2).grades.tolist()
        [[1, 0], [0, 0]]
        """
        if self.binary_from is not None:
            return already_binary(self, self.binary_from, rel)
        return replace(self, grades=binary_grades(self.grades, rel), binary_from=rel)

    def judged(self) -> Bools:
        """Whether each doc is judged: it has a grade of at least 0. The others are in the pool and not judged."""
        if not self.grades.shape[1]:  # docs that are judged and relevant to no intent
            return np.ones(len(self), dtype=bool)
        is_judged = self.grades >= 0
        return np.asarray(is_judged.any(axis=1))

    def top_grade(self) -> float:
        """The highest grade of the whole set, at least 1."""
        highest = self.grades.max(initial=1)
        return max(1, highest.item())


def _by_topic(rows: Iterable[tuple[str | int, str | int, str | int, float]], name: str) -> ByIntent:
    """{topic: {doc: {intent: grade}}}; a doc twice for one intent is an error."""
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    topics = id_texts(columns[0], "topic", name)
    intents = id_texts(columns[1], "intent", name)
    docs = id_texts(columns[2], "doc", name)
    values = numbers(columns[3], "grade", name).tolist()
    judged: ByIntent = {}
    for topic, intent, doc, grade in zip(topics, intents, docs, values, strict=True):
        grades = judged.setdefault(topic, {}).setdefault(doc, {})
        if intent in grades:
            raise DataError(f"{name}: doc {doc!r} is judged twice for intent {intent!r} of topic {topic!r}")
        grades[intent] = grade
    return judged


def _grade_table(judged: Mapping[str, Mapping[str, float]], intents: Sequence[str], width: int) -> Floats:
    """The grades of the docs of a topic, docs × width; columns beyond its intents are those that are not named."""
    table = np.zeros((len(judged), width))
    docs = sorted(judged, key=str.encode)
    for row, doc in zip(table, docs, strict=True):
        grades = judged[doc]
        # a doc that has negative grades only is not judged for the other intents either
        not_named = min(0, max(grades.values()))
        row[:] = not_named
        for i, intent in enumerate(intents):
            row[i] = grades.get(intent, not_named)
    return table


def _intents_of(judged: Mapping[str, Mapping[str, float]], listed: Iterable[str]) -> list[str]:
    """The intents that the judgments or the probabilities name, in natural order."""
    best: dict[str, float] = {}
    for grades in judged.values():
        for intent, grade in grades.items():
            best[intent] = max(grade, best.get(intent, grade))
    if best.get(NONE, 1) <= 0:
        del best[NONE]
    names = {*best, *listed}
    return natural_order(names)


def _chances(
    topics: Sequence[str],
    intents: Sequence[Sequence[str]],
    width: int,
    probabilities: Mapping[tuple[str, str], float] | None,
) -> Floats:
    """P(intent | topic), topics × intents: as given, or equal for all intents of a topic."""
    chances = np.zeros((len(topics), width))
    for row, topic, names in zip(chances, topics, intents, strict=True):
        for i, intent in enumerate(names):
            if probabilities is None:
                row[i] = 1 / len(names)
            else:
                row[i] = probabilities.get((topic, intent), 0.0)
    return chances


def _marked(topics: Sequence[str], intents: Sequence[Sequence[str]], width: int, wanted: set[tuple[str, str]]) -> Bools:
    """Which intents are among the wanted (topic, intent), topics × intents."""
    marked = np.zeros((len(topics), width), dtype=bool)
    for row, topic, names in zip(marked, topics, intents, strict=True):
        for i, intent in enumerate(names):
            row[i] = (topic, intent) in wanted
    return marked


@dataclass(frozen=True, eq=False)
class IntentGrades:
    """The grades of one run for each intent: all that a diversity measure may see.

    places are Grades whose "grades" are rows of `table` (pooled docs × intents), larger for larger doc ids, and −1 for
    a doc that is in the pool and not judged. The arrays made of it have topics × depth × intents cells: meant for
    hundreds of topics, not for millions.
    """

    places: Grades
    table: npt.NDArray[Any]
    probabilities: Floats
    navigational: Bools
    top: float

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, one row of everything each."""
        return self.places.topics

    def intent(self, i: int) -> Grades:
        """The run as if intent number i of each topic were the topic."""
        return self._graded(self.table[:, i])

    def any_intent(self) -> Grades:
        """The run with each doc's best grade over the intents."""
        return self._graded(self.table.max(axis=1, initial=0))

    def hits(self, rel: float = 1, k: int | None = None) -> Bools:
        """Whether the doc at each rank is relevant to each intent: topics × ranks × intents."""
        first_ranks = self.places.ranked[:, :k]
        return self._seen(first_ranks) >= rel

    def judged_hits(self, rel: float = 1) -> Bools:
        """The same for all judged docs of the topic, larger doc ids first."""
        return self._seen(self.places.ideal) >= rel

    def answerable(self, rel: float = 1) -> Bools:
        """Which intents of each topic have a relevant judged doc: topics × intents."""
        return np.asarray(self.judged_hits(rel).any(axis=1))

    def global_gains(self, gain: str = "grade", *, once: bool = False) -> Grades:
        """The run with global gains Σ_i P(i)·gain_i as grades; the ideal list is sorted by them.

        once: a navigational intent gains only at the first doc relevant to it; the ideal stays as it is. top is the
        gain of the highest grade, which is the most that a doc can have where the probabilities sum to 1.
        """
        chance = self.probabilities[:, None, :]
        grades = self._seen(self.places.ranked)
        gains = gain_of(grades, gain) * chance
        if once:
            gains = np.where(self._seen_before(grades), 0.0, gains)
        is_judged = self.places.judged()
        ranked = np.where(is_judged, gains.sum(axis=2), UNJUDGED)

        every_grade = self._seen(self.places.ideal)
        every_gain = gain_of(every_grade, gain) * chance
        is_doc = self.places.ideal >= 0
        pooled = np.where(is_doc, every_gain.sum(axis=2), UNJUDGED)
        highest = gain_of(np.array([self.top]), gain)
        top = float(highest[0]) or 1.0
        return replace(self.places, ranked=ranked, ideal=_descending(pooled), top=top)

    def _seen_before(self, grades: npt.NDArray[Any]) -> Bools:
        """Where a navigational intent has a relevant doc at a smaller rank: topics × ranks × intents, as the grades."""
        relevant = grades > 0
        relevant_above: Ints = np.cumsum(relevant, axis=1) - relevant
        is_navigational = self.navigational[:, None, :]
        return np.asarray((relevant_above > 0) & is_navigational)

    def condensed(self) -> IntentGrades:
        """The lists without docs that were judged for no intent, closed up."""
        return replace(self, places=self.places.condensed())

    def _graded(self, grades: npt.NDArray[Any]) -> Grades:
        """Grades with these grades of the judged docs."""
        known = np.append(grades, UNJUDGED)
        ranked = known[self._rows_or_last(self.places.ranked)]
        ideal = known[self._rows_or_last(self.places.ideal)]
        return replace(
            self.places,
            ranked=ranked,
            ideal=_descending(ideal),
            top=self.top,
        )

    def _seen(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Grades for each intent of the docs in these rows of the table, 0 where there is none."""
        intents = self.table.shape[1]
        none = np.zeros_like(self.table, shape=(1, intents))
        known = np.vstack([self.table, none])
        return known[self._rows_or_last(rows)]

    def _rows_or_last(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Rows of the table; where there is none (−1 and less), the row behind its last."""
        return np.where(rows >= 0, rows, len(self.table))


def _descending(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Each row with its largest value first."""
    return -np.sort(-rows, axis=1)


def align_intents(run: Run, qrels: IntentQrels) -> IntentGrades:
    """The grades of a run by intent: one row per topic of the judgments.

    A topic that the run lacks is an empty list; a topic of the run without judgments is left out.

    >>> q = IntentQrels.from_rows([("1", "a", "x", 2), ("1", "b", "y", 1)])
    >>> g = align_intents(Run.from_lists("r", {"1": ["y", "z", "x"]}), q)
    >>> g.hits()[0].tolist()
    [[False, True], [False, False], [True, False]]
    """
    every_row = np.arange(len(qrels))
    rows = np.where(qrels.judged(), every_row, POOLED)
    rows_as_grades = Qrels(
        qrels.topics,
        qrels.bounds,
        qrels.docs,
        rows,
        name=qrels.name,
    )
    places = align(run, rows_as_grades)
    return IntentGrades(
        places,
        qrels.grades,
        qrels.probabilities,
        qrels.navigational,
        qrels.top_grade(),
    )
