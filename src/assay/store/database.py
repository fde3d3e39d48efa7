"""How does a store reach its database? One engine, short transactions, and errors in words.

SQLite: write-ahead log, every commit on the disk before it returns, one writer at a time. PostgreSQL: as the server is
set up, with locks on the rows that a transaction counts. Judgments of many people share transactions on both, see
`shared_commits`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, MissingExtra, UsageError
from assay.store.schema import HEAD, sa
from assay.store.shared_commits import SharedCommits

WAIT_SECONDS = 60
"""How long a transaction waits for another one that writes."""
TURNS = 0x61737361
"""The key of the lock under which a schema is brought up to date."""
CONNECTIONS = 64
"""Connections that a store opens at most."""
FULL = ("disk is full", "No space left")
"""What SQLite and PostgreSQL say when there is no room."""


class NotNow(DataError):
    """The database cannot be used at the moment; nothing was written, and another try may work."""


class NoRoom(NotNow):
    """The disk of the database is full."""


class Database:
    """One database, by its URL; `where` is how messages name it."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        self.where = self.url.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._one_writer = threading.Lock()
        self.engine = _sqlite_engine(self.url) if self.is_sqlite else _server_engine(self.url)
        self.commits = SharedCommits(self._transaction, self._one_writer, joins=self.is_sqlite)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that reads."""
        with self._in_words(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """A transaction that sees the store as it is at one moment, whatever others write meanwhile."""
        level = None if self.is_sqlite else "REPEATABLE READ"  # a transaction of SQLite sees one moment anyway
        options = {} if level is None else {"isolation_level": level}
        with self._in_words(), self.engine.execution_options(**options).begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes: all of it is on the disk when the block is left, or nothing.

        Threads of this process wait for each other here, because SQLite has them wait by trying again and again.
        """
        if not self.is_sqlite:
            with self._transaction() as connection:
                yield connection
            return
        with self._one_writer, self._transaction() as connection:
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        """A transaction that writes; on SQLite only whoever has the turn begins one."""
        with self._in_words(), self.engine.execution_options(writes=True).begin() as connection:
            yield connection

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Errors of the database as one line."""
        try:
            yield
        except sa.exc.DBAPIError as error:
            sentence = f"{self.where}: {_in_words(error)}"
            if any(words in sentence for words in FULL):
                raise NoRoom(sentence) from error
            is_passing = isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)
            raise (NotNow if is_passing else DataError)(sentence) from error
        except OverflowError as error:  # SQLite's driver says so itself
            raise DataError(f"{self.where}: a number has more than 64 bits; give a smaller one") from error

    def new(self, table: sa.Table) -> Any:
        """An INSERT of the database's own dialect, which knows `on_conflict_do_nothing`."""
        if self.is_sqlite:
            from sqlalchemy.dialects.sqlite import insert as sqlite_insert

            return sqlite_insert(table)
        from sqlalchemy.dialects.postgresql import insert as postgres_insert

        return postgres_insert(table)

    def revision(self) -> str | None:
        """The revision of the schema; None where there is none yet."""
        with self.reading() as connection:
            if not sa.inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()

    def upgrade(self, to: str = HEAD) -> None:
        """Bring the schema to a revision, all of it or nothing."""
        try:
            from alembic import command
            from alembic.config import Config
        except ImportError:
            raise MissingExtra("alembic", "web") from None
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.writing() as connection:
            if not self.is_sqlite:  # two who open a new store at the same time take turns
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": TURNS})
            config.attributes["connection"] = connection
            command.upgrade(config, to)

    def close(self) -> None:
        """Close all connections."""
        self.commits.close()
        self.engine.dispose()


def _parsed(url: str) -> sa.URL:
    try:
        parsed = sa.engine.make_url(url)
    except sa.exc.ArgumentError:
        raise UsageError(f"{url!r} is no address of a database; give a folder, or postgresql+psycopg://…") from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        known = "sqlite:///path or postgresql+psycopg://…"
        raise UsageError(f"a store does not work on {parsed.get_backend_name()}; give a folder, {known}")
    if parsed.drivername in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    return parsed


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        url, connect_args={"timeout": WAIT_SECONDS}, pool_size=CONNECTIONS, max_overflow=CONNECTIONS
    )

    @sa.event.listens_for(engine, "connect")
    def durable(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        # Who reads first and writes later could find that somebody else wrote in between.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _server_engine(url: sa.URL) -> sa.Engine:
    try:
        return sa.create_engine(url, pool_size=CONNECTIONS // 4, max_overflow=CONNECTIONS, pool_pre_ping=True)
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None


def _in_words(error: sa.exc.DBAPIError) -> str:
    """What the database says, in one line, with what to do where that is known."""
    said = " ".join(str(error.orig).split())
    hints = dict.fromkeys(FULL, "make room and try again; nothing was written")
    hints |= {
        "disk I/O error": "make room or look at the disk; nothing was written",
        "database is locked": "another program writes to the store; try again",
        "unable to open": "is it a folder that you may write to?",
        "readonly database": "you may not write to this file",
        "not a database": "the file is no store",
        "malformed": "the file is damaged; restore a backup",
        "connection": "is the server running, and are user and password right?",
    }
    for words, hint in hints.items():
        if words in said:
            return f"{said}; {hint}"
    return said


def plain(value: str, what: str) -> str:
    """A text that every database holds; one with a zero byte or half a character is an error.

    >>> plain("bm25", "tag")
    'bm25'
    """
    if not isinstance(value, str):
        raise UsageError(f"{what} is {value!r}; a text is expected")
    if "\x00" in value:
        raise DataError(f"{what} {value[:40]!r} has a zero byte in it; leave it out")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DataError(f"{what} {value[:40]!r} is not valid Unicode; save it as UTF-8") from None
    return value


def plain_fields(fields: Mapping[str, Any], what: str) -> dict[str, str]:
    """Names and texts that every database holds."""
    kept = {}
    for name, text in fields.items():
        kept[plain(str(name), f"field of {what}")] = plain(str(text), what)
    return kept


def only(rows: Sequence[Any], what: str, missing: str) -> Any:
    """The one row; none is an error that says what is missing, several that there are several."""
    if not rows:
        raise UsageError(missing)
    if len(rows) > 1:
        raise UsageError(f"{what} stands for {len(rows)} of them; write more of it")
    return rows[0]
