"""`assay topics`: every command on a small file, and bad input."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.topics import command
from assay.core.errors import AssayError
from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from assay.topics.criteria import CRITERIA
from assay.topics.problem import SCALES
from assay.topics.search import SEARCHES
from tests.conftest import real_data
from tests.hostile.calls import call
from tests.topics.released import made


@pytest.fixture
def scores(tmp_path: Path) -> str:
    path = tmp_path / "ap.csv"
    write_scores(path, [made(runs=12, topics=10)], shape="matrix")
    return str(path)


def run(*args: str) -> Result:
    return CliRunner().invoke(command, list(args), catch_exceptions=False)


def test_best_reports_held_out_runs_by_default(scores: str) -> None:
    result = run("best", scores, "--at", "2,5", "--repetitions", "50", "--splits", "2")
    assert result.exit_code == 0
    assert "best, held out" in result.output
    assert "random, held out" in result.output
    assert "mean of best 1 %" in result.output
    plain = run("best", scores, "--no-holdout", "--format", "json", "--quiet", "--criterion", "pearson")
    record = json.loads(plain.output)
    assert [row["topics"] for row in record["rows"]] == list(range(1, 10))
    assert record["rows"][0]["proved"] == "best worst"


def test_best_resumes(scores: str, tmp_path: Path) -> None:
    file = str(tmp_path / "found.json")
    for _ in range(2):
        assert run("best", scores, "--no-holdout", "--resume", file, "--search", "swap(rounds=1)").exit_code == 0
    assert json.loads(Path(file).read_text())["criterion"] == "tau"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["sets", "--count", "3", "--keep", "4"], ["Best subsets", "Worst subsets", "proved"]),
        (["stability"], ["Stability along cardinality", "share"]),
        (["top-stability", "--at", "3,4"], ["Stability of the top sets", "of ceiling"]),
        (["map"], ["Pixel map", "#"]),
        (["holdout", "--at", "3,4", "--splits", "2"], ["best, held out", "worst, held out", "ahead"]),
        (["conclusions", "--at", "3,6", "--test", "wilcoxon"], ["SSA", "random", "only on the subset"]),
        (
            ["clusters", "--pca", "2", "--repetitions", "20"],
            ["one per cluster", "2 principal components of standardized scores"],
        ),
        (["clusters", "--clusters", "3", "--repetitions", "20"], ["3 clusters, round by round"]),
        (["hits"], ["HITS of the topics", "HITS of the runs"]),
        (["choose", "--count", "4", "--splits", "2"], ["expected on new runs", "judge: "]),
        (["growth", "--sizes", "4,8", "--draws", "2"], ["Larger ground truth"]),
        (
            ["growth", "--sizes", "4", "--draws", "1", "--runs", "5", "--scale", "log", "--search", "greedy+swap"],
            ["5 runs, search greedy+swap", "scale log"],
        ),
        (["good", "--good", "tau=0.5", "--repetitions", "20"], ["Good subsets", "tau ≥ 0.5"]),
        (["good", "--repetitions", "20", "--at", "3"], ["tau ≥ 0.85", "pearson ≥ 0.96", "all"]),
        (["means", "--at", "3,5"], ["Means of the runs on subsets", "range"]),
        (["clusters", "--clusters", "3", "--list"], ["3 clusters of 10 topics", "mean silhouette"]),
        (
            ["clusters", "--linkage", "k-means", "--repetitions", "5"],
            ["k-means", "signed-rank"],
        ),
        (["best", "--at", "3", "--no-holdout", "--runs", "6"], ["ranking of 6 runs", "Topics of the best and worst"]),
    ],
)
def test_each_command(scores: str, args: list[str], words: list[str]) -> None:
    result = run(args[0], scores, *args[1:])
    assert result.exit_code == 0, result.output
    for word in words:
        assert word in result.output


def test_transfer_and_choice_with_truth(scores: str, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    write_scores(other, [made(runs=9, topics=10, seed=5)], shape="matrix")
    assert "9 runs by AP" in run("transfer", scores, "--to", str(other), "--at", "3,5").output
    assert "given for checking" in run("choose", scores, "--count", "4", "--truth", str(other), "--splits", "2").output


def test_best_names_its_topics(scores: str, tmp_path: Path) -> None:
    file = tmp_path / "sets.csv"
    done = run("best", scores, "--no-holdout", "--format", "json", "--quiet", "--save", str(file))
    named = json.loads(done.output)["subsets"]
    assert [entry["topics"] for entry in named] == [len(entry["set"]) for entry in named]
    lines = file.read_text().splitlines()
    assert lines[0] == "sets,topics,value,optimal,set"
    assert lines[1].split(",")[-1] == " ".join(named[0]["set"])


def test_best_against_a_truth_and_transposed_files(scores: str, tmp_path: Path) -> None:
    """--transpose holds for the scores, for --truth and for --to."""
    matrix = made()
    other = made(seed=5)
    files = {}
    for name, scored in (("scores", matrix), ("other", other)):
        files[name] = tmp_path / f"{name}.csv"
        turned = ScoreMatrix.of(scored.values.T, runs=scored.topics, topics=scored.runs, measure="AP")
        write_scores(files[name], [turned], shape="matrix")
    plain = tmp_path / "plain.csv"
    write_scores(plain, [other], shape="matrix")
    at = ["--at", "3", "--quiet"]
    for words in (["best", "--no-holdout", "--truth"], ["transfer", "--to"], ["choose", "--count", "3", "--truth"]):
        name, *options = words
        more = [] if name == "choose" else at
        upright = run(name, scores, *options, str(plain), *more)
        turned_over = run(name, str(files["scores"]), "--transpose", *options, str(files["other"]), *more)
        assert upright.exit_code == turned_over.exit_code == 0, turned_over.output
        assert upright.stdout == turned_over.stdout
    assert "the truth" in run("best", scores, "--no-holdout", "--truth", str(plain), *at).stdout


def test_a_truth_without_some_of_the_runs(scores: str, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    write_scores(few, [made(runs=5)], shape="matrix")
    with pytest.raises(AssayError, match="no run 'run6' \\(7 of 12 runs are not in it\\); give scores of all runs"):
        run("best", scores, "--truth", str(few))


def test_sets_are_drawn(scores: str, tmp_path: Path) -> None:
    for args in (["sets", "--count", "3"], ["means", "--at", "3,5"], ["good", "--repetitions", "20"]):
        target = tmp_path / f"{args[0]}.svg"
        assert run(args[0], scores, *args[1:], "--figure", str(target)).exit_code == 0
        assert target.exists()


def test_planted_topics(scores: str, tmp_path: Path) -> None:
    out = tmp_path / "made.csv"
    run("simulate", scores, "--kind", "planted(seeds=3, around=4)", "--save", str(out))
    assert out.read_text().splitlines()[0].endswith("3.4")


@pytest.mark.parametrize("kind", ["normal", "resampled"])
def test_simulate_writes_a_matrix(scores: str, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "made.csv"
    result = run("simulate", scores, "--kind", kind, "--topics", "20", "--runs", "8", "--save", str(out))
    assert "not normal" in result.output
    assert len(out.read_text().splitlines()) == 9


def test_groups_of_runs(scores: str, tmp_path: Path) -> None:
    groups = tmp_path / "groups.csv"
    groups.write_text("run,group\n" + "".join(f"run{i},g{i // 3}\n" for i in range(1, 13)))
    assert (
        "groups kept together"
        in run("choose", scores, "--count", "4", "--splits", "2", "--info", str(groups), "--by", "group").output
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["best", "--at", "50"], "no subsets of 50 topics; there are 1 to 9"),
        (["best", "--at", "x"], "whole numbers"),
        (["best", "--percentiles", "x"], "percentages"),
        (["best", "--criterion", "kendall"], "no criterion 'kendall'"),
        (["best", "--search", "swop"], "did you mean swap"),
        (["best", "--search", "swap(round=3)"], "no parameter 'round'"),
        (["best", "--top", "0.1"], "1 runs; ranking by subsets needs at least 3"),
        (["choose", "--count", "40"], "no subsets of 40 topics"),
        (["growth", "--sizes", "99"], "99 topics as ground truth"),
        (["good", "--good", "tau=x"], "write a criterion and its value"),
        (["good", "--good", "tau=.5", "--good", "tau=.6"], "give each criterion once"),
        (["good", "--good", "taw=.5"], "no criterion 'taw'"),
        (["best", "--save", "nowhere/sets.csv"], "make the folder 'nowhere' first"),
        (["simulate", "--kind", "planted(seeds=99)", "--save", "x.csv"], "99 clusters around real topics"),
        (["good", "--good", "tau"], "write a criterion and its value"),
        (["best", "--runs", "99"], "the 99 best runs"),
        (["best", "--runs", "5", "--top", "0.5"], "not both"),
        (["clusters", "--list"], "give the number of clusters with --clusters"),
        (["clusters", "--list", "--clusters", "3", "--weighted"], "--weighted has no effect with --list"),
        (["clusters", "--linkage", "k-means", "--metric", "cosine"], "needs the euclidean metric"),
        (
            ["simulate", "--kind", "planted", "--runs", "9", "--save", "x.csv"],
            "--runs has no effect with --kind planted",
        ),
    ],
)
def test_bad_input_is_one_clear_error(scores: str, args: list[str], message: str) -> None:
    with pytest.raises(AssayError) as raised:
        run(args[0], scores, *args[1:])
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_transfer_between_measures_of_one_file(tmp_path: Path) -> None:
    path = str(tmp_path / "both.csv")
    one = made(runs=12, topics=10)
    write_scores(tmp_path / "both.csv", [replace(one, measure="AP"), replace(one, measure="RR")])
    with pytest.raises(AssayError, match=r"2 measures \(AP, RR\); choose one with --to-measure"):
        run("transfer", path, "-m", "AP", "--to", path)
    moved = run("transfer", path, "-m", "AP", "--to", path, "--to-measure", "RR", "--at", "3")
    assert "tested on 12 runs by RR" in moved.output


@pytest.mark.parametrize("args", [["best", "--seconds", "-1"], ["conclusions", "--alpha", "2"]])
def test_numbers_out_of_range(scores: str, args: list[str]) -> None:
    assert "is not in the range" in run(args[0], scores, *args[1:]).output


def test_nothing_is_saved_where_the_scores_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("AP,1,2\na,.1,.2\nb,.2,.1\nc,.1,.3\n")
    with pytest.raises(AssayError, match="normality needs at least 8 topics"):
        run("simulate", str(path), "--save", str(tmp_path / "made.csv"))
    assert not (tmp_path / "made.csv").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AP,1,2\na,.1,.2\nb,.2,.1\n", "2 runs"),
        ("AP,1\na,.1\nb,.2\nc,.3\n", "1 topic"),
        ("AP,1,2\na,.1,.2\nb,.2,.1\nc,.1,.2\n", "every run has the same mean"),
        ("AP,1,2\na,.1,nan\nb,.2,.1\nc,.1,.2\n", "finite"),
    ],
)
def test_files_with_too_little(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(AssayError, match=message):
        run("best", str(path))


def test_every_help_has_an_example() -> None:
    for name in command.commands:
        assert f"assay topics {name}" in run(name, "--help").output


@pytest.mark.parametrize(
    "args",
    [
        ["best", "--at", "2,5", "--repetitions", "20", "--splits", "2", "--search", "swap(rounds=1)"],
        ["sets", "--count", "3"],
        ["stability"],
        ["top-stability", "--at", "3"],
        ["map"],
        ["holdout", "--at", "3", "--splits", "1"],
        ["hits"],
        ["conclusions", "--at", "3"],
        ["choose", "--count", "4", "--splits", "2"],
        ["growth", "--sizes", "4", "--draws", "1"],
        ["clusters", "--repetitions", "5"],
    ],
    ids=lambda args: str(args[0]),
)
def test_csv_is_one_table(scores: str, args: list[str]) -> None:
    output = run(args[0], scores, *args[1:], "--quiet", "--format", "csv").output
    rows = list(csv.reader(io.StringIO(output)))
    assert len({len(row) for row in rows}) == 1
    assert all(name and name.isascii() for name in rows[0])


def test_the_held_out_values_stand_in_the_same_row(scores: str) -> None:
    quick = ["--search", "swap(rounds=1)", "--at", "2,5", "--repetitions", "20", "--splits", "2"]
    rows = json.loads(run("best", scores, *quick, "--format", "json", "--quiet").output)["rows"]
    tested = json.loads(run("holdout", scores, "--at", "2,5", "--splits", "2", "--format", "json").output)["rows"]
    assert [row["best_held_out"] for row in rows] == [row["best_held_out"] for row in tested]
    assert [row["ahead"] for row in rows] == [row["ahead"] for row in tested]


def test_what_has_no_effect_is_an_error(scores: str) -> None:
    with pytest.raises(AssayError, match="--splits has no effect with --no-holdout"):
        run("best", scores, "--no-holdout", "--splits", "3")
    with pytest.raises(AssayError, match="--seed is given twice"):
        run("best", scores, "--seed", "1", "--seed", "2")


def test_help_lists_what_is_registered() -> None:
    shown = " ".join(run("best", "--help").output.split())
    for names in (CRITERIA.listed(), SCALES.listed(), SEARCHES.listed()):
        assert names in shown


def test_transposed_tables_are_transposed_wherever_they_are_read(tmp_path: Path) -> None:
    plain = real_data("trec-score-matrices/named/trec8-adhoc_ap.csv")
    rows = [line.split(",") for line in plain.read_text().splitlines()]
    columns = [",".join(cells) for cells in zip(*rows, strict=True)]
    (tmp_path / "turned.csv").write_text("\n".join(columns) + "\n")
    asked = ["--at", "2", "--format", "json"]
    straight = call(["topics", "transfer", str(plain), "--to", str(plain), *asked])
    across = call(
        ["topics", "transfer", f"{tmp_path}/turned.csv", "--to", f"{tmp_path}/turned.csv", "--transpose", *asked]
    )
    assert across.code == 0, across.err
    assert json.loads(across.out)["rows"] == json.loads(straight.out)["rows"]
    chosen = call(
        ["topics", "choose", str(plain), "--count", "3", "--truth", str(plain), "--splits", "2", "--format", "json"]
    )
    turned = f"{tmp_path}/turned.csv"
    turned_choice = call(["topics", "choose", turned, "--count", "3", "--truth", turned, "--splits", "2",
                          "--transpose", "--format", "json"])  # fmt: skip
    assert turned_choice.code == 0, turned_choice.err
    assert json.loads(turned_choice.out)["rows"] == json.loads(chosen.out)["rows"]
