"""Run: ranked docs per topic. It is the one place that orders documents; nothing else sorts them.

Where the flow stands: files → **tables** → grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from assay.core.arrays import Bools, Floats, Ints, Keys, kept
from assay.core.dataframes import pandas_frame, polars_frame
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids
from assay.data.given import D, T, id_texts, numbers
from assay.data.order import Moves, ranked_order, sort_keys
from assay.data.policy_names import TIES
from assay.data.topic_rows import TopicRows, bounds_of


@dataclass(frozen=True)
class RunInfo:
    """What is known of a run beside its docs: who made it, when, and whether a person had a hand in it.

    >>> Run.from_lists("a", {"1": ["x"]}).info
    RunInfo(group=None, year=None, manual=None, metadata={})
    """

    group: str | None = None
    year: int | None = None
    manual: bool | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Run(TopicRows):
    """A name and ranked docs per topic: rows `bounds[t]:bounds[t + 1]` are those of topic t, best first.

    Order: score descending as a 64-bit float, ties by the bytes of the doc id descending; see `ordered` for the others.
    Nothing of a run can be changed.

    >>> run = Run.from_dict("bm25", {"q1": {"a": 1.0, "b": 2.0, "c": 1.0}})
    >>> run
    Run('bm25', 1 topic, 3 docs)
    >>> run.ranking("q1")
    ['b', 'c', 'a']
    """

    kind: ClassVar[str] = "run"
    name: str
    topics: tuple[str, ...]
    bounds: Ints
    docs: Ids
    scores: Floats
    ranks: Ints | None = None
    came: Moves | None = None
    """How the rows came here from the lines of the file; None if they stand as they stood there."""
    ties: str = "docid"
    compat: str | None = None
    info: RunInfo = field(default_factory=RunInfo)
    keys: Keys | None = None
    """Keys of the docs, where the reader has made them already."""
    file: str | None = None
    """The file that it was read from, by which runs of one name are told apart; None where the reader knows it."""

    def __post_init__(self) -> None:
        """Nobody can change the columns: those that somebody else could write to are copied."""
        for column in ("bounds", "scores", "ranks", "keys"):
            values = getattr(self, column)
            if values is not None:
                object.__setattr__(self, column, kept(values))

    @classmethod
    def from_rows(
        cls,
        name: str | int,
        topics: Sequence[str | int],
        bounds: Ints,
        docs: Ids,
        scores: Floats,
        *,
        ranks: Ints | None = None,
        info: RunInfo | None = None,
    ) -> Run:
        """A run from columns grouped by topic, in any order within a topic. A doc twice in a topic is an error."""
        (text,) = id_texts([name], "run", "run")
        texts = tuple(id_texts(topics, "topic", text))
        if len(scores) != len(docs):
            raise DataError(f"{text}: {len(docs)} docs and {len(scores)} scores; each doc needs one")
        if np.isnan(scores).any():
            raise DataError(f"{text}: a score is not a number (nan); every doc needs one")
        unordered = cls(text, texts, bounds, docs, scores, ranks, info=info or RunInfo())
        unordered.checked("a doc has one place in a ranking")
        return unordered.ordered()

    @classmethod
    def from_dict(cls, name: str | int, scores: Mapping[T, Mapping[D, float]], *, info: RunInfo | None = None) -> Run:
        """A run from {topic: {doc: score}}. Ids may be whole numbers, which are read as their decimal digits."""
        docs = [doc for topic in scores.values() for doc in topic]
        values = [score for topic in scores.values() for score in topic.values()]
        return cls.from_rows(
            name,
            tuple(scores),
            bounds_of([len(topic) for topic in scores.values()]),
            Ids.of(id_texts(docs, "doc", str(name))),
            numbers(values, "score", str(name)),
            info=info,
        )

    @classmethod
    def from_lists(cls, name: str | int, rankings: Mapping[T, Sequence[D]]) -> Run:
        """A run from {topic: docs, best first}; scores are made to agree: the number of docs, …, 2, 1."""
        docs = [doc for ranking in rankings.values() for doc in ranking]
        sizes = [len(ranking) for ranking in rankings.values()]
        scores = [np.arange(size, 0, -1, dtype=np.float64) for size in sizes]
        return cls.from_rows(
            name,
            tuple(rankings),
            bounds_of(sizes),
            Ids.of(id_texts(docs, "doc", str(name))),
            np.concatenate([np.zeros(0), *scores]),
        )

    def ranking(self, topic: str) -> list[str]:
        """The docs of a topic, best first."""
        return self.docs.take(self.topic_rows(topic)).tolist()

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{topic: {doc: score}}, docs best first."""
        return self.by_topic(self.scores.tolist())

    def _frame_columns(self) -> dict[str, Any]:
        topics = [self.topics[t] for t in self.topic_of_row().tolist()]
        ranks = self.place_of_row() + 1
        return {"run": [self.name] * len(self), "topic": topics, "doc": self.docs.tolist(), "rank": ranks,
                "score": self.scores}  # fmt: skip

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the columns run, topic, doc, rank and score, docs best first."""
        return pandas_frame(self._frame_columns())

    def to_polars(self) -> Any:
        """A polars DataFrame with the columns run, topic, doc, rank and score, docs best first."""
        return polars_frame(self._frame_columns())

    def doc_keys(self) -> Keys:
        """A 32-bit key of each doc id, made by the reader or now."""
        return super().doc_keys() if self.keys is None else self.keys

    def tied(self) -> Bools:
        """Whether a doc has the same score as the doc before it in the same topic."""
        keys = sort_keys(self.scores, self.compat)
        same = np.zeros(len(self), dtype=bool)
        same[1:] = keys[1:] == keys[:-1]
        same[self.seams() + 1] = False
        return same

    def ordered(self, ties: str = "docid", *, compat: str | None = None, own: bool = False) -> Run:
        """The same run with its docs in the order of another policy.

        ties: `docid` bytes of the id descending, `docid-asc`, `rank` the file's rank column, `file` the order of its
        lines, `average` as `docid`, while scores are expected values over all orders of tied docs.
        compat="trec_eval-9" compares scores as 32-bit floats. own: nobody else has the columns, they may be changed.
        """
        if ties not in TIES:
            raise UsageError(f"no tie policy {ties!r}; known: {', '.join(TIES)}")
        if ties == "rank" and self.ranks is None:
            raise UsageError(f"run {self.name!r} has no rank column; ties='rank' needs one")
        asked = self if (self.ties, self.compat) == (ties, compat) else replace(self, ties=ties, compat=compat)
        moves = ranked_order(asked, ties)
        return asked if moves is None else asked.moved(moves, own=own)

    def moved(self, moves: Moves, *, own: bool = False) -> Run:
        """The rows where the moves bring them; the bounds are left to the caller."""
        return replace(
            self,
            docs=Ids(self.docs.buffer, moves.of(self.docs.starts, own), moves.of(self.docs.lengths, own)),
            scores=moves.of(self.scores, own),
            ranks=None if self.ranks is None else moves.of(self.ranks, own),
            came=moves if self.came is None else Moves(moves.of(self.file_rows())),
            keys=None if self.keys is None else moves.of(self.keys, own),
        )

    def together(self) -> Run:
        """The same run with the rows of each topic together, topics in the order in which they first appear."""
        names = list(dict.fromkeys(self.topics))
        if len(names) == len(self.topics):
            return self
        place = {topic: i for i, topic in enumerate(names)}
        topic_of_row = np.array([place[topic] for topic in self.topics])[self.topic_of_row()]
        order = Moves(np.argsort(topic_of_row, kind="stable"))
        sizes = np.bincount(topic_of_row, minlength=len(names))
        return replace(self.moved(order), topics=tuple(names), bounds=bounds_of(sizes))

    def file_rows(self) -> Ints:
        """Where each doc stood in the file."""
        if self.came is not None and self.came.places is None:
            return self.came.rows
        every = np.arange(len(self))
        return every if self.came is None else self.came.of(every, own=True)

    def cut(self, depth: int) -> Run:
        """Only the first `depth` docs of each topic."""
        keep = np.flatnonzero(self.place_of_row() < depth)
        sizes = np.minimum(self.sizes, depth)
        return replace(self.moved(Moves(keep)), bounds=bounds_of(sizes))
