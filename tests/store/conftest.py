"""A store on SQLite and one on a PostgreSQL cluster of the tests' own; the tests of the pages use them too."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.store import Store
from tests.store.cluster import other_user, postgres_cluster, postgres_programs

BACKENDS = ("sqlite", "postgresql")
_COUNTER = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL cluster on loopback, without the name of a database; stopped at the end."""
    if postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed (no initdb)")
    pytest.importorskip("psycopg")
    try:
        other_user()
    except LookupError as error:
        pytest.skip(str(error))
    with postgres_cluster() as address:
        yield address


@pytest.fixture
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], tuple[str, Path]]:
    """A function: backend → the address of a new, empty database, and the folder of its files."""

    def make(backend: str) -> tuple[str, Path]:
        number = next(_COUNTER)
        if backend == "sqlite":
            folder = tmp_path / f"store{number}"
            return str(folder), folder / "files"
        import psycopg

        cluster: str = request.getfixturevalue("postgres")
        name = f"store{number}"
        plain_address = cluster.replace("+psycopg", "") + "/postgres"
        with psycopg.connect(plain_address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        # a schema is a thousand files less than a database, and as empty
        return f"{cluster}/postgres?options=-csearch_path%3D{name}", tmp_path / f"files{number}"

    return make


@pytest.fixture(params=BACKENDS)
def address(request: pytest.FixtureRequest, new_database: Callable[[str], tuple[str, Path]]) -> tuple[str, Path]:
    """The address of a new database on each backend, and the folder of its files."""
    return new_database(request.param)


@pytest.fixture
def store(address: tuple[str, Path]) -> Iterator[Store]:
    """A new store on each backend."""
    where, files = address
    with Store(where, files=files) as made:
        yield made
