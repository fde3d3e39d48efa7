"""Does an answer that a server got pass, and what may its worker be told? The checks of the protocol, without secrets.

The same checks as `check_protocol` makes afterwards, so that what a server accepts is what `assay crowd check` accepts.
What the worker reads never says which docs are gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.crowd.protocol import Protocol, check_protocol
from assay.crowd.task_answers import Answer
from assay.crowd.task_forms import TestQuestion
from assay.crowd.tasks import BETWEEN, TaskRow
from assay.data import Labels

GOLD_PAIRS = "gold pairs"
"""The check of pairs: each gold pair is decided as expected."""


@dataclass(frozen=True)
class AttemptCheck:
    """The checks that an attempt fails, and a sentence for its worker on each; none where it passes."""

    failed: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether the attempt is accepted."""
        return not self.failed


def check_attempt(
    answer: Answer, planned: Sequence[TaskRow], rules: Protocol, question: TestQuestion | None
) -> AttemptCheck:
    """The checks of the rules on one answer of a task; planned: its rows, which say what is expected of gold docs.

    >>> planned = [TaskRow("t", "1", 1, "a", 0.0), TaskRow("t", "1", 2, "b", 1.0)]
    >>> rows = [{"label": label, "seconds": 3, "attempt": 1, "answer": ""} for label in (60, 40)]
    >>> check_attempt(Answer("", tuple(rows)), planned, Protocol(seconds=2), None).failed
    ('gold order',)
    """
    labels = _labels(answer, planned, question)
    failed = dict.fromkeys(failure.check for failure in check_protocol(labels, rules).failures)
    if planned[0].other:
        # Pairs have no order among each other: what is expected of each is known.
        failed.pop("gold order", None)
        if _is_gold_pair_wrong(answer, planned):
            failed[GOLD_PAIRS] = None
    warnings = [_said(check, labels, rules) for check in failed]
    return AttemptCheck(tuple(failed), tuple(warnings))


def _labels(answer: Answer, planned: Sequence[TaskRow], question: TestQuestion | None) -> Labels:
    """The answer as labels of the docs that were planned."""
    rows = []
    for given, wanted in zip(answer.rows, planned, strict=True):
        doc = BETWEEN.join((wanted.doc, wanted.other)) if wanted.other else wanted.doc
        rows.append((wanted.topic, doc, "worker", float(given["label"])))
    gold = [np.nan if wanted.gold is None else wanted.gold for wanted in planned]
    tested = None
    if question is not None:
        is_right = answer.rows[0]["answer"] == question.right
        tested = np.full(len(rows), float(is_right))
    return Labels.from_rows(
        rows,
        gold=np.array(gold, dtype=np.float64),
        seconds=np.array([given["seconds"] for given in answer.rows], dtype=np.float64),
        attempt=np.array([given["attempt"] for given in answer.rows], dtype=np.int64),
        tested=tested,
    )


def _is_gold_pair_wrong(answer: Answer, planned: Sequence[TaskRow]) -> bool:
    pairs = zip(answer.rows, planned, strict=True)
    return any(wanted.gold is not None and given["label"] != wanted.gold for given, wanted in pairs)


def _said(check: str, labels: Labels, rules: Protocol) -> str:
    """What a worker reads on a check; not a word of gold docs."""
    count = len(labels)
    if check == "seconds" and labels.seconds is not None and rules.seconds is not None:
        needed = count if rules.on_docs is None else min(rules.on_docs, count)
        long_enough = int((labels.seconds >= rules.seconds).sum())
        return f"Take at least {rules.seconds:g} seconds for {needed} of the {count}; so far {long_enough}."
    if check == "moved":
        moved = int((labels.label != rules.start).sum())
        return f"Move the slider for at least {min(rules.moved, count)} of the {count}; so far {moved}."
    if check == "test question":
        return "Read again what is looked for: the question on it was not answered right."
    return "Some answers do not fit what the documents say. Please read each document again."
