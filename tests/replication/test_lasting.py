"""Series of collections: against plain numbers, on real scores, and with bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.board import split_topics
from assay.core.errors import AssayError
from assay.data import ScoreMatrix
from assay.io import read_scores
from assay.replication import ScoreSeries, replicate, score_series
from assay.standard import standardize
from tests.conftest import real_data


def years(count: int = 3, seed: int = 0, same: bool = False) -> dict[str, ScoreMatrix]:
    """Four systems; the last loses from year to year, and topics become easier."""
    rng = np.random.default_rng(seed)
    made = {}
    for year in range(count):
        quality = np.array([0.5, 0.45, 0.4, 0.5 - 0.1 * year])[:, None] + 0.05 * year
        topics = range(30) if same else range(100 * year, 100 * year + 30)
        scores = quality + rng.normal(0, 0.1, (4, 30)) + rng.normal(0, 0.05, 30)
        made[f"y{year}"] = ScoreMatrix.of(scores, topics=topics, measure="AP")
    return made


@pytest.mark.parametrize("same", [False, True])
def test_changes_are_those_of_scipy_on_standardized_scores(same: bool) -> None:
    collections = years(same=same)
    found = score_series(collections, resamples=50)
    first, last = (standardize(collections[name]) for name in ("y0", "y2"))
    one = found.of(3)[1]
    x, y = last.of_run("run4"), first.of_run("run4")
    tested = stats.ttest_rel(x, y) if same else stats.ttest_ind(x, y, equal_var=False)
    assert one.change.value == pytest.approx(x.mean() - y.mean())
    assert one.change.p == pytest.approx(tested.pvalue)
    low, high = tested.confidence_interval()
    assert [one.change.low, one.change.high] == pytest.approx([low, high])
    before, after = collections["y0"].of_run("run4").mean(), collections["y2"].of_run("run4").mean()
    assert one.drop.value == pytest.approx((before - after) / before)
    assert one.drop.low < one.drop.value < one.drop.high


def test_the_one_that_loses_is_found_and_the_order_moves() -> None:
    found = score_series(years(), resamples=200)
    assert found.ranks[3].tolist() == [1, 3, 4]
    assert found.significant("y2")[1] == 1
    expected = stats.kendalltau(found.means[:, 0], found.means[:, 2]).statistic
    assert found.order[1].value == pytest.approx(expected)
    assert "from y0 to y2" in found.verdict
    assert found.order_table().column("fell")[-1] == 1


def test_effects_over_a_baseline_are_those_of_replicate() -> None:
    collections = years()
    found = score_series(collections, baseline="run3", resamples=100)
    alone = replicate(collections["y0"], collections["y1"], baseline="run3", system="run1", resamples=100)
    one = found.of(0)[0]
    assert one.effect is not None
    assert one.delta_ri is not None
    assert [one.effect.value, one.effect.low] == pytest.approx([alone.ratio.value, alone.ratio.low])
    assert one.delta_ri.low == pytest.approx(next(q.low for q in alone.quantities if q.key == "delta_ri"))
    table = found.table()
    assert set(table.column("system")) == {"run1", "run2", "run4"}
    outcomes = {(row["system"], row["collection"]): row["outcome"] for row in table.record()["rows"]}
    assert outcomes["run1", "y1"] == alone.outcome
    assert outcomes["run1", "y0"] is None


def test_the_top_is_shown_and_systems_that_come_and_go_are_counted() -> None:
    collections = years()
    collections["y1"] = collections["y1"].select(runs=["run1", "run3", "run4"])
    found = score_series(collections, resamples=50).best(2)
    assert len(found.table().rows) == 2 * 3
    assert "1 systems that are not on all collections are left out" in found.table().notes
    whole = score_series(collections, common="collections", resamples=50)
    assert whole.collections == ("y0", "y2")
    assert "left out are the collections that lack a system (y1)" in whole.table().notes


def test_how_topics_are_paired_is_said() -> None:
    collections = years(same=True)
    assert "30, 30, 30 topics; paired with the same topics of the first" in score_series(collections).table().notes
    renamed = ScoreMatrix.of(collections["y1"].values, topics=range(20, 50), measure="AP")
    [note] = [note for note in score_series(collections | {"y1": renamed}).table().notes if "topics;" in note]
    assert "paired with the same topics of the first: y2; two samples where the topics are others" in note
    assert "10 topic ids of y1 are in the first too, and count as different topics" in note


def robust() -> ScoreSeries:
    [scores] = read_scores(real_data("trec-score-matrices/named/robust2004_ap.csv"))
    ends = {"trec6": (301, 350), "trec7": (351, 400), "trec8": (401, 450)}
    parts = {name: [topic for topic in scores.topics if a <= int(topic) <= b] for name, (a, b) in ends.items()}
    return score_series(split_topics(scores, parts), resamples=100)


def test_a_series_of_real_scores() -> None:
    """110 systems of TREC Robust 2004 on the topics of three years: few change significantly against the others."""
    found = robust()
    assert found.collections == ("trec6", "trec7", "trec8")
    assert found.topics == (50, 50, 50)
    assert found.standardized.mean(axis=0) == pytest.approx(found.standardized.mean(), abs=0.005)
    tau = found.order[0].value
    assert tau is not None
    assert 0.55 < tau < 0.65
    risen, fallen = found.significant("trec8")
    assert risen + fallen < 11


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"collections": {"y0": years()["y0"]}}, "1 collection given; a series takes at least two"),
        ({"baseline": "bm25"}, "no system 'bm25' on all collections"),
        ({"form": "zz"}, "no form of standardization 'zz'"),
        ({"level": 2.0}, "level must lie between 0 and 1"),
        (
            {"collections": {"a": years()["y0"], "b": ScoreMatrix.of(np.ones((4, 5)), measure="P@10")}},
            "AP and P@10 are not the same measure",
        ),
        (
            {"collections": {"a": years()["y0"], "b": ScoreMatrix.of([[0.1] * 3], runs=["run1"], measure="AP")}},
            "1 systems are on all 2 collections; a series needs two of both",
        ),
        (
            {"collections": {"a": years()["y0"], "b": ScoreMatrix.of([[0.1], [0.2]], measure="AP")}},
            "b: one score per system; a series needs scores on two topics or more",
        ),
        ({"collections": [1, 2]}, "list where collections are expected"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"collections": years(), "resamples": 20} | change
    with pytest.raises(AssayError, match=r"^[^\n]*$") as error:
        score_series(given.pop("collections"), **given)
    assert message in str(error.value)
