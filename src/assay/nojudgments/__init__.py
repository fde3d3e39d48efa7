"""Which run is best without judgments? `predict` ranks runs; `predicted` gives the scores of one method.

One family of methods per file. They register in `predictors.METHODS` as they are imported, here and in this order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

# isort: off
from assay.nojudgments import soboroff, references, pseudo, spoerri, expected  # noqa: F401
# isort: on

if TYPE_CHECKING:
    from assay.nojudgments.basis import comparable
    from assay.nojudgments.forecast import predict
    from assay.nojudgments.inject import injection
    from assay.nojudgments.learn import Collection, learned
    from assay.nojudgments.permute import exchanged_at_random, exchanged_in_order
    from assay.nojudgments.predictors import predicted
    from assay.nojudgments.reweight import reweighted_emap

_HOMES = {
    "Collection": "learn",
    "comparable": "basis",
    "exchanged_at_random": "permute",
    "exchanged_in_order": "permute",
    "injection": "inject",
    "learned": "learn",
    "predict": "forecast",
    "predicted": "predictors",
    "reweighted_emap": "reweight",
}
__all__ = [
    "Collection", "comparable", "exchanged_at_random", "exchanged_in_order", "injection", "learned",
    "predict", "predicted", "reweighted_emap",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
