"""Rank-biased precision and its residuals, time-biased gain, and the C/W/L framework itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data.grades import grades
from assay.measures import parse
from assay.measures.adaptive import inst
from assay.measures.cwl import cwl_precision
from tests.oracles import measures as plain

lists = st.lists(st.sampled_from([None, -1, 0, 1, 2]), max_size=9)


@given(ranked=lists, p=st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=60, deadline=None)
def test_rbp_and_residual(ranked: list[int | None], p: float) -> None:
    g = grades(ranked, judged=[2, 1], top=2)
    base = sum((1 - p) * p**r * max(x or 0, 0) / 2 for r, x in enumerate(ranked))
    residual = sum((1 - p) * p**r for r, x in enumerate(ranked) if x is None or x < 0) + p ** len(ranked)
    assert parse(f"RBP(p={p})")(g)[0] == pytest.approx(base)
    assert parse(f"RBPResidual(p={p})")(g)[0] == pytest.approx(residual)
    assert base + residual <= 1 + 1e-12


@given(ranked=st.lists(st.sampled_from([None, 0, 1]), max_size=9))
@settings(max_examples=60, deadline=None)
def test_residual_is_what_supposing_all_relevant_adds(ranked: list[int | None]) -> None:
    """Base + residual without the tail is RBP with every unjudged doc relevant."""
    g = grades(ranked, judged=[1])
    best = parse("RBP")(g.supposing(1))[0]
    assert parse("RBP")(g)[0] + parse("RBPResidual")(g)[0] - 0.8 ** len(ranked) == pytest.approx(best)


def test_as_docs_are_judged_the_residual_falls_and_the_base_does_not() -> None:
    steps = [grades(x, judged=[1, 0]) for x in ([None, None, None], [1, None, None], [1, 0, None], [1, 0, 1])]
    base = [parse("RBP")(g)[0] for g in steps]
    residual = [parse("RBPResidual")(g)[0] for g in steps]
    most = np.add(base, residual)
    assert base == sorted(base)
    assert residual == sorted(residual, reverse=True)
    assert (np.diff(most) <= 1e-12).all()


def test_binary_rbp_counts_from_a_grade_on() -> None:
    g = grades([1, 2], top=2)
    assert parse("RBP(p=0.5,rel=2)")(g).tolist() == [0.25]
    assert parse("RBP(p=0.5,rel=1)")(g).tolist() == [0.75]


def test_rbp_of_trec_eval_scales_by_the_topic() -> None:
    """A topic whose best grade is 2 and one whose best is 1, on a scale of 3."""
    g = grades([2], [1], judged=[[2], [1]], top=3)
    assert parse("RBPTrec")(g) == pytest.approx([0.1, 0.1])
    assert parse("RBP(p=0.9)")(g) == pytest.approx([0.1 * 2 / 3, 0.1 / 3])


@pytest.mark.parametrize("p", [0.0, 1.0, 1.5, -0.1])
def test_persistence_must_lie_between_0_and_1(p: float) -> None:
    for name in ("RBP", "RBPResidual", "RBPTrec"):
        with pytest.raises(UsageError, match="between 0 and 1"):
            parse(f"{name}(p={p})")(grades([1]))


@given(docs=st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 100.0, 2500.0])), max_size=9))
@settings(max_examples=60, deadline=None)
def test_tbg(docs: list[tuple[bool, float]]) -> None:
    words = np.array([w for _, w in docs]).reshape(1, -1)
    g = replace(grades([int(hit) for hit, _ in docs], judged=[1]), lengths=words)
    expected = plain.time_biased_gain([h for h, _ in docs], [w for _, w in docs])
    assert parse("TBG")(g)[0] == pytest.approx(expected)


def test_chances_to_stop_and_weights_agree() -> None:
    """Utility in total is utility per doc times the docs seen, where everybody stops within the depth."""
    g = grades([1, 0, 1, 1])
    per_doc, total, items = (cwl_precision(g, k=4, value=v)[0] for v in ("EU", "ETU", "items"))
    assert per_doc * items == pytest.approx(total)


@pytest.mark.parametrize(
    "text", ["INST(T=0.25)", "INSQ(T=-1.0)", "SET(beta=0.0)@3", "IFT(model=odd)", "INST(value=joy)"]
)
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)(grades([1, 0]))


@pytest.mark.parametrize("name", ["tRBP", "SDCG", "BPM", "CWLP", "NERR8", "NERR9", "SET"])
def test_a_cutoff_is_asked_for(name: str) -> None:
    with pytest.raises(UsageError, match=f"write {name}@10"):
        parse(name)


def test_strong_foragers_do_not_overflow() -> None:
    values = parse("IFT(T=1000.0,R1=50.0,A=900.0,R2=50.0)")(grades([1, 0, 1]))
    assert np.isfinite(values).all()


def test_gain_found_beyond_the_aim_keeps_inst_defined() -> None:
    assert 0 < inst(grades([1] * 50), T=0.5)[0] <= 1
