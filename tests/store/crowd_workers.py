"""Workers of crowd experiments for the tests: answers as the page of a task gives them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.crowd.task_answers import submit_code
from assay.store import Store
from assay.store.crowd_experiment import CrowdExperiment, GivenTask, Reply

DOCS = {doc: {"title": f"Doc {doc}", "text": f"text of {doc}"} for doc in "abcdefgh"}
GOLD = {"1": {"g": 0, "h": 2}, "2": {"e": 0, "f": 1}}
POOL = {"1": list("abcd"), "2": list("abcd")}


def experiment(store: Store, name: str = "x", **choices: Any) -> CrowdExperiment:
    """An experiment on two topics: four tasks of each, of two docs and two gold docs, with two labels per doc."""
    if "pets" not in store.collections:
        store.collections.add("pets", topics={"1": "cats", "2": "dogs"}, docs=DOCS)
    given: dict[str, Any] = {"docs": 4, "workers": 2, "seed": 1, **choices}
    return store.experiments.add(name, "pets", pool=POOL, gold=GOLD, **given)


def answer_rows(plan: dict[str, Any], labels: Sequence[float], **changes: Any) -> list[dict[str, Any]]:
    """The answers of a page, as its script makes them; changes: entries that are otherwise than it would write."""
    server = plan["server"]
    rows = []
    for position, (doc, label) in enumerate(zip(plan["docs"], labels, strict=True), 1):
        row: dict[str, Any] = {"topic": plan["topic"], "doc": doc["doc"], "worker": server["worker"], "label": label}
        if "other" in doc:
            row["other"] = doc["other"]["doc"]
        row |= {"task": plan["task"], "position": position, "seconds": 0.1, "attempt": server["attempt"]}
        rows.append({**row, "back": 0, "answer": "", **changes})
    code = changes.get("code", submit_code(rows))
    return [{**row, "code": code} for row in rows]


def right_labels(given: GivenTask) -> list[float]:
    """Labels from 0 to 100 that pass: gold docs in the right order; the others rise with their names."""
    return [float(ord(row.doc[0]) - 30) if row.gold is None else 20 + 30 * row.gold for row in given.rows]


def done(own: CrowdExperiment, worker: str, *, right: bool = True, id: str = "") -> Reply | None:
    """Do the next task of a worker; None where there is none."""
    given = own.given(worker)
    if given is None:
        return None
    labels = right_labels(given)
    if not right:
        labels = [100 - label for label in labels]
    plan = own.page_plan(given, "/")
    return own.answer(answer_rows(plan, labels), id=id or f"{given.id}-{given.attempt}")
