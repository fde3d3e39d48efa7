"""Crowd experiments: their tasks, who was given which, and the log of all answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Crowd experiments: their tasks, who was given which, and the log of all answers."""
    _experiments()
    _tasks()
    _assignments()
    _submissions()


def _experiments() -> None:
    op.create_table(
        "experiments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name="fk_experiments_collection_id"),
        sa.PrimaryKeyConstraint("id", name="pk_experiments"),
        sa.UniqueConstraint("name", name="uq_experiments_name"),
    )
    op.create_index("ix_experiments_collection_id", "experiments", ["collection_id"], unique=False)


def _tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("is_done", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], name="fk_tasks_experiment_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sa.UniqueConstraint("experiment_id", "task", name="uq_tasks_experiment_id"),
    )
    op.create_index("ix_tasks_place", "tasks", ["experiment_id", "place"], unique=False)


def _assignments() -> None:
    op.create_table(
        "assignments",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("given", sa.Double(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], name="fk_assignments_experiment_id"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_assignments_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
    )
    op.create_index("ix_assignments_task_id", "assignments", ["task_id"], unique=False)
    op.create_index("ix_assignments_worker", "assignments", ["experiment_id", "worker"], unique=False)


def _submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("assignment_id", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("failed", sa.JSON(), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignments.id"], name="fk_submissions_assignment_id"),
        sa.PrimaryKeyConstraint("number", name="pk_submissions"),
        sa.UniqueConstraint("id", name="uq_submissions_id"),
    )
    op.create_index("ix_submissions_assignment_id", "submissions", ["assignment_id"], unique=False)
