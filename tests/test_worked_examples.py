"""The worked examples of the reference: every measure has one, and the numbers can be checked by hand."""

from __future__ import annotations

import math
import sys

import pytest

from assay.measures import MEASURES
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from worked_examples import scored, worked  # type: ignore[import-not-found]

PAGE = ROOT / "docs" / "reference" / "measures.md"


@pytest.mark.parametrize("name", MEASURES.names())
def test_every_measure_shows_the_list_rank_by_rank(name: str) -> None:
    table = worked(MEASURES[name])
    assert table.splitlines()[0] == "| rank | 1 | 2 | 3 | 4 | 5 |"
    assert f"## {name}\n" in PAGE.read_text()
    assert table in PAGE.read_text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AP", [1 / 4, 1 / 4, (1 + 2 / 3) / 4, (1 + 2 / 3) / 4, (1 + 2 / 3 + 3 / 5) / 4]),
        ("P", [1, 1 / 2, 2 / 3, 2 / 4, 3 / 5]),
        ("RR", [1, 1, 1, 1, 1]),
        ("Recall", [1 / 4, 1 / 4, 2 / 4, 2 / 4, 3 / 4]),
        ("DCG", [1, 1, 1 + 3 / 2, 1 + 3 / 2, 1 + 3 / 2 + 2 / math.log2(6)]),
        ("RBP", [0.2 / 3, 0.2 / 3, 0.2 / 3 * (1 + 3 * 0.64), 0.2 / 3 * (1 + 3 * 0.64), 0.2 / 3 * (2.92 + 2 * 0.4096)]),
        ("I-rec", [2 / 3, 2 / 3, 2 / 3, 2 / 3, 1]),
    ],
)
def test_examples_by_hand(name: str, expected: list[float]) -> None:
    assert scored(name, MEASURES[name]).values[:, 0].tolist() == pytest.approx(expected)
