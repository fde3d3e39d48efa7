"""What happened on this topic? The lists of one run or several side by side, with grades, texts and scores.

Where the flow stands: runs and judgments → **result**. A comparison says that a run lost a topic; this shows why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data import Qrels, Run, Topics
from assay.data.lists import check_names
from assay.data.topic_rows import bounds_of
from assay.io import read_docs, topics_of
from assay.io.brought import plain_qrels_of, run_list
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.io.docs import text_of
from assay.io.swapped import refuse_swapped
from assay.rankings.rank_biased import RBO, rbo
from assay.scoring.policy import Policy, chosen_policy
from assay.scoring.run_scores import joined_run, ordered_run, parsed, scores_of

UNJUDGED = "unjudged"
MEASURES = ("nDCG@10", "AP")
DEPTH = 20
CHARACTERS = 200
"""Characters of the text of a doc that a table shows; records and CSV have all."""


@dataclass(frozen=True)
class ListedDoc:
    """A doc of a list: its rank and score, its grade (None if it is not judged) and its ranks in the other lists."""

    rank: int
    doc: str
    score: float | None
    """None where the run has an infinite one, which no table and no JSON can hold."""
    grade: float | None
    elsewhere: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class TopicView(Result):
    """The first docs of each run on a topic. `scores` are by measure, one for each run; none where nothing is judged.

    `elsewhere` of a doc has its rank in every run, None where a run does not return it.
    """

    topic: str
    runs: tuple[str, ...]
    lists: tuple[tuple[ListedDoc, ...], ...]
    returned: tuple[int, ...]
    """How many docs each run returns for the topic in all."""
    depth: int
    scores: Mapping[str, tuple[float, ...]]
    rbo: RBO | None = None
    """Similarity of the two whole lists, where there are two."""
    query: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] | None = None
    characters: int = CHARACTERS

    @property
    def title(self) -> str:
        """The topic and its query, where that is known."""
        text = Topics((self.topic,), (self.query,)).queries()[self.topic]
        return f"topic {self.topic}: {text}" if text else f"topic {self.topic}"

    def table(self) -> Table:
        """The lists side by side: doc and grade; of two runs also the rank in the other list, of more in how many."""
        columns = ["rank"]
        formats = ["d"]
        keys = ["rank"]
        for at, run in enumerate(self.runs):
            heads = [run, "grade", *self._last_heads(at)]
            columns += heads
            formats += ["", "g", "g"][: len(heads)]
            keys += [f"{name}_{at + 1}" for name in ("doc", "grade", self._last_key)[: len(heads)]]
        rows = []
        for place in range(max(map(len, self.lists))):
            row: list[Any] = [place + 1]
            for at, docs in enumerate(self.lists):
                row += self._cells(at, docs[place] if place < len(docs) else None)
            rows.append(tuple(row))
        return Table(tuple(columns), tuple(formats), tuple(rows), self.title, tuple(self._notes()), tuple(keys))

    @property
    def _last_key(self) -> str:
        return {1: "score", 2: "rank_in_other"}.get(len(self.runs), "also_in")

    def _last_heads(self, at: int) -> list[str]:
        if len(self.runs) == 1:
            return ["score"]
        return [f"in {self.runs[1 - at]}"] if len(self.runs) == 2 else ["also in"]

    def _cells(self, at: int, listed: ListedDoc | None) -> list[Any]:
        """Doc, grade and the last column of one run at one rank; empty below the end of its list."""
        if listed is None:
            return ["", "", ""]
        others = [rank for place, rank in enumerate(listed.elsewhere) if place != at]
        among_first = sum(rank is not None and rank <= self.depth for rank in others)
        last = {1: listed.score, 2: others[0] if others else None}.get(len(self.runs), among_first)
        return [listed.doc, _grade(listed), last]

    def scores_table(self) -> Table:
        """One row per run: docs returned, judged docs among those shown, and the scores on this topic."""
        columns = {"run": "", "returned": "d", f"judged of {self.depth}": "d", **dict.fromkeys(self.scores, ".4f")}
        rows = []
        for at, run in enumerate(self.runs):
            judged = sum(listed.grade is not None for listed in self.lists[at])
            rows.append([run, self.returned[at], judged, *(values[at] for values in self.scores.values())])
        keys = {f"judged of {self.depth}": "judged"}
        return Table.of(columns, rows, caption="Scores on this topic", notes=self._score_notes(), keys=keys)

    def texts_table(self) -> Table:
        """One row per doc that any list shows, those at the best ranks first: grade, its rank in each run, its text."""
        distinct: dict[str, ListedDoc] = {}
        for listed in sorted((doc for docs in self.lists for doc in docs), key=lambda doc: doc.rank):
            distinct.setdefault(listed.doc, listed)
        ranks = [f"rank in {run}" for run in self.runs]
        columns = ("doc", "grade", *ranks, "text")
        keys = ("doc", "grade", *(f"rank_{at + 1}" for at in range(len(ranks))), "text")
        rows = [(doc, _grade(d), *d.elsewhere, self._cut(doc)) for doc, d in distinct.items()]
        formats = ("", "g", *("d" for _ in ranks), "")
        without = sum(row[-1] is None for row in rows)
        notes = (f"{without} of {len(rows)} docs have no text in the file",) if without else ()
        return Table(columns, formats, tuple(rows), "Texts", notes, keys)

    def tables(self) -> list[Table]:
        """The lists, the scores, and the texts of the docs where they are known."""
        tables = [self.table(), self.scores_table()]
        return tables if self.texts is None else [*tables, self.texts_table()]

    def long_table(self) -> Table:
        """One row per run and rank, with all that is known: for CSV, and to go on computing."""
        columns = {"run": "", "rank": "d", "doc": "", "score": "g", "grade": "g", "judged": ""}
        columns |= {f"rank in {run}": "d" for run in self.runs}
        keys = {f"rank in {run}": f"rank_{at + 1}" for at, run in enumerate(self.runs)}
        rows = []
        for run, docs in zip(self.runs, self.lists, strict=True):
            for d in docs:
                row = [run, d.rank, d.doc, d.score, d.grade, d.grade is not None, *d.elsewhere]
                rows.append(row if self.texts is None else [*row, self.texts.get(d.doc)])
        if self.texts is not None:
            columns["text"] = ""
        return Table.of(columns, rows, caption=self.title, keys=keys)

    def record(self) -> dict[str, Any]:
        """Topic, query, scores, similarity, and the lists of every run."""
        lists = []
        for at, (run, docs) in enumerate(zip(self.runs, self.lists, strict=True)):
            own = {"run": run, "returned": self.returned[at], "docs": [self._doc_record(doc) for doc in docs]}
            own["scores"] = [{"measure": name, "score": values[at]} for name, values in self.scores.items()]
            lists.append(own)
        return super().record() | {
            "topic": self.topic,
            "query": dict(self.query),
            "depth": self.depth,
            "rbo": None if self.rbo is None else self.rbo.scalars(),
            "runs": lists,
        }

    def _doc_record(self, listed: ListedDoc) -> dict[str, Any]:
        ranks = [{"run": run, "rank": rank} for run, rank in zip(self.runs, listed.elsewhere, strict=True)]
        known = {"rank": listed.rank, "doc": listed.doc, "score": listed.score, "grade": listed.grade, "ranks": ranks}
        return known if self.texts is None else {**known, "text": self.texts.get(listed.doc)}

    def _cut(self, doc: str) -> str | None:
        text = (self.texts or {}).get(doc)
        if text is None or len(text) <= self.characters:
            return text
        return text[: self.characters].rstrip() + "…"

    def _notes(self) -> list[str]:
        text = self.title.partition(": ")[2]
        notes = [f"{name}: {value}" for name, value in self.query.items() if value and value != text]
        if any(listed.grade is None for docs in self.lists for listed in docs):
            notes.append(f"{UNJUDGED}: the judgments have no grade of the doc")
        if len(self.runs) == 2:
            notes.append("in …: the rank of the doc in the other run, – where it does not return the doc")
        if len(self.runs) > 2:
            notes.append(f"also in: how many of the other runs have the doc among their first {self.depth}")
        if self.rbo is not None:
            notes.append(f"RBO of the two lists, at p = {self.rbo.p:g}: {self.rbo} as EXT [MIN – MAX]")
        empty = [run for run, returned in zip(self.runs, self.returned, strict=True) if not returned]
        return notes + [f"{run} returns nothing for this topic" for run in empty]

    def _score_notes(self) -> list[str]:
        if not self.scores:
            return ["no scores: the judgments do not have this topic, or a run lacks it and the policy leaves it out"]
        if len(self.runs) != 2:
            return []
        first, second = self.runs
        deltas = [f"{name} {shown(a - b, '+.4f')}" for name, (a, b) in self.scores.items()]
        return [f"{first} less {second}: {', '.join(deltas)}"]


def topic_view(
    topic: str | int,
    runs: Any,
    qrels: Any,
    *,
    measures: Any = MEASURES,
    depth: int = DEPTH,
    topics: Any = None,
    docs: Mapping[str, str] | str | Path | None = None,
    characters: int = CHARACTERS,
    columns: Named = None,
    policy: Policy | None = None,
    **choices: Any,
) -> TopicView:
    """The first `depth` docs of each run on one topic side by side, with grades, ranks elsewhere and scores.

    runs, qrels, measures and the choices of a policy are as `assay.evaluate` takes them. topics: for the
    query, as Topics, a path, {topic: text} or a data frame; docs: {doc: text} or a file of texts, as
    `assay.io.read_docs` reads it, of which tables show the first `characters`. A run without the topic has an empty
    list. columns: our column → that of the tables which have it.

    >>> runs = {"bm25": {"1": ["a", "b", "c"]}, "dense": {"1": ["b", "d"]}}
    >>> view = topic_view("1", runs, {"1": {"a": 0, "b": 2}}, measures="RR")
    >>> print("\\n".join(view.table().text().splitlines()[2:7]))
    rank  bm25     grade  in dense  dense     grade  in bm25
    ----  ----  --------  --------  -----  --------  -------
       1  a            0         –  b             2        2
       2  b            2         1  d      unjudged        –
       3  c     unjudged         –
    """
    if depth < 1 or characters < 1:
        raise UsageError(f"depth and characters are at least 1, not {depth} and {characters}")
    name = str(topic)
    shared = shared_columns(columns)
    judgments = plain_qrels_of(qrels, columns=shared)
    rules = chosen_policy(policy, choices).on(judgments)
    lists_of_docs = run_list(runs, columns=shared, ranks=rules.ties == "rank")
    refuse_swapped(runs, lists_of_docs, qrels, judgments)
    compared = [ordered_run(run, rules, 1) for run in lists_of_docs]
    check_names(compared)
    _check_topic(name, compared, judgments)
    lists = [run.ranking(name) if name in run.topics else [] for run in compared]
    grades = _grades(judgments, name)
    places = [{doc: rank for rank, doc in enumerate(ranked, 1)} for ranked in lists]
    viewed = [_listed(run, name, ranked[:depth], grades, places) for run, ranked in zip(compared, lists, strict=True)]
    wanted = {doc.doc for own in viewed for doc in own}
    query = _query(topics, name, shared)
    texts = _texts(docs, wanted, shared)
    refuse_unused(shared, columns)
    similarity = rbo(lists[0], lists[1]) if len(lists) == 2 and all(lists) else None
    return TopicView(
        topic=name,
        runs=tuple(run.name for run in compared),
        lists=tuple(viewed),
        returned=tuple(map(len, lists)),
        depth=depth,
        scores=_scores(compared, judgments, name, measures, rules),
        rbo=similarity,
        query=query,
        texts=texts,
        characters=characters,
    )


def _check_topic(topic: str, runs: Sequence[Run], qrels: Qrels) -> None:
    known = dict.fromkeys([*qrels.topics, *(topic for run in runs for topic in run.topics)])
    if topic not in known:
        raise UsageError(f"no topic {topic!r} in the judgments and runs{did_you_mean(topic, natural_order(known))}")


def _grades(qrels: Qrels, topic: str) -> dict[str, float]:
    """The grades of the judged docs of a topic; a negative grade is no judgment."""
    if topic not in qrels.topics:
        return {}
    rows = qrels.topic_rows(topic)
    docs = qrels.docs.take(rows).tolist()
    return {doc: grade for doc, grade in zip(docs, qrels.grades[rows].tolist(), strict=True) if grade >= 0}


def _listed(
    run: Run, topic: str, ranked: Sequence[str], grades: Mapping[str, float], places: Sequence[Mapping[str, int]]
) -> tuple[ListedDoc, ...]:
    if not ranked:
        return ()
    scores = run.scores[run.topic_rows(topic)].tolist()
    docs = []
    for rank, (doc, score) in enumerate(zip(ranked, scores, strict=False), 1):
        elsewhere = tuple(own.get(doc) for own in places)
        finite = score if math.isfinite(score) else None
        docs.append(ListedDoc(rank, doc, finite, grades.get(doc), elsewhere))
    return tuple(docs)


def _scores(
    runs: Sequence[Run], qrels: Qrels, topic: str, measures: Any, rules: Policy
) -> dict[str, tuple[float, ...]]:
    """The scores of all runs on the topic, by measure; the scale stays that of all judgments."""
    wanted = parsed(measures)
    if topic not in qrels.topics:
        return {}
    rows = qrels.topic_rows(topic)
    probabilities = None if qrels.probabilities is None else qrels.probabilities[rows]
    one = Qrels((topic,), bounds_of([rows.stop - rows.start]), qrels.docs.take(rows), qrels.grades[rows], probabilities)
    scored = [scores_of(joined_run(run, one, rules, 1), wanted, rules, None) for run in runs]
    lacking = [run.name for run, own in zip(runs, scored, strict=True) if own.missing.any()]
    if lacking and rules.missing == "error":
        raise DataError(f"run {lacking[0]!r} has no docs for topic {topic!r}; missing='zero' counts it as 0")
    if lacking and rules.missing == "drop":
        return {}
    return {str(measure): tuple(float(own.values[i, 0]) for own in scored) for i, measure in enumerate(wanted)}


def _query(topics: Any, topic: str, columns: Named) -> dict[str, str]:
    if topics is None:
        return {}
    known = topics_of(topics, columns=columns).to_dict()
    if topic not in known:
        raise DataError(f"the topics have no text of topic {topic!r}{did_you_mean(topic, list(known))}")
    return known[topic]


def _texts(docs: Mapping[str, str] | str | Path | None, wanted: set[str], columns: Named) -> dict[str, str] | None:
    if docs is None:
        return None
    if isinstance(docs, Mapping):
        return {doc: str(docs[doc]) for doc in wanted if doc in docs}
    found = read_docs(docs, docs=wanted, columns=columns)
    return {doc: text_of(fields) for doc, fields in found.items()}


def _grade(listed: ListedDoc) -> float | str:
    return UNJUDGED if listed.grade is None else listed.grade
