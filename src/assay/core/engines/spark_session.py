"""The engine of Spark: tasks go as rows of a table through `mapInArrow`, so that any session will do.

Spark repeats what a dead executor was doing.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from assay.core.engines.reaching import refuse_unreachable
from assay.core.engines.sent import answers, batches_of, located, packed, unpacked
from assay.core.errors import AssayError, EngineError, MissingExtra, UsageError
from assay.version import __version__

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 30.0
"""Seconds to wait for a master to answer."""
AHEAD = 4
"""Batches for each core that are sent at a time; memory is bounded by these, and progress is shown after them."""


class Spark:
    """The engine of a Spark session.

    session: a session that is there, the master of a new one (`spark://host:7077`, `local[2]`), or None for `jobs`
    cores of this machine; a new session lives until `close`. A process has one session: where the program has begun it
    already, that one does the work and goes on living.

    >>> Spark("spark://10.0.0.5:7077")
    Spark('spark://10.0.0.5:7077')
    """

    def __init__(self, session: Any = None, *, jobs: int | None = None) -> None:
        self._given = session
        self._jobs = jobs
        self._session: Any = None
        self._is_own = False
        """Whether the session was begun here, and is ended here."""
        self.used = False
        """Whether anything was given to it to do."""

    def __repr__(self) -> str:
        if self._given is None:
            return "Spark()"
        return f"Spark({self._given!r})" if isinstance(self._given, str) else "Spark(session)"

    @property
    def where(self) -> str:
        """The session in words, for messages."""
        return f"Spark ({self._given})" if isinstance(self._given, str) else "Spark"

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Generator[R, None, None]:
        """function(task) for every task, in order."""
        self.used = True
        session = self._connected()
        cores = self._cores(session)
        batches = batches_of(located(tasks), cores)
        call = _in_arrow(packed(function))
        for start in range(0, len(batches), AHEAD * cores):
            some = batches[start : start + AHEAD * cores]
            rows = [(place, packed(batch)) for place, batch in enumerate(some)]
            for answer in self._answered(session, call, rows):
                yield from unpacked(answer)

    def close(self) -> None:
        """End the session that was started here."""
        if self._session is not None and self._is_own:
            with suppress(Exception):
                self._session.stop()
        self._session = None

    def _answered(self, session: Any, call: Any, rows: list[tuple[int, bytes]]) -> list[bytes]:
        """The results of some batches, in their order."""
        try:
            with warnings.catch_warnings():  # of versions that Spark has not been tried with
                warnings.simplefilter("ignore", FutureWarning)
                table = session.createDataFrame(rows, "place long, batch binary")
                answered = table.mapInArrow(call, "place long, fine boolean, answer binary")
            found = answered.collect()
        except KeyboardInterrupt:
            self._cancel(session)
            raise
        except Exception as error:
            raise self._in_our_words(error) from error
        by_place = {row.place: row for row in found}
        if sorted(by_place) != list(range(len(rows))):
            raise EngineError(f"{self.where} lost a part of the work, and there is no result; try again")
        for place in range(len(rows)):
            if not by_place[place].fine:
                raise unpacked(bytes(by_place[place].answer))
        return [bytes(by_place[place].answer) for place in range(len(rows))]

    def _connected(self) -> Any:
        """The session; made at first use."""
        if self._session is None:
            try:
                from pyspark.sql import SparkSession
            except ImportError:
                raise MissingExtra("pyspark", "spark") from None
            if isinstance(self._given, str) or self._given is None:
                self._session = self._begun_before(SparkSession)
                self._is_own = self._session is None
                self._session = self._session or self._new_session(SparkSession)
            else:
                self._session = self._given
        return self._session

    def _begun_before(self, kind: Any) -> Any:
        """The session of this process; None where it has none. A session elsewhere than was asked for is an error."""
        try:
            session = kind.active()  # also where another thread began it
        except Exception:  # there is none, which each kind of session says with an error of its own
            return None
        if self._given is None:
            return session
        master = _master(session)
        if master not in (None, self._given):
            what = f"the program has a Spark session at {master}, and there can be one"
            raise UsageError(f"{what}; stop it, or leave out the scheduler {self._given}")
        return session

    def _new_session(self, kind: Any) -> Any:
        # A part is tried four times on this machine too, as it is on a cluster.
        master = self._given or f"local[{self._jobs or '*'},4]"
        if master.startswith("local"):  # else Spark takes whatever is called python3 here, which may not have assay
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
        if master.startswith("spark://"):  # Spark would try for a minute
            example = "spark://10.0.0.5:7077"
            first_master = master.partition(",")[0]
            refuse_unreachable(self.where, first_master, schemes=("spark",), example=example, seconds=PATIENCE)
        builder = kind.builder.appName("assay")
        if master.startswith("sc://"):
            builder = builder.remote(master)
        else:
            builder = builder.master(master).config(map=quiet)
        try:
            with _quiet():
                return builder.getOrCreate()
        except Exception as error:
            raise self._in_our_words(error) from error

    def _cores(self, session: Any) -> int:
        """How many batches are done at once; what a session over the network does not say is two."""
        try:
            return max(1, int(session.sparkContext.defaultParallelism))
        except Exception:
            return 2

    def _cancel(self, session: Any) -> None:
        with suppress(Exception):
            session.sparkContext.cancelAllJobs()

    def _in_our_words(self, error: Exception) -> Exception:
        if isinstance(error, AssayError):
            return error
        text = str(error)
        if "JAVA" in text or "Java gateway" in text:
            return EngineError("Spark needs Java 17 or newer, and it does not start; install it and set JAVA_HOME")
        if "No module named" in text:
            reason = text[text.index("No module named") :].partition("\n")[0]
            return EngineError(f"{self.where} cannot load assay ({reason}); install the same version on its machines")
        if "exited unexpectedly" in text or "crashed" in text:
            why = "a worker died several times at the same part (killed, or out of memory)"
            return EngineError(f"{self.where}: {why}, and there is no result; give the workers more memory")
        first_line = text.partition("\n")[0][:200]
        return EngineError(f"{self.where} stopped in the middle of the work ({first_line}), and there is no result")


def _master(session: Any) -> str | None:
    """Where a session works; one over the network does not say."""
    try:
        return str(session.sparkContext.master)
    except Exception:
        return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Java is started inside, and keeps the standard error that it is given: nowhere. Our own messages are one line."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    kept = os.dup(2)
    try:
        os.dup2(nowhere, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _in_arrow(function: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What Spark calls for some rows: the results of each batch, or the error of its first task that has one."""

    def call(tables: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for table in tables:
            places = table.column(0).to_pylist()
            found = [_answer(function, batch) for batch in table.column(1).to_pylist()]
            fine = [went_well for went_well, _ in found]
            raw = [answer for _, answer in found]
            columns = [pyarrow.array(places), pyarrow.array(fine), pyarrow.array(raw, pyarrow.binary())]
            yield pyarrow.RecordBatch.from_arrays(columns, ["place", "fine", "answer"])

    return call


def _answer(function: bytes, batch: bytes) -> tuple[bool, bytes]:
    try:
        return True, answers(function, batch, __version__)
    except Exception as error:
        return False, packed(error)
