"""How far do assessors agree? κ, α and pairwise agreement of crowd labels or of several sets of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import callable_module, loader

if TYPE_CHECKING:
    from assay.agreement.across_scales import pairwise_agreement
    from assay.agreement.alpha import alpha_of_cuts, krippendorff_alpha
    from assay.agreement.assigned_agreement import assignment_agreement
    from assay.agreement.beta_phi import phi
    from assay.agreement.kappa import cohen_kappa, fleiss_kappa
    from assay.agreement.result import agreement, reference_agreement
    from assay.agreement.scales import Scale, default_level

_HOMES = {
    "Scale": "scales",
    "agreement": "result",
    "alpha_of_cuts": "alpha",
    "assignment_agreement": "assigned_agreement",
    "cohen_kappa": "kappa",
    "default_level": "scales",
    "fleiss_kappa": "kappa",
    "krippendorff_alpha": "alpha",
    "pairwise_agreement": "across_scales",
    "phi": "beta_phi",
    "reference_agreement": "result",
}
__all__ = [
    "Scale",
    "agreement",
    "alpha_of_cuts",
    "assignment_agreement",
    "cohen_kappa",
    "default_level",
    "fleiss_kappa",
    "krippendorff_alpha",
    "pairwise_agreement",
    "phi",
    "reference_agreement",
]
__getattr__ = loader(__name__, _HOMES)

callable_module(__name__)
