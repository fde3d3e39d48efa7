"""What does a store remember of crowd experiments? Their tasks, who was given which, and the log of all answers."""

from __future__ import annotations

from assay.store.schema import TABLES, sa

experiments = sa.Table(
    "experiments",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("collection_id", sa.ForeignKey("collections.id"), nullable=False, index=True),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("plan", sa.JSON, nullable=False),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
)
"""Crowd experiments; `plan` is all that an organiser chose, `key` is the secret of the link that workers get."""

tasks = sa.Table(
    "tasks",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("experiment_id", sa.ForeignKey("experiments.id"), nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("task", sa.Text, nullable=False),
    sa.Column("topic", sa.Text, nullable=False),
    sa.Column("rows", sa.JSON, nullable=False),
    sa.Column("is_done", sa.Boolean, nullable=False),
    sa.UniqueConstraint("experiment_id", "task"),
    sa.Index("ix_tasks_place", "experiment_id", "place"),
)
"""The tasks of an experiment, each for one worker; `rows` is a list of (doc, other doc or empty, gold or null)."""

assignments = sa.Table(
    "assignments",
    TABLES,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("experiment_id", sa.ForeignKey("experiments.id"), nullable=False),
    sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False, index=True),
    sa.Column("worker", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("given", sa.Double, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
    sa.Index("ix_assignments_worker", "experiment_id", "worker"),
)
"""Who was given which task; `id` is a secret of the worker's page. After `until` the task may go to somebody else."""

submissions = sa.Table(
    "submissions",
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("assignment_id", sa.ForeignKey("assignments.id"), nullable=False, index=True),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("rows", sa.JSON, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("failed", sa.JSON, nullable=False),
    sa.Column("warnings", sa.JSON, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
)
"""The log of all attempts; rows are added and never changed. `rows`: a list of (label, seconds, back), one per doc."""
