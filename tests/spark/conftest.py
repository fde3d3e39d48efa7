"""Spark is heavy and needs Java: these tests are run by `make test-spark`, and skipped elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("ASSAY_SPARK"):
        return
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="Spark is tried by `make test-spark`"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session with two cores of this machine."""
    from pyspark.sql import SparkSession

    environment = pytest.MonkeyPatch()
    # What runs in the workers comes from here, functions of the tests too.
    environment.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    environment.setenv("PYSPARK_PYTHON", sys.executable)  # else whatever is called python3
    environment.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    quiet: Any = {"spark.ui.enabled": "false", "spark.log.level": "OFF", "spark.sql.shuffle.partitions": "4"}
    session = SparkSession.builder.master("local[2,4]").appName("assay-tests").config(map=quiet).getOrCreate()
    yield session
    session.stop()
    environment.undo()
