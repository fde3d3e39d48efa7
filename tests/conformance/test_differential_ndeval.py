"""Every measure of ndeval against pyndeval on random runs and judgments, to its depth of 20.

Left out: ERR-IA@1 and alpha-DCG@1, which ndeval forgets to normalise. pyndeval breaks ties of score by ascending doc
id; here the runs have none.
"""

from __future__ import annotations

import numpy as np
import pyndeval
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.data import Run
from assay.data.intents import IntentQrels, align_intents
from assay.measures import parse
from assay.measures.intent_aware import evaluate_intents

PAIRS = {
    "ERR-IA@{k}": "ndeval-ERR-IA@{k}",
    "nERR-IA@{k}": "ndeval-nERR-IA@{k}",
    "alpha-DCG@{k}": "alpha-DCG@{k}",
    "alpha-nDCG@{k}": "alpha-nDCG@{k}",
    "P-IA@{k}": "ndeval-P-IA@{k}",
    "strec@{k}": "I-rec@{k}",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "ndeval-MAP-IA",
}
UNNORMALISED = {"ERR-IA@1", "alpha-DCG@1"}
DOCS = [f"d{i}" for i in range(25)] + ["ä", "Z", "é", "文"]

Judged = list[tuple[str, str, str, int]]
judgments = st.lists(
    st.tuples(
        st.sampled_from(["1", "2"]),
        st.sampled_from(["1", "2", "3", "4", "5"]),
        st.sampled_from(DOCS),
        st.sampled_from([0, 1, 1, 2]),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda r: r[:3],
)
runs = st.fixed_dictionaries(
    {"1": st.permutations(DOCS), "2": st.lists(st.sampled_from(DOCS), min_size=1, unique=True)}
)


@given(judged=judgments, run=runs)
@example(judged=[("1", "1", "d1", 0)], run={"1": ["d1"], "2": ["d1"]})
@settings(max_examples=80, deadline=None)
def test_ndeval(judged: Judged, run: dict[str, list[str]]) -> None:
    names = {p.format(k=k): a.format(k=k) for p, a in PAIRS.items() for k in (1, 2, 5, 10, 20)}
    names = {p: a for p, a in names.items() if p not in UNNORMALISED}
    rows = [(t, d, float(len(ds) - i)) for t, ds in run.items() for i, d in enumerate(ds)]
    theirs = pyndeval.ndeval(judged, rows, list(names))
    g = align_intents(Run.from_lists("run", run), IntentQrels.from_rows(judged))
    for theirs_name, ours_name in names.items():
        values = dict(zip(g.topics, evaluate_intents(parse(ours_name), g), strict=True))
        for topic, row in theirs.items():
            # ndeval divides 0 by 0 where a topic has no relevant doc; here that is 0.
            expected = np.nan_to_num(row[theirs_name])
            assert values[topic] == pytest.approx(expected, abs=1e-9), (theirs_name, topic)


@given(judged=judgments, run=runs, alpha=st.sampled_from([0.0, 0.25, 0.75]), beta=st.sampled_from([0.25, 0.8]))
@settings(max_examples=40, deadline=None)
def test_ndeval_with_other_parameters(judged: Judged, run: dict[str, list[str]], alpha: float, beta: float) -> None:
    rows = [(t, d, float(len(ds) - i)) for t, ds in run.items() for i, d in enumerate(ds)]
    theirs = pyndeval.ndeval(judged, rows, ["ERR-IA@5", "alpha-DCG@10", "NRBP"], alpha=alpha, beta=beta)
    g = align_intents(Run.from_lists("run", run), IntentQrels.from_rows(judged))
    names = {
        "ERR-IA@5": f"ndeval-ERR-IA(alpha={alpha})@5",
        "alpha-DCG@10": f"alpha-DCG(alpha={alpha})@10",
        "NRBP": f"NRBP(alpha={alpha},beta={beta})",
    }
    for theirs_name, ours_name in names.items():
        values = dict(zip(g.topics, evaluate_intents(parse(ours_name), g), strict=True))
        for topic, row in theirs.items():
            assert values[topic] == pytest.approx(np.nan_to_num(row[theirs_name]), abs=1e-9), (theirs_name, topic)


def test_ndeval_forgets_to_normalise_at_rank_1() -> None:
    judged = [("1", "1", "a", 1), ("1", "2", "b", 1), ("1", "3", "c", 1)]
    theirs = pyndeval.ndeval(judged, [("1", "a", 1.0)], ["ERR-IA@1", "alpha-DCG@1"])["1"]
    g = align_intents(Run.from_lists("run", {"1": ["a"]}), IntentQrels.from_rows(judged))
    assert [theirs["ERR-IA@1"], theirs["alpha-DCG@1"]] == [1.0, 1.0]
    for name in ("ndeval-ERR-IA@1", "alpha-DCG@1"):
        assert evaluate_intents(parse(name), g)[0] == pytest.approx(1 / 3)
