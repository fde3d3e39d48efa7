"""The engine of a Dask cluster: a client or a cluster that is there, the address of a scheduler, or workers made here.

Dask repeats what a dead worker was doing or held. What is added here: nobody waits for a scheduler or for workers that
do not come back.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from assay.core.engines.interrupts import interrupts_held
from assay.core.engines.reaching import refuse_unreachable, unreachable
from assay.core.engines.sent import answers, batches_of, located, packed, unpacked
from assay.core.errors import AssayError, EngineError, MissingExtra
from assay.version import __version__

T = TypeVar("T")
R = TypeVar("R")

LOOK_EVERY = 0.5
"""Seconds between two looks at the cluster while a result is awaited."""
PATIENCE = 30.0
"""Seconds to wait for a scheduler to answer, or for a worker to come."""
SAYING_GOODBYE = 5.0
"""Seconds that the scheduler has to close a connection."""
CLOSING = 15.0
"""Seconds that workers started here have to end; Dask kills one that is busy after four."""
KEPT_MEMORY = 1 << 25
"""Bytes of one array that a worker of this machine keeps for the next; glibc allows no more by its environment."""
AHEAD = 8
"""Batches for each worker that are sent before the first result is back: memory is bounded by these."""


class Dask:
    """The engine of a Dask cluster.

    cluster: a `distributed.Client` or cluster, the address of a scheduler, or None for `jobs` workers on this machine,
    which live until `close`. patience: seconds to wait for a scheduler that does not answer or has no workers.

    >>> Dask("tcp://10.0.0.5:8786")
    Dask('tcp://10.0.0.5:8786')
    """

    def __init__(self, cluster: Any = None, *, jobs: int | None = None, patience: float = PATIENCE) -> None:
        self._given = cluster
        self._jobs = jobs
        self.patience = patience
        self._client: Any = None
        self._own_cluster: Any = None
        self.used = False
        """Whether anything was given to it to do."""

    def __repr__(self) -> str:
        if self._given is None:
            return "Dask()"
        return f"Dask({self._given!r})" if isinstance(self._given, str) else f"Dask({type(self._given).__name__})"

    @property
    def where(self) -> str:
        """The cluster in words, for messages."""
        if self._given is None:
            return "the Dask cluster of this machine"
        address = self._given
        if not isinstance(address, str):
            scheduler = getattr(address, "scheduler", None)
            address = getattr(scheduler, "address", "of the client")
        return f"the Dask scheduler {address}"

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Generator[R, None, None]:
        """function(task) for every task, in order."""
        self.used = True
        client = self._connected()
        threads = self._threads_there(client)
        batches = deque(batches_of(tasks if self._given is None else located(tasks), threads))
        # A task of its own: a worker that has lost it gets it again from the scheduler.
        sent_function = client.submit(bytes, packed(function), pure=False)
        waiting: deque[Any] = deque()
        try:
            while batches or waiting:
                while batches and len(waiting) < AHEAD * threads:
                    batch = packed(batches.popleft())
                    waiting.append(self._sent(client, sent_function, batch))
                results: list[R] = unpacked(self._awaited(client, waiting[0]))
                waiting.popleft()
                yield from results
        finally:
            with suppress(Exception):  # there may be nobody left to tell
                if client.status == "running":
                    client.cancel([*waiting, sent_function])

    def _sent(self, client: Any, sent_function: Any, batch: bytes) -> Any:
        """A batch under way. Dask does what is sent within a short time in any order, unless that time is none."""
        return client.submit(answers, sent_function, batch, __version__, pure=False, fifo_timeout="0 ms")

    def close(self) -> None:
        """End the workers that were started here, and the connection that was made here."""
        client, cluster = self._client, self._own_cluster
        self._client = self._own_cluster = None
        for made, seconds in ((client, SAYING_GOODBYE), (cluster, CLOSING)):
            if made is not None and made is not self._given:
                with suppress(Exception):
                    made.close(timeout=seconds)

    def _connected(self) -> Any:
        """The client; made at first use."""
        if self._client is None:
            try:
                import distributed
            except ImportError:
                raise MissingExtra("dask", "dask") from None
            is_client = isinstance(self._given, distributed.Client)
            self._client = self._given if is_client else self._new_client(distributed)
        if self._client.status != "running":
            raise EngineError(f"{self.where} is not connected ({self._client.status}); start it and connect again")
        return self._client

    def _new_client(self, distributed: Any) -> Any:
        import dask

        _be_quiet()
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        if isinstance(self._given, str):
            refuse_unreachable(
                self.where, self._given, schemes=("tcp", "tls"), example="tcp://10.0.0.5:8786", seconds=self.patience
            )
            self._refuse_others(distributed, self._given)
        elif self._given is None:
            self._own_cluster = _workers_here(distributed, self._jobs)
        client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(self._own_cluster or self._given, timeout=self.patience, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            client.status = "closed"  # or its end would wait for the scheduler once more
            raise unreachable(self.where, error) from None
        return client

    def _refuse_others(self, distributed: Any, address: str) -> None:
        """An error where whoever listens does not greet as a scheduler does; Dask would wait for that for ever."""
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        security = distributed.Security().get_connection_args("client")

        async def greeted() -> None:
            connection = await distributed.comm.connect(address, timeout=self.patience, **security)
            connection.abort()

        caller = ThreadPoolExecutor(1)  # a notebook has a loop of its own in this thread
        try:
            caller.submit(asyncio.run, asyncio.wait_for(greeted(), self.patience)).result()
        except ValueError as error:
            raise unreachable(self.where, error) from None
        except Exception as error:
            what = "does not answer as a scheduler does"
            raise EngineError(f"{self.where} {what}; is it busy, or is this the address of its dashboard?") from error
        finally:
            caller.shutdown(wait=False)

    def _threads_there(self, client: Any) -> int:
        """How many tasks the workers do at once; an error if no worker comes."""
        try:
            client.wait_for_workers(1, timeout=self.patience)
            return max(1, sum(client.nthreads(callback_timeout=self.patience).values()))
        except TimeoutError:
            raise EngineError(f"{self.where} has no workers; start some") from None
        except OSError:
            raise self._gone() from None

    def _gone(self) -> EngineError:
        return EngineError(f"{self.where} went away in the middle of the work, and there is no result; start it again")

    def _awaited(self, client: Any, future: Any) -> bytes:
        """The result of a batch, or the error of its task, or an error if nobody is there to do it."""
        came = threading.Event()
        future.add_done_callback(lambda _: came.set())
        last_worker_seen = time.monotonic()
        seconds = LOOK_EVERY
        while True:
            if came.wait(LOOK_EVERY):
                # It may be lost with its worker before it is here, and a large one takes its time.
                seconds *= 2
                try:
                    answer: bytes = future.result(timeout=seconds)
                    return answer
                except Exception as error:
                    if future.status == "error":
                        raise self._in_our_words(error) from error
                    if not isinstance(error, TimeoutError):  # it is not the task that failed
                        raise self._gone() from error
            if self._has_workers(client):
                last_worker_seen = time.monotonic()
            elif time.monotonic() - last_worker_seen > self.patience:
                raise EngineError(f"{self.where} has no workers any more, and there is no result; start some")

    def _has_workers(self, client: Any) -> bool:
        try:
            return bool(client.nthreads(callback_timeout=self.patience))
        except TimeoutError:
            raise self._gone() from None
        except OSError:  # the connection is lost: the futures are cancelled by that
            return False

    def _in_our_words(self, error: Exception) -> Exception:
        """What a task raised, as it is; what Dask says of the cluster, in one line."""
        import distributed

        if isinstance(error, AssayError) and not isinstance(error, FileNotFoundError):
            return error
        if isinstance(error, distributed.KilledWorker):
            return EngineError(
                f"{self.where}: several workers died at the same part (killed, or out of memory), and there is no "
                "result; give them more memory"
            )
        if isinstance(error, ModuleNotFoundError) or "deserialization" in str(error):
            reason = str(error.__cause__ or error).partition("\n")[0]
            return EngineError(f"{self.where} cannot load assay ({reason}); install the same version on its machines")
        if isinstance(error, FileNotFoundError) and self._given is not None:
            file = error.filename or str(error).partition(":")[0]
            return EngineError(f"{file}: a worker of {self.where} does not see this file; put it where all machines do")
        return error


def _be_quiet() -> None:
    """Our own messages are one line; those of the cluster are in the logs of its machines."""
    import logging

    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _workers_here(distributed: Any, jobs: int | None) -> Any:
    """Workers on this machine, started by a thread without interrupts: all that it starts inherits that."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as starter:
        starting = starter.submit(_new_cluster, distributed, jobs)
        try:
            return starting.result()
        except RuntimeError as error:
            raise EngineError(
                f"no Dask worker starts on this machine ({error}); in a script, put what it does under "
                "if __name__ == '__main__':, since every worker reads the script first"
            ) from error
        except KeyboardInterrupt:  # nobody else knows of the workers
            with suppress(Exception):
                starting.result().close(timeout=CLOSING)
            raise


def _new_cluster(distributed: Any, jobs: int | None) -> Any:
    import logging

    import dask

    # Dask's workers give freed memory back to the system at once, which doubles the time of reading a run.
    keep_memory = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2 * KEPT_MEMORY}
    keep_memory["distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_"] = KEPT_MEMORY
    dask.config.set(keep_memory)
    with interrupts_held():
        return distributed.LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
