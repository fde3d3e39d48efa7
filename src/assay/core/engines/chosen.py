"""Which engine does the work: the one of `with assay.engine(…)`, else that of ASSAY_ENGINE, else this machine."""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from assay.core.errors import UsageError
from assay.core.registry import did_you_mean

if TYPE_CHECKING:
    from assay.core.engine import Engine

T = TypeVar("T")
R = TypeVar("R")

ENGINES = ("local", "dask", "spark")
"""The engines by name."""
LIBRARIES = {"distributed": "dask", "pyspark": "spark"}
"""The engines by the package that a client or a session is from."""
VARIABLE = "ASSAY_ENGINE"
SCHEDULER_VARIABLE = "ASSAY_SCHEDULER"

_CHOSEN: ContextVar[Engine | None] = ContextVar("engine", default=None)


def chosen_engine() -> Engine:
    """The engine of the innermost `with engine(…)`, else that of the environment, else this machine's."""
    chosen = _CHOSEN.get()
    return _of_environment() if chosen is None else chosen


def _of_environment() -> Engine:
    name = os.environ.get(VARIABLE) or "local"
    return _kept(name, os.environ.get(SCHEDULER_VARIABLE) or None)


@functools.cache
def _kept(name: str, scheduler: str | None) -> Engine:
    """An engine that lasts as long as the process."""
    if name not in ENGINES:
        raise UsageError(f"{VARIABLE}: no engine {name!r}{did_you_mean(name, ENGINES)}")
    if name == "local" and scheduler is not None:
        raise UsageError(f"{SCHEDULER_VARIABLE}: {_no_scheduler(scheduler)}")
    made = engine_of(name, scheduler=scheduler)
    atexit.register(_closed, made)
    return made


@contextmanager
def engine(which: Any = "local", *, scheduler: Any = None, jobs: int | None = None) -> Iterator[Engine]:
    """Everything long inside the block is done by this engine: `local`, `dask` or `spark`. Results do not change.

    which: a name, a Dask client or cluster, a Spark session, or anything with a method `map(function, tasks)` that
    gives results in order. scheduler: the address of a Dask scheduler (`tcp://host:8786`) or the master of Spark
    (`spark://host:7077`); without one, workers are started on this machine, `jobs` of them, and ended with the block.

    >>> import assay
    >>> with assay.engine("local", jobs=2):
    ...     scores = assay.evaluate({"r": {"1": {"a": 1.0}}}, {"1": {"a": 1}}, "RR")
    """
    made = engine_of(which, scheduler=scheduler, jobs=jobs)
    token = _CHOSEN.set(made)
    try:
        yield made
    finally:
        _CHOSEN.reset(token)
        if made is not which:
            _closed(made)


@contextmanager
def engine_for(which: Any, jobs: int) -> Iterator[None]:
    """The engine that a call was given as `engine=`; None leaves the one that is chosen."""
    if which is None:
        yield
        return
    # On this machine each call has its own number of jobs.
    own_workers = jobs if which in ("dask", "spark") else None
    with engine(which, jobs=own_workers):
        yield


def engine_of(which: Any, *, scheduler: Any = None, jobs: int | None = None) -> Engine:
    """The engine of a name, a client or a session.

    >>> engine_of("local", jobs=2)
    Local(jobs=2, by='processes')
    """
    from assay.core.engines.local import Local

    if isinstance(which, str):
        if which not in ENGINES:
            raise UsageError(f"no engine {which!r}{did_you_mean(which, ENGINES)}")
        if which == "local":
            if scheduler is not None:
                raise UsageError(_no_scheduler(scheduler))
            return Local(jobs)
        if scheduler is not None and jobs is not None:
            raise UsageError(f"{jobs} jobs and a scheduler ({scheduler}), which has workers of its own; leave one out")
        return _cluster(which, scheduler, jobs)
    if scheduler is not None or jobs is not None:
        raise UsageError("a scheduler or jobs go with the name of an engine; an engine that is there has its own")
    library = type(which).__module__.partition(".")[0]
    if library in LIBRARIES:
        return _cluster(LIBRARIES[library], which)
    if callable(getattr(which, "map", None)):
        own: Engine = which
        return own
    kind = type(which).__name__
    known = ", ".join(ENGINES)
    raise UsageError(f"{kind} is no engine; give {known}, a Dask client, a Spark session or an object with map")


def _cluster(name: str, where: Any, jobs: int | None = None) -> Engine:
    """Dask or Spark; the module is loaded here, since most work is done on this machine."""
    if name == "dask":
        from assay.core.engines.dask_cluster import Dask

        return Dask(where, jobs=jobs)
    from assay.core.engines.spark_session import Spark

    return Spark(where, jobs=jobs)


def _no_scheduler(scheduler: Any) -> str:
    return f"a scheduler ({scheduler}) has no effect with the engine local; choose dask or spark, or leave it out"


def _closed(made: Engine) -> None:
    """End what the engine has started."""
    close = getattr(made, "close", None)
    if close is not None:
        close()


@dataclass(frozen=True)
class _DoneHere(Generic[T, R]):
    """A function whose own long work is done where it runs: a worker has no workers."""

    function: Callable[[T], R]

    def __call__(self, task: T) -> R:
        from assay.core.engines.local import Local

        token = _CHOSEN.set(Local())
        try:
            return self.function(task)
        finally:
            _CHOSEN.reset(token)


def done_here(function: Callable[[T], R]) -> Callable[[T], R]:
    """The function as a worker calls it: what is long in it is done by that worker."""
    return _DoneHere(function)
