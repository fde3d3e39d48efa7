"""Judgments with their uncertainty: intervals, draws, files, and what they do to a score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.agreement.scales import S100
from assay.core.errors import DataError
from assay.crowd.aggregation import aggregate
from assay.crowd.uncertain import Uncertain
from assay.crowd.uncertain_files import read_uncertain, write_uncertain
from assay.crowd.uncertain_scores import score_uncertainty
from assay.data import Labels, Run
from assay.scoring import evaluate
from tests.crowd.simulated import categories

ITEMS = [("1", "a"), ("1", "b"), ("2", "a")]


def of_posterior() -> Uncertain:
    posterior = [[0.99, 0.01, 0.0], [0.1, 0.6, 0.3], [0.02, 0.02, 0.96]]
    return Uncertain.of_posterior("test", ITEMS, posterior, levels=[0, 1, 2], labels=[3, 4, 5])


def test_interval_from_the_posterior() -> None:
    judged = of_posterior()
    assert judged.grade.tolist() == [0, 1, 2]
    assert judged.low.tolist() == [0, 0, 1]
    assert judged.high.tolist() == [0, 2, 2]
    assert judged.probability.tolist() == [0.99, 0.6, 0.96]
    assert judged.sd[1] == pytest.approx(0.6)


def test_qrels_low_and_high() -> None:
    judged = of_posterior()
    assert judged.qrels().to_dict() == {"1": {"a": 0, "b": 1}, "2": {"a": 2}}
    assert judged.low_qrels().to_dict() == {"1": {"a": 0, "b": 0}, "2": {"a": 1}}
    assert judged.high_qrels().to_dict() == {"1": {"a": 0, "b": 2}, "2": {"a": 2}}


def test_draws_follow_the_posterior() -> None:
    judged = of_posterior()
    drawn = np.array([judged.draw(seed).grades for seed in range(4000)])
    np.testing.assert_allclose(
        [(drawn == v).mean(axis=0) for v in (0, 1, 2)], np.asarray(judged.posterior).T, atol=0.03
    )
    assert judged.draw(7).to_dict() == judged.draw(7).to_dict()


def test_draws_of_numbers_stay_on_the_scale() -> None:
    rows = [("1", d, f"w{i}", v) for d, vs in {"a": (0, 5, 20), "b": (90, 100, 100)}.items() for i, v in enumerate(vs)]
    judged = aggregate(Labels.from_rows(rows), "mean", scale=S100)
    drawn = np.array([judged.draw(seed).grades for seed in range(2000)])
    assert drawn.min() >= 0
    assert drawn.max() <= 100
    assert drawn[:, 0].std() == pytest.approx(judged.sd[0], rel=0.35)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_file_and_back(tmp_path: Path, ending: str) -> None:
    path, judged = tmp_path / f"judged.{ending}", of_posterior()
    write_uncertain(path, judged)
    again = read_uncertain(path)
    assert again.items == judged.items
    for name in ("grade", "low", "high", "probability", "sd", "labels", "posterior", "levels"):
        np.testing.assert_allclose(getattr(again, name), getattr(judged, name))
    assert again.draw(3).to_dict() == judged.draw(3).to_dict()


def test_file_of_numbers_has_no_probability(tmp_path: Path) -> None:
    judged = aggregate(Labels.from_rows([("1", "a", "v", 3), ("1", "a", "w", 9)]), "mean", scale=S100)
    path = tmp_path / "n.csv"
    write_uncertain(path, judged)
    assert path.read_text().splitlines()[1].startswith("1,a,6,")
    again = read_uncertain(path)
    assert np.isnan(again.probability).all()
    assert again.posterior is None
    assert again.sd[0] == pytest.approx(judged.sd[0])


def test_a_bad_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("topic,doc,grade,low,high,probability,sd,labels\n1,a,0,0,1,.9,.1,3\n1,b,2,0,1,.9,.1,3\n")
    with pytest.raises(DataError, match=r"bad.csv:3: the grade 2 is not between low 0 and high 1"):
        read_uncertain(path)
    path.write_text("topic,doc,grade,low,high,probability,sd,labels\n1,a,x,0,1,.9,.1,3\n")
    with pytest.raises(DataError, match=r"bad.csv:2: grade is not a number: 'x'"):
        read_uncertain(path)


def test_tables_show_the_least_certain_first() -> None:
    assert of_posterior().table(most=1).column("doc") == ["b"]
    assert of_posterior().summary().column("grade") == ["0", "1", "2", "all"]


def test_scores_of_low_and_high_enclose_the_score() -> None:
    labels, _ = categories(np.full(12, 0.75), docs=60, per_doc=4, topics=3)
    judged = aggregate(labels, "dawid-skene")
    rng = np.random.default_rng(0)
    ranked: dict[str, list[str]] = {}
    for i in rng.permutation(len(judged.items)).tolist():
        ranked.setdefault(judged.items[i][0], []).append(judged.items[i][1])
    run = Run.from_lists("r", ranked)
    low, mid, high = (
        evaluate([run], q, ["P@10"])[0].averages()[0] for q in (judged.low_qrels(), judged.qrels(), judged.high_qrels())
    )
    assert low < mid < high
    drawn = score_uncertainty([run], judged, "P@10", draws=40).judged
    assert drawn.shape == (40, 1)
    assert low <= drawn.mean() <= high
    assert drawn.std() > 0
