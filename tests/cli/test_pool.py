"""assay pool on files: what each subcommand prints and writes, killed and resumed sessions, and bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.pool import command
from assay.core.errors import AssayError, UsageError
from assay.io import read_qrels, write_qrels, write_run
from assay.pooling.judging import ORDERS
from assay.pooling.pools import POOLS
from assay.pooling.sampling import SAMPLES
from tests.conftest import ROOT
from tests.pooling.collections import made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs, qrels = made(1, runs=5, topics=6, docs=50, depth=20)
    (tmp_path / "runs").mkdir()
    for run in runs:
        write_run(tmp_path / "runs" / f"{run.name}.run", run)
    write_qrels(tmp_path / "q.txt", qrels)
    (tmp_path / "teams.csv").write_text("run,team\nr00,x\nr01,x\nr02,y\nr03,y\nr04,z\n")
    return tmp_path


def pool(folder: Path, *words: str, text: str | None = None) -> Result:
    name, *rest = words
    return CliRunner().invoke(command, [name, str(folder / "runs"), *rest], input=text, catch_exceptions=False)


def rows(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    found: list[dict[str, object]] = json.loads(result.stdout)["rows"]
    return found


def test_make_a_pool_and_save_it(folder: Path) -> None:
    result = pool(folder, "make", "--method", "rrf(n=3)", "--save", str(folder / "pool.qrels"), "--format", "json")
    assert len(rows(result)) == 18
    saved = read_qrels(folder / "pool.qrels")
    assert len(saved) == 18
    assert set(saved.grades.tolist()) == {-1}


def test_make_is_quiet_and_keeps_to_a_budget(folder: Path) -> None:
    saved = folder / "pool.qrels"
    said = pool(folder, "make", "--budget", "40", "--save", str(saved))
    assert "not spent" in said.stdout
    assert f"written to {saved}" in said.stderr
    assert len(read_qrels(saved)) <= 40
    silent = pool(folder, "make", "--budget", "40", "--save", str(saved), "--quiet")
    assert (silent.exit_code, silent.output) == (0, "")
    assert len(rows(pool(folder, "make", "--save", str(saved), "--quiet", "--format", "json", "--budget", "40"))) <= 40
    assert "Docs to judge" in pool(folder, "make", "--quiet").stdout
    drawn = pool(folder, "sample", "--save", str(saved), "--quiet")
    assert (drawn.exit_code, drawn.output) == (0, "")
    with pytest.raises(UsageError, match="budget 2: depth 1 has"):
        pool(folder, "make", "--budget", "2")


def test_make_a_sample_with_its_probabilities(folder: Path) -> None:
    words = ["--method", "stratified(depths=3/20,rates=1/0.3)", "--seed", "3", "--format", "json"]
    graded = ["--qrels", str(folder / "q.txt"), "--save", str(folder / "sample.qrels")]
    drawn = rows(pool(folder, "sample", *words, *graded))
    saved = read_qrels(folder / "sample.qrels")
    assert saved.probabilities is not None
    assert int((saved.grades >= 0).sum()) == len(drawn) < len(saved)
    assert rows(pool(folder, "sample", *words)) == drawn


def test_contributions_by_group(folder: Path) -> None:
    words = [
        "--by",
        "group",
        "--info",
        str(folder / "teams.csv"),
        "--qrels",
        str(folder / "q.txt"),
    ]
    found = rows(pool(folder, "contributions", "--method", "depth(k=5)", *words, "--format", "json"))
    assert [r["group"] for r in found] == ["x", "y", "z"]
    assert all(isinstance(r["relevant_alone"], int) for r in found)


def test_a_pool_draws_what_each_run_brought(folder: Path) -> None:
    picture = folder / "pool.svg"
    result = pool(folder, "contributions", "--method", "take(n=2)", "--figure", str(picture), "--quiet")
    assert "Contributions to the pool" in result.stdout
    assert picture.read_text().startswith("<svg")


def test_next_follows_the_journal(folder: Path) -> None:
    journal = str(folder / "my.qrels")
    first = rows(pool(folder, "next", "--order", "hedge", "--count", "2", "--format", "json"))
    topic, doc = str(first[0]["topic"]), str(first[0]["doc"])
    after = rows(
        pool(folder, "next", "--order", "hedge", "--journal", journal, "--tell", topic, doc, "1", "--format", "json")
    )
    assert {"topic": topic, "doc": doc} not in after
    assert read_qrels(journal).to_dict() == {topic: {doc: 1}}
    assert rows(pool(folder, "next", "--order", "hedge", "--journal", journal, "--format", "json")) == after


def test_judging_by_hand(folder: Path) -> None:
    journal = folder / "my.qrels"
    result = pool(folder, "next", "--journal", str(journal), "--judge", text="1\ns\nmaybe\n0\nq\n")
    assert result.exit_code == 0
    assert "2 docs judged, 1 relevant" in result.stdout
    assert "a grade is a whole number, not 'maybe'" in result.stderr
    assert len(journal.read_text().splitlines()) == 2
    resumed = pool(folder, "next", "--journal", str(journal), "--judge", text="2\n")
    assert "3 docs judged, 2 relevant" in resumed.stdout


def test_a_saved_pool_is_no_judgment(folder: Path) -> None:
    saved = folder / "pool.qrels"
    pool(folder, "make", "--method", "take(n=2)", "--save", str(saved))
    result = pool(folder, "next", "--journal", str(saved), "--count", "1")
    assert "12 docs have grade -1 or less, which means not judged" in result.stderr
    assert "0 docs are judged" in result.stdout
    with pytest.raises(AssayError, match="grade -1 means pooled and not judged"):
        pool(folder, "next", "--journal", str(saved), "--tell", "1", "d000", "-1")


def test_a_cut_journal_is_named_and_mended(folder: Path) -> None:
    journal = folder / "my.qrels"
    pool(folder, "next", "--journal", str(journal), "--judge", text="1\n0\nq\n")
    whole = journal.read_text()
    journal.write_text(whole[:-3])
    result = pool(folder, "next", "--journal", str(journal), "--judge", text="0\nq\n")
    assert "my.qrels:2: the last line was cut off" in result.stderr
    assert journal.read_text() == whole


def test_a_killed_session_loses_no_judgment(folder: Path) -> None:
    journal = folder / "my.qrels"
    words = ["pool", "next", str(folder / "runs"), "--order", "max-mean", "--journal", str(journal), "--judge"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "assay.cli.main", *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdin is not None
    assert process.stderr is not None
    asked = []
    for grade in (b"1\n", b"0\n", b"1\n"):
        asked.append(_question(process))
        process.stdin.write(grade)
        process.stdin.flush()
    asked.append(_question(process))
    process.kill()
    process.wait()
    process.stdin.close()
    process.stderr.close()
    kept = [(line.split()[0], line.split()[2], line.split()[3]) for line in journal.read_text().splitlines()]
    assert kept == [(t, d, g) for (t, d), g in zip(asked, "101", strict=False)]
    resumed = rows(
        pool(folder, "next", "--order", "max-mean", "--journal", str(journal), "--count", "1", "--format", "json")
    )
    assert resumed == [{"topic": asked[3][0], "doc": asked[3][1]}]


def _question(process: subprocess.Popen[bytes]) -> tuple[str, str]:
    """The topic and doc of the next prompt."""
    assert process.stderr is not None
    text = b""
    while not text.endswith(b"stops): "):
        letter = process.stderr.read(1)
        assert letter, text
        text += letter
    words = text.decode().split()
    return words[words.index("topic") + 1], words[words.index("doc") + 1]


def test_mtc_stops_at_a_confidence(folder: Path) -> None:
    listed = pool(folder, "next", "--order", "mtc", "--confidence", "0.9", "--count", "1")
    assert "pairs of runs are not decided at 0.9" in listed.stdout
    csv = pool(folder, "next", "--order", "mtc", "--confidence", "0.9", "--count", "1", "--format", "csv").stdout
    assert csv.splitlines()[0] == "topic,doc"
    assert set(rows(pool(folder, "confidence", "--format", "json"))[0]) == {"run", "expected", "undecided"}
    answers = "1\n0\n" * 400
    result = pool(folder, "next", "--order", "mtc", "--confidence", "0.51", "--journal", str(folder / "j"), "--judge",
                  text=answers)  # fmt: skip
    assert "every pair of runs is decided at 0.51" in result.stderr
    assert len((folder / "j").read_text().splitlines()) < 100


def test_curve_bias_adjust_and_accuracy(folder: Path) -> None:
    qrels = ["--qrels", str(folder / "q.txt"), "--format", "json"]
    curve = rows(
        pool(folder, "curve", *qrels, "--order", "depth", "--order", "hedge", "--budgets", "2 5", "--jobs", "1")
    )
    assert [(r["order"], r["per_topic"]) for r in curve] == [("depth", 2), ("depth", 5), ("hedge", 2), ("hedge", 5)]
    bias = rows(pool(folder, "bias", *qrels, "-m", "P@10", "--depth", "10", "--by", "group", "--info",
                     str(folder / "teams.csv")))  # fmt: skip
    assert {r["group"] for r in bias} == {"x", "y", "z"}
    assert all(isinstance(r["delta"], float) and r["delta"] <= 0 for r in bias)
    systems = rows(pool(folder, "adjust", *qrels, "--run", "r04", "--depth", "10"))
    topics = rows(pool(folder, "adjust", *qrels, "--run", "r04", "--depth", "10", "--common", "1 2 3"))
    assert [systems[0]["from"], topics[0]["from"], topics[0]["n"]] == ["systems", "topics", 3]
    draws = ["--samples", "5", "--topic-samples", "4", "--jobs", "1"]
    study = rows(pool(folder, "accuracy", *qrels, "--widths", "2 3", "--common", "3", *draws))
    assert len(study) == 8


def test_pools_of_some_runs_and_others_estimated(folder: Path) -> None:
    qrels = ["--qrels", str(folder / "q.txt"), "--samples", "5", "--jobs", "1", "--widths", "2"]
    kinds = ["--info", str(folder / "teams.csv"), "--pooled", "team=x", "--new", "team=y"]
    study = pool(folder, "accuracy", *qrels, *kinds, "--common", "3", "--topic-samples", "4")
    assert "2 new runs against pools of 2" in study.stdout
    best = pool(folder, "widths", *qrels, *kinds, "--best", "1", "--figure", str(folder / "b.svg"))
    assert "1 new runs against pools of 2" in best.stdout
    assert (folder / "b.svg").exists()
    both = rows(pool(folder, "widths", *qrels, "--format", "json"))
    assert [row["unjudged"] for row in both] == ["nonrelevant", "condensed"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["make", "--method", "nosuch"], "no pool 'nosuch'"),
        (["make", "--method", "uniform"], "uniform is a sample; `assay pool sample` draws it"),
        (["make", "--by", "group"], "--by looks at columns of --info"),
        (["make", "--info", "T"], "--info has no effect without --where or --by"),
        (["contributions", "--rel", "2"], "--rel counts relevant docs; give --qrels"),
        (["sample", "--qrels", "Q"], "give --save"),
        (["next", "--judge", "--journal", "J", "--count", "3"], "leave one out"),
        (["next", "--journal", "J", "--tell", "1", "d001", "-2"], "grade -2 means pooled and not judged"),
        (["adjust", "--qrels", "Q", "--run", "r00", "--common", "1", "--by", "run"], "--by is for adjusting"),
        (["next", "--order", "hegde"], "did you mean hedge"),
        (["next", "--judge"], "give --journal FILE"),
        (["next", "--journal", "J", "--tell", "1", "d1", "x"], "a grade is a whole number, not 'x'"),
        (["next", "--journal", "J", "--tell", "1", "nodoc", "1"], "doc 'nodoc' is not in the pool"),
        (["next", "--journal", "J", "--tell", "99", "d1", "1"], "no topic '99'"),
        (["next", "--confidence", "0.9"], "only the order 'mtc'"),
        (["curve", "--qrels", "Q", "--budgets", "a b"], "whole numbers separated by commas"),
        (["bias", "--qrels", "Q", "--by", "group", "--info", "Q"], "no column"),
        (["adjust", "--qrels", "Q", "--run", "zz"], "no run 'zz'"),
        (["accuracy", "--qrels", "Q", "--new", "team=x"], "--new looks at columns of --info"),
        (["widths", "--qrels", "Q", "--info", "T"], "--info has no effect without --where or --pooled or --new"),
        (["widths", "--qrels", "Q", "--info", "T", "--new", "team"], "write COLUMN=TEXT"),
        (["widths", "--qrels", "Q", "--info", "T", "--new", "team=q"], "no run with team=q; team is one of: x, y, z"),
        (["widths", "--qrels", "Q", "--best", "9"], "the 9 best of 5 runs"),
    ],
)
def test_bad_input_is_one_line(folder: Path, words: list[str], message: str) -> None:
    places = {
        "J": str(folder / "my.qrels"),
        "Q": str(folder / "q.txt"),
        "F": str(folder / "x.svg"),
        "T": str(folder / "teams.csv"),
    }
    with pytest.raises(AssayError, match=message) as raised:
        pool(folder, *(places.get(w, w) for w in words))
    assert "\n" not in str(raised.value)
    assert not (folder / "my.qrels").exists()


def test_help_names_every_pool_sample_and_order() -> None:
    pools, samples, orders = POOLS.names(), SAMPLES.names(), ORDERS.names()
    wanted = {"make": pools, "contributions": pools, "sample": samples, "next": orders, "curve": orders}
    for command_name, names in wanted.items():
        text = "".join(CliRunner().invoke(command, [command_name, "--help"]).output.split())  # lines break at hyphens
        assert [n for n in names if n not in text] == []
