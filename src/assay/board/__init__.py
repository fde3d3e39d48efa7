"""Who leads over many collections? Systems × collections × topics, by several aggregates, and what can be told apart.

Where the flow stands: scores, one matrix for each collection → **result**. Nothing is ranked on cells that are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import callable_module, loader

if TYPE_CHECKING:
    from assay.board.common_set import split_topics
    from assay.board.deciding import best_collections, leave_one_out
    from assay.board.meta_analysis import random_effects
    from assay.board.ranked_systems import Board, board

_HOMES = {
    "Board": "ranked_systems",
    "best_collections": "deciding",
    "board": "ranked_systems",
    "leave_one_out": "deciding",
    "random_effects": "meta_analysis",
    "split_topics": "common_set",
}
__all__ = ["Board", "best_collections", "board", "leave_one_out", "random_effects", "split_topics"]
__getattr__ = loader(__name__, _HOMES)

callable_module(__name__)
