"""What each person has done in a campaign, counted with every answer; an index of the items that wait."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

HAS_LABEL = sa.text("gold IS NOT NULL")


def upgrade() -> None:
    """What each person has done in a campaign, counted with every answer; an index of the items that wait."""
    _indexes()
    _tallies()
    connection = op.get_bind()
    plans = sa.table("campaigns", sa.column("id", sa.Integer()), sa.column("plan", sa.JSON()))
    for row in connection.execute(sa.select(plans)).all():
        connection.execute(sa.text(FILL), {"campaign": row.id, "labels": row.plan["labels"]})


def _indexes() -> None:
    op.drop_index("ix_items_place", "items")
    op.create_index("ix_items_open", "items", ["campaign_id", "answers", "place"], unique=False)
    op.create_index("ix_items_gold", "items", ["campaign_id"], sqlite_where=HAS_LABEL, postgresql_where=HAS_LABEL)
    op.drop_index("ix_judgments_person", "judgments")
    op.create_index("ix_judgments_person", "judgments", ["campaign_id", "person_id", "kind"], unique=False)
    op.create_index("ix_judgments_number", "judgments", ["campaign_id", "number"], unique=False)
    op.drop_index("ix_answers_person", "answers")
    op.create_index("ix_answers_person", "answers", ["campaign_id", "person_id", "judgment"], unique=False)


def _tallies() -> None:
    op.create_table(
        "tallies",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("judgments", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("counted", sa.Integer(), nullable=False),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name="fk_tallies_campaign_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_tallies_person_id"),
        sa.PrimaryKeyConstraint("campaign_id", "person_id", name="pk_tallies"),
    )


FILL = """
INSERT INTO tallies (campaign_id, person_id, judgments, answers, counted, places, done)
SELECT :campaign, logged.person_id, logged.judgments,
    coalesce(answered.answers, 0), coalesce(answered.counted, 0), coalesce(answered.places, 0), coalesce(last.done, 0)
FROM (
    SELECT person_id, count(*) AS judgments FROM judgments WHERE campaign_id = :campaign GROUP BY person_id
) AS logged
LEFT JOIN (
    SELECT answers.person_id, count(*) AS answers,
        sum(CASE WHEN answers.counted THEN 1 ELSE 0 END) AS counted,
        sum(CASE WHEN answers.counted AND items.gold IS NULL THEN 1 ELSE 0 END) AS places
    FROM answers JOIN items ON items.id = answers.item_id
    WHERE answers.campaign_id = :campaign GROUP BY answers.person_id
) AS answered ON answered.person_id = logged.person_id
LEFT JOIN (
    SELECT answers.person_id, count(*) AS done
    FROM answers JOIN items ON items.id = answers.item_id
    WHERE answers.campaign_id = :campaign AND items.gold IS NULL AND items.answers >= :labels
        AND answers.judgment IN (
            SELECT max(judgment) FROM answers WHERE campaign_id = :campaign AND counted GROUP BY item_id
        )
    GROUP BY answers.person_id
) AS last ON last.person_id = logged.person_id
"""
"""The latest answer of a doc that has all its answers is counted as the one that finished it."""
