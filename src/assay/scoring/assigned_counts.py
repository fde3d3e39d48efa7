"""How many nuggets and citations support each answer? Assignments counted, as arrays of runs × topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from assay.core.arrays import Bools, Ints
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.data.assignment_words import FULL, PARTIAL
from assay.data.assignments import Assignments, Bank, CitationSupport
from assay.measures.assigned_answers import NuggetCounts, ReportCounts, SupportCounts


class Counted(NamedTuple):
    """Counts of every answer, as arrays of runs × topics, and the answers that are not there."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    counts: Any
    absent: Bools
    remarks: tuple[str, ...]


def counted_nuggets(assigned: Assignments, bank: Bank | None = None) -> Counted:
    """How many nuggets each answer supports, by one assessor; all answers to a topic have the same nuggets."""
    topics = tuple(natural_order({*assigned.topics, *(bank or ())}))
    size = (len(assigned.runs), len(topics))
    place = {topic: i for i, topic in enumerate(topics)}
    column = np.array([place[topic] for topic in assigned.topics], dtype=np.int64)
    cell = assigned.run * len(topics) + column[assigned.topic]
    answered = np.bincount(cell, minlength=size[0] * size[1]).reshape(size) > 0
    for answer in assigned.without:
        answered[assigned.runs.index(answer.run), place[answer.topic]] = True
    if bank is None:
        vital = assigned.vital
        vital_in_topic, okay_in_topic = _nuggets_of_topics(assigned, column, len(topics))
        remarks: list[str] = []
        _refuse_other_nuggets(assigned, topics, cell, answered, vital_in_topic + okay_in_topic)
    else:
        vital, remarks = _importance_in_bank(assigned, bank)
        vital_in_topic = np.array([sum(bank[topic].values()) for topic in topics])
        okay_in_topic = np.array([len(bank[topic]) for topic in topics]) - vital_in_topic
        unassigned = int((answered * (vital_in_topic + okay_in_topic)).sum()) - len(assigned)
        if unassigned:
            remarks.append(f"{unassigned} nuggets of the bank have no assignment; they count as not supported")
    totals = {"vital": np.broadcast_to(vital_in_topic, size), "okay": np.broadcast_to(okay_in_topic, size)}
    found = {}
    for kind, rows in (("vital", vital), ("okay", ~vital)):
        found[f"{kind}_full"] = _tally(cell[rows & (assigned.credit == FULL)], size)
        found[f"{kind}_partial"] = _tally(cell[rows & (assigned.credit == PARTIAL)], size)
    counts = NuggetCounts(**totals, **found)
    return Counted(assigned.runs, topics, counts, ~answered, (*assigned.remarks, *remarks))


def _tally(cell: Ints, size: tuple[int, int]) -> Ints:
    return np.bincount(cell, minlength=size[0] * size[1]).reshape(size)


def _nuggets_of_topics(assigned: Assignments, column: Ints, topics: int) -> tuple[Ints, Ints]:
    """How many vital and how many okay nuggets stand with the answers to each topic."""
    key = column[assigned.topic] * len(assigned.nuggets) + assigned.nugget
    distinct, first = np.unique(key, return_index=True)
    topic = distinct // max(1, len(assigned.nuggets))
    is_vital = assigned.vital[first]
    return np.bincount(topic[is_vital], minlength=topics), np.bincount(topic[~is_vital], minlength=topics)


def _refuse_other_nuggets(
    assigned: Assignments, topics: Sequence[str], cell: Ints, answered: Bools, in_topic: Ints
) -> None:
    """An error where answers to a topic are held against different nuggets: their recall cannot be compared."""
    found = _tally(cell, (answered.shape[0], answered.shape[1]))
    other = np.argwhere(answered & (found != in_topic))
    if len(other):
        run, topic = other[0]
        what = f"run {assigned.runs[run]!r} has assignments of {found[run, topic]} of the {in_topic[topic]} nuggets of"
        what += f" topic {topics[topic]!r} that other runs have"
        raise DataError(f"{assigned.name}: {what}; give all nuggets of the topics as the bank (--bank)")


def _importance_in_bank(assigned: Assignments, bank: Bank) -> tuple[Bools, list[str]]:
    """Whether the nugget of each row is vital, as the bank says; one that is not in the bank is an error."""
    vital = np.zeros(len(assigned), dtype=bool)
    for i, (topic_at, nugget_at) in enumerate(zip(assigned.topic.tolist(), assigned.nugget.tolist(), strict=True)):
        topic = assigned.topics[topic_at]
        nugget = assigned.nuggets[nugget_at]
        if topic not in bank:
            raise DataError(f"{assigned.name}: topic {topic!r} has no nuggets in the bank; give the bank of all topics")
        if nugget not in bank[topic]:
            what = f"nugget {nugget!r} of topic {topic!r} is not in the bank"
            raise DataError(f"{assigned.name}: {what}; give the bank whose nuggets were assigned")
        vital[i] = bank[topic][nugget]
    for answer in assigned.without:
        if answer.topic not in bank:
            what = f"topic {answer.topic!r} has no nuggets in the bank"
            raise DataError(f"{assigned.name}: {what}; give the bank of all topics")
    others = int((vital != assigned.vital).sum())
    said = f"{others} assignments give their nuggets another importance than the bank; that of the bank counts"
    return vital, [said] if others else []


def counted_support(support: CitationSupport) -> Counted:
    """How many citations support each answer of one assessor, and how many of its sentences are supported."""
    size = (len(support.runs), len(support.topics))
    cell = support.answers()
    answered = _tally(cell, size) > 0
    key = cell * len(support.sentences) + support.sentence
    distinct, first, group = np.unique(key, return_index=True, return_inverse=True)
    of_sentence = distinct // len(support.sentences)
    needed = support.needed[first]
    cites = support.cites[first]
    best = np.zeros(len(distinct))
    np.maximum.at(best, group, support.credit)
    worst = np.ones(len(distinct))
    np.minimum.at(worst, group, support.credit)
    found = {
        "sentences": _tally(of_sentence[needed], size),
        "citations": _tally(cell[support.cites], size),
    }
    for name, cells, credit in (
        ("", cell[support.cites], support.credit[support.cites]),
        ("best_", of_sentence[cites], best[cites]),
        ("every_", of_sentence[cites], worst[cites]),
    ):
        found[f"{name}full"] = _tally(cells[credit == FULL], size)
        found[f"{name}partial"] = _tally(cells[credit == PARTIAL], size)
    return Counted(support.runs, support.topics, SupportCounts(**found), ~answered, support.remarks)


def counted_reports(nuggets: Counted, support: Counted) -> Counted:
    """Counts of nuggets and of support on the same runs and topics."""
    for run in sorted({*nuggets.runs} ^ {*support.runs}):
        has, lacks = ("nuggets", "support") if run in nuggets.runs else ("support", "nuggets")
        raise DataError(f"run {run!r} has {has} and no {lacks}; give both of the same runs")
    topics = tuple(natural_order({*nuggets.topics, *support.topics}))
    spread = [_on_topics(counted, nuggets.runs, topics) for counted in (nuggets, support)]
    counts = ReportCounts(spread[0][0], spread[1][0])
    absent = spread[0][1] | spread[1][1]
    return Counted(nuggets.runs, topics, counts, absent, (*nuggets.remarks, *support.remarks))


def _on_topics(counted: Counted, runs: Sequence[str], topics: Sequence[str]) -> tuple[Any, Bools]:
    """Counts in the order of these runs and topics, 0 for answers that are not there."""
    rows = [runs.index(run) for run in counted.runs]
    columns = [topics.index(topic) for topic in counted.topics]
    places = np.ix_(rows, columns)
    absent = np.ones((len(runs), len(topics)), dtype=bool)
    absent[places] = counted.absent
    spread = {}
    for field in fields(counted.counts):
        spread[field.name] = np.zeros((len(runs), len(topics)), dtype=np.int64)
        spread[field.name][places] = getattr(counted.counts, field.name)
    return type(counted.counts)(**spread), absent
