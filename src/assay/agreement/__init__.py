"""How far do assessors agree? κ, α and pairwise agreement of crowd labels or of several sets of judgments."""

from assay.agreement.alpha import alpha_of_coincidences, alpha_of_cuts, coincidences, krippendorff_alpha
from assay.agreement.kappa import cohen_kappa, contingencies, contingency, fleiss_kappa, kappa_of_table
from assay.agreement.phi import phi
from assay.agreement.ratings import Ratings
from assay.agreement.result import AGREEMENTS, agreement, reference_agreement
from assay.agreement.scales import pairwise_agreement

__all__ = [
    "AGREEMENTS",
    "Ratings",
    "agreement",
    "alpha_of_coincidences",
    "alpha_of_cuts",
    "cohen_kappa",
    "coincidences",
    "contingencies",
    "contingency",
    "fleiss_kappa",
    "kappa_of_table",
    "krippendorff_alpha",
    "pairwise_agreement",
    "phi",
    "reference_agreement",
]
