"""Every study ends in a Result with plain keys; the exported names are there; a collection is made or refused."""

from __future__ import annotations

import json

import pytest

from assay.core.errors import UsageError
from assay.core.results import Result
from assay.scoring import evaluate
from assay.studies import (
    concordance,
    discriminative_power,
    measure_tau,
    method_test,
    predictive_power,
    predictivity,
    simulate,
    swap_rates,
)
from assay.studies.swapped_lists import swapped_lists
from assay.studies.votes import Vote

COLLECTION = simulate(1, topics=8, runs_per_group=1, docs=60, depth=20, pool_depth=10)
SCORES = list(evaluate(COLLECTION.runs, COLLECTION.qrels, ["AP", "P@10", "RR"]))
OTHER = simulate(2, topics=8, runs_per_group=1, docs=60, depth=20, pool_depth=10)


def results() -> dict[str, tuple[Result, set[str]]]:
    ap, p10, rr = SCORES
    votes = [Vote("301", "atlas1", "eridan1", "left")]
    cases = {"one": (COLLECTION.runs, COLLECTION.qrels), "two": (OTHER.runs, OTHER.qrels)}
    return {
        "measure_tau": (measure_tau(SCORES), set()),
        "predictivity": (predictivity(SCORES, splits=4), set()),
        "discriminative": (discriminative_power(SCORES, test="t"), set()),
        "swaps": (swap_rates(ap, draws=2), {"measure", "difference_needed"}),
        "concordance": (concordance(ap, rr, [p10]), {"p"}),
        "votes": (predictive_power(ap, votes), set()),
        "rbo-and-ap": (swapped_lists(repetitions=2, swaps=3), set()),
        "methods": (method_test("topics(count=3)", "topics(count=5)", cases, sizes=[4], subsets=3), set()),
    }


@pytest.mark.parametrize("name", list(results()))
def test_every_study_is_a_result_with_a_record(name: str) -> None:
    result, scalars = results()[name]
    assert isinstance(result, Result)
    record = result.record()
    assert scalars <= set(record)
    json.dumps(record)
    for table in result.tables():
        assert all(key.isascii() and " " not in key for key in table.keys)


def test_the_exported_names_are_functions_even_after_their_modules_are_loaded() -> None:
    import assay.studies.concordance
    import assay.studies.simulate

    assert sorted(assay.studies.__all__) == assay.studies.__all__
    for name in assay.studies.__all__:
        assert callable(getattr(assay.studies, name))


def test_the_runs_of_the_pool_are_known() -> None:
    pool = COLLECTION.pool_runs
    assert len(pool) == len(COLLECTION.runs) - 1
    judged = COLLECTION.qrels.to_dict()
    assert all(doc in judged[topic] for run in pool for topic in run.topics for doc in run.ranking(topic)[:10])


@pytest.mark.parametrize("count", [{"topics": 0}, {"docs": 3}, {"docs": 9001}, {"workers": 0}, {"runs_per_group": 0}])
def test_a_collection_that_cannot_be_is_refused(count: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=next(iter(count))):
        simulate(**count)
