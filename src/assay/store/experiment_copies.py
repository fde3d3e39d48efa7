"""How does a crowd experiment leave a store and come back? As plain files, to the same answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError
from assay.io.files import write_whole
from assay.io.json_values import json_lines, json_value
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.experiment_plan import ExperimentPlan
from assay.store.experiment_schema import assignments, experiments, submissions, tasks
from assay.store.schema import sa

if TYPE_CHECKING:
    from assay.store.store import Store

OF_TASKS = ("place", "task", "topic", "rows", "is_done")
OF_ASSIGNMENTS = ("id", "worker", "state", "attempts", "code", "given", "until")
OF_SUBMISSIONS = ("id", "attempt", "answer", "rows", "state", "failed", "warnings", "made")


def write_experiment(experiment: CrowdExperiment, folder: Path) -> None:
    """Everything of an experiment as files in a new folder."""
    folder.mkdir(parents=True)
    facts: dict[str, Any] = {"name": experiment.name, "collection": experiment.collection, "key": experiment.key}
    facts |= {"plan": experiment.plan.record(), "is_open": experiment.is_open, "made": experiment.made}
    own = tasks.c.experiment_id == experiment.id
    with experiment.database.snapshot() as connection:
        dealt = connection.execute(sa.select(*_columns(tasks, OF_TASKS)).where(own).order_by(tasks.c.place))
        given = connection.execute(
            sa.select(tasks.c.task, *_columns(assignments, OF_ASSIGNMENTS))
            .join_from(assignments, tasks, tasks.c.id == assignments.c.task_id)
            .where(own)
            .order_by(assignments.c.given, assignments.c.id)
        )
        sent = connection.execute(
            sa.select(submissions.c.assignment_id.label("assignment"), *_columns(submissions, OF_SUBMISSIONS))
            .join_from(submissions, assignments, assignments.c.id == submissions.c.assignment_id)
            .where(assignments.c.experiment_id == experiment.id)
            .order_by(submissions.c.number)
        )
        write_whole(folder / "experiment.json", json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
        _write_lines(folder / "tasks.jsonl", dealt.mappings())
        _write_lines(folder / "assignments.jsonl", given.mappings())
        _write_lines(folder / "submissions.jsonl", sent.mappings())


def _columns(table: sa.Table, names: Iterable[str]) -> list[Any]:
    return [table.c[name] for name in names]


def _write_lines(path: Path, rows: Iterable[Mapping[Any, Any]]) -> None:
    lines = [json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows]
    write_whole(path, "".join(lines))


def read_experiment(store: Store, folder: Path) -> None:
    """An experiment of a folder that `write_experiment` wrote, with all answers."""
    facts = json_value(str(folder / "experiment.json"), _text(folder / "experiment.json"))
    plan = ExperimentPlan.of(facts["plan"])
    own = store.collections[facts["collection"]]
    values = {"name": facts["name"], "collection_id": own.id, "key": facts["key"], "plan": plan.record()}
    values |= {"is_open": facts["is_open"], "made": facts["made"]}
    with store.database.writing() as connection:
        added = connection.execute(sa.insert(experiments).values(values).returning(experiments.c.id)).scalar_one()
        numbers = {}
        for row in _lines(folder / "tasks.jsonl"):
            statement = sa.insert(tasks).values(experiment_id=added, **row).returning(tasks.c.id)
            numbers[row["task"]] = connection.execute(statement).scalar_one()
        for row in _lines(folder / "assignments.jsonl"):
            task = numbers[row.pop("task")]
            connection.execute(sa.insert(assignments).values(experiment_id=added, task_id=task, **row))
        for row in _lines(folder / "submissions.jsonl"):
            assignment = row.pop("assignment")
            connection.execute(sa.insert(submissions).values(assignment_id=assignment, **row))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in json_lines(str(path), _text(path))]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise DataError(f"{path}: the file is not there; export the store again") from None
