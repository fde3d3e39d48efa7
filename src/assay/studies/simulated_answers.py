"""Answers of simulated assistants: nuggets that people assigned on few topics and a machine on all, and citations.

What is in the files is what nuggetizer writes; the truth is known, so that estimates can be held against it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.errors import UsageError
from assay.data.assignments import AssignedNugget, Assignments, CitationSupport, CitedSentence
from assay.io.files import write_whole
from assay.io.sheet import write_sheet

SKILLS = {"atlas": 0.9, "borea": 0.7, "cygnus": 0.6, "eridan": 0.1}
"""Assistants, and how well each answers."""
WORDS = ("not_support", "partial_support", "support")
GRADES = ("none", "partial", "full")
CUTS = (-0.25, 0.35)
"""Where an answer begins to have a nugget partially, and fully."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What was assigned to the answers of some assistants, and what people would have assigned on all topics."""

    people: Assignments
    machine: Assignments
    truth: Assignments
    support: CitationSupport


def simulate_answers(seed: int = 0, *, topics: int = 40, human_topics: int = 12, leniency: float = 0.35) -> Answers:
    """Answers of four assistants, assessed by people on some topics drawn at random and by a machine on all.

    leniency: how much better than people the machine thinks of an answer, in standard deviations of its quality.

    >>> made = simulate_answers(topics=6, human_topics=2)
    >>> len(made.people.topics), len(made.machine.topics), made.people.runs
    (2, 6, ('atlas', 'borea', 'cygnus', 'eridan'))
    """
    if not 1 <= human_topics <= topics:
        raise UsageError(f"{human_topics} human topics of {topics}; give between 1 and {topics}")
    rng = np.random.default_rng(seed)
    names = [f"t{i}" for i in range(1, topics + 1)]
    drawn = {names[i] for i in rng.choice(topics, human_topics, replace=False)}
    truth: list[AssignedNugget] = []
    seen: list[AssignedNugget] = []
    cited: list[CitedSentence] = []
    for topic in names:
        nuggets = int(rng.integers(6, 11))
        importance = ["vital" if rng.random() < 0.45 else "okay" for _ in range(nuggets)]
        ease = rng.normal(0, 0.4, nuggets)
        for run, skill in SKILLS.items():
            quality = skill - 0.5 + ease + rng.normal(0, 0.8, nuggets)
            by_machine = quality + leniency + rng.normal(0, 0.5, nuggets)
            for n in range(nuggets):
                row = (topic, run, f"fact {n + 1} about {topic}", importance[n])
                truth.append(AssignedNugget(*row, _word(quality[n])))
                seen.append(AssignedNugget(*row, _word(by_machine[n])))
            cited += _sentences(topic, run, skill, rng)
    people = [row for row in truth if row.topic in drawn]
    return Answers(
        people=Assignments.from_rows(people, name="people"),
        machine=Assignments.from_rows(seen, name="machine"),
        truth=Assignments.from_rows(truth, name="truth"),
        support=CitationSupport.from_rows(cited, name="support"),
    )


def _word(quality: float) -> str:
    return WORDS[int(np.searchsorted(CUTS, quality))]


def _sentences(topic: str, run: str, skill: float, rng: np.random.Generator) -> list[CitedSentence]:
    """Some sentences of an answer; a skilled assistant cites more of them, and docs that support them."""
    rows = []
    for s in range(1, int(rng.integers(3, 7))):
        citations = int(rng.binomial(2, 0.4 + 0.4 * skill))
        if not citations:
            rows.append(CitedSentence(topic, run, f"s{s}", "", ""))
        for c in range(1, citations + 1):
            grade = int(rng.binomial(2, 0.35 + 0.5 * skill))
            rows.append(CitedSentence(topic, run, f"s{s}", f"d{c}", GRADES[grade]))
    return rows


def write_answers(answers: Answers, folder: str | Path) -> None:
    """The files answers/people.jsonl and answers/machine.jsonl, as nuggetizer writes them, and answers/support.csv.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_answers(simulate_answers(topics=3, human_topics=2), folder)
    ...     sorted(path.name for path in Path(folder, "answers").iterdir())
    ['machine.jsonl', 'people.jsonl', 'support.csv']
    """
    base = Path(folder) / "answers"
    base.mkdir(parents=True, exist_ok=True)
    for assigned in (answers.people, answers.machine):
        write_whole(base / f"{assigned.name}.jsonl", "".join(_lines(assigned)))
    made = answers.support
    rows = []
    for i in range(len(made)):
        names = (made.topics[made.topic[i]], made.runs[made.run[i]], made.sentences[made.sentence[i]])
        grade = GRADES[int(2 * made.credit[i])] if made.cites[i] else ""
        rows.append((*names, made.citations[made.citation[i]], grade))
    write_sheet(base / "support.csv", CitedSentence._fields[:5], rows)


def _lines(assigned: Assignments) -> Iterable[str]:
    """A line for each answer."""
    by_answer: dict[tuple[str, str], list[dict[str, str]]] = {}
    for i, text in enumerate(assigned.items()):
        answer = (assigned.topics[assigned.topic[i]], assigned.runs[assigned.run[i]])
        importance = "vital" if assigned.vital[i] else "okay"
        word = WORDS[int(2 * assigned.credit[i])]
        nuggets = by_answer.setdefault(answer, [])
        nuggets.append({"text": text, "importance": importance, "assignment": word})
    for (topic, run), nuggets in by_answer.items():
        yield json.dumps({"query": f"question {topic}", "qid": topic, "run_id": run, "nuggets": nuggets}) + "\n"
