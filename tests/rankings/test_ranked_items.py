"""Rankings from what a person brings: what has no order, or no items, is refused in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.rankings.ranked_items import Ranking, parse_ranking
from assay.similarity import rbo


@pytest.mark.parametrize(
    ("items", "match"),
    [
        ({"d2": 0.3, "d1": 0.9}, "a ranking is a list, best first; a dict has no order"),
        ({"d1", "d2"}, "a set has no order"),
        (None, "a ranking is a list of items, best first, not None"),
        (5, "best first, not 5"),
        (["a", ["b", "c"]], r"a ranking holds \['b', 'c'\], which is no item; tied items stand together in a set"),
        ([], "a ranking is empty"),
        ("abc", "not a text"),
    ],
)
def test_what_is_no_ranking_is_refused(items: Any, match: str) -> None:
    with pytest.raises(AssayError, match=match):
        Ranking.of(items)
    with pytest.raises(AssayError, match=match):
        rbo(["a", "b"], items)


@pytest.mark.parametrize("p", [0, 1, -1, float("nan"), None, "0.9", np.float32(1.0)])
def test_a_persistence_lies_between_0_and_1(p: Any) -> None:
    with pytest.raises(AssayError, match="strictly between 0 and 1"):
        rbo(["a"], ["b"], p)
    half: Any = np.float32(0.5)
    assert rbo(["a"], ["a"], half).ext == 1


@pytest.mark.parametrize("text", ["red (blue green", "red) blue", "red (blue (green pink))", ")red("])
def test_brackets_that_do_not_match_are_refused(text: str) -> None:
    with pytest.raises(AssayError, match="brackets of a ranking do not match"):
        parse_ranking(text)


@pytest.mark.parametrize("text", ["red (blue blue)", "red (blue red)", "red red"])
def test_an_item_twice_is_refused_within_brackets_too(text: str) -> None:
    with pytest.raises(AssayError, match="twice"):
        parse_ranking(text)
