"""How do many people judge at once? The answers of those who wait, and what they are asked next, in one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.errors import UsageError
from assay.store.database import Database
from assay.store.judgment_log import Answer, JudgmentLog, Recorded, Sent
from assay.store.next_items import MOST_ASKED, Asked, Asking, NextItems, Reserved
from assay.store.people import Person
from assay.store.schema import sa
from assay.store.shared_commits import Shared
from assay.store.tallies import Counts, Tallies

PAUSES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.0)
"""Seconds after which items that others were at are looked at again."""


@dataclass(frozen=True)
class Following:
    """What a person is asked next, and how far the campaign and the person are."""

    items: tuple[Asked, ...]
    counts: Counts


@dataclass(frozen=True)
class Answered:
    """What the store says when an answer is on the disk."""

    recorded: Recorded
    following: Following | None = None
    """None where nothing was asked for."""

    @property
    def items(self) -> tuple[Asked, ...]:
        """The items that the person is asked next."""
        return () if self.following is None else self.following.items


@dataclass(frozen=True)
class _Turn:
    """An answer of a person, and the question for the next items; 0 of them is no question."""

    sent: Sent
    asking: Asking


@dataclass(frozen=True)
class _Undo:
    """A judgment that a person takes back, and the question for the next items."""

    answer: Answer
    asking: Asking


class JudgingTurns:
    """The turns of the people of one campaign. A person has one turn in a transaction."""

    def __init__(self, database: Database, tallies: Tallies, log: JudgmentLog, next_items: NextItems) -> None:
        self._db = database
        self._tallies = tallies
        self._log = log
        self._next = next_items

    def asked(self, person: Person, n: int, topic: str | None) -> tuple[Asked, ...]:
        """The next items of a person, who has no answer to give."""
        if not 1 <= n <= MOST_ASKED:
            raise UsageError(f"{n} docs to judge; ask for 1 to {MOST_ASKED}")
        self._next.prepare()
        work: Shared[Reserved] = Shared(self._asked_together, Asking(person, n, topic), apart=person.id)
        for pause in PAUSES:
            reserved = self._db.commits.written(work)
            if reserved.items or not reserved.was_busy:
                break
            time.sleep(pause)  # an item that somebody is at right now may have a place in a moment
        return reserved.items

    def answered(self, person: Person, answer: Answer, n: int, topic: str | None) -> Shared[Answered]:
        """The work that records an answer and asks for the next items; an answer that cannot be is an error at once."""
        if not 0 <= n <= MOST_ASKED:
            raise UsageError(f"{n} docs to judge; ask for 0 to {MOST_ASKED}")
        asking = Asking(person, n, topic)
        if answer.kind == "undo":
            return Shared(self._undone_together, _Undo(answer, asking), apart=person.id)
        return Shared(self._answered_together, _Turn(self._log.checked(person, answer), asking), apart=person.id)

    def _asked_together(self, connection: sa.Connection, asking: Sequence[Asking]) -> list[Reserved]:
        self._next.take_turns(connection, asking)
        return self._next.reserve(connection, asking)

    def _answered_together(self, connection: sa.Connection, turns: Sequence[_Turn]) -> list[Answered | Exception]:
        """All answers are recorded before anybody is asked more, so that an order knows them."""
        self._next.take_turns(connection, _who_ask(turns))
        said = self._log.record(connection, [turn.sent for turn in turns])
        kept = [turn for turn, one in zip(turns, said, strict=True) if isinstance(one, Recorded)]
        following = self._following(connection, kept)
        results: list[Answered | Exception] = []
        for turn, one in zip(turns, said, strict=True):
            if isinstance(one, Recorded):
                results.append(Answered(one, following.get(turn.asking.person.id)))
            else:
                results.append(one)
        return results

    def _undone_together(self, connection: sa.Connection, undos: Sequence[_Undo]) -> list[Answered]:
        self._next.take_turns(connection, _who_ask(undos))
        said = [self._log.take_back(connection, undo.asking.person, undo.answer) for undo in undos]
        following = self._following(connection, undos)
        return [Answered(one, following.get(undo.asking.person.id)) for undo, one in zip(undos, said, strict=True)]

    def _following(self, connection: sa.Connection, turns: Sequence[_Turn] | Sequence[_Undo]) -> dict[int, Following]:
        """What comes next by person, for those who ask for it."""
        asking = _who_ask(turns)
        if not asking:
            return {}
        reserved = self._next.reserve(connection, asking)
        counts = self._tallies.counts(connection, [one.person.id for one in asking])
        following = {}
        for one, found in zip(asking, reserved, strict=True):
            following[one.person.id] = Following(found.items, counts[one.person.id])
        return following


def _who_ask(turns: Sequence[_Turn] | Sequence[_Undo]) -> list[Asking]:
    return [turn.asking for turn in turns if turn.asking.n]
