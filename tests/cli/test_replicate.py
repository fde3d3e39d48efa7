"""assay replicate: every subcommand on small files, every format, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.data import ScoreMatrix
from assay.io.scores import write_scores
from assay.replication import replicate, score_series
from tests.oracles import repro_eval_values as oracle

DOCS = [f"d{i}" for i in range(8)]


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, ["replicate", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Score tables of three experiments; runs of two with their judgments."""
    for name, runs in oracle.made_scores().items():
        topics = oracle.OTHERS if name == "other" else oracle.TOPICS
        matrix = ScoreMatrix.of(list(runs.values()), runs=list(runs), topics=topics, measure="AP")
        write_scores(tmp_path / f"{name}.csv", [matrix], shape="matrix")
    rng = np.random.default_rng(0)
    for name in ("base", "better", "again"):
        lines = []
        for topic in range(1, 7):
            order = DOCS if name == "better" else list(rng.permutation(DOCS))
            lines += [f"{topic} Q0 {doc} {i + 1} {10 - i} {name}" for i, doc in enumerate(order)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    qrels = [f"{topic} 0 {doc} {int(i < 3)}" for topic in range(1, 7) for i, doc in enumerate(DOCS)]
    (tmp_path / "qrels.txt").write_text("\n".join(qrels) + "\n")
    return tmp_path


def test_score_tables_give_what_the_library_gives(folder: Path) -> None:
    result = call(folder / "original.csv", folder / "same.csv", "--baseline", "baseline", "--format", "json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    found = replicate(folder / "original.csv", folder / "same.csv", baseline="baseline")
    assert record["verdict"] == found.verdict
    assert record["effect_ratio"] == found.ratio.value
    assert [row["value"] for row in record["rows"]] == [q.value for q in found.quantities]
    assert result.stderr.startswith(found.outcome)
    assert record["least_ratio"] == 0.5
    more = call(folder / "original.csv", folder / "same.csv", "--baseline", "baseline", "--least-ratio", "2")
    assert "above 2 (one-sided p" in more.output or "holds both 0 and 1" in more.output


@pytest.mark.parametrize("form", ["text", "csv", "latex", "markdown", "html"])
def test_every_format(folder: Path, form: str) -> None:
    result = call(folder / "original.csv", folder / "other.csv", "--baseline", "baseline", "--format", form)
    assert result.exit_code == 0, result.output
    assert "effect" in result.stdout


def test_runs_are_scored_and_their_docs_compared(folder: Path) -> None:
    words: list[object] = [folder / "better.run", folder / "better.run", "--baseline", folder / "base.run"]
    words += ["--replicated-baseline", folder / "again.run", "--qrels", folder / "qrels.txt"]
    result = call(*words, "-m", "AP", "--format", "json", "--quiet")
    record = json.loads(result.stdout)
    assert record["rmse_system"] == 0
    assert record["tau_union_system"] == 1
    assert record["rbo_system"] == pytest.approx(1)
    assert record["rmse_baseline"] > 0
    both = call(*words)
    assert both.stdout.count("effect ratio  ") == 2  # AP and nDCG@10
    topics = call(*words, "-m", "AP", "--by-topic", "--figure", folder / "topics.svg", "--format", "csv", "--quiet")
    assert len(topics.stdout.splitlines()) == 7
    assert (folder / "topics.svg").read_text().startswith("<svg")


def test_a_series(folder: Path) -> None:
    files = (folder / "original.csv", folder / "other.csv")
    result = call("series", *files, "--format", "json", "--figure", folder / "series.svg")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    found = score_series({"original": files[0], "other": files[1]})
    assert record["verdict"] == found.verdict
    assert len(record["rows"]) == 4
    assert (folder / "series.svg").read_text().startswith("<svg")
    assert "outcome" in call("series", *files, "--baseline", "baseline").stdout
    assert "tau" in call("series", *files, "--order", "--format", "csv").stdout
    assert call("series", *files, "--top", 1, "--format", "csv").stdout.count("\n") == 3


def test_coverage(folder: Path) -> None:
    words = ("--topics", "20", "--effects", "1", "--trials", "20", "-B", "20", "--figure", folder / "c.svg")
    result = call("coverage", *words, "--format", "csv")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["original.csv", "same.csv"], "Missing option '--baseline'"),
        (["original.csv", "same.csv", "--baseline", "bm25"], "original: no run 'bm25', the baseline"),
        (["original.csv", "other.csv", "--baseline", "baseline", "--by-topic"], "--by-topic pairs the topics"),
        (["original.csv", "same.csv", "--baseline", "baseline", "--test", "welch"], "--test is for other topics"),
        (["original.csv", "same.csv", "--baseline", "baseline", "--depth", "5"], "--depth goes with runs and --qrels"),
        (["original.csv", "same.csv", "--baseline", "baseline", "-B", "50"], "-B has no effect: --interval fieller"),
        (["original.csv", "same.csv", "--baseline", "baseline", "--seed", "5"], "--seed has no effect"),
        (["original.csv", "none.csv", "--baseline", "baseline"], "none.csv"),
        (
            ["better.run", "again.run", "--baseline", "base.run", "--qrels", "qrels.txt", "--system", "x"],
            "--system goes with score tables",
        ),
        (
            [
                "better.run",
                "again.run",
                "--baseline",
                "base.run",
                "--qrels",
                "qrels.txt",
                "--replicated-qrels",
                "qrels.txt",
            ],
            "give --replicated-baseline",
        ),
        (
            [
                "better.run",
                "again.run",
                "--baseline",
                "base.run",
                "--qrels",
                "qrels.txt",
                "--topic-ids",
                "other",
                "--depth",
                "5",
            ],
            "--depth is about docs of the same topics",
        ),
        (["better.run", "again.run", "--baseline", "none.run", "--qrels", "qrels.txt"], "none.run"),
        (["series", "original.csv"], "1 collection given; a series takes at least two"),
        (["series", "original.csv", "other.csv", "--order", "--baseline", "x"], "--order shows the order"),
        (["series", "original.csv", "other.csv", "--order", "--top", "1"], "--top limits the systems"),
        (["coverage", "--effects", "x"], "write numbers, e.g. '.3 .5 1'"),
    ],
)
def test_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    result = CliRunner().invoke(cli, ["replicate", *words])
    assert result.exit_code != 0
    assert message in (str(result.exception) + result.output)
    assert sorted(folder.iterdir()) == before
