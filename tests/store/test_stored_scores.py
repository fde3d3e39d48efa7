"""Scores of a store are those of `evaluate`, to the last bit; they are computed once and stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import assay
from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.store import Store

MEASURES = "AP nDCG@10 P@5 RR bpref NumRel"


@pytest.fixture
def filled(store: Store) -> Store:
    """Three runs with ties and unjudged docs; the last one lacks a topic."""
    generator = np.random.default_rng(5)
    docs = [f"d{i}" for i in range(30)]
    grades = {str(t): {d: int(generator.integers(0, 3)) for d in docs[:20]} for t in range(5)}
    store.collections.add("sim")
    store.qrels.add("sim", grades)
    for name in "abc":
        topics = [str(t) for t in range(5 if name != "c" else 4)]
        scores = {t: {d: float(generator.integers(0, 9)) for d in docs} for t in topics}
        store.runs.add("sim", Run.from_dict(name, scores))
    return store


@pytest.mark.parametrize(
    "choices",
    [{}, {"missing": "drop"}, {"ties": "average"}, {"binary": 2}, {"depth": 5}, {"ties": "file"}, {"condensed": True}],
    ids=str,
)
def test_kept_scores_are_those_of_evaluate(filled: Store, choices: dict[str, Any]) -> None:
    runs = [filled.runs.read(run.hash) for run in filled.runs.listed("sim")]
    fresh = assay.evaluate(runs, filled.qrels.read("sim"), MEASURES, **choices)
    for _ in range(2):  # once computed, once from the store
        kept = filled.scores.of("sim", MEASURES, **choices)
        for ours, theirs in zip(kept, fresh, strict=True):
            assert ours.values.tobytes() == theirs.values.tobytes()
            assert (ours.runs, ours.topics, ours.signature) == (theirs.runs, theirs.topics, theirs.signature)
        assert kept.aggregates == fresh.aggregates


def test_what_was_scored_is_not_scored_again(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = filled.scores.of("sim", "AP P@5")

    def refuse(*_: object) -> None:
        raise AssertionError("scored again")

    monkeypatch.setattr("assay.store.stored_scores.scores_of", refuse)
    assert filled.scores.of("sim", "P@5 AP")["AP"].values.tolist() == before["AP"].values.tolist()
    assert filled.scores.of("sim", "AP", missing="drop").topics == ("0", "1", "2", "3")
    with pytest.raises(AssertionError, match="scored again"):
        filled.scores.of("sim", "AP", binary=2)


def test_what_a_run_lacks_and_what_is_unjudged(filled: Store) -> None:
    facts = {match.run.tag: match for match in filled.scores.matched("sim")}
    assert facts["a"].missing == ()
    assert facts["c"].missing == ("4",)
    for match in facts.values():
        run = filled.runs.read(match.run.hash)
        judged = filled.qrels.read("sim").to_dict()
        tops = [(topic, doc) for topic in run.topics for doc in run.ranking(topic)[:10]]
        unjudged = sum(doc not in judged[topic] for topic, doc in tops)
        assert (match.seen, match.unjudged) == (len(tops), unjudged)
        assert match.unjudged_share == unjudged / len(tops)


def test_a_new_version_of_judgments_leaves_old_addresses_valid(filled: Store) -> None:
    run = filled.runs.listed("sim")[0]
    old = filled.scores.certify(run.hash, "AP")
    filled.qrels.add("sim", {"0": {"d1": 1}})
    new = filled.scores.certify(run.hash, "AP")
    assert new.address != old.address
    assert filled.scores.certificate(old.address) == old
    assert filled.scores.certify(run.hash, "AP", qrels=1) == old
    assert filled.scores.certify(run.hash, "AP", qrels=1, missing="drop").address != old.address
    assert run.hash in old.bibtex()
    assert old.score == filled.scores.matrix("sim", "AP", qrels=1).of_run("a").mean()
    with pytest.raises(UsageError, match="no certified score"):
        filled.scores.certificate("0" * 32)


def test_a_stranger_checks_an_address_by_hand(filled: Store) -> None:
    import hashlib

    run = filled.runs.listed("sim")[0]
    held = filled.scores.certify(run.hash, "AP")
    text = "\n".join([run.hash, filled.qrels.version("sim").hash, held.signature, "0"])
    assert hashlib.sha256(text.encode()).hexdigest()[:32] == held.address


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    grades=st.dictionaries(
        st.text("ab1 ", min_size=1, max_size=3).filter(str.strip),
        st.dictionaries(st.text("xyz é", min_size=1, max_size=3).filter(str.strip), st.integers(-1, 3), min_size=1),
        min_size=1,
        max_size=3,
    ),
    scores=st.lists(st.floats(-5, 5), min_size=3, max_size=3),
)
def test_any_ids_score_as_without_a_store(
    tmp_path_factory: pytest.TempPathFactory, grades: dict[str, dict[str, int]], scores: list[float]
) -> None:
    topics = list(grades)
    run = Run.from_dict("r", {topic: dict(zip(["x", "y z", "é"], scores, strict=True)) for topic in topics})
    with Store(tmp_path_factory.mktemp("s")) as store:
        store.collections.add("c")
        store.qrels.add("c", grades)
        store.runs.add("c", run)
        (kept,) = store.scores.of("c", "nDCG@10")
    (fresh,) = assay.evaluate([run], Qrels.from_dict(grades), "nDCG@10")
    assert kept.values.tolist() == fresh.values.tolist()
    assert kept.topics == fresh.topics
