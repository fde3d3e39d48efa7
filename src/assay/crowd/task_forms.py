"""How does a worker answer? A slider, radio buttons, a magnitude box, or a choice between two docs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.agreement.scales import MAGNITUDE, PREFERENCE, S100, Scale, scale_of
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.io.sheet import Sheet, read_sheet

FORMS = ("slider", "radio", "magnitude", "pairs")
"""The forms of a task, by name."""


@dataclass(frozen=True)
class Form:
    """A form, the scale of its labels, what the worker is asked, and the preset value of a slider."""

    kind: str
    scale: Scale
    ask: str
    start: float | None = None

    def plan(self) -> dict[str, Any]:
        """What a page needs to show the form."""
        start = None if self.start is None else _plain(self.start)
        plan: dict[str, Any] = {"kind": self.kind, "start": start}
        if self.kind == "slider":
            plan |= {"low": _plain(self.scale.low), "high": _plain(self.scale.high)}
            plan["names"] = [f"{self.scale.low:g}: not relevant", f"{self.scale.high:g}: fully relevant"]
        elif self.kind == "pairs":
            plan |= {
                "values": [1, 0.5, 0],
                "names": ["Document 1 is better", "Both are as good", "Document 2 is better"],
            }
        elif self.kind == "radio":
            plan["values"] = [_plain(level) for level in self.scale.levels]
            plan["names"] = list(self.scale.names or [f"{level:g}" for level in self.scale.levels])
        return plan


def _plain(number: float) -> int | float:
    """Whole numbers without a point, as a page writes them."""
    return int(number) if float(number).is_integer() else number


def form_of(kind: str, scale: str | None = None) -> Form:
    """The form of that name; scale: of a slider (0–100 unless another is named) or of radio buttons.

    >>> form_of("slider").start, form_of("radio", "no<maybe<yes").plan()["names"]
    (50.0, ['no', 'maybe', 'yes'])
    """
    one_of("form", kind, FORMS)
    if kind in ("magnitude", "pairs"):
        if scale is not None:
            raise UsageError(f"the form {kind} has a scale of its own; leave {scale!r} out")
        if kind == "pairs":
            return Form(kind, PREFERENCE, "Which document tells more of what is looked for?")
        return Form(kind, MAGNITUDE, "How relevant is this document? Write a number above 0.")
    named = scale_of(scale) if scale else None
    if kind == "slider":
        chosen = named or S100
        if chosen.kind != "interval":
            raise UsageError(f"a slider needs a scale of numbers such as 0-100, not {chosen.name}; take radio buttons")
        return Form(kind, chosen, "How relevant is this document?", start=(chosen.low + chosen.high) // 2)
    if named is None:
        raise UsageError("radio buttons need a scale, e.g. 'not relevant<relevant<highly relevant' or 4")
    if not 2 <= len(named.levels) <= 9:
        raise UsageError(f"radio buttons for {len(named.levels)} levels; take 2 to 9, or a slider")
    return Form(kind, named, "How relevant is this document?")


@dataclass(frozen=True)
class TestQuestion:
    """A question on the topic, its options, and the one that is right."""

    text: str
    options: tuple[str, ...]
    right: str

    __test__ = False  # a name that begins with Test is no test


def read_questions(path: str | Path) -> dict[str, TestQuestion]:
    """{topic: question} of a table with the columns topic, question, options (separated by |) and answer."""
    return questions_in(read_sheet(path))


def questions_in(sheet: Sheet) -> dict[str, TestQuestion]:
    """{topic: question} of the rows of a table."""
    places = {name: sheet.place(name) for name in ("topic", "question", "options", "answer")}
    questions: dict[str, TestQuestion] = {}
    for line, row in zip(sheet.lines, sheet.rows, strict=True):
        topic = row[places["topic"]].strip()
        options = tuple(option.strip() for option in row[places["options"]].split("|"))
        right = row[places["answer"]].strip()
        if topic in questions:
            raise DataError.at(sheet.where, line, f"a second question for topic {topic!r}; keep one")
        if len(set(options)) < 2 or "" in options or len(options) != len(set(options)):
            raise DataError.at(sheet.where, line, f"options {row[places['options']]!r}; write two or more, e.g. yes|no")
        if right not in options:
            raise DataError.at(sheet.where, line, f"answer {right!r} is none of the options: {', '.join(options)}")
        questions[topic] = TestQuestion(row[places["question"]].strip(), options, right)
    return questions


def refuse_topics_without(what: str, topics: Mapping[str, Any], needed: list[str], where: str) -> None:
    """An error that names the first topics of the tasks that a file lacks."""
    absent = [topic for topic in needed if topic not in topics]
    if absent:
        shown = ", ".join(absent[:5])
        raise DataError(f"{where}: no {what} for {len(absent)} of {len(needed)} topics ({shown}); add them")
