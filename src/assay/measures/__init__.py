"""Effectiveness measures, by family: sets, ranks, dcg, gain, users, cwl, adaptive, incomplete, compatibility,
intent_aware.

Measures of sessions, of text, of preferences and of group fairness (`fairness`) are not functions of grades and have
registries of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.measures.bounds import bounds_of
    from assay.measures.families import MEASURES, Measure, measure, parse, parse_many
    from assay.measures.ranks import average_precisions
    from assay.measures.sessions import SESSION_MEASURES, Session
    from assay.measures.text import TEXT_MEASURES, Nugget, NuggetMatch, Units

_HOMES = {
    "MEASURES": "families",
    "Measure": "families",
    "Nugget": "text",
    "NuggetMatch": "text",
    "SESSION_MEASURES": "sessions",
    "Session": "sessions",
    "TEXT_MEASURES": "text",
    "Units": "text",
    "average_precisions": "ranks",
    "bounds_of": "bounds",
    "measure": "families",
    "parse": "families",
    "parse_many": "families",
}
__all__ = [  # noqa: RUF022
    "MEASURES", "Measure", "Nugget", "NuggetMatch", "SESSION_MEASURES", "Session", "TEXT_MEASURES", "Units",
    "average_precisions", "bounds_of", "measure", "parse", "parse_many",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
