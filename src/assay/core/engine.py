"""Ordered parallel map, seeds and progress: how long work is cut up.

Each task gets its own random generator, spawned from the seed by its position, so that the number of jobs never
changes a result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from assay.core.errors import AssayError

T = TypeVar("T")
R = TypeVar("R")

FORKS_FROM = 8
"""Fewer items are not worth a copy of the process."""


class WorkerDied(AssayError):
    """A process that did part of the work is gone: killed, or out of memory."""

    def __str__(self) -> str:
        return "a worker process died (killed, or out of memory) and the work was stopped; try again with --jobs 1"


class Progress(Protocol):
    """Told how many of how many steps are done."""

    def __call__(self, done: int, total: int) -> None: ...


def silent(done: int, total: int) -> None:
    """A progress that nobody sees."""


def generator(seed: int | np.random.Generator) -> np.random.Generator:
    """The random generator of a seed, or the generator itself.

    >>> generator(0).integers(10) == generator(0).integers(10)
    np.True_
    """
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)


def generators(seed: int, n: int) -> list[np.random.Generator]:
    """n independent generators, the i-th a function of (seed, i) alone."""
    return [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(n)]


def ordered_map(
    function: Callable[[T], R],
    items: Iterable[T],
    *,
    jobs: int = 1,
    threads: bool = False,
    forks: bool = False,
    progress: Progress = silent,
) -> list[R]:
    """function(item) for every item, in order, on `jobs` processes.

    threads: where the work releases the lock. forks: copies of this process where the platform has them (Linux), which
    start at once and see everything that the function sees, but can only answer with small results; else threads.
    """
    todo: Sequence[T] = list(items)
    results: list[R] = []
    if forks and sys.platform == "linux" and len(todo) >= FORKS_FROM and jobs > 1:
        stream: Iterable[R] = in_forks(function, todo, jobs)
    else:
        stream = _stream(function, todo, min(jobs, len(todo)), threads or forks)
    for result in stream:
        results.append(result)
        progress(len(results), len(todo))
    return results


def _stream(function: Callable[[T], R], todo: Sequence[T], jobs: int, threads: bool) -> Iterator[R] | Iterable[R]:
    if jobs <= 1:
        return map(function, todo)
    if threads:
        return _in_threads(function, todo, jobs)
    from joblib import Parallel, delayed

    parallel: Any = Parallel(n_jobs=jobs, return_as="generator")
    return _of_living_workers(parallel(delayed(function)(item) for item in todo))


def _of_living_workers(stream: Iterable[R]) -> Iterator[R]:
    """The stream, with one kind of error for a worker that died, whoever made the workers."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield from stream
    except BrokenProcessPool as error:
        raise WorkerDied from error


def _in_threads(function: Callable[[T], R], todo: Sequence[T], jobs: int) -> Iterator[R]:
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(function, todo)
    finally:
        # After an interrupt nobody waits for what has not begun.
        pool.shutdown(wait=False, cancel_futures=True)


def in_forks(function: Callable[[T], R], todo: Sequence[T], jobs: int) -> Iterator[R]:
    """function(item) for every item, in order; copy number i of this process takes the items i, i + jobs, ….

    An error is raised here as it was there, after the results before it; a copy that dies is an error too.
    """
    import multiprocessing

    context = multiprocessing.get_context("fork")
    copies = []
    answers = []
    try:
        for i in range(jobs):
            here, there = context.Pipe(duplex=False)
            copy = context.Process(target=_answer, args=(function, todo[i::jobs], there), daemon=True)
            copy.start()
            # The copy has the only other end: if it dies, reading finds the end of the pipe instead of waiting.
            there.close()
            copies.append(copy)
            answers.append(here)
        for number in range(len(todo)):
            fine, value = _received(answers[number % jobs])
            if not fine:
                raise value
            yield value
    finally:
        for copy in copies:
            copy.terminate()
        for here in answers:
            here.close()


def _received(pipe: Any) -> tuple[bool, Any]:
    """The next answer of a copy: whether it went well, and the result or the error."""
    try:
        answer: tuple[bool, Any] = pipe.recv()
    except (EOFError, ConnectionResetError) as error:
        raise WorkerDied from error
    return answer


def _answer(function: Callable[[T], R], todo: Sequence[T], pipe: Any) -> None:
    """What a copy of the process does: results into the pipe, an error as the last of them."""
    import signal

    # An interrupt is for the process that the person sees; it ends its copies.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for item in todo:
        try:
            pipe.send((True, function(item)))
        except Exception as error:
            pipe.send((False, error))
            return


def chunks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover range(n), each of at most `size`.

    >>> list(chunks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + max(1, size)))
