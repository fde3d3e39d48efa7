"""All families of measures. Importing this module fills the registry; `assay.measures` does so when it is used."""

from __future__ import annotations

from assay.measures import adaptive, compatibility, cwl, dcg, gain, incomplete, intent_aware, ranks, sets, users
from assay.measures.base import MEASURES, Measure, measure, parse, parse_many

FAMILIES = (sets, ranks, dcg, gain, users, cwl, adaptive, incomplete, compatibility, intent_aware)

__all__ = ["FAMILIES", "MEASURES", "Measure", "measure", "parse", "parse_many"]
