"""The leaderboard: what stands in its rows is what the parts say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.stats.leaderboard import compare
from assay.stats.pairwise import all_pairs, versus_baseline
from tests.oracles.stats import SAKAI, trec8
from tests.oracles.stats import scipy_stats as stats

SMALL = ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure="nERR")


def test_rows_are_the_parts() -> None:
    board = compare(SMALL, baseline="y", correction="bonferroni")
    table = board.table()
    versus = versus_baseline(SMALL, "y", correction="bonferroni")
    assert table.column("run") == ["x", "y", "z"]
    assert table.column("mean") == pytest.approx(SAKAI.mean(axis=1))
    assert table.column("Δ") == [pytest.approx(0.075), None, pytest.approx(-0.025)]
    assert table.column("p corrected")[0] == pytest.approx(2 * versus.p[0])
    assert table.column("effect")[0] == pytest.approx(0.473, abs=5e-4)
    assert (table.column("wins")[0], table.column("ties")[0], table.column("losses")[0]) == (10, 5, 5)
    half = stats.t.ppf(1 - 0.05 / 4, 19) * float(np.std(SAKAI[0] - SAKAI[1], ddof=1)) / np.sqrt(20)
    assert table.column("Δ low")[0] == pytest.approx(0.075 - half, abs=1e-9)  # of both differences together
    alone = compare(SMALL, baseline="y", correction="none").table()
    assert alone.column("Δ low")[0] == pytest.approx(0.075 - 0.0742, abs=1e-4)


def test_default_baseline_is_the_best_and_it_is_said() -> None:
    board = compare(SMALL)
    assert board.baseline == "x"
    assert "picked after seeing the scores" in " ".join(board.table().notes)
    assert "picked" not in " ".join(compare(SMALL, baseline="x").table().notes)


def test_letters_come_from_all_pairs_two_sided() -> None:
    board = compare(trec8(), alternative="greater", baseline="apl8c221")
    assert board.letters is not None
    pairs = all_pairs(trec8().by_average())
    different = pairs.square(pairs.corrected()) < 0.05
    for group in board.letters.groups:
        assert not different[np.ix_(group, group)].any()
    assert board.versus.alternative == "greater"


@pytest.mark.parametrize("test", ["tukey", "randomised-tukey"])
def test_simultaneous_tests_need_no_correction(test: str) -> None:
    board = compare(SMALL, baseline="y", test=test, resamples=200)
    pairs = all_pairs(SMALL, test, resamples=200)
    assert board.table().column("p")[0] == pytest.approx(pairs.p[0])
    assert "p holds for all 3 pairs at once" in " ".join(board.table().notes)
    assert board.pairs_table().column("p") == pytest.approx(pairs.p)


def test_uncorrected_says_the_family_wise_error() -> None:
    notes = " ".join(compare(SMALL, baseline="x", correction="none").table().notes)
    assert "not corrected for 2 tests" in notes
    assert "0.098" in notes  # 1 − .95²


def test_without_letters_no_pair_is_tested() -> None:
    board = compare(SMALL, baseline="x", letters=False)
    assert board.pairs is None
    assert "letters" not in board.table().columns
    with pytest.raises(UsageError, match="pairs were not tested"):
        board.pairs_table()


def test_the_best_runs_are_shown_with_the_baseline_and_tested_among_all() -> None:
    whole = compare(trec8(), baseline="apl8c221", pairs=True)
    part = whole.best(5)
    assert part.table().column("run") == [*whole.matrix.runs[:4], "apl8c221"]
    assert part.table().rows == tuple(r for r in whole.table().rows if r[0] in part.table().column("run"))
    assert part.table().caption == "AP, 5 of 129 runs, 50 topics"
    assert part.table().notes == whole.table().notes
    pairs = part.pairs_table()
    assert len(pairs.rows) == 10
    assert pairs.caption == "AP, 10 of 8256 pairs of runs"
    everything = {row[:2]: row for row in whole.pairs_table().rows}
    assert all(everything[row[:2]] == row for row in pairs.rows)
    assert whole.best(500).table() == whole.table()
    assert whole.best(1).table().column("run") == ["apl8c221"]


def test_intervals_of_differences_are_told_from_corrected_p() -> None:
    """Those of max-t, Holm, Bonferroni and Tukey hold together; others are of each difference alone."""
    alone = "of each difference alone"
    apart: list[dict[str, Any]] = [{"correction": "bh"}, {"correction": "none"}]
    together: list[dict[str, Any]] = [{}, {"correction": "holm"}, {"test": "wilcoxon"}, {"test": "tukey"}]
    for how in apart:
        assert alone in " ".join(compare(SMALL, **how).table().notes)
    for how in together:
        notes = " ".join(compare(SMALL, **how).table().notes)
        assert alone not in notes
        assert "simultaneous 95 % intervals" in notes
    two = ScoreMatrix.of(SAKAI[:2], runs=["x", "y"])
    assert alone not in " ".join(compare(two).table().notes)


def test_a_single_test_is_not_corrected_and_says_so() -> None:
    for test in ("t", "tukey"):
        table = compare(ScoreMatrix.of(SAKAI[:2], runs=["x", "y"]), test=test, pairs=True).table()
        assert "p corrected" not in table.columns
        assert "a single test, p needs no correction" in " ".join(table.notes)


def test_latex_is_plain_ascii() -> None:
    for test in ("t", "tukey", "bootstrap", "wilcoxon", "sign"):
        board = compare(SMALL, test=test, pairs=True, resamples=99)
        for table in (board.table(), board.pairs_table()):
            latex = table.latex()
            assert latex.isascii(), [c for c in latex if ord(c) > 126]
            assert latex.count("$") % 2 == 0


def test_identical_and_constant_runs_have_a_meaning() -> None:
    same = ScoreMatrix.of([np.linspace(0.1, 0.3, 12)] * 2 + [np.linspace(0.2, 0.4, 12)])
    for test in ("t", "sign", "bootstrap", "tukey", "randomised-tukey"):
        text = compare(same, test=test, resamples=99).table().text().lower()
        assert "nan" not in text
        assert "inf " not in text


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="needs at least two"):
        compare(ScoreMatrix.of([[0.1, 0.2]]))
    with pytest.raises(UsageError, match="no run 'w' to be the baseline"):
        compare(SMALL, baseline="w")
    with pytest.raises(UsageError, match="alpha must lie between 0 and 1"):
        compare(SMALL, alpha=5)
