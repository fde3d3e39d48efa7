"""Docs, gold docs and test questions of an experiment: read from files, or from what a person writes into a form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.core.errors import DataError
from assay.crowd.task_files import pool_in, read_pool
from assay.crowd.task_forms import TestQuestion, questions_in, read_questions
from assay.io import read_qrels
from assay.io.content import Content
from assay.io.files import read_bytes
from assay.io.rows import number
from assay.io.samples import sample_of
from assay.io.sheet import decoded, sheet_in
from assay.store.experiment_plan import ExperimentPlan


def chosen_of_files(
    *, pool: Path | None, gold: Path | None, questions: Path | None, depth: int | None, **choices: Any
) -> dict[str, Any]:
    """What `store.experiments.add` takes, from files; a choice that is None is not made.

    consent and guidelines among the choices are text files.
    """
    made = {name: value for name, value in choices.items() if value is not None}
    for name in ("consent", "guidelines"):
        if name in made:
            made[name] = decoded(str(made[name]), read_bytes(made[name])).strip()
    if questions is not None:
        made["questions"] = read_questions(questions)
    docs = None if pool is None else read_pool(pool)
    known = None if gold is None else read_qrels(gold).to_dict()
    return {"pool": docs, "depth": depth, "gold": known, "plan": ExperimentPlan.of(made)}


def chosen_of_texts(*, pool: str, gold: str, questions: str, depth: int | None, **choices: Any) -> dict[str, Any]:
    """The same from the fields of a form; an empty one is not given, and docs take the place of a depth."""
    made = {name: value for name, value in choices.items() if value not in (None, "")}
    if questions.strip():
        made["questions"] = _questions(questions)
    docs = None
    if pool.strip():
        docs = pool_in(Content.of_bytes("docs", pool.encode()))
    known = gold_lines(gold) or None
    chosen_depth = depth if docs is None else None
    return {"pool": docs, "depth": chosen_depth, "gold": known, "plan": ExperimentPlan.of(made)}


def _questions(text: str) -> dict[str, TestQuestion]:
    content = Content.of_bytes("test questions", text.encode())
    return questions_in(sheet_in(content, sample_of(content)))


def gold_lines(text: str) -> Mapping[str, Mapping[str, float]]:
    """{topic: {doc: grade}} of lines: topic, doc and grade, or lines of a qrels file.

    >>> gold_lines("1 a 2\\n1 0 b 0")
    {'1': {'a': 2.0, 'b': 0.0}}
    """
    gold: dict[str, dict[str, float]] = {}
    for line, content in enumerate(text.splitlines(), 1):
        words = content.split()
        if not words:
            continue
        if len(words) not in (3, 4):
            raise DataError.at("gold", line, f"{len(words)} words; a line is topic, doc and grade")
        grade = number(words[-1])
        if grade is None or not abs(grade) < float("inf"):
            raise DataError.at("gold", line, f"grade {words[-1]!r} is no number; write e.g. 0 or 1")
        gold.setdefault(words[0], {})[words[-2]] = grade
    return gold
