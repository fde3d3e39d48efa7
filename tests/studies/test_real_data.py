"""What the studies find on TREC-COVID and Robust 2004."""

from __future__ import annotations

import csv
import tarfile
from pathlib import Path

import numpy as np
import pytest

from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.data.scores import ScoreMatrix
from assay.io import read_qrels, read_run
from assay.io.scores import read_scores
from assay.pooling import left_out
from assay.scoring import evaluate
from assay.studies.discriminative import discriminative_power
from assay.studies.measure_rankings import predictivity
from assay.studies.method_comparison import method_test
from assay.studies.swaps import swap_rates
from tests.conftest import real_data

MEASURES = ["AP", "nDCG", "P@10", "RR"]


@pytest.fixture(scope="module")
def covid(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Run], Qrels, dict[str, dict[str, str]]]:
    root, folder = real_data("trec-covid-round1"), tmp_path_factory.mktemp("covid")
    with tarfile.open(root / "runs.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    with open(root / "leaderboard.csv", newline="") as file:
        board = {row["run"]: row for row in csv.DictReader(file)}
    runs = [read_run(path) for path in sorted((folder / "runs").iterdir())]
    return runs, read_qrels(root / "qrels.txt"), board


@pytest.fixture(scope="module")
def scores(covid: tuple[list[Run], Qrels, dict[str, dict[str, str]]]) -> list[ScoreMatrix]:
    runs, qrels, _ = covid
    return list(evaluate(runs, qrels, MEASURES, jobs=2))


def robust() -> list[ScoreMatrix]:
    base = real_data("trec-score-matrices")
    ap = read_scores(base / "named" / "robust2004_ap.csv")[0]
    p10 = read_scores(base / "anonymous" / "robust2004_p10.csv", transpose=True, measure="P@10")[0]
    return [ap, ScoreMatrix.of(p10.values, runs=ap.runs, topics=ap.topics, measure="P@10")]


def test_ap_and_ndcg_are_more_predictive_than_p10_and_rr(scores: list[ScoreMatrix]) -> None:
    tau = dict(zip(MEASURES, np.diag(predictivity(scores, splits=200).tau), strict=True))
    assert min(tau["AP"], tau["nDCG"]) > tau["P@10"] > tau["RR"]
    ap, p10 = np.diag(predictivity(robust(), splits=200).tau)
    assert ap > p10


def test_ap_and_ndcg_discriminate_more_than_p10_and_rr(scores: list[ScoreMatrix]) -> None:
    shares = dict(zip(MEASURES, discriminative_power(scores, test="t").shares, strict=True))
    assert min(shares["AP"], shares["nDCG"]) > shares["P@10"] > shares["RR"]
    ap, p10 = discriminative_power(robust(), test="t").shares
    assert ap > p10


def test_swaps_need_a_smaller_difference_with_ap_than_with_rr(scores: list[ScoreMatrix]) -> None:
    needed = [swap_rates(scores[i], draws=20).needed() for i in (0, 3)]
    assert needed[0] is not None
    assert needed[1] is None or needed[0] < needed[1]


def test_leaving_a_team_out_of_the_pool_costs_it_something(
    covid: tuple[list[Run], Qrels, dict[str, dict[str, str]]],
) -> None:
    """Pooled were the runs that contributed judgments; a team loses what only its own runs brought."""
    runs, qrels, board = covid
    pooled = [run for run in runs if board[run.name]["contributed judgments"] == "yes"]
    assert len(pooled) == 56
    teams = {name: row["team"] for name, row in board.items()}
    lists = collected(pooled, qrels, groups=teams)
    by_run, by_team = (left_out(lists, "AP", depth=7, by=by) for by in ("run", "group"))
    assert (by_team.loss <= by_run.loss + 1e-12).all()
    change = by_team.loss / by_team.pooled
    assert -0.15 < change.mean() < -0.01
    assert (by_team.loss <= 1e-12).all()


def test_emap_against_soboroff_as_the_page_says(
    covid: tuple[list[Run], Qrels, dict[str, dict[str, str]]], tmp_path: Path
) -> None:
    """docs/howto/are-my-measures-any-good.md: EMAP is better than Soboroff's sampling on all three."""
    collections = {"covid": (covid[0], covid[1])}
    for year in ("2019", "2021"):
        root = real_data(f"trec-dl-{year}-passage")
        with tarfile.open(root / "runs.tar.xz") as tar:
            tar.extractall(tmp_path / year, filter="data")
        runs = [read_run(path) for path in sorted((tmp_path / year / "runs").iterdir())]
        collections[year] = (runs, read_qrels(root / "qrels.txt"))
    found = method_test("predict(method=emap)", "predict(method=soboroff)", collections, sizes=[10], subsets=30, jobs=2)
    taus = [(r.tau[0].mean(), r.tau[1].mean()) for r in found.results]
    # One unit of the last digit: libraries of linear algebra may round sums otherwise.
    assert np.array(taus) == pytest.approx(np.array([(0.714, 0.170), (0.369, 0.203), (0.548, 0.034)]), abs=0.0015)
    ps = [result.p for result in found.results]
    assert ps[1] == pytest.approx(0.009, abs=0.001)
    assert max(ps[0], ps[2]) < 0.001
    full = [result.tau[0] for result in found.full]
    assert full == pytest.approx([0.761, 0.384, 0.439], abs=0.0015)
