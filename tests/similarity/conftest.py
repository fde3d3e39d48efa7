"""Real runs that several files of this folder read, unpacked once."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from assay.data import Run
from assay.io import read_run
from tests.conftest import real_data


@pytest.fixture(scope="session")
def covid_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """The 143 runs of TREC-COVID round 1."""
    folder = tmp_path_factory.mktemp("covid")
    with tarfile.open(real_data("trec-covid-round1/runs.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    return [read_run(path) for path in sorted(Path(folder / "runs").iterdir())]
