"""Many write in one transaction: all that is acknowledged is kept, one that fails takes nobody with it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.core.errors import UsageError
from assay.store.database import Database
from assay.store.schema import sa
from assay.store.shared_commits import Work

NOTES = sa.Table("notes", sa.MetaData(), sa.Column("n", sa.Integer, primary_key=True), sa.Column("by", sa.Text))


@pytest.fixture
def database(address: tuple[str, Path]) -> Iterator[Database]:
    where, _ = address
    if "://" not in where:
        Path(where).mkdir()
        where = f"sqlite:///{where}/notes.db"
    made = Database(where)
    with made.writing() as connection:
        NOTES.create(connection)
    yield made
    made.close()


def note(n: int) -> Work[int]:
    def work(connection: sa.Connection) -> int:
        connection.execute(sa.insert(NOTES).values(n=n, by="all"))
        if n % 10 == 7:
            raise UsageError(f"{n} is refused")
        return n

    return work


def kept(database: Database) -> set[int]:
    with database.reading() as connection:
        return set(connection.execute(sa.select(NOTES.c.n)).scalars())


def test_threads_share_commits_and_one_that_fails_takes_nobody_with_it(database: Database) -> None:
    done: list[int] = []
    refused: list[str] = []

    def write(n: int) -> None:
        try:
            done.append(database.commits.written(note(n)))
        except UsageError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(40)]
    with database._one_writer:  # all of them wait, so that they are written together
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        assert not database.is_sqlite or kept(database) == set()
    for thread in threads:
        thread.join()
    expected = {n for n in range(40) if n % 10 != 7}
    assert set(done) == expected == kept(database)
    assert sorted(refused) == ["17 is refused", "27 is refused", "37 is refused", "7 is refused"]


def test_an_event_loop_waits_for_the_commit_that_holds_its_work(database: Database) -> None:
    async def write_all() -> list[object]:
        waiting = [database.commits.soon(note(n)) for n in range(50)]
        return await asyncio.gather(*waiting, return_exceptions=True)

    results = asyncio.run(write_all())
    assert [one for one in results if isinstance(one, int)] == [n for n in range(50) if n % 10 != 7]
    assert all(isinstance(one, int | UsageError) for one in results)
    assert kept(database) == {n for n in range(50) if n % 10 != 7}
    fine = asyncio.run(_many(database, range(100, 150)))
    assert fine == list(range(100, 150))


async def _many(database: Database, numbers: range) -> list[int]:
    before = len(kept(database))
    waiting = [database.commits.soon(_plain(n)) for n in numbers]
    results = await asyncio.gather(*waiting)
    assert len(kept(database)) == before + len(numbers)
    return list(results)


def _plain(n: int) -> Work[int]:
    def work(connection: sa.Connection) -> int:
        connection.execute(sa.insert(NOTES).values(n=n, by="loop"))
        return n

    return work


def test_fifty_pieces_of_work_that_wait_are_one_commit(database: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has many writers, and shares the flush of their commits itself")
    commits: list[int] = []
    sa.event.listen(database.engine, "commit", lambda _: commits.append(1))
    threads = [threading.Thread(target=database.commits.written, args=(_plain(n),)) for n in range(50)]
    with database._one_writer:
        for thread in threads:
            thread.start()
        while len(database.commits._waiting) < 50:
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert len(commits) == 1
    assert kept(database) == set(range(50))
