"""One family decides: the error of the whole family is α, and p and intervals of one method say the same."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from assay.stats import all_pairs, compare, paper_table
from assay.stats.joint_tests import MOST_PAIRS, carried_out, chosen_correction
from assay.stats.pairwise import versus_baseline
from tests.conftest import real_data
from tests.oracles.stats import trec8

WORLDS = ("normal", "skewed", "0/1", "uneven")


def equal_runs(world: str, rng: np.random.Generator, runs: int, topics: int) -> Floats:
    """Runs of which none is better: a score of the topic, and noise of the run."""
    base = rng.normal(0.5, 0.2, topics)
    if world == "skewed":
        return base + rng.exponential(0.1, (runs, topics))
    if world == "0/1":
        return (rng.random((runs, topics)) < rng.random(topics)).astype(float)
    noise = np.where(np.arange(runs) % 4 == 0, 0.3, 0.1) if world == "uneven" else np.full(runs, 0.1)
    return base + rng.normal(0, noise[:, None], (runs, topics))


@pytest.mark.parametrize("topics", [8, 12])
@pytest.mark.parametrize("world", WORLDS)
def test_no_baseline_named_is_not_k_tests(world: str, topics: int) -> None:
    """Ten equal runs, the best picked after seeing them: today's Holm over nine found a difference in .10 to .16."""
    rng = np.random.default_rng(26)
    wrong = 0
    for _ in range(60):
        matrix = ScoreMatrix.of(equal_runs(world, rng, 10, topics), measure="made up")
        wrong += bool(compare(matrix, letters=False, resamples=199).versus.significant().any())
    assert wrong / 60 <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 60)


def test_a_real_null_is_rejected_as_often_as_it_says() -> None:
    """Scores of ten good runs of TREC-8, permuted within topics."""
    real_data("trec-score-matrices/named/trec8-adhoc_ap.csv")
    rng = np.random.default_rng(3)
    good = trec8().by_average().values[:60:6, :25]
    wrong = 0
    for _ in range(40):
        permuted = rng.permuted(good, axis=0)
        wrong += bool(
            compare(ScoreMatrix.of(permuted, measure="AP"), letters=False, resamples=199).versus.significant().any()
        )
    assert wrong / 40 <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("correction", ["max-t", "holm", "bonferroni"])
@pytest.mark.parametrize("topics", [7, 12, 50])
def test_an_interval_contains_zero_exactly_where_p_does_not_reject(correction: str, topics: int) -> None:
    rng = np.random.default_rng(topics)
    values = equal_runs("normal", rng, 12, topics) + np.linspace(0, 0.15, 12)[:, None]
    tested = all_pairs(ScoreMatrix.of(values), correction=correction)
    assert tested.low is not None
    assert tested.high is not None
    rejected = tested.significant()
    assert rejected.any()
    assert not rejected.all()
    inside = (tested.low < 0) & (tested.high > 0)
    touches = (tested.low == 0) | (tested.high == 0)
    assert not (rejected & inside).any()
    assert (inside | touches)[~rejected].all()


def test_the_family_is_said_and_so_is_what_stands_in_for_it() -> None:
    few = ScoreMatrix.of(equal_runs("normal", np.random.default_rng(0), 4, 8))
    assert "(max-t needs 10 topics)" in " ".join(compare(few).table().notes)
    assert carried_out("max-t", MOST_PAIRS + 1, 50) == "holm"
    assert carried_out("max-t", MOST_PAIRS, 50) == "max-t"
    assert chosen_correction("auto", "wilcoxon") == "holm"


def test_letters_best_run_and_pairs_are_of_one_family() -> None:
    ten = trec8().select(runs=trec8().runs[:10])
    board = compare(ten, pairs=True)
    assert board.pairs is not None
    assert board.letters is not None
    rows = {(r["run"], r["against"]): r for r in board.pairs_table().record()["rows"]}
    for row in board.record()["rows"][1:]:
        pair = rows[board.baseline, row["run"]]
        assert row["p_corrected"] == pair["p_corrected"]
        assert (row["delta_low"], row["delta_high"]) == pytest.approx((-pair["delta_high"], -pair["delta_low"]))
        apart = not set(board.letters.labels[0]) & set(row["letters"])
        assert apart == (row["p_corrected"] < 0.05)


def test_a_table_of_one_measure_is_the_family_against_its_baseline() -> None:
    ten = trec8().select(runs=trec8().runs[:10])
    table = paper_table(ten, baseline="1")
    assert table.tests is not None
    versus = versus_baseline(ten, "1")
    assert [t.corrected_p for t in table.tests.tests] == versus.corrected().tolist()
    assert table.tests.correction == "max-t"
