"""Score tables as other tools write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores, write_scores


def test_blanks_around_cells_are_not_part_of_names(tmp_path: Path) -> None:
    path = tmp_path / "tidy.csv"
    path.write_text("run, topic, measure, score\na, 9, AP, .5\na, 10, AP, .6\nb , 10, AP, .2\nb, 9, AP, .3\n")
    [matrix] = read_scores(path, measure="AP")
    assert (matrix.runs, matrix.topics, matrix.measure) == (("a", "b"), ("9", "10"), "AP")
    assert matrix.values.tolist() == [[0.5, 0.6], [0.3, 0.2]]
    path.write_text("AP, 9, 10\na , .5, .6\n b, .3, .2\n")
    [same] = read_scores(path)
    assert (same.runs, same.topics, same.measure) == (("a", "b"), ("9", "10"), "AP")


def test_a_score_twice_is_told_whatever_the_blanks(tmp_path: Path) -> None:
    path = tmp_path / "tidy.csv"
    path.write_text("run,topic,score\na,1,.5\na, 1,.6\n")
    with pytest.raises(DataError, match=r"tidy.csv:3: run 'a' has two scores of score for topic '1'"):
        read_scores(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "csv.xz"])
@pytest.mark.parametrize("shape", ["tidy", "matrix"])
def test_every_digit_survives_every_format(tmp_path: Path, ending: str, shape: str) -> None:
    matrix = ScoreMatrix.of(np.random.default_rng(0).random((3, 5)) / 3, runs=["a", "b,c", "d"], measure="nDCG@10")
    write_scores(tmp_path / f"s.{ending}", [matrix], shape=shape)
    [back] = read_scores(tmp_path / f"s.{ending}")
    assert (back.values == matrix.values).all()
    assert (back.runs, back.topics, back.measure) == (matrix.runs, matrix.topics, matrix.measure)


@pytest.mark.parametrize("shape", ["tidy", "matrix"])
@pytest.mark.parametrize(
    ("measure", "signature"),
    [
        ("AP", "AP|ties:docid|missing:zero"),
        ("RBP", "RBP(p=0.8)|ties:docid"),
        ("z(AP)", "z(AP)|ties:docid|std:z|reference:9 runs"),
        ("AP", "AP|forced:map"),
        ("EMAP", "EMAP reweighted|10 docs"),
        ("RR", "RR"),
    ],
)
def test_measure_and_policy_survive_a_file(tmp_path: Path, shape: str, measure: str, signature: str) -> None:
    matrix = ScoreMatrix.of([[0.1, 0.2]], runs=["a"], measure=measure, signature=signature)
    write_scores(tmp_path / "s.csv", [matrix], shape=shape)
    [back] = read_scores(tmp_path / "s.csv")
    assert (back.measure, back.signature) == (measure, signature)


def test_two_policies_under_one_measure_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("run,topic,measure,score,signature\na,1,AP,.1,AP|ties:docid\nb,1,AP,.1,AP|ties:rank\n")
    with pytest.raises(DataError, match=r"s.csv:3: AP has two signatures, 'AP.ties:docid' and 'AP.ties:rank'"):
        read_scores(path)


@pytest.mark.parametrize("text", [",1,2\na,.1,.2\n", "run,1,2\na,.1,.2\n", "run,topic,score\na,1,.1\na,2,.2\n"])
def test_a_table_that_names_no_measure_is_called_as_its_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trec8.old.csv"
    path.write_text(text)
    [matrix] = read_scores(path)
    assert (matrix.measure, matrix.signature, matrix.runs) == ("trec8.old", "trec8.old", ("a",))
    [named] = read_scores(path, measure="AP")
    assert (named.measure, named.signature) == ("AP", "AP")


def test_a_named_matrix_is_not_called_another_measure(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("AP,1,2\na,.1,.2\n")
    with pytest.raises(DataError, match="no measure 'P@10'; the file has: AP"):
        read_scores(path, measure="P@10")


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("run1,run2,run3\n0.1,0.2,0.3\n0.4,0.5,0.6\n", "rows are called '0.1', '0.4', columns 'run1', 'run2', 'run3'"),
        (",bm25,dpr\n301,.1,.2\n302,.3,.1\n", "rows are called '301', '302', columns 'bm25', 'dpr'"),
        ("topic,bm25,dpr\nq1,.1,.2\n", "rows are called 'q1', columns 'topic', 'bm25', 'dpr'"),
    ],
)
def test_a_matrix_read_the_wrong_way_round_says_so(tmp_path: Path, text: str, evidence: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"looks transposed: {evidence}; use --transpose"):
        read_scores(path)
    [matrix] = read_scores(path, transpose=True)
    assert {"run1", "bm25"} & set(matrix.runs)
    assert matrix.measure == "m"


@pytest.mark.parametrize("text", [",301,302\nbm25,.1,.2\n", "run,q1,q2\nbm25,.1,.2\n"])
def test_a_matrix_turned_in_vain_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=r"one row per run: .*; leave out --transpose"):
        read_scores(path, transpose=True)


def test_the_first_header_cell_decides_where_names_mislead(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("run,q1,q2\n1,.1,.2\n2,.3,.4\n")
    assert read_scores(path)[0].runs == ("1", "2")
    path.write_text("topic,1,2\nq1,.1,.2\n")
    assert read_scores(path, transpose=True)[0].runs == ("1", "2")


def test_topic_numbers_under_a_measure_are_names(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("AP,bm25,dpr\n301,.1,.2\n302,.3,.1\n")
    [matrix] = read_scores(path, transpose=True)
    assert (matrix.measure, matrix.runs, matrix.topics) == ("AP", ("bm25", "dpr"), ("301", "302"))


@pytest.mark.parametrize("header", ["run,topic,measure,score", "run,topic,score"])
def test_a_tidy_file_has_no_other_way_round(tmp_path: Path, header: str) -> None:
    path = tmp_path / "tidy.csv"
    cells = {"run": "a", "topic": "1", "measure": "AP", "score": "0.5"}
    path.write_text(f"{header}\n{','.join(cells[name] for name in header.split(','))}\n")
    with pytest.raises(DataError, match="a row for each run and topic, not a matrix; leave out --transpose"):
        read_scores(path, transpose=True)
