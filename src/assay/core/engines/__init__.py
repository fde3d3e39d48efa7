"""Who does the work: processes of this machine, a Dask cluster or Spark, all with the same results.

Names are loaded when they are used: who works here does not wait for what reaches others, and nothing here imports Dask
or Spark before they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.core.engines.chosen import ENGINES, engine
    from assay.core.engines.dask_cluster import Dask
    from assay.core.engines.local import Local
    from assay.core.engines.spark_session import Spark

_HOMES = {
    "Dask": "dask_cluster",
    "ENGINES": "chosen",
    "Local": "local",
    "Spark": "spark_session",
    "engine": "chosen",
}
__all__ = ["ENGINES", "Dask", "Local", "Spark", "engine"]
__getattr__ = loader(__name__, _HOMES)
