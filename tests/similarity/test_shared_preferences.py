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
from assay.rankings.stated_preferences import PREFERENCES
from assay.similarity.shared_preferences import preference_similarity
from tests.oracles import similarity as plain

Scores = dict[str, dict[str, float]]
scores = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 5).map(float), min_size=1, max_size=9)
runs_of_two_topics = st.lists(
    st.fixed_dictionaries({"1": scores}, optional={"2": scores}), min_size=2, max_size=4
)  # fmt: skip


def kept_docs(run: Scores, topic: str, keep: Callable[[str], bool]) -> dict[str, float]:
    return {doc: score for doc, score in run.get(topic, {}).items() if keep(doc)}


def listed(
    a: Scores, b: Scores, every: list[Scores], preferences: str, keep: Callable[[str], bool] = lambda doc: True
) -> float:
    """Eq. 7 by listing every preference; `every` run pools its docs."""
    values = []
    for topic in a.keys() | b.keys():
        pool = {doc for run in every for doc in kept_docs(run, topic, keep)}
        if preferences == "both":
            p, q = (plain.preferences(kept_docs(run, topic, keep)) for run in (a, b))
        else:
            p, q = (plain.preferences_over_missing(kept_docs(run, topic, keep), pool) for run in (a, b))
        if p | q:
            values.append(len(p & q) / len(p | q))
    return float(np.mean(values)) if values else 0.0


@pytest.mark.parametrize("preferences", PREFERENCES)
@settings(deadline=None, max_examples=80)
@given(made=runs_of_two_topics)
def test_counting_is_listing(made: list[Scores], preferences: str) -> None:
    runs = [Run.from_dict(f"r{i}", s) for i, s in enumerate(made)]
    found = preference_similarity(runs, preferences=preferences)
    for i, a in enumerate(made):
        for j, b in enumerate(made):
            assert found.matrix[i, j] == pytest.approx(listed(a, b, made, preferences), abs=1e-12)


@pytest.mark.parametrize("preferences", PREFERENCES)
@settings(deadline=None, max_examples=60)
@given(made=runs_of_two_topics, relevant=st.sets(st.sampled_from("abcdefghij")))
def test_only_relevant_and_only_nonrelevant_docs(made: list[Scores], relevant: set[str], preferences: str) -> None:
    runs = [Run.from_dict(f"r{i}", s) for i, s in enumerate(made)]
    grades = {d: int(d in relevant) for d in "abcdefgh"}  # i and j are not judged
    judged = {d for d in relevant if d in grades}
    qrels = Qrels.from_dict({"1": grades, "2": grades})
    for among, keep in (("relevant", judged.__contains__), ("nonrelevant", lambda d: d not in judged)):
        found = preference_similarity(runs, qrels=qrels, among=among, preferences=preferences)
        assert found.matrix[0, 1] == pytest.approx(listed(made[0], made[1], made, preferences, keep), abs=1e-12)


def test_a_retrieved_doc_is_preferred_to_what_only_others_retrieved() -> None:
    """a says x≻y and both over z; b says y≻z and both over x. They agree on y≻z alone, of five in all."""
    a, b = Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})
    assert preference_similarity([a, b]).matrix[0, 1] == pytest.approx(1 / 5)
    assert preference_similarity([a, b], preferences="both").matrix[0, 1] == 0
    third = Run.from_lists("c", {"1": ["w"]})  # w is pooled now: a and b both prefer y to it
    assert preference_similarity([a, b, third]).matrix[0, 1] == pytest.approx(2 / 8)


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

    Carterette & Allan find .124 to .216 on TREC-3 … 8, correlations of .58 to .84, and about twice the likeness among
    relevant docs. Here the runs are less alike (.101), their likeness predicts MAP (Pearson .74, among relevant docs
    .81), and relevant docs are ordered alike 2.8 times as often as others. Where a run says nothing of docs that it
    lacks: .018, .72, .86 and six times.
    """
    runs = covid_runs
    with data("trec-covid-round1/leaderboard.csv").open() as file:
        official = {row["run"].strip(): float(row["MAP"]) for row in csv.DictReader(file)}
    scores_of = [official[run.name] for run in runs]
    qrels = read_qrels(data("trec-covid-round1/qrels.txt"))
    wanted = {
        ("retrieved", "all"): (0.100500, 0.7401),
        ("retrieved", "relevant"): (0.256128, 0.8107),
        ("retrieved", "nonrelevant"): (0.091113, 0.7077),
        ("both", "all"): (0.018076, 0.7225),
        ("both", "relevant"): (0.096243, 0.8635),
    }
    for (preferences, among), (mean, correlation) in wanted.items():
        found = preference_similarity(runs, qrels=qrels, among=among, preferences=preferences, jobs=2)
        assert found.mean() == pytest.approx(mean, abs=1e-6)
        assert pearson(found.to_others(), scores_of) == pytest.approx(correlation, abs=5e-5)
