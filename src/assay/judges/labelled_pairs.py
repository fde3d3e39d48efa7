"""Which docs have a human grade, and what did each machine judge say of them?

Where the flow stands: human qrels, machine labels → **labelled pairs** → agreement, scores under each judge, estimates.
A pair is a doc of a topic. A label off the scale of its judge is listed and never used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.agreement.ratings import repeated
from assay.agreement.scales import S2, Scale, given_scale, scale_seen, usual_scale
from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.ids import Ids, coded
from assay.core.registry import did_you_mean
from assay.core.tables import Table
from assay.data import Labels, Qrels
from assay.data.topic_rows import counted
from assay.io.brought import labels_of, plain_qrels_of
from assay.io.column_names import Named, refuse_unused, shared_columns

HUMAN = "human"
"""The name under which the scale of the people is given."""
MOST_OFF = 0.01
"""A judge with a larger share of labels off the human scale is taken to answer on a scale of its own."""
SHOWN = 50
"""Labels off the scale that a table lists one by one."""
POOLED = -1
"""The grade of a doc that is in the pool and not judged."""

Scales = Scale | str | Mapping[str, Any] | None
"""One scale for everybody, or a scale for each judge (and for `human`), by name or as a Scale."""


@dataclass(frozen=True)
class OffScale:
    """A label that is not on the scale of its judge."""

    judge: str
    topic: str
    doc: str
    label: float
    line: int | None


@dataclass(frozen=True, eq=False)
class Labelled:
    """Every doc of a topic that a person or a machine labelled: `human` and `machine` are NaN where nobody did.

    >>> pairs = labelled({"1": {"a": 1, "b": 0}}, {"1": {"a": {"gpt": 1}, "c": {"gpt": 1}}})
    >>> pairs.docs.tolist(), pairs.human.tolist(), pairs.machine.tolist()
    (['a', 'b', 'c'], [1.0, 0.0, nan], [[1.0, nan, 1.0]])
    """

    topics: tuple[str, ...]
    topic: Ints
    """The topic of each pair, as a place in `topics`; ascending."""
    docs: Ids
    human: Floats
    judges: tuple[str, ...]
    machine: Floats
    """judges × pairs."""
    scale: Scale
    scales: tuple[Scale, ...]
    """The scale of each judge."""
    off_scale: tuple[OffScale, ...] = ()
    repeats: int = 0
    """Labels left out because the judge had labelled the doc before."""
    probabilities: Floats | None = None
    """Of each pair the probability with which it was drawn to be judged by a person, where that is known."""

    def __len__(self) -> int:
        return len(self.human)

    @cached_property
    def bounds(self) -> Ints:
        """Pairs `bounds[t]:bounds[t + 1]` are those of topic t."""
        return np.searchsorted(self.topic, np.arange(len(self.topics) + 1))

    @cached_property
    def by_people(self) -> Bools:
        """Which pairs a person judged."""
        return ~np.isnan(self.human)

    @cached_property
    def by_machine(self) -> Bools:
        """judges × pairs: which pairs a judge labelled."""
        return ~np.isnan(self.machine)

    def is_other_scale(self, judge: int) -> bool:
        """Whether a judge answers on another scale than the people."""
        return self.scales[judge].levels != self.scale.levels or self.scales[judge].high != self.scale.high

    def place(self, judge: str) -> int:
        """The number of a judge."""
        if judge not in self.judges:
            raise UsageError(f"no judge {judge!r}{did_you_mean(judge, self.judges)}")
        return self.judges.index(judge)

    def of_judges(self, names: Sequence[str]) -> Labelled:
        """The same pairs with these judges only."""
        places = [self.place(name) for name in names]
        return replace(
            self,
            judges=tuple(names),
            machine=self.machine[places],
            scales=tuple(self.scales[i] for i in places),
            off_scale=tuple(label for label in self.off_scale if label.judge in names),
        )

    def only(self, keep: Bools) -> Labelled:
        """Only these pairs; topics that have none of them are gone."""
        used, topic = np.unique(self.topic[keep], return_inverse=True)
        return replace(
            self,
            topics=tuple(self.topics[t] for t in used.tolist()),
            topic=topic,
            docs=self.docs.take(np.flatnonzero(keep)),
            human=self.human[keep],
            machine=self.machine[:, keep],
            probabilities=None if self.probabilities is None else self.probabilities[keep],
        )

    def compared(self) -> Labelled:
        """The pairs that people judged, of the topics on which a judge labelled any of them: what an audit rests on."""
        shared = self.by_people & self.by_machine.any(axis=0)
        if not shared.any():
            raise DataError(
                f"no doc has both a human grade and a machine label ({self._some_ids()}); "
                "check that topics and docs have the same ids in both files"
            )
        has_both = np.zeros(len(self.topics), dtype=bool)
        has_both[self.topic[shared]] = True
        return self.only(self.by_people & has_both[self.topic])

    def _some_ids(self) -> str:
        """A pair of each file, for an error."""
        people = np.flatnonzero(self.by_people)[:1]
        machines = np.flatnonzero(self.by_machine.any(axis=0))[:1]
        shown = []
        for who, rows in (("a person", people), ("a judge", machines)):
            for row in rows.tolist():
                doc = self.docs.take([row]).tolist()[0]
                shown.append(f"{who} judged {doc!r} of topic {self.topics[self.topic[row]]!r}")
        return ", ".join(shown)

    def qrels(self, grades: Floats, name: str = "qrels") -> Qrels:
        """The pairs as judgments with these grades; a pair without one is pooled and not judged."""
        known = np.where(np.isnan(grades), POOLED, grades)
        return Qrels(self.topics, self.bounds, self.docs, known, name=name)

    def off_scale_table(self) -> Table:
        """The labels that are off the scale of their judge, one by one."""
        rows = []
        for label in self.off_scale[:SHOWN]:
            rows.append((label.judge, label.topic, label.doc, label.label, label.line))
        notes = ["Labels off the scale are listed here and used nowhere."]
        if len(self.off_scale) > SHOWN:
            notes.append(f"The first {SHOWN} of {len(self.off_scale)} are shown.")
        return Table.of(
            {"judge": "", "topic": "", "doc": "", "label": "g", "line": "d"},
            rows,
            caption="Labels off the scale",
            notes=notes,
        )


def labelled(human: Any, machine: Any, *, scale: Scales = None, columns: Named = None) -> Labelled:
    """Human grades and machine labels of the same docs, side by side.

    human: judgments as `assay.evaluate` takes them. machine: labels as `assay.aggregate` takes them, where the worker
    is the judge, or judgments, which are one judge. scale: that of everybody, or {judge: scale}, with `human` for the
    people. Without one it is the scale that the human grades look like; a judge that gives only 0 and 1 is binary, and
    a judge of which more than one label in a hundred is off that scale is on the scale that its labels look like.
    columns: our column → that of the tables which have it.

    >>> labelled({"1": {"a": 2, "b": 0}}, {"1": {"a": {"gpt": 5}, "b": {"gpt": 0}}}, scale="0-2").off_scale[0].label
    5.0
    """
    shared = shared_columns(columns)
    qrels = plain_qrels_of(human, columns=shared)
    labels = machine_labels(machine, columns=shared)
    refuse_unused(shared, columns)
    if not (qrels.grades >= 0).any():
        raise DataError(f"{qrels.name}: no doc is judged (no grade is 0 or more); an audit needs human grades")
    if not len(labels):
        raise DataError(f"{labels.name}: there are no labels")
    return _joined(qrels, labels, scale)


def machine_labels(machine: Any, *, columns: Named = None) -> Labels:
    """Labels of machine judges from labels, or from judgments of one judge, which is named as they are."""
    if isinstance(machine, Qrels):
        return labels_of_qrels(machine)
    return labels_of(machine, columns=columns)


def labels_of_qrels(qrels: Qrels) -> Labels:
    """Judgments as the labels of one worker, who has their name; what is not judged has no label."""
    known = qrels.judged()
    docs = qrels.docs.tolist()
    topic_of_row = qrels.topic_of_row()
    rows = []
    for row in np.flatnonzero(known).tolist():
        rows.append((qrels.topics[topic_of_row[row]], docs[row], qrels.name, float(qrels.grades[row])))
    return Labels.from_rows(rows, name=qrels.name)


def _joined(qrels: Qrels, labels: Labels, scale: Scales) -> Labelled:
    again = repeated(labels)
    once = labels.select(~again)
    topics = tuple(natural_order({*qrels.topics, *labels.topics}))
    place = {topic: i for i, topic in enumerate(topics)}
    (of_people, of_labels), vocabulary = coded([qrels.docs, Ids.of(labels.docs)])
    width = max(1, len(vocabulary))

    topic_of_qrels = np.array([place[topic] for topic in qrels.topics], dtype=np.int64)
    topic_of_labels = np.array([place[topic] for topic in labels.topics], dtype=np.int64)
    people = topic_of_qrels[qrels.topic_of_row()] * width + of_people
    machines = topic_of_labels[once.topic] * width + of_labels[once.doc]
    pairs = np.unique(np.concatenate([people, machines]))

    human = np.full(len(pairs), np.nan)
    grades = np.where(qrels.judged(), qrels.grades, np.nan)
    human[np.searchsorted(pairs, people)] = grades
    machine = np.full((len(labels.workers), len(pairs)), np.nan)
    at = np.searchsorted(pairs, machines)
    machine[once.worker, at] = once.label
    human_scale, scales = _scales(grades, machine, labels.workers, scale)
    usable, off_scale = _on_scale(once, scales)
    machine[once.worker[~usable], at[~usable]] = np.nan
    return Labelled(
        topics=topics,
        topic=pairs // width,
        docs=vocabulary.take(pairs % width),
        human=human,
        judges=labels.workers,
        machine=machine,
        scale=human_scale,
        scales=scales,
        off_scale=off_scale,
        repeats=int(again.sum()),
        probabilities=_probabilities(qrels, np.searchsorted(pairs, people), len(pairs)),
    )


def _probabilities(qrels: Qrels, at: Ints, pairs: int) -> Floats | None:
    """Of each pair the probability of being drawn; NaN where the qrels do not hold the doc."""
    if qrels.probabilities is None:
        return None
    probabilities = np.full(pairs, np.nan)
    probabilities[at] = qrels.probabilities
    return probabilities


def _scales(grades: Floats, machine: Floats, judges: tuple[str, ...], asked: Scales) -> tuple[Scale, tuple[Scale, ...]]:
    """The scale of the people, and that of each judge."""
    named: dict[str, Scale | None] = {}
    everybody: Scale | None = None
    if isinstance(asked, Mapping):
        unknown = [name for name in asked if name != HUMAN and name not in judges]
        if unknown:
            raise UsageError(
                f"a scale is given for {unknown[0]!r}, which is no judge{did_you_mean(unknown[0], judges)}"
            )
        named = {name: given_scale(text) for name, text in asked.items()}
    else:
        everybody = given_scale(asked)
    known = grades[~np.isnan(grades)]
    human = named.get(HUMAN) or everybody or scale_seen(known)
    bad = known[human.outside(known)]
    if len(bad):
        raise DataError(f"human grade {bad[0]:g} is not on the scale {human.name} ({human.described()})")
    scales = []
    for judge, given in zip(judges, machine, strict=True):
        scales.append(named.get(judge) or everybody or judge_scale(given[~np.isnan(given)], human))
    return human, tuple(scales)


def judge_scale(labels: Floats, human: Scale) -> Scale:
    """The scale that the labels of a judge look like, given that of the people.

    >>> four = Scale.ordered(4)
    >>> [judge_scale(np.array(given), four).name for given in ([0.0, 1.0], [0.0, 3.0], [0.0, 5.0, 4.0], [0.5, 4.2])]
    ['S2', 'S4', 'S6', '0-5']
    """
    is_binary = bool(np.isin(labels, (0.0, 1.0)).all())
    if is_binary and human.high > 1:
        return S2
    off = human.outside(labels).mean() if len(labels) else 0.0
    if off <= MOST_OFF:
        return human
    is_whole = bool((labels == np.floor(labels)).all())
    usual = usual_scale(labels) if is_whole else None
    if usual is not None and usual.kind == "categories":
        return usual
    low = min(0.0, float(np.floor(labels.min())))
    high = max(human.high, float(np.ceil(labels.max())))
    return Scale.interval(low, high)


def _on_scale(labels: Labels, scales: Sequence[Scale]) -> tuple[Bools, tuple[OffScale, ...]]:
    """Which labels are on the scale of their judge, and the others one by one."""
    usable = np.ones(len(labels), dtype=bool)
    for judge, scale in enumerate(scales):
        rows = labels.worker == judge
        usable[rows] = ~scale.outside(labels.label[rows])
    off = []
    for row in np.flatnonzero(~usable).tolist():
        line = None if labels.lines is None else int(labels.lines[row])
        judge_name = labels.workers[labels.worker[row]]
        topic = labels.topics[labels.topic[row]]
        doc = labels.docs[labels.doc[row]]
        off.append(OffScale(judge_name, topic, doc, float(labels.label[row]), line))
    return usable, tuple(off)


def middle(scale: Scale) -> float:
    """The label from which on a doc counts as relevant where a scale is not that of the people: its upper half.

    >>> middle(S2), middle(Scale.ordered(6)), middle(Scale.interval(0, 5))
    (1.0, 3.0, 2.5)
    """
    half = (scale.low + scale.high) / 2
    return float(np.ceil(half)) if scale.kind == "categories" else half


def described_counts(pairs: Labelled) -> str:
    """How many docs people and machines labelled, in a sentence."""
    people = int(pairs.by_people.sum())
    only_machine = int((pairs.by_machine.any(axis=0) & ~pairs.by_people).sum())
    text = f"{counted(people, 'doc')} judged by people on {counted(len(pairs.topics), 'topic')}"
    if only_machine:
        text += f"; {counted(only_machine, 'doc')} labelled by a machine only"
    return text
