"""What does a store remember? Its tables, one schema for SQLite and PostgreSQL; `migrations/` brings it there."""

from __future__ import annotations

from assay.core.errors import MissingExtra

try:
    import sqlalchemy as sa
except ImportError:
    raise MissingExtra("sqlalchemy", "web") from None

TABLES = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)
HEAD = "0005"
"""The newest revision of the schema."""

about = sa.Table(
    "about",
    TABLES,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""Facts of the store itself: its id, when it was made, where its files are."""

people = sa.Table(
    "people",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("token_hash", sa.Text, unique=True),
    sa.Column("made", sa.Double, nullable=False),
    sa.Column("ended", sa.Double),
)
"""Who may do what. Tokens are stored as hashes only."""

collections = sa.Table(
    "collections",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("title", sa.Text, nullable=False, default=""),
    sa.Column("description", sa.Text, nullable=False, default=""),
    sa.Column("year", sa.Integer),
    sa.Column("measure", sa.Text, nullable=False, default="AP"),
    sa.Column("lookup", sa.Text, nullable=False, default=""),
    sa.Column("made", sa.Double, nullable=False),
)
"""A corpus with topics. `lookup` is the file or dataset that has the texts of docs which are not stored."""

topics = sa.Table(
    "topics",
    TABLES,
    sa.Column("collection_id", sa.ForeignKey("collections.id"), primary_key=True),
    sa.Column("topic", sa.Text, primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("fields", sa.JSON, nullable=False),
)
"""Texts of topics, in the order of their file."""

docs = sa.Table(
    "docs",
    TABLES,
    sa.Column("collection_id", sa.ForeignKey("collections.id"), primary_key=True),
    sa.Column("doc", sa.Text, primary_key=True),
    sa.Column("fields", sa.JSON, nullable=False),
)
"""Texts of docs."""

qrels = sa.Table(
    "qrels",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("collection_id", sa.ForeignKey("collections.id"), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("label", sa.Text, nullable=False, default=""),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("topics", sa.Integer, nullable=False),
    sa.Column("pooled", sa.Integer, nullable=False),
    sa.Column("judged", sa.Integer, nullable=False),
    sa.Column("relevant", sa.Integer, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
    sa.UniqueConstraint("collection_id", "version"),
    sa.UniqueConstraint("collection_id", "hash", name="uq_qrels_hash"),
)
"""Versions of the judgments of a collection; a version is never changed."""

runs = sa.Table(
    "runs",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("collection_id", sa.ForeignKey("collections.id"), nullable=False, index=True),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
    sa.Column("tag", sa.Text, nullable=False),
    sa.Column("team", sa.Text, nullable=False, default=""),
    sa.Column("year", sa.Integer),
    sa.Column("date", sa.Text, nullable=False, default=""),
    sa.Column("manual", sa.Boolean),
    sa.Column("query_type", sa.Text, nullable=False, default=""),
    sa.Column("paper", sa.Text, nullable=False, default=""),
    sa.Column("code", sa.Text, nullable=False, default=""),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("owner_id", sa.ForeignKey("people.id")),
    sa.Column("topics", sa.Integer, nullable=False),
    sa.Column("docs", sa.Integer, nullable=False),
    sa.Column("metadata", sa.JSON, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
)
"""Runs, unique by their content: `hash` is the SHA-256 of the file as it was given, decompressed."""

matches = sa.Table(
    "matches",
    TABLES,
    sa.Column("run_id", sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("qrels_id", sa.ForeignKey("qrels.id"), primary_key=True),
    sa.Column("missing", sa.LargeBinary, nullable=False),
    sa.Column("seen", sa.LargeBinary, nullable=False),
    sa.Column("unjudged", sa.LargeBinary, nullable=False),
)
"""A run beside a version of judgments, a value per topic: is it missing, docs in the first ranks, unjudged ones."""

scores = sa.Table(
    "scores",
    TABLES,
    sa.Column("run_id", sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("qrels_id", sa.ForeignKey("qrels.id"), primary_key=True),
    sa.Column("settings", sa.Text, primary_key=True),
    sa.Column("ties", sa.Text, nullable=False),
    sa.Column("per_topic", sa.LargeBinary, nullable=False),
)
"""Scores, 64-bit floats in the order of the topics of the judgments; `settings` is measure and policy in full."""

results = sa.Table(
    "results",
    TABLES,
    sa.Column("address", sa.Text, primary_key=True),
    sa.Column("run_id", sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("qrels_id", sa.ForeignKey("qrels.id"), nullable=False),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("policy", sa.JSON, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
    sa.Column("score", sa.Double, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
)
"""Certified scores: the address is the hash of run, judgments, measure and policy."""

reference_sets = sa.Table(
    "reference_sets",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("collection_id", sa.ForeignKey("collections.id"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("made", sa.Double, nullable=False),
    sa.UniqueConstraint("collection_id", "name"),
)
"""Named runs by which the scores of a collection are standardized."""

reference_runs = sa.Table(
    "reference_runs",
    TABLES,
    sa.Column("set_id", sa.ForeignKey("reference_sets.id"), primary_key=True),
    sa.Column("run_id", sa.ForeignKey("runs.id"), primary_key=True),
)

published = sa.Table(
    "published",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("score", sa.Double, nullable=False),
    sa.Column("paper", sa.Text, nullable=False),
    sa.Column("venue", sa.Text, nullable=False),
    sa.Column("year", sa.Double),
    sa.Column("collection", sa.Text, nullable=False, index=True),
    sa.Column("query_type", sa.Text, nullable=False),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("significant", sa.Boolean),
    sa.Column("excluded", sa.Text, nullable=False),
)
"""Scores that papers report; `collection` is the name under which they report them."""

campaigns = sa.Table(
    "campaigns",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("collection_id", sa.ForeignKey("collections.id"), nullable=False, index=True),
    sa.Column("plan", sa.JSON, nullable=False),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
)
"""Judging campaigns; `plan` is all that an organiser chose."""

campaign_runs = sa.Table(
    "campaign_runs",
    TABLES,
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), primary_key=True),
    sa.Column("run_id", sa.ForeignKey("runs.id"), primary_key=True),
)

IS_GOLD = sa.text("gold IS NOT NULL")
"""Whether the label of an item is known; few items are gold, so an index of them is small."""

items = sa.Table(
    "items",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("topic", sa.Text, nullable=False),
    sa.Column("doc", sa.Text, nullable=False),
    sa.Column("other", sa.Text, nullable=False, default=""),
    sa.Column("gold", sa.Double),
    sa.Column("answers", sa.Integer, nullable=False, default=0),
    sa.UniqueConstraint("campaign_id", "topic", "doc", "other"),
    sa.Index("ix_items_open", "campaign_id", "answers", "place"),
    sa.Index("ix_items_gold", "campaign_id", sqlite_where=IS_GOLD, postgresql_where=IS_GOLD),
)
"""What is judged in a campaign: a doc, or two docs side by side. `answers` counts those that fill the k of a doc."""

reservations = sa.Table(
    "reservations",
    TABLES,
    sa.Column("item_id", sa.ForeignKey("items.id"), primary_key=True),
    sa.Column("person_id", sa.ForeignKey("people.id"), primary_key=True),
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), nullable=False),
    sa.Column("until", sa.Double, nullable=False),
    sa.Index("ix_reservations_person", "campaign_id", "person_id"),
)
"""Items that somebody was asked to judge; after `until` they may be given to others."""

judgments = sa.Table(
    "judgments",
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), nullable=False),
    sa.Column("item_id", sa.ForeignKey("items.id"), nullable=False, index=True),
    sa.Column("person_id", sa.ForeignKey("people.id"), nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("label", sa.Double),
    sa.Column("reason", sa.Text, nullable=False, default=""),
    sa.Column("seconds", sa.Double),
    sa.Column("takes_back", sa.Text),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
    sa.Column("second_look", sa.Boolean, nullable=False, default=False, server_default=sa.false()),
    sa.Index("ix_judgments_person", "campaign_id", "person_id", "kind"),
    sa.Index("ix_judgments_number", "campaign_id", "number"),
)
"""The log of all judgments; rows are added and never changed. `id` is made by who sends it, and counts once.

`second_look` marks what a person said of an item after seeing what machine judges say of it.
"""

answers = sa.Table(
    "answers",
    TABLES,
    sa.Column("item_id", sa.ForeignKey("items.id"), primary_key=True),
    sa.Column("person_id", sa.ForeignKey("people.id"), primary_key=True),
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), nullable=False),
    sa.Column("judgment", sa.Integer, nullable=False),
    sa.Column("label", sa.Double),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Index("ix_answers_person", "campaign_id", "person_id", "judgment"),
)
"""How each person's judgment of each item stands after all of the log; without a label it cannot be judged."""

tallies = sa.Table(
    "tallies",
    TABLES,
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), primary_key=True),
    sa.Column("person_id", sa.ForeignKey("people.id"), primary_key=True),
    sa.Column("judgments", sa.Integer, nullable=False),
    sa.Column("answers", sa.Integer, nullable=False),
    sa.Column("counted", sa.Integer, nullable=False),
    sa.Column("places", sa.Integer, nullable=False),
    sa.Column("done", sa.Integer, nullable=False),
)
"""What each person has done in a campaign, so that nobody has to count: rows of the log, answers that stand, those that
count, places of docs that they fill (gold docs have none), and docs that had all their answers with one of this person.

Only the sum of `done` over people is a number of docs: who takes back an answer of a doc that was done by somebody else
takes the doc off their own number, which may be negative.
"""

machine_labels = sa.Table(
    "machine_labels",
    TABLES,
    sa.Column("item_id", sa.ForeignKey("items.id"), primary_key=True),
    sa.Column("judge", sa.Text, primary_key=True),
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), nullable=False, index=True),
    sa.Column("label", sa.Double, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
)
"""What machine judges say of the items of a campaign; nobody is shown it before judging the item."""

machine_seen = sa.Table(
    "machine_seen",
    TABLES,
    sa.Column("item_id", sa.ForeignKey("items.id"), primary_key=True),
    sa.Column("person_id", sa.ForeignKey("people.id"), primary_key=True),
    sa.Column("campaign_id", sa.ForeignKey("campaigns.id"), nullable=False),
    sa.Column("made", sa.Double, nullable=False),
    sa.Index("ix_machine_seen_person", "campaign_id", "person_id"),
)
"""Who has been shown the machine labels of which item, and when first."""

__all__ = [
    "HEAD",
    "TABLES",
    "about",
    "answers",
    "campaign_runs",
    "campaigns",
    "collections",
    "docs",
    "items",
    "judgments",
    "machine_labels",
    "machine_seen",
    "matches",
    "people",
    "published",
    "qrels",
    "reference_runs",
    "reference_sets",
    "reservations",
    "results",
    "runs",
    "sa",
    "scores",
    "tallies",
    "topics",
]
