"""Judgments left out: against scores of plain judgments with those docs removed, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import UsageError
from assay.data import Qrels
from assay.data.lists import collected
from assay.scoring import evaluate
from assay.studies import incompleteness, simulate
from assay.studies.incompleteness import kept_judgments

SMALL = simulate(topics=6, docs=100, depth=30, runs_per_group=2, manual_runs=0)
LISTS = collected(SMALL.runs, SMALL.qrels)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9])
def test_the_same_share_of_relevant_and_other_docs_is_kept(share: float) -> None:
    kept = kept_judgments(LISTS, share, 1, np.random.default_rng(3))
    judged = LISTS.grades >= 0
    assert not (kept & ~judged).any()
    for t in range(len(LISTS.topics)):
        of_topic = LISTS.topic_of_item == t
        for is_kind, least in ((LISTS.grades >= 1, 1), (judged & (LISTS.grades < 1), 0)):
            kind = of_topic & is_kind
            there = int(kind.sum())
            expected = max(share * there, min(least, there))
            assert abs(int((kept & kind).sum()) - expected) < 1


def test_scores_are_those_of_the_judgments_that_are_left() -> None:
    """τ and power recomputed from qrels with the docs removed, by scipy's t test over every pair."""
    share, seed = 0.4, 7
    measures = ["AP", "AP'", "nDCG@10", "RBP"]
    found = incompleteness(SMALL.runs, SMALL.qrels, measures, shares=[share], draws=1, seed=seed)
    from assay.core.engine import generators

    kept = kept_judgments(LISTS, share, 1, next(iter(generators(seed, 1))))
    left: dict[str, dict[str, int]] = {}
    for item in np.flatnonzero(kept):
        topic = LISTS.topics[int(LISTS.topic_of_item[item])]
        left.setdefault(topic, {})[LISTS.docs.take(np.array([item])).tolist()[0]] = int(LISTS.grades[item])
    for m, measure in enumerate(measures):
        full = evaluate(SMALL.runs, SMALL.qrels, [measure], top=SMALL.qrels.top_grade())[0]
        part = evaluate(SMALL.runs, Qrels.from_dict(left), [measure], top=SMALL.qrels.top_grade())[0]
        tau = stats.kendalltau(full.averages().round(12), part.averages().round(12))[0]
        assert found.tau[m, 0, 0] == pytest.approx(tau)
        assert found.averages[m, 0, 0] == pytest.approx(part.averages().mean())
        significant = []
        for a in range(len(part.runs)):
            for b in range(a + 1, len(part.runs)):
                p = stats.ttest_rel(part.values[a], part.values[b]).pvalue
                significant.append(p < 0.05)
        assert found.power[m, 0, 0] == pytest.approx(np.mean(significant))


def test_all_judgments_rank_as_they_do_and_more_are_better() -> None:
    found = incompleteness(SMALL.runs, SMALL.qrels, ["AP"], shares=[1, 0.05], draws=4)
    assert found.tau[0, 0].tolist() == [1.0] * 4
    assert found.tau[0, 1].mean() < 1
    again = incompleteness(SMALL.runs, SMALL.qrels, ["AP"], shares=[1, 0.05], draws=4, jobs=2)
    assert found.tau.tolist() == again.tau.tolist()
    assert found.table().column("judged %") == [100.0, 5.0]


def test_infap_estimates_what_ap_loses() -> None:
    """Docs that lose their judgment stay in the pool: infAP stays near AP of all judgments, AP falls."""
    found = incompleteness(SMALL.runs, SMALL.qrels, ["AP", "infAP"], shares=[1, 0.5], draws=5)
    ap, inferred = found.averages.mean(axis=2)
    assert ap[1] < 0.8 * ap[0]
    assert abs(inferred[1] - inferred[0]) < 0.1 * inferred[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shares": [0]}, "parts of the judgments lie above 0"),
        ({"shares": []}, "parts of the judgments lie above 0"),
        ({"draws": 0}, "at least 1 part"),
        ({"measures": ["geometric(AP)"]}, "a study of incomplete judgments rests on means; take AP"),
    ],
)
def test_what_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        incompleteness(SMALL.runs, SMALL.qrels, **options)  # type: ignore[arg-type]
