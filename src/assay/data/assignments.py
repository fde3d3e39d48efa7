"""What assessors, people or machines, said of answers: which nuggets each has, and which citations support it.

Where the flow stands: files → **assignments** → counts → scores. Files are read in `io/assignments.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import coded_names
from assay.core.registry import did_you_mean
from assay.data.assignment_words import CREDIT, IMPORTANCE, NEEDS_NONE, NONE
from assay.data.topic_rows import counted

Bank = Mapping[str, Mapping[str, bool]]
"""{topic: {nugget: whether it is vital}}."""
T = TypeVar("T", "Assignments", "CitationSupport")


class AssignedNugget(NamedTuple):
    """One nugget and one answer, in words: the importance vital or okay, the assignment a word of CREDIT."""

    topic: str
    run: str
    nugget: str
    importance: str
    assignment: str
    assessor: str = ""


class Answer(NamedTuple):
    """An answer: the topic, the run that gave it, and who looked at it."""

    topic: str
    run: str
    assessor: str = ""


class CitedSentence(NamedTuple):
    """One sentence of an answer and one doc that it cites; without a citation, support is empty or NEEDS_NONE."""

    topic: str
    run: str
    sentence: str
    citation: str
    support: str
    assessor: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Assignments:
    """Nuggets of topics and whether answers have them: a row for each assessor, run, topic and nugget.

    >>> made = Assignments.from_rows([("1", "mine", "in Peru", "vital", "support"), ("1", "mine", "old", "okay", "no")])
    >>> made.credit.tolist(), made.vital.tolist()
    ([1.0, 0.0], [True, False])
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    nuggets: tuple[str, ...]
    assessors: tuple[str, ...]
    run: Ints
    topic: Ints
    nugget: Ints
    assessor: Ints
    vital: Bools
    credit: Floats
    name: str = "assignments"
    remarks: tuple[str, ...] = ()
    without: tuple[Answer, ...] = ()
    """Answers to topics that have no nuggets: nothing could be assigned."""

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[AssignedNugget | tuple[str, ...]],
        *,
        name: str = "assignments",
        places: Sequence[str] | None = None,
        without: Iterable[Answer] = (),
    ) -> Assignments:
        """Assignments from rows of words; places says where each row stood, for messages."""
        given = [AssignedNugget(*row) for row in rows]
        empty = tuple(without)
        where = places or _places([*given, *empty], name, "assignments")
        credit = [_credit(row.assignment, "assignment", where[i]) for i, row in enumerate(given)]
        vital = [_is_vital(row.importance, where[i]) for i, row in enumerate(given)]
        columns = list(zip(*given, strict=True)) or [()] * len(AssignedNugget._fields)
        _refuse_empty(columns[:3], AssignedNugget._fields, where)
        topics, topic = _coded(columns[0], [answer.topic for answer in empty])
        runs, run = _coded(columns[1], [answer.run for answer in empty])
        nuggets, nugget = _coded(columns[2])
        assessors, assessor = _coded(columns[5], [answer.assessor for answer in empty])
        answer = _joined_codes((assessor, len(assessors)), (run, len(runs)), (topic, len(topics)))
        again = _first_repeated(answer * len(nuggets) + nugget)
        if again is not None:
            what = f"nugget {given[again].nugget!r} of topic {given[again].topic!r} is there twice for run"
            raise DataError(f"{where[again]}: {what} {given[again].run!r}; keep one of the two")
        _refuse_two_importances(topic * len(nuggets) + nugget, np.array(vital, dtype=bool), given, where)
        failed = sum("failed" in (row.importance.lower(), row.assignment.lower()) for row in given)
        remarks = [_failed_remark(failed, len(given))] if failed else []
        unsaid = sum(not row.importance.strip() for row in given)
        if unsaid:
            remarks.append(f"{unsaid} of {len(given)} assignments have no importance; their nuggets count as okay")
        return cls(
            runs, topics, nuggets, assessors, run, topic, nugget, assessor,
            np.array(vital, dtype=bool), np.array(credit), name, tuple(remarks), empty,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.credit)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.runs), 'run')}, {counted(len(self.topics), 'topic')}"
        return f"Assignments({self.name!r}, {counted(len(self), 'row')}: {sizes})"

    def by(self, assessor: str | None) -> Assignments:
        """The rows of one assessor; without a name those of the only one."""
        chosen = _of_assessor(self, assessor)
        kept = tuple(answer for answer in self.without if assessor in (None, answer.assessor))
        runs, run = _coded(_names(self.runs, chosen.run), [answer.run for answer in kept])
        topics, topic = _coded(_names(self.topics, chosen.topic), [answer.topic for answer in kept])
        return replace(chosen, runs=runs, run=run, topics=topics, topic=topic, without=kept)

    def select(self, rows: Bools) -> Assignments:
        """Only these rows; the names stay."""
        return replace(
            self, run=self.run[rows], topic=self.topic[rows], nugget=self.nugget[rows], assessor=self.assessor[rows],
            vital=self.vital[rows], credit=self.credit[rows],
        )  # fmt: skip

    def answers(self) -> Ints:
        """The cell of each row in runs × topics, counted along the topics."""
        return np.asarray(self.run * len(self.topics) + self.topic)

    def items(self) -> list[str]:
        """What each row is about, beside topic and run: the nugget."""
        return _names(self.nuggets, self.nugget)


@dataclass(frozen=True, eq=False, repr=False)
class CitationSupport:
    """Sentences of answers and whether the docs that they cite support them: a row for each citation, one without a
    citation for a sentence that cites nothing.

    >>> rows = [("1", "mine", "s1", "d1", "full"), ("1", "mine", "s2", "", ""), ("1", "mine", "s3", "", "not_needed")]
    >>> made = CitationSupport.from_rows(rows)
    >>> made.cites.tolist(), made.needed.tolist()
    ([True, False, False], [True, True, False])
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    sentences: tuple[str, ...]
    citations: tuple[str, ...]
    assessors: tuple[str, ...]
    run: Ints
    topic: Ints
    sentence: Ints
    citation: Ints
    assessor: Ints
    cites: Bools
    """Whether the row is a citation, and not a sentence that has none."""
    needed: Bools
    """Whether the sentence needs a citation or has one."""
    credit: Floats
    name: str = "support"
    remarks: tuple[str, ...] = ()

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[CitedSentence | tuple[str, ...]],
        *,
        name: str = "support",
        places: Sequence[str] | None = None,
    ) -> CitationSupport:
        """Support from rows of words; places says where each row stood, for messages."""
        given = [CitedSentence(*row) for row in rows]
        where = places or _places(given, name, "sentences")
        needed, credit = _support_of(given, where)
        columns = list(zip(*given, strict=True))
        _refuse_empty(columns[:3], CitedSentence._fields, where)
        topics, topic = coded_names(columns[0])
        runs, run = coded_names(columns[1])
        sentences, sentence = coded_names(columns[2])
        citations, citation = coded_names(columns[3])
        assessors, assessor = coded_names(columns[5])
        answer = _joined_codes((assessor, len(assessors)), (run, len(runs)), (topic, len(topics)))
        of_sentence = answer * len(sentences) + sentence
        cites = np.array([bool(row.citation) for row in given])
        again = _first_repeated(of_sentence * len(citations) + citation)
        if again is None:  # a sentence without citations stands alone
            without = of_sentence[~cites]
            mixed = np.flatnonzero(cites & np.isin(of_sentence, without))
            again = int(mixed[0]) if len(mixed) else None
        if again is not None:
            row = given[again]
            what = f"sentence {row.sentence!r} of topic {row.topic!r} has citation {row.citation!r} twice, or once with"
            raise DataError(f"{where[again]}: {what} and once without one, for run {row.run!r}; keep one of the rows")
        failed = sum(row.support.lower() == "failed" for row in given)
        remarks = (_failed_remark(failed, len(given)),) if failed else ()
        return cls(
            runs, topics, sentences, citations, assessors, run, topic, sentence, citation, assessor,
            cites, needed, credit, name, remarks,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.credit)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.runs), 'run')}, {counted(len(self.topics), 'topic')}"
        return f"CitationSupport({self.name!r}, {counted(len(self), 'row')}: {sizes})"

    def by(self, assessor: str | None) -> CitationSupport:
        """The rows of one assessor; without a name those of the only one."""
        chosen = _of_assessor(self, assessor)
        runs, run = _coded(_names(self.runs, chosen.run))
        topics, topic = _coded(_names(self.topics, chosen.topic))
        return replace(chosen, runs=runs, run=run, topics=topics, topic=topic)

    def select(self, rows: Bools) -> CitationSupport:
        """Only these rows; the names stay."""
        return replace(
            self, run=self.run[rows], topic=self.topic[rows], sentence=self.sentence[rows],
            citation=self.citation[rows], assessor=self.assessor[rows], cites=self.cites[rows],
            needed=self.needed[rows], credit=self.credit[rows],
        )  # fmt: skip

    def answers(self) -> Ints:
        """The cell of each row in runs × topics, counted along the topics."""
        return np.asarray(self.run * len(self.topics) + self.topic)

    def items(self) -> list[str]:
        """What each row is about, beside topic and run: the sentence and the doc that it cites."""
        pairs = zip(self.sentence.tolist(), self.citation.tolist(), strict=True)
        return [f"{self.sentences[s]} {self.citations[c]}" for s, c in pairs]


def _places(given: Sequence[Any], name: str, what: str) -> Sequence[str]:
    """Where each row stood; no rows at all are an error."""
    if not given:
        raise DataError(f"{name}: there are no {what}; give at least one row")
    return [f"{name}:{i}" for i in range(1, len(given) + 1)]


def _names(names: Sequence[str], codes: Ints) -> list[str]:
    """The name of each code."""
    return [names[code] for code in codes.tolist()]


def _coded(names: Sequence[str], others: Sequence[str] = ()) -> tuple[tuple[str, ...], Ints]:
    """Distinct names, those of the others too, and the place of each name among them."""
    distinct, codes = coded_names([*names, *others])
    return distinct, codes[: len(names)]


def _credit(word: str, column: str, where: str) -> float:
    """The worth of a word, 0, ½ or 1."""
    credit = CREDIT.get(word.strip().lower())
    if credit is None:
        known = "support, partial_support or not_support" if column == "assignment" else "full, partial or none"
        raise DataError(f"{where}: {column} is {word!r}; write {known}")
    return credit


def _is_vital(word: str, where: str) -> bool:
    vital = IMPORTANCE.get(word.strip().lower())
    if vital is None:
        raise DataError(f"{where}: importance is {word!r}; write vital or okay")
    return vital


def _support_of(given: Sequence[CitedSentence], where: Sequence[str]) -> tuple[Bools, Floats]:
    """Whether each row needs a citation or has one, and the credit of its citation; 0 without one."""
    needed = np.ones(len(given), dtype=bool)
    credit = np.zeros(len(given))
    for i, row in enumerate(given):
        word = row.support.strip().lower()
        if row.citation:
            credit[i] = _credit(row.support, "support", where[i])
        elif word == NEEDS_NONE:
            needed[i] = False
        elif word and CREDIT.get(word) != NONE:
            what = f"support is {row.support!r} without a citation"
            raise DataError(f"{where[i]}: {what}; name the citation, or leave support empty or write {NEEDS_NONE}")
    return needed, credit


def _refuse_empty(columns: Sequence[Sequence[str]], names: Sequence[str], where: Sequence[str]) -> None:
    """An error for a row without topic, run, or nugget or sentence."""
    for name, cells in zip(names, columns, strict=False):
        if "" in cells:
            raise DataError(f"{where[list(cells).index('')]}: {name} is empty; write its name")


def _joined_codes(*columns: tuple[Ints, int]) -> Ints:
    """Several columns of codes as one; each comes with the number of its codes."""
    joined = columns[0][0]
    for codes, size in columns[1:]:
        joined = joined * size + codes
    return joined


def _first_repeated(keys: Ints) -> int | None:
    """The first row whose key an earlier row has."""
    _, first = np.unique(keys, return_index=True)
    if len(first) == len(keys):
        return None
    repeated = np.ones(len(keys), dtype=bool)
    repeated[first] = False
    return int(np.flatnonzero(repeated)[0])


def _refuse_two_importances(key: Ints, vital: Bools, given: Sequence[AssignedNugget], where: Sequence[str]) -> None:
    """An error where a nugget of a topic is vital in one row and okay in another."""
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    other = np.flatnonzero(vital != vital[first[group]])
    if len(other):
        row = given[int(other[0])]
        what = f"nugget {row.nugget!r} of topic {row.topic!r} is vital in one row and okay in another"
        raise DataError(f"{where[int(other[0])]}: {what}; a nugget has one importance")


def _failed_remark(failed: int, rows: int) -> str:
    return f"{failed} of {rows} rows say failed: such an assignment counts as not supported, such an importance as okay"


def _of_assessor(table: T, assessor: str | None) -> T:
    present = table.assessors
    if assessor is None and len(present) > 1:
        names = ", ".join(repr(name) for name in present)
        raise UsageError(f"{table.name}: rows of {len(present)} assessors ({names}); name one (--assessor)")
    if assessor is None:
        return table
    if present == ("",):
        raise UsageError(f"{table.name}: the rows name no assessor ({assessor!r}); leave the assessor out")
    if assessor not in present:
        raise UsageError(f"{table.name}: no assessor {assessor!r}{did_you_mean(assessor, present)}")
    chosen: Callable[[Bools], T] = table.select
    return chosen(table.assessor == table.assessors.index(assessor))
