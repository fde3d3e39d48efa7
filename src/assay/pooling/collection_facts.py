"""What does a collection consist of? Docs judged and relevant per topic, by grade, and who brought the relevant ones.

Where it stands: judgments (and runs with what is known of them) → **facts** that a paper states of a collection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.info import RunsInfo
from assay.pooling.voters import Collected, contributors, lists_of

MOST_GRADES = 20
"""Scales with more grades than these are magnitudes; their grades are not counted one by one."""
RANGE = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True, eq=False)
class CollectionFacts(Result):
    """Docs of each topic by grade: `counts` is topics × grades; a negative grade means pooled and not judged."""

    name: str
    topics: tuple[str, ...]
    grades: tuple[float, ...]
    counts: Ints
    rel: float
    parts: Mapping[str, tuple[int, ...]]
    """Places of the topics of each part, by the name of the part."""

    @property
    def pooled(self) -> Ints:
        """Docs of each topic that have an entry, judged or not."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def judged(self) -> Ints:
        """Docs of each topic with a grade of at least 0."""
        return self._from(0)

    @property
    def relevant(self) -> Ints:
        """Docs of each topic with a grade of at least `rel`."""
        return self._from(self.rel)

    def _from(self, lowest: float) -> Ints:
        columns = np.array(self.grades) >= lowest
        return np.asarray(self.counts[:, columns].sum(axis=1))

    def _by_grade(self) -> dict[str, Ints]:
        """Docs of each topic with each grade; nothing where a scale has too many to be listed."""
        judged = [place for place, grade in enumerate(self.grades) if grade >= 0]
        if len(judged) > MOST_GRADES:
            return {}
        return {f"grade {self.grades[place]:g}": self.counts[:, place] for place in judged}

    def table(self) -> Table:
        """One row per kind of docs, or with parts one row per part."""
        return self._parts_table() if self.parts else self._whole_table()

    def _whole_table(self) -> Table:
        kinds = {"pooled": self.pooled, "judged": self.judged, "relevant": self.relevant}
        kinds |= self._by_grade()
        rows = []
        for kind, docs in kinds.items():
            rows.append((kind, int(docs.sum()), docs.mean(), int(docs.min()), np.median(docs), int(docs.max())))
        formats = {"docs": "", "all": "d", "per topic": ".1f", "least": "d", "median": ".1f", "most": "d"}
        caption = f"{self.name}: {len(self.topics)} topics"
        return Table.of(formats, rows, caption=caption, notes=[self._note()])

    def _parts_table(self) -> Table:
        rows = []
        for name, places in self.parts.items():
            judged = self.judged[list(places)]
            relevant = self.relevant[list(places)]
            share = relevant.sum() / max(1, judged.sum())
            rows.append(
                (name, len(places), judged.mean(), relevant.mean(), 100 * share, relevant.min(), relevant.max())
            )
        formats = {"part": "", "topics": "d", "judged": ".1f", "relevant": ".1f", "% relevant": ".1f"}
        formats |= {"least relevant": "d", "most relevant": "d"}
        notes = ["judged, relevant: docs per topic", self._note()]
        return Table.of(formats, rows, caption=self.name, notes=notes, keys={"% relevant": "relevant_percent"})

    def _note(self) -> str:
        return f"relevant: grade {self.rel:g} or more; judged: grade 0 or more; pooled: any entry"

    def topics_table(self) -> Table:
        """One row per topic."""
        formats = {"topic": "", "pooled": "d", "judged": "d", "relevant": "d"}
        columns: list[Sequence[Any]] = [self.topics, self.pooled.tolist(), self.judged.tolist(), self.relevant.tolist()]
        for name, docs in self._by_grade().items():
            formats[name] = "d"
            columns.append(docs.tolist())
        rows = list(zip(*columns, strict=True))
        return Table.of(formats, rows, caption="Docs of each topic", notes=[self._note()])


def describe(qrels: Qrels, *, rel: float = 1, parts: Mapping[str, str] | None = None) -> CollectionFacts:
    """How many docs of each topic are pooled, judged and relevant, and how many have each grade.

    parts: names of parts of the collection with their topics, as "351-400" (all topics with such a number) or a list
    separated by commas; topic sets that share a corpus are compared so (Webber 2010, Figs. 3.23 and 3.24, Table 4.13).

    >>> qrels = Qrels.from_dict({"1": {"a": 2, "b": 0}, "2": {"a": 1, "c": -1}})
    >>> facts = describe(qrels)
    >>> facts.judged.tolist(), facts.relevant.tolist()
    ([2, 1], [1, 1])
    """
    if not len(qrels):
        raise DataError(f"{qrels.name}: there is no judgment to describe")
    distinct, grade_of_row = np.unique(qrels.grades, return_inverse=True)
    counts = np.zeros((len(qrels.topics), len(distinct)), dtype=np.int64)
    np.add.at(counts, (qrels.topic_of_row(), grade_of_row), 1)
    places = {name: _places(text, qrels.topics, name) for name, text in (parts or {}).items()}
    return CollectionFacts(qrels.name, qrels.topics, tuple(distinct.tolist()), counts, rel, places)


def _places(text: str, topics: Sequence[str], name: str) -> tuple[int, ...]:
    """The places of the topics that a list of topics and ranges of numbers names."""
    places: list[int] = []
    for item in text.split(","):
        word = item.strip()
        ends = RANGE.fullmatch(word)
        if word in topics:
            places.append(topics.index(word))
        elif ends is not None:
            first, last = int(ends[1]), int(ends[2])
            inside = [place for place, topic in enumerate(topics) if topic.isdecimal() and first <= int(topic) <= last]
            if not inside:
                raise UsageError(f"part {name}: no topic has a number from {first} to {last}")
            places += inside
        else:
            raise UsageError(f"part {name}: no topic {word!r}{did_you_mean(word, topics)}")
    return tuple(dict.fromkeys(places))


@dataclass(frozen=True, eq=False)
class PoolByType(Result):
    """What the runs of each type, team or other group brought to the judged docs."""

    column: str
    names: tuple[str, ...]
    runs: Ints
    judged: Ints
    judged_alone: Ints
    relevant: Ints
    relevant_alone: Ints
    all_judged: int
    all_relevant: int
    depth: int | None

    def table(self) -> Table:
        """One row per group of runs: judged and relevant docs that they retrieved, and those that no others did."""
        rows = []
        for i, name in enumerate(self.names):
            share = 100 * self.relevant_alone[i] / max(1, self.all_relevant)
            counts = (self.judged[i], self.judged_alone[i], self.relevant[i], self.relevant_alone[i])
            rows.append((name, int(self.runs[i]), *map(int, counts), share))
        formats = {self.column: "", "runs": "d", "judged": "d", "judged alone": "d", "relevant": "d"}
        formats |= {"relevant alone": "d", "% alone": ".1f"}
        deep = "in any rank" if self.depth is None else f"in the first {self.depth} ranks"
        notes = [
            f"docs that runs of the group have {deep}; {self.all_judged} are judged and {self.all_relevant} relevant",
            "alone: no run of another group has the doc there; % alone: of all relevant docs",
        ]
        keys = {"% alone": "relevant_alone_percent"}
        return Table.of(formats, rows, caption=f"Judged docs by {self.column} of run", notes=notes, keys=keys)


def pool_by_type(
    runs: Collected, qrels: Qrels, info: RunsInfo, *, column: str = "type", depth: int | None = None, rel: float = 1
) -> PoolByType:
    """Which judged and relevant docs the runs of each group have, and which no other group has.

    The groups are the texts of one column of `info`; runs of which it says nothing are an error. depth: only the
    first docs of each run, as deep as the pool. Webber 2010, Fig. 3.22 and Section 3.5.4.

    >>> from assay.data import Run
    >>> runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    >>> info = RunsInfo("runs.csv", ("type",), {"a": ("manual",), "b": ("automatic",)})
    >>> pool_by_type(runs, Qrels.from_dict({"1": {"x": 1, "y": 1, "z": 0}}), info).relevant_alone.tolist()
    [1, 0]
    """
    if depth is not None and depth < 1:
        raise UsageError(f"depth is {depth}; a pool is at least 1 doc deep")
    lists = lists_of(runs, qrels)
    types = info.of_runs(column, lists.runs)
    silent = [run for run, text in zip(lists.runs, types, strict=True) if text is None]
    if silent:
        raise DataError(f"{info.where}: nothing is said of the {column} of run {silent[0]!r}; {len(silent)} such runs")
    names = tuple(dict.fromkeys(text for text in types if text is not None))
    _, has_by_run = contributors(lists, depth or lists.depth)
    members = np.array([[text == name for text in types] for name in names])
    has = np.array([has_by_run[rows].any(axis=0) for rows in members])
    alone = has & (has.sum(axis=0) == 1)
    judged = lists.judged()
    relevant = lists.relevant(rel)
    return PoolByType(
        column=column,
        names=names,
        runs=members.sum(axis=1),
        judged=(has & judged).sum(axis=1),
        judged_alone=(alone & judged).sum(axis=1),
        relevant=(has & relevant).sum(axis=1),
        relevant_alone=(alone & relevant).sum(axis=1),
        all_judged=int(judged.sum()),
        all_relevant=int(relevant.sum()),
        depth=depth,
    )
