"""--info and --where on every command that reads runs or scores, --by where runs are grouped; `compare --places`."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.core.errors import AssayError, UsageError
from assay.data.scores import ScoreMatrix
from assay.io import read_info
from assay.io.scores import write_scores
from assay.plan import power
from assay.stats import compare
from assay.stats.run_places import places
from assay.stats.t_power import TTest
from tests.cli.test_options import COMMANDS
from tests.conftest import real_data

RUNS = ("a1", "a2", "m1", "x")


def reads_runs_or_scores(command: click.Command) -> bool:
    """Whether a command takes run files, or score tables that may be made of runs and judgments."""
    arguments = {parameter.name for parameter in command.params if isinstance(parameter, click.Argument)}
    written = {option for parameter in command.params for option in parameter.opts}
    is_of_scores = "files" in arguments and {"--qrels", "--column"} <= written
    has_collections_of_runs = any(parameter.metavar == "NAME QRELS RUNS" for parameter in command.params)
    return "runs" in arguments or has_collections_of_runs or is_of_scores


OF_THEIR_OWN = ("agreement", "serve", "split", "store")
"""Commands that read labels, divide files, or keep what is known of runs themselves."""
READERS = {
    name: command
    for name, command in COMMANDS.items()
    if reads_runs_or_scores(command) and not name.startswith(OF_THEIR_OWN)
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Scores of four runs in a file, their run files, judgments, and a table of three of the runs."""
    rng = np.random.default_rng(5)
    values = rng.random((4, 12))
    write_scores(tmp_path / "scores.csv", [ScoreMatrix.of(values, runs=list(RUNS), measure="AP")])
    (tmp_path / "info.csv").write_text("run,runtype,team\na1,automatic,x\na2,automatic,y\nm1,manual,x\n")
    lines = []
    for i, run in enumerate(RUNS):
        docs = [(t, d, rng.random()) for t in range(1, 4) for d in range(8)]
        text = "".join(f"{t} Q0 d{d} 0 {s:.6f} {run}\n" for t, d, s in docs)
        (tmp_path / f"{run}.run").write_text(text)
        lines += [f"{t} 0 d{(2 * i + t) % 8} 1\n" for t in range(1, 4)]
    (tmp_path / "q.txt").write_text("".join(dict.fromkeys(lines)))
    return tmp_path


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)


def runs_of(folder: Path) -> list[Path]:
    return [folder / f"{name}.run" for name in RUNS]


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_command_that_reads_runs_or_scores_has_the_filter(name: str) -> None:
    command = READERS[name]
    written = {option for parameter in command.params for option in parameter.opts}
    assert {"--info", "--where"} <= written


def test_a_filter_keeps_the_same_runs_in_scores_and_in_runs(folder: Path) -> None:
    automatic = ["--info", folder / "info.csv", "--where", "type=automatic", "--format", "json"]
    of_scores = json.loads(run("compare", folder / "scores.csv", *automatic).stdout)
    of_runs = json.loads(run("score", *runs_of(folder), "--qrels", folder / "q.txt", "-m", "AP", *automatic).stdout)
    assert {row["run"] for row in of_scores["rows"]} == {row["run"] for row in of_runs["rows"]} == {"a1", "a2"}
    alike = json.loads(run("similarity", *runs_of(folder), *automatic).stdout)
    assert alike["rows"]
    left = json.loads(run("pool", "contributions", *runs_of(folder), *automatic).stdout)
    assert {row["run"] for row in left["rows"]} == {"a1", "a2"}


def test_a_filter_keeps_the_runs_that_are_judged_by_machines(folder: Path) -> None:
    automatic = ["--info", folder / "info.csv", "--where", "type=automatic", "--format", "json"]
    labels = "".join(f"{t} d{d} gpt {(t + d) % 2}\n" for t in range(1, 4) for d in range(8))
    (folder / "labels.tsv").write_text("topic doc worker label\n".replace(" ", "\t") + labels.replace(" ", "\t"))
    both = ["--human", folder / "q.txt", "--machine", folder / "labels.tsv"]
    filled = json.loads(run("judge", "fill", *runs_of(folder), *both, *automatic).stdout)
    assert {row["run"] for row in filled["rows"]} == {"a1", "a2"}
    audited = run("judge", "audit", *runs_of(folder), *both, *automatic, "-B", "20", "--show", "bias")
    assert {row["run"] for row in json.loads(audited.stdout)["rows"]} == {"a1", "a2"}
    with pytest.raises(UsageError, match="--info has no effect without runs"):
        run("judge", "audit", *both, *automatic)


def test_a_filter_keeps_runs_of_every_collection_that_methods_are_tried_on(folder: Path) -> None:
    runs = folder / "runs"
    runs.mkdir()
    for path in runs_of(folder):
        (runs / path.name).write_text(path.read_text())
    one = [
        "predict",
        "compare",
        "--collection",
        "c",
        folder / "q.txt",
        runs,
        "--method",
        "soboroff",
        "--format",
        "json",
    ]
    all_runs = run(*one)
    (folder / "all.csv").write_text("run,type\na1,automatic\na2,automatic\nm1,manual\nx,automatic\n")
    fewer = run(*one, "--info", folder / "all.csv", "--where", "type=automatic")
    (runs / "m1.run").unlink()
    alone = run(*one)
    assert all_runs.stdout != fewer.stdout == alone.stdout != ""


def test_filtered_scores_are_those_of_the_files_alone(folder: Path) -> None:
    """Reading runs to filter them must not change a score."""
    how = ["--qrels", folder / "q.txt", "-m", "AP nDCG@10", "--format", "csv"]
    kept = run("score", *runs_of(folder), *how, "--info", folder / "info.csv", "--where", "type!=manual")
    alone = run("score", folder / "a1.run", folder / "a2.run", *how)
    assert kept.stdout == alone.stdout != ""


def test_conditions_are_all_met(folder: Path) -> None:
    words = ["--info", folder / "info.csv", "--where", "team=x", "--where", "type!=manual", "--format", "csv"]
    outcome = run("score", *runs_of(folder), "--qrels", folder / "q.txt", "-m", "AP", *words)
    assert [row["run"] for row in csv.DictReader(outcome.stdout.splitlines())] == ["a1"]


def test_score_by_group(folder: Path) -> None:
    words = ["--info", folder / "info.csv", "--by", "type", "--format", "csv"]
    outcome = run("score", *runs_of(folder), "--qrels", folder / "q.txt", "-m", "AP", *words)
    assert outcome.exit_code == 0, outcome.output
    found = list(csv.DictReader(outcome.stdout.splitlines()))
    assert {(row["type"], row["runs"]) for row in found} == {("automatic", "2"), ("manual", "1")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--where", "type=manual"], "--where is a condition on columns of --info"),
        (["--info", "I", "--where", "type=feedback"], "no run with type=feedback; type is one of: automatic, manual"),
        (["--info", "I", "--where", "tipe=manual"], "no column 'tipe'"),
        (["--info", "I", "--where", "manual"], "write COLUMN=TEXT or COLUMN!=TEXT"),
        (["--info", "I", "--where", "team=y", "--where", "type=manual"], "no run meets all of team=y, type=manual"),
        (["--info", "S", "--where", "type=manual"], "none of the 4 runs is in this file"),
    ],
)
def test_a_filter_that_leaves_no_run_is_one_line(folder: Path, words: list[str], message: str) -> None:
    (folder / "other.csv").write_text("run,type\nzz,manual\n")
    named = {"I": folder / "info.csv", "S": folder / "other.csv"}
    given = [named.get(word, word) for word in words]
    for read in (["compare", folder / "scores.csv"], ["pool", "make", *runs_of(folder)]):
        with pytest.raises(AssayError, match=re.escape(message)) as raised:
            run(*read, *given)
        assert "\n" not in str(raised.value)


def test_a_table_of_runs_that_nothing_looks_at_is_an_error(folder: Path) -> None:
    with pytest.raises(UsageError, match="--info has no effect without --where"):
        run("plan", "audit", folder / "scores.csv", "--info", folder / "info.csv")


def test_places(folder: Path) -> None:
    words = ["--places", "--info", folder / "info.csv", "--best-of", "type=automatic", "--by", "type"]
    outcome = run("compare", folder / "scores.csv", *words, "--format", "csv")
    assert outcome.exit_code == 0, outcome.output
    rows = list(csv.DictReader(outcome.stdout.splitlines()))
    means = {row["run"]: float(row["mean"]) for row in rows}
    ordered = sorted(means, key=lambda name: -means[name])
    assert [row["run"] for row in rows] == ordered
    assert [float(row["percentile"]) for row in rows] == pytest.approx([100, 200 / 3, 100 / 3, 0])
    best_automatic = max(means["a1"], means["a2"])
    for row in rows:
        mean = means[row["run"]]
        assert float(row["delta_best"]) == pytest.approx(mean - max(means.values()))
        assert float(row["delta_median"]) == pytest.approx(mean - np.median(list(means.values())))
        assert float(row["delta_best_type_automatic"]) == pytest.approx(mean - best_automatic)
    assert {row["run"]: row["type"] for row in rows}["x"] == ""
    with pytest.raises(UsageError, match="--best-of adds columns to the table of --places; give that as well"):
        run("compare", folder / "scores.csv", "--best-of", "type=automatic", "--info", folder / "info.csv")


def test_what_a_comparison_could_have_missed(folder: Path) -> None:
    """The column is what `plan power` says of the sd of the differences, at the α that the correction leaves it."""
    rng = np.random.default_rng(2)
    matrix = ScoreMatrix.of(rng.random((3, 30)), runs=["new", "mid", "old"], measure="AP")
    for name in ("new", "mid"):
        sd = float((matrix.of_run(name) - matrix.of_run("old")).std(ddof=1))
        at = {how: _found_from(matrix, how, name) for how in ("none", "bonferroni", "max-t")}
        one_by_one = power(topics=30, sigma=sd, power=0.9).delta
        halved = power(topics=30, sigma=sd, power=0.9, test=TTest(alpha=0.025)).delta
        assert at["none"] == pytest.approx(one_by_one)
        assert at["bonferroni"] == pytest.approx(halved)
        assert at["none"] < at["max-t"] < at["bonferroni"]


def _found_from(matrix: ScoreMatrix, correction: str, name: str) -> float:
    rows = compare(matrix, baseline="old", correction=correction).with_power(0.9).table().record()["rows"]
    return float(next(row["found_from"] for row in rows if row["run"] == name))


def test_places_on_trec_covid() -> None:
    """The best automatic run of round 1 is 7th of 143 by nDCG@10, .0764 behind the best, a manual one."""
    folder = real_data("trec-covid-round1")
    table = folder / "leaderboard.csv"
    rows = list(csv.DictReader(table.read_text().splitlines()))
    matrix = ScoreMatrix.of([[float(r["ndcg@10"])] for r in rows], runs=[r["run"] for r in rows], measure="nDCG@10")
    info = read_info(table)
    automatic = info.matching("type=automatic", matrix.runs)
    found = places(matrix, best_of={"best automatic": automatic}, groups=info.column("type"), by="type")
    best = found.runs.index("sab20.1.meta.docs")
    assert (found.ranks[best], found.ranks_in_group[best]) == (7, 1)
    assert found.means[best] - found.marks["best"] == pytest.approx(-0.0764, abs=1e-9)


def test_topic_sets_are_joined_on_request(folder: Path) -> None:
    whole = ScoreMatrix.of(np.random.default_rng(1).random((3, 6)), runs=["a", "b", "c"], measure="AP")
    write_scores(folder / "one.csv", [whole.select(topics=["1", "2"])])
    write_scores(folder / "two.csv", [whole.select(topics=["3", "4", "5", "6"])])
    write_scores(folder / "all.csv", [whole])
    joined = run("compare", folder / "one.csv", folder / "two.csv", "--join-topics", "--format", "json")
    at_once = run("compare", folder / "all.csv", "--format", "json")
    assert json.loads(joined.stdout)["rows"] == json.loads(at_once.stdout)["rows"]
    with pytest.raises(AssayError, match="--join-topics joins the topics of several score tables"):
        run("compare", folder / "all.csv", "--join-topics")
    with pytest.raises(AssayError, match="is in one file only"):
        run("compare", folder / "one.csv", folder / "two.csv")
