"""From one format to another and back: the law is that nothing changes that the format can hold, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.data import Labels, Qrels, Run, ScoreMatrix, Topics
from assay.io import (
    convert,
    read_docs,
    read_labels,
    read_qrels,
    read_run,
    read_runs,
    read_scores,
    read_topics,
    write,
)
from assay.io.writers import FORMATS, format_of
from tests.conftest import real_data

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6).filter(
    lambda name: not name.startswith("#") and '"' not in name and name != "all"
)
"""Names of topics and docs; trec_eval calls all topics "all", and three words with it are taken for what it prints."""
SCORES = st.floats(allow_nan=False, allow_infinity=False)
ENDINGS = {"trec": "txt", "msmarco": "tsv", "ntcir": "rel", "beir": "tsv", "ranx": "json", "lines": "txt"}
ENDINGS |= {"tot": "eval", "ir_measures": "eval", "trec_eval": "txt"}


def path_of(folder: Path, format: str) -> Path:
    return folder / f"made.{ENDINGS.get(format, format)}"


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(NAMES, st.dictionaries(NAMES, SCORES, min_size=1, max_size=4), min_size=1, max_size=3))
@example({"[[": {"0": 0.5}})
def test_a_run_goes_through_every_format(
    tmp_path_factory: pytest.TempPathFactory, nested: dict[str, dict[str, float]]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    run = Run.from_dict("made", nested)
    rankings = {topic: run.ranking(topic) for topic in run.topics}
    source = folder / "source.run"
    write(source, run)
    for format in FORMATS["run"]:
        target = path_of(folder, format)
        done = convert(source, target, to=format, kind="run")
        back = read_run(target)
        assert (done.kind, done.format, done.rows) == ("run", format, len(run))
        assert {topic: back.ranking(topic) for topic in back.topics} == rankings, format
        if format != "msmarco":
            assert back.to_dict() == nested, format
        convert(target, folder / "again.run", kind="run")
        assert {t: read_run(folder / "again.run").ranking(t) for t in run.topics} == rankings


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=3)
)
@example({"[[": {"0": 0}})
@example({"<TOP>": {"0": 0}})
@example({"{[1]": {"{}": 1, "[": 2}, "{}": {"a": 0}})
def test_judgments_go_through_every_format(
    tmp_path_factory: pytest.TempPathFactory, nested: dict[str, dict[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("qrels")
    source = folder / "source.txt"
    write(source, Qrels.from_dict(nested))
    for format in FORMATS["qrels"]:
        target = path_of(folder, format)
        convert(source, target, to=format, kind="qrels")
        assert read_qrels(target).to_dict() == nested, format
        convert(target, folder / "again.txt", kind="qrels")
        assert read_qrels(folder / "again.txt").to_dict() == nested


@settings(max_examples=15, deadline=None)
@given(st.lists(SCORES.filter(lambda x: abs(x) < 1e60), min_size=6, max_size=6))
def test_scores_go_through_every_format(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    folder = tmp_path_factory.mktemp("scores")
    for runs in (["a"], ["a", "b"]):
        matrix = ScoreMatrix.of(
            np.array(values).reshape(2, 3)[: len(runs)], runs=runs, topics=["1", "2", "3"], measure="AP"
        )
        source = folder / "source.csv"
        write(source, matrix)
        for format in FORMATS["scores"]:
            target = folder / f"a.{ENDINGS.get(format, format)}"
            if format == "trec_eval" and len(runs) > 1:
                with pytest.raises(DataError, match="there are 2 runs, and the format of trec_eval holds one"):
                    convert(source, target, to=format)
                continue
            convert(source, target, to=format, kind="scores")
            [back] = read_scores(target)
            assert (back.measure, back.runs, back.topics) == ("AP", tuple(runs), ("1", "2", "3")), format
            assert back.values.tolist() == matrix.values.tolist(), format


def test_labels_go_through_every_format(tmp_path: Path) -> None:
    rows = [("1", f"d{i}", worker, 0.5 * (i % 3)) for i in range(200) for worker in ("anna", "ben")]
    labels = Labels.from_rows(rows, seconds=np.arange(400) / 7)
    write(tmp_path / "labels.csv", labels)
    for format in FORMATS["labels"]:
        target = tmp_path / f"made.{format}"
        convert(tmp_path / "labels.csv", target)
        back = read_labels(target).to_dict()
        assert {name: back[name] for name in labels.to_dict()} == labels.to_dict(), format


def test_topics_and_docs_go_through_every_format(tmp_path: Path) -> None:
    for texts in ({"title": "cats and dogs"}, {"title": "cats", "narrative": "A doc is relevant."}):
        topics = Topics(("401", "402"), (texts, {**texts, "title": "the weather"}))
        write(tmp_path / "topics.jsonl", topics)
        for format in FORMATS["topics"]:
            target = path_of(tmp_path, format)
            if format in ("lines", "beir") and len(texts) > 1:
                with pytest.raises(
                    DataError, match=r"topic '401' has 2 texts \(title, narrative\), and this format holds"
                ):
                    convert(tmp_path / "topics.jsonl", target, to=format, kind="topics")
                continue
            convert(tmp_path / "topics.jsonl", target, to=format, kind="topics")
            back = read_topics(target)
            assert back.ids == topics.ids
            assert [list(one.values()) for one in back.fields] == [list(one.values()) for one in topics.fields], format
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"_id": "d1", "title": "Cats", "text": "They, sleep."}\n{"_id": "d2", "text": "Dogs bark."}\n')
    for format in FORMATS["docs"]:
        if format == "lines":
            with pytest.raises(DataError, match="doc 'd1' cannot be a line"):
                convert(corpus, tmp_path / "docs.tsv", to=format, kind="docs")
            continue
        target = tmp_path / f"docs.{'jsonl' if format == 'beir' else format}"
        convert(corpus, target, to=format, kind="docs")
        assert read_docs(target) == read_docs(corpus), format


def test_several_runs_stay_several(tmp_path: Path) -> None:
    source = tmp_path / "runs.csv"
    source.write_text("run,topic,doc,score\na,1,x,2\na,1,y,1\nb,1,x,1\nb,1,y,2.5\n")
    for ending in ("json", "jsonl", "parquet", "tsv", "arrow"):
        assert convert(source, tmp_path / f"runs.{ending}").rows == 4
        back = {run.name: run.to_dict() for run in read_runs(tmp_path / f"runs.{ending}")}
        assert back == {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"x": 1.0, "y": 2.5}}}
    for format in ("trec", "msmarco", "ranx"):
        with pytest.raises(DataError, match=f"there are 2 runs in .*, and {format} holds one; write a table"):
            convert(source, tmp_path / "x.out", to=format)
    assert not (tmp_path / "x.out").exists()


def test_what_a_format_cannot_hold_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "q.txt"
    for text, formats, message in [
        ("1 0 a 1 0.5\n", ("ntcir", "beir", "msmarco", "ranx", "json"), "the judgments are sampled"),
        ("1 0 a 0.5\n", ("ntcir", "beir", "msmarco", "ranx"), "a grade is 0.5, and .* has whole grades"),
        ("1 0 a -1\n", ("ntcir",), "a grade is -1, and NTCIR's begin with L0"),
    ]:
        source.write_text(text)
        for format in formats:
            with pytest.raises(DataError, match=message):
                convert(source, tmp_path / "out.json", to=format)
    (tmp_path / "r.csv").write_text("topic,doc,score\n1,a b,2\n")
    for format in ("trec", "msmarco"):
        with pytest.raises(DataError, match="doc 'a b': TREC files have no white space in ids"):
            convert(tmp_path / "r.csv", tmp_path / "out.json", to=format)
    (tmp_path / "r.run").write_text("1 Q0 a 1 inf x\n")
    with pytest.raises(DataError, match="JSON has no infinite numbers"):
        convert(tmp_path / "r.run", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    (tmp_path / "r.run").write_text("1 Q0 a 1 2.5 bm25\n")
    done = convert(tmp_path / "r.run", tmp_path / "r.tsv", to="msmarco")
    assert done.remarks[0] == "msmarco holds ranks: the scores are left out"
    assert "'bm25' is left out" in done.remarks[1]
    assert done.table().notes == done.remarks
    assert convert(tmp_path / "r.run", tmp_path / "r.csv").remarks == ()


def test_what_it_is_and_where_it_goes_must_be_known(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"1": {"a": 2}}')
    with pytest.raises(UsageError, match=r"this can be a run or judgments or scores; say which with kind= \(--kind\)"):
        convert(tmp_path / "x.json", tmp_path / "y.csv")
    with pytest.raises(UsageError, match="no kind 'runs'; did you mean run"):
        convert(tmp_path / "x.json", tmp_path / "y.csv", kind="runs")
    with pytest.raises(UsageError, match="runs are not written as 'beir'"):
        convert(tmp_path / "x.json", tmp_path / "y.csv", kind="run", to="beir")
    with pytest.raises(UsageError, match="grades of words go with labels"):
        convert(tmp_path / "x.json", tmp_path / "y.csv", kind="run", levels={"yes": 1})
    with pytest.raises(UsageError, match="columns topic=q has no effect"):
        convert(tmp_path / "x.json", tmp_path / "y.csv", kind="run", columns={"topic": "q"})
    (tmp_path / "x.txt").write_text("what is this\n")
    with pytest.raises(UsageError, match="it cannot be seen what this is"):
        convert(tmp_path / "x.txt", tmp_path / "y.csv")
    with pytest.raises(UsageError, match="what is on standard input must be said"):
        convert("-", tmp_path / "y.csv")
    assert format_of("x.feather", "run") == "arrow"
    assert not (tmp_path / "y.csv").exists()


def test_ntcir_judgments_as_released_become_trec_and_back(tmp_path: Path) -> None:
    source = real_data("ntcir13-www-english/wwwE.qrels.xz")
    assert convert(source, tmp_path / "qrels.txt").rows == 22912
    convert(tmp_path / "qrels.txt", tmp_path / "wwwE.qrels", to="ntcir")
    assert read_qrels(tmp_path / "wwwE.qrels").to_dict() == read_qrels(source).to_dict()
