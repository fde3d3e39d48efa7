"""Ordered parallel map, seeds and progress: how long work is cut up.

Each task gets its own random generator, spawned from the seed by its position, so that the number of jobs never
changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

T = TypeVar("T")
R = TypeVar("R")


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
    progress: Progress = silent,
) -> list[R]:
    """function(item) for every item, in order, on `jobs` processes (or threads, where the work releases the lock)."""
    todo: Sequence[T] = list(items)
    results: list[R] = []
    for result in _stream(function, todo, min(jobs, len(todo)), threads):
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
    stream: Iterable[R] = parallel(delayed(function)(item) for item in todo)
    return stream


def _in_threads(function: Callable[[T], R], todo: Sequence[T], jobs: int) -> Iterator[R]:
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(function, todo)
    finally:
        # After an interrupt nobody waits for what has not begun.
        pool.shutdown(wait=False, cancel_futures=True)


def chunks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover range(n), each of at most `size`.

    >>> list(chunks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + max(1, size)))
