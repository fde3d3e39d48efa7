"""What to judge next, and what does a pool hide: pools, samples, judging orders, curves, leave-one-out, adjustment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.pooling.adjust import adjusted, from_systems, from_topics
    from assay.pooling.bias import left_out
    from assay.pooling.journal import Judgment
    from assay.pooling.judging import Judging
    from assay.pooling.judging_curves import curves
    from assay.pooling.pools import pool
    from assay.pooling.provenance import known_pool
    from assay.pooling.sampling import sample

_HOMES = {
    "Judging": "judging",
    "Judgment": "journal",
    "adjusted": "adjust",
    "curves": "judging_curves",
    "from_systems": "adjust",
    "from_topics": "adjust",
    "known_pool": "provenance",
    "left_out": "bias",
    "pool": "pools",
    "sample": "sampling",
}
__all__ = [
    "Judging", "Judgment", "adjusted", "curves", "from_systems", "from_topics", "known_pool", "left_out", "pool",
    "sample",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
