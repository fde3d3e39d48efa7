"""Pictures of scored runs: which there are, and what each needs."""

from __future__ import annotations

import pytest

from assay.core.errors import UsageError
from assay.data import IntentQrels, Qrels, Run
from assay.report import figure
from assay.report.score_pictures import ON_RUNS, PICTURES, score_pictures
from assay.scoring import Aligned, evaluate

QRELS = Qrels.from_dict({str(t): {"a": 1, "b": 0, "c": 1} for t in range(4)})
BY_INTENT = IntentQrels.from_rows([("0", "1", "a", 1), ("0", "2", "c", 1), ("1", "1", "b", 1), ("1", "2", "c", 1)])
RUNS = [Run.from_lists(name, {str(t): list(docs) for t in range(4)}) for name, docs in (("x", "abc"), ("y", "bca"))]


@pytest.mark.parametrize("picture", PICTURES)
def test_every_picture_can_be_drawn(picture: str) -> None:
    aligned = Aligned.of(RUNS, QRELS)
    scores = aligned.scores(["AP", "RR"])
    if picture == "diversity":
        scores = evaluate(RUNS, BY_INTENT, ["I-rec@2", "D-nDCG@2"])
    made = score_pictures(scores, picture, aligned=aligned)
    drawn = [figure(part) for part in made] if isinstance(made, list) else [figure(made)]
    assert len(drawn) == (1 if picture in ("recall-precision", "diversity") else 2)
    assert all(part.title for part in drawn)


def test_what_a_picture_needs() -> None:
    scores = Aligned.of(RUNS, QRELS).scores(["AP"])
    for picture in ON_RUNS:
        with pytest.raises(UsageError, match="is drawn from the runs and their judgments"):
            score_pictures(scores, picture)
    with pytest.raises(UsageError, match="no picture of scores 'pie'; known: map, distribution, diversity"):
        score_pictures(scores, "pie")
