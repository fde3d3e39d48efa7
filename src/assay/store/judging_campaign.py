"""How do people judge together? Campaigns: a plan, items, and what each person is asked and says, kept by the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.agreement.result import AgreementResult
from assay.core.errors import UsageError
from assay.crowd.preference_pairs import Preferences
from assay.crowd.protocol import ProtocolCheck
from assay.crowd.quality import WorkerQuality
from assay.data import Labels, Qrels, Run
from assay.store.campaign_board import BoardSoFar, StopAdvice, Upcoming, board_so_far, stop_advice, upcoming
from assay.store.campaign_numbers import (
    Progress,
    TopicProgress,
    agreement_of,
    checked_by_plan,
    labels_of,
    preferences_of,
    progress_of,
    qrels_of,
    quality_of,
    topic_progress_of,
)
from assay.store.database import Database
from assay.store.judging_plan import JudgingPlan
from assay.store.judging_turns import Answered, JudgingTurns
from assay.store.judgment_log import Answer, JudgmentLog, Recorded, new_id
from assay.store.live_order import LiveOrder
from assay.store.machine_labels import MachineLabels
from assay.store.next_items import Asked, NextItems
from assay.store.people import People, Person
from assay.store.schema import answers, campaign_runs, campaigns, items, judgments, machine_labels, people, sa
from assay.store.shared_commits import Shared
from assay.store.stored_runs import StoredRun, StoredRuns, names_of
from assay.store.tallies import JUDGMENTS, Counts, Tallies

_OWN: sa.BindParameter[int] = sa.bindparam("campaign")
STATE = sa.select(
    campaigns.c.is_open,
    JUDGMENTS.scalar_subquery(),
    sa.select(sa.func.max(machine_labels.c.made)).where(machine_labels.c.campaign_id == _OWN).scalar_subquery(),
).where(campaigns.c.id == _OWN)
"""The log only grows, so its length says whether it has changed."""


@dataclass(frozen=True)
class Given:
    """A judgment of the log as a person looks back at it."""

    id: str
    number: int
    item: int
    topic: str
    doc: str
    other: str
    person: str
    kind: str
    label: float | None
    reason: str
    seconds: float | None
    takes_back: str | None
    counted: bool
    made: float
    second_look: bool = False
    """Whether the person had seen what machine judges say of the item."""
    stands: bool = False
    """Whether this is what the person says of the item now: of several judgments, the one that is exported."""


class JudgingCampaign:
    """One campaign. Every change is on the disk when the call returns."""

    def __init__(self, database: Database, row: Mapping[str, Any], runs: StoredRuns, who: People) -> None:
        self.database = database
        self._stored_runs = runs
        self._people = who
        self.id: int = row["id"]
        self.name: str = row["name"]
        self.collection: str = row["collection"]
        self.collection_id: int = row["collection_id"]
        self.made: float = row["made"]
        self.plan = JudgingPlan.of(row["plan"])
        self._tallies = Tallies(database, self.id, self.plan)
        self.log = JudgmentLog(database, self.id, self.name, self.plan, self._tallies)
        self.order = None if self.plan.order is None else LiveOrder(self.id, self.plan, self.read_runs)
        self._read: list[Run] | None = None
        self.machine = MachineLabels(self)
        next_items = NextItems(database, self.id, self.plan, self.log, self.order)
        self._turns = JudgingTurns(database, self._tallies, self.log, next_items)
        if self.order is not None:
            database.commits.when_not_kept(self.order.forget_latest)

    @property
    def is_open(self) -> bool:
        """Whether docs are still given out."""
        with self.database.reading() as connection:
            return connection.execute(sa.select(campaigns.c.is_open).where(campaigns.c.id == self.id)).scalar_one()

    def runs(self) -> list[StoredRun]:
        """The runs whose docs are judged."""
        wanted = sa.select(campaign_runs.c.run_id).where(campaign_runs.c.campaign_id == self.id)
        with self.database.reading() as connection:
            chosen = set(connection.execute(wanted).scalars())
        return [run for run in self._stored_runs.listed(self.collection) if run.id in chosen]

    def read_runs(self) -> list[Run]:
        """The runs themselves, under the names of `names_of`; they stay in memory."""
        if self._read is None:
            stored = self.runs()
            read = []
            for run, name in zip(stored, names_of(stored), strict=True):
                read.append(replace(self._stored_runs.read_stored(run), name=name))
            self._read = read
        return self._read

    def next(self, person: Person | str, n: int = 1, *, topic: str | None = None) -> list[Asked]:
        """The next n items for a person, kept for the person for a while; asked again, the same ones come.

        Fewer, or none, when no item has a place left for this person, the campaign is closed or the budget is spent.
        """
        return list(self._turns.asked(self._judge(person), n, topic))

    def judge(
        self, person: Person | str, item: int, label: Any, *, id: str | None = None, seconds: float | None = None
    ) -> Recorded:
        """A label for an item. Another label of the same person replaces the one before.

        id: made by who sends it, so that a judgment that is sent again counts once.
        """
        return self.answer(person, Answer(id or new_id(), "label", item, label, seconds=seconds)).recorded

    def cannot_judge(
        self, person: Person | str, item: int, reason: str, *, id: str | None = None, seconds: float | None = None
    ) -> Recorded:
        """The item cannot be judged, and why; it is never counted as a grade."""
        said = Answer(id or new_id(), "unjudgeable", item, reason=reason, seconds=seconds)
        return self.answer(person, said).recorded

    def skip(self, person: Person | str, item: int, *, id: str | None = None) -> Recorded:
        """Leave an item for later: it comes back to this person when nothing else is left."""
        return self.answer(person, Answer(id or new_id(), "skip", item)).recorded

    def undo(self, person: Person | str, judgment: str | None = None, *, id: str | None = None) -> Recorded:
        """Take a judgment back, by default the latest one of the person that stands."""
        return self.answer(person, Answer(id or new_id(), "undo", takes_back=judgment)).recorded

    def answer(self, person: Person | str, answer: Answer, *, n: int = 0, topic: str | None = None) -> Answered:
        """Record an answer, and with it the next n items for the person; all in one transaction."""
        return self.database.commits.written(self._work(self._judge(person), answer, n, topic))

    async def answer_soon(
        self, person: Person | str, answer: Answer, *, n: int = 0, topic: str | None = None
    ) -> Answered:
        """The same for an event loop, without holding a thread."""
        return await self.database.commits.soon(self._work(self._judge(person), answer, n, topic))

    def _work(self, person: Person, answer: Answer, n: int, topic: str | None) -> Shared[Answered]:
        return self._turns.answered(person, self._checked(answer), n, topic)

    def _checked(self, answer: Answer) -> Answer:
        """The answer with its label as a number of the scale."""
        if answer.kind == "unjudgeable" and not answer.reason.strip():
            raise UsageError("say why the doc cannot be judged")
        return replace(answer, label=self.plan.label_of(answer.label) if answer.kind == "label" else None)

    def given(self, person: Person | str, n: int = 20) -> list[Given]:
        """The latest judgments of a person that stand, the newest first."""
        who = self.person(person)
        own = (answers.c.campaign_id == self.id) & (answers.c.person_id == who.id)
        latest = sa.select(answers.c.judgment).where(own).order_by(answers.c.judgment.desc()).limit(n)
        return self._log(judgments.c.number.in_(latest), n, newest=True)

    def given_of(self, person: Person | str, item: int) -> Given | None:
        """What a person says of an item now; None where nothing stands."""
        of_item = (answers.c.item_id == item) & (answers.c.person_id == self.person(person).id)
        own = of_item & (answers.c.campaign_id == self.id)
        found = self._log(judgments.c.number.in_(sa.select(answers.c.judgment).where(own)), 1, newest=True)
        return found[0] if found else None

    def history(self, *, after: int = 0, n: int | None = None) -> list[Given]:
        """The log from a number on, in the order in which it came; all of it by default."""
        own = (judgments.c.campaign_id == self.id) & (judgments.c.number > after)
        return self._log(own, n, newest=False)

    def labels(self, *, gold: bool = True, first: bool = False) -> Labels:
        """All labels that count, as `assay crowd` reads them. gold: those of gold docs too.

        first: as they were before second looks, that is before people saw what machine judges say.
        """
        return labels_of(self, gold=gold, first=first)

    def preferences(self, *, gold: bool = True) -> Preferences:
        """Of a campaign that compares docs: which doc of each pair was preferred."""
        return preferences_of(self, gold=gold)

    def qrels(self, *, pooled: bool = False) -> Qrels:
        """One grade per doc from its labels; gold docs have the grade that is known. pooled: others as not judged."""
        return qrels_of(self, pooled=pooled)

    def progress(self) -> Progress:
        """How far the campaign is, by topic and by person, and what it has cost."""
        return progress_of(self)

    def topic_progress(self) -> tuple[TopicProgress, ...]:
        """How far each topic is, without the people."""
        return topic_progress_of(self)

    def counts(self, person: Person | str) -> Counts:
        """How far the campaign is, and the person, in a few numbers."""
        own = self.person(person).id
        with self.database.reading() as connection:
            return self._tallies.counts(connection, [own])[own]

    def state(self) -> tuple[Any, ...]:
        """What all numbers of the campaign rest on, from one small query: it changes whenever anything does."""
        with self.database.reading() as connection:
            return tuple(connection.execute(STATE, {"campaign": self.id}).one())

    def agreement(self, **how: Any) -> AgreementResult | None:
        """How far people agree; None until two have judged the same doc."""
        return agreement_of(self, **how)

    def quality(self) -> WorkerQuality | None:
        """What the labels of each person say of the person; None until there are labels."""
        return quality_of(self)

    def checked(self) -> ProtocolCheck | None:
        """Which people fail which check of the plan; None until there are labels."""
        return checked_by_plan(self)

    def leaderboard(self, measure: str = "AP", *, level: float = 0.95) -> BoardSoFar:
        """The runs by what is judged so far: means with intervals, and how far unjudged docs could move them."""
        return board_so_far(self, measure, level=level)

    def upcoming(self, n: int = 10) -> Upcoming:
        """The docs that come next, and why."""
        return upcoming(self, n)

    def stop_now(self, level: float = 0.95) -> StopAdvice:
        """Whether to stop: how sure the order of the runs is, what more judging would change, what is left to spend."""
        return stop_advice(self, level)

    def reopen(self) -> None:
        """Give docs out again."""
        self._set_open(True)

    def close(self) -> None:
        """Give no more docs out; what people hold can still be judged."""
        self._set_open(False)

    def item(self, topic: str, doc: str, other: str = "") -> Asked:
        """An item by topic and doc."""
        wanted = sa.select(items).where(
            items.c.campaign_id == self.id, items.c.topic == topic, items.c.doc == doc, items.c.other == other
        )
        with self.database.reading() as connection:
            row = connection.execute(wanted).first()
        if row is None:
            raise UsageError(f"campaign {self.name!r} has no doc {doc!r} of topic {topic!r}")
        return Asked(row.id, row.topic, row.doc, row.other)

    def _set_open(self, value: bool) -> None:
        with self.database.writing() as connection:
            connection.execute(sa.update(campaigns).where(campaigns.c.id == self.id).values(is_open=value))

    def _log(self, condition: Any, n: int | None, *, newest: bool) -> list[Given]:
        own = ("id", "number", "kind", "label", "reason", "seconds", "takes_back", "counted", "made", "second_look")
        columns: list[Any] = [judgments.c[name] for name in own]
        columns.append(sa.func.coalesce(answers.c.judgment == judgments.c.number, sa.false()).label("stands"))
        columns += [items.c.id.label("item"), items.c.topic, items.c.doc, items.c.other, people.c.name.label("person")]
        own_answer = (answers.c.item_id == judgments.c.item_id) & (answers.c.person_id == judgments.c.person_id)
        by_number = judgments.c.number.desc() if newest else judgments.c.number
        wanted = (
            sa.select(*columns)
            .join_from(judgments, items, items.c.id == judgments.c.item_id)
            .join(people, people.c.id == judgments.c.person_id)
            .outerjoin(answers, own_answer)
            .where(condition)
            .order_by(by_number)
            .limit(n)
        )
        with self.database.reading() as connection:
            return [Given(**row) for row in connection.execute(wanted).mappings()]

    def person(self, person: Person | str) -> Person:
        """A person by name."""
        return self._people[person] if isinstance(person, str) else person

    def _judge(self, person: Person | str) -> Person:
        """The person, who must be one of those that may judge."""
        who = self.person(person)
        if who.role == "reader" or who.ended is not None:
            raise UsageError(f"{who.name!r} may not judge; give the role assessor first")
        if self.plan.judges and who.name not in self.plan.judges:
            raise UsageError(f"{who.name!r} is not among those who judge in {self.name!r}")
        return who

    def __repr__(self) -> str:
        return f"JudgingCampaign({self.name!r}, {self.collection!r})"
