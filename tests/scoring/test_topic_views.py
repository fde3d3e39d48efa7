"""What happened on one topic: lists, grades, ranks elsewhere, scores and texts, as files and judgments say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.core.errors import AssayError
from assay.data import Qrels, Run, Topics
from assay.rankings import rbo
from assay.scoring import Policy, topic_view
from tests.conftest import real_data

QRELS = {"q1": {"a": 2, "b": 0, "c": 1, "p": -1}, "q2": {"a": 3}, "q10": {"x": 1}}
FIRST = {"q1": ["p", "a", "z", "c"], "q2": ["a"]}
SECOND = {"q1": ["c", "a", "b"], "q3": ["y"]}
RUNS = {"one": FIRST, "two": SECOND}


def test_lists_grades_and_ranks_in_the_other_run() -> None:
    view = topic_view("q1", RUNS, QRELS)
    rows = view.long_table().record()["rows"]
    seen = [(r["run"], r["rank"], r["doc"], r["grade"], r["judged"], r["rank_1"], r["rank_2"]) for r in rows]
    assert seen == [
        ("one", 1, "p", None, False, 1, None),
        ("one", 2, "a", 2, True, 2, 2),
        ("one", 3, "z", None, False, 3, None),
        ("one", 4, "c", 1, True, 4, 1),
        ("two", 1, "c", 1, True, 4, 1),
        ("two", 2, "a", 2, True, 2, 2),
        ("two", 3, "b", 0, True, None, 3),
    ]
    assert view.table().columns == ("rank", "one", "grade", "in two", "two", "grade", "in one")
    assert view.table().rows[3] == (4, "c", 1, 1, "", "", "")
    assert view.rbo is not None
    assert view.rbo.ext == rbo(FIRST["q1"], SECOND["q1"]).ext


def test_scores_are_those_of_evaluate_on_all_topics() -> None:
    """The scale of a measure is that of all judgments, not of the topic: ERR divides by the largest grade."""
    measures = ["nDCG@10", "AP", "ERR", "RBP"]
    every = assay.evaluate(RUNS, QRELS, measures)
    for topic in ("q1", "q2"):
        view = topic_view(topic, RUNS, QRELS, measures=measures)
        at = every.topics.index(topic)
        for matrix in every:
            assert view.scores[matrix.measure] == tuple(matrix.values[:, at])


def test_a_topic_that_a_run_lacks_scores_nothing_and_says_so() -> None:
    view = topic_view("q2", RUNS, QRELS)
    assert view.returned == (1, 0)
    assert view.rbo is None
    assert view.scores["AP"] == (1.0, 0.0)
    assert "two returns nothing for this topic" in view.table().notes
    assert topic_view("q2", RUNS, QRELS, missing="drop").scores == {}
    only_judged = topic_view("q10", RUNS, QRELS)
    assert only_judged.table().rows == ()
    assert only_judged.returned == (0, 0)


def test_a_topic_without_judgments_is_shown_without_scores() -> None:
    view = topic_view("q3", RUNS, QRELS)
    assert view.scores == {}
    assert view.table().rows[0][4:6] == ("y", "unjudged")
    assert "no scores: the judgments do not have this topic" in view.scores_table().notes[0]


@pytest.mark.parametrize(
    ("topic", "options", "message"),
    [
        ("q11", {}, "no topic 'q11' in the judgments and runs; did you mean q1, q10"),
        ("zzz", {}, "no topic 'zzz' in the judgments and runs; known: q1, q2, q3, q10"),
        ("q1", {"topics": Topics(("q2",), ({"title": "x"},))}, "the topics have no text of topic 'q1'"),
        ("q1", {"measures": "nothing"}, "nothing"),
        ("q1", {"depth": 0}, "depth and characters are at least 1"),
        ("q1", {"tie": "x"}, "no choice 'tie'; did you mean ties"),
        ("q2", {"missing": "error"}, "run 'two' has no docs for topic 'q2'; missing='zero' counts it as 0"),
    ],
)
def test_bad_input(topic: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError) as error:
        topic_view(topic, RUNS, QRELS, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_one_run_and_many_runs() -> None:
    one = topic_view("q1", {"one": FIRST}, QRELS, depth=2)
    assert one.table().columns == ("rank", "one", "grade", "score")
    assert len(one.table().rows) == 2
    many = topic_view("q1", {**RUNS, "three": {"q1": ["a", "q"]}}, QRELS, depth=2)
    assert many.table().rows[1] == (2, "a", 2, 2, "a", 2, 2, "q", "unjudged", 0)
    assert len(set(many.table().keys)) == len(many.table().keys) == 10


def test_query_and_texts() -> None:
    topics = Topics(("q1",), ({"description": "all about cats", "title": "cats"},))
    view = topic_view("q1", RUNS, QRELS, topics=topics, docs={"a": "x" * 500, "c": "short"}, characters=10)
    assert view.title == "topic q1: cats"
    assert "description: all about cats" in view.table().notes
    texts = dict(zip(view.texts_table().column("doc"), view.texts_table().column("text"), strict=True))
    assert texts == {"p": None, "c": "short", "a": "x" * 10 + "…", "z": None, "b": None}
    assert "3 of 5 docs have no text in the file" in view.texts_table().notes
    assert view.record()["runs"][0]["docs"][1]["text"] == "x" * 500
    assert [len(table.rows) for table in view.tables()] == [4, 2, 5]


HOSTILE = "\x1b]0;x\x07<img src=x onerror=alert(1)>|\u202e"


@pytest.mark.parametrize("form", ["text", "markdown", "html", "latex"])
def test_nothing_of_a_file_is_markup_or_a_command_of_the_terminal(form: str) -> None:
    view = topic_view(
        "q1", {HOSTILE: {"q1": [HOSTILE, "a"]}}, QRELS,
        topics=Topics(("q1",), ({"title": HOSTILE, "narrative": HOSTILE},)), docs={HOSTILE: HOSTILE},
    )  # fmt: skip
    shown = "\n".join(getattr(table, form)() for table in view.tables())
    assert not {c for c in shown if c != "\n" and not c.isprintable()}
    if form == "html":
        assert "<img" not in shown
    if form == "markdown":
        assert "\\<img" in shown
        assert not [line for line in shown.splitlines() if "<img" in line.replace("\\<img", "")]


def test_record_is_plain_and_infinite_scores_are_left_out() -> None:
    run = Run.from_dict("r", {"q1": {"a": np.inf, "b": 1.0}})
    record = topic_view("q1", run, QRELS).record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert [doc["score"] for doc in record["runs"][0]["docs"]] == [None, 1.0]
    assert record["query"] == {}


def test_the_policy_orders_the_list() -> None:
    run = Run.from_dict("r", {"q1": {"a": 1.0, "b": 1.0}})
    assert [d.doc for d in topic_view("q1", run, QRELS).lists[0]] == ["b", "a"]
    assert [d.doc for d in topic_view("q1", run, QRELS, policy=Policy(ties="docid-asc")).lists[0]] == ["a", "b"]


def test_a_topic_of_a_track(tmp_path: Path) -> None:
    """The values that trec_eval printed for this run and topic."""
    import lzma
    import tarfile

    folder = real_data("trec-dl-2019-passage")
    with tarfile.open(folder / "runs.tar.xz") as archive:
        for name in ("runs/bm25base_p", "runs/p_bert"):
            member = archive.extractfile(name)
            assert member is not None
            (tmp_path / Path(name).name).write_bytes(member.read())
    view = topic_view(
        "962179", [tmp_path / "bm25base_p", tmp_path / "p_bert"], folder / "qrels.txt", docs=folder / "texts.tsv.xz"
    )
    printed = {}
    with lzma.open(folder / "trec_eval-per-topic.tsv.xz", "rt") as lines:
        for line in lines:
            run, topic, measure, value = line.split("\t")
            if topic == "962179" and measure in ("map", "ndcg_cut_10"):
                printed[run, measure] = float(value)
    for at, run in enumerate(view.runs):
        assert view.scores["AP"][at] == pytest.approx(printed[run, "map"], abs=5e-5)
        assert view.scores["nDCG@10"][at] == pytest.approx(printed[run, "ndcg_cut_10"], abs=5e-5)
    grades = assay.read_qrels(folder / "qrels.txt").to_dict()["962179"]
    assert isinstance(assay.read_qrels(folder / "qrels.txt"), Qrels)
    for docs in view.lists:
        assert [d.grade for d in docs] == [grades.get(d.doc) for d in docs]
    assert view.texts is not None
    assert all(d.doc in view.texts for docs in view.lists for d in docs if d.grade is not None)
