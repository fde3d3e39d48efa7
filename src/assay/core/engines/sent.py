"""What is sent to a worker, and what it does with it: a function once, batches of tasks, results in the same order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from assay.core.engines.chosen import done_here
from assay.core.errors import EngineError
from assay.version import __version__

T = TypeVar("T")

BATCHES_PER_WORKER = 32
"""Enough that workers end at about the same time and little is done twice, few enough that sending costs little."""


def packed(thing: Any) -> bytes:
    """A function, tasks or results as bytes; closures and functions of notebooks too."""
    import cloudpickle  # comes with the extras dask and spark

    try:
        raw: bytes = cloudpickle.dumps(thing)
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise EngineError(f"this work cannot be sent to other processes ({reason}); take the engine local") from error
    return raw


def unpacked(raw: bytes) -> Any:
    """What was packed. Only what this program packed itself is ever given to it."""
    import pickle

    return pickle.loads(raw)


@functools.lru_cache(maxsize=2)
def _function_of(raw: bytes) -> Callable[[Any], Any]:
    """The function of some bytes, unpacked once for all batches."""
    function: Callable[[Any], Any] = unpacked(raw)
    return done_here(function)


def batches_of(tasks: Sequence[T], workers: int) -> list[Sequence[T]]:
    """The tasks in order, some at a time.

    >>> [len(batch) for batch in batches_of(range(200), 2)]
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
     3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2]
    """
    size = max(1, len(tasks) // (BATCHES_PER_WORKER * max(1, workers)))
    return [tasks[start : start + size] for start in range(0, len(tasks), size)]


def located(tasks: Sequence[T]) -> Sequence[T]:
    """The tasks for machines that have another current folder: every path in them in full.

    A path is a Path, or the `path` of a dataclass; it may be a task, or stand in a tuple, a dict or a dataclass. Lists
    are not looked through: they are long, and hold numbers.

    >>> located([1, Path("/data/bm25.run"), Path("s3://bucket/bm25.run")])
    [1, PosixPath('/data/bm25.run'), PosixPath('s3:/bucket/bm25.run')]
    """
    return [_located(task) for task in tasks]


def _located(task: Any) -> Any:
    if isinstance(task, Path):
        return _in_full(task)
    if isinstance(task, tuple):
        parts = [_located(part) for part in task]
        if all(part is was for part, was in zip(parts, task, strict=True)):
            return task
        return type(task)(*parts) if hasattr(task, "_fields") else tuple(parts)  # one with names keeps them
    if isinstance(task, dict):
        values = {key: _located(value) for key, value in task.items()}
        return task if all(values[key] is task[key] for key in task) else values
    if is_dataclass(task) and not isinstance(task, type):
        changed = _paths_in_full(task)
        return replace(task, **changed) if changed else task
    return task


def _paths_in_full(task: Any) -> dict[str, Any]:
    """Of a dataclass the fields that have a path, in full."""
    found: dict[str, Any] = {}
    for field in fields(task):
        value = getattr(task, field.name)
        if field.name == "path" and isinstance(value, str):
            found[field.name] = str(_in_full(Path(value)))
        elif isinstance(value, Path) or _has_paths(value):
            found[field.name] = _located(value)
    return found


def _has_paths(value: Any) -> bool:
    """Whether a field holds paths itself: it is a dict of them, or a dataclass with some."""
    if isinstance(value, dict):
        return any(isinstance(inner, Path) for inner in value.values())
    return is_dataclass(value) and not isinstance(value, type) and bool(_paths_in_full(value))


def _in_full(path: Path) -> Path:
    """A path from the root on; an address (s3:/…) has its own."""
    return path.absolute() if path.exists() else path


def answers(function: bytes, batch: bytes, version: str) -> bytes:
    """What a worker does: the results of a batch. An error of a task is raised as it is."""
    if version != __version__:
        raise EngineError(f"a worker has assay {__version__}, and this is {version}; install the same everywhere")
    call = _function_of(function)
    return packed([call(task) for task in unpacked(batch)])
