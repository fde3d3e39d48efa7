"""A registry entry, and a result that claims anything, cannot exist without its row in the coverage bench."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import assay
from assay.core.registry import Registry
from assay.core.results import UNITS, Result
from claims import FAMILY_WORLDS, QUICK, Row, loaded

CLAIMING = (
    "agreement.AGREEMENTS", "crowd.AGGREGATIONS", "interleaving.METHODS", "interleaving.SPENDING",
    "crowd.RECALIBRATIONS",
    "judges.CALIBRATIONS", "judges.ESTIMATORS", "judges.EXPANSIONS", "stats.CORRECTIONS", "stats.INTERVALS",
    "stats.JOINT", "stats.SIMULTANEOUS", "stats.TESTS", "stats.TWO_SAMPLE_TESTS",
)  # fmt: skip
"""Registries whose entries give p, intervals or probabilities: each entry has a row."""
SILENT = {
    "numbers of given data": "measures.FAIRNESS_MEASURES measures.MEASURES measures.PREFERENCES "
    "measures.SESSION_MEASURES measures.TEXT_MEASURES rankings.CORRELATIONS similarity.LIST_SIMILARITIES "
    "standard.FORMS standard.SMOOTHINGS topics.CRITERIA topics.SCALES",
    "an order, a choice or a search, of which nothing is claimed": "crowd.WAYS nojudgments.CHOICES nojudgments.FUSIONS "
    "nojudgments.MIXTURES plan.WEIGHTS pooling.ORDERS pooling.POOLS report.SECTIONS studies.ARMS topics.KINDS "
    "topics.SEARCHES",
    "predictions that are tried against judgments by the person": "nojudgments.ADAPTATIONS nojudgments.METHODS "
    "nojudgments.MODELS",
    "draws with a probability that the design sets": "pooling.SAMPLES",
}
"""Registries whose entries claim nothing beyond their data, and why."""
NO_ROW = {
    "judges.EXPANSIONS:nDCG": "the same formula as sum with another weight; its ideal is said to be approximate",
}
"""Entries of claiming registries without a row, and why."""
NO_CLAIM = {
    "counts, files and facts of given data": "Acceptance AnswerScores Catalogue Checkup ClusterList Collected "
    "CollectionFacts Conduct Contingency Contributions Conversion CostEstimate Density DocQuality Effort "
    "ExperimentStanding Explanation Factors FactorsSummary Findings GainProfile GoldDocs HitsResult IntentFacts "
    "KnownPool MachineComparison MeasureList MoreTasks NextDocs Pool PoolByType Progress ProtocolCheck RankWeights "
    "RunFacts RunGroups RunOut RunPlaces ScoreDensities ScoreMatrix ScoredParts Scores SharedErrors Shown SitePages "
    "SplitRuns Spread Standardized StandardizedTopics StoreCheck Tasks TimeByPosition TopicGroups TopicLosses "
    "TopicQuality TopicView Upcoming WidestTopics WorkerQuality AgreementWithReference RankingAgreement "
    "AssignmentAgreement GrowthResult NormalityResult",
    "similarities and correlations of given lists or runs, without intervals": "CampaignCurves CutsByTau "
    "EaseComparison MeasureTau MethodAgreement OverlapByDepth PSweep PreferenceSimilarity RBO RecallPrecision "
    "RunSimilarity RunSimilarityStudy SeriesResult SimilarityCurves SimilarityMatrix SwappedLists Predictivity",
    "ranges that bound what is not known, whatever the sample": "Bounds ScoreBounds CutSearch",
    "predictions and searches, of which the accuracy is shown and nothing claimed": "Accuracies Accuracy "
    "AllocationReplay ChoiceResult CollectionSubsets Curves ExchangeStudy Fewer FilledScores GoodSubsets "
    "HoldoutResult Incompleteness Injection LeftOut Longevity RankingOverCuts ReferenceSize Reweighted "
    "ReweightedRanking RunRanking SearchResult StabilityResult SubsetMeans TopicEase Transfer UnpooledBias "
    "EntropyStudy Calibration ScoreUncertainty",
    "rates of errors that a simulation on the given data finds": "Coverage FalseNegatives RatioCoverage SigmaSamples "
    "StoppingBias Swaps",
    "a plan from what a pilot shows, of which no chance is stated": "LabelPlan",
    "components of variance as estimates alone": "Components",
    "probabilities that the design of the draw sets": "Sample",
}
"""Results that print no interval, p, significance, certainty or probability of anything beyond their data, and why."""
MOST_SECONDS = 90 * 60


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(assay.__path__, "assay."):
        if "migrations" not in found.name:
            yield importlib.import_module(found.name)


def results() -> list[type[Result]]:
    """Every kind of result of assay."""
    list(modules())
    todo, found = [Result], set()
    while todo:
        for kind in todo.pop().__subclasses__():
            todo.append(kind)
            if kind.__module__.startswith("assay."):
                found.add(kind)
    return sorted(found, key=lambda kind: (kind.__module__, kind.__name__))


def registries() -> dict[str, Registry[Any]]:
    """Every registry by its package and name, e.g. stats.TESTS; other modules only import it."""
    found: dict[str, Registry[Any]] = {}
    for module in modules():
        for name, thing in vars(module).items():
            if isinstance(thing, Registry) and re.search(rf"^{name}\b.*= Registry\(", inspect.getsource(module), re.M):
                found[f"{module.__name__.split('.')[1]}.{name}"] = thing
    return found


def words(lists: dict[str, str]) -> list[str]:
    return [word for text in lists.values() for word in text.split()]


ROWS = list(loaded().values())


def test_every_registry_either_claims_or_says_why_not() -> None:
    known = set(registries())
    assert known == {*CLAIMING, *words(SILENT)}
    assert not set(CLAIMING) & set(words(SILENT))


@pytest.mark.parametrize("registry", CLAIMING)
def test_every_entry_that_claims_has_a_row(registry: str) -> None:
    entries = registries()[registry]
    covered = {entry for row in ROWS for entry in row.entries}
    bare = {f"{registry}:{entry.name}" for entry in entries} - covered
    assert bare == {name for name in NO_ROW if name.startswith(f"{registry}:")}
    own = {name.partition(":")[2].partition("(")[0] for name in covered if name.startswith(f"{registry}:")}
    assert own <= set(entries.names()), "a row for an entry that is gone"


def test_every_result_has_a_row_or_claims_nothing() -> None:
    covered = {name for row in ROWS for name in row.results}
    silent = words(NO_CLAIM)
    known = {kind.__name__ for kind in results()}
    assert known - covered - set(silent) == set(), "write a row in coverage/, or say why nothing is claimed"
    assert covered & set(silent) == set()
    assert (covered | set(silent)) - known == set(), "a result that is gone"
    assert len(silent) == len(set(silent))


def unit_of(kind: type[Result]) -> object:
    return inspect.getattr_static(kind, "unit")


def test_results_that_claim_declare_what_was_sampled() -> None:
    units: dict[str, set[str]] = {}
    for row in ROWS:
        for name in row.results:
            units.setdefault(name, set()).add(row.unit)
    for kind in results():
        own = unit_of(kind)
        if kind.__name__ not in units:
            continue
        if isinstance(own, str):
            assert own in units[kind.__name__], f"{kind.__name__}: {own} is the unit of none of its rows"
        else:
            assert own is not unit_of(Result), f"{kind.__name__} declares no unit"


def test_the_unit_is_in_the_record() -> None:
    scores = {"a": {"1": 0.1, "2": 0.4}, "b": {"1": 0.2, "2": 0.3}}
    found = assay.compare(scores, baseline="b")
    assert (found.unit, found.record()["unit"]) == ("topic", "topic")
    assert "unit" not in assay.evaluate({"a": {"1": {"d": 1.0}}}, {"1": {"d": 1}}, "RR").record()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_names_functions_and_units_that_exist(row: Row) -> None:
    assert row.unit in UNITS
    assert row.worlds or row.real
    for call in row.calls:
        module, _, name = call.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name)), call
    for limit in row.limits:
        assert limit.at_most > row.nominal
        assert set(limit.worlds) <= {*row.worlds, *row.real, *FAMILY_WORLDS}


def test_the_whole_bench_takes_90_minutes_at_most() -> None:
    assert sum(row.seconds for row in ROWS) <= MOST_SECONDS
    assert all(row.repeats == (2000 if row.ms <= QUICK else 400) for row in ROWS)
