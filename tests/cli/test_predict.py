"""`assay predict`: what a person sees, and what he is told when the input is wrong."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.predict import command
from assay.data import Qrels
from assay.io import write_qrels, write_run
from assay.scorefiles import read_scores
from tests.nojudgments.test_methods import made
from tests.nojudgments.test_ranking import RELEVANT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    for run in made():
        write_run(tmp_path / "runs" / f"{run.name}.run", run)
    write_qrels(tmp_path / "qrels.txt", Qrels.from_dict(RELEVANT))
    return tmp_path


def predict(*args: object) -> Result:
    return CliRunner().invoke(command, [*map(str, args), "--jobs", "1"], catch_exceptions=False)


def test_ranks_runs_of_a_folder(folder: Path) -> None:
    result = predict(folder / "runs")
    assert result.exit_code == 0
    assert "Runs ranked without judgments" in result.output
    assert "8 runs, 3 topics, no judgments used; combined: average" in result.output
    for run in made():
        assert run.name in result.output


def test_accuracy_and_difficulty_with_qrels(folder: Path) -> None:
    result = predict(folder / "runs", "--qrels", folder / "qrels.txt", "-m", "nDCG@10", "--topics", "--format", "json")
    ranking, accuracy, difficulty = json.loads(result.output)
    assert set(ranking["rows"][0]) >= {"rank", "run", "combined", "SNC", "EMAP", "true rank", "mean nDCG@10"}
    assert {row["method"] for row in accuracy["rows"]} >= {"soboroff", "emap", "combined (average)"}
    assert set(accuracy["rows"][0]) == {"method", "ρ", "τ", "r_S", "τ_AP", "RBO", "δ"}
    assert len(difficulty["rows"]) == 3


def test_chosen_methods_and_combination(folder: Path) -> None:
    result = predict(
        folder / "runs", "--method", "emap", "--method", "soboroff(duplicates=true)", "--combine", "condorcet",
        "--format", "csv", "--seed", "3",
    )  # fmt: skip
    (header, *rows) = list(csv.reader(io.StringIO(result.output)))
    assert header == ["rank", "run", "kind", "combined", "EMAP", "SNC(duplicates=true)"]
    assert len(rows) == 8


def test_manual_runs_are_marked(folder: Path) -> None:
    (folder / "manual.txt").write_text("r1\n\nr4\n")
    result = predict(folder / "runs", "--method", "sakai-lin", "--manual-list", folder / "manual.txt", "--manual", "r5")
    assert result.output.count(" manual ") == 4
    assert "3 manual (r1, r4, r5)" in result.output
    assert "Tyranny of the masses" in result.output


def test_topics_without_judgments(folder: Path) -> None:
    result = predict(folder / "runs", "--method", "emap", "--topics")
    assert "Topic difficulty by combined-average" in result.output


def test_predicted_scores_can_be_saved(folder: Path) -> None:
    result = predict(folder / "runs", "--method", "emap", "--method", "sakai-lin", "--save", folder / "p.csv")
    assert result.exit_code == 0
    assert [m.measure for m in read_scores(folder / "p.csv")] == ["emap", "sakai-lin"]
    predict(folder / "runs", "--method", "wu-crestani", "--save", folder / "s.csv", "--scale", "min-max")
    (scaled,) = read_scores(folder / "s.csv")
    assert (scaled.values.min(), scaled.values.max()) == (0, 1)


def test_list_of_methods() -> None:
    result = CliRunner().invoke(command, ["--list"])
    assert result.exit_code == 0
    assert "spoerri-single" in result.output
    assert "Carterette & Allan 2007" in result.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["runs/r0.run"], "give two or more"),
        (["runs", "--manual", "r99"], "no run 'r99'"),
        (["runs", "--method", "sobroff"], "did you mean soboroff"),
        (["runs", "--combine", "mean"], "no fusion 'mean'"),
        (["runs", "--qrels", "nowhere.txt"], "nowhere.txt"),
        (["nowhere.run", "runs"], "nowhere.run"),
        ([], "RUNS"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(folder: Path, args: list[str], message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", "predict", *args], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
