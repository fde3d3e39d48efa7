"""Between which scores would judging everything leave a run? A range is called one only where it is."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data.grades import UNJUDGED, Grades, grades
from assay.measures import MEASURES, Measure, bounds_of, measure, parse
from assay.measures.browsing import DEPTH

TOLERANCE = 1e-9


def test_pooled_docs_that_nobody_judged_may_be_relevant() -> None:
    found = bounds_of("P@4", grades([1, -1, 0, -1], judged=[1, 0, -1, -1]))
    assert (found.low.tolist(), found.high.tolist(), found.kind) == ([0.25], [0.75], "range")


def test_ranks_past_the_end_of_a_list_count() -> None:
    short = grades([1, 0, 0, 0])
    assert bounds_of("P@10", short).high.tolist() == [0.7]
    assert bounds_of("RBP(p=0.95)", short).high - bounds_of("RBP(p=0.95)", short).low == pytest.approx([0.95**4])
    assert bounds_of("RBP(p=0.95)@6", short).high == pytest.approx([0.05 + 0.95**4 - 0.95**6])
    assert bounds_of("tRBP(p=0.5)@4", grades([0, 0])).high == pytest.approx([0.1875 / 0.9375])
    assert bounds_of("RR", grades([0, 0, 0])).high.tolist() == [0.25]
    assert bounds_of("RR@3", grades([0, 0, 0])).high.tolist() == [0.0]
    assert bounds_of("Success", grades([0])).high.tolist() == [1.0]
    assert bounds_of("DCG@2", grades([2])).high == pytest.approx([2 + 2 / np.log2(3)])
    assert bounds_of("NumRelRet@5", grades([1, None])).high.tolist() == [5.0]


def test_residual_of_rbp_is_the_width_of_its_range() -> None:
    g = grades([1, None, 0, -1, 2], judged=[2, 1, 0, -1], top=2)
    for p in (0.5, 0.8, 0.95):
        found = bounds_of(f"RBP(p={p})", g)
        assert found.high - found.low == pytest.approx(parse(f"RBPResidual(p={p})")(g))


def test_err_goes_on_past_the_end() -> None:
    """One judged nonrelevant doc, then docs that satisfy half of the users: Σ 2^−j/(j + 1)."""
    wanted = sum(0.5**j / (j + 1) for j in range(1, 60))
    assert bounds_of("ERR", grades([0], top=1)).high == pytest.approx([wanted])


def test_what_cannot_be_relevant_adds_nothing() -> None:
    assert bounds_of("P(rel=2)@4", grades([None], judged=[1], top=1)).high.tolist() == [0.0]
    assert bounds_of("RBP(rel=2)", grades([None], judged=[1], top=1)).high.tolist() == [0.0]


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        ("nDCG@10", "also raises the ideal list"),
        ("AP", "also raises R"),
        ("P'@5", "joins the condensed list"),
        ("INST", "end the search earlier"),
        ("TBG", "delays all docs below"),
        ("DCG", "without a cutoff"),
        ("CWLRBP(cost=0:1/1:2)", "what docs cost"),
        ("CWLRBP(value=EC)", "what docs cost"),
        ("DCG(gain=1:5/2:3)@3", "does not give the top grade the highest"),
    ],
)
def test_two_scenarios_say_why(measure: str, why: str) -> None:
    g = replace(grades([1, None], judged=[1, 0], top=2), lengths=np.ones((1, 2)))
    if "cost=" in measure:
        g = replace(g, top=1)
    found = bounds_of(measure, g)
    assert found.kind == "two scenarios"
    assert why in found.why


def test_the_second_scenario_of_ndcg_may_be_the_lower_one() -> None:
    """One relevant doc on top; an unjudged doc further down only raises the ideal."""
    found = bounds_of("nDCG@3", grades([1, 0, None], judged=[1, 0]))
    assert found.high[0] < found.low[0] == 1.0


def test_bounds_are_a_result() -> None:
    found = bounds_of("P@2", grades([1, None], [0, 0], judged=[[1], [0, 0]]))
    assert found.table().keys == ("topic", "low", "high")
    assert found.record()["rows"][0] == {"topic": "1", "low": 0.5, "high": 1.0}


def ranges() -> Iterator[Measure]:
    """Every measure that may be a range, as it stands, cut, and with other gains."""
    for entry in MEASURES:
        if not entry.facts.get("bounded"):
            continue
        names = [] if entry.parameters.get("k") is inspect.Parameter.empty else [entry.name]
        names += [f"{entry.name}@3", f"{entry.name}@9"] if "k" in entry.parameters else []
        for name in names:
            yield parse(name)
            head, at, k = name.partition("@")
            if "gain" in entry.parameters:
                yield parse(f"{head}(gain=1:1/3:7){at}{k}")
                yield parse(f"{head}(gain=exp){at}{k}")
            if "rel" in entry.parameters:
                yield parse(f"{head}(rel=1.5){at}{k}")
            if "value" in entry.parameters:
                yield parse(f"{head}(value=ETU){at}{k}")
            if "top" in entry.parameters:
                yield parse(f"{head}(top=5){at}{k}")


def completed(g: Grades, m: Measure, rng: np.random.Generator) -> Grades:
    """A way in which judging could turn out: any grade for each unjudged doc, and any docs after the end."""
    of_retrieved = m.k is None and m.name in ("P", "NumRelRet")
    more = 0 if of_retrieved else int(rng.choice([0, 1, 5, 60, DEPTH]))
    width = g.depth + more
    grade = rng.choice([0.0, 1.0, 2.0, 3.0, float(rng.random() * 3)], (1, width))
    ranked = np.full((1, width), float(UNJUDGED))
    ranked[:, : g.depth] = g.ranked
    unknown = ranked < 0
    ranked = np.where(unknown, grade, ranked)
    ideal = -np.sort(-np.concatenate([g.ideal, np.where(unknown, grade, UNJUDGED)], axis=1), axis=1)
    return replace(g, ranked=ranked, ideal=ideal, retrieved=np.array([width]))


@given(ranked=st.lists(st.sampled_from([None, -1, 0, 1, 2, 3]), max_size=6), seed=st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_the_true_score_lies_within_every_range(ranked: list[int | None], seed: int) -> None:
    g = grades(ranked, judged=[3, 0], top=3)
    rng = np.random.default_rng(seed)
    for m in ranges():
        if m.entry.facts.get("needs") == "lengths":
            continue
        found = bounds_of(m, g)
        if found.kind == "two scenarios":
            continue
        score = m(completed(g, m, rng))[0]
        assert found.low[0] - TOLERANCE <= score <= found.high[0] + TOLERANCE, str(m)


def test_most_that_may_be_ranges_are() -> None:
    g = grades([1, None], judged=[1], top=3)
    plain = [m for m in ranges() if m.entry.facts.get("needs") != "lengths"]
    found = {m.name for m in plain if bounds_of(m, g).kind == "range"}
    assert found == {m.name for m in plain}
    assert found >= {
        "P", "RR", "RBP", "tRBP", "ERR", "ERRlin", "DCG", "DCGjk", "SP", "Success", "NumRelRet", "CWLP", "CWLRBP",
        "SDCG", "INSQ", "SET",
    }  # fmt: skip


def test_every_other_measure_rests_on_all_that_is_judged_or_says_why() -> None:
    """A measure without `bounded` or `unsure` must change when a relevant doc is judged that was not retrieved."""
    lists = ([0, 1, 0, 2, 1, 3], [1, 0, 0, 0, 0, 2], [2, 1, 1, 0, 0, 0])
    g = grades(*lists, judged=[3, 2, 1, 1, 0, 0], top=4)
    g = replace(g, inclusion=np.full((3, 6), 0.5), judged_inclusion=np.full((3, 6), 0.5))
    more = replace(g, ideal=np.array([[4, 4, 3, 2, 1, 1, 0, 0]] * 3), judged_inclusion=np.full((3, 8), 0.5))
    for entry in MEASURES:
        facts = entry.facts
        if facts.get("needs") == "intents" or facts.get("bounded") or "unsure" in facts:
            continue
        text = f"{entry.name}@3" if entry.parameters.get("k") is inspect.Parameter.empty else entry.name
        m = parse("Utility(c=-1)" if entry.name == "Utility" else text)
        assert (m(g) != m(more)).any(), str(m)


def test_a_bounded_measure_that_nobody_knows_is_a_range_only_to_its_cutoff() -> None:
    """What docs past the end of a list add to it without a cutoff, nobody has said."""

    @measure("SquareRootOfRR", bounded=True)
    def root(g: Grades, *, k: int | None = None) -> npt.NDArray[np.float64]:
        return np.asarray(np.sqrt(parse("RR" if k is None else f"RR@{k}")(g)))

    try:
        g = grades([0, 0], judged=[1])
        assert bounds_of("SquareRootOfRR", g).kind == "two scenarios"
        assert "past the end" in bounds_of("SquareRootOfRR", g).why
        cut = bounds_of("SquareRootOfRR@4", g)
        assert (cut.kind, cut.low[0], cut.high[0].round(4)) == ("range", 0.0, 0.5774)
    finally:
        MEASURES.remove("SquareRootOfRR")
