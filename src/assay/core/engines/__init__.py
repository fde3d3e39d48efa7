"""Who does the work: processes of this machine, a Dask cluster or Spark, all with the same results.

Nothing here imports Dask or Spark before they are asked for.
"""

from __future__ import annotations

from assay.core.engines.chosen import ENGINES, engine
from assay.core.engines.dask_cluster import Dask
from assay.core.engines.local import Local
from assay.core.engines.spark_session import Spark

__all__ = ["ENGINES", "Dask", "Local", "Spark", "engine"]
