"""Subsets on other runs, measures and collections; choosing before judging."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores
from assay.topics.choose import choose_topics
from assay.topics.holdout import halved, hold_out, transfer
from tests.conftest import real_data
from tests.topics.released import collection, made, trec8


def test_best_sets_shrink_on_other_runs_but_beat_chance() -> None:
    found = hold_out(trec8(), cardinalities=(5, 10, 20), splits=3)
    chosen, best, average = (x.mean(axis=0) for x in (found.chosen, found.best, found.average))
    assert (chosen > best).all()
    assert (best > average).all()
    assert (found.worst.mean(axis=0) < average).all()
    assert found.table().column("topics") == [5, 10, 20]


def test_chance_has_no_best_subset() -> None:
    """Without structure a subset chosen on some runs is worth on others what random topics are."""
    rng = np.random.default_rng(0)
    gaps = []
    for seed in range(6):
        noise = ScoreMatrix.of(rng.random((40, 20)).round(3))
        found = hold_out(noise, cardinalities=(8,), splits=4, seed=seed, repetitions=300)
        gaps.append(float((found.best - found.average).mean()))
        assert (found.chosen > found.average).all()
    assert abs(np.mean(gaps)) < 4 * np.std(gaps, ddof=1) / np.sqrt(len(gaps)) + 0.02


def test_other_measure() -> None:
    ap = collection("terabyte2006")
    ndcg = read_scores(real_data("trec-score-matrices/anonymous/terabyte2006_ndcg.csv"), transpose=True)[0]
    other = ScoreMatrix.of(ndcg.values, runs=ap.runs, topics=sorted(ap.topics), measure="nDCG")
    found = transfer(ap, other, cardinalities=(15, 30), search="swap(starts=2, rounds=2)", repetitions=200)
    assert (found.chosen >= found.best).all()
    assert (found.best > found.average).all()


def test_other_collection() -> None:
    """Topics of TREC-8 chosen on its own runs, tested on the runs of Robust 2004."""
    found = transfer(
        trec8(), collection("robust2004"), cardinalities=(10, 25), search="swap(rounds=2)", repetitions=500
    )
    assert found.problem.n == 50
    assert (found.best > found.worst).all()
    assert "50 common topics" in found.table().notes[0]


def test_groups_stay_together() -> None:
    runs = tuple(f"g{i // 3}r{i}" for i in range(18))
    groups = {r: r[:2] for r in runs}
    for seed in range(5):
        one, two = halved(runs, np.random.default_rng(seed), groups)
        assert not {groups[r] for r in one} & {groups[r] for r in two}
        assert sorted(one + two) == sorted(runs)
        assert abs(len(one) - len(two)) <= 3


def test_too_few_runs_or_topics() -> None:
    with pytest.raises(DataError, match="3 runs on each side"):
        hold_out(made(runs=5))
    with pytest.raises(DataError, match="common topics"):
        transfer(made(), ScoreMatrix.of(made().values, topics=[f"t{i}" for i in range(10)]))
    with pytest.raises(UsageError, match="at least 1"):
        hold_out(made(), splits=0)
    with pytest.raises(UsageError, match="no subsets of 99"):
        hold_out(made(), cardinalities=(99,))


def test_choice_says_what_to_expect() -> None:
    robust = collection("robust2004")
    common = robust.select(topics=list(trec8().topics))
    found = choose_topics(trec8(), count=15, truth=common, splits=3)
    assert len(found.topics) == 15
    assert found.own > found.expected > found.random
    assert found.worthwhile
    assert found.actual is not None
    assert found.actual == pytest.approx(found.expected, abs=0.1)
    table = found.table()
    assert table.column("value")[0] == "expected on new runs"
    assert table.notes[0].startswith("judge: ")


def test_choice_admits_that_chance_does_as_well() -> None:
    noise = ScoreMatrix.of(np.random.default_rng(7).random((30, 16)).round(3))
    verdicts = [choose_topics(noise, count=6, splits=4, seed=s, search="swap(rounds=2)") for s in range(3)]
    assert all(v.own - v.expected > 0.1 for v in verdicts)
    assert any("no better than random" in v.table().notes[1] for v in verdicts)
