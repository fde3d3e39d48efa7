"""Exports of Label Studio as labels: a list of tasks, each with its data and the annotations of several people.

A choice, a rating or a number of an annotation is a label; `completed_by` is the worker, `lead_time` the seconds. Topic
and doc are fields of the task's data, under their usual names or under those that a person says (`meta.topic` is the
field `topic` within `meta`). An annotation that was skipped is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.core.errors import DataError
from assay.io.content import Content
from assay.io.json_values import json_lines
from assay.io.samples import Sample
from assay.io.sheet import Sheet, decoded, sheet_of_records

ANSWERS = ("choices", "rating", "number")
"""What a result of an annotation may hold that is a label."""
OWN = ("from_name", "completed_by", "label", "lead_time")


def sheet_of_tasks(content: Content, sample: Sample) -> Sheet:
    """One row for each answer of each annotation; a row is called by the place of its task in the file."""
    where = content.where
    if sample.syntax == "jsonl":
        tasks = list(json_lines(where, decoded(where, content.bytes())))
    else:
        tasks = list(enumerate(sample.value, 1))
    rows = []
    lines = []
    for line, task in tasks:
        for row in _rows(where, line, task):
            rows.append(row)
            lines.append(line)
    if not rows:
        raise DataError(f"{where}: no task has an annotation with {', '.join(ANSWERS)}; there are no labels")
    return sheet_of_records(where, rows, lines)


def refuse_several_answers(sheet: Sheet) -> None:
    """An error if annotations answer several questions and none is chosen."""
    names = sorted({row[sheet.place("from_name")] for row in sheet.rows})
    if len(names) > 1:
        what = f"annotations answer {len(names)} questions ({', '.join(names)})"
        raise DataError(f"{sheet.where}: {what}; choose one with --where from_name={names[0]} (where=...)")


def _rows(where: str, line: int, task: Any) -> Iterator[dict[str, Any]]:
    """The rows of one task."""
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise DataError.at(where, line, 'a task has no "data"; export the tasks as JSON')
    annotations = task.get("annotations")
    if not isinstance(annotations, list):
        raise DataError.at(where, line, 'a task has no list of "annotations"; export the tasks as JSON')
    data = dict(_fields(task["data"]))
    taken = {(f"data.{name}" if name in OWN else name): value for name, value in data.items()}
    for annotation in annotations:
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result", []), list):
            raise DataError.at(where, line, "an annotation has no list of results; export the tasks as JSON")
        if annotation.get("was_cancelled"):
            continue
        for result in annotation.get("result", []):
            label = _label(where, line, result)
            if label is not None:
                yield {
                    **taken,
                    "from_name": result.get("from_name", ""),
                    "completed_by": _worker(where, line, annotation.get("completed_by")),
                    "label": label,
                    "lead_time": annotation.get("lead_time"),
                }


def _fields(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a task's data; those within another are called by both names with a point between."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _fields(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _label(where: str, line: int, result: Any) -> Any:
    """The label of a result; None if it holds none."""
    value = result.get("value") if isinstance(result, dict) else None
    if not isinstance(value, dict):
        return None
    found = next((value[name] for name in ANSWERS if name in value), None)
    return one_of(where, line, found) if isinstance(found, list) else found


def one_of(where: str, line: int, answers: Sequence[Any]) -> Any:
    """The only one of several answers; none is an empty label, and several are an error."""
    if len(answers) > 1:
        what = f"{len(answers)} labels ({', '.join(map(str, answers[:5]))}) of one person for one doc"
        raise DataError.at(where, line, f"{what}; a label is one of them")
    return answers[0] if answers else ""


def _worker(where: str, line: int, person: Any) -> Any:
    """The person who made an annotation: an id, or an object with an email or an id."""
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    if person is None:
        raise DataError.at(where, line, 'an annotation has no "completed_by"; every label needs its worker')
    return person
