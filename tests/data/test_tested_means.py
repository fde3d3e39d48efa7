"""Functions that take the scores of one measure say so when they are given anything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError, UsageError
from assay.data import ScoreMatrix, Scores
from assay.plan.audits import one_sigma
from assay.standard import fit, item_total, variance_components
from assay.stats import all_pairs, factorial, friedman, runs_normality, two_way
from assay.studies import swap_rates
from assay.topics import best_topics

MATRIX = ScoreMatrix.of([[0.5, 0.1, 0.4], [0.3, 0.2, 0.2], [0.1, 0.3, 0.1]], runs=["a", "b", "c"], measure="AP")
FUNCTIONS: list[Callable[[Any], Any]] = [
    all_pairs,
    fit,
    item_total,
    one_sigma,
    two_way,
    variance_components,
    friedman,
    swap_rates,
    lambda thing: factorial(thing, {}),
    lambda thing: runs_normality(thing, baseline="a"),
]


@pytest.mark.parametrize("thing", [None, 5, "ap.csv", [MATRIX], {"a": {"1": 0.5}}, MATRIX.values], ids=repr)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_no_matrix_is_refused_in_a_sentence(function: Callable[[Any], Any], thing: Any) -> None:
    with pytest.raises(UsageError, match=r"this needs the scores of one measure, not .*; make a ScoreMatrix with"):
        function(thing)


def test_of_the_scores_of_several_measures_one_is_to_be_chosen() -> None:
    with pytest.raises(UsageError, match="choose one by its name, such as 'AP'"):
        all_pairs(Scores((MATRIX,)))  # type: ignore[arg-type]


def test_best_topics_takes_what_compare_takes(tmp_path: Path) -> None:
    file = tmp_path / "ap.csv"
    file.write_text("AP,1,2,3\na,.5,.1,.4\nb,.3,.2,.2\nc,.1,.3,.1\n")
    expected = best_topics(MATRIX).record()
    assert best_topics(file).record() == expected
    assert best_topics(MATRIX.to_pandas()).record()["rows"] == expected["rows"]
    with pytest.raises(AssayError, match="give scores as a path"):
        best_topics(5)
