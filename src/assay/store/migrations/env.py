"""How the schema of a store is brought to another revision: on the connection that the store hands over."""

from __future__ import annotations

from alembic import context

from assay.store.schema import TABLES


def migrate() -> None:
    """Run the migrations within the transaction of the store."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=TABLES, transactional_ddl=True, render_as_batch=True)
    context.run_migrations()


if hasattr(context, "config"):  # Alembic runs this file; who only imports it has nothing to migrate
    migrate()
