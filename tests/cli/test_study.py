"""assay study as a person runs it."""

from __future__ import annotations

import csv
import importlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assay.cli.study import command
from assay.core.errors import AssayError
from assay.io.scores import read_scores, write_scores
from assay.scoring import evaluate
from assay.stats import all_pairs
from assay.stats.paired import TESTS
from assay.stats.tukey import SIMULTANEOUS
from assay.studies import simulate, write_collection

OTHER = ["--collection", "b", "{}/qrels.txt", "{}/runs"]


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
        (["discriminative", "{}/s.csv", "--test", "t", "--two-sample"], "% two-sample"),
        (["swaps", "{}/s.csv", "--draws", "3", "-m", "AP"], "Swap rates of AP"),
        (["concordance", "{}/s.csv", "--pair", "AP,RR", "--gold", "P@10"], "Concordance"),
        (["votes", "{}/s.csv", "--votes", "{}/v.csv", "-m", "AP"], "Does AP prefer what people prefer?"),
        (["reusability", "{}/runs", "--qrels", "{}/qrels.txt", "--info", "{}/runs.csv", "--by", "group"],
         "Leave one group out"),
        (["rbo-and-ap", "--repetitions", "3"], "Similarity against AP"),
        (["methods", "topics(count=3)", "predict", "--collection", "a", "{}/qrels.txt", "{}/runs", "--collection", "b",
          "{}/qrels.txt", "{}/runs", "--subsets", "3", "--sizes", "4"], "topics(count=3) against predict"),
        (["methods", "topics(count=3)", "predict", "reweight(rounds=1)", "--collection", "a", "{}/qrels.txt", "{}/runs",
          "--collection", "b", "{}/qrels.txt", "{}/runs", "--subsets", "3", "--sizes", "4"],
         "topics(count=3) against 2 others"),
        (["similarity", "{}/runs", "--qrels", "{}/qrels.txt", "--info", "{}/runs.csv", "--by", "group"],
         "Similarity of runs by shared preferences"),
        (["exchange", "{}/runs", "--qrels", "{}/qrels.txt", "--rel", "2"], "Docs of equal relevance exchanged"),
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
        (["discriminative", "{}/s.csv", "--test", "student"], "student compares two topic sets"),
        (["discriminative", "{}/s.csv", "--test", "t", "-B", "50"], "--resamples has no effect on t"),
        (["discriminative", "{}/s.csv", "--test", "t", "--test", "sign"], "--test is given twice"),
        (["--list", "swaps", "{}/s.csv"], "--list has no effect on swaps"),
        (
            [
                "methods",
                "topics(count=3)",
                "predict",
                "--collection",
                "a",
                "{}/qrels.txt",
                "{}/runs",
                "--collection",
                "b",
                "{}/qrels.txt",
                "{}/runs",
                "--labels",
                "a",
                "{}/labels.csv",
            ],
            "--labels has no effect, for no arm is crowd",
        ),
        (
            [
                "methods",
                "topics(count=3)",
                "crowd",
                "--collection",
                "a",
                "{}/qrels.txt",
                "{}/runs",
                "--collection",
                "b",
                "{}/qrels.txt",
                "{}/runs",
                "--labels",
                "a",
                "{}/labels.csv",
                "--labels",
                "a",
                "{}/labels.csv",
            ],
            "given twice",
        ),
        (["similarity", "{}/runs", "--qrels", "{}/qrels.txt", "--by", "group"], "--by looks at columns of --info"),
        (["similarity", "{}/runs", "--qrels", "{}/qrels.txt", "--info", "{}/runs.csv"], "--info has no effect without"),
        (["exchange", "{}/runs/atlas1.run", "{}/runs/atlas2.run", "--qrels", "{}/qrels.txt"], "needs three or more"),
        (
            ["methods", "topics", "predict", "predict", "--collection", "a", "{}/qrels.txt", "{}/runs", *OTHER],
            "arm 'predict' is there twice",
        ),
        (["swaps", "{}/s.csv", "--significant", "2"], "significance lies in"),
        (["swaps", "{}/s.csv", "--sizes", "99"], "disjoint sets of 12 topics have from 2 to 6"),
        (["measure-tau", "{}/s.csv", "--keep", "0"], "keep=0.0"),
        (["votes", "{}/s.csv", "--votes", "{}/s.csv"], "no column 'left'"),
    ],
)
def test_bad_input_is_one_clear_error(args: list[str], message: str, folder: Path) -> None:
    with pytest.raises(AssayError, match=message):
        CliRunner().invoke(command, [a.format(folder) for a in args], catch_exceptions=False)


def test_randomised_tukey_prints_its_own_difference(folder: Path) -> None:
    args = ["discriminative", f"{folder}/s.csv", "-m", "AP", "--test", "randomised-tukey", "-B", "200"]
    row = rows(*args)[0]
    critical = all_pairs(read_scores(folder / "s.csv")[0], "randomised-tukey", resamples=200).critical
    assert row["difference_needed"] == pytest.approx(critical, abs=1e-12)
    assert "not corrected" not in CliRunner().invoke(command, args, catch_exceptions=False).stdout


def test_help_names_every_test_that_works() -> None:
    text = "".join(CliRunner().invoke(command, ["discriminative", "--help"]).stdout.split())
    for name in (*TESTS.names(), *SIMULTANEOUS.names()):
        assert f"{name}," in text or f"{name}." in text


def test_tables_without_a_measure_are_named_by_their_files(folder: Path) -> None:
    for name, values in {"first": ".1,.2\nb,.3,.4\nc,.5,.9", "second": ".3,.1\nb,.2,.2\nc,.9,.5"}.items():
        (folder / f"{name}.csv").write_text(f"run,1,2\na,{values}\n")
    found = rows("measure-tau", f"{folder}/first.csv", f"{folder}/second.csv", "--keep", "1")
    assert [row["measure"] for row in found] == ["first", "second"]


@pytest.mark.parametrize("study", ["measure-tau", "predictivity", "swaps", "votes", "discriminative", "concordance"])
def test_every_study_is_one_table_of_csv(study: str, folder: Path) -> None:
    more = {
        "predictivity": ["--splits", "5"], "swaps": ["--draws", "2"], "votes": ["--votes", f"{folder}/v.csv"],
        "discriminative": ["--test", "t"], "concordance": ["--pair", "AP,RR", "--gold", "P@10"],
    }  # fmt: skip
    args = [study, f"{folder}/s.csv", *more.get(study, []), "--format", "csv"]
    lines = list(csv.reader(io.StringIO(CliRunner().invoke(command, args, catch_exceptions=False).stdout)))
    assert len(lines) > 1
    assert len({len(line) for line in lines}) == 1
    assert all(key.isascii() for key in lines[0])


def rows(*args: str) -> list[dict[str, Any]]:
    found = json.loads(CliRunner().invoke(command, [*args, "--format", "json"], catch_exceptions=False).stdout)
    tables = found if isinstance(found, list) else [found]
    return [row for table in tables for row in table["rows"]]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("compare", ["{}/s.csv", "-m", "AP", "--baseline", "borea1", "--differences"]),
        ("similarity", ["{}/runs/atlas1.run", "{}/runs/atlas2.run", "--by-depth"]),
        ("predict", ["calibration", "{}/runs", "--qrels", "{}/qrels.txt"]),
    ],
)
def test_other_commands_draw_what_they_are_asked_to(name: str, args: list[str], folder: Path) -> None:
    picture = folder / f"{name}.svg"
    told = [a.format(folder) for a in args]
    other = importlib.import_module(f"assay.cli.{name}").command
    result = CliRunner().invoke(other, [*told, "--figure", str(picture), "--quiet"], catch_exceptions=False)
    assert result.exit_code == 0
    assert picture.read_text().startswith("<svg")
