"""Grades say on which scale they are: in memory, in files, and where a measure would have to guess what is relevant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.agreement.scales import S100
from assay.core.errors import UsageError
from assay.crowd import aggregate
from assay.data import Qrels, Run
from assay.data.grade_scales import GradeScale
from assay.io import read_qrels, write_qrels
from tests.conftest import real_data
from tests.crowd.peers import s100

RUN = Run.from_lists("r", {"1": ["d6", "d3", "d0"]})
MANY = Qrels.from_dict({"1": {f"d{i}": i for i in range(7)}})


def test_a_mean_of_labels_from_0_to_100_is_not_cut_at_1(tmp_path: Path) -> None:
    labels = s100()
    one_topic = labels.select(labels.topic == labels.topics.index("402"))
    judged = aggregate(one_topic, "mean", scale=S100).qrels()
    assert (judged.grades >= 1).mean() > 0.95  # what every binary measure would have taken for relevant docs
    assert str(judged.scale) == "0–100, mean of 10 labels"
    run = Run.from_lists("r", {"402": list(judged.to_dict()["402"])[:10]})
    message = (
        r": mean has grades on a scale of many levels \(0–100, mean of 10 labels\), and which of them are relevant"
    )
    for measure in ("AP", "P@10", "RR"):
        with pytest.raises(UsageError, match=measure + message):
            assay.evaluate(run, judged, measure)
    cut, _ = assay.evaluate(run, judged, "P(rel=50)@10 nDCG@10")
    binary = assay.evaluate(run, judged, "P@10", binary=50)[0]
    assert cut.values.tolist() == binary.values.tolist()
    # Through a file of any format: the scale in the second column, or the levels themselves.
    for name in ("judged.qrels", "judged.csv"):
        write_qrels(tmp_path / name, judged)
        with pytest.raises(UsageError, match="on a scale of many levels"):
            assay.evaluate(run, tmp_path / name, "AP")
    again = read_qrels(tmp_path / "judged.qrels")
    assert again.to_dict() == judged.to_dict()
    assert again.scale == judged.scale
    made = again.binary(50)
    assert str(made.scale) == "2 levels 0–1, 0–100, mean of 10 labels, cut at 50"


def test_few_docs_on_a_long_scale_are_still_on_it() -> None:
    grades = Qrels.from_dict({"1": {"a": 80, "b": 20}})
    assert grades.fine_scale() is None
    told = Qrels(grades.topics, grades.bounds, grades.docs, grades.grades, scale=GradeScale(0, 100, 0, "slider"))
    with pytest.raises(
        UsageError, match=r"\(0–100, slider\).*e\.g\. P\(rel=50\)@1, or cut the judgments \(binary=50\)"
    ):
        assay.evaluate(Run.from_lists("r", {"1": ["a"]}), told, "P@1")


@pytest.mark.parametrize("measure", ["AP", "P@2", "RR", "bpref", "R@5"])
def test_seven_levels_ask_and_six_do_not(measure: str) -> None:
    with pytest.raises(UsageError, match=r"qrels has grades on a scale of many levels \(7 levels 0–6\)"):
        assay.evaluate(RUN, MANY, measure)
    six = Qrels.from_dict({"1": {f"d{i}": i for i in range(6)}})
    assert np.isfinite(assay.evaluate(RUN, six, measure)[0].values).all()
    assert np.isfinite(assay.evaluate(RUN, MANY, "nDCG")[0].values).all()
    assert np.isfinite(assay.evaluate(RUN, MANY, measure, binary=1)[0].values).all()


def test_trec_files_of_others_tell_of_no_scale(tmp_path: Path) -> None:
    path = tmp_path / "plain.qrels"
    for second in ("0", "Q0", "3-2", "1,2"):
        path.write_text(f"# comment\n1 {second} a 1\n1 {second} b 0\n")
        assert read_qrels(path).scale is None
    assert read_qrels(real_data("crowd-s100-trec8/trec8-qrels.txt")).fine_scale() is None
