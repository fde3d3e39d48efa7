"""`assay compare table`, and what `assay compare runs` shows beside a leaderboard, as a person calls them."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from tests.conftest import real_data
from tests.hostile.calls import Outcome, call

RUNS = ["bm25", "ql", "dense"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    rng = np.random.default_rng(5)
    topic = rng.normal(0.4, 0.1, 30)
    matrices = []
    for measure in ("AP", "RR"):
        values = [np.clip(topic + shift + rng.normal(0, 0.05, 30), 0, 1) for shift in (0, 0.01, 0.08)]
        matrices.append(ScoreMatrix.of(values, runs=RUNS, measure=measure))
    write_scores(folder / "scores.csv", matrices)
    (folder / "runs.csv").write_text("run,team,type\nbm25,us,sparse\nql,us,sparse\ndense,them,dense\n")
    (folder / "topics.tsv").write_text("".join(f"{t}\tquery {t}\n" for t in range(1, 31)))
    return folder


def run(files: Path, *words: object) -> Outcome:
    return call(["compare", *(str(files / str(w)) if str(w).endswith((".csv", ".tsv")) else str(w) for w in words)])


def test_every_format(files: Path) -> None:
    said = {}
    for form in ("text", "latex", "markdown", "html", "csv", "json"):
        outcome = run(files, "table", "scores.csv", "--baseline", "bm25", "--caption", "R&D", "--format", form)
        assert (outcome.code, outcome.err) == (0, "")
        said[form] = outcome.out
    assert said["text"].startswith("R&D\n\nrun ")
    assert r"\caption{R\&D}" in said["latex"]
    assert "| dense | **0." in said["markdown"]
    assert said["html"].startswith('<!doctype html><meta charset="utf-8">')
    assert "R&amp;D" in said["html"]
    assert [row["AP_marks"] for row in csv.DictReader(io.StringIO(said["csv"]))] == ["", "", "†"]
    record = json.loads(said["json"])
    assert (record["test"], record["correction"], record["family"], record["n"]) == ("t", "max-t", "table", 30)
    assert len(record["tests"]) == 4
    assert record["rows"][2]["RR_marks"] == "†"


def test_groups_are_written_out_or_come_from_a_table_of_runs(files: Path) -> None:
    by_hand = run(files, "table", "scores.csv", "--group", "sparse = bm25, ql", "--group", "dense=dense")
    by_file = run(files, "table", "scores.csv", "--info", "runs.csv", "--by", "type")
    assert by_hand.out == by_file.out
    assert [line.split()[0] for line in by_hand.out.splitlines()[2:7]] == ["sparse", "bm25", "ql", "dense", "dense"]


def test_measures_stand_in_the_order_in_which_they_are_asked_for(files: Path) -> None:
    assert run(files, "table", "scores.csv", "-m", "RR AP").out.splitlines()[0].split() == ["run", "RR", "AP"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--baseline", "bm26"], "no run 'bm26' to be the baseline; did you mean bm25"),
        (["--marks", "letters"], "--marks has no effect without --baseline; name a run"),
        (["--alpha", "0.01"], "--alpha has no effect without --baseline"),
        (["--baseline", "bm25", "--correction", "bh", "--seed", "1"], "--seed has no effect: --test t draws no res"),
        (["--baseline", "bm25", "--correction", "bh", "-B", "9"], "-B has no effect: --test t draws no resamples"),
        (["--baseline", "bm25", "--test", "tukey"], "no test 'tukey'"),
        (["--baseline", "bm25", "--marks", "stars"], "no marks 'stars'"),
        (["--baseline", "bm25", "--weak-alpha", "0.1"], "a weaker level has no effect"),
        (["--group", "sparse"], "--group 'sparse': write a title, = and runs separated by commas"),
        (["--group", "sparse="], "group 'sparse' has no runs"),
        (["--group", "a=bm25", "--group", "b=bm25"], "run 'bm25' is in the groups 'a' and 'b'"),
        (["--group", "a=bm25", "--group", "a=ql"], "--group 'a' is given twice"),
        (["--group", "a=bm52"], "group 'a': no run 'bm52'"),
        (["--info", "runs.csv"], "--info has no effect without --where or --by"),
        (["--by", "type"], "--by looks at columns of --info"),
        (["--info", "runs.csv", "--by", "tipe"], "no column 'tipe'; did you mean type"),
        (["--info", "runs.csv", "--by", "type", "--group", "a=ql"], "--group and --by both group the rows"),
        (["--label", "a{b"], "label 'a{b'"),
    ],
)
def test_bad_tables_are_one_line(files: Path, words: list[str], message: str) -> None:
    outcome = run(files, "table", "scores.csv", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_ranks_teams_and_worst_topics(files: Path) -> None:
    asked = ["runs", "scores.csv", "-m", "AP", "--baseline", "bm25"]
    more = ["--info", "runs.csv", "--show", "team,type", "--worst", "3", "--topics", "topics.tsv"]
    text = run(files, *asked, *more).out
    assert text.splitlines()[2].split()[:5] == ["run", "rank", "team", "type", "mean"]
    assert "AP: the topics on which dense lost most against bm25" in text
    assert "query " in text
    rows = list(csv.DictReader(io.StringIO(run(files, *asked, *more, "--format", "csv").out)))
    assert {row["run"] for row in rows} == {"ql", "dense"}
    assert len([row for row in rows if row["run"] == "ql"]) == 3
    board, losses = json.loads(run(files, *asked, *more, "--format", "json").out)
    assert board["result"] == "leaderboard"
    assert board["rows"][0]["team"] == "them"
    assert losses["result"] == "topic_losses"
    assert {loss["run"] for loss in losses["rows"]} == {"ql", "dense"}
    assert losses["rows"][0]["query"].startswith("query ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--show", "team"], "--show looks at columns of --info"),
        (["--info", "runs.csv", "--show", ","], "--show names no column"),
        (["--info", "runs.csv", "--show", "teem"], "no column 'teem'; did you mean team"),
        (["--topics", "topics.tsv"], "give --worst N as well"),
        (["--worst", "3"], "name it with --baseline RUN"),
        (["--worst", "3", "--baseline", "bm25", "--topics", "runs.csv"], "no column 'topic'"),
    ],
)
def test_bad_details_are_one_line(files: Path, words: list[str], message: str) -> None:
    outcome = run(files, "runs", "scores.csv", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def unpacked(archive: Path, names: list[str], folder: Path) -> list[str]:
    with tarfile.open(archive) as runs:
        for name in names:
            member = runs.extractfile(f"runs/{name}")
            assert member is not None
            (folder / name).write_bytes(member.read())
    return [str(folder / name) for name in names]


def test_two_runs_of_a_track_open_with_the_verdict_and_what_was_findable(tmp_path: Path) -> None:
    """As `assay plan power` says for so many topics and the deviation that was observed."""
    folder = real_data("trec-dl-2019-passage")
    runs = unpacked(folder / "runs.tar.xz", ["idst_bert_p1", "TUA1-1"], tmp_path)
    asked = ["compare", "--qrels", str(folder / "qrels.txt"), *runs, "-m", "nDCG@10"]
    text = call(asked).out
    assert text.startswith(
        "nDCG@10: idst_bert_p1 and TUA1-1 are not shown to differ: +.033 [−.001, .067], p = .0599 (paired t test, "
        "43 topics); 43 topics find .049 with power .8; differences above .067 are ruled out\n"
    )
    record = json.loads(call([*asked, "--format", "json"]).out)
    row = record["rows"][1]
    sigma = str(row["delta"] / row["effect"])
    plan = call(["plan", "power", "--topics", "43", "--sigma", sigma, "--format", "json"])
    assert json.loads(plan.out)["rows"][0]["delta"] == pytest.approx(0.049, abs=5e-4)
    assert record["verdict"] in text


def test_teams_of_trec_covid(tmp_path: Path) -> None:
    folder = real_data("trec-covid-round1")
    names = ["run1", "BBGhelani1", "BBGhelani2"]
    runs = unpacked(folder / "runs.tar.xz", names, tmp_path)
    info = ["--info", str(folder / "leaderboard.csv"), "--show", "team,type"]
    outcome = call(["compare", "--qrels", str(folder / "qrels.txt"), *runs, "-m", "nDCG@10", *info, "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    seen = [(row["run"], row["rank"], row["team"], row["type"]) for row in rows]
    assert seen == [
        ("run1", "1", "GUIR_S2", "manual"),
        ("BBGhelani1", "2", "BBGhelani", "manual"),
        ("BBGhelani2", "2", "BBGhelani", "manual"),
    ]
    assert round(float(rows[0]["mean"]), 4) == 0.6844
