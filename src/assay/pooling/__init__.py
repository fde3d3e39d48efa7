"""What to judge next, and what does a pool hide: pools, samples, judging orders, curves, leave-one-out, adjustment.

Importing this package fills the registries of pools, samples and judging orders.
"""

from assay.pooling.adjust import Adjustment, adjusted, from_systems, from_topics
from assay.pooling.adjustment_errors import Accuracy, adjustment_accuracy
from assay.pooling.bias import LeftOut, left_out
from assay.pooling.curves import Curves, curves
from assay.pooling.journal import Journal, Judgment
from assay.pooling.judging import Judging
from assay.pooling.mtc import Confidence, confidence
from assay.pooling.orders import ORDERS, Order, order_of
from assay.pooling.pools import POOLS, Contributions, Pool, contributions, pool
from assay.pooling.provenance import KnownPool, known_pool
from assay.pooling.rescoring import TREATMENTS, rescored
from assay.pooling.sampling import SAMPLES, Sample, sample

__all__ = [
    "ORDERS",
    "POOLS",
    "SAMPLES",
    "TREATMENTS",
    "Accuracy",
    "Adjustment",
    "Confidence",
    "Contributions",
    "Curves",
    "Journal",
    "Judging",
    "Judgment",
    "KnownPool",
    "LeftOut",
    "Order",
    "Pool",
    "Sample",
    "adjusted",
    "adjustment_accuracy",
    "confidence",
    "contributions",
    "curves",
    "from_systems",
    "from_topics",
    "known_pool",
    "left_out",
    "order_of",
    "pool",
    "rescored",
    "sample",
]
