"""Are measures and methods any good? One question per module; and a whole test collection from a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

# Functions that carry the name of their module are loaded at once; else the module would stand in their place.
from assay.studies.concordance import concordance
from assay.studies.incompleteness import incompleteness
from assay.studies.simulate import simulate, write_collection
from assay.studies.survey import survey

if TYPE_CHECKING:
    from assay.studies.arms import Case
    from assay.studies.discriminative import discriminative_power
    from assay.studies.measure_rankings import measure_tau, predictivity
    from assay.studies.method_comparison import method_test
    from assay.studies.run_similarity import exchange_study, similarity_study
    from assay.studies.swaps import swap_rates
    from assay.studies.votes import predictive_power

_HOMES = {
    "Case": "arms",
    "discriminative_power": "discriminative",
    "exchange_study": "run_similarity",
    "measure_tau": "measure_rankings",
    "method_test": "method_comparison",
    "predictive_power": "votes",
    "predictivity": "measure_rankings",
    "similarity_study": "run_similarity",
    "swap_rates": "swaps",
}
__all__ = [
    "Case", "concordance", "discriminative_power", "exchange_study", "incompleteness", "measure_tau", "method_test",
    "predictive_power", "predictivity", "similarity_study", "simulate", "survey", "swap_rates",
    "write_collection",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
