"""Many write in one transaction: all that is acknowledged is kept, one that fails takes nobody with it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from assay.core.errors import UsageError
from assay.store.database import Database
from assay.store.schema import sa
from assay.store.shared_commits import MOST, Shared, Work

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
        pytest.skip("on a server work of any kind has a transaction of its own, and what is shared is tested below")
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


class Notes:
    """Work of one kind, which remembers its groups."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []

    def together(self, connection: sa.Connection, numbers: Sequence[int]) -> list[int | Exception]:
        self.groups.append(list(numbers))
        fine = [n for n in numbers if n % 10 != 7]
        connection.execute(sa.insert(NOTES), [{"n": n, "by": "group"} for n in fine])
        if 66 in numbers:
            raise UsageError("66 takes all with it")
        return [n if n in fine else UsageError(f"{n} is refused") for n in numbers]


def test_shared_work_is_done_in_groups_and_one_that_is_refused_takes_nobody_with_it(database: Database) -> None:
    notes = Notes()
    others = Notes()
    commits: list[int] = []
    sa.event.listen(database.engine, "commit", lambda _: commits.append(1))

    async def write_all() -> list[object]:
        waiting = []
        with database._one_writer:
            for n in range(40):
                kind = notes if n % 4 else others
                waiting.append(asyncio.ensure_future(database.commits.soon(Shared(kind.together, n, apart=n % 25))))
            await asyncio.sleep(0.1)
        return await asyncio.gather(*waiting, return_exceptions=True)

    results = asyncio.run(write_all())
    written = len(commits)
    assert [one for one in results if isinstance(one, int)] == [n for n in range(40) if n % 10 != 7]
    assert sorted(str(one) for one in results if isinstance(one, UsageError)) == [
        "17 is refused", "27 is refused", "37 is refused", "7 is refused"
    ]  # fmt: skip
    assert kept(database) == {n for n in range(40) if n % 10 != 7}
    groups = notes.groups + others.groups
    assert sorted(n for group in groups for n in group) == list(range(40))
    assert all(len({n % 25 for n in group}) == len(group) for group in groups)
    assert len(groups) == written == 4
    assert all(group == sorted(group) for group in groups)


def test_a_group_that_fails_is_done_again_one_by_one(database: Database) -> None:
    notes = Notes()
    not_kept: list[int] = []
    database.commits.when_not_kept(lambda: not_kept.append(1))

    async def write_all() -> list[object]:
        waiting = []
        with database._one_writer:
            for n in range(60, 60 + MOST + 5):
                waiting.append(asyncio.ensure_future(database.commits.soon(Shared(notes.together, n, apart=n))))
            await asyncio.sleep(0.1)
        return await asyncio.gather(*waiting, return_exceptions=True)

    results = asyncio.run(write_all())
    wanted = {n for n in range(60, 60 + MOST + 5) if n % 10 != 7 and n != 66}
    assert {one for one in results if isinstance(one, int)} == wanted == kept(database)
    assert str(results[6]) == "66 takes all with it"
    assert [len(group) for group in notes.groups] == [MOST] + [1] * MOST + [5]
    assert len(not_kept) == 2 + sum(n % 10 == 7 for n in range(60, 60 + MOST))
