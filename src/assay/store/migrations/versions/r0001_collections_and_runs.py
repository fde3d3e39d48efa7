"""Collections, versions of judgments, runs, scores, reference sets, published results and people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Collections, versions of judgments, runs, scores, reference sets, published results and people."""
    _about()
    _collections()
    _people()
    _published()
    _docs()
    _qrels()
    _reference_sets()
    _runs()
    _topics()
    _matches()
    _reference_runs()
    _results()
    _scores()


def _about() -> None:
    op.create_table(
        "about",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_about"),
    )


def _collections() -> None:
    op.create_table(
        "collections",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("lookup", sa.Text(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_collections"),
        sa.UniqueConstraint("name", name="uq_collections_name"),
    )


def _people() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=True),
        sa.Column("made", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint("name", name="uq_people_name"),
        sa.UniqueConstraint("token_hash", name="uq_people_token_hash"),
    )


def _published() -> None:
    op.create_table(
        "published",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("paper", sa.Text(), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("year", sa.Double(), nullable=True),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("query_type", sa.Text(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("significant", sa.Boolean(), nullable=True),
        sa.Column("excluded", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_published"),
    )
    op.create_index("ix_published_collection", "published", ["collection"], unique=False)


def _docs() -> None:
    op.create_table(
        "docs",
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name="fk_docs_collection_id"),
        sa.PrimaryKeyConstraint("collection_id", "doc", name="pk_docs"),
    )


def _qrels() -> None:
    op.create_table(
        "qrels",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("topics", sa.Integer(), nullable=False),
        sa.Column("pooled", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("relevant", sa.Integer(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name="fk_qrels_collection_id"),
        sa.PrimaryKeyConstraint("id", name="pk_qrels"),
        sa.UniqueConstraint("collection_id", "hash", name="uq_qrels_hash"),
        sa.UniqueConstraint("collection_id", "version", name="uq_qrels_collection_id"),
    )


def _reference_sets() -> None:
    op.create_table(
        "reference_sets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name="fk_reference_sets_collection_id"),
        sa.PrimaryKeyConstraint("id", name="pk_reference_sets"),
        sa.UniqueConstraint("collection_id", "name", name="uq_reference_sets_collection_id"),
    )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("team", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("date", sa.Text(), nullable=False),
        sa.Column("manual", sa.Boolean(), nullable=True),
        sa.Column("query_type", sa.Text(), nullable=False),
        sa.Column("paper", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("topics", sa.Integer(), nullable=False),
        sa.Column("docs", sa.Integer(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name="fk_runs_collection_id"),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_runs_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("hash", name="uq_runs_hash"),
    )
    op.create_index("ix_runs_collection_id", "runs", ["collection_id"], unique=False)


def _topics() -> None:
    op.create_table(
        "topics",
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name="fk_topics_collection_id"),
        sa.PrimaryKeyConstraint("collection_id", "topic", name="pk_topics"),
    )


def _matches() -> None:
    op.create_table(
        "matches",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("qrels_id", sa.Integer(), nullable=False),
        sa.Column("missing", sa.LargeBinary(), nullable=False),
        sa.Column("seen", sa.LargeBinary(), nullable=False),
        sa.Column("unjudged", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["qrels_id"], ["qrels.id"], name="fk_matches_qrels_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_matches_run_id"),
        sa.PrimaryKeyConstraint("run_id", "qrels_id", name="pk_matches"),
    )


def _reference_runs() -> None:
    op.create_table(
        "reference_runs",
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_reference_runs_run_id"),
        sa.ForeignKeyConstraint(["set_id"], ["reference_sets.id"], name="fk_reference_runs_set_id"),
        sa.PrimaryKeyConstraint("set_id", "run_id", name="pk_reference_runs"),
    )


def _results() -> None:
    op.create_table(
        "results",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("qrels_id", sa.Integer(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["qrels_id"], ["qrels.id"], name="fk_results_qrels_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_results_run_id"),
        sa.PrimaryKeyConstraint("address", name="pk_results"),
    )


def _scores() -> None:
    op.create_table(
        "scores",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("qrels_id", sa.Integer(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("ties", sa.Text(), nullable=False),
        sa.Column("per_topic", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["qrels_id"], ["qrels.id"], name="fk_scores_qrels_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_scores_run_id"),
        sa.PrimaryKeyConstraint("run_id", "qrels_id", "settings", name="pk_scores"),
    )
