"""What is odd in judgments by intent, and what do they consist of? Intents that nobody can serve, odd probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.check.finding import Finding
from assay.core.arrays import Bools
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.intents import IntentQrels
from assay.io.intents import IntentFile, read_intent_qrels, read_intents

NAMED = 5
"""Intents that a finding names; the rest are counted."""
WHOLE = 0.99
"""Probabilities of a topic that sum to less leave intents out: files print few digits."""


@dataclass(frozen=True, eq=False)
class IntentFacts(Result):
    """Judgments by intent, topic by topic."""

    name: str
    topics: tuple[str, ...]
    intents: tuple[int, ...]
    answerable: tuple[int, ...]
    """Intents that have a relevant doc."""
    navigational: tuple[int, ...]
    judged: tuple[int, ...]
    relevant: tuple[int, ...]
    """Docs that are relevant to at least one intent."""
    several: tuple[int, ...]
    """Docs that are relevant to more than one."""

    def table(self) -> Table:
        """One row per topic."""
        columns = {"topic": "", "intents": "d", "with relevant docs": "d", "navigational": "d", "judged": "d"}
        columns |= {"relevant": "d", "to several intents": "d"}
        parts = (self.topics, self.intents, self.answerable, self.navigational, self.judged, self.relevant)
        rows = list(zip(*parts, self.several, strict=True))
        keys = {"with relevant docs": "answerable", "to several intents": "several"}
        several = f"{sum(self.several)} of {sum(self.relevant)} relevant docs serve more than one intent"
        return Table.of(columns, rows, caption=f"Judgments by intent: {self.name}", notes=[several], keys=keys)

    def record(self) -> dict[str, Any]:
        """The rows, and the number of topics."""
        return {**super().record(), "n": len(self.topics)}


def check_intents(
    path: str | Path, info: str | Path | None = None
) -> tuple[list[Finding], IntentFacts | None, Qrels | None]:
    """What is odd in judgments by intent and in the file of their intents, what they hold, and as plain judgments.

    The plain judgments have each doc's best grade over the intents: what runs can be checked against. A file that
    cannot be read is an error among the findings, and neither facts nor judgments are there.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "web.dqrels"
    >>> _ = file.write_text("1 1 a 1\\n1 2 b 0\\n")
    >>> found, facts, _ = check_intents(file)
    >>> [finding.what for finding in found]
    ["1 intents without a relevant doc, which are left out of scores ('2' of topic '1')"]
    """
    where = str(path)
    try:
        known = None if info is None else read_intents(info)
        qrels = read_intent_qrels(path, intents=info)
    except DataError as error:
        place, _, what = str(error).partition(": ")
        return [Finding(place, None, "error", what or str(error), "unreadable")], None, None
    found = [*_unserved(where, qrels), *_single(where, qrels)]
    if known is not None:
        found += _odd_probabilities(str(info), qrels, known)
    return found, _facts(qrels), plain_judgments(qrels)


def plain_judgments(qrels: IntentQrels) -> Qrels:
    """The judgments without their intents: each doc with its best grade over them."""
    best = qrels.grades.max(axis=1, initial=-1) if qrels.grades.shape[1] else np.zeros(len(qrels))
    return Qrels(qrels.topics, qrels.bounds, qrels.docs, best, name=qrels.name)


def _relevant(qrels: IntentQrels) -> list[Bools]:
    """Of each topic whether each judged doc is relevant to each intent: docs × intents of the topic."""
    tables = []
    for t, intents in enumerate(qrels.intents):
        rows = slice(int(qrels.bounds[t]), int(qrels.bounds[t + 1]))
        tables.append(qrels.grades[rows, : len(intents)] >= 1)
    return tables


def _unserved(where: str, qrels: IntentQrels) -> Iterator[Finding]:
    """Intents without a relevant doc."""
    odd = []
    for topic, intents, relevant in zip(qrels.topics, qrels.intents, _relevant(qrels), strict=True):
        relevant_docs = relevant.sum(axis=0)
        for i, intent in enumerate(intents):
            if relevant_docs[i] == 0:
                odd.append(f"{intent!r} of topic {topic!r}")
    if odd:
        what = f"{len(odd)} intents without a relevant doc, which are left out of scores ({_some(odd)})"
        yield Finding(where, None, "remark", what, "intents without a relevant doc", len(odd))


def _single(where: str, qrels: IntentQrels) -> Iterator[Finding]:
    """Topics with fewer than two intents, of which diversity says nothing."""
    odd = [topic for topic, intents in zip(qrels.topics, qrels.intents, strict=True) if len(intents) < 2]
    if odd:
        what = f"{len(odd)} topics with fewer than two intents ({_some([repr(topic) for topic in odd])})"
        yield Finding(where, None, "remark", what, "topics with fewer than two intents", len(odd))


def _odd_probabilities(where: str, qrels: IntentQrels, known: IntentFile) -> Iterator[Finding]:
    """Topics and intents that only one of the two files has, and probabilities that leave intents out."""
    judged = {(topic, intent) for topic, intents in zip(qrels.topics, qrels.intents, strict=True) for intent in intents}
    topics = set(qrels.topics)
    strange = sorted({topic for topic, _ in known.probabilities if topic not in topics})
    if strange:
        what = f"{len(strange)} topics that have no judgments ({_some([repr(topic) for topic in strange])})"
        yield Finding(where, None, "remark", what, "topics without judgments", len(strange))
    without = sorted(pair for pair in judged if pair not in known.probabilities)
    if without:
        names = [f"{intent!r} of topic {topic!r}" for topic, intent in without]
        what = f"{len(without)} judged intents without a probability, which count as 0 ({_some(names)})"
        yield Finding(where, None, "remark", what, "intents without a probability", len(without))
    totals: dict[str, float] = {}
    for (topic, _), probability in known.probabilities.items():
        totals[topic] = totals.get(topic, 0.0) + probability
    low = [f"{topic!r}: {total:.2f}" for topic, total in totals.items() if total < WHOLE]
    if low:
        what = f"{len(low)} topics whose probabilities sum to less than 1 ({_some(low)})"
        yield Finding(where, None, "remark", what, "probabilities below 1", len(low))


def _facts(qrels: IntentQrels) -> IntentFacts:
    relevant = _relevant(qrels)
    is_judged = qrels.judged()
    judged = []
    for t in range(len(qrels.topics)):
        rows = slice(int(qrels.bounds[t]), int(qrels.bounds[t + 1]))
        judged.append(int(is_judged[rows].sum()))
    return IntentFacts(
        name=qrels.name,
        topics=qrels.topics,
        intents=tuple(len(intents) for intents in qrels.intents),
        answerable=tuple(int(table.any(axis=0).sum()) for table in relevant),
        navigational=tuple(int(row.sum()) for row in qrels.navigational),
        judged=tuple(judged),
        relevant=tuple(int(table.any(axis=1).sum()) for table in relevant),
        several=tuple(int((table.sum(axis=1) > 1).sum()) for table in relevant),
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
