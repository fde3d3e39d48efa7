"""Everything long gives the same bits on one core, on two, and on Dask workers in another folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.core.engines import Dask, engine
from tests.engines.clusters import START, running
from tests.engines.long_work import WORK, in_bits

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")  # those of Dask are not ours


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        made = Dask(cluster.address, patience=START)
        yield made
        made.close()


@pytest.mark.parametrize("name", WORK)
def test_the_engine_changes_no_bit(name: str, dask: Dask) -> None:
    with engine("local", jobs=1):
        alone = in_bits(WORK[name]())
    with engine("local", jobs=2):
        by_two = in_bits(WORK[name]())
    dask.used = False
    with engine(dask):
        by_dask = in_bits(WORK[name]())
    assert dask.used, "nothing was sent to the engine"
    assert by_two == alone
    assert by_dask == alone
