"""Labels of machine judges beside those of people, who has seen them, and which judgments came after that."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Labels of machine judges beside those of people, who has seen them, and which judgments came after that."""
    _machine_labels()
    _machine_seen()
    op.add_column("judgments", sa.Column("second_look", sa.Boolean(), nullable=False, server_default=sa.false()))


def _machine_labels() -> None:
    op.create_table(
        "machine_labels",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.Double(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_machine_labels_campaign_id"),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name="fk_machine_labels_item_id"),
        sa.PrimaryKeyConstraint("item_id", "judge", name="pk_machine_labels"),
    )
    op.create_index("ix_machine_labels_campaign_id", "machine_labels", ["campaign_id"], unique=False)


def _machine_seen() -> None:
    op.create_table(
        "machine_seen",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_machine_seen_campaign_id"),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name="fk_machine_seen_item_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_machine_seen_person_id"),
        sa.PrimaryKeyConstraint("item_id", "person_id", name="pk_machine_seen"),
    )
    op.create_index("ix_machine_seen_person", "machine_seen", ["campaign_id", "person_id"], unique=False)
