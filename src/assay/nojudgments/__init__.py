"""Which run is best without judgments? One method family per file; see `methods.predicted` and `methods.METHODS`."""

# The families register their methods as they are imported: this order is the order of METHODS.
# isort: off
from assay.nojudgments import soboroff, references, pseudo, spoerri, expected

# isort: on
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import METHODS, predicted, predictions
from assay.nojudgments.ranking import RunRanking, ranked

__all__ = [
    "METHODS",
    "RunRanking",
    "comparable",
    "expected",
    "predicted",
    "predictions",
    "pseudo",
    "ranked",
    "references",
    "soboroff",
    "spoerri",
]
