"""How are many rows read or written by one statement? One whose text does not depend on how many they are.

A database knows such a statement by its text and does not plan it again: PostgreSQL gets one array of each column,
SQLite a list as JSON, or rows that its driver inserts one by one, which costs nothing there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from assay.store.schema import sa


class ManyValues(sa.types.TypeDecorator[Any]):
    """A list of values as one parameter of a statement."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, of: sa.types.TypeEngine[Any]) -> None:
        super().__init__()
        self.of = of

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """An array where the database has arrays."""
        is_server = dialect.name == "postgresql"
        return dialect.type_descriptor(ARRAY(self.of) if is_server else sa.Text())

    def process_bind_param(self, value: Iterable[Any] | None, dialect: sa.Dialect) -> Any:
        """The list as the database takes it."""
        values = list(value or ())
        return values if dialect.name == "postgresql" else json.dumps(values)


class _Among(FunctionElement[bool]):
    """Whether a column has one of many values."""

    type = sa.Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> _Among:
        """Itself: a comparison with true, which SQLite is given otherwise, would read the whole table."""
        return self


@compiles(_Among)
def _in_json(element: _Among, compiler: Any, **how: Any) -> str:
    column, values = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"


@compiles(_Among, "postgresql")
def _in_array(element: _Among, compiler: Any, **how: Any) -> str:
    column, values = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{column} = ANY ({values})"


def among(column: sa.Column[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether a column has one of the values that the statement is given as a list of this name.

    >>> from assay.store.schema import items
    >>> print(sa.select(items.c.id).where(among(items.c.id, "wanted")))
    SELECT items.id
    FROM items
    WHERE items.id IN (SELECT value FROM json_each(:wanted))
    """
    return _Among(column, sa.bindparam(name, type_=ManyValues(column.type)))


@dataclass(frozen=True)
class ManyRows:
    """An INSERT of many rows. `by_column`: it takes all values of a column together."""

    statement: Any
    columns: tuple[str, ...]
    by_column: bool

    def insert(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Insert rows; what the statement returns for them."""
        if not self.by_column:
            return connection.execute(self.statement, rows)
        values = {name: [row[name] for row in rows] for name in self.columns}
        return connection.execute(self.statement, values)


def many_rows(
    dialect: str,
    table: sa.Table,
    columns: Sequence[str],
    returning: Sequence[str],
    newer: Sequence[str] = (),
    added: Sequence[str] = (),
) -> ManyRows:
    """The INSERT of these columns of a table.

    Where a row with the same key is there, it gets the columns `newer` of the new one, and those of `added` are added.
    """
    wanted = [table.c[name] for name in returning]
    by_column = dialect == "postgresql"
    if by_column:
        from sqlalchemy.dialects.postgresql import insert as postgres_insert

        arrays = [sa.bindparam(name, type_=ManyValues(table.c[name].type)) for name in columns]
        rows = sa.func.unnest(*arrays).table_valued(*columns).render_derived()
        insert: Any = postgres_insert(table).from_select(list(columns), sa.select(*(rows.c[name] for name in columns)))
    else:
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        insert = sqlite_insert(table)
    changes = {name: insert.excluded[name] for name in newer}
    changes |= {name: table.c[name] + insert.excluded[name] for name in added}
    if changes:
        keys = [column.name for column in table.primary_key]
        insert = insert.on_conflict_do_update(index_elements=keys, set_=changes)
    return ManyRows(insert.returning(*wanted), tuple(columns), by_column)
