"""What do machine judges say of the docs of a campaign, and where do people disagree with them?

Nobody is shown the machine labels of a doc before judging it. Who has judged it may ask for them; that is written down,
and what the person says of the doc from then on is a second look. The first judgment stays in the log.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Labels
from assay.io import read_labels
from assay.io.column_names import Named
from assay.store.campaign_numbers import first_labels
from assay.store.database import plain
from assay.store.people import Person
from assay.store.schema import answers, items, judgments, machine_labels, machine_seen, people, sa
from assay.store.stored_collections import batches

if TYPE_CHECKING:
    from assay.store.judging_campaign import JudgingCampaign

SHARE_OF_SCALE = 0.25
"""On a scale of numbers labels disagree when they are at least this share of the scale apart."""
RATIO = 2.0
"""On a magnitude scale labels disagree when one is at least this many times the other."""


@dataclass(frozen=True)
class Disagreement:
    """A doc that a person and machine judges see differently."""

    item: int
    topic: str
    doc: str
    person: str
    label: float
    """What the person says now."""
    machine: Mapping[str, float]
    """What each judge says."""
    gap: float
    """How far the farthest of them is from the person, in units of the least difference that counts."""
    is_relevance: bool
    """Whether the person and a judge differ on whether the doc is relevant."""
    looked_again: bool


@dataclass(frozen=True)
class JudgeCompared:
    """One machine judge beside people, by what they said before they saw its labels."""

    judge: str
    docs: int
    compared: int
    agree: int
    waiting: int
    looked_again: int
    changed: int


@dataclass(frozen=True)
class MachineComparison(Result):
    """Machine judges beside the people of a campaign."""

    judges: tuple[JudgeCompared, ...]

    def table(self) -> Table:
        """One row per judge; what a judge says of a single doc is not in it."""
        columns = {"judge": "", "docs": "d", "compared": "d", "agree": ".3f", "disagree": "d", "waiting": "d"}
        columns |= {"looked again": "d", "changed": "d"}
        rows = []
        for one in self.judges:
            share = one.agree / one.compared if one.compared else None
            counts = (one.compared - one.agree, one.waiting, one.looked_again, one.changed)
            rows.append((one.judge, one.docs, one.compared, share, *counts))
        notes = [
            "compared, agree, disagree: labels that people gave before they saw the judge's",
            "waiting: disagreements without a second look; changed: second looks that gave another label",
        ]
        return Table.of(columns, rows, caption="Machine judges beside people", notes=notes)


class MachineLabels:
    """The machine labels of one campaign."""

    def __init__(self, campaign: JudgingCampaign) -> None:
        self._campaign = campaign
        self._db = campaign.database

    def add(self, labels: Labels | str | Path, *, columns: Named = None) -> int:
        """Labels of machine judges, the worker being the judge; how many are of docs of the campaign.

        A label that a judge gave before is replaced. Docs that are not judged here are left out; if all are, or a label
        is not on the scale of the campaign, nothing is stored.
        """
        plan = self._campaign.plan
        if plan.compares:
            what = f"campaign {self._campaign.name!r} compares docs, and machine labels are of single docs"
            raise UsageError(f"{what}; make a campaign on another scale for them")
        read = labels if isinstance(labels, Labels) else read_labels(labels, columns=columns)
        item_of = self._items()
        made = time.time()
        rows: dict[tuple[int, str], dict[str, Any]] = {}
        columns_read = read.to_dict()
        given = zip(*(columns_read[name] for name in ("topic", "doc", "worker", "label")), strict=True)
        for row, (topic, doc, judge, label) in enumerate(given):
            try:
                value = plan.label_of(label)
            except UsageError as error:
                line = None if read.lines is None else int(read.lines[row])
                raise DataError.at(str(read.name), line, str(error)) from None
            item = item_of.get((topic, doc))
            if item is not None:
                key = (item, plain(judge, "judge"))
                values = {"item_id": item, "judge": judge, "campaign_id": self._campaign.id}
                rows[key] = values | {"label": value, "made": made}
        if not rows:
            raise DataError(f"{read.name}: none of its {len(read)} labels is of a doc of {self._campaign.name!r}")
        new = self._db.new(machine_labels)
        newer = {name: new.excluded[name] for name in ("label", "made")}
        statement = new.on_conflict_do_update(index_elements=["item_id", "judge"], set_=newer)
        with self._db.writing() as connection:
            for some in batches(rows.values(), 2000):
                connection.execute(statement, some)
        return len(rows)

    def _items(self) -> dict[tuple[str, str], int]:
        wanted = sa.select(items.c.id, items.c.topic, items.c.doc).where(items.c.campaign_id == self._campaign.id)
        with self._db.reading() as connection:
            return {(row.topic, row.doc): row.id for row in connection.execute(wanted)}

    def judges(self) -> dict[str, int]:
        """{judge: docs that it labelled}; empty without machine labels."""
        counted = sa.select(machine_labels.c.judge, sa.func.count()).group_by(machine_labels.c.judge)
        own = counted.where(machine_labels.c.campaign_id == self._campaign.id).order_by(machine_labels.c.judge)
        with self._db.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(own)}

    def show(self, person: Person | str, item: int) -> dict[str, float]:
        """{judge: label} of an item that the person has judged, which is from now on known to have been seen."""
        who = self._campaign.person(person)
        seen = {"item_id": item, "person_id": who.id, "campaign_id": self._campaign.id, "made": time.time()}
        first = self._db.new(machine_seen).values(seen).on_conflict_do_nothing()

        def work(connection: sa.Connection) -> dict[str, float]:
            self._refuse_unjudged(connection, who, item)
            connection.execute(first)
            return _said(connection, item)

        return self._db.commits.written(work)

    def seen(self, person: Person | str, item: int) -> dict[str, float] | None:
        """What the person has been shown of an item before; None where nothing was."""
        who = self._campaign.person(person)
        wanted = sa.select(machine_seen.c.item_id).where(
            machine_seen.c.item_id == item,
            machine_seen.c.person_id == who.id,
            machine_seen.c.campaign_id == self._campaign.id,
        )
        with self._db.reading() as connection:
            is_seen = connection.execute(wanted).first() is not None
            return _said(connection, item) if is_seen else None

    def _refuse_unjudged(self, connection: sa.Connection, who: Person, item: int) -> None:
        own = sa.select(answers.c.item_id).where(
            answers.c.item_id == item, answers.c.person_id == who.id, answers.c.campaign_id == self._campaign.id
        )
        if connection.execute(own).first() is None:
            raise UsageError("judge the doc first; what machine judges say of it is shown afterwards")

    def disagreements(self, person: Person | str | None = None) -> list[Disagreement]:
        """The labels of a person, or of everybody, that a machine judge disagrees with; the most telling first.

        First those that differ on whether the doc is relevant, then by how far they are apart.
        """
        rows = self._labelled(None if person is None else self._campaign.person(person))
        machine: dict[tuple[int, str], dict[str, float]] = {}
        people_rows = {}
        for row in rows:
            machine.setdefault((row.id, row.name), {})[row.judge] = row.machine
            people_rows[row.id, row.name] = row
        found = []
        for key, said in machine.items():
            row = people_rows[key]
            gap = max(self._gap(row.label, label) for label in said.values())
            if gap >= 1:
                relevant = row.label >= self._campaign.plan.relevant_from
                is_relevance = any((label >= self._campaign.plan.relevant_from) != relevant for label in said.values())
                place = (row.id, row.topic, row.doc, row.name, row.label)
                found.append(Disagreement(*place, said, gap, is_relevance, bool(row.second_look)))
        return sorted(found, key=lambda one: (not one.is_relevance, -one.gap, one.item, one.person))

    def queue(self, person: Person | str) -> list[Disagreement]:
        """The disagreements of a person that wait for a second look, the most telling first."""
        return [one for one in self.disagreements(person) if not one.looked_again]

    def _labelled(self, person: Person | None) -> Sequence[Any]:
        """A row for each label of a person that counts and each judge that labelled the same doc."""
        columns = (items.c.id, items.c.topic, items.c.doc, people.c.name, answers.c.label, judgments.c.second_look)
        wanted = (
            sa.select(*columns, machine_labels.c.judge, machine_labels.c.label.label("machine"))
            .join_from(answers, items, items.c.id == answers.c.item_id)
            .join(people, people.c.id == answers.c.person_id)
            .join(judgments, judgments.c.number == answers.c.judgment)
            .join(machine_labels, machine_labels.c.item_id == items.c.id)
            .where(answers.c.campaign_id == self._campaign.id, answers.c.label.is_not(None))
            .order_by(items.c.place, people.c.name, machine_labels.c.judge)
        )
        if person is not None:
            wanted = wanted.where(answers.c.person_id == person.id)
        with self._db.reading() as connection:
            return connection.execute(wanted).all()

    def _gap(self, one: float, other: float) -> float:
        """How far two labels are apart, in units of the least difference that is a disagreement."""
        scale = self._campaign.plan.scale_of_labels
        if scale.kind == "ratio":
            return float(abs(np.log(one / other)) / np.log(RATIO))
        least = SHARE_OF_SCALE * (scale.high - scale.low) if scale.kind == "interval" else 1.0
        return abs(one - other) / least

    def comparison(self) -> MachineComparison | None:
        """How far each machine judge agrees with people; None without machine labels."""
        judges = self.judges()
        if not judges:
            return None
        first = first_labels(self._campaign)
        counted: dict[str, list[int]] = {judge: [0, 0, 0, 0, 0] for judge in judges}
        for row in self._labelled(None):
            before = first.get((row.id, row.name), row.label) if row.second_look else row.label
            agrees = self._gap(before, row.machine) < 1
            looked = bool(row.second_look)
            counts = (True, agrees, not agrees and not looked, looked, looked and before != row.label)
            counted[row.judge] = [total + one for total, one in zip(counted[row.judge], counts, strict=True)]
        return MachineComparison(tuple(JudgeCompared(judge, judges[judge], *counted[judge]) for judge in judges))


def _said(connection: sa.Connection, item: int) -> dict[str, float]:
    """{judge: label} of an item."""
    wanted = sa.select(machine_labels.c.judge, machine_labels.c.label).where(machine_labels.c.item_id == item)
    return {row.judge: row.label for row in connection.execute(wanted.order_by(machine_labels.c.judge))}
