"""Significance with fewer topics: shares on the full set, the five outcomes, trends on TREC-8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.topics.conclusions import compare_conclusions, outcomes, significant, spaced
from assay.topics.search import search_subsets
from tests.topics.released import made, trec8_top96, used

signs = st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("name", "runs", "share", "pairs"),
    [("trec8-adhoc", 96, 0.548, 4560), ("terabyte2006", 49, 0.691, 1176), ("robust2004", 82, 0.700, 3321)],
)
def test_significant_pairs_of_the_used_runs(name: str, runs: int, share: float, pairs: int) -> None:
    """Roitero 2020, Section 4.4.2.2: 55 to 70 % with all topics; the decimals are from the released matrices."""
    found = significant(trec8_top96() if runs == 96 else used(name, runs))
    assert len(found) == pairs
    assert (found != 0).mean() == pytest.approx(share, abs=6e-4)


def test_against_scipy() -> None:
    matrix = made(runs=5, topics=12)
    expected = [
        np.sign(a.mean() - b.mean()) if stats.ttest_rel(a, b).pvalue < 0.05 else 0
        for i, a in enumerate(matrix.values) for b in matrix.values[i + 1 :]
    ]  # fmt: skip
    assert significant(matrix).tolist() == expected


@given(signs)
def test_outcomes_add_up(pairs: list[tuple[int, int]]) -> None:
    one, two = (np.array(x, np.int8) for x in zip(*pairs, strict=True))
    found = outcomes(one, two)
    assert found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(outcomes(two, one)[[0, 1, 3, 2, 4]], found)
    assert outcomes(one, one)[[1, 2, 3]].sum() == 0


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_fewer_topics_cost_false_negatives_not_false_positives(test: str) -> None:
    """Roitero 2020, Section 4.4.2.3: NS is the main error, SN small, SSD rare; best sets keep the most."""
    at = (10, 25, 40)
    found = search_subsets(trec8_top96(), search="swap(rounds=2)", cardinalities=at)
    result = compare_conclusions(found, cardinalities=at, test=test)
    best, random, worst = (result.shares[k] for k in ("best", "random", "worst"))
    assert (best[:, 3] > best[:, 2])[:2].all()
    assert best[:, 1].max() < 0.001
    assert (best[:, 2] < 0.1).all()
    assert best[0, 0] > worst[0, 0]
    assert (np.diff(random[:, 0]) > 0).all()
    assert result.full == pytest.approx(0.548 if test == "t" else 0.57, abs=0.03)
    assert result.table().columns[2:] == ("SSA", "SSD", "SN", "NS", "NN")


def test_one_topic_allows_no_test() -> None:
    found = search_subsets(made(), search="swap(rounds=1)")
    result = compare_conclusions(found, cardinalities=(1,), jobs=2)
    assert result.shares["best"][0, :3].sum() == 0


def test_identical_runs_do_not_differ() -> None:
    matrix = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.5, 0.2, 0.9]])
    assert significant(matrix)[0] == 0


def test_bad_cardinality() -> None:
    with pytest.raises(UsageError, match="no subsets of 20"):
        compare_conclusions(search_subsets(made(), search="swap(rounds=1)"), cardinalities=(20,))
    assert spaced(1153)[-1] == 1152


def test_all_topics_come_last_and_agree_with_themselves() -> None:
    result = compare_conclusions(search_subsets(made(), search="swap(rounds=1)"), cardinalities=(2, 5))
    assert result.c == (2, 5, 10)
    for shares in result.shares.values():
        assert shares[-1].tolist() == pytest.approx([result.full, 0, 0, 0, 1 - result.full])
