"""Workers, topics and docs: α against the package krippendorff, suspects found, pairs counted by hand."""

from __future__ import annotations

from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agreement.across_scales import ordered_pairs
from assay.agreement.left_out import alpha_by_topic, alpha_without
from assay.agreement.ratings import Ratings
from assay.agreement.scales import LEVELS, S2, S4, S100, Level
from assay.crowd.findings import findings, findings_table
from assay.crowd.quality import doc_quality, topic_quality, worker_quality
from assay.data import Labels, Qrels
from tests.crowd.simulated import categories
from tests.oracles import crowd as oracle


def package_alpha(answers: Ratings, level: Any, *, without: int | None = None) -> float:
    matrix = np.full((len(answers.workers), len(answers.items)), np.nan)
    matrix[answers.worker, answers.item] = answers.value
    if without is not None:
        matrix = np.delete(matrix, without, axis=0)
    return float(krippendorff.alpha(matrix, level_of_measurement=level))


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_with_and_without_each_worker_is_the_packages(level: Level) -> None:
    labels, _ = categories(np.linspace(0.5, 0.95, 7), docs=30, per_doc=4, levels=4)
    answers = Ratings.of_labels(labels, scale=S4, repeats="all")
    whole, without = alpha_without(answers, level=level)
    assert whole == pytest.approx(package_alpha(answers, level))
    for w in range(7):
        assert without[w] == pytest.approx(package_alpha(answers, level, without=w))
    per_topic, all_of_them = alpha_by_topic(answers, level=level)
    assert per_topic.tolist() == pytest.approx([whole])
    assert all_of_them == pytest.approx(whole)


def test_alpha_of_each_topic() -> None:
    labels, _ = categories(np.linspace(0.5, 0.95, 7), docs=30, per_doc=4, levels=4, topics=3)
    answers = Ratings.of_labels(labels, scale=S4, repeats="all")
    per_topic, _ = alpha_by_topic(answers, level="interval")
    for t in range(3):
        part = Ratings.of_labels(labels.select(labels.topic == t), scale=S4, repeats="all")
        assert per_topic[t] == pytest.approx(package_alpha(part, "interval"))


def test_alpha_is_unknown_where_nothing_varies() -> None:
    answers = Ratings.of_labels(Labels.from_rows([("1", "a", "v", 1), ("1", "a", "w", 1)]), scale=S2, repeats="all")
    whole, without = alpha_without(answers)
    assert np.isnan(whole)
    assert np.isnan(without).all()


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([0, 1, 0, 1], [10, 80, 90, 90], 2 / 6),
        ([0, 0, 0, 0, 1, 1, 1, 1], list(range(8)), 16 / 28),
        ([0, 0, 1], [5, 7, 6], 1 / 3),
    ],
)
def test_pairwise_agreement_across_scales(x: list[int], y: list[int], expected: float) -> None:
    # Roitero 2020, §9.3.2.1: all pairs in the denominator, strict order in the finer scale.
    found = ordered_pairs(np.zeros(len(x), int), np.array(x), np.array(y))
    assert found.agreement()[0] == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4)), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_pairs_of_all_groups_at_once(rows: list[tuple[int, int, int]]) -> None:
    group, x, y = np.array(rows).T
    found = ordered_pairs(group, x, y).agreement()
    for g in range(len(found)):
        mine = group == g
        if mine.sum() > 1:
            assert found[g] == pytest.approx(oracle.pairwise(x[mine].tolist(), y[mine].tolist()))
        else:
            assert np.isnan(found[g])


def crowd_with_spammers() -> tuple[Labels, list[str]]:
    rng = np.random.default_rng(4)
    worth = rng.uniform(0, 100, 120)
    rows, seconds = [], []
    for w in range(20):
        for d in rng.choice(120, 30, replace=False).tolist():
            value = float(np.clip(round(worth[d] + rng.normal(0, 8)), 0, 100))
            if w == 0:
                value = float(rng.integers(0, 101))
            if w == 1:
                value = 100 - value
            if w == 2:
                value = 50.0
            rows.append(("1", f"d{d:03d}", f"w{w:02d}", value))
            seconds.append(2.0 if w == 3 else float(rng.uniform(20, 40)))
    return Labels.from_rows(rows, seconds=np.array(seconds)), ["w00", "w01", "w02", "w03"]


def test_spammers_adversaries_straight_liners_and_the_hasty_are_found() -> None:
    labels, bad = crowd_with_spammers()
    found = worker_quality(labels, scale=S100)
    assert set(found.suspects()[:4]) == set(bad)
    reasons = dict(zip(found.workers, found.reasons, strict=True))
    assert any("far from the others" in r for r in reasons["w00"])
    assert any("does not order docs" in r for r in reasons["w01"])
    assert any("hardly varies" in r or "one label" in r for r in reasons["w02"])
    assert any("very fast" in r for r in reasons["w03"])
    gain = dict(zip(found.workers, found.facts["α_gain"], strict=True))
    assert max(gain["w00"], gain["w01"]) < 0
    assert "nobody is removed" in found.table().notes[0]


def test_worker_agreement_recovers_the_known_order() -> None:
    from scipy.stats import spearmanr

    quality = np.linspace(0.5, 0.97, 25)
    labels, _ = categories(quality, docs=600, per_doc=8)
    found = worker_quality(labels, scale=S2)
    assert spearmanr(quality, found.facts["agreement"]).statistic > 0.95
    assert spearmanr(quality, found.facts["α_gain"]).statistic > 0.9


def test_gold_and_habits_by_hand() -> None:
    rows = [("1", d, "u", v) for d, v in zip("abcd", (0, 10, 50, 100))] + [("1", d, "v", 33) for d in "abcd"]
    labels = Labels.from_rows(rows, gold=np.array([0, np.nan, np.nan, 100] * 2, dtype=float))
    facts = worker_quality(labels, scale=S100).facts
    assert facts["gold"].tolist() == pytest.approx([1, 0.5])
    assert facts["round"].tolist() == [1, 0]
    assert facts["boundary"].tolist() == [0.5, 0]
    assert facts["entropy"].tolist() == [2, 0]
    assert facts["same"].tolist() == [0.25, 1]


def test_topics_and_docs() -> None:
    rows = [("1", "a", w, 0.0) for w in "uv"] + [("1", "b", "u", 0.0), ("1", "b", "v", 100.0)]
    rows += [("2", "a", w, v) for w, v in (("u", 10.0), ("v", 30.0))]
    labels = Labels.from_rows(rows)
    table = topic_quality(labels, scale=S100, reference=Qrels.from_dict({"1": {"a": 0, "b": 1}})).table()
    assert table.column("topic") == ["1", "2", "all"]
    assert table.column("AUC")[:2] == [1.0, None]
    renamed = Labels.from_rows([("all" if t == "2" else t, d, w, v) for t, d, w, v in rows])
    assert topic_quality(renamed, scale=S100).table().column("topic") == ["1", "all", "(all)"]
    docs = doc_quality(labels, scale=S100)
    assert docs.table().column("doc")[0] == "b"
    assert docs.controversy.max() == 1
    assert docs.entropy.tolist() == [0, 1, 1]


def test_findings_name_lines() -> None:
    rows = [("1", "a", "w", 0.0), ("1", "a", "w", 7.0), ("1", "b", "v", 1.0), ("1", "a", "u", 1.0)]
    found = {f.problem: f.lines for f in findings(Labels.from_rows(rows, lines=np.array([2, 3, 5, 9])), scale=S2)}
    assert found == {
        "label outside the scale": (3,),
        "same worker twice on a doc": (3,),
        "doc with one label": (5,),
        "worker with one label": (5, 9),
    }
    assert (
        findings(Labels.from_rows(rows[:1] + rows[3:] + [("1", "b", "w", 0.0), ("1", "b", "u", 0.0)]), scale=S2) == []
    )
    assert findings_table([]).notes == ("Nothing odd was found.",)
