"""Are scores comparable, over topics, collections and years? Factors of reference runs, and scores relative to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.standard.collections import comparability
    from assay.standard.factorfiles import read_factors, write_factors
    from assay.standard.factors import fit, standardize
    from assay.standard.items import item_total
    from assay.standard.reference import longevity, reference_size
    from assay.standard.variance import variance_components
    from assay.standard.yearly import trend

_HOMES = {
    "comparability": "collections",
    "fit": "factors",
    "item_total": "items",
    "longevity": "reference",
    "read_factors": "factorfiles",
    "reference_size": "reference",
    "standardize": "factors",
    "trend": "yearly",
    "variance_components": "variance",
    "write_factors": "factorfiles",
}
__all__ = [
    "comparability", "fit", "item_total", "longevity", "read_factors", "reference_size", "standardize", "trend",
    "variance_components", "write_factors",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
