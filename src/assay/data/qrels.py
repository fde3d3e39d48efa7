"""Qrels: the pooled docs of each topic and their grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints, kept
from assay.core.dataframes import pandas_frame, polars_frame
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.ids import Ids
from assay.data.given import D, T, already_binary, as_grades, binary_grades, id_texts, numbers, refuse_twice
from assay.data.grade_scales import GradeScale, scale_of_grades
from assay.data.topic_rows import TopicRows, bounds_of


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(TopicRows):
    """Docs and their grades: rows `bounds[t]:bounds[t + 1]` are those of topic t. Topics in natural order.

    A grade of at least 0 is a judgment; a negative one says that the doc is in the pool and not judged. Grades are
    whole numbers if all of them are whole, else 64-bit floats. probabilities: for sampled judgments the inclusion
    probability of each doc, else None. Nothing of it can be changed.

    >>> qrels = Qrels.from_dict({"q1": {"a": 2, "b": 0}})
    >>> qrels
    Qrels('qrels', 1 topic, 2 docs, grades 0–2)
    >>> qrels.topics, qrels.grades.tolist()
    (('q1',), [2, 0])
    """

    kind: ClassVar[str] = "qrels"
    topics: tuple[str, ...]
    bounds: Ints
    docs: Ids
    grades: npt.NDArray[Any]
    probabilities: Floats | None = None
    name: str = "qrels"
    binary_from: float | None = None
    """The grade from which on a doc has grade 1, where judgments were made binary; the signature of scores says it."""
    scale: GradeScale | None = None
    """The scale of the grades and where they come from, if somebody said so."""

    def __post_init__(self) -> None:
        """Nobody can change the columns: those that somebody else could write to are copied."""
        object.__setattr__(self, "bounds", kept(self.bounds))
        object.__setattr__(self, "grades", kept(as_grades(self.grades, self.name)))
        if self.probabilities is not None:
            object.__setattr__(self, "probabilities", kept(self.probabilities))

    @classmethod
    def from_rows(
        cls,
        topics: Sequence[str | int],
        bounds: Ints,
        docs: Ids,
        grades: npt.NDArray[Any],
        probabilities: Floats | None = None,
        *,
        name: str = "qrels",
    ) -> Qrels:
        """Judgments from columns grouped by topic. A doc twice in a topic is an error."""
        texts = tuple(id_texts(topics, "topic", name))
        if len(grades) != len(docs):
            raise DataError(f"{name}: {len(docs)} docs and {len(grades)} grades; each doc needs one")
        qrels = cls(texts, bounds, docs, grades, probabilities, name=name)
        qrels.checked("a doc has one grade")
        return qrels

    @classmethod
    def from_dict(cls, grades: Mapping[T, Mapping[D, float]], *, name: str = "qrels") -> Qrels:
        """Judgments from {topic: {doc: grade}}. Ids may be whole numbers, which are read as their decimal digits.

        >>> Qrels.from_dict({1: {"a": 0.5, "b": 2}}).to_dict()
        {'1': {'a': 0.5, 'b': 2.0}}
        """
        names = id_texts(grades, "topic", name)
        refuse_twice(names, "topic", name)
        by_name = dict(zip(names, grades.values(), strict=True))
        topics = natural_order(names)
        docs = [doc for topic in topics for doc in by_name[topic]]
        values = [grade for topic in topics for grade in by_name[topic].values()]
        return cls.from_rows(
            topics,
            bounds_of([len(by_name[topic]) for topic in topics]),
            Ids.of(id_texts(docs, "doc", name)),
            numbers(values, "grade", name),
            name=name,
        )

    def _described(self) -> list[str]:
        if not len(self):
            return []
        return [f"grades {self.grades.min():g}–{self.grades.max():g}"]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """{topic: {doc: grade}}, grades whole numbers or floats."""
        return self.by_topic(self.grades.tolist())

    def _frame_columns(self) -> dict[str, Any]:
        topics = [self.topics[t] for t in self.topic_of_row().tolist()]
        columns = {"topic": topics, "doc": self.docs.tolist(), "grade": self.grades}
        return columns if self.probabilities is None else {**columns, "probability": self.probabilities}

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the columns topic, doc and grade; of sampled judgments also probability."""
        return pandas_frame(self._frame_columns())

    def to_polars(self) -> Any:
        """A polars DataFrame with the columns topic, doc and grade; of sampled judgments also probability."""
        return polars_frame(self._frame_columns())

    def binary(self, rel: float = 1) -> Qrels:
        """Judgments as relevant or not: grade 1 from rel on, and 0 below; a negative grade stays, as not judged.

        Scores on them say so in their signature, so that they are not compared with scores on grades.

        >>> qrels = Qrels.from_dict({"q1": {"a": 2, "b": 1, "c": -1}})
        >>> qrels.binary(rel=2).to_dict()
        {'q1': {'a': 1, 'b': 0, 'c': -1}}
        """
        if self.binary_from is not None:
            return already_binary(self, self.binary_from, rel)
        origin = f"{self.scale}, cut at {rel:g}" if self.scale else ""
        scale = GradeScale(0, 1, 2, origin) if origin else None
        return replace(self, grades=binary_grades(self.grades, rel), binary_from=rel, scale=scale)

    def numbers_of(self, topics: Sequence[str]) -> Ints:
        """The numbers of those topics that are judged, in the order in which they are given."""
        known = self._topic_numbers
        return np.array([known[topic] for topic in topics if topic in known], dtype=np.int64)

    def only(self, numbers: Ints) -> Qrels:
        """The judgments of some topics, given by their numbers.

        >>> Qrels.from_dict({"q1": {"a": 2}, "q2": {"b": 1}}).only(np.array([1])).to_dict()
        {'q2': {'b': 1}}
        """
        sizes = self.sizes[numbers]
        bounds = bounds_of(sizes)
        shift = np.repeat(self.bounds[numbers] - bounds[:-1], sizes)
        rows = np.arange(bounds[-1]) + shift
        return replace(
            self,
            topics=tuple(self.topics[number] for number in numbers.tolist()),
            bounds=bounds,
            docs=self.docs.take(rows),
            grades=self.grades[rows],
            probabilities=None if self.probabilities is None else self.probabilities[rows],
        )

    def judged(self) -> Bools:
        """Whether each doc is judged: its grade is at least 0. The others are in the pool and not judged."""
        return np.asarray(self.grades >= 0)

    def fine_scale(self) -> GradeScale | None:
        """The scale, named or seen, if it is so long that a grade of 1 says nothing of relevance."""
        scale = self.scale or scale_of_grades(self.grades)
        return scale if scale is not None and scale.is_fine else None

    def top_grade(self) -> float:
        """The highest grade of the whole set, at least 1: the scale is the collection's, never a topic's."""
        return max(1, self.grades.max(initial=1).item())
