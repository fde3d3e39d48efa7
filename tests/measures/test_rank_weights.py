"""The weights of ranks are those of the formulas, and measures that have none are refused."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data.grades import grades
from assay.measures import parse
from assay.measures.rank_weights import rank_weights


def test_weights_are_those_of_the_formulas() -> None:
    """Webber 2010, eqs. 3.8 to 3.10 and Fig. 3.5."""
    ranks = np.arange(1, 51)
    found = rank_weights([parse("DCGjk"), parse("DCG"), parse("RBP(p=0.8)"), parse("P@10")], depth=50)
    jarvelin = np.where(ranks <= 2, 1.0, 1 / np.log2(np.maximum(ranks, 2)))
    burges = 1 / np.log2(ranks + 1)
    geometric = 0.2 * 0.8 ** (ranks - 1)
    flat = np.where(ranks <= 10, 0.1, 0.0)
    np.testing.assert_allclose(found.weights, [jarvelin, burges, geometric, flat], atol=1e-12)
    printed = [1, 1, 0.63, 0.5, 0.43, 0.39, 0.36, 0.33, 0.32, 0.30]
    assert found.weights[0, :10].round(2).tolist() == printed


def test_a_score_is_the_sum_of_its_weights() -> None:
    rng = np.random.default_rng(3)
    list_of_grades = rng.integers(0, 2, size=20).tolist()
    for name in ("RBP(p=0.9)", "DCG", "P@7"):
        weights = rank_weights([parse(name)], depth=20).weights[0]
        score = parse(name)(grades(list_of_grades))[0]
        assert score == pytest.approx(float(weights @ np.array(list_of_grades)))


@pytest.mark.parametrize("name", ["AP", "RR", "RBP'"])
def test_measures_without_weights_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a weighted sum over the ranks"):
        rank_weights([parse(name)])


@pytest.mark.parametrize("name", ["nDCG", "nRBP", "R@10"])
def test_measures_that_divide_by_what_is_relevant_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"not a weighted sum over the ranks|divides by what is relevant"):
        rank_weights([parse(name)])
