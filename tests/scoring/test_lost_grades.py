"""Grades that no measure counts are said under the table; scores and signatures stay as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.score import command as score
from assay.data.scores import joined
from assay.report import report
from assay.scoring import Aligned, evaluate

RUNS = {"a": {"1": {"x": 2.5, "y": 1.5}, "2": {"x": 1.0}}, "b": {"1": {"y": 2.5}, "2": {"z": 1.5}}}
QRELS = {"1": {"x": 0.9, "y": 0.2}, "2": {"z": 0.4, "x": 0.0}}
LINE = "highest grade .9: AP, P@10, RR count grades ≥ 1; set rel=.5"


def notes(*args: object, **kwargs: object) -> list[str]:
    return [line for line in evaluate(*args, **kwargs).table().text().splitlines() if "grade" in line[:20]]  # type: ignore[arg-type]


def test_fractions_below_1_are_said_once_for_all_measures() -> None:
    scores = evaluate(RUNS, QRELS, "AP nDCG@10 P@10 RR RBP")
    assert scores["AP"].averages().tolist() == [0.0, 0.0]
    assert scores["nDCG@10"].averages().min() > 0
    assert scores.table().text().splitlines()[-1] == LINE
    assert scores["AP"].table().text().splitlines()[-1] == "highest grade .9: AP counts grades ≥ 1; set rel=.5"
    assert "rel=" not in scores["nDCG@10"].table().text()
    assert Aligned.of(RUNS, QRELS).scores("AP P@10 RR").table().text().splitlines()[-1] == LINE


def test_what_it_says_to_do_helps() -> None:
    assert notes(RUNS, QRELS, "AP(rel=.5) P(rel=.5)@10 nDCG") == []
    assert evaluate(RUNS, QRELS, "AP(rel=.5)")["AP(rel=.5)"].averages().max() > 0
    low = {topic: {doc: grade / 3 for doc, grade in docs.items()} for topic, docs in QRELS.items()}
    assert notes(RUNS, low, "AP") == ["highest grade .3: AP counts grades ≥ 1; set rel=.3"]


def test_a_rel_above_the_highest_grade_is_said() -> None:
    whole = {"1": {"x": 2, "y": 1}, "2": {"z": 1}}
    assert notes(RUNS, whole, "AP(rel=3) RR nDCG") == ["highest grade 2: AP(rel=3) counts grades ≥ 3; set rel=2"]
    assert notes(RUNS, whole, "AP(rel=2) RR nDCG") == []


@pytest.mark.parametrize("grades", [{"1": {"x": 0}, "2": {"z": 0}}, {"1": {"x": 1}, "2": {"z": 0}}])
def test_nothing_is_said_of_judgments_without_grades_or_with_enough(grades: dict[str, dict[str, float]]) -> None:
    assert notes(RUNS, grades, "AP nDCG") == []


def test_binary_judgments_of_which_none_is_relevant_are_said() -> None:
    assert notes(RUNS, QRELS, "AP nDCG", binary=True) == [
        "no grade reaches 1: AP, nDCG of binary judgments; set a lower binary="
    ]
    assert notes(RUNS, QRELS, "AP nDCG", binary=0.5) == []


def test_it_goes_along_with_the_scores() -> None:
    scores = evaluate(RUNS, QRELS, "AP")[0]
    assert joined([scores.select(runs=["a"]), scores.select(runs=["b"])])[0].lost == (0.9, 1)


def test_command_and_report_say_it(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("1 0 x 0.9\n1 0 y 0.2\n2 0 z 0.4\n")
    (tmp_path / "a.run").write_text("1 Q0 x 1 2.5 a\n2 Q0 z 1 1.0 a\n")
    command = ["--qrels", str(tmp_path / "q.txt"), str(tmp_path / "a.run")]
    done = CliRunner().invoke(score, [*command, "-m", "AP nDCG@10 P@10 RR"])
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, LINE)
    raised = CliRunner().invoke(score, [*command, "-m", "AP", "-l", "2"])
    assert "highest grade .9: AP(rel=2) counts grades ≥ 2; set rel=.5" in raised.output
    as_json = CliRunner().invoke(score, [*command, "-m", "AP", "--format", "json"])
    assert "highest grade .9" in json.dumps(json.loads(as_json.stdout), ensure_ascii=False)
    as_trec = CliRunner().invoke(score, [*command, "-m", "map", "--format", "trec_eval"])
    assert as_trec.stdout == "map                   \tall\t0.0000\n"
    assert "highest grade 0.9: no doc is relevant at grade 1; give a lower -l" in as_trec.stderr
    page = report(RUNS, QRELS, measures="AP nDCG", path=tmp_path / "r.html").read_text()
    assert "highest grade .9: AP counts grades ≥ 1; set rel=.5" in page
