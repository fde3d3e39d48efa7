"""ties="average": expected scores against the mean over every order of the docs."""

from __future__ import annotations

from itertools import chain, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import Qrels, Run
from assay.data.aligned import align
from assay.data.grades import Grades
from assay.measures import parse
from assay.measures.ties import EXACT, expected

NAMES = ["AP", "AP@3", "RR", "RR@2", "P@3", "Recall@2", "nDCG", "nDCG@3", "nDCG(gain=exp)@2", "Rprec", "Success@2",
         "bpref", "F@3", "AP'", "RBP(p=0.5)", "RR(rel=2)"]  # fmt: skip


def every_order(g: Grades, name: str) -> float:
    """The mean of a measure over all orders of tied docs, by listing them."""
    starts = np.flatnonzero(g.blocks()[0] != np.concatenate([[0], g.blocks()[0][:-1]])).tolist()
    blocks = [range(a, b) for a, b in zip(starts, [*starts[1:], g.depth], strict=True)]
    orders = [[*chain(*choice)] for choice in product(*(list(permutations(b)) for b in blocks))]
    return float(np.mean([parse(name)(g.with_order(np.array([order])))[0] for order in orders]))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([None, 0, 1, 2])), min_size=1, max_size=6),
    st.integers(0, 2),
    st.sampled_from(NAMES),
)
def test_expected_scores_are_means_over_all_orders(
    docs: list[tuple[float, int | None]], missed: int, name: str
) -> None:
    run = Run.from_dict("r", {"1": {f"d{i}": s for i, (s, _) in enumerate(docs)}}).ordered("average")
    judged = {f"d{i}": grade for i, (_, grade) in enumerate(docs) if grade is not None}
    judged |= {f"m{i}": 1 for i in range(missed)} | {"n": 0}
    g = align(run, Qrels.from_dict({"1": judged}))
    scores, how = expected(parse(name), g)
    assert scores[0] == pytest.approx(every_order(g, name), abs=1e-12)
    assert how == EXACT


def test_many_orders_are_sampled_from_the_seed_and_say_so() -> None:
    docs = {f"d{i:02d}": 1.0 for i in range(30)}
    run = Run.from_dict("r", {"1": docs}).ordered("average")
    g = align(run, Qrels.from_dict({"1": {d: i % 2 for i, d in enumerate(docs)}}))
    first, how = expected(parse("Rprec"), g, seed=3)
    again, _ = expected(parse("Rprec"), g, seed=3)
    assert how == "average(sampled:200,seed:3)"
    assert first[0] == again[0] == pytest.approx(0.5, abs=0.05)


def test_a_single_tied_block_by_hand() -> None:
    run = Run.from_dict("r", {"1": {"a": 1.0, "b": 1.0}}).ordered("average")
    g = align(run, Qrels.from_dict({"1": {"a": 1, "b": 0}}))
    assert expected(parse("RR"), g)[0].tolist() == [0.75]
    assert expected(parse("AP"), g)[0].tolist() == [0.75]
    assert expected(parse("P@1"), g)[0].tolist() == [0.5]
