"""Effectiveness measures, by family: sets, ranks, dcg, gain, users, cwl, adaptive,
incomplete, diversity.

Measures of sessions, of text and of preferences are not functions of grades and have registries of their own, in
`sessions`, `text` and `preferred`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.measures.bounds import Bounds, bounds_of
    from assay.measures.families import MEASURES, Measure, measure, parse, parse_many
    from assay.measures.ranks import average_precisions

_HOMES = {
    "Bounds": "bounds",
    "MEASURES": "families",
    "Measure": "families",
    "average_precisions": "ranks",
    "bounds_of": "bounds",
    "measure": "families",
    "parse": "families",
    "parse_many": "families",
}
__all__ = ["MEASURES", "Bounds", "Measure", "average_precisions", "bounds_of", "measure", "parse", "parse_many"]
__getattr__ = loader(__name__, _HOMES)
