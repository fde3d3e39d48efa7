"""Random runs against pytrec-eval-terrier (trec_eval 9 in C) and ir-measures: ties, negative grades, Unicode ids.

Left out is what is broken there: topics whose judgments are all negative (a crash), pytrec_eval's per-topic gm_ values
(logarithms), and ir-measures' RR@k, Judged@k and RBP, which break ties in another direction.
"""

from __future__ import annotations

import warnings

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import Qrels, Run
from assay.measures import parse
from assay.measures.trec_names import ROOTS
from assay.scoring import Policy, evaluate

DOC = st.text("abcxyzäß漢-_0", min_size=1, max_size=4)
SCORE = st.one_of(st.sampled_from([0.0, -1.0, 0.5, 3.0, 16777216.0, 16777217.0]), st.floats(-100, 100, width=32))
RUN = st.dictionaries(DOC, SCORE, min_size=1, max_size=25)
JUDGED = st.dictionaries(DOC, st.integers(-1, 4), min_size=1, max_size=20).filter(lambda g: max(g.values()) >= 0)
TOPICS = st.sampled_from(["1", "10", "9", "Ü"])

TREC_EVAL = Policy(compat="trec_eval-9")
LINES = {
    line.name: line
    for name, root in ROOTS.items()
    if name not in ("runid", "num_q", "gm_map", "gm_bpref", "relstring", "rbp", "rbp_resid", "unj", "dcg", "ideal_dcg")
    for line in root.lines(root.parameters)
}


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(TOPICS, st.tuples(RUN, JUDGED), min_size=1, max_size=3), st.sampled_from([1, 2]))
def test_every_measure_of_pytrec_eval(topics: dict[str, tuple[dict[str, float], dict[str, int]]], level: int) -> None:
    run = {t: docs for t, (docs, _) in topics.items()}
    judged = {t: grades for t, (_, grades) in topics.items()}
    supported = {n for n in ROOTS if n in pytrec_eval.supported_measures and n not in ("runid", "num_q", "relstring")}
    theirs = pytrec_eval.RelevanceEvaluator(judged, supported, relevance_level=level).evaluate(run)
    names = [n for n in LINES if n in next(iter(theirs.values()))]
    assert len(names) >= 85
    matrices = evaluate(
        [Run.from_dict("r", run)], Qrels.from_dict(judged), [_ours(n, level) for n in names], policy=TREC_EVAL
    )
    for name, matrix in zip(names, matrices, strict=True):
        for topic, value in zip(matrix.topics, matrix.values[0], strict=True):
            wanted = theirs[topic][name]
            assert value == pytest.approx(0.0 if np.isnan(wanted) else wanted, abs=1e-6), (name, topic)


def _ours(name: str, level: int) -> str:
    m = parse(LINES[name].measure)
    if "rel" not in m.entry.parameters or level == 1:
        return str(m)
    given = ",".join(f"{k}={v}" for k, v in {**dict(m.parameters), "rel": level}.items() if k != "k")
    return f"{m.name}({given})" + ("" if m.k is None else f"@{m.k}")


PAIRS = {
    "AP": "AP", "AP@5": "AP@5", "AP(rel=2)": "AP(rel=2)", "RR": "RR", "nDCG": "nDCG", "nDCG@5": "nDCG@5", "P@5": "P@5",
    "R@5": "Recall@5", "Rprec": "Rprec", "Bpref": "bpref", "infAP": "infAP", "SetP": "P", "SetR": "Recall",
    "SetF": "F", "SetAP": "SetAP", "Success@5": "Success@5", "NumRet": "NumRet", "IPrec@0.4": "IPrec(recall=0.4)",
    "P(rel=2)@5": "P(rel=2)@5",
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(RUN, JUDGED)
def test_ir_measures(run: dict[str, float], judged: dict[str, int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measures = {ir_measures.parse_measure(theirs): ours for theirs, ours in PAIRS.items()}
        found = list(ir_measures.iter_calc(list(measures), {"1": judged}, {"1": run}))
    one, qrels = Run.from_dict("r", {"1": run}), Qrels.from_dict({"1": judged})
    ours = evaluate([one], qrels, list(measures.values()), policy=TREC_EVAL)
    by_name = dict(zip(measures.values(), ours, strict=True))
    assert len(found) >= len(PAIRS) - 2
    for metric in found:
        name = measures[metric.measure]
        assert by_name[name].values[0, 0] == pytest.approx(metric.value, abs=1e-6), name
