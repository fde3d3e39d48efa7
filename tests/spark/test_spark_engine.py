"""Spark as the engine: the same bits as on this machine, also when a worker is killed; one line when it fails."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from assay.core.engine import ordered_map
from assay.core.engines import Spark, engine
from assay.core.errors import DataError, EngineError, UsageError
from tests.engines.long_work import WORK, in_bits

pytestmark = pytest.mark.filterwarnings("default")  # those of Spark are not ours


@pytest.mark.parametrize("name", WORK)
def test_the_engine_changes_no_bit(name: str, spark: Any) -> None:
    with engine("local", jobs=1):
        alone = in_bits(WORK[name]())
    made = Spark(spark)
    with engine(made):
        by_spark = in_bits(WORK[name]())
    assert made.used, "nothing was sent to the engine"
    assert by_spark == alone


def test_results_come_in_order_with_progress(spark: Any) -> None:
    offset = 3
    told: list[int] = []
    with engine(spark):
        found = ordered_map(lambda x: x * x + offset, range(300), progress=lambda done, _: told.append(done))
    assert found == [x * x + 3 for x in range(300)]
    assert told == list(range(1, 301))


def test_the_error_of_a_task_is_raised_as_it_was_there(spark: Any) -> None:
    def refuse(x: int) -> int:
        if x >= 5:
            raise DataError(f"run.txt:{x}: bad")
        return x

    with engine(spark), pytest.raises(DataError, match=r"^run.txt:5: bad$"):
        ordered_map(refuse, range(12))


def test_a_worker_that_is_killed_changes_nothing(spark: Any, tmp_path: Path) -> None:
    mark = str(tmp_path / "killed")

    def dies_once(x: int) -> int:
        if x == 5 and not os.path.exists(mark):
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return x * x

    with engine(spark):
        assert ordered_map(dies_once, range(20)) == [x * x for x in range(20)]
    assert os.path.exists(mark)


def test_a_part_that_kills_its_workers_is_one_line(spark: Any) -> None:
    with engine(spark), pytest.raises(EngineError, match="a worker died several times at the same part"):
        ordered_map(lambda x: os.kill(os.getpid(), signal.SIGKILL) if x == 1 else x, range(4))


def test_the_session_of_the_program_does_the_work_and_goes_on(spark: Any) -> None:
    with engine("spark"):
        assert ordered_map(abs, [-1, -2]) == [1, 2]
    assert spark.range(3).count() == 3
    other = pytest.raises(UsageError, match=r"has a Spark session at local\[2,4\], and there can be one; stop it")
    with engine("spark", scheduler="local[3]"), other:
        ordered_map(abs, [-1, -2])
    assert spark.range(3).count() == 3


def test_the_session_of_the_program_goes_on_also_where_another_thread_works(spark: Any) -> None:
    found: list[int] = []

    def work() -> None:
        with engine("spark"):
            found.extend(ordered_map(abs, [-1, -2]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [1, 2]
    assert spark.range(3).count() == 3
