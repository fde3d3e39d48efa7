"""A store on SQLite and one on a PostgreSQL cluster of the tests' own; the tests of the pages use them too."""

from __future__ import annotations

import glob
import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.store import Store

BACKENDS = ("sqlite", "postgresql")
_COUNTER = itertools.count()


def postgres_programs() -> Path | None:
    """The folder of initdb and pg_ctl; None where PostgreSQL is not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    on_path = shutil.which("initdb")
    places = [Path(place).parent for place in [*found, *([on_path] if on_path else [])]]
    return places[-1] if places else None


def other_user() -> str | None:
    """Somebody else to be where the tests run as root, which PostgreSQL refuses; None where they do not."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres or nobody")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL cluster on loopback, without the name of a database; stopped at the end."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (no initdb)")
    pytest.importorskip("psycopg")
    user = other_user()
    folder = Path(tempfile.mkdtemp(prefix="assay-postgres-"))
    if user is not None:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)
    port = free_port()

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), *arguments]
        log = folder.with_suffix(".log")
        with open(log, "ab") as output:
            # pg_ctl leaves the server behind, which would keep a pipe open for ever
            done = subprocess.run(command, user=user, cwd=folder, stdout=output, stderr=output, timeout=60)
        assert done.returncode == 0, log.read_text()

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "assay", "-A", "trust", "--no-sync", "--encoding=UTF8", "--locale=C")
    settings = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories={folder} -c max_connections=200"
    run("pg_ctl", "-D", data, "-w", "-o", settings, "start")
    try:
        yield f"postgresql+psycopg://assay@127.0.0.1:{port}"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder)
        folder.with_suffix(".log").unlink()


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
