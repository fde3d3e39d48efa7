"""Worked examples for the reference of measures: one short list, scored rank by rank, as on the slides of a lecture.

Every number is computed when the page is made: the list is cut after each rank and scored by the measure.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np

from assay.core.registry import Entry
from assay.data import IntentQrels, Qrels, Run, ScoreMatrix
from assay.scoring import evaluate

LIST = ("a", "x", "b", "c", "d")
GRADES = {"a": 1, "b": 3, "c": 0, "d": 2, "e": 1, "f": 0}
CHANCES = {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5, "e": 0.5, "f": 0.5}
WORDS = {"a": 200, "x": 800, "b": 400, "c": 100, "d": 300}
INTENTS = {"a": {"1": 1, "2": 1}, "b": {"1": 3}, "c": {}, "d": {"3": 2}, "e": {"2": 1}, "f": {}}
PROBABILITIES = {"1": 0.5, "2": 0.3, "3": 0.2}
TOPIC = "1"
CUTOFF = 5

INTRODUCTION = f"""## The example

Every measure is shown on one list. The first five docs of a run are **a, x, b, c, d**. Judged are a (grade 1), b (3),
c (0), d (2), and two docs that the run lacks, e (1) and f (0); x was not judged. So R = 4 docs are relevant, and the
ideal list is b, d, a, e. Each table has the score of the list cut after each rank: how the measure grows, or does not,
as a user reads on.

Measures of sampled judgments see the probabilities {", ".join(f"{doc} {chance:g}" for doc, chance in CHANCES.items())};
measures of time and cost see docs of {", ".join(f"{words} words ({doc})" for doc, words in WORDS.items())}; measures of
diversity see three intents of probability .5, .3 and .2, to which a is relevant (1 and 2), b (1), d (3) and e (2).
"""


@cache
def judged() -> Qrels:
    """The judgments of the example, with the probabilities that docs were drawn with."""
    plain = Qrels.from_dict({TOPIC: GRADES})
    chances = np.array([CHANCES[doc] for doc in GRADES])
    return Qrels(plain.topics, plain.bounds, plain.docs, plain.grades, chances)


@cache
def judged_by_intent() -> IntentQrels:
    """The same docs judged for three intents; intent 0 stands for none."""
    rows = []
    for doc, grades in INTENTS.items():
        for intent, grade in (grades or {"0": 0}).items():
            rows.append((TOPIC, intent, doc, grade))
    return IntentQrels.from_rows(rows, probabilities={(TOPIC, i): p for i, p in PROBABILITIES.items()})


def prefixes() -> list[Run]:
    """The list cut after each rank, as a run each."""
    return [Run.from_lists(f"first {size}", {TOPIC: LIST[:size]}) for size in range(1, len(LIST) + 1)]


def worked(entry: Entry[Any]) -> str:
    """The example of one measure: the list, and the score of what a user has read after each rank."""
    name = f"{entry.name}@{CUTOFF}" if entry.parameters.get("k") is inspect.Parameter.empty else entry.name
    scores = scored(name, entry).values[:, 0]
    ranks = [str(rank) for rank in range(1, len(LIST) + 1)]
    docs = [f"{doc} ({_judged_as(doc, entry)})" for doc in LIST]
    lines = [["rank", *ranks], ["---"] * (len(LIST) + 1), ["doc (grade)", *docs]]
    lines.append([f"`{name}` so far", *(f"{score:.4f}" for score in scores)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _judged_as(doc: str, entry: Entry[Any]) -> str:
    """The grade of a doc, or for measures of diversity its intents; a dash for a doc that was not judged."""
    if doc not in GRADES:
        return "–"
    if entry.facts.get("needs") != "intents":
        return str(GRADES[doc])
    intents = [f"intent {intent}: {grade}" for intent, grade in INTENTS[doc].items()]
    return ", ".join(intents) or "0"


def scored(measure: str, entry: Entry[Any]) -> ScoreMatrix:
    """The scores of the list cut after each rank, by a measure."""
    if entry.facts.get("needs") == "intents":
        return evaluate(prefixes(), judged_by_intent(), [measure])[0]
    words = {doc: float(count) for doc, count in WORDS.items()}
    return evaluate(prefixes(), judged(), [measure], lengths=words)[0]
