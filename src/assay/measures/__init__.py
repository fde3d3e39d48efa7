"""Effectiveness measures, by family: sets, ranks, dcg, gain, users, incomplete, diversity, sessions, text.

Importing this package fills the registry.
"""

from assay.measures import cwl, dcg, diversity, gain, incomplete, ranks, sessions, sets, text, users
from assay.measures.base import MEASURES, Measure, measure, parse, parse_many

__all__ = [
    "MEASURES",
    "Measure",
    "cwl",
    "dcg",
    "diversity",
    "gain",
    "incomplete",
    "measure",
    "parse",
    "parse_many",
    "ranks",
    "sessions",
    "sets",
    "text",
    "users",
]
