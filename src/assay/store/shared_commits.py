"""How do many people write at once? What waits is written in one transaction, and one commit puts it on the disk.

Each process has one writer, on SQLite and on PostgreSQL: those who wait form a group while the group before is written,
and work that is `Shared` is done by the same few statements however large its group is. Everybody waits for the commit
that holds their own work, so what is acknowledged is as durable as it would be alone. If anything fails, nothing of
that transaction is kept and each piece of work is done again by itself. So work may run twice, and does nothing but
read and write through the connection that it gets.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from assay.store.schema import sa

T = TypeVar("T")
Work = Callable[[sa.Connection], T]
MOST = 64
"""Pieces of work in one transaction."""
TRIES = 3
"""How often work is done by itself when another server of the same database was in its way."""
IN_THE_WAY = ("40001", "40P01")
"""What PostgreSQL calls transactions that waited for each other."""


@dataclass(frozen=True)
class Shared(Generic[T]):
    """Work that is done together with other work of its kind; by itself it is a group of one.

    together: does a group, given what each piece asks; it returns what comes of each, or the error that refuses this
    piece alone, for which nothing was written. apart: pieces with the same one are never in one group.
    """

    together: Callable[[sa.Connection, Sequence[Any]], Sequence[T | Exception]]
    asks: Any
    apart: Hashable

    def __call__(self, connection: sa.Connection) -> T:
        (result,) = self.together(connection, [self.asks])
        if isinstance(result, Exception):
            raise result
        return result


@dataclass(eq=False)
class _Waiting:
    """A piece of work, and what became of it."""

    work: Work[Any]
    future: asyncio.Future[Any] | None = None
    """Who waits in an event loop; threads look at `done`."""
    done: bool = False
    result: Any = None
    error: BaseException | None = None


class SharedCommits:
    """The transactions in which many write together.

    transaction: opens one. turn: the lock that whoever writes has to hold. joins: whether pieces of work of any kind
    may be in one transaction, as on SQLite; on a server, where each locks rows of its own, they could wait for those
    of another process.
    """

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[sa.Connection]],
        turn: threading.Lock,
        *,
        joins: bool,
    ) -> None:
        self._transaction = transaction
        self._turn = turn
        self._joins = joins
        self._waiting: deque[_Waiting] = deque()
        self._not_kept: list[Callable[[], None]] = []
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._is_closing = False

    def when_not_kept(self, call: Callable[[], None]) -> None:
        """Call this whenever a transaction is not kept: what was read in it may never have happened."""
        self._not_kept.append(call)

    def written(self, work: Work[T]) -> T:
        """What the work returns, when it is on the disk."""
        own = _Waiting(work)
        self._waiting.append(own)
        while not own.done:
            with self._turn:  # whoever comes first writes for all who wait
                if not own.done:
                    self._write_waiting()
        if own.error is not None:
            raise own.error
        result: T = own.result
        return result

    async def soon(self, work: Work[T]) -> T:
        """The same without holding a thread for each who waits: a thread of the store writes."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(work, future))
        if self._thread is None:
            self._start()
        self._wake.set()
        return await future

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self._is_closing = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_for_loops, name="assay-store-writer", daemon=True)
                self._thread.start()

    def _write_for_loops(self) -> None:
        while not self._is_closing or self._waiting:
            self._wake.wait()
            self._wake.clear()
            while self._waiting:
                with self._turn:
                    self._write_waiting()

    def _write_waiting(self) -> None:
        """Write a group of what waits now, and tell everybody in it."""
        some = self._group()
        try:
            self._write(some)
        finally:
            for one in some:
                if not one.done:  # the writer itself was interrupted
                    one.error = RuntimeError("the store was interrupted while it wrote; nothing was kept")
                    one.done = True
            _tell_loops(some)

    def _group(self) -> list[_Waiting]:
        """What is written next: what came first, and what may be in one transaction with it; the rest waits on."""
        some: list[_Waiting] = []
        passed: list[_Waiting] = []
        apart: set[Hashable] = set()
        for _ in range(len(self._waiting)):
            if len(some) == MOST:
                break
            one = self._waiting.popleft()
            fits = not some or self._fits(some[0].work, one.work, apart)
            (some if fits else passed).append(one)
            if isinstance(one.work, Shared):  # nothing overtakes what it must be apart from
                apart.add(one.work.apart)
        self._waiting.extendleft(reversed(passed))
        return some

    def _fits(self, first: Work[Any], other: Work[Any], apart: set[Hashable]) -> bool:
        """Whether work may be in the transaction of a group that begins with another piece."""
        if isinstance(first, Shared) and isinstance(other, Shared):
            return first.together == other.together and other.apart not in apart
        return self._joins and not isinstance(first, Shared) and not isinstance(other, Shared)

    def _write(self, some: Sequence[_Waiting]) -> None:
        """One transaction for all; where that fails, one for each."""
        if len(some) < 2:
            for one in some:
                self._write_alone(one)
            return
        try:
            with self._transaction() as connection:
                results = _results(connection, [one.work for one in some])
        except Exception:
            self._forget()
            for one in some:
                self._write_alone(one)
            return
        for one, result in zip(some, results, strict=True):
            if isinstance(result, Exception):
                one.error = result
            else:
                one.result = result
            one.done = True

    def _write_alone(self, one: _Waiting) -> None:
        for attempt in range(TRIES):
            try:
                with self._transaction() as connection:
                    result = one.work(connection)
            except Exception as error:
                self._forget()
                if attempt + 1 < TRIES and _was_in_the_way(error):
                    continue
                one.error = error
            else:
                one.result = result
            one.done = True
            return

    def _forget(self) -> None:
        for call in self._not_kept:
            call()


def _results(connection: sa.Connection, works: Sequence[Work[Any]]) -> Sequence[Any]:
    """What comes of the pieces of a group."""
    first = works[0]
    if isinstance(first, Shared):
        return first.together(connection, [work.asks for work in works if isinstance(work, Shared)])
    return [work(connection) for work in works]


def _was_in_the_way(error: BaseException) -> bool:
    """Whether the database gave up because another server wrote, so that another try may work."""
    cause = error.__cause__
    said = getattr(getattr(cause, "orig", None), "sqlstate", None)
    return said in IN_THE_WAY


def _tell_loops(some: Sequence[_Waiting]) -> None:
    """Wake those who wait in event loops, each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Waiting]] = {}
    for one in some:
        if one.future is not None:
            by_loop.setdefault(one.future.get_loop(), []).append(one)
    for loop, own in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, own)


def _settle(some: Sequence[_Waiting]) -> None:
    for one in some:
        if one.future is None or one.future.done():  # who asked has gone
            continue
        if one.error is None:
            one.future.set_result(one.result)
        else:
            one.future.set_exception(one.error)
