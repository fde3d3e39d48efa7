"""Which of two rankers do users prefer? Interleaved lists: Δ with intervals by user, tests, and plans made beforehand.

Where the flow stands: impressions → **result**. Users, not impressions, are the independent units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.interleaving.analysis import Interleaved, interleave, interleave_pairs
    from assay.interleaving.preregistered import InterleavingPlan, analyse_planned, plan_interleaving, read_plan

_HOMES = {
    "Interleaved": "analysis",
    "InterleavingPlan": "preregistered",
    "analyse_planned": "preregistered",
    "interleave": "analysis",
    "interleave_pairs": "analysis",
    "plan_interleaving": "preregistered",
    "read_plan": "preregistered",
}
__all__ = [
    "Interleaved",
    "InterleavingPlan",
    "analyse_planned",
    "interleave",
    "interleave_pairs",
    "plan_interleaving",
    "read_plan",
]
__getattr__ = loader(__name__, _HOMES)
