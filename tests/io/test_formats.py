"""Files as they are found: each format is read by its content, whatever it is called, and says what is wrong."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import polars
import pytest
import zstandard

from assay.core.errors import AssayError, DataError, UsageError
from assay.io import read_docs, read_labels, read_qrels, read_run, read_runs, read_scores, read_topics, recognise
from tests.conftest import real_data

RUN = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\nq2 Q0 d3 1 0.5 bm25\n"
ORDER = {"q1": ["d1", "d2"], "q2": ["d3"]}
SCORES = {"q1": {"d1": 2.5, "d2": 1.5}, "q2": {"d3": 0.5}}
JUDGED = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
ROWS = [("q1", "d1", 2.5), ("q1", "d2", 1.5), ("q2", "d3", 0.5)]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def ranking(path: Path) -> dict[str, list[str]]:
    run = read_run(path)
    return {topic: run.ranking(topic) for topic in run.topics}


def columns(names: tuple[str, ...], format: str, folder: Path) -> Path:
    """The rows of the run as Parquet or Arrow, with these names of columns."""
    frame = polars.DataFrame({name: [row[i] for row in ROWS] for i, name in enumerate(names)})
    path = folder / f"run.{format}"
    frame.write_parquet(path) if format == "parquet" else frame.write_ipc(path)
    return path


@pytest.mark.parametrize("name", ["x.run", "x.csv", "x.tsv", "x.json", "x.jsonl", "x.parquet", "x.txt", "x", "x.gz"])
def test_a_trec_file_is_read_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    assert read_run(written(tmp_path, name, RUN)).to_dict() == SCORES
    assert read_run(written(tmp_path, name, RUN.replace(" ", "\t"))).to_dict() == SCORES
    qrels = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
    assert read_qrels(written(tmp_path, name, qrels)).to_dict() == JUDGED
    assert read_qrels(written(tmp_path, name, qrels.replace(" ", "\t"))).to_dict() == JUDGED


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.run", "x"])
def test_a_bad_trec_file_is_named_by_its_line_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    many = "".join(f"q1 Q0 e{i} {i} {100 - i} bm25\n" for i in range(3, 80))
    path = written(tmp_path, name, RUN.replace("q2 Q0 d3 1 0.5 bm25\n", many) + "q2 Q0 d3 1 NA bm25\n")
    with pytest.raises(DataError, match=rf"{name}:80: score is not a number: 'NA'"):
        read_run(path)


@pytest.mark.parametrize("name", ["x.run", "x.parquet", "x"])
def test_a_table_is_read_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    table = "topic,doc,score\n" + "".join(f"{t},{d},{s}\n" for t, d, s in ROWS)
    assert read_run(written(tmp_path, name, table)).to_dict() == SCORES
    assert read_run(written(tmp_path, name, table.replace(",", "\t"))).to_dict() == SCORES
    lines = "".join(json.dumps({"topic": t, "doc": d, "score": s}) + "\n" for t, d, s in ROWS)
    assert read_run(written(tmp_path, name, lines)).to_dict() == SCORES


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.ZstdCompressor().compress])
def test_compression_is_seen_without_its_ending(pack: Any, tmp_path: Path) -> None:
    assert read_run(written(tmp_path, "x.run", pack(RUN.encode()))).to_dict() == SCORES
    assert read_run(written(tmp_path, "x.csv", pack(RUN.encode()))).to_dict() == SCORES


def test_beir(tmp_path: Path) -> None:
    path = written(tmp_path, "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n")
    assert read_qrels(path).to_dict() == JUDGED
    queries = written(tmp_path, "queries.jsonl", '{"_id": "q1", "text": "cats, dogs", "metadata": {}}\n')
    assert read_topics(queries).to_dict() == {"q1": {"title": "cats, dogs", "metadata": "{}"}}
    corpus = '{"_id": "d1", "title": "Cats", "text": "They sleep."}\n{"_id": "d2", "title": "", "text": "Dogs bark."}\n'
    assert read_docs(written(tmp_path, "corpus.jsonl", corpus)) == {
        "d1": {"title": "Cats", "text": "They sleep."},
        "d2": {"text": "Dogs bark."},
    }


def test_texts_of_docs_as_lines_and_tables(tmp_path: Path) -> None:
    assert read_docs(written(tmp_path, "texts.tsv", "d1\tcats sleep\nd2\tdogs bark, too\n")) == {
        "d1": {"text": "cats sleep"},
        "d2": {"text": "dogs bark, too"},
    }
    assert read_docs(written(tmp_path, "t.csv", "docno,text\nd1,cats\n")) == {"d1": {"text": "cats"}}
    odd = written(tmp_path, "odd.csv", "key,text\nd1,cats\n")
    assert read_docs(odd, columns={"doc": "key"}) == {"d1": {"text": "cats"}}
    for text, message in [("d1\ta b\nd1\tc d\n", ":2: doc 'd1' is there twice"), ("", "there is no doc")]:
        with pytest.raises(DataError, match=message):
            read_docs(written(tmp_path, "bad.tsv", text))


def test_msmarco(tmp_path: Path) -> None:
    path = written(tmp_path, "run.dev.small.tsv", "q1\td1\t1\nq2\td3\t1\nq1\td2\t2\n")
    run = read_run(path)
    assert run.name == "run.dev.small"
    assert run.to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}}  # n, …, 1
    assert ranking(path) == ORDER
    assert read_qrels(written(tmp_path, "qrels.dev.tsv", "q1\t0\td1\t1\nq2\t0\td3\t1\n")).to_dict() == {
        "q1": {"d1": 1},
        "q2": {"d3": 1},
    }
    far = written(tmp_path, "far.tsv", "q1\td9\t1000\nq1\td1\t7\nq1\td2\t8\nq1\td3\t8.0e2\n")
    assert ranking(far) == {"q1": ["d1", "d2", "d3", "d9"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\td1\t1\nq1\td2\t1\nq1\td3\t2\n", "two docs of topic 'q1' have rank 1, and there are no scores"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td1\t3\n", "r.tsv:3: doc 'd1' is twice in topic 'q1'"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td3\t3\n" + "q2\td1\t1\n" * 0 + "q3\te\tx\n", "r.tsv:4"),
        ("q1\td1\t1\nq1\td2\t2\nq1\td3\t3\n" * 1 + "q2\te\t1.5\n", "r.tsv"),
    ],
)
def test_bad_runs_without_scores(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_run(written(tmp_path, "r.tsv", text))


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_tables_with_ranks_alone(ending: str, tmp_path: Path) -> None:
    names = ["topic", "doc", "rank"]
    rows: list[list[Any]] = [["q1", "d2", 2], ["q2", "d3", 1], ["q1", "d1", 1]]
    path = tmp_path / f"r.{ending}"
    if ending == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    elif ending in ("csv", "tsv"):
        separator = "," if ending == "csv" else "\t"
        path.write_text("".join(separator.join(map(str, row)) + "\n" for row in [names, *rows]))
    else:
        frame = polars.DataFrame(rows, schema=names, orient="row")
        frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    assert ranking(path) == ORDER
    assert read_run(path).to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}}


def test_a_rank_that_two_docs_have_is_named_by_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", "topic,doc,rank\nq1,d1,1\nq1,d2,1\n")
    with pytest.raises(DataError, match=r"r.csv:3: two docs of topic 'q1' have rank 1, and there are no scores"):
        read_run(path)


NESTED = {
    "nested": json.dumps(SCORES),
    "indented": json.dumps(SCORES, indent=2),
    "a topic a line": "".join(json.dumps({topic: docs}) + "\n" for topic, docs in SCORES.items()),
    "docs": "".join(json.dumps({"qid": topic, "docs": docs}) + "\n" for topic, docs in SCORES.items()),
    "hits": "".join(
        json.dumps({"query_id": t, "hits": [{"docid": d, "score": s} for d, s in docs.items()]}) + "\n"
        for t, docs in SCORES.items()
    ),
    "records": json.dumps([{"qid": t, "docno": d, "score": s} for t, d, s in ROWS]),
}


@pytest.mark.parametrize("form", NESTED)
@pytest.mark.parametrize("name", ["bm25.json", "bm25.jsonl", "bm25.txt"])
def test_json_of_every_form(form: str, name: str, tmp_path: Path) -> None:
    if form in ("indented", "records") and name.endswith("jsonl"):
        return
    run = read_run(written(tmp_path, name, NESTED[form]))
    assert run.to_dict() == SCORES
    assert run.name == name.partition(".")[0] if "txt" not in name else True
    if form != "records":
        judged = NESTED[form].replace("2.5", "2").replace("1.5", "0").replace("0.5", "1").replace('"score"', '"grade"')
        assert read_qrels(written(tmp_path, name, judged)).to_dict() == JUDGED


def test_json_of_rankings_and_of_several_runs(tmp_path: Path) -> None:
    assert ranking(written(tmp_path, "r.json", json.dumps(ORDER))) == ORDER
    several = written(tmp_path, "runs.json", json.dumps({"bm25": SCORES, "dense": ORDER}))
    runs = read_runs(several)
    assert [run.name for run in runs] == ["bm25", "dense"]
    assert runs[0].to_dict() == SCORES
    assert runs[1].ranking("q1") == ["d1", "d2"]
    with pytest.raises(DataError, match=r"there are 2 runs in this file \(bm25, dense\), and one is expected"):
        read_run(several)


def test_a_table_of_several_runs(tmp_path: Path) -> None:
    text = "run,topic,doc,score\na,q1,d1,2\nb,q1,d1,1\na,q1,d2,1\nb,q1,d2,2\n"
    for ending in ("csv", "parquet"):
        path = written(tmp_path, f"runs.{ending}", text)
        if ending == "parquet":
            polars.read_csv(tmp_path / "runs.csv").write_parquet(path)
        assert {run.name: run.ranking("q1") for run in read_runs(path)} == {"a": ["d1", "d2"], "b": ["d2", "d1"]}


BAD_JSON: list[tuple[str, str]] = [
    ('{"q1": {"d1": 2.5, "d2": null}}', "topic 'q1', doc 'd2': the score is not a number: null"),
    ('{"q1": {"d1": 2.5, "d2": "2"}}', "topic 'q1', doc 'd2': the score is not a number: \"2\""),
    ('{"q1": {"d1": 2.5, "d2": true}}', "topic 'q1', doc 'd2': the score is not a number: true"),
    ('{"q1": {"d1": 2.5, "d2": NaN}}', "topic 'q1', doc 'd2': the score is not a number: NaN"),
    ('{"q1": {"d1": 2.5}, "q2": 3}', "topic 'q2' holds 3; a run is"),
    ('{"q1": {"d1": 2.5}, "q2": ["d1"]}', "some topics have scores and others have not"),
    ('{"q1": ["d1", "d1"]}', "topic 'q1', doc 'd1' is there twice"),
    ('{"q1": {"d1": 2.5, "d1": 1}}', "x.json:1: 'd1' is there twice in one object"),
    ('{"q1": {"d1": 2.5},\n "q2": {"d1": 1', "x.json:2: not JSON"),
    ('{"q1": {"d1": 2.5}}\n{"q1": {"d2": 1}}\n', "x.json:2: topic 'q1' is there twice"),
    ('{"q1": {"d1": 2.5}}\n{"q2": \n', "x.json:2: not JSON"),
    ('{"qid": 1, "hits": [{"docid": "a", "score": 1}]}\n{"qid": 2, "hits": [{"docid": "a"}]}\n', "x.json:2: a doc is"),
    ('{"qid": 1, "hits": [{"docid": "a", "score": 1}, {"docid": "a", "score": 2}]}\n{"qid": 2}\n', ":1: doc 'a'"),
    ('{"bm25": {"q1": {"d1": 1}}, "dense": 3}', "run 'dense' holds 3"),
    ('{"bm25": {"q1": {"d1": 1}}, "dense": {"q1": {"d1": "x"}}}', "run 'dense': topic 'q1', doc 'd1': the score"),
    ("{}", "there is no topic"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD_JSON)
def test_bad_json_is_named_by_its_line_or_by_topic_and_doc(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_runs(written(tmp_path, "x.json", text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q1": {"d1": 2, "d2": 1e300}}', "topic 'q1', doc 'd2': the grade is 1e+300; grades go up to"),
        ('{"q1": {"d1": 2}, "q2": ["d1"]}', "topic 'q2' holds"),
        ('{"q1": {"d1": 2, "d2": []}}', "topic 'q1', doc 'd2': the grade is not a number: []"),
    ],
)
def test_bad_judgments_in_json(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_qrels(written(tmp_path, "x.json", text))
    assert message in str(caught.value)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_ranx_and_arrow(format: str, tmp_path: Path) -> None:
    path = columns(("q_id", "doc_id", "score"), format, tmp_path)
    assert read_run(path).to_dict() == SCORES
    moved = path.rename(tmp_path / "without-an-ending")
    assert read_run(moved).to_dict() == SCORES
    judged = polars.DataFrame({"q_id": ["q1"], "doc_id": ["d1"], "score": [2]})
    judged.write_parquet(tmp_path / "q.parquet")
    assert read_qrels(tmp_path / "q.parquet").to_dict() == {"q1": {"d1": 2}}


def test_ntcir(tmp_path: Path) -> None:
    path = written(tmp_path, "wwwE.qrels", "q1 d1 L2\nq1 d2 L0\nq2 d3 L1\n")
    assert read_qrels(path).to_dict() == JUDGED
    run = read_run(written(tmp_path, "A-E-CD-NEW-1", "<SYSDESC>BM25, default</SYSDESC>\n" + RUN.replace("Q0", "0")))
    assert run.to_dict() == SCORES
    assert run.info.metadata["SYSDESC"] == "BM25, default"
    bad = "<SYSDESC>x</SYSDESC>\n" + RUN + "q2 0 d9 2 NA bm25\n"
    with pytest.raises(DataError, match=r"r:5: score is not a number"):
        read_run(written(tmp_path, "r", bad))


def test_ntcir_as_released() -> None:
    qrels = read_qrels(real_data("ntcir13-www-english/wwwE.qrels.xz"))
    assert (len(qrels.topics), len(qrels), int(qrels.grades.max())) == (100, 22912, 4)


LEADERBOARDS = {
    "tot": "bm25 MAP 1 .2\nbm25 MAP 2 .4\nbm25 MAP all .3\ndense MAP 1 .3\ndense MAP 2 .5\ndense MAP all .4\n",
    "ir_measures": "bm25 1 MAP .2\nbm25 2 MAP .4\nbm25 all MAP .3\ndense 1 MAP .3\ndense 2 MAP .5\n",
    "tot without means": "bm25 MAP 1 .2\nbm25 MAP 2 .4\ndense MAP 1 .3\ndense MAP 2 .5\n",
    "jsonl": "".join(
        json.dumps({"run_id": run, "topic_id": topic, "measure": "MAP", "value": value}) + "\n"
        for run, topic, value in [
            ("bm25", "1", 0.2), ("bm25", "2", 0.4), ("bm25", "all", 0.3), ("dense", "1", 0.3), ("dense", "2", 0.5),
        ]
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", LEADERBOARDS)
def test_leaderboards_of_autojudge(form: str, tmp_path: Path) -> None:
    [matrix] = read_scores(written(tmp_path, "judge.eval", LEADERBOARDS[form]))
    assert (matrix.measure, matrix.runs, matrix.topics) == ("MAP", ("bm25", "dense"), ("1", "2"))
    assert matrix.values.tolist() == [[0.2, 0.4], [0.3, 0.5]]


def test_what_trec_eval_prints(tmp_path: Path) -> None:
    text = "runid\tall\tbm25\nmap\t1\t0.2\nmap\t2\t0.4\nnum_q\tall\t2\nmap\tall\t0.3\n"
    [matrix] = read_scores(written(tmp_path, "bm25.txt", text))
    assert (matrix.measure, matrix.runs, matrix.topics) == ("map", ("bm25",), ("1", "2"))
    with pytest.raises(DataError, match="no score of a topic, only means"):
        read_scores(written(tmp_path, "bm25.txt", "map\tall\t0.3\nP_10\tall\t0.3\n"))
    with pytest.raises(DataError, match="whether the second or the third word of a line is the measure"):
        read_scores(written(tmp_path, "x.txt", "bm25 AP q1 .2\nbm25 AP q2 .3\n"))


def test_scores_in_json(tmp_path: Path) -> None:
    one = {"bm25": {"1": 0.2, "2": 0.4}, "dense": {"1": 0.3, "2": 0.5}}
    [matrix] = read_scores(written(tmp_path, "AP.json", json.dumps(one)))
    assert (matrix.measure, matrix.values.tolist()) == ("AP", [[0.2, 0.4], [0.3, 0.5]])
    both = read_scores(written(tmp_path, "s.json", json.dumps({"AP": one, "RR": one})))
    assert [matrix.measure for matrix in both] == ["AP", "RR"]
    with pytest.raises(DataError, match=r"AP: run 'bm25', topic '2': the score is None"):
        read_scores(written(tmp_path, "AP.json", '{"bm25": {"1": 0.2, "2": null}}'))


def test_labels_in_json(tmp_path: Path) -> None:
    labels = read_labels(written(tmp_path, "l.json", '{"q1": {"d1": {"anna": 2, "ben": 1}}}'))
    assert (labels.workers, labels.label.tolist()) == (("anna", "ben"), [2.0, 1.0])


NOT_READ: dict[str, tuple[bytes, str]] = {
    "HTML": (b"\n<!DOCTYPE html>\n<html><body>404</body></html>", "an HTML page"),
    "PDF": (b"%PDF-1.7\n...", "a PDF document"),
    "ZIP": (b"PK\x03\x04....", "a ZIP archive; unpack it first"),
    "bzip2": (bz2.compress(RUN.encode()), "compressed with bzip2"),
    "LZ4": (b"\x04\x22\x4d\x18....", "compressed with LZ4, which is not read"),
    "picture": (b"\x89PNG\r\n\x1a\n", "a picture"),
    "pickle": (b"\x80\x04\x95abc", "a Python pickle"),
    "SQLite": (b"SQLite format 3\x00", "an SQLite database"),
}


@pytest.mark.parametrize("what", NOT_READ)
@pytest.mark.parametrize("read", [read_run, read_qrels, read_labels, read_scores, read_topics, read_docs])
def test_what_is_no_data_is_named(what: str, read: Any, tmp_path: Path) -> None:
    data, message = NOT_READ[what]
    for name in ("x.run", "x.csv", "x"):
        with pytest.raises(DataError, match=f"{name}: the file is {message}"):
            read(written(tmp_path, name, data))


def test_columns_that_a_person_names(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", "question,passage,points\nq1,d1,2\nq1,d2,1\n")
    named = {"topic": "question", "doc": "passage", "score": "points"}
    assert read_run(path, columns=named).to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}}
    assert read_qrels(path, columns={**{k: named[k] for k in ("topic", "doc")}, "grade": "points"}).to_dict() == {
        "q1": {"d1": 2, "d2": 1}
    }
    with pytest.raises(UsageError, match="no column 'x' for the topic; it has question, passage, points"):
        read_run(path, columns={"topic": "x"})
    with pytest.raises(UsageError, match="runs have no 'grade'"):
        read_run(path, columns={"grade": "points"})
    with pytest.raises(DataError, match=r"columns are named \(topic=question\), and the file is no table"):
        read_run(written(tmp_path, "r.run", RUN), columns=named)
    scores = written(tmp_path, "s.csv", "model,topic,score\na,1,.5\nb,1,.25\n")
    assert read_scores(scores, columns={"run": "model"})[0].runs == ("a", "b")
    with pytest.raises(DataError, match=r"'qid' and 'topic' could both be the topic; say which with .*--column topic"):
        read_run(written(tmp_path, "r.csv", "qid,topic,doc,score\n1,1,a,2\n"))


def test_usual_names_are_those_of_files_and_frames(tmp_path: Path) -> None:
    for topic in ("topic", "query", "query_id", "query-id", "qid", "q_id", "topic_id"):
        for doc in ("doc", "docno", "doc_id", "docid", "document", "corpus-id", "pid", "did"):
            path = written(tmp_path, "r.csv", f"{topic},{doc},sim\nq1,d1,2\n")
            assert read_run(path).to_dict() == {"q1": {"d1": 2.0}}
            for grade in ("grade", "relevance", "label", "rel", "judgment"):
                path = written(tmp_path, "q.csv", f"{topic},{doc},{grade}\nq1,d1,2\n")
                assert read_qrels(path).to_dict() == {"q1": {"d1": 2}}


def test_recognised_formats(tmp_path: Path) -> None:
    found = recognise(written(tmp_path, "x.json", RUN))
    assert [(one.kind, one.format) for one in found] == [("run", "trec")]
    assert recognise(written(tmp_path, "x", "q1 d1 L1\n"))[0].format == "ntcir"
    assert recognise(written(tmp_path, "x", "whatever this is\n")) == []
    with pytest.raises(AssayError):
        recognise(written(tmp_path, "x", b"%PDF"))
