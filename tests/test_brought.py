"""What people bring: dicts, data frames, paths and our own types, mixed; and what is refused, in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay import AssayError, DataError, Labels, Qrels, Run, ScoreMatrix, UsageError
from assay.data import IntentQrels
from assay.io import labels_of, qrels_of, runs_of, scores_of, topics_of, write
from assay.io.brought import run_list
from assay.io.run_files import read_run_files
from assay.scoring import Aligned

BM25 = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 2.0, "d5": 1.0}}
DENSE = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d5": 0.7, "d4": 0.6}}
JUDGED = {"q1": {"d1": 2, "d2": 0}, "q2": {"d5": 1}}


def rows(run: Mapping[str, Mapping[str, float]]) -> dict[str, list[Any]]:
    """A run as columns, named as PyTerrier names them, in no order."""
    cells = [(topic, doc, score) for topic, docs in run.items() for doc, score in docs.items()][::-1]
    return {"qid": [c[0] for c in cells], "docno": [c[1] for c in cells], "score": [c[2] for c in cells]}


def frame_maker(library: str) -> Callable[[dict[str, Any]], Any]:
    module = pytest.importorskip(library)
    return module.table if library == "pyarrow" else module.DataFrame


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    return frame_maker(request.param)


def many(seed: int, better: float) -> dict[str, dict[str, float]]:
    """A run of 40 topics; the larger `better`, the higher the relevant docs, whose names begin with r."""
    rng = np.random.default_rng(seed)
    docs = [f"r{i}" for i in range(5)] + [f"n{i}" for i in range(20)]
    return {f"q{t}": {d: float(rng.normal() + better * (d[0] == "r")) for d in docs} for t in range(40)}


OLD, NEW = many(1, 0.2), many(2, 1.5)
RELEVANT = {topic: {doc: int(doc[0] == "r") for doc in docs} for topic, docs in OLD.items()}


def test_two_rankers_from_dicts_to_a_verdict_in_two_lines() -> None:
    scores = assay.evaluate({"old": OLD, "new": NEW}, RELEVANT, "nDCG@10")
    verdict = assay.compare(scores, baseline="old").verdict
    assert verdict.startswith("new beats old: +.")


def test_two_rankers_from_frames_to_a_verdict_in_two_lines(frame: Callable[[dict[str, Any]], Any]) -> None:
    old, new, qrels = frame(rows(OLD)), frame(rows(NEW)), frame({**rows(RELEVANT), "label": rows(RELEVANT)["score"]})
    scores = assay.evaluate({"old": old, "new": new}, qrels, "nDCG@10")
    verdict = assay.compare(scores, baseline="old").verdict
    from_dicts = assay.evaluate({"old": OLD, "new": NEW}, RELEVANT, "nDCG@10")
    assert verdict == assay.compare(from_dicts, baseline="old").verdict


def test_all_kinds_of_runs_and_judgments_score_the_same(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    run = Run.from_dict("bm25", BM25)
    file = tmp_path / "runs" / "bm25.run"
    file.parent.mkdir()
    assay.write(file, run)
    judged = tmp_path / "qrels.txt"
    assay.write(judged, Qrels.from_dict(JUDGED))
    with_names = frame({**rows(BM25), "run": ["bm25"] * 5})
    forms: list[Any] = [
        run, [run], (r for r in [run]), file, str(file), [file], file.parent, {"bm25": BM25}, {"bm25": file},
        {"bm25": str(file)}, {"bm25": run}, {"bm25": frame(rows(BM25))}, with_names, [with_names], {"bm25": with_names},
        {"bm25": rows(BM25)}, {"bm25": {t: list(d) for t, d in BM25.items()}},
    ]  # fmt: skip
    beir = frame({"query-id": ["q1", "q1", "q2"], "corpus-id": ["d1", "d2", "d5"], "score": [2, 0, 1]})
    expected = assay.evaluate([run], Qrels.from_dict(JUDGED), ["AP", "nDCG@10"]).to_dict()
    for form in forms:
        assert assay.evaluate(form, JUDGED, "AP nDCG@10").to_dict() == expected
    for qrels in (judged, str(judged), beir, Qrels.from_dict(JUDGED)):
        assert assay.evaluate(BM25 and {"bm25": BM25}, qrels, ["AP", "nDCG@10"]).to_dict() == expected
    assert Aligned.of({"bm25": BM25}, JUDGED).scores("AP, nDCG@10").to_dict() == expected


def test_mixed_input_keeps_its_order_and_names(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    assay.write(tmp_path / "filed.run", Run.from_dict("filed", DENSE))
    two = frame({k: v * 2 for k, v in rows(BM25).items()} | {"system": ["x"] * 5 + ["y"] * 5})
    brought = [tmp_path / "filed.run", {"a": BM25, "b": DENSE}, two, DENSE, frame(rows(BM25)), Run.from_dict("z", BM25)]
    scores = assay.evaluate(brought, JUDGED, "RR")
    assert scores.runs == ("filed", "a", "b", "x", "y", "run4", "run5", "z")
    assert scores["RR"].values[1].tolist() == scores["RR"].values[3].tolist() == scores["RR"].values[6].tolist()


def test_one_run_is_known_by_its_depth() -> None:
    assert runs_of(BM25)[0].name == "run"  # type: ignore[union-attr]
    assert [run.name for run in runs_of({"only": BM25})] == ["only"]  # type: ignore[union-attr]
    ranked = runs_of({"q1": ["b", "a"]})[0]
    assert isinstance(ranked, Run)
    assert ranked.ranking("q1") == ["b", "a"]


def test_numbers_are_ids(frame: Callable[[dict[str, Any]], Any]) -> None:
    run = frame({"qid": [1, 1, 2], "pid": [10, 11, 10], "score": [0.5, 1.5, 2]})
    scores = assay.evaluate({"r": run}, {1: {11: 1}, 2: {10: 1}}, "RR")
    assert scores["RR"].topics == ("1", "2")
    assert scores["RR"].values.tolist() == [[1.0, 1.0]]


def test_ranks_alone_are_taken_in_their_order(frame: Callable[[dict[str, Any]], Any]) -> None:
    marco = frame({"qid": [1, 2, 1, 1], "pid": [7, 7, 8, 9], "rank": [3, 1, 1, 2]})
    [run] = runs_of(marco)
    assert isinstance(run, Run)
    assert run.ranking("1") == ["8", "9", "7"]
    assert assay.evaluate({"r": marco}, {1: {9: 1}}, "RR", ties="rank")["RR"].values.tolist() == [[0.5]]
    with pytest.raises(DataError, match=r"two docs of topic '1' have rank 2.*rank of its own"):
        runs_of(frame({"qid": [1, 1], "pid": [7, 8], "rank": [2, 2]}))


def test_columns_of_pyterrier_and_columns_that_a_person_names(frame: Callable[[dict[str, Any]], Any]) -> None:
    terrier = frame({**rows(BM25), "query": ["text"] * 5, "docid": [1, 2, 3, 4, 5], "rank": [1, 0, 2, 1, 0]})
    assert runs_of(terrier)[0].to_dict() == BM25  # type: ignore[union-attr]
    odd = frame({"my_q": ["q1"], "d": ["d1"], "s": [1.0]})
    [run] = runs_of(odd, columns={"topic": "my_q", "doc": "d", "score": "s"})
    assert isinstance(run, Run)
    assert run.to_dict() == {"q1": {"d1": 1.0}}
    assert qrels_of(odd, columns={"topic": "my_q", "doc": "d", "grade": "s"}).to_dict() == {"q1": {"d1": 1}}
    with pytest.raises(DataError, match=r"no column for the topic of runs .*it has my_q, d, s"):
        runs_of(odd)
    with pytest.raises(UsageError, match="no column 'x' for the topic; it has my_q, d, s"):
        runs_of(odd, columns={"topic": "x"})
    with pytest.raises(UsageError, match="runs have no 'grade'"):
        runs_of(odd, columns={"grade": "s"})
    with pytest.raises(DataError, match="'qid' and 'topic' could both be the topic"):
        runs_of(frame({**rows(BM25), "topic": rows(BM25)["qid"]}))


def test_an_index_of_pandas_with_a_name_is_a_column() -> None:
    pandas = pytest.importorskip("pandas")
    indexed = pandas.DataFrame(rows(BM25)).set_index(["qid", "docno"])
    assert runs_of(indexed)[0].to_dict() == BM25  # type: ignore[union-attr]
    part = pandas.DataFrame(rows(BM25))
    part = part[part.qid == "q2"]
    assert runs_of(part)[0].to_dict() == {"q2": BM25["q2"]}  # type: ignore[union-attr]
    nullable = pandas.DataFrame({"qid": [1, 2], "docno": ["a", "b"], "score": [1, 2]}).convert_dtypes()
    assert runs_of(nullable)[0].to_dict() == {"1": {"a": 1.0}, "2": {"b": 2.0}}  # type: ignore[union-attr]
    categories = pandas.DataFrame(rows(BM25)).astype({"qid": "category"})
    assert runs_of(categories)[0].to_dict() == BM25  # type: ignore[union-attr]


ARROW: dict[str, Callable[[Any], Any]] = {
    "table": lambda pa: pa.table(rows(BM25)),
    "batch": lambda pa: pa.RecordBatch.from_pydict(rows(BM25)),
    "chunks": lambda pa: pa.concat_tables([pa.table(rows(BM25)).slice(0, 2), pa.table(rows(BM25)).slice(2)]),
    "dictionary": lambda pa: pa.table({**rows(BM25), "qid": pa.array(rows(BM25)["qid"]).dictionary_encode()}),
    "large strings": lambda pa: pa.table({**rows(BM25), "docno": pa.array(rows(BM25)["docno"], pa.large_string())}),
    "float32": lambda pa: pa.table({**rows(BM25), "score": pa.array(rows(BM25)["score"], pa.float32())}),
    "decimals": lambda pa: pa.table({**rows(BM25), "score": pa.array(rows(BM25)["score"]).cast(pa.decimal128(5, 2))}),
}


@pytest.mark.parametrize("kind", ARROW)
def test_tables_and_batches_of_arrow(kind: str) -> None:
    made = ARROW[kind](pytest.importorskip("pyarrow"))
    assert runs_of(made)[0].to_dict() == BM25  # type: ignore[union-attr]
    assert runs_of({"bm25": made})[0].name == "bm25"  # type: ignore[union-attr]


PANDAS: dict[str, Callable[[Any], Any]] = {
    "arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "nullable": lambda frame: frame.convert_dtypes(),
    "string[pyarrow]": lambda frame: frame.astype({"docno": "string[pyarrow]", "qid": "string[pyarrow]"}),
    "category": lambda frame: frame.astype({"docno": "category", "qid": "category", "score": "category"}),
    "Int64": lambda frame: frame.assign(qid=frame.qid.str[1:].astype("Int64")),
    "Float32": lambda frame: frame.astype({"score": "Float32"}),
    "small": lambda frame: frame.assign(qid=frame.qid.str[1:].astype("uint8")).astype({"score": "float16"}),
}


@pytest.mark.parametrize("kind", PANDAS)
def test_pandas_frames_of_all_types_of_columns(kind: str) -> None:
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    made = PANDAS[kind](pandas.DataFrame(rows(BM25)))
    found = runs_of(made)[0].to_dict()  # type: ignore[union-attr]
    assert {f"q{topic.removeprefix('q')}": docs for topic, docs in found.items()} == BM25


def test_an_empty_cell_is_named_whatever_the_type() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"qid": [1, 2], "docno": ["a", "b"], "score": [1.0, 2.0]}).astype({"qid": "Int64"})
    with pytest.raises(DataError, match="column 'qid' is empty in row 2; every row needs a topic"):
        runs_of(frame.assign(qid=pandas.array([1, None], dtype="Int64")))
    with pytest.raises(DataError, match="column 'score' is empty or not a number in row 1"):
        runs_of(frame.assign(score=pandas.array([None, 1.0], dtype="double[pyarrow]")))
    with pytest.raises(DataError, match="column 'docno' is empty in row 2; every row needs a doc"):
        runs_of(pyarrow.table({"qid": [1, 2], "docno": ["a", None], "score": [1.0, 2.0]}))


def retrieved() -> Any:
    """What a retriever of PyTerrier returns: its columns, their order and types, ranks from 0."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({
        "qid": ["q1", "q1", "q1", "q2", "q2"],
        "docid": [17, 4, 9, 2, 11],
        "docno": ["d1", "d2", "d3", "d4", "d5"],
        "rank": [0, 1, 2, 0, 1],
        "score": [3.0, 2.0, 1.0, 2.0, 1.0],
        "query": ["chemical reactions", "chemical reactions", "chemical reactions", "cats", "cats"],
    }).astype({"docid": "int32", "rank": "int64"})  # fmt: skip


def test_frames_of_pyterrier_work_as_they_are() -> None:
    pandas = pytest.importorskip("pandas")
    results = retrieved()
    qrels = pandas.DataFrame({"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d5"], "label": [2, 0, 1]})
    topics = pandas.DataFrame({"qid": ["q1", "q2"], "query": ["chemical reactions", "cats"]})
    expected = assay.evaluate({"bm25": BM25}, JUDGED, "AP nDCG@10").to_dict()
    assert assay.evaluate({"bm25": results}, qrels, "AP nDCG@10").to_dict() == expected
    assert assay.evaluate({"bm25": results}, qrels.assign(iteration=0), "AP nDCG@10").to_dict() == expected
    assert topics_of(topics).to_dict() == {"q1": {"title": "chemical reactions"}, "q2": {"title": "cats"}}
    both = pandas.concat([results.assign(name="bm25"), results.assign(name="dense", score=-results.score)])
    runs = runs_of(both)
    assert [run.name for run in runs] == ["bm25", "dense"]  # type: ignore[union-attr]
    assert runs[1].ranking("q2") == ["d5", "d4"]  # type: ignore[union-attr]
    [alone] = runs_of(results.assign(name="bm25"))
    assert alone.name == "bm25"  # type: ignore[union-attr]


def test_a_column_of_names_of_docs_makes_no_runs() -> None:
    named = retrieved().assign(name=["Anna", "Ben", "Cleo", "Dora", "Emil"])
    [run] = runs_of(named)
    assert (run.name, len(run)) == ("run", 5)  # type: ignore[union-attr,arg-type]
    assert len(runs_of(named, columns={"run": "name"})) == 5


def test_topics_of_all_kinds(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    (tmp_path / "topics.tsv").write_text("1\tcats\n2\tdogs\n")
    expected = {"1": {"title": "cats"}, "2": {"title": "dogs"}}
    named = frame({"topic": ["1", "2"], "title": ["cats", "dogs"], "year": [1999, 2000]})
    forms = [
        tmp_path / "topics.tsv",
        {1: "cats", 2: "dogs"},
        expected,
        frame({"qid": [1, 2], "query": ["cats", "dogs"]}),
    ]
    for form in (*forms, frame({"query_id": ["1", "2"], "text": ["cats", "dogs"]}), topics_of(expected), named):
        assert topics_of(form).to_dict() == expected
    for wrong in (3, None, ["1"], {"1": 2}):
        with pytest.raises(UsageError, match="where topics are expected; give a path"):
            topics_of(wrong)
    with pytest.raises(DataError, match="topic '1' is there twice"):
        topics_of(frame({"qid": [1, 1], "query": ["cats", "dogs"]}))
    with pytest.raises(DataError, match="no column for the topic of topics"):
        topics_of(frame({"words": ["cats"]}))


def test_objects_of_ranx_are_known_by_their_module() -> None:
    class Run:
        __module__ = "ranx.data_structures.run"
        name = "theirs"

        def to_dict(self) -> dict[str, dict[str, float]]:
            return BM25

    class Qrels:
        __module__ = "ranx.data_structures.qrels"

        def to_dict(self) -> dict[str, dict[str, int]]:
            return JUDGED

    scores = assay.evaluate([Run(), {"ours": BM25, "again": Run()}], Qrels(), "AP")
    assert scores.runs == ("theirs", "ours", "again")
    assert len(set(scores["AP"].averages().tolist())) == 1
    with pytest.raises(UsageError, match="where runs are expected"):
        assay.evaluate(Qrels(), JUDGED, "AP")


def test_a_lazy_frame_is_collected() -> None:
    polars = pytest.importorskip("polars")
    assert runs_of(polars.LazyFrame(rows(BM25)))[0].to_dict() == BM25  # type: ignore[union-attr]


def test_judgments_by_intent_and_sampled_ones(frame: Callable[[dict[str, Any]], Any]) -> None:
    columns = {"topic": ["1", "1"], "subtopic": ["a", "b"], "doc": ["x", "y"], "rel": [1, 1]}
    assert isinstance(qrels_of(frame(columns)), IntentQrels)
    with pytest.raises(UsageError, match="judgments by intent where plain"):
        Aligned.of({"r": {"1": ["x"]}}, frame(columns))
    sampled = qrels_of(frame({"topic": ["1"], "doc": ["x"], "rel": [1], "probability": [0.5]}))
    assert isinstance(sampled, Qrels)
    assert sampled.probabilities is not None
    assert sampled.probabilities.tolist() == [0.5]


def test_labels_of_all_kinds(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    triples = [("1", "a", "v", 1.0), ("1", "a", "w", 0.0)]
    labels = Labels.from_rows(triples)
    assay.write(tmp_path / "labels.csv", labels)
    nested = {"1": {"a": {"v": 1, "w": 0}}}
    annotated = frame({"qid": [1, 1], "docno": ["a", "a"], "annotator": ["v", "w"], "label": [1, 0]})
    for form in (labels, triples, iter(triples), nested, annotated, frame(labels.to_dict()), labels.to_dict()):
        assert labels_of(form).to_dict() == labels.to_dict()
    assert labels_of(tmp_path / "labels.csv").label.tolist() == [1.0, 0.0]
    timed = frame({**labels.to_dict(), "seconds": [1.5, None], "task": ["t", "t"], "position": [1, 2]})
    found = labels_of(timed)
    assert found.seconds is not None
    assert np.isnan(found.seconds).tolist() == [False, True]


def test_scores_of_all_kinds(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    nested = {"a": {"1": 0.1, "2": 0.3}, "b": {"1": 0.2, "2": 0.5}}
    matrix = ScoreMatrix.of([[0.1, 0.3], [0.2, 0.5]], runs=["a", "b"], topics=["1", "2"], measure="AP")
    assay.write(tmp_path / "scores.csv", matrix)
    tidy: dict[str, list[Any]] = {
        "run": ["a", "a", "b", "b"],
        "topic": [1, 2, 1, 2],
        "measure": ["AP"] * 4,
        "score": [0.1, 0.3, 0.2, 0.5],
    }
    wide = frame({"run": ["a", "b"], "1": [0.1, 0.2], "2": [0.3, 0.5]})
    for form in (matrix, [matrix], tmp_path / "scores.csv", nested, {"AP": nested}, frame(tidy), wide):
        [found] = scores_of(form)
        assert found.to_dict() == nested
    with pytest.raises(DataError, match="run 'a' has no score for topic '3'"):
        scores_of({"a": {"1": 0.1}, "b": {"1": 0.2, "3": 1}})
    with pytest.raises(DataError, match="two scores of AP on topic '1'"):
        scores_of(frame({key: values * 2 for key, values in tidy.items()}))


def test_scores_of_one_measure_are_compared_and_those_of_several_are_not() -> None:
    scores = assay.evaluate({"old": OLD, "new": NEW}, RELEVANT, "AP nDCG@10")
    assert assay.compare(scores["AP"].to_dict(), baseline="old").record() != {}
    with pytest.raises(
        UsageError, match=r"needs one measure, and there are 2 \(AP, nDCG@10\); choose one, e.g. scores"
    ):
        assay.compare(scores)


def test_measures_of_ir_measures_and_its_records() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    scored = [ir_measures.ScoredDoc(t, d, s) for t, docs in BM25.items() for d, s in docs.items()]
    judged = [ir_measures.Qrel(t, d, g) for t, docs in JUDGED.items() for d, g in docs.items()]
    strict = assay.evaluate({"bm25": scored}, judged, [ir_measures.nDCG @ 10, ir_measures.AP(rel=2)])
    assert strict.measures == ("nDCG@10", "AP(rel=2)")
    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.AP(rel=2)], judged, scored)
    assert {m.measure: m.averages()[0] for m in strict} == pytest.approx({str(m): mean for m, mean in theirs.items()})
    wanted = [ir_measures.AP, ir_measures.nDCG @ 10]
    scores = assay.evaluate({"bm25": scored}, judged, wanted)
    assert scores.to_dict() == assay.evaluate({"bm25": BM25}, JUDGED, "AP nDCG@10").to_dict()
    assert assay.evaluate(iter(scored), iter(judged), ir_measures.RR).runs == ("run",)


WRONG_RUNS: list[tuple[Any, str]] = [
    (3, "int 3 where runs are expected; give runs as paths, {run"),
    (None, "None where runs are expected"),
    ((i for i in range(3)), "int 0 where runs are expected"),
    ([1.5], "float 1.5 where runs are expected"),
    ([None], "None where runs are expected"),
    ("nowhere.run", "nowhere.run: No such file or folder; give runs as"),
    (["new", "old"], "new: No such file or folder"),
    ({}, "an empty dict where runs are expected"),
    (Qrels.from_dict(JUDGED), "Qrels.* where runs are expected"),
    ([Qrels.from_dict(JUDGED)], "Qrels.* where runs are expected"),
    (ScoreMatrix.of([[1.0]]), "ScoreMatrix.* where runs are expected"),
    ({"a": 3}, "int 3 where run 'a' is expected"),
    ({"a": {"q1": 0.5}}, "int|run"),
    ({"a": BM25, "b": 3}, "int 3 where run 'b' is expected"),
    ({"a": BM25, "b": {"q1": 3}}, r"run 'b': topic 'q1' holds int 3; a run is \{topic"),
    ({"a": {"q1": {"d1": float("nan")}}}, "a: a score is not a number"),
    ({"a": {"q1": {"d1": "high"}}}, "a: a score is 'high' .str., not a number"),
    ({1.0: {"d1": 1.0}}, "the id of a topic is 1.0 .float.; give a string or a whole number"),
    ({"q1": {1.0: 1.0}}, "the id of a doc is 1.0 .float.; give a string or a whole number"),
    (b"a.run", "bytes b'a.run' where runs are expected"),
    (np.zeros((2, 2)), "where runs are expected"),
    ([("bm25", BM25)], "where runs are expected"),
    ({"topic": ["1"], "doc": ["a", "b"], "score": [1]}, "columns differ in length"),
]


@pytest.mark.parametrize(("wrong", "sentence"), WRONG_RUNS, ids=range(len(WRONG_RUNS)))
def test_each_wrong_thing_as_runs_is_one_sentence(wrong: Any, sentence: str) -> None:
    with pytest.raises(AssayError, match=sentence) as caught:
        assay.evaluate(wrong, JUDGED, "AP")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 260


WRONG_QRELS: list[tuple[Any, str]] = [
    (3, "int 3 where judgments are expected; give judgments as a path, {topic"),
    (None, "None where judgments are expected"),
    ([1], "list .1. where judgments are expected"),
    ((i for i in range(3)), "list .0, 1, 2. where judgments are expected"),
    ({}, "an empty dict where judgments are expected"),
    ("nowhere", "nowhere: No such file or folder; give judgments"),
    (".", "'.' is a folder, and one file is expected"),
    ({"bm25": BM25}, "topic 'bm25' of the judgments holds dict; give judgments"),
    ({"q1": ["d1"]}, "topic 'q1' of the judgments holds list"),
    ({"q1": 1}, "topic 'q1' of the judgments holds int 1"),
    ({"q1": {"d1": None}}, "a grade is None"),
    (Run.from_dict("bm25", BM25), "Run.* where judgments are expected"),
    (assay.measure, "where judgments are expected"),
]


@pytest.mark.parametrize(("wrong", "sentence"), WRONG_QRELS, ids=range(len(WRONG_QRELS)))
def test_each_wrong_thing_as_judgments_is_one_sentence(wrong: Any, sentence: str) -> None:
    with pytest.raises(AssayError, match=sentence) as caught:
        assay.evaluate({"bm25": BM25}, wrong, "AP")
    assert "\n" not in str(caught.value)


def test_a_measure_is_no_judgment_and_a_number_no_measure() -> None:
    from assay.measures import parse

    with pytest.raises(UsageError, match=r"Measure.* where judgments are expected"):
        assay.evaluate({"bm25": BM25}, parse("AP"), "AP")
    for wrong in (3, None, [3]):
        with pytest.raises(UsageError, match="where measures are expected; give names such as 'nDCG@10'"):
            assay.evaluate({"bm25": BM25}, JUDGED, wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no measure"):
        assay.evaluate({"bm25": BM25}, JUDGED, " ")


@pytest.mark.parametrize("wrong", [3, None, {}, [], [1], {"a": 1}, "nowhere.csv", {"a": {"1": None}}])
def test_wrong_things_as_scores_and_labels_are_one_sentence(wrong: Any) -> None:
    with pytest.raises(AssayError):
        scores_of(wrong)
    if wrong:
        with pytest.raises(AssayError):
            labels_of(wrong)


def test_wrong_cells_of_frames_are_one_sentence(frame: Callable[[dict[str, Any]], Any]) -> None:
    good = {"qid": ["1", "2"], "docno": ["a", "b"], "score": [1.0, 2.0]}
    with pytest.raises(DataError, match=r"column 'score' is empty or not a number in row 2 .*; every row needs one"):
        runs_of(frame({**good, "score": [1.0, float("nan")]}))
    with pytest.raises(
        DataError, match=r"column 'qid' holds decimal numbers \(1.0\).*convert the column to int or str"
    ):
        runs_of(frame({**good, "qid": [1.0, 2.0]}))
    with pytest.raises(DataError, match="column 'docno' is empty in row 2; every row needs a doc"):
        runs_of(frame({**good, "docno": ["a", None]}))
    with pytest.raises(DataError, match=r"a score is 'x' .str., not a number"):
        runs_of(frame({**good, "score": ["x", "y"]}))
    with pytest.raises(DataError, match="no column for the doc of runs"):
        runs_of(frame({"qid": ["1"], "score": [1.0]}))
    with pytest.raises(DataError, match="no column for the score of runs"):
        runs_of(frame({"qid": ["1"], "doc": ["a"]}))
    with pytest.raises(DataError, match="there is no row in it"):
        runs_of(frame({"qid": [], "doc": [], "score": []}))
    with pytest.raises(DataError, match="doc 'a' is twice in topic '1'"):
        runs_of(frame({"qid": ["1", "1"], "doc": ["a", "a"], "score": [1.0, 2.0]}))
    with pytest.raises(DataError, match="looks like a run"):
        qrels_of(frame({**good, "rank": [1, 1]}))
    with pytest.raises(DataError, match="no column for the worker of labels"):
        labels_of(frame({"qid": ["1"], "doc": ["a"], "label": [1]}))


def test_a_path_that_leads_nowhere_is_an_error_of_ours_and_of_the_system(tmp_path: Path) -> None:
    for kind in (DataError, FileNotFoundError):
        with pytest.raises(kind, match="none: No such file or folder"):
            assay.evaluate(tmp_path / "none", JUDGED, "AP")
        with pytest.raises(kind, match="none: No such file or folder"):
            assay.check({"a": BM25}, tmp_path / "none")


def test_a_topic_given_as_number_and_as_text_is_refused() -> None:
    with pytest.raises(DataError, match="topic '1' is there twice"):
        runs_of({1: {"a": 1.0}, "1": {"a": 1.0}})


def test_every_entry_takes_what_people_have(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    runs, ours = {"old": OLD, "new": NEW}, [Run.from_dict("old", OLD), Run.from_dict("new", NEW)]
    mixed = {"old": OLD, "new": frame(rows(NEW))}
    qrels, own_qrels = frame(rows(RELEVANT)), Qrels.from_dict(RELEVANT)
    assert assay.pool(mixed, depth=5).docs.tolist() == assay.pool(ours, depth=5).docs.tolist()
    assert assay.Judging(mixed, depth=5).next(3) == assay.Judging(ours, depth=5).next(3)
    assert (
        assay.predict(mixed, "aslam-savell", qrels=qrels).record()
        == assay.predict(ours, "aslam-savell", qrels=own_qrels).record()
    )
    assert assay.check(mixed, qrels).record() == assay.check(runs, RELEVANT).record()
    same = assay.similarity({"old": frame(rows(OLD))}, {"new": NEW})
    assert same.record() == assay.similarity(*ours).record()
    assert assay.similarity(frame(rows(OLD)), NEW).record()["rows"][0]["runs"] == "a – b"
    scores = assay.evaluate(mixed, qrels, "AP")
    tidy = frame({"run": ["old"] * 40 + ["new"] * 40, "topic": list(OLD) * 2,
                  "score": [scores["AP"].to_dict()[run][topic] for run in runs for topic in OLD]})  # fmt: skip
    for form in (scores, scores["AP"].to_dict(), tidy):
        assert assay.audit(form).n == 40
        assert assay.standardize(form, form, form="z").to_dict() == assay.standardize(scores["AP"], form="z").to_dict()
        assert assay.compare(form, baseline="old").record()["verdict"].startswith("new beats old")
    assert assay.similarity(tidy, scores, resamples=0).record() is not None


def test_a_report_takes_what_people_have(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    path = tmp_path / "report.html"
    runs = {"old": OLD, "new": frame(rows(NEW))}
    text = assay.report(runs, frame(rows(RELEVANT)), path=path, measures="AP", sections=["summary"]).read_text()
    assert "new beats old" in text
    scores = assay.evaluate(runs, RELEVANT, "AP")["AP"].to_dict()
    assert "new beats old" in assay.report(scores, path=path, sections=["summary"]).read_text()
    with pytest.raises(UsageError, match="int 3 where runs are expected"):
        assay.report(3, RELEVANT, path=path)


def test_labels_are_aggregated_and_compared_whatever_holds_them(frame: Callable[[dict[str, Any]], Any]) -> None:
    columns = {"topic": [1] * 6, "doc": list("aaabbb"), "worker": list("vwx") * 2, "label": [1, 1, 0, 0, 0, 1]}
    labels = labels_of(frame(columns))
    nested = {1: {"a": {"v": 1, "w": 1, "x": 0}, "b": {"v": 0, "w": 0, "x": 1}}}
    for form in (frame(columns), columns, nested):
        assert assay.aggregate(form).qrels().to_dict() == {"1": {"a": 1, "b": 0}}
        assert assay.agreement(form).record() == assay.agreement(labels).record()
    first = {"1": {"a": 1, "b": 0, "c": 1}}
    second = frame({"topic": [1, 1, 1], "doc": list("abc"), "grade": [1, 1, 1]})
    by_qrels = [Qrels.from_dict(first, name="1st"), Qrels.from_dict({"1": {"a": 1, "b": 1, "c": 1}}, name="2nd")]
    assert assay.agreement([first, second]).table().rows == assay.agreement(by_qrels).table().rows


@pytest.mark.parametrize("wrong", [3, None, 2.5, object()])
def test_every_entry_refuses_wrong_things_with_a_sentence(wrong: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: assay.compare(wrong), lambda: assay.audit(wrong), lambda: assay.standardize(wrong),
        lambda: assay.pool(wrong), lambda: assay.Judging(wrong), lambda: assay.predict(wrong),
        lambda: assay.check(wrong),
        lambda: assay.similarity(wrong, wrong), lambda: assay.aggregate(wrong), lambda: assay.agreement(wrong),
        lambda: assay.check({"a": OLD}, wrong or 3), lambda: Aligned.of(wrong, RELEVANT),
        lambda: Aligned.of({"a": OLD}, wrong),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(UsageError, match=r"; give") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_what_goes_out_comes_back(frame: Callable[[dict[str, Any]], Any]) -> None:
    run, qrels = Run.from_dict("bm25", BM25), Qrels.from_dict({"q1": {"d1": 0.5, "d2": 2.0}})
    labels = Labels.from_rows([("1", "a", "v", 1.0), ("1", "b", "w", 0.5)])
    scores = assay.evaluate({"bm25": BM25, "dense": DENSE}, JUDGED, "AP nDCG@10")
    for to in ("to_dict", "to_pandas", "to_polars"):
        if to == "to_pandas":
            pytest.importorskip("pandas")
        [again] = runs_of({"bm25": run.to_dict()} if to == "to_dict" else getattr(run, to)())
        assert isinstance(again, Run)
        assert (again.name, again.to_dict()) == ("bm25", run.to_dict())
        assert qrels_of(getattr(qrels, to)()).to_dict() == qrels.to_dict()
        assert labels_of(getattr(labels, to)()).to_dict() == labels.to_dict()
        assert assay.Scores(tuple(scores_of(getattr(scores, to)()))).to_dict() == scores.to_dict()
        matrix = scores["AP"]
        [back] = scores_of(getattr(matrix, to)())
        assert (back.runs, back.topics, back.values.tolist()) == (matrix.runs, matrix.topics, matrix.values.tolist())
    assert scores.to_polars().columns == ["run", "topic", "measure", "score", "signature"]
    assert scores_of(scores.to_polars())[0].signature == scores[0].signature


def test_a_matrix_of_a_frame_keeps_its_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0.1, 0.2], [0.3, 0.4]], index=["bm25", "dense"], columns=[301, 302])
    matrix = ScoreMatrix.of(frame, measure="AP")
    assert (matrix.runs, matrix.topics, matrix.values.tolist()) == (
        ("bm25", "dense"),
        ("301", "302"),
        [[0.1, 0.2], [0.3, 0.4]],
    )
    numbered = ScoreMatrix.of(pandas.DataFrame([[0.1, 0.2]]))
    assert (numbered.runs, numbered.topics) == (("run1",), ("0", "1"))
    assert ScoreMatrix.of(frame, runs=["x", "y"]).runs == ("x", "y")
    with pytest.raises(DataError, match="column '301' is empty or not a number in row 1"):
        ScoreMatrix.of(frame.mask(frame < 0.2), measure="AP")
    with pytest.raises(DataError, match="column '302' holds 'x', not a number"):
        ScoreMatrix.of(frame.astype({302: object}).replace({302: {0.2: "x"}}))


def test_tables_go_out_by_their_keys() -> None:
    table = assay.compare(assay.evaluate({"old": OLD, "new": NEW}, RELEVANT, "AP"), baseline="old").table()
    assert list(table.to_dict()) == list(table.keys)
    assert table.to_polars().columns == list(table.keys)
    assert list(pytest.importorskip("pandas").DataFrame(table.to_dict()).columns) == list(table.to_pandas().columns)


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(assay.MissingExtra, match="pandas is not installed; install it with: pip install pandas"):
        Run.from_dict("bm25", BM25).to_pandas()


def test_scoring_files_and_dicts_imports_neither_pandas_nor_polars() -> None:
    code = f"import sys, assay; assay.evaluate({{'a': {BM25!r}}}, {JUDGED!r}, 'AP'); "
    code += "print([m for m in ('pandas', 'polars', 'pyarrow', 'assay.io.frame_tables') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_columns_are_named_once_for_all_tables(tmp_path: Path, frame: Callable[[dict[str, Any]], Any]) -> None:
    run = {"question": ["q1", "q1"], "passage": ["d1", "d2"], "points": [2.0, 1.0]}
    judged = {"question": ["q1", "q1"], "passage": ["d1", "d2"], "stars": [0, 1]}
    path = tmp_path / "mine.csv"
    path.write_text("question,passage,points\nq1,d1,2\nq1,d2,1\n")
    names = {"topic": "question", "doc": "passage", "score": "points", "grade": "stars"}
    for runs in ({"mine": frame(run)}, {"mine": path}, path, [path]):
        scores = assay.evaluate(runs, frame(judged), "RR", columns=names)
        assert scores["RR"].values.tolist() == [[0.5]]
        aligned = Aligned.of(runs, frame(judged), columns=names)
        assert aligned.scores("RR")[0].values.tolist() == [[0.5]]
    of_judgments = {"topic": "question", "doc": "passage", "grade": "stars"}
    assert assay.evaluate({"r": {"q1": ["d2"]}}, frame(judged), "RR", columns=of_judgments)[0].values.tolist() == [
        [1.0]
    ]
    with pytest.raises(UsageError, match="columns probability=p has no effect: the tables have question"):
        assay.evaluate(path, frame(judged), "RR", columns={**names, "probability": "p"})
    with pytest.raises(UsageError, match="columns: there is no column 'topik'; did you mean topic"):
        assay.evaluate(path, frame(judged), "RR", columns={"topik": "question"})
    with pytest.raises(UsageError, match="columns topic=question has no effect: none of the files is a table"):
        assay.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1}}, "RR", columns={"topic": "question"})


def test_every_maker_takes_names_of_columns(tmp_path: Path) -> None:
    runs = []
    for number, order in enumerate([("d1", "d2", "d3"), ("d2", "d1", "d3"), ("d3", "d1", "d2")]):
        rows = [f"{topic},{doc},{rank}" for topic in ("q1", "q2", "q3") for rank, doc in enumerate(order, 1)]
        runs.append(tmp_path / f"run{number}.csv")
        runs[-1].write_text("question,passage,rank\n" + "\n".join(rows) + "\n")
    lists = {"topic": "question", "doc": "passage"}
    assert len(assay.pool(runs, columns=lists).docs) == 9
    assert assay.Judging(runs, columns=lists).next() == [("q1", "d1")]
    assert len(assay.predict(runs, "soboroff", columns=lists).table().rows) == 3
    assert assay.check(runs, columns=lists).errors == 0
    assert assay.similarity(runs[0], runs[1], columns=lists) is not None
    scores = tmp_path / "s.csv"
    scores.write_text("model,query,score\n" + "".join(f"{m},{q},{q / 10}\n" for m in "abc" for q in (1, 2, 3)))
    assert assay.compare(scores, columns={"run": "model"}).verdict
    assert assay.audit(scores, columns={"run": "model"}).n == 3
    assert assay.standardize(scores, columns={"run": "model"}).runs == ("a", "b", "c")
    labels = tmp_path / "l.csv"
    labels.write_text("query,passage,person,mark\n1,a,anna,1\n1,a,ben,0\n1,b,anna,1\n1,b,ben,1\n")
    names = {"doc": "passage", "worker": "person", "label": "mark"}
    assert assay.aggregate(labels, columns=names).qrels().to_dict() == {"1": {"a": 0, "b": 1}}
    assert assay.agreement(labels, columns=names).table() is not None
    written = assay.report(
        runs, {"q1": {"d1": 1}, "q2": {"d1": 1}}, path=tmp_path / "r.html", sections=["summary"], columns=lists
    )
    assert written.exists()
    for make in (assay.compare, assay.audit):
        with pytest.raises(UsageError, match="no column 'nothing' for the run; it has model, query, score"):
            make(scores, columns={"run": "nothing"})
        with pytest.raises(UsageError, match="columns run=nothing has no effect"):
            make({"a": {"1": 0.5}, "b": {"1": 0.25}}, columns={"run": "nothing"})
    with pytest.raises(UsageError, match="columns worker=nobody has no effect"):
        assay.aggregate({"1": {"a": {"anna": 1}}}, columns={"worker": "nobody"})


def test_files_of_several_runs_are_several_runs(tmp_path: Path) -> None:
    several = {"a": BM25, "b": DENSE}
    (tmp_path / "runs.json").write_text(json.dumps(several))
    rows = [(run, t, d, s) for run, of_run in several.items() for t, docs in of_run.items() for d, s in docs.items()]
    (tmp_path / "runs.csv").write_text("run,topic,doc,score\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    wanted = assay.evaluate(several, JUDGED, "AP")[0]
    for source in (tmp_path / "runs.json", tmp_path / "runs.csv", [tmp_path / "runs.csv"]):
        found = assay.evaluate(source, JUDGED, "AP", jobs=2)[0]
        assert (found.runs, found.values.tolist()) == (("a", "b"), wanted.values.tolist())
    both = assay.evaluate(tmp_path, JUDGED, "AP")[0]
    assert both.runs == ("runs.csv:a", "runs.csv:b", "runs.json:a", "runs.json:b")


def test_files_of_one_tag_are_called_as_their_files_whatever_their_format(tmp_path: Path) -> None:
    run = Run.from_dict("bm25", BM25)
    for name in ("a.parquet", "b.run", "c.csv"):
        write(tmp_path / name, run)
    for names in (("a.parquet", "b.run"), ("b.run", "c.csv"), ("a.parquet", "b.run", "c.csv")):
        paths = [tmp_path / name for name in names]
        assert assay.evaluate(paths, JUDGED, "AP", jobs=2)[0].runs == names
        assert Aligned.of(paths, JUDGED).names == names
        assert tuple(run.name for run in run_list(paths)) == names
        assert tuple(run.name for run in read_run_files(paths)) == names
    (tmp_path / "other").mkdir()
    write(tmp_path / "other" / "a.parquet", run)
    same = [tmp_path / "a.parquet", tmp_path / "other" / "a.parquet"]
    assert assay.evaluate(same, JUDGED, "AP")[0].runs == tuple(map(str, same))


def test_a_column_name_of_a_file_names_runs_or_docs(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("name,qid,docno,score\nbm25,q1,d1,2\nbm25,q1,d2,1\ndense,q1,d1,1\ndense,q1,d2,2\n")
    assert [run.name for run in run_list(path)] == ["bm25", "dense"]
    path.write_text("name,qid,docno,score\nAnna,q1,d1,2\nBen,q1,d2,1\n")
    assert [(run.name, len(run)) for run in run_list(path)] == [("r", 2)]
    path.write_text('name,qid,docno,score\n"Anna, B",q1,d1,2\nBen,q1,"d2, x",1\n')
    assert [(run.name, len(run)) for run in run_list(path)] == [("r", 2)]
    assert [run.name for run in run_list(path, columns={"run": "name"})] == ["Anna, B", "Ben"]


def test_a_report_takes_paths_of_scores(tmp_path: Path) -> None:
    rows = [(run, topic, (i + topic) % 7 / 7) for i, run in enumerate("abc") for topic in range(1, 9)]
    text = "".join(f"{run},{topic},AP,{score}\n" for run, topic, score in rows)
    for name, part in (("all.csv", text), ("a.csv", text[: text.index("b,")]), ("b.csv", text[text.index("b,") :])):
        (tmp_path / name).write_text("run,topic,measure,score\n" + part)
    page = tmp_path / "r.html"
    whole = assay.report(tmp_path / "all.csv", path=page, sections=["leaderboard"]).read_text()
    assert "AP" in whole
    parts = [tmp_path / "a.csv", str(tmp_path / "b.csv")]
    assert assay.report(parts, path=page, sections=["leaderboard"]).read_text() == whole
    write(tmp_path / "x.run", Run.from_dict("x", BM25))
    with pytest.raises(DataError, match=r"x.run is a run; give scores here"):
        assay.report(tmp_path / "x.run", path=tmp_path / "none.html")
    with pytest.raises(DataError, match=r"all.csv is scores; give a run here"):
        assay.report(tmp_path / "all.csv", JUDGED, path=tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()
