"""Samples of other evaluation tools with the values that they print: cwl_eval and NTCIREVAL."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.data.aligned import align
from assay.data.grades import Grades
from assay.data.intents import IntentGrades, align_intents
from assay.io import read_qrels, read_run
from assay.io.intents import read_intent_qrels
from assay.io.ntcir import read_rel, read_res, read_units
from assay.measures import parse
from assay.measures.intent_aware import evaluate_intents
from assay.measures.text import Units, s_measure, s_sharp, t_measure, unit_recall
from tests.conftest import real_data


def ours(name: str) -> str:
    """The name that a measure of ir_measures has here; gains there are grade/max_rel, of a scale 0..1."""
    text, _, k = name.partition("@")
    text = re.sub(r",? ?max_rel=1", "", text).replace("()", "").replace("p=0.9, rel=1", "p=0.9,rel=1")
    return f"{text}@{k}" if k else text


@pytest.fixture(scope="module")
def cwl_sample() -> Grades:
    folder = real_data("peer-samples/cwl")
    return align(read_run(folder / "cwl.run"), read_qrels(folder / "cwl.qrels"))


def test_cwl_eval(cwl_sample: Grades) -> None:
    text = (real_data("peer-samples/cwl") / "expected.tsv").read_text(encoding="utf-8")
    expected = list(csv.DictReader(text.splitlines(), delimiter="\t"))
    wrong = []
    for row in expected:
        value = parse(ours(row["measure"]))(cwl_sample)[cwl_sample.topics.index(row["topic"])]
        if abs(value - float(row["value"])) > 0.5e-4:
            wrong.append((row, value))
    assert wrong == []
    assert len({row["measure"] for row in expected}) == 18


def test_precision_and_reciprocal_rank_are_cwl_measures(cwl_sample: Grades) -> None:
    for plain, framed in (("P@5", "CWLP@5"), ("RR", "CWLRR"), ("RBP(p=0.9)", "CWLRBP(p=0.9)")):
        np.testing.assert_allclose(parse(plain)(cwl_sample), parse(framed)(cwl_sample), atol=1e-12)


NTCIREVAL = {
    "RR": "RR",
    "O-measure": "O",
    "P-measure": "P-measure",
    "P-plus": "P+",
    "AP": "AP",
    "Q-measure": "Q",
    "NCUgu,P": "NCU(utility=precision)",
    "NCUgu,BR": "NCU",
    "NCUrb,P": "NCU(stop=ranked,utility=precision)",
    "NCUrb,BR": "NCU(stop=ranked)",
    "RBP": "RBP(p=0.95)",
    "ERR": "ERRlin",
    "AP@": "Q(beta=0.0)@",
    "Q@": "Q@",
    "nDCG@": "nDCGjk@",
    "MSnDCG@": "nDCG@",
    "P@": "P@",
    "nERR@": "nERRlin@",
    "Hit@": "Success@",
}
"""Names of NTCIREVAL and ours; its AP@l divides by min(l, R), which is Q@l with β = 0."""

OUTPUTS = [
    ("res_test_compute.txt", "sample.res", "grade"),
    ("res_test_compute_grade.txt", "sample.lab", "1:1/2:4/3:9"),
    ("res_test_compute_cutoff.txt", "sample.res", "grade"),
    ("res_test_compute_label_j.txt", "sample-j.lab", "grade"),
]


@pytest.mark.parametrize(("output", "ranking", "gain"), OUTPUTS)
def test_ntcireval(output: str, ranking: str, gain: str) -> None:
    folder = real_data("peer-samples/ntcireval")
    g = align(read_res(folder / ranking, topic="t"), read_rel(folder / "sample.rel", topic="t"))
    printed = re.findall(r"^ (\S+)= +([\d.]+)$", (folder / output).read_text(), flags=re.M)
    assert len(printed) == 19
    for name, value in printed:
        measure = parse(_named(name))
        if gain != "grade" and "gain" in measure.entry.parameters:
            measure = parse(_with_gain(str(measure), gain))
        assert f"{measure(g)[0]:.4f}" == value, name


def _named(name: str) -> str:
    head, at, k = name.partition("@")
    return NTCIREVAL[head + at] + (str(int(k)) if at else "")


def _with_gain(text: str, gain: str) -> str:
    name, at, k = text.partition("@")
    inside = f"{name[:-1]},gain={gain})" if name.endswith(")") else f"{name}(gain={gain})"
    return inside + at + k


DIVERSITY = {
    "I-rec@10": [".6667", ".5000", ".3333"],
    "D-nDCG@10": [".2085", ".0946", ".4710"],
    "DIN-nDCG@10": [".1117", ".0946", ".1894"],
    "D#-nDCG@10": [".4376", ".2973", ".4021"],
    "DIN#-nDCG@10": [".3892", ".2973", ".2613"],
    "P+Q@10": [".1057", ".0333", ".5714"],
    "P+Q#@10": [".3862", ".2667", ".4524"],
}


@pytest.fixture(scope="module")
def diversity_sample() -> IntentGrades:
    folder = real_data("peer-samples/ntcireval-diversity")
    qrels = read_intent_qrels(folder / "Dtest.Dqrels", intents=folder / "Dtest.DINprob")
    return align_intents(read_run(folder / "TRECRUN"), qrels)


@pytest.mark.parametrize("name", DIVERSITY)
def test_ntcireval_diversity(name: str, diversity_sample: IntentGrades) -> None:
    values = evaluate_intents(parse(name), diversity_sample)
    assert [f"{v:.4f}"[1:] for v in values] == DIVERSITY[name]


def test_two_intents_without_relevant_docs_leave_a_fifth_of_the_probability(diversity_sample: IntentGrades) -> None:
    weight = (diversity_sample.probabilities * diversity_sample.answerable())[1].sum()
    assert weight == pytest.approx(0.2)


def test_without_types_every_intent_is_informational(diversity_sample: IntentGrades) -> None:
    folder = real_data("peer-samples/ntcireval-diversity")
    qrels = read_intent_qrels(folder / "Dtest.Dqrels", intents=folder / "Dtest.Iprob")
    untyped = align_intents(read_run(folder / "TRECRUN"), qrels)
    for d, din in (("D-nDCG@10", "DIN-nDCG@10"), ("D-Q@10", "DIN-Q@10"), ("Q-IA@10", "P+Q@10")):
        np.testing.assert_allclose(evaluate_intents(parse(d), untyped), evaluate_intents(parse(din), untyped))
    np.testing.assert_allclose(
        evaluate_intents(parse("D-nDCG@10"), untyped), evaluate_intents(parse("D-nDCG@10"), diversity_sample)
    )


ANSWERS: dict[str, Callable[[Units], float]] = {
    "recall": unit_recall,
    "weighted recall": lambda u: unit_recall(u, weighted=True),
    "S": lambda u: s_measure(u, L=500),
    "T": t_measure,
    "F": lambda u: s_sharp(u, L=500, beta=1.0),
}


@pytest.mark.parametrize(
    ("topic", "expected"),
    [("1C0-0001", [".667", ".571", ".482", ".030", ".056"]), ("1C0-0002", [".250", ".500", ".101", ".500", ".169"])],
)
def test_ntcireval_direct_answers(topic: str, expected: list[str]) -> None:
    folder: Path = real_data("peer-samples/ntcireval-diversity")
    units = read_units(folder / "1C0-test.nuggets", folder / "1CLICKRUN-D-1")[topic]
    assert [f"{f(units):.3f}"[1:] for f in ANSWERS.values()] == expected


def test_the_second_run_of_direct_answers() -> None:
    """|X| = 10 and a vital string of 10: T = 1; S = 3·400/3420. |X| = 500: T = 5/500."""
    folder = real_data("peer-samples/ntcireval-diversity")
    units = read_units(folder / "1C0-test.nuggets", folder / "1CLICKRUN-D-2")
    assert t_measure(units["1C0-0001"]) == 1.0
    assert s_measure(units["1C0-0001"], L=500) == pytest.approx(1200 / 3420)
    assert t_measure(units["1C0-0002"]) == pytest.approx(0.01)
