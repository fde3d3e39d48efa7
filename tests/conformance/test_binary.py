"""Graded judgments scored as binary ones: against ir_measures on judgments that were made binary by hand."""

from __future__ import annotations

import tarfile
from pathlib import Path

import ir_measures
import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.intents import IntentQrels
from assay.data.scores import joined
from assay.io import read_qrels, read_run
from assay.scoring import Aligned, Policy, bounds, evaluate
from tests.conftest import real_data

MEASURES = {
    "nDCG@10": "nDCG@10", "nDCG": "nDCG", "RBP(p=0.8,rel=1)": "RBP(p=0.8)", "AP": "AP", "bpref": "bpref",
    "NumRel": "NumRel", "SDCG(max_rel=1)@10": "SDCG@10",
}  # fmt: skip
"""As ir_measures writes them for binary judgments, and as we write them for graded ones with binary=…."""

RUN = {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
JUDGED = {"1": {"a": 1, "b": 3, "c": 0, "d": -1, "e": 2}}


def by_hand(judged: dict[str, dict[str, int]], rel: int) -> dict[str, dict[str, int]]:
    made: dict[str, dict[str, int]] = {}
    for topic, docs in judged.items():
        made[topic] = {doc: grade if grade < 0 else int(grade >= rel) for doc, grade in docs.items()}
    return made


def compared(run: dict[str, dict[str, float]], judged: dict[str, dict[str, int]], rel: int) -> None:
    ours = evaluate([Run.from_dict("r", run)], Qrels.from_dict(judged), list(MEASURES.values()), binary=rel)
    for theirs, matrix in zip(MEASURES, ours, strict=True):
        name = "Bpref" if theirs == "bpref" else theirs
        found = ir_measures.iter_calc([ir_measures.parse_measure(name)], by_hand(judged, rel), run)
        wanted = {metric.query_id: float(metric.value) for metric in found}
        for topic, value in zip(matrix.topics, matrix.values[0], strict=True):
            assert value == pytest.approx(wanted[topic], abs=1e-9), (theirs, topic)


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_random_judgments(rel: int) -> None:
    rng = np.random.default_rng(rel)
    run, judged = {}, {}
    for topic in map(str, range(1, 21)):
        docs = [f"d{i}" for i in rng.permutation(30)]
        run[topic] = {doc: float(30 - i) for i, doc in enumerate(docs[:20])}
        judged[topic] = {f"d{i}": int(rng.integers(-1, 5)) for i in rng.permutation(30)[:20]}
        judged[topic] |= {"d0": 4, "d1": 0}
    compared(run, judged, rel)


@pytest.mark.parametrize("rel", [1, 2])
def test_real_judgments(rel: int, tmp_path: Path) -> None:
    """Grades 0 to 3 of TREC 2019 Deep Learning, of which 2 and 3 count as relevant there."""
    judged = read_qrels(real_data("trec-dl-2019-passage/qrels.txt")).to_dict()
    with tarfile.open(real_data("trec-dl-2019-passage/runs.tar.xz")) as archive:
        first = min((member for member in archive if member.isfile()), key=lambda member: member.name)
        archive.extract(first, tmp_path, filter="data")
    run = read_run(tmp_path / first.name)
    lists = {topic: run.ranking(topic) for topic in judged}
    untied = {t: {doc: float(len(docs) - i) for i, doc in enumerate(docs)} for t, docs in lists.items()}
    compared(untied, judged, rel)


def test_a_negative_grade_stays_not_judged() -> None:
    assert Qrels.from_dict(JUDGED).binary(2).to_dict() == {"1": {"a": 0, "b": 1, "c": 0, "d": -1, "e": 1}}
    assert evaluate(RUN, JUDGED, "Judged@4", binary=True)[0].values.tolist() == [[0.75]]
    fractions = Qrels.from_dict({"1": {"a": 0.4, "b": 0.5, "c": -1.0}})
    assert fractions.binary(0.5).to_dict() == {"1": {"a": 0, "b": 1, "c": -1}}


def test_the_signature_says_it() -> None:
    plain, binary = evaluate(RUN, JUDGED, "RBP")[0], evaluate(RUN, JUDGED, "RBP", binary=True)[0]
    assert binary.signature == "RBP(p=0.8)|gain:grade|binary:1|top:1|ties:docid|missing:zero|unjudged:0|assay:0.1"
    assert "binary" not in plain.signature
    assert evaluate(RUN, Qrels.from_dict(JUDGED).binary(2), "AP")[0].signature.startswith("AP|binary:2|")
    assert evaluate(RUN, JUDGED, "AP", binary=False)[0].signature == evaluate(RUN, JUDGED, "AP")[0].signature
    low = bounds(Aligned.of(RUN, JUDGED, binary=2), "P@2").low[0]
    assert low.signature.startswith("P@2|binary:2|")


def test_binary_and_graded_scores_are_not_joined() -> None:
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}
    judged = {"1": {"a": 1, "b": 2}, "2": {"a": 2}}
    graded = evaluate({"x": run}, judged, "nDCG@10")[0]
    binary = evaluate({"y": run}, judged, "nDCG@10", binary=True)[0]
    with pytest.raises(UsageError, match="do not rest on the same policy"):
        joined([graded, binary])


def test_intents() -> None:
    rows = [("1", "1", "a", 1), ("1", "1", "b", 2), ("1", "2", "c", 3)]
    made = [(topic, intent, doc, int(grade >= 2)) for topic, intent, doc, grade in rows]
    run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    for measure in ("D#-nDCG@3", "I-rec@2", "nDCG-IA"):
        ours = evaluate(run, IntentQrels.from_rows(rows), measure, binary=2)[0]
        assert ours.values.tolist() == evaluate(run, IntentQrels.from_rows(made), measure)[0].values.tolist()
        assert "|binary:2|" in ours.signature


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"measures": "AP(rel=2)", "binary": True},
            r"AP\(rel=2\): binary judgments have the grades 0 and 1; leave rel",
        ),
        ({"binary": True, "top": 3}, "top=3 is not the top grade of binary judgments"),
        ({"binary": 0}, "must be above 0, not 0"),
        ({"binary": "2"}, "binary='2' is not True"),
        ({"qrels": Qrels.from_dict(JUDGED).binary(2), "binary": 1}, "binary from grade 2 on already"),
    ],
)
def test_what_is_wrong_is_said(choices: dict[str, object], message: str) -> None:
    given = {"runs": RUN, "qrels": JUDGED, "measures": "AP", **choices}
    with pytest.raises(UsageError, match=message):
        evaluate(**given)  # type: ignore[arg-type]


def test_aligned_runs() -> None:
    aligned = Aligned.of(RUN, JUDGED, policy=Policy(binary=2))
    assert aligned.scores("nDCG")[0].values.tolist() == evaluate(RUN, by_hand(JUDGED, 2), "nDCG")[0].values.tolist()
    assert aligned.under(missing="drop").policy.binary == 2
    with pytest.raises(UsageError, match="align the runs again"):
        aligned.under(binary=1)
    with pytest.raises(UsageError, match="leave rel out"):
        aligned.scores("AP(rel=2)")
    with pytest.raises(UsageError, match="above 0"):
        Qrels.from_dict(JUDGED).binary(0)
