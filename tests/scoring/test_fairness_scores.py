"""Runs scored by the exposure of groups: against plain loops, in every form of groups, and bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import AssayError, DataError, UsageError
from assay.data import Qrels, Run
from assay.data.doc_groups import DocGroups
from assay.io.doc_groups import read_doc_groups, read_population
from assay.scoring.fairness_scores import evaluate_fairness
from assay.stats import compare
from tests.oracles import fairness as oracle

DOCS = [f"d{i}" for i in range(30)]
NAMES = ["x", "y", "z"]


def made(seed: int = 0) -> tuple[list[Run], Qrels, dict[str, dict[str, float]]]:
    """Two runs of five topics, graded judgments, and docs that belong to three groups in part."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(3, 0.4), len(DOCS))
    groups = {doc: dict(zip(NAMES, row.tolist(), strict=True)) for doc, row in zip(DOCS, shares, strict=True)}
    judged = {}
    for topic in "12345":
        grades = rng.integers(0, 3, len(DOCS)).tolist()
        judged[topic] = dict(zip(DOCS, grades, strict=True))
    runs = []
    for name in ("a", "b"):
        runs.append(Run.from_lists(name, {topic: rng.permutation(DOCS)[:25].tolist() for topic in "12345"}))
    return runs, Qrels.from_dict(judged), groups


@pytest.mark.parametrize("kind", ["log", "geometric"])
def test_scores_are_those_of_the_plain_loops(kind: str) -> None:
    runs, qrels, groups = made()
    measures = [f"AWRF(attention={kind})", f"M1(attention={kind})"]
    measures += [f"EE-L(attention={kind},k=10)", f"EE-D(attention={kind},docs=all)", f"EE-R(attention={kind},k=10)"]
    found = [matrix.to_dict() for matrix in evaluate_fairness(runs, qrels, groups, measures)]
    for run in runs:
        for topic, judged in qrels.to_dict().items():
            ranking = run.ranking(topic)
            relevant = [doc for doc, grade in judged.items() if grade > 0]
            fair = oracle.awrf(ranking, relevant, groups, NAMES, kind)
            score = fair * oracle.ndcg(ranking, relevant)
            args: Any = ([ranking], judged, groups, NAMES)
            own, ideal = (np.array(e) for e in oracle.exposures(*args, k=10, kind=kind, only_relevant=True))
            of_all, _ = (np.array(e) for e in oracle.exposures(*args, k=20, kind=kind, only_relevant=False))
            expected = [fair, score, ((own - ideal) ** 2).sum(), (of_all**2).sum(), own @ ideal]
            assert [scores[run.name][topic] for scores in found] == pytest.approx(expected, abs=1e-12)


def test_several_rankings_of_a_topic_are_averaged() -> None:
    groups = {"a": "x", "b": "y"}
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 1}, "2": {"a": 1, "b": 1}})
    drawn = Run.from_lists("drawn", {"1-1": ["a", "b"], "1-2": ["b", "a"], "2-1": ["a", "b"], "9-1": ["b"]})
    measure = "EE-L(attention=geometric,k=2)"
    scores = evaluate_fairness([drawn], qrels, groups, [measure], separator="-")[0]
    assert scores.values.tolist() == [[0.0, 0.125]]
    assert scores.signature == f"{measure}|groups:group|target:relevant|unknown:error|rel:1|rankings:-|missing:zero"
    with pytest.raises(DataError, match=r"run 'drawn' has no topic of .*; there is '1-1', check their names"):
        evaluate_fairness([drawn], qrels, groups)


def test_a_missing_topic_has_an_empty_ranking() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1}, "2": {"a": 1}})
    found = evaluate_fairness(
        [Run.from_lists("r", {"1": ["a"]})], qrels, {"a": "x"}, ["AWRF", "EE-D(k=1)", "EE-L(k=1)"]
    )
    assert [matrix.values.tolist() for matrix in found] == [[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]]


def test_attributes_together_are_the_products_of_their_shares() -> None:
    rows = [("a", "sex", "f", 1.0), ("b", "sex", "m", 1.0), ("a", "age", "old", 0.5), ("a", "age", "young", 0.5)]
    groups = DocGroups.from_rows([*rows, ("b", "age", "old", 1.0)])
    together = groups.by()
    assert together.groups == ("f·old", "f·young", "m·old", "m·young")
    assert together.shares.tolist() == [[0.5, 0.5, 0, 0], [0, 0, 1, 0]]
    assert groups.by(["sex"]).shares.tolist() == [[1, 0], [0, 1]]
    run, qrels = Run.from_lists("r", {"1": ["a", "b"]}), Qrels.from_dict({"1": {"a": 1, "b": 1}})
    matrix = evaluate_fairness([run], qrels, groups, ["AWRF"], attributes=["age"])[0]
    assert "groups:age|" in matrix.signature
    assert matrix.values[0, 0] == 1.0


def test_docs_without_a_group_are_refused_a_group_or_skipped() -> None:
    run = Run.from_lists("r", {"1": ["a", "b", "c"], "8": ["q"]})
    qrels = Qrels.from_dict({"1": {"a": 1, "c": 1}})
    groups = {"a": "x", "c": "y"}
    with pytest.raises(
        DataError, match=r"run 'r': 'b' has no group; give it one, or say .* \(--unknown group or skip\)"
    ):
        evaluate_fairness([run], qrels, groups)
    with pytest.raises(DataError, match=r"relevant doc of .*: 'c' has no group"):
        evaluate_fairness([run], qrels, {"a": "x", "b": "x"})
    skipped = evaluate_fairness([run], qrels, groups, ["AWRF"], unknown="skip")[0].values[0, 0]
    third = 1 / np.log2(3)
    shares = np.array([1, third]) / (1 + third)
    from assay.measures.fairness import jensen_shannon

    assert skipped == pytest.approx(1 - jensen_shannon(shares, np.array([0.5, 0.5])))
    own = evaluate_fairness([run], qrels, groups, ["AWRF"], unknown="group")[0].values[0, 0]
    with_group = evaluate_fairness([run], qrels, {**groups, "b": "z"}, ["AWRF"])[0].values[0, 0]
    assert own == pytest.approx(with_group)
    half = DocGroups.from_rows([("a", "p", "x", None), ("b", "q", "y", None)])
    assert half.by(unknown="group").groups == ("x·y", "x·unknown", "unknown·y", "unknown·unknown")
    assert half.by(unknown="group").shares.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
    with pytest.raises(UsageError, match="has a group called 'unknown' already"):
        DocGroups.from_dict({"a": "unknown"}).by(unknown="group")


def test_a_population_is_a_target_and_may_have_more_groups() -> None:
    run, qrels = Run.from_lists("r", {"1": ["a", "b"]}), Qrels.from_dict({"1": {"a": 1, "b": 1}})
    groups = {"a": "x", "b": "y"}
    people = {"x": 0.5, "y": 0.25, "z": 0.25}
    alone = evaluate_fairness([run], qrels, groups, ["AWRF"], target="population", population=people)[0]
    from assay.measures.fairness import jensen_shannon

    wanted = 1 - jensen_shannon(np.array([0.5, 0.5, 0]), np.array([0.5, 0.25, 0.25]))
    assert alone.values[0, 0] == pytest.approx(wanted)
    assert "target:population(x 0.5, y 0.25, z 0.25)" in alone.signature
    for how, message in (
        ({"target": "both"}, "target 'both' needs the shares of the population"),
        ({"population": people}, "a population has no effect on target 'relevant'"),
        ({"target": "both", "population": {"x": 1.0}}, "the population has no share of group 'y'"),
        ({"target": "both", "population": {"x": 1.0, "y": 1.0}}, "shares of the population sum to 2"),
        ({"target": "fair"}, "target"),
        ({"attributes": ["sex"]}, "no attribute 'sex'"),
        ({"separator": ""}, "the separator is empty"),
    ):
        with pytest.raises(AssayError, match=message):
            evaluate_fairness([run], qrels, groups, **how)
    with pytest.raises(UsageError, match="no measure"):
        evaluate_fairness([run], qrels, groups, [])
    with pytest.raises(UsageError, match="no run"):
        evaluate_fairness([], qrels, groups)
    with pytest.raises(UsageError, match="list where groups are expected"):
        evaluate_fairness([run], qrels, ["a"])


def test_files_of_groups(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("doc,attribute,group,share\na,sex,f,0.5\na,sex,m,0.5\nb,sex,m,1\nb,age,old,1\nc,sex,,1\n")
    found = read_doc_groups(file)
    assert found.groups == {"sex": ("f", "m"), "age": ("old",)}
    assert found.shares["sex"].tolist() == [[0.5, 0.5], [0, 1]]
    file.write_text("docno\tgroup\na\tx\na\ty\nb\tx\n")
    assert read_doc_groups(file).by().shares.tolist() == [[0.5, 0.5], [1, 0]]
    for text, message in (
        (
            "doc,group,share\na,x,0.5\na,y,0.4\n",
            "shares of doc 'a' in the groups of 'group' sum to 0.9; they must sum to 1",
        ),
        ("doc,group,share\na,x,1.5\n", "doc 'a' belongs to 'x' with share 1.5; shares are 0 to 1"),
        ("doc,group,share\na,x,many\n", "share is not a number: 'many'"),
        ("doc,group\na,x\na,x\n", "doc 'a' has group 'x' of 'group' twice"),
        ("doc,group\na,\n", "no doc has a group"),
        ("doc,team\na,x\n", "no column 'group'"),
        ("doc,group\n,x\n", "the doc is empty"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=message):
            read_doc_groups(file)
    people = tmp_path / "people.csv"
    people.write_text("group,share\nx,0.25\ny,0.75\n")
    assert read_population(people) == {"x": 0.25, "y": 0.75}
    for text, message in (
        ("group,share\nx,0.25\nx,0.75\n", "group 'x' is there twice"),
        ("group,share\nx,-1\n", "the share is -1"),
        ("group,share\nx,0.5\n", "sum to 0.5"),
    ):
        people.write_text(text)
        with pytest.raises(DataError, match=message):
            read_population(people)


def test_scores_are_compared_as_any_others_but_not_with_other_groups() -> None:
    runs, qrels, groups = made()
    matrix = evaluate_fairness(runs, qrels, groups, ["AWRF"])[0]
    assert compare(matrix, baseline="a").matrix.measure == "AWRF"
