"""A crowd experiment as files that the command line reads: labels, who is accepted, rejected or gets a bonus, tasks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.crowd.acceptance import write_bonus, write_rejected
from assay.crowd.task_files import write_tasks
from assay.io.files import write_whole
from assay.io.sheet import write_sheet
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.experiment_standing import ExperimentStanding, checkup_of, rejected_tasks, standing_of

Writer = Callable[[CrowdExperiment, ExperimentStanding, Path], None]


def _labels(experiment: CrowdExperiment, standing: ExperimentStanding, path: Path) -> None:
    if not standing.answers.answers:
        raise DataError(f"experiment {experiment.name!r} has no answers yet; there is nothing to export")
    standing.answers.write(path)


def _accepted(experiment: CrowdExperiment, standing: ExperimentStanding, path: Path) -> None:
    accepted = standing.accepted()
    if not accepted.answers:
        raise DataError(f"experiment {experiment.name!r} has no accepted answers yet; there is nothing to export")
    accepted.write(path)


def _rejected(experiment: CrowdExperiment, standing: ExperimentStanding, path: Path) -> None:
    write_rejected(path, rejected_tasks(standing))


def _bonus(experiment: CrowdExperiment, standing: ExperimentStanding, path: Path) -> None:
    if experiment.plan.compares:
        raise UsageError("agreement with the others, which gives a bonus, is not measured of pairs; take workers")
    checkup = checkup_of(experiment, standing)
    write_bonus(path, () if checkup is None else checkup.accepted.bonus)


def _workers(experiment: CrowdExperiment, standing: ExperimentStanding, path: Path) -> None:
    header = ("worker", "topic", "task", "state", "attempts", "seconds", "back", "failed", "code")
    rows = []
    for one in standing.given:
        facts = [one.worker, one.topic, one.task, one.state, one.attempts, round(one.seconds, 1), one.back]
        rows.append([*facts, "; ".join(one.failed), one.code])
    write_sheet(path, header, rows)


def _tasks(experiment: CrowdExperiment, standing: ExperimentStanding, path: Path) -> None:
    write_tasks(path, standing.answers.tasks)


FILES: dict[str, Writer] = {
    "labels": _labels,
    "accepted": _accepted,
    "rejected": _rejected,
    "bonus": _bonus,
    "workers": _workers,
    "tasks": _tasks,
}
"""What can be taken out of an experiment: all labels, those of accepted tasks, rejected tasks, workers with a bonus,
tasks given with their codes, and the tasks as they were planned, which say which docs are gold."""


def experiment_file(experiment: CrowdExperiment, what: str) -> str:
    """The content of one of FILES, a CSV table."""
    one_of("file of an experiment", what, FILES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{what}.csv"
        FILES[what](experiment, standing_of(experiment), path)
        return path.read_text("utf-8")


def export_experiment(experiment: CrowdExperiment, target: Path) -> list[Path]:
    """All files of an experiment in a new folder."""
    if target.exists():
        raise UsageError(f"{target}: there is something already; give a new name for the folder")
    standing = standing_of(experiment)
    with tempfile.TemporaryDirectory() as aside:
        written = []
        for what in FILES:
            if what == "bonus" and experiment.plan.compares:
                continue
            if what == "accepted" and not standing.done:
                continue
            path = Path(aside) / f"{what}.csv"
            FILES[what](experiment, standing, path)
            written.append(path)
        target.mkdir()
        return [_moved(path, target) for path in written]


def _moved(path: Path, folder: Path) -> Path:
    target = folder / path.name
    write_whole(target, path.read_bytes())
    return target
