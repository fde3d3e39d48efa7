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
    from assay.nojudgments.between_collections import transfer
    from assay.nojudgments.ease import ease_comparison
    from assay.nojudgments.forecast import predict
    from assay.nojudgments.inject import injection
    from assay.nojudgments.learn import Collection, judged_collection, learned
    from assay.nojudgments.over_collections import methods_compared
    from assay.nojudgments.permute import exchanged_at_random, exchanged_in_order
    from assay.nojudgments.predictors import predicted
    from assay.nojudgments.representatives import one_per_group
    from assay.nojudgments.reweight import reweighted_emap

_HOMES = {
    "Collection": "learn",
    "comparable": "basis",
    "ease_comparison": "ease",
    "exchanged_at_random": "permute",
    "exchanged_in_order": "permute",
    "injection": "inject",
    "judged_collection": "learn",
    "learned": "learn",
    "methods_compared": "over_collections",
    "one_per_group": "representatives",
    "predict": "forecast",
    "predicted": "predictors",
    "reweighted_emap": "reweight",
    "transfer": "between_collections",
}
__all__ = [
    "Collection", "comparable", "ease_comparison", "exchanged_at_random", "exchanged_in_order", "injection",
    "judged_collection", "learned", "methods_compared", "one_per_group", "predict", "predicted", "reweighted_emap",
    "transfer",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
