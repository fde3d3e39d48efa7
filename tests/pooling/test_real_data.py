"""TREC-COVID round 1 (143 runs) and TREC Deep Learning 2021 (63 runs): what orders find, what adjusting brings."""

from __future__ import annotations

import csv
import tarfile
from dataclasses import replace

import numpy as np
import pytest

from assay.data.lists import Lists, collected
from assay.io import read_info, read_qrels, read_run
from assay.pooling import curves, known_pool, left_out, pool
from assay.pooling.adjustment_errors import adjustment_accuracy, best_runs
from assay.pooling.judging_curves import Curves
from assay.pooling.pools import contributions
from tests.conftest import ROOT, real_data

RELEVANT = {"trec-covid-round1": 1, "trec-dl-2021-passage": 2}
"""Lowest relevant grade: the official binary measures of the passage task count grades 2 and 3."""
PAGE = ROOT / "docs" / "howto" / "which-documents-should-i-judge-next.md"


@pytest.fixture(scope="module", params=list(RELEVANT))
def collection(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lists, int]:
    source = real_data(request.param)
    folder = tmp_path_factory.mktemp("runs")
    with tarfile.open(source / "runs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    files = sorted((folder / "runs").iterdir())
    runs = [replace(read_run(path), name=path.name).cut(100) for path in files]
    board = source / "leaderboard.csv"
    teams = {r["run"]: r["team"] for r in csv.DictReader(board.read_text().splitlines())} if board.exists() else None
    return collected(runs, read_qrels(source / "qrels.txt"), groups=teams), RELEVANT[request.param]


@pytest.fixture(scope="module")
def found(collection: tuple[Lists, int]) -> Curves:
    """The curves of the how-to page, but for the orders that take longest or differ from others by a parameter only."""
    seen, rel = collection
    orders = [
        "depth",
        "move-to-front",
        "max-mean",
        "max-mean(rate=0)",
        "thompson",
        "ucb",
        "epsilon-greedy",
        "hedge",
        "residual(aim=top)",
        "mtc",
    ]
    options = {"measure": f"AP(rel={rel})", "budgets": [10, 20, 50, 100, 150], "repetitions": 3, "rel": rel}
    return curves(seen, orders, **options)  # type: ignore[arg-type]


def page_rows(relevant: int) -> dict[str, list[float]]:
    """Order → numbers of the table of the how-to page that belongs to the collection with this relevant grade."""
    part = PAGE.read_text(encoding="utf-8").partition(f"grade ≥ {relevant} relevant:")[2].partition("\n\nT")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| `")]
    return {cells[0].strip("`"): [float(c.replace("−", "-")) for c in cells[1:]] for cells in rows}


def test_numbers_of_the_page(found: Curves, collection: tuple[Lists, int]) -> None:
    wanted, areas = page_rows(collection[1]), found.areas()
    assert len(wanted) == 15
    for c in found.curves:
        share, tau, bias = ((c.relevant / found.relevant).mean(axis=1), c.tau.mean(axis=1), c.bias.mean(axis=1))
        ours = [*share, areas[c.order], tau[1], tau[3], bias[1], bias[3]]
        # One unit of the last digit: libraries of linear algebra may round sums otherwise.
        assert ours == pytest.approx(wanted[c.order], abs=0.0011), c.order


def test_orders_that_learn_find_relevant_docs_faster_than_depth(found: Curves) -> None:
    areas = found.areas()
    baseline = areas.pop("depth")
    assert min(areas.values()) > baseline


@pytest.mark.parametrize("order", ["move-to-front", "max-mean", "thompson", "hedge", "mtc"])
def test_at_every_budget_they_are_ahead(found: Curves, order: str) -> None:
    assert (found.curve(order).relevant.mean(axis=1) > found.curve("depth").relevant.mean(axis=1)).all()


def test_mtc_ranks_the_runs_best_after_ten_judgments(found: Curves, collection: tuple[Lists, int]) -> None:
    tau = {c.order: float(c.tau[0].mean()) for c in found.curves}
    assert max(tau, key=lambda order: tau[order]) == "mtc"
    assert tau["mtc"] == pytest.approx({1: 0.828, 2: 0.815}[collection[1]], abs=0.0011)


def test_agreement_with_the_full_judgments_rises(found: Curves) -> None:
    for curve in found.curves:
        assert curve.tau[3, 0] > 0.9
        assert curve.rms[-1, 0] < curve.rms[0, 0] or curve.rms[-1, 0] < 0.08


def test_adjusted_errors_are_below_unadjusted_ones(collection: tuple[Lists, int]) -> None:
    # Algorithm 6.3 with 100 draws of runs, as in Webber's Tables 6.1 and 6.2.
    seen, rel = collection
    study = adjustment_accuracy(
        seen, f"tRBP(rel={rel})@10", widths=[2, 4, 10], common=[10, 20], samples=100, topic_samples=50
    )
    assert (study.adjusted < study.unadjusted).all()
    assert (study.adjusted[:, 1] < study.adjusted[:, 0]).all()
    assert (study.adjusted < study.sampled).all()
    assert (study.systems < study.raw).all()
    assert (np.diff(study.raw) < 0).all()
    topics = len(seen.topics)
    np.testing.assert_allclose(study.unadjusted, study.raw[:, None] * (topics - np.array([10, 20])) / topics, rtol=0.03)


def test_condensed_lists_are_better_for_narrow_pools_only(collection: tuple[Lists, int]) -> None:
    # Webber's Table 6.3: condensed beats "not relevant" at width 2; adjusting pays with twenty common topics.
    seen, rel = collection
    options = {"widths": [2, 10], "common": [20], "samples": 100, "topic_samples": 50}
    condensed = adjustment_accuracy(seen, f"tRBP(rel={rel})@10", unjudged="condensed", **options)  # type: ignore[arg-type]
    plain = adjustment_accuracy(seen, f"tRBP(rel={rel})@10", **options)  # type: ignore[arg-type]
    assert condensed.raw[0] < plain.raw[0]
    assert (condensed.adjusted < condensed.unadjusted).all()


def test_leaving_a_group_out_costs_at_least_as_much_as_leaving_a_run_out(collection: tuple[Lists, int]) -> None:
    seen, rel = collection
    by_run = left_out(seen, f"P(rel={rel})@10", depth=10, rel=rel)
    by_group = left_out(seen, f"P(rel={rel})@10", depth=10, rel=rel, by="group")
    assert (by_run.loss <= 0).all()
    assert (by_group.loss <= by_run.loss + 1e-12).all()
    shares = contributions(seen, pool(seen, "depth(k=10)"), depth=10, rel=rel)
    assert shares.relevant_alone is not None
    np.testing.assert_array_equal(shares.relevant_alone, by_run.relevant_alone)


@pytest.mark.parametrize("measure", ["AP", "nDCG@10"])
@pytest.mark.parametrize("depth", [10, 100])
def test_at_most_bounds_every_run(collection: tuple[Lists, int], measure: str, depth: int) -> None:
    seen, rel = collection
    found = left_out(seen, measure, depth=depth, rel=rel)
    assert (found.at_most >= found.pooled - 1e-12).all()


def test_two_runs_of_a_track_are_not_its_pool(collection: tuple[Lists, int]) -> None:
    seen, _ = collection
    source = real_data("trec-covid-round1" if len(seen.runs) == 143 else "trec-dl-2021-passage")
    runs, qrels = seen.to_runs(), read_qrels(source / "qrels.txt")
    assert not known_pool(runs[:2], qrels).known
    given = known_pool(runs[:2], qrels, pool_runs=runs, depth=10)
    assert given.lists is not None
    honest = left_out(given.lists, "nDCG@10", depth=10).of([r.name for r in runs[:2]])
    naive = left_out(given.lists.select([r.name for r in runs[:2]]), "nDCG@10", depth=10)
    assert naive.loss.min() < -0.06
    assert honest.loss.min() > -0.02


def test_adjusting_a_manual_run_against_automatic_pools(collection: tuple[Lists, int]) -> None:
    """Webber 2010, Tables 6.1 right, 6.4 and 6.5, on TREC-COVID: the page states the same of 100 draws."""
    seen, _ = collection
    board = real_data("trec-covid-round1") / "leaderboard.csv"
    info = read_info(board)
    if not any(run in info.rows for run in seen.runs):
        pytest.skip("only TREC-COVID's leaderboard says which runs are manual")
    manual = best_runs(seen, "tRBP@10", 11, among=info.matching("type=manual", seen.runs))
    found = {}
    for unjudged in ("nonrelevant", "condensed"):
        found[unjudged] = adjustment_accuracy(
            seen, widths=[2, 10], common=[5, 10], samples=25, topic_samples=50, unjudged=unjudged,
            pooled=info.matching("type=automatic", seen.runs), new=manual,
        )  # fmt: skip
    plain, condensed = found["nonrelevant"], found["condensed"]
    assert plain.raw == pytest.approx([0.458, 0.221], abs=0.05)
    assert plain.systems == pytest.approx([0.265, 0.127], abs=0.06)
    assert plain.adjusted[:, 1] == pytest.approx([0.048, 0.037], abs=0.008)
    assert (plain.adjusted[:, 1] < plain.systems).all()
    # On condensed lists of wide pools adjusting from the systems is worse than nothing, and from five topics too.
    assert condensed.systems[1] > 1.5 * condensed.raw[1]
    assert condensed.adjusted[1, 0] > condensed.raw[1] > condensed.adjusted[1, 1]
