"""Judging with a journal: a session whose judgments are on the disk before the next doc is named.

Where it stands: session + journal → **desk** ⇄ a person. The command line asks the questions; what is asked, what an
answer may be and when it is enough is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.pooling.journal import Journal, Judgment
from assay.pooling.judging import Judging


@dataclass(frozen=True)
class NextDocs(Result):
    """The docs to judge next."""

    docs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """One row per doc, in the order of judging."""
        return Table.of({"topic": "", "doc": ""}, self.docs, caption="Judge next", notes=self.notes)


def next_docs(session: Judging, n: int = 10, *, confidence: float | None = None) -> NextDocs:
    """The next n docs of a session; with a confidence (order mtc) those that decide pairs not yet decided at it."""
    notes = [f"{session.recipe}; {session.judged()} docs are judged"]
    if confidence is not None:
        undecided = session.confidence().undecided(confidence)
        session.focus(undecided)
        pairs = int(undecided.sum()) // 2
        notes.append(f"{pairs} pairs of runs are not decided at {confidence}")
    docs = tuple(session.next(n))
    return NextDocs(docs, tuple(notes))


@dataclass
class Desk:
    """A session and the journal that keeps its judgments; the session begins with those that the journal holds."""

    session: Judging
    journal: Journal
    confidence: float | None = None
    """For the order mtc: every pair of runs decided at this probability is enough."""
    remarks: list[str] = field(default_factory=list)
    """What a person should know of the journal."""
    aside: set[tuple[str, str]] = field(default_factory=set)
    """Docs that are not asked again in this session."""

    def __post_init__(self) -> None:
        before, remark = self.journal.read()
        made = [judgment for judgment in before if judgment.grade >= 0]
        self.session.tell(made)
        if remark:
            self.remarks.append(remark)
        pooled = len(before) - len(made)
        if pooled:
            self.remarks.append(
                f"{self.journal.path}: {pooled} docs have grade -1 or less, which means not judged; they are asked"
            )

    def record(self, topic: str, doc: str, answer: str) -> None:
        """A judgment that the session accepts goes to the journal, and to the disk."""
        judgment = Judgment(topic, doc, grade_of(answer))
        self.session.tell([judgment])
        self.journal.append([judgment])

    def upcoming(self) -> tuple[str, str] | None:
        """The next doc to ask for; None when it is enough, and `remarks` then ends with the reason."""
        if self.confidence is not None:
            confidence = self.session.confidence()
            if confidence.reached(self.confidence):
                self.remarks.append(f"every pair of runs is decided at {self.confidence}")
                return None
            self.session.focus(confidence.undecided(self.confidence))
        offered = self.session.next(len(self.aside) + 1)
        for pair in offered:
            if pair not in self.aside:
                return pair
        reason = f"{len(self.aside)} docs were put aside" if self.aside else "every doc of the pools is judged"
        self.remarks.append(reason)
        return None

    def summary(self) -> str:
        """What has been judged, in one line."""
        judged = 0
        relevant = 0
        for judgments in self.session.judgments:
            judged += len(judgments)
            relevant += sum(grade >= self.session.rel for grade in judgments.values())
        return f"{judged} docs judged, {relevant} relevant"


def grade_of(answer: str) -> int:
    """The grade that a person wrote; negative grades are not judgments.

    >>> grade_of("2")
    2
    """
    try:
        grade = int(answer)
    except ValueError:
        raise UsageError(f"a grade is a whole number, not {answer!r}") from None
    if grade < 0:
        raise UsageError(f"grade {grade} means pooled and not judged; give 0 or more")
    return grade
