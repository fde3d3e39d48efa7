"""What have people said in a campaign, and how far is it? Labels and judgments out of it, progress, cost, agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.agreement.result import AgreementResult, agreement
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.aggregation import aggregate
from assay.crowd.preference_pairs import Preferences
from assay.crowd.protocol import ProtocolCheck, check_protocol
from assay.crowd.quality import WorkerQuality, worker_quality
from assay.data import Labels, Qrels
from assay.data.topic_rows import counted
from assay.pooling.voters import POOLED
from assay.store.judgment_log import standing
from assay.store.schema import answers, items, judgments, people, sa
from assay.store.tallies import answers_left

if TYPE_CHECKING:
    from assay.store.judging_campaign import JudgingCampaign


def labels_of(campaign: JudgingCampaign, *, gold: bool = True, first: bool = False) -> Labels:
    """The labels of a campaign that count, in the order in which they were given.

    first: as they were before people saw machine labels, where they did.
    """
    if campaign.plan.compares:
        raise UsageError(f"campaign {campaign.name!r} compares docs; ask for its preferences")
    rows = _counted(campaign, gold)
    before = first_labels(campaign) if first else {}
    extra: dict[str, Any] = {}
    seconds = np.array([np.nan if row.seconds is None else row.seconds for row in rows], dtype=np.float64)
    known = np.array([np.nan if row.gold is None else row.gold for row in rows], dtype=np.float64)
    if np.isfinite(seconds).any():
        extra["seconds"] = seconds
    if np.isfinite(known).any():
        extra["gold"] = known
    given = [(row.topic, row.doc, row.name, before.get((row.id, row.name), row.label)) for row in rows]
    return Labels.from_rows(given, name=campaign.name, **extra)


def preferences_of(campaign: JudgingCampaign, *, gold: bool = True) -> Preferences:
    """Which doc of each pair was preferred, in the order in which people said so."""
    if not campaign.plan.compares:
        raise UsageError(f"campaign {campaign.name!r} labels docs one by one; ask for its labels")
    pairs = [(row.topic, row.doc, row.other, row.name, row.label) for row in _counted(campaign, gold)]
    return Preferences.from_rows(pairs, name=campaign.name)


def _counted(campaign: JudgingCampaign, gold: bool) -> Sequence[Any]:
    """Answers with a label that count."""
    columns = (items.c.id, items.c.topic, items.c.doc, items.c.other, items.c.gold, people.c.name, answers.c.label)
    wanted = (
        sa.select(*columns, judgments.c.seconds)
        .join_from(answers, items, items.c.id == answers.c.item_id)
        .join(people, people.c.id == answers.c.person_id)
        .join(judgments, judgments.c.number == answers.c.judgment)
        .where(answers.c.campaign_id == campaign.id, answers.c.counted, answers.c.label.is_not(None))
        .order_by(answers.c.judgment)
    )
    if not gold:
        wanted = wanted.where(items.c.gold.is_(None))
    with campaign.database.reading() as connection:
        return connection.execute(wanted).all()


def first_labels(campaign: JudgingCampaign) -> dict[tuple[int, str], float]:
    """{(item, person): label} as it stood before the person saw machine labels, where there was a second look."""
    second = sa.select(judgments.c.item_id, judgments.c.person_id).where(
        judgments.c.campaign_id == campaign.id, judgments.c.second_look
    )
    log = (
        sa.select(judgments, people.c.name)
        .join(people, people.c.id == judgments.c.person_id)
        .where(judgments.c.campaign_id == campaign.id, judgments.c.second_look.is_(False))
        .where(sa.tuple_(judgments.c.item_id, judgments.c.person_id).in_(second))
        .order_by(judgments.c.item_id, judgments.c.person_id, judgments.c.number)
    )
    with campaign.database.reading() as connection:
        rows = connection.execute(log).all()
    before = {}
    for key, own in groupby(rows, key=lambda row: (row.item_id, row.name)):
        stack = standing(list(own))
        if stack and stack[-1].label is not None:
            before[key] = stack[-1].label
    return before


def qrels_of(campaign: JudgingCampaign, *, pooled: bool = False) -> Qrels:
    """One grade per doc by the aggregation of the plan; a doc without a label is not in it, or in it as not judged."""
    grades: dict[str, dict[str, float]] = {}
    if pooled:
        for topic, doc in _docs(campaign):
            grades.setdefault(topic, {})[doc] = POOLED
    for topic, docs in _aggregated(campaign).items():
        grades.setdefault(topic, {}).update(docs)
    for topic, doc, grade in _gold(campaign):
        grades.setdefault(topic, {})[doc] = grade
    if not grades:
        raise DataError(f"campaign {campaign.name!r} has no judgment yet")
    return Qrels.from_dict(grades, name=campaign.name)


def _aggregated(campaign: JudgingCampaign) -> dict[str, dict[str, float]]:
    """{topic: {doc: grade}} of the docs with labels, gold docs aside."""
    plan = campaign.plan
    if plan.compares:
        pairs = preferences_of(campaign, gold=False)
        return aggregate(pairs, plan.aggregated_by).qrels().to_dict() if len(pairs.labels) else {}
    labels = labels_of(campaign, gold=False)
    return aggregate(labels, plan.aggregated_by, scale=plan.scale_of_labels).qrels().to_dict() if len(labels) else {}


def _docs(campaign: JudgingCampaign) -> list[tuple[str, str]]:
    """All docs of a campaign."""
    wanted = sa.select(items.c.topic, items.c.doc, items.c.other).where(items.c.campaign_id == campaign.id)
    with campaign.database.reading() as connection:
        rows = connection.execute(wanted.order_by(items.c.place)).all()
    pairs = [(row.topic, row.doc) for row in rows]
    pairs += [(row.topic, row.other) for row in rows if row.other]
    return pairs


def _gold(campaign: JudgingCampaign) -> list[tuple[str, str, float]]:
    """Gold docs and their grades; on preference scales a gold pair gives no grade."""
    wanted = sa.select(items.c.topic, items.c.doc, items.c.gold).where(
        items.c.campaign_id == campaign.id, items.c.gold.is_not(None), items.c.other == ""
    )
    with campaign.database.reading() as connection:
        return [(row.topic, row.doc, row.gold) for row in connection.execute(wanted)]


@dataclass(frozen=True)
class TopicProgress:
    """How far a topic is: items, those with all their answers, answers in all, and those that could not be judged."""

    topic: str
    items: int
    done: int
    answers: int
    unjudgeable: int


@dataclass(frozen=True)
class PersonProgress:
    """What a person has done: labels that stand, docs that could not be judged, late ones, median seconds."""

    person: str
    labels: int
    unjudgeable: int
    late: int
    seconds: float | None


@dataclass(frozen=True)
class Progress(Result):
    """How far a campaign is, by topic and by person, and what it has cost."""

    labels_per_doc: int
    topics: tuple[TopicProgress, ...]
    people: tuple[PersonProgress, ...]
    budget: int | None
    price: float
    items_are: str = "docs"
    """What is judged: docs, or pairs of them."""

    @property
    def answers(self) -> int:
        """Answers that were given, late ones and those on gold docs included: what is paid for."""
        return sum(person.labels + person.unjudgeable + person.late for person in self.people)

    @property
    def items(self) -> int:
        """Docs or pairs to judge, gold docs aside."""
        return sum(topic.items for topic in self.topics)

    @property
    def done(self) -> int:
        """Those that have all their answers."""
        return sum(topic.done for topic in self.topics)

    @property
    def cost(self) -> float:
        """What the answers have cost."""
        return self.price * self.answers

    @property
    def left(self) -> int:
        """Answers that are still to be given, or that the budget has left, whichever is less."""
        given = sum(topic.answers for topic in self.topics)
        return answers_left(self.items * self.labels_per_doc - given, self.budget, self.answers)

    @property
    def cost_left(self) -> float:
        """What the answers that are left will cost."""
        return self.price * self.left

    def tables(self) -> list[Table]:
        """By topic, and by person."""
        columns = {"topic": "", self.items_are: "d", "done": "d", "answers": "d", "unjudgeable": "d"}
        rows = [(t.topic, t.items, t.done, t.answers, t.unjudgeable) for t in self.topics]
        wanted = counted(self.labels_per_doc, "answer")
        notes = [f"{self.done} of {self.items} {self.items_are} have {wanted}; answers left: {self.left}"]
        if self.price:
            notes.append(f"cost {self.cost:g}, left {self.cost_left:g}")
        keys = {self.items_are: "docs"}
        by_topic = Table.of(columns, rows, caption="Progress by topic", notes=notes, keys=keys)
        of_people = {"person": "", "labels": "d", "unjudgeable": "d", "late": "d", "median seconds": ".1f"}
        people_rows = [(p.person, p.labels, p.unjudgeable, p.late, p.seconds) for p in self.people]
        by_person = Table.of(of_people, people_rows, caption="Progress by person", notes=["gold docs included"])
        return [by_topic, by_person]

    def record(self) -> dict[str, Any]:
        """The tables, and the sums."""
        sums = {"items": self.items, "done": self.done, "answers": self.answers, "left": self.left}
        return {**super().record(), **sums, "cost": self.cost, "cost_left": self.cost_left}


def progress_of(campaign: JudgingCampaign) -> Progress:
    """How far a campaign is."""
    plan = campaign.plan
    return Progress(
        plan.labels, topic_progress_of(campaign), tuple(_people(campaign)), plan.budget, plan.price, plan.unit
    )


def topic_progress_of(campaign: JudgingCampaign) -> tuple[TopicProgress, ...]:
    """How far each topic is, in the order of judging."""
    plan = campaign.plan
    done = sa.case((items.c.answers >= plan.labels, 1), else_=0)
    by_topic = (
        sa.select(items.c.topic, sa.func.count(), sa.func.sum(done), sa.func.sum(items.c.answers))
        .where(items.c.campaign_id == campaign.id, items.c.gold.is_(None))
        .group_by(items.c.topic)
        .order_by(sa.func.min(items.c.place))
    )
    unjudgeable = (
        sa.select(items.c.topic, sa.func.count())
        .join_from(answers, items, items.c.id == answers.c.item_id)
        .where(answers.c.campaign_id == campaign.id, answers.c.label.is_(None), items.c.gold.is_(None))
        .group_by(items.c.topic)
    )
    with campaign.database.reading() as connection:
        topics = connection.execute(by_topic).all()
        broken = {row[0]: row[1] for row in connection.execute(unjudgeable)}
    return tuple(
        TopicProgress(topic, count, int(full), int(given), broken.get(topic, 0)) for topic, count, full, given in topics
    )


def _people(campaign: JudgingCampaign) -> list[PersonProgress]:
    wanted = (
        sa.select(people.c.name, answers.c.label, answers.c.counted, judgments.c.seconds)
        .join_from(answers, people, people.c.id == answers.c.person_id)
        .join(judgments, judgments.c.number == answers.c.judgment)
        .where(answers.c.campaign_id == campaign.id)
    )
    by_name: dict[str, list[Any]] = {}
    with campaign.database.reading() as connection:
        for row in connection.execute(wanted):
            by_name.setdefault(row.name, []).append(row)
    found = []
    for name, own in sorted(by_name.items()):
        in_time = [row for row in own if row.counted]
        labels = sum(row.label is not None for row in in_time)
        seconds = [row.seconds for row in own if row.seconds is not None]
        median = float(np.median(seconds)) if seconds else None
        found.append(PersonProgress(name, labels, len(in_time) - labels, len(own) - len(in_time), median))
    return found


def agreement_of(campaign: JudgingCampaign, **how: Any) -> AgreementResult | None:
    """Agreement as soon as two people have labelled the same doc; None before, and for preference pairs."""
    labels = _labels_or_none(campaign)
    if labels is None:
        return None
    item, _ = labels.items()
    if np.bincount(item).max() < 2:
        return None
    chosen = {"per_topic": False, **how}
    return agreement(labels, scale=campaign.plan.scale_of_labels, **chosen)


def _labels_or_none(campaign: JudgingCampaign) -> Labels | None:
    """The labels; None where there are none yet, and for campaigns that compare docs."""
    if campaign.plan.compares:
        return None
    labels = labels_of(campaign)
    return labels if len(labels) else None


def quality_of(campaign: JudgingCampaign) -> WorkerQuality | None:
    """What the labels of each person say of the person."""
    labels = _labels_or_none(campaign)
    if labels is None:
        return None
    return worker_quality(labels, scale=campaign.plan.scale_of_labels)


def checked_by_plan(campaign: JudgingCampaign) -> ProtocolCheck | None:
    """The labels held against the checks of the plan."""
    labels = _labels_or_none(campaign)
    if labels is None:
        return None
    return check_protocol(labels, campaign.plan.checks())
