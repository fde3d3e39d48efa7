"""Ordered map, seeds and progress: how long work is cut up, and who does it.

Everything long is a map of one function over tasks. `ordered_map` hands it to the engine that was chosen: processes of
this machine unless a person asked for a cluster (`assay.core.engines`). Each task gets its own random generator,
spawned from the seed by its position, so that neither the number of jobs nor the engine ever changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Protocol, TypeVar

import numpy as np

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Who does the work: results come in the order of the tasks, whoever finishes first.

    Closing the iterator cancels what has not begun. An error of a task is raised here as it was there; workers that are
    lost are an EngineError, never a part of the results.
    """

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Generator[R, None, None]:
        """function(task) for every task, in order."""
        ...


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
    """function(item) for every item, in order, by the chosen engine; on this machine by `jobs` processes.

    The function is pure: it may be sent to another machine, and its items may be done twice if a worker dies. On this
    machine, threads: where the work releases the lock. forks: copies of this process where the platform has them
    (Linux), which start at once and see everything that the function sees; else threads. One item is done here.
    """
    return list(ordered_stream(function, items, jobs=jobs, threads=threads, forks=forks, progress=progress))


def ordered_stream(
    function: Callable[[T], R],
    items: Iterable[T],
    *,
    jobs: int = 1,
    threads: bool = False,
    forks: bool = False,
    progress: Progress = silent,
) -> Iterator[R]:
    """As `ordered_map`, one result after the other: for results that are large and are added up at once."""
    from assay.core.engines.chosen import chosen_engine
    from assay.core.engines.local import Local

    todo: Sequence[T] = list(items)
    engine = chosen_engine()
    if isinstance(engine, Local) or len(todo) < 2:
        own_jobs = engine.jobs if isinstance(engine, Local) else None
        engine = Local(own_jobs or jobs, by="forks" if forks else "threads" if threads else "processes")
    yield from _told(engine.map(function, todo), len(todo), progress)


def _told(stream: Generator[R, None, None], total: int, progress: Progress) -> Iterator[R]:
    """The stream, with its progress; closed at the first error, so that an interrupt cancels what is queued."""
    with closing(stream):
        for done, result in enumerate(stream, start=1):
            progress(done, total)
            yield result


def thread_map(function: Callable[[T], R], items: Iterable[T], *, threads: int, progress: Progress = silent) -> list[R]:
    """function(item) for every item, in order, in threads of this process: for work that cannot be done elsewhere.

    That is reading files into memory that is here, and filling arrays that are here.

    >>> thread_map(len, ["a", "bc"], threads=2)
    [1, 2]
    """
    return list(thread_stream(function, items, threads=threads, progress=progress))


def thread_stream(
    function: Callable[[T], R], items: Iterable[T], *, threads: int, progress: Progress = silent
) -> Iterator[R]:
    """As `thread_map`, one result after the other: for results that are large and are put together at once."""
    todo: Sequence[T] = list(items)
    if progress is silent and (threads == 1 or len(todo) < 2):  # asked several times for each run: nothing to set up
        yield from map(function, todo)
        return
    from assay.core.engines.local import Local

    yield from _told(Local(threads, by="threads").map(function, todo), len(todo), progress)


def chunks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover range(n), each of at most `size`.

    >>> list(chunks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + max(1, size)))
