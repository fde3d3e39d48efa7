"""The engine of one machine: threads, copies of this process, or workers. Who dies is replaced once for each part."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.core.engines.chosen import done_here
from assay.core.errors import EngineError
from assay.core.memory import keep_freed_memory

T = TypeVar("T")
R = TypeVar("R")

WAYS = ("processes", "threads", "forks")
FORKS_FROM = 8
"""Fewer items are not worth a copy of the process."""


class WorkerDied(EngineError):
    """A process that did part of the work is gone twice at the same part: killed, or out of memory."""

    def __str__(self) -> str:
        return (
            "a worker process died (killed, or out of memory), and again when its part was repeated; "
            "try again with --jobs 1"
        )


@dataclass(frozen=True)
class Local:
    """The engine of this machine.

    jobs: how many tasks at once; None for the `jobs` of each call. by: `processes`, `threads` where the work releases
    the lock, or `forks`, copies of this process, where the platform has them.

    >>> list(Local(2, by="threads").map(len, ["a", "bc", "def"]))
    [1, 2, 3]
    """

    jobs: int | None = None
    by: str = "processes"

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Generator[R, None, None]:
        """function(task) for every task, in order."""
        jobs = min(self.jobs or 1, len(tasks))
        if jobs <= 1:
            yield from map(function, tasks)
            return
        inner = done_here(function)
        has_forks = sys.platform == "linux" and len(tasks) >= FORKS_FROM
        if self.by == "forks" and has_forks:
            yield from _in_forks(inner, tasks, jobs)
        elif self.by == "processes":
            yield from _in_processes(inner, tasks, jobs)
        else:
            yield from _in_threads(inner, tasks, jobs)


def _in_threads(function: Callable[[T], R], tasks: Sequence[T], jobs: int) -> Generator[R, None, None]:
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(function, tasks)
    finally:
        # After an interrupt nobody waits for what has not begun.
        pool.shutdown(wait=False, cancel_futures=True)


def _in_processes(function: Callable[[T], R], tasks: Sequence[T], jobs: int) -> Generator[R, None, None]:
    """By workers that are kept for the next call. If one dies, what has no result yet is done by new ones."""
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed

    from assay.core.engines.interrupts import interrupts_held

    done = 0
    failed_at = None
    while done < len(tasks):
        parallel: Any = Parallel(n_jobs=jobs, return_as="generator")
        try:
            with interrupts_held():
                results = parallel(delayed(function)(task) for task in tasks[done:])
            for result in results:
                done += 1
                yield result
        except BrokenProcessPool as error:
            if failed_at == done:
                raise WorkerDied from error
            failed_at = done


def _in_forks(function: Callable[[T], R], tasks: Sequence[T], jobs: int) -> Generator[R, None, None]:
    """By copies of this process: number i takes the tasks i, i + jobs, …, and a new one continues if it dies.

    An error is raised here as it was there, after the results before it.
    """
    copies: list[_Copy] = []
    try:
        for number in range(jobs):
            copies.append(_Copy(function, tasks[number::jobs]))
        for place in range(len(tasks)):
            number, answered = place % jobs, place // jobs
            fine, value = copies[number].answer()
            if fine is None:
                copies[number].end()
                copies[number] = _Copy(function, tasks[number::jobs][answered:])
                fine, value = copies[number].answer()
            if fine is None:
                raise WorkerDied
            if not fine:
                raise value
            yield value
    finally:
        for copy in copies:
            copy.end()


class _Copy:
    """A copy of this process that goes through some tasks, and the pipe on which it answers."""

    def __init__(self, function: Callable[[T], R], tasks: Sequence[T]) -> None:
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_answer, args=(function, tasks, there), daemon=True)
        self._process.start()
        # The copy has the only other end: if it dies, reading finds the end of the pipe instead of waiting.
        there.close()

    def answer(self) -> tuple[bool | None, Any]:
        """The next answer: whether it went well, and the result or the error; None if the copy is dead."""
        try:
            answer: tuple[bool, Any] = self._here.recv()
        except (EOFError, ConnectionResetError):
            return None, None
        return answer

    def end(self) -> None:
        """Whatever it does, it is not needed any more."""
        self._process.terminate()
        self._here.close()


def _answer(function: Callable[[T], R], tasks: Sequence[T], pipe: Any) -> None:
    """What a copy of the process does: results into the pipe, an error as the last of them."""
    import signal

    # An interrupt is for the process that the person sees; it ends its copies.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    for task in tasks:
        try:
            pipe.send((True, function(task)))
        except Exception as error:
            pipe.send((False, error))
            return
