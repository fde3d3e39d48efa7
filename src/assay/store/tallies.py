"""How far is a campaign? What each person has done in it is counted with every answer, so that nobody counts all of it.

A row belongs to one person, so people who judge at once do not wait for each other; sums over people are those of the
campaign.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields

from assay.store.database import Database
from assay.store.judging_plan import JudgingPlan
from assay.store.many_rows import many_rows
from assay.store.schema import answers, items, judgments, sa, tallies

_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("campaign")
OF_CAMPAIGN = sa.select(tallies).where(tallies.c.campaign_id == _CAMPAIGN)
ANSWERS = sa.select(sa.func.coalesce(sa.func.sum(tallies.c.answers), 0)).where(tallies.c.campaign_id == _CAMPAIGN)
"""Answers that were given, late ones and those on gold docs included."""
JUDGMENTS = sa.select(sa.func.coalesce(sa.func.sum(tallies.c.judgments), 0)).where(tallies.c.campaign_id == _CAMPAIGN)
"""Rows of the log, which only grows."""
DOCS = sa.select(sa.func.count()).where(items.c.campaign_id == _CAMPAIGN, items.c.gold.is_(None))


@dataclass(frozen=True)
class Tally:
    """What a person has done in a campaign, or by how much that changes; the columns of the table."""

    judgments: int = 0
    answers: int = 0
    counted: int = 0
    places: int = 0
    done: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, name) + getattr(other, name) for name in COLUMNS))

    def __sub__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, name) - getattr(other, name) for name in COLUMNS))


COLUMNS = tuple(field.name for field in fields(Tally))


@dataclass(frozen=True)
class Counts:
    """How far a campaign is, in a few numbers: docs, those done, answers left, and answers of one person."""

    docs: int
    done: int
    left: int
    mine: int


class Tallies:
    """The tallies of one campaign."""

    def __init__(self, database: Database, campaign_id: int, plan: JudgingPlan) -> None:
        self._id = campaign_id
        self._plan = plan
        columns = ("campaign_id", "person_id", *COLUMNS)
        self._add = many_rows(database.engine.dialect.name, tallies, columns, returning=("person_id",), added=COLUMNS)
        self._docs: int | None = None

    def add(self, connection: sa.Connection, more: Iterable[tuple[int, Tally]]) -> None:
        """Count what people have done; in the order of their ids, so that two processes never wait for each other."""
        by_person: dict[int, Tally] = defaultdict(Tally)
        for person, tally in more:
            by_person[person] += tally
        rows = [
            {"campaign_id": self._id, "person_id": person, **asdict(by_person[person])} for person in sorted(by_person)
        ]
        if rows:
            self._add.insert(connection, rows)

    def counts(self, connection: sa.Connection, people: Sequence[int]) -> dict[int, Counts]:
        """The few numbers that assessors see with every doc, by person."""
        given = {"campaign": self._id}
        if self._docs is None:  # a campaign has its docs from the beginning
            self._docs = connection.execute(DOCS, given).scalar_one()
        rows = connection.execute(OF_CAMPAIGN, given).all()
        mine = {row.person_id: row.counted for row in rows}
        done = sum(row.done for row in rows)
        missing = self._docs * self._plan.labels - sum(row.places for row in rows)
        left = answers_left(missing, self._plan.budget, sum(row.answers for row in rows))
        return {person: Counts(self._docs, done, left, mine.get(person, 0)) for person in people}


def answers_left(missing: int, budget: int | None, spent: int) -> int:
    """Answers that are still to be given, or that the budget has left, whichever is less.

    >>> answers_left(10, None, 3), answers_left(10, 8, 3)
    (10, 5)
    """
    return missing if budget is None else max(0, min(missing, budget - spent))


def counted_again(connection: sa.Connection, campaign: int, labels: int) -> dict[int, Tally]:
    """The tallies of a campaign from its log, its answers and its items, by person."""
    given = {"campaign": campaign, "labels": labels}
    found: dict[int, Tally] = defaultdict(Tally)
    for row in connection.execute(_LOGGED, given):
        found[row.person_id] += Tally(judgments=row.judgments)
    for row in connection.execute(_ANSWERED, given):
        found[row.person_id] += Tally(answers=row.answers, counted=row.counted, places=row.places)
    for row in connection.execute(_LAST_ANSWERS, given):
        found[row.person_id] += Tally(done=row.done)
    return dict(found)


_LOGGED = (
    sa.select(judgments.c.person_id, sa.func.count().label("judgments"))
    .where(judgments.c.campaign_id == _CAMPAIGN)
    .group_by(judgments.c.person_id)
)
_COUNTED = sa.case((answers.c.counted, 1), else_=0)
_ANSWERED = (
    sa.select(
        answers.c.person_id,
        sa.func.count().label("answers"),
        sa.func.sum(_COUNTED).label("counted"),
        sa.func.sum(sa.case((items.c.gold.is_(None), _COUNTED), else_=0)).label("places"),
    )
    .join(items, items.c.id == answers.c.item_id)
    .where(answers.c.campaign_id == _CAMPAIGN)
    .group_by(answers.c.person_id)
)
_LATEST = (
    sa.select(sa.func.max(answers.c.judgment).label("number"))
    .where(answers.c.campaign_id == _CAMPAIGN, answers.c.counted)
    .group_by(answers.c.item_id)
    .subquery()
)
_LAST_ANSWERS = (
    sa.select(answers.c.person_id, sa.func.count().label("done"))
    .join(_LATEST, _LATEST.c.number == answers.c.judgment)
    .join(items, items.c.id == answers.c.item_id)
    .where(answers.c.campaign_id == _CAMPAIGN, items.c.gold.is_(None))
    .where(items.c.answers >= sa.bindparam("labels"))
    .group_by(answers.c.person_id)
)
"""Docs that have all their answers, by who gave the latest of them."""
