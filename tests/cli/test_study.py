"""assay study as a person runs it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.study import command
from assay.core.errors import AssayError
from assay.io.scores import write_scores
from assay.scoring import evaluate
from assay.studies.simulate import simulate, write_collection


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("study")
    c = simulate(topics=12, runs_per_group=2, docs=150, depth=30, pool_depth=10)
    write_collection(c, base)
    write_scores(base / "s.csv", evaluate(c.runs, c.qrels, ["AP", "P@10", "RR"]))
    (base / "v.csv").write_text("topic,left,right,vote\n301,atlas1,eridan1,left\n302,atlas1,eridan1,left\n")
    return base


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["measure-tau", "{}/s.csv"], "Do the measures rank alike?"),
        (["predictivity", "{}/s.csv", "--splits", "20"], "Predictivity"),
        (["discriminative", "{}/s.csv", "--test", "t"], "Discriminative power"),
        (["swaps", "{}/s.csv", "--draws", "3", "-m", "AP"], "Swap rates of AP"),
        (["concordance", "{}/s.csv", "--pair", "AP,RR", "--gold", "P@10"], "Concordance"),
        (["votes", "{}/s.csv", "--votes", "{}/v.csv", "-m", "AP"], "Does AP prefer what people prefer?"),
        (["reusability", "{}/runs", "--qrels", "{}/qrels.txt", "--info", "{}/runs.csv"], "Leave one group out"),
        (["rbo-and-ap", "--repetitions", "3"], "Similarity against AP"),
        (["methods", "topics(count=3)", "predict", "--collection", "a", "{}/qrels.txt", "{}/runs", "--collection", "b",
          "{}/qrels.txt", "{}/runs", "--subsets", "3", "--sizes", "4"], "topics(count=3) against predict"),
    ],
)  # fmt: skip
def test_every_study_runs(args: list[str], words: str, folder: Path) -> None:
    result = CliRunner().invoke(command, [a.format(folder) for a in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert words in result.stdout


def test_without_groups_runs_are_left_out_one_by_one(folder: Path) -> None:
    args = ["reusability", f"{folder}/runs", "--qrels", f"{folder}/qrels.txt"]
    text = CliRunner().invoke(command, args, catch_exceptions=False).stdout
    assert "Leave one run out" in text
    assert "Leave one group out" not in text


def test_the_list_explains_each() -> None:
    result = CliRunner().invoke(command, ["--list"])
    assert result.stdout.count("?") >= 8
    assert "assay study --list" in CliRunner().invoke(command, []).stdout


def test_too_few_sizes_to_extrapolate_from_are_said(folder: Path) -> None:
    args = ["swaps", f"{folder}/s.csv", "-m", "AP", "--sizes", "4,6", "--draws", "20"]
    text = CliRunner().invoke(command, args, catch_exceptions=False).stdout
    assert "at 3 sizes or more, so nothing is extrapolated" in text
    assert "large enough" not in text


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["concordance", "{}/s.csv", "--pair", "AP,RR", "--gold", "AP"], "'AP' is named twice"),
        (["concordance", "{}/s.csv", "--pair", "AP", "--gold", "RR"], "name two measures"),
        (["concordance", "{}/s.csv", "--pair", "AP,nope", "--gold", "RR"], "no measure 'nope'"),
        (["swaps", "{}/s.csv", "--significant", "2"], "significance lies in"),
        (["swaps", "{}/s.csv", "--sizes", "99"], "disjoint sets of 12 topics have from 2 to 6"),
        (["measure-tau", "{}/s.csv", "--keep", "0"], "keep=0.0"),
        (["votes", "{}/s.csv", "--votes", "{}/s.csv"], "no column 'left'"),
    ],
)
def test_bad_input_is_one_clear_error(args: list[str], message: str, folder: Path) -> None:
    with pytest.raises(AssayError, match=message):
        CliRunner().invoke(command, [a.format(folder) for a in args], catch_exceptions=False)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("compare", ["{}/s.csv", "-m", "AP", "--baseline", "borea1", "--differences"]),
        ("similarity", ["{}/runs/atlas1.run", "{}/runs/atlas2.run", "--by-depth"]),
        ("predict", ["{}/runs", "--qrels", "{}/qrels.txt", "--method", "emap", "--calibration"]),
    ],
)
def test_other_commands_draw_what_they_are_asked_to(name: str, args: list[str], folder: Path) -> None:
    picture = folder / f"{name}.svg"
    told = [a.format(folder) for a in args]
    other = importlib.import_module(f"assay.cli.{name}").command
    result = CliRunner().invoke(other, [*told, "--figure", str(picture), "--quiet"], catch_exceptions=False)
    assert result.exit_code == 0
    assert picture.read_text().startswith("<svg")
