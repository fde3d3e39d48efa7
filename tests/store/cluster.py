"""A PostgreSQL cluster on the loopback for tests and benchmarks, made for them and thrown away afterwards."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
    raise LookupError("PostgreSQL refuses to run as root, and there is no user postgres or nobody")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def postgres_cluster() -> Iterator[str]:
    """The address of a new cluster, without the name of a database; stopped at the end."""
    programs = postgres_programs()
    assert programs is not None
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
