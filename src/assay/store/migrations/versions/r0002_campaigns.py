"""Judging campaigns: what is judged, who is asked, the log of judgments, and how they stand."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Judging campaigns: what is judged, who is asked, the log of judgments, and how they stand."""
    _campaigns()
    _campaign_runs()
    _items()
    _answers()
    _judgments()
    _reservations()


def _campaigns() -> None:
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name="fk_campaigns_collection_id"),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
        sa.UniqueConstraint("name", name="uq_campaigns_name"),
    )
    op.create_index("ix_campaigns_collection_id", "campaigns", ["collection_id"], unique=False)


def _campaign_runs() -> None:
    op.create_table(
        "campaign_runs",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_campaign_runs_campaign_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_campaign_runs_run_id"),
        sa.PrimaryKeyConstraint("campaign_id", "run_id", name="pk_campaign_runs"),
    )


def _items() -> None:
    op.create_table(
        "items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("other", sa.Text(), nullable=False),
        sa.Column("gold", sa.Double(), nullable=True),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_items_campaign_id"),
        sa.PrimaryKeyConstraint("id", name="pk_items"),
        sa.UniqueConstraint("campaign_id", "topic", "doc", "other", name="uq_items_campaign_id"),
    )
    op.create_index("ix_items_place", "items", ["campaign_id", "place"], unique=False)


def _answers() -> None:
    op.create_table(
        "answers",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("judgment", sa.Integer(), nullable=False),
        sa.Column("label", sa.Double(), nullable=True),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_answers_campaign_id"),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name="fk_answers_item_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_answers_person_id"),
        sa.PrimaryKeyConstraint("item_id", "person_id", name="pk_answers"),
    )
    op.create_index("ix_answers_person", "answers", ["campaign_id", "person_id"], unique=False)


def _judgments() -> None:
    op.create_table(
        "judgments",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("label", sa.Double(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("takes_back", sa.Text(), nullable=True),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_judgments_campaign_id"),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name="fk_judgments_item_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_judgments_person_id"),
        sa.PrimaryKeyConstraint("number", name="pk_judgments"),
        sa.UniqueConstraint("id", name="uq_judgments_id"),
    )
    op.create_index("ix_judgments_item_id", "judgments", ["item_id"], unique=False)
    op.create_index("ix_judgments_person", "judgments", ["campaign_id", "person_id"], unique=False)


def _reservations() -> None:
    op.create_table(
        "reservations",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_reservations_campaign_id"),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name="fk_reservations_item_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_reservations_person_id"),
        sa.PrimaryKeyConstraint("item_id", "person_id", name="pk_reservations"),
    )
    op.create_index("ix_reservations_person", "reservations", ["campaign_id", "person_id"], unique=False)
