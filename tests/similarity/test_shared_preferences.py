from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.io import read_qrels
from assay.rankings.correlation import pearson
from assay.similarity.shared_preferences import preference_similarity
from tests.oracles import similarity as plain

Scores = dict[str, dict[str, float]]
scores = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 5).map(float), min_size=1, max_size=9)
runs_of_two_topics = st.lists(
    st.fixed_dictionaries({"1": scores}, optional={"2": scores}), min_size=2, max_size=4
)  # fmt: skip


def listed(a: Scores, b: Scores, keep: Callable[[str], bool] = lambda doc: True) -> float:
    """Eq. 7 by listing every preference."""
    values = []
    for topic in a.keys() | b.keys():
        p, q = (plain.preferences({d: s for d, s in run.get(topic, {}).items() if keep(d)}) for run in (a, b))
        if p | q:
            values.append(len(p & q) / len(p | q))
    return float(np.mean(values)) if values else 0.0


@settings(deadline=None, max_examples=80)
@given(runs_of_two_topics)
def test_counting_is_listing(made: list[Scores]) -> None:
    runs = [Run.from_dict(f"r{i}", s) for i, s in enumerate(made)]
    found = preference_similarity(runs)
    for i, a in enumerate(made):
        for j, b in enumerate(made):
            assert found.matrix[i, j] == pytest.approx(listed(a, b) if i != j else listed(a, a), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(runs_of_two_topics, st.sets(st.sampled_from("abcdefghij")))
def test_only_relevant_and_only_nonrelevant_docs(made: list[Scores], relevant: set[str]) -> None:
    runs = [Run.from_dict(f"r{i}", s) for i, s in enumerate(made)]
    grades = {d: int(d in relevant) for d in "abcdefgh"}  # i and j are not judged
    judged = {d for d in relevant if d in grades}
    qrels = Qrels.from_dict({"1": grades, "2": grades})
    for among, keep in (("relevant", judged.__contains__), ("nonrelevant", lambda d: d not in judged)):
        found = preference_similarity(runs, qrels=qrels, among=among)
        assert found.matrix[0, 1] == pytest.approx(listed(made[0], made[1], keep), abs=1e-12)


def test_mean_and_table() -> None:
    runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in (("a", "xyz"), ("b", "xyz"), ("c", "zyx"))]
    found = preference_similarity(runs)
    assert found.matrix.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert found.to_others().tolist() == [0.5, 0.5, 0]
    assert found.table().rows[0][:3] == ("a", 0.5, "b")


def test_ties_in_the_order_of_the_run_state_preferences() -> None:
    a, b = Run.from_dict("a", {"1": {"x": 1, "y": 1}}), Run.from_dict("b", {"1": {"x": 1, "y": 2}})
    assert preference_similarity([a, b]).matrix[0, 1] == 0
    assert preference_similarity([a, b], ties=False).matrix[0, 1] == 1  # equal scores go by id, descending: y first


def test_jobs_do_not_change_the_result() -> None:
    rng = np.random.default_rng(0)
    runs = [Run.from_lists(f"r{i}", {t: [f"d{x}" for x in rng.permutation(50)[:30]] for t in "123"}) for i in range(6)]
    one, two = (preference_similarity(runs, jobs=j).matrix for j in (1, 2))
    assert np.array_equal(one, two)


def test_bad_choices_are_refused() -> None:
    a, b = Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"1": ["x"]})
    assert preference_similarity([a, b]).mean() == 0  # one doc each: no preference, no likeness
    with pytest.raises(UsageError, match="need qrels"):
        preference_similarity([a, b], among="relevant")
    with pytest.raises(UsageError, match="known: all"):
        preference_similarity([a, b], among="some")


def test_all_runs_of_trec_covid(data: Callable[[str], Path], covid_runs: list[Run]) -> None:
    """TREC-COVID round 1, 143 runs × 30 topics: mean similarity and its correlation with the official MAP.

    Carterette & Allan find .124 to .216 on TREC-3 … 8, correlations from −.05, and about twice the likeness among
    relevant docs. Here the runs are far less alike (.018), their likeness predicts MAP (Pearson .72, among relevant
    docs .86), and relevant docs are ordered alike six times as often.
    """
    runs = covid_runs
    with data("trec-covid-round1/leaderboard.csv").open() as file:
        official = {row["run"].strip(): float(row["MAP"]) for row in csv.DictReader(file)}
    scores_of = [official[run.name] for run in runs]
    found = preference_similarity(runs, jobs=2)
    assert found.mean() == pytest.approx(0.018076, abs=1e-6)
    assert pearson(found.to_others(), scores_of) == pytest.approx(0.7225, abs=5e-5)
    qrels = read_qrels(data("trec-covid-round1/qrels.txt"))
    relevant = preference_similarity(runs, qrels=qrels, among="relevant", jobs=2)
    assert relevant.mean() == pytest.approx(0.09624, abs=1e-5)
    assert pearson(relevant.to_others(), scores_of) == pytest.approx(0.8635, abs=5e-5)
