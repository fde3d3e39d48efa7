"""Every C/W/L measure against cwl_eval on random gains and costs: EU, ETU, EC, ETC and expected items.

Left out: the dynamic Bejeweled player where k moves (hc ≠ 0), as cwl_eval moves T instead (see the last test); and
U-measures that reach past rank 999, as cwl_eval gives the last of its 1,000 ranks no weight.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cwl.ruler.measures.cwl_ap import APCWLMetric, TrAPCWLMetric
from cwl.ruler.measures.cwl_bpm import BPMCWLMetric, BPMDCWLMetric
from cwl.ruler.measures.cwl_dcg import NDCGCWLMetric
from cwl.ruler.measures.cwl_ift import IFTGoalCWLMetric, IFTGoalRateCWLMetric, IFTRateCWLMetric
from cwl.ruler.measures.cwl_insq import INSQCWLMetric
from cwl.ruler.measures.cwl_inst import INSTCWLMetric
from cwl.ruler.measures.cwl_nerr import NERReq8CWLMetric, NERReq9CWLMetric, NERReq10CWLMetric, NERReq11CWLMetric
from cwl.ruler.measures.cwl_npv import NPVCWLMetric
from cwl.ruler.measures.cwl_precision import PrecisionCWLMetric
from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
from cwl.ruler.measures.cwl_rr import RRCWLMetric
from cwl.ruler.measures.cwl_set import SETCWLMetric
from cwl.ruler.measures.cwl_tbg import TBGCWLMetric
from cwl.ruler.measures.cwl_umeasure import UMeasureCWLMetric
from cwl.ruler.ranking import Ranking
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data.grades import Grades, grades
from assay.measures import parse

logging.getLogger("cwl").disabled = True

VALUES = ("EU", "ETU", "EC", "ETC", "items")
TOP = 4
PAIRS: list[tuple[str, Any]] = [
    ("CWLP@3", PrecisionCWLMetric(3)),
    ("CWLP@10", PrecisionCWLMetric(10)),
    ("CWLRR", RRCWLMetric()),
    ("CWLAP", APCWLMetric()),
    ("NPV(rate=0.25)", NPVCWLMetric(0.25)),
    ("CWLRBP(p=0.8)", RBPCWLMetric(0.8)),
    ("SDCG@5", NDCGCWLMetric(5)),
    ("SDCG@20", NDCGCWLMetric(20)),
    ("INSQ(T=1.0)", INSQCWLMetric(1.0)),
    ("INSQ(T=3.0)", INSQCWLMetric(3.0)),
    ("INST(T=1.0)", INSTCWLMetric(1.0)),
    ("INST(T=2.5)", INSTCWLMetric(2.5)),
    ("BPM(T=1.0)@10", BPMCWLMetric(1.0, 10)),
    ("BPM(T=2.5)@4", BPMCWLMetric(2.5, 4)),
    ("BPMdynamic(T=1.5,hb=0.5,hc=0.0)@5", BPMDCWLMetric(1.5, 5, 0.5, 0.0, 0.5)),
    ("BPMdynamic(T=1.0,hb=2.0,hc=0.0,median=0.25)@8", BPMDCWLMetric(1.0, 8, 2.0, 0.0, 0.25)),
    ("NERR8@5", NERReq8CWLMetric(5)),
    ("NERR9@5", NERReq9CWLMetric(5)),
    ("NERR10(p=0.7)", NERReq10CWLMetric(0.7)),
    ("NERR11(T=2.0)", NERReq11CWLMetric(2.0)),
    ("IFT(model=goal,T=2.0,b1=0.8,R1=3.0)", IFTGoalCWLMetric(2.0, 0.8, 3.0)),
    ("IFT(model=rate,A=0.3,b2=0.5,R2=10.0)", IFTRateCWLMetric(0.3, 0.5, 10.0)),
    ("IFT(T=2.0,b1=0.8,R1=3.0,A=0.3,b2=0.5,R2=10.0)", IFTGoalRateCWLMetric(2.0, 0.8, 3.0, 0.3, 0.5, 10.0)),
    ("SET(beta=0.5)@10", SETCWLMetric(0.5, 10)),
    ("SET(beta=1.0)@4", SETCWLMetric(1.0, 4)),
]
WITH_COSTS: list[tuple[str, Any]] = [
    ("U(L=900.0)", UMeasureCWLMetric(900)),
    ("U(L=50.0)", UMeasureCWLMetric(50)),
    ("CWLTBG(halflife=224.0)", TBGCWLMetric(224)),
    ("CWLTBG(halflife=20.0)", TBGCWLMetric(20)),
]

lists = st.lists(st.sampled_from([None, 0, 0, 1, 2, 3, 4]), max_size=15)


def with_parameter(name: str, parameter: str) -> str:
    head, at, k = name.partition("@")
    head = f"{head[:-1]},{parameter})" if head.endswith(")") else f"{head}({parameter})"
    return head + at + k


def compared(name: str, theirs: Any, g: Grades, gains: list[float], costs: list[float]) -> None:
    theirs.measure(Ranking("1", np.array(gains), np.array(costs)))
    for value, expected in zip(VALUES, theirs.get_scores(), strict=True):
        assert parse(with_parameter(name, f"value={value}"))(g)[0] == pytest.approx(expected, abs=1e-9, rel=1e-9), (
            name,
            value,
        )


@given(ranked=lists)
@settings(max_examples=40, deadline=None)
def test_cwl_eval(ranked: list[int | None]) -> None:
    g = grades(ranked, judged=[4], top=TOP)
    gains = [np.nan if x is None else x / TOP for x in ranked]
    for name, theirs in PAIRS:
        compared(name, theirs, g, gains, [np.nan] * len(ranked))


@given(docs=st.lists(st.tuples(st.sampled_from([0, 1, 4]), st.sampled_from([1.0, 20.0, 300.0])), max_size=15))
@settings(max_examples=40, deadline=None)
def test_cwl_eval_with_costs(docs: list[tuple[int, float]]) -> None:
    costs = [c for _, c in docs]
    g = replace(grades([x for x, _ in docs], judged=[4], top=TOP), lengths=np.array(costs).reshape(1, -1))
    for name, theirs in PAIRS + WITH_COSTS:
        compared(name, theirs, g, [x / TOP for x, _ in docs], costs)


@given(ranked=st.lists(st.sampled_from([0, 1, 4]), max_size=15))
@settings(max_examples=40, deadline=None)
def test_cwl_eval_with_costs_by_grade(ranked: list[int]) -> None:
    """As cwl_eval's cost file, which gives each kind of doc a cost."""
    price = {0: 4.0, 1: 20.0, 4: 60.5}
    g = grades(ranked, judged=[4], top=TOP)
    for name, theirs in PAIRS + WITH_COSTS:
        compared(
            with_parameter(name, "cost=0:4/1:20/4:60.5"),
            theirs,
            g,
            [x / TOP for x in ranked],
            [price[x] for x in ranked],
        )


@given(docs=st.lists(st.tuples(st.sampled_from([0, 1, 4]), st.sampled_from([1.0, 20.0])), min_size=1, max_size=15))
@settings(max_examples=40, deadline=None)
def test_average_precision_of_gains(docs: list[tuple[int, float]]) -> None:
    """Its EU alone: the weights of cwl_eval's TrAP do not sum to 1, and what it makes of them means nothing."""
    theirs = TrAPCWLMetric()
    theirs.residuals = False  # which its constructor forgets
    gains, costs = [x / TOP for x, _ in docs], [cost for _, cost in docs]
    ranking = Ranking("1", np.array(gains), np.array(costs))
    ranking.total_qrel_rels = sum(x > 0 for x in gains) + 2
    g = grades([x for x, _ in docs], judged=[*(x for x, _ in docs), 4, 1], top=TOP)
    g = replace(g, lengths=np.array(costs).reshape(1, -1))
    assert parse("TrAP")(g)[0] == pytest.approx(theirs.measure(ranking), abs=1e-9)


def test_given_costs_are_not_ignored() -> None:
    g = replace(grades([1, 0, 1]), lengths=np.full((1, 3), 20.0))
    assert parse("CWLP(value=EC)@3")(g).tolist() == [20.0]
    assert parse("BPM(T=5.0,value=items)@40")(g).tolist() == [2.0]
    assert parse("BPM(T=5.0,value=items)@40")(grades([1, 0, 1])).tolist() == [40.0]


def test_a_grade_without_a_cost_is_named() -> None:
    with pytest.raises(UsageError, match="no cost for grade 2; name every grade"):
        parse("CWLRBP(cost=0:1/1:2)")(grades([1, 2]))
    with pytest.raises(UsageError, match="a cost must be at least 0"):
        parse("CWLRBP(cost=0:-1)")(grades([0]))


def test_dynamic_player_moves_k_as_in_the_paper() -> None:
    """Four docs of gain 1 against a median of 0: k = 2 grows by 1 with each doc, so that nobody runs out of docs."""
    g = grades([1, 1, 1, 1, 0, 0])
    fixed, moved = (
        "BPMdynamic(T=4.5,hb=0.0,hc=0.0,median=0.0,value=items)@2",
        "BPMdynamic(T=4.5,hb=0.0,median=0.0,value=items)@2",
    )
    assert parse(fixed)(g)[0] == 2.0
    assert parse(moved)(g)[0] == 6.0
