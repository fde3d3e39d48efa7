"""`assay gate` as a build server calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

import assay
from tests.gate.test_gates import OLD, QRELS, TOPICS, run_of, scores
from tests.hostile.calls import Outcome, call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs, score tables and judgments, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    runs = {
        "old": run_of("old"),
        "same": run_of("same"),
        "worse": run_of("worse", {t: ["n1", "r", "n2"] for t in range(20)}),
        "unsure": run_of("unsure", {t: ["n1", "r", "n2"] for t in range(1)}),
        "unjudged": run_of("unjudged", {t: ["r", "x1", "x2"] for t in range(TOPICS)}),
    }
    for name, run in runs.items():
        assay.write(tmp_path / f"{name}.run", run)
    assay.write(tmp_path / "qrels.txt", QRELS)
    assay.write(tmp_path / "old.csv", OLD)
    assay.write(tmp_path / "new.csv", scores(-0.05))
    return tmp_path


def gate(new: str, *more: object, baseline: str = "old.run", drop: str = ".1") -> Outcome:
    asked = ["gate", new, "--baseline", baseline, "--max-drop", drop, *map(str, more)]
    if baseline.endswith(".run"):
        asked += ["--qrels", "qrels.txt"]
    return call(asked)


@pytest.mark.parametrize(
    ("new", "more", "code", "verdict"),
    [
        ("same.run", [], 0, "pass: nDCG@10 of same is on average as high as that of old; a drop of .1 is ruled out"),
        ("worse.run", [], 1, "fail: nDCG@10 of worse is .246 lower than that of old, more than the .1 allowed"),
        ("unsure.run", [], 3, "undecided: nDCG@10 of unsure is .012 lower than that of old; a drop of .1 is not"),
        ("unsure.run", ["--undecided", "pass"], 0, "undecided: "),
        ("unsure.run", ["--undecided", "fail"], 1, "undecided: "),
        ("unjudged.run", [], 3, "undecided: 33 % of the top 10 of unjudged are judged"),
        ("unjudged.run", ["--undecided", "pass"], 3, "undecided: 33 %"),
        ("unjudged.run", ["--max-judged-drop", "1"], 0, "pass: "),
        ("unjudged.run", ["--max-judged-drop", "1", "--min-judged", ".5"], 3, "undecided: 33 %"),
        ("unjudged.run", ["--judged-depth", "1"], 0, "pass: "),
    ],
)
def test_exit_codes_and_the_verdict_first(folder: Path, new: str, more: list[str], code: int, verdict: str) -> None:
    done = gate(new, *more)
    assert (done.code, done.fell_over) == (code, None)
    assert done.out.startswith(verdict)


def test_score_tables(folder: Path) -> None:
    assert gate("new.csv", baseline="old.csv", drop=".01").code == 1
    assert gate("new.csv", baseline="old.csv", drop="50%").code == 0
    assert gate("new.csv", "-m", "AP", baseline="old.csv", drop="AP=50%").code == 0
    assert "no measure 'RR' in these files" in gate("new.csv", "-m", "RR", baseline="old.csv").err
    assert "min-judged goes with runs" in gate("new.csv", "--min-judged", ".5", baseline="old.csv").err


def test_tables_that_name_no_measure_are_named(folder: Path) -> None:
    for name in ("a", "b"):
        topics = ",".join(map(str, range(30)))
        (folder / f"{name}.csv").write_text(f"run,{topics}\nx{',.1' * 30}\n")
    assert "only the new run has such scores" in gate("a.csv", baseline="b.csv").err
    assert gate("a.csv", "--measure", "AP", baseline="b.csv").code == 0
    assert gate("a.csv", "--force-measure", "AP", baseline="b.csv").code == 0


def test_drops_by_measure(folder: Path) -> None:
    more = ["-m", "nDCG@10 RBP(p=.8)", "--max-drop", "RBP(p=.8)=2%"]
    record = json.loads(gate("same.run", *more, "--format", "json").out)
    assert list(record["margins"].values()) == [".1", "2%"]
    assert next(iter(record["margins"])) == "nDCG@10"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--max-drop", ".02"], "a drop of all measures is given twice"),
        (["--max-drop", "AP=.02"], "max-drop: AP is not among the measures"),
        (["--test", "t", "--seed", "1"], "--seed has no effect: --test t draws no resamples"),
        (["--test", "dirichlet", "-B", "10"], "-B has no effect"),
        (["--transpose"], "--transpose goes with score tables"),
        (["--measure", "AP"], "--measure goes with score tables"),
        (["--force-measure", "AP"], "--force-measure goes with score tables"),
        (["--test", "wilcoxon"], "'wilcoxon' has no bound of a mean"),
        (["--correction", "bh"], "no correction 'bh'"),
        (["--alpha", ".6"], "alpha: must lie between 0 and .5"),
        (["-m", "nothing"], "no measure 'nothing'"),
        (["-m", " "], "no measure"),
        (["-m", "E"], "E: lower is better"),
        (["--figure", "x.bmp"], "a figure is written as"),
        (["-o", "no/where.txt"], "make the folder"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, more: list[str], message: str) -> None:
    before = set(folder.iterdir())
    done = gate("same.run", *more)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize("drop", ["-.01", "nan", "x", "", "120%", "2"])
def test_a_bad_drop_is_one_line(folder: Path, drop: str) -> None:
    done = call(["gate", "same.run", "--baseline", "old.run", "--qrels", "qrels.txt", f"--max-drop={drop}"])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "max-drop" in done.err


def test_what_is_missing_is_said(folder: Path) -> None:
    assert "Missing option '--baseline'" in call(["gate", "same.run", "--max-drop", ".1"]).err
    assert "Missing option '--max-drop'" in call(["gate", "same.run", "--baseline", "old.run"]).err
    assert "no.run" in gate("no.run").err
    assert gate("same.run", baseline="no.run").code == 2
    without = call(["gate", "same.run", "--baseline", "old.run", "--max-drop", ".1"])
    assert (without.code, without.err.count("\n")) == (2, 1)
    assert "--qrels" in without.err


def test_formats(folder: Path) -> None:
    xml = gate("worse.run", "--format", "junit")
    assert xml.code == 1
    assert fromstring(xml.out.encode()).attrib["failures"] == "1"
    assert xml.err.startswith("fail: ")
    assert gate("worse.run", "--format", "junit", "--quiet").err == ""
    record = json.loads(gate("unjudged.run", "--format", "json").out)
    assert (record["outcome"], record["alarms"][0]["name"]) == ("undecided", "judged")
    assert gate("same.run", "--format", "markdown").out.startswith("**pass: ")
    assert "measure,outcome,mean,baseline_mean,delta" in gate("same.run", "--format", "csv").out
    done = gate("unjudged.run", "--format", "junit", "-o", "gate.xml", "--figure", "gate.svg")
    assert (done.code, done.out) == (3, "")
    assert done.err.splitlines()[0] == "figure written to gate.svg"
    assert done.err.splitlines()[1].startswith("undecided: 33 %")
    assert (folder / "gate.xml").read_text().startswith("<?xml")
    assert (folder / "gate.svg").read_text().startswith("<svg")


def test_resampling_tests_take_a_seed(folder: Path) -> None:
    some = [gate("new.csv", "--seed", seed, "-B", 200, baseline="old.csv").out for seed in (1, 1, 2)]
    assert some[0] == some[1] != some[2]
    assert "seed 1" in some[0]


def test_one_command_is_enough(folder: Path) -> None:
    """As a shell calls it."""
    asked = [
        sys.executable,
        "-m",
        "assay.cli.main",
        "gate",
        "worse.run",
        "--baseline",
        "old.run",
        "--qrels",
        "qrels.txt",
    ]
    done = subprocess.run([*asked, "--max-drop", "2%"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("fail: nDCG@10 of worse is .246 lower than that of old, more than the 2% allowed")
