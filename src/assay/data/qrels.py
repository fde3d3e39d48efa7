"""Qrels: the judged docs of each topic and their grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.groups import natural_order
from assay.core.ids import Ids


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judged docs and their grades: rows `bounds[t]:bounds[t + 1]` are those of topic t. Topics in natural order.

    probabilities: for sampled judgments the inclusion probability of each doc, else None.

    >>> qrels = Qrels.from_dict({"q1": {"a": 2, "b": 0}})
    >>> qrels.topics, qrels.grades.tolist()
    (('q1',), [2, 0])
    """

    topics: tuple[str, ...]
    bounds: Ints
    docs: Ids
    grades: Ints
    probabilities: Floats | None = None
    name: str = "qrels"

    @classmethod
    def from_dict(cls, grades: Mapping[str, Mapping[str, int]], *, name: str = "qrels") -> Qrels:
        """Judgments from {topic: {doc: grade}}."""
        topics = natural_order(grades)
        return cls(
            tuple(topics),
            np.cumsum([0, *(len(grades[t]) for t in topics)], dtype=np.int64),
            Ids.of(d for t in topics for d in grades[t]),
            np.array([g for t in topics for g in grades[t].values()], dtype=np.int64),
            name=name,
        )

    def __len__(self) -> int:
        return len(self.grades)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """{topic: {doc: grade}}."""
        docs, grades, bounds = self.docs.tolist(), self.grades.tolist(), self.bounds.tolist()
        return {
            t: dict(zip(docs[a:b], grades[a:b], strict=True))
            for t, a, b in zip(self.topics, bounds, bounds[1:], strict=False)
        }

    def topic_of_row(self) -> Ints:
        """The number of the topic of each row."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.bounds))

    def top_grade(self) -> int:
        """The highest grade of the whole set, at least 1: the scale is the collection's, never a topic's."""
        return max(1, int(self.grades.max(initial=1)))
