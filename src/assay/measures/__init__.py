"""Effectiveness measures, by family: sets, ranks, dcg, gain, users, cwl, incomplete, diversity.

Importing this package fills the registry. Measures of sessions and of text are not functions of grades and have
registries of their own, in `sessions` and `text`.
"""

from assay.measures import cwl, dcg, diversity, gain, incomplete, ranks, sets, users
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
    "sets",
    "users",
]
