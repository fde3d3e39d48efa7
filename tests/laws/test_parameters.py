"""Whatever is written in the brackets of a name, there is an answer, or an error that says what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.core.registry import Entry, Registry
from assay.crowd.preference_pairs import Preferences
from assay.data import Labels, Qrels, Run, ScoreMatrix
from assay.data.lists import collected
from assay.measures import MEASURES
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from make_reference import other_registries  # type: ignore[import-not-found]

NUMBERS = ("0", "-1", "nan", "inf", "-inf", "1e308", "-1e308", "9" * 30, "9" * 5000, "0.5", "2")
NONSENSE = (*NUMBERS, "x", "", "true", "none", "1:inf", "1:nan", "1:1e308/2:1e308")
RNG = np.random.default_rng(0)
SCORES = ScoreMatrix.of(np.round(RNG.random((8, 7)), 3), measure="AP")
OTHER = ScoreMatrix.of(np.round(RNG.random((8, 7)), 3), measure="RR")
RUNS = [
    Run.from_lists(f"r{i}", {str(t): [f"d{d}" for d in RNG.permutation(12)[:8]] for t in range(4)}) for i in range(6)
]
QRELS = Qrels.from_dict({str(t): {f"d{d}": int(d % 3) for d in range(12)} for t in range(4)})
LABELS = Labels.from_rows(
    [(str(t), f"d{d}", f"w{w}", float(RNG.integers(0, 3))) for t in range(2) for d in range(5) for w in range(4)]
)
PAIRS = Preferences.from_rows(
    [("1", f"d{a}", f"d{b}", f"w{w}", float(RNG.integers(0, 2))) for a in range(4) for b in range(a) for w in range(2)]
)


def aggregation(text: str) -> Any:
    from assay.crowd import aggregate

    return aggregate(PAIRS if text.startswith("bradley") else LABELS, text)


def agreed(text: str) -> Any:
    from assay.agreement import Scale, agreement

    return agreement(LABELS, measures=text, scale=Scale.interval(0, 2))


def arm(text: str) -> Any:
    from assay.studies import Case, method_test

    case = Case(RUNS, QRELS, LABELS)
    return method_test(text, "predict(method=wu-crestani)", {"x": case, "y": case}, sizes=[2], subsets=2)


def measured(text: str) -> Any:
    from assay.scoring import evaluate

    return evaluate(RUNS[:2], QRELS, text)


def searched(text: str) -> Any:
    from assay.topics import search_subsets

    # A search that makes no end is stopped: what it does by then is what is asked here.
    return search_subsets(SCORES, search=text, seconds=0.01)


def of_registry(kind: str) -> Callable[[str], Any]:
    """What the library does with a name of this kind, on small data."""
    from assay.interleaving import interleave
    from assay.judges.topic_estimators import ESTIMATORS
    from assay.nojudgments import injection
    from assay.nojudgments.adaptation import ADAPTATIONS
    from assay.nojudgments.combine import combined
    from assay.nojudgments.learn import Collection, trained
    from assay.nojudgments.predictors import predicted
    from assay.plan import audit
    from assay.pooling import Judging, pool, sample
    from assay.rankings import CORRELATIONS
    from assay.scoring import evaluate_fairness
    from assay.similarity.by_topic import compare_runs
    from assay.standard import standardize
    from assay.stats import all_pairs
    from assay.stats.effect import mean_interval
    from assay.stats.multiple import corrected
    from assay.stats.two_sample import TWO_SAMPLE_TESTS
    from assay.topics.problem import problem
    from assay.topics.synthetic import KINDS

    lists = collected(RUNS, QRELS)
    x, y = SCORES.averages(), OTHER.averages()
    callers: dict[str, Callable[[str], Any]] = {
        "adaptation": lambda text: ADAPTATIONS.call(text, SCORES.values.T, OTHER.values.T),
        "aggregation": aggregation,
        "agreement measure": agreed,
        "arm": arm,
        "choice of topics to judge": lambda text: injection(SCORES, OTHER, text, sizes=[2], repetitions=2),
        "correction": lambda text: corrected([0.01, 0.2], text),
        "correlation": lambda text: CORRELATIONS.call(text, x, y),
        "criterion": lambda text: problem(SCORES, criterion=text),
        "estimator": lambda text: ESTIMATORS.call(text, SCORES.values[:, :4], OTHER.values[:, :4], OTHER.values),
        "fairness measure": lambda text: evaluate_fairness(
            RUNS, QRELS, {"d1": "a", "d2": "b"}, [text], unknown="group"
        ),
        "form of standardization": lambda text: standardize(SCORES, form=text),
        "fusion": lambda text: combined([SCORES, OTHER], text),
        "interval": lambda text: mean_interval(SCORES.values, text, resamples=20),
        "judging order": lambda text: Judging(lists, text, depth=5).next(3),
        "kind of synthetic scores": lambda text: KINDS.call(text, SCORES, runs=3, topics=4),
        "list similarity": lambda text: compare_runs(RUNS[0], RUNS[1], measures=[text]),
        "measure": measured,
        "method": lambda text: interleave([(f"u{i % 40}", "ab"[i % 3 > 0]) for i in range(90)], method=text),
        "method without judgments": lambda text: predicted(RUNS, text),
        "model": lambda text: trained([Collection("old", 2000, (SCORES,), SCORES)], text),
        "pool": lambda text: pool(lists, text),
        "sample": lambda text: sample(lists, text),
        "scale": lambda text: problem(SCORES, scale=text),
        "search": searched,
        "simultaneous test": lambda text: all_pairs(SCORES, text, resamples=20),
        "smoothing": lambda text: standardize(SCORES, smoothing=text),
        "test": lambda text: all_pairs(SCORES, text, resamples=20),
        "two-sample test": lambda text: TWO_SAMPLE_TESTS.call(text, x, y, resamples=20),
        "weights": lambda text: audit(SCORES, weights=text),
    }
    return callers[kind]


WITHOUT_A_CALL = {"measure of preferences", "way of choosing a cut", "session measure", "text measure"}
"""Kinds without parameters, or whose functions take data that no command passes; their texts are parsed."""
REGISTRIES: list[Registry[Any]] = [MEASURES, *(registry for _, registry in other_registries())]
CASES = [
    pytest.param(registry, entry, key, id=f"{registry.kind}: {entry.name}({key})")
    for registry in REGISTRIES
    for entry in registry
    for key in entry.parameters
]


@pytest.mark.parametrize(("registry", "entry", "key"), CASES)
def test_nonsense_is_an_answer_or_one_line(registry: Registry[Any], entry: Entry[Any], key: str) -> None:
    for value in NONSENSE:
        text = f"{entry.name}({key}={value})"
        said = ""
        try:
            registry.entry(text)
            if registry.kind not in WITHOUT_A_CALL:
                of_registry(registry.kind)(text)
        except AssayError as error:
            said = str(error)
        assert "\n" not in said, text


@pytest.mark.parametrize(("registry", "entry", "key"), [case for case in CASES if "seed" in str(case.id)])
def test_a_seed_is_a_whole_number_from_0_on(registry: Registry[Any], entry: Entry[Any], key: str) -> None:
    if key == "seed":
        assert entry.kinds(key) == ["int"]
        assert str(entry.limits(key)) == "at least 0"


def test_numbers_have_limits_unless_every_number_will_do() -> None:
    free = {
        (entry.name, key)
        for registry in REGISTRIES
        for entry in registry
        for key in entry.parameters
        if {"int", "float"} & set(entry.kinds(key)) and entry.limits(key) is None
    }
    assert free == {
        ("overlap", "rel"), ("soboroff", "mean"), ("soboroff", "rel"), *(("Utility", key) for key in "abcd"),
    }  # fmt: skip


def test_randomness_has_one_name() -> None:
    """Whoever draws takes a `seed`."""
    for registry in REGISTRIES:
        for entry in registry:
            assert not {"random_state", "rng", "random"} & set(entry.parameters), entry.name
