"""Official scores of real tracks: TREC-COVID's leaderboard, trec_eval's output for two tracks, Robust 2004."""

from __future__ import annotations

import csv
import io
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assay.data.scores import Scores
from assay.io import read_qrels, read_run
from assay.io.scores import read_scores
from assay.measures import parse
from assay.measures.trec_names import ROOTS
from assay.scoring import Policy, evaluate
from tests.conftest import real_data


def unpacked(archive: Path, folder: Path) -> list[Path]:
    """The run files of an archive, unpacked."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return sorted((folder / "runs").iterdir())


@pytest.fixture(scope="module")
def covid(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, dict[str, str]], Scores]:
    root = real_data("trec-covid-round1")
    files = unpacked(root / "runs.tar.xz", tmp_path_factory.mktemp("covid"))
    with open(root / "leaderboard.csv", newline="") as file:
        board = {row["run"]: row for row in csv.DictReader(file)}
    measures = ["AP", "bpref", "P@5", "nDCG@10", "RBP(p=0.5)"]
    policy = Policy(compat="trec_eval-9")
    return board, evaluate(files, read_qrels(root / "qrels.txt"), measures, policy=policy, jobs=2)


@pytest.mark.parametrize(
    ("place", "column", "least"),
    [(0, "MAP", 143), (1, "bpref", 143), (2, "p@5", 143), (3, "ndcg@10", 143), (4, "RBP(p=.5)", 142)],
)
def test_leaderboard_of_trec_covid(
    covid: tuple[dict[str, dict[str, str]], Scores], place: int, column: str, least: int
) -> None:
    board, matrices = covid
    matrix = matrices[place]
    assert len(matrix.runs) == 143
    equal = sum(
        f"{mean:.4f}" == f"{float(board[run][column]):.4f}"
        for run, mean in zip(matrix.runs, matrix.averages(), strict=True)
    )
    assert equal >= least


def official(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """(run, topic, measure, value) of trec_eval's own output."""
    text = io.StringIO(lzma.decompress(path.read_bytes()).decode())
    for row in csv.DictReader(text, delimiter="\t"):
        yield row["run"], row["topic"], row["measure"], row["value"]


def ours_of(name: str) -> str | None:
    """Our name of a measure as trec_eval prints it."""
    for root in ROOTS.values():
        for line in root.lines(root.parameters):
            if line.name == name and line.topics and line.measure:
                return line.measure
    return None


@pytest.mark.parametrize(("track", "least"), [("trec-dl-2019-passage", 50_000), ("trec-dl-2021-passage", 110_000)])
def test_every_per_topic_value_of_a_deep_learning_track(track: str, least: int, tmp_path: Path) -> None:
    root = real_data(track)
    files = unpacked(root / "runs.tar.xz", tmp_path)
    wanted: dict[str, dict[tuple[str, str], str]] = {}
    for run, topic, measure, value in official(root / "trec_eval-per-topic.tsv.xz"):
        if topic != "all" and measure not in ("iprec_at_recall_0.30", "iprec_at_recall_0.70"):
            wanted.setdefault(measure, {})[run, topic] = value
    names = {m: ours for m in wanted if (ours := ours_of(m))}
    assert len(names) >= 27
    measures, policy = [parse(m) for m in names.values()], Policy(compat="trec_eval-9")
    matrices = evaluate(files, read_qrels(root / "qrels.txt"), measures, policy=policy, jobs=2)
    compared = 0
    for measure, matrix in zip(names, matrices, strict=True):
        place = {r: i for i, r in enumerate(matrix.runs)}
        column = {t: j for j, t in enumerate(matrix.topics)}
        for (run, topic), value in wanted[measure].items():
            got = matrix.values[place[run], column[topic]]
            assert f"{got:.4f}" == f"{float(value):.4f}", (run, topic, measure)
            compared += 1
    assert compared >= least


@pytest.mark.parametrize("tag", ["pircRB04td2", "NLPR04clus10", "uic0401"])
def test_average_precision_of_robust_2004(tag: str) -> None:
    root = real_data("trec-robust-2004")
    matrix = read_scores(real_data("trec-score-matrices/named/robust2004_ap.csv"))[0]
    run = read_run(root / "runs" / f"input.{tag}.xz")
    (ours,) = evaluate([run], read_qrels(root / "qrels.txt.xz"), "AP", policy=Policy(compat="trec_eval-9"))
    theirs = matrix.select(runs=[tag], topics=list(ours.topics)).values[0]
    assert len(theirs) == 249
    np.testing.assert_allclose(ours.values[0], theirs, atol=5.1e-5)
