"""ScoreMatrix and score files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix, Scores, joined, same_scores
from assay.io.scores import read_scores, write_scores

MATRIX = ScoreMatrix.of([[0.1, 0.3, 0.0], [0.2, 0.2, 0.5]], runs=["a", "b"], topics=["1", "2", "010"], measure="AP")


def test_averages() -> None:
    assert MATRIX.averages().round(6).tolist() == [0.133333, 0.3]
    assert MATRIX.medians().tolist() == [0.1, 0.2]
    assert MATRIX.geometric_means()[0] == pytest.approx((0.1 * 0.3 * 1e-5) ** (1 / 3))
    assert MATRIX.by_average().runs == ("b", "a")


def test_select_and_unknown_names() -> None:
    part = MATRIX.select(runs=["b"], topics=["010", "1"])
    assert part.values.tolist() == [[0.5, 0.2]]
    with pytest.raises(UsageError, match="no run 'c'"):
        MATRIX.of_run("c")
    with pytest.raises(UsageError, match="no topic '10'"):
        MATRIX.select(topics=["10"])


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ([[float("nan")]], {}, "score of run 'run1' on topic '1' is nan"),
        ([0.1], {}, "two dimensions"),
        ([[0.1], [0.2]], {"runs": ["a", "a"]}, "run 'a' is there twice"),
        ([[0.1]], {"topics": ["1", "2"]}, "scores for"),
    ],
)
def test_bad_matrices_are_refused(values: list[float], names: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        ScoreMatrix.of(values, **names)


def test_values_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        MATRIX.values[0, 0] = 1.0
    with pytest.raises(ValueError, match="WRITEABLE"):
        MATRIX.values.setflags(write=True)
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(MATRIX)).values[0, 0] = 1.0


def test_a_persons_array_stays_his_and_the_scores_stay_ours() -> None:
    mine = np.array([[0.1, 0.2]])
    matrix = ScoreMatrix(("a",), ("1", "2"), mine, "AP")
    mine[0, 0] = 9.0  # still writable, and not the scores
    assert matrix.values.tolist() == [[0.1, 0.2]]


def test_a_matrix_shows_itself_in_short() -> None:
    assert repr(MATRIX) == "ScoreMatrix('AP', 2 runs × 3 topics)"


def test_whole_numbers_are_names() -> None:
    matrix = ScoreMatrix.of([[0.1, 0.2]], runs=[7], topics=np.array([301, 302]))
    assert (matrix.runs, matrix.topics) == (("7",), ("301", "302"))
    assert matrix.select(topics=[302]).values.tolist() == [[0.2]]
    with pytest.raises(DataError, match=r"topic 1\.5: names are texts or whole numbers, not float"):
        ScoreMatrix.of([[0.1]], topics=[1.5])  # type: ignore[list-item]


def scores(measure: str, signature: str = "", *, run: str = "a", topics: tuple[str, ...] = ("1",)) -> ScoreMatrix:
    return ScoreMatrix.of([[0.1] * len(topics)], runs=[run], topics=topics, measure=measure, signature=signature)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (scores("AP"), scores("AP")),
        (scores("AP"), scores("AP", "AP|ties:docid|assay:0.1")),  # policy not known
        (scores("AP", "AP|ties:docid|assay:0.1"), scores("AP", "AP|ties:docid|assay:0.2")),
        (scores("RBP(p=.8)"), scores("RBP(p=0.80)")),
        (scores("RBP", "RBP(p=0.8)|ties:docid"), scores("RBP(p=0.8)", "RBP(p=0.8)|ties:docid")),
        (scores("AP", "AP|ties:average(exact)"), scores("AP", "AP|ties:average(sampled:100,seed:0)")),
        (scores("z(AP)", "AP|std:z|reference:5 runs"), scores("z(AP)", "AP|std:z|reference:9 runs")),
    ],
)
def test_the_same_quantity_is_known_whatever_its_spelling(first: ScoreMatrix, second: ScoreMatrix) -> None:
    same_scores(first, second)
    same_scores(second, first)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (scores("AP"), scores("P@10"), "AP and P@10 are not the same measure"),
        (scores("AP", "AP|ties:docid"), scores("z(AP)", "AP|ties:docid|std:z"), "AP and z\\(AP\\) are not the same"),
        (scores("AP"), scores("z(AP)", "AP|std:z"), "AP and z\\(AP\\) are not the same"),
        (scores("z(AP)", "AP|std:z"), scores("cdf(AP)", "AP|std:cdf"), "z\\(AP\\) and cdf\\(AP\\) are not"),
        (scores("AP"), scores("score"), "AP and scores of no named measure are not the same"),
        (scores("AP", "AP|ties:docid"), scores("AP", "AP|ties:rank"), "same policy: AP.ties:docid and AP.ties:rank"),
    ],
)
def test_different_quantities_are_named_both(first: ScoreMatrix, second: ScoreMatrix, message: str) -> None:
    with pytest.raises(UsageError, match=f"{message}.*--force-measure"):
        same_scores(first, second)
    same_scores(first, second, force="AP")


def test_files_of_one_measure_are_joined_and_those_of_two_policies_refused() -> None:
    ap, more, rr = scores("AP", "AP|ties:docid"), scores("AP", "AP|ties:docid", run="b"), scores("RR")
    together, other = joined([ap, rr, more])
    assert (together.runs, together.signature, other.measure) == (("a", "b"), "AP|ties:docid", "RR")
    assert joined([ap, scores("AP", run="c")])[0].signature == "AP"  # not known of all
    with pytest.raises(UsageError, match="same policy"):
        joined([ap, scores("AP", run="c"), scores("AP", "AP|ties:rank", run="b")])
    with pytest.raises(DataError, match="topic '2' is in one file only"):
        joined([ap, scores("AP", run="b", topics=("1", "2"))])


def test_a_person_may_say_that_two_names_are_one_measure() -> None:
    [both] = joined([scores("map"), scores("AP", run="b")], force="AP")
    assert (both.runs, both.measure) == (("a", "b"), "AP")
    assert both.signature == "AP|forced:map+AP"


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "csv.gz", "tsv.zst", "csv.xz", "jsonl"])
def test_tidy_files_round_trip(ending: str, tmp_path: Path) -> None:
    other = ScoreMatrix.of(MATRIX.values / 3, runs=MATRIX.runs, topics=MATRIX.topics, measure="RR", signature="s")
    write_scores(tmp_path / f"s.{ending}", [MATRIX, other])
    back = read_scores(tmp_path / f"s.{ending}")
    assert [m.measure for m in back] == ["AP", "RR"]
    np.testing.assert_array_equal(back[1].select(topics=list(MATRIX.topics)).values, other.values)
    assert back[1].signature == "s"
    assert read_scores(tmp_path / f"s.{ending}", measure="RR")[0].measure == "RR"


def test_matrix_files_round_trip_and_transpose(tmp_path: Path) -> None:
    write_scores(tmp_path / "m.csv", [MATRIX], shape="matrix")
    back = read_scores(tmp_path / "m.csv")[0]
    assert (back.runs, back.topics, back.measure) == (MATRIX.runs, MATRIX.topics, "AP")
    np.testing.assert_array_equal(back.values, MATRIX.values)
    (tmp_path / "t.csv").write_text("a,b\n0.1,0.2\n0.3,0.2\n")
    turned = read_scores(tmp_path / "t.csv", transpose=True)[0]
    assert (turned.runs, turned.topics, turned.values.tolist()) == (("a", "b"), ("1", "2"), [[0.1, 0.3], [0.2, 0.2]])
    (tmp_path / "n.csv").write_text("topic,a,b\n301,0.1,0.2\n")
    assert read_scores(tmp_path / "n.csv", transpose=True)[0].topics == ("301",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("AP,1,2\n", "no row of scores"),
        ("AP,1,2\na,0.1\n", "f.csv:2: 2 cells where the header has 3"),
        ("AP,1,2\na,0.1,NA\n", "f.csv:2: score of column '2' is not a number: 'NA'"),
        ("AP,1,2\na,0.1,1_0\n", "f.csv:2: score of column '2' is not a number: '1_0'"),
        ("AP,1,2\na,0.1,1e300\n", "f.csv:2: .* at most 1e\\+70 in size"),
        ("AP;1;2\na;0.1;0.2\n", "f.csv: one column, no scores; columns are separated by commas or tabs"),
        ("AP,1,2\na,0.1,nan\n", "f.csv:2: score of column '2' is 'nan'"),
        ("run,topic,score\na,1,0.1\na,1,0.2\n", "f.csv:3: run 'a' has two scores"),
        ("run,topic,score\na,1,0.1\nb,2,0.2\n", "run 'a' has no score for topic '2'"),
        ('run,topic,score\na,"1,0.1\n', "unexpected end of data"),
    ],
)
def test_bad_score_files_name_the_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_scores(path)
    assert not list(tmp_path.glob(".f*"))


def test_an_unknown_measure_is_named(tmp_path: Path) -> None:
    write_scores(tmp_path / "s.csv", [MATRIX])
    with pytest.raises(DataError, match="no measure 'RR'; the file has: AP"):
        read_scores(tmp_path / "s.csv", measure="RR")
    with pytest.raises(DataError, match="a matrix file holds one measure"):
        write_scores(tmp_path / "s.csv", [MATRIX, MATRIX], shape="matrix")


BOTH = Scores(
    (
        ScoreMatrix.of([[0.1, 0.3], [0.4, 0.4]], runs=["a", "b"], measure="RBP", signature="RBP(p=0.8)|ties:docid"),
        ScoreMatrix.of([[2, 3], [4, 0]], runs=["a", "b"], measure="NumRet"),
    )
)


def test_scores_are_a_sequence_that_knows_its_measures() -> None:
    rbp, counts = BOTH
    assert (BOTH[0], BOTH[-1], len(BOTH), BOTH.measures) == (rbp, counts, 2, ("RBP", "NumRet"))
    assert BOTH["RBP"] is rbp
    assert BOTH["RBP( p=.8 )"] is rbp  # as it is written in full
    held: list[object] = [what for what in ("NumRet", rbp, "AP") if BOTH.__contains__(what)]
    assert held == ["NumRet", rbp]
    assert BOTH[1:].measures == ("NumRet",)
    assert repr(BOTH) == "Scores(RBP, NumRet: 2 runs × 2 topics)"
    with pytest.raises(UsageError, match="no scores of 'NumRte'; did you mean NumRet"):
        BOTH["NumRte"]


def test_scores_as_tables_and_record() -> None:
    assert BOTH.table().rows == (("b", 0.4, 4.0), ("a", 0.2, 5.0))
    assert BOTH.table().cells()[0] == ["b", "0.4000", "4"]
    assert BOTH.per_topic().rows[1] == ("a", "2", 0.3, 3.0)
    record = BOTH.record()
    assert record["rows"][0] == {"run": "b", "RBP": 0.4, "NumRet": 4.0}
    assert (record["result"], record["signatures"]["RBP"], record["n"]) == ("scores", "RBP(p=0.8)|ties:docid", 2)


def test_a_part_of_scores_keeps_how_they_are_averaged() -> None:
    part = BOTH.select(runs=["a"], topics=[2])
    assert part.table().rows == (("a", 0.3, 3.0),)
    assert part.aggregates == ("mean", "sum")


def test_scores_on_different_topics_are_not_one() -> None:
    with pytest.raises(DataError, match="AP and RR are not on the same runs and topics"):
        Scores((scores("AP"), scores("RR", topics=("1", "2"))))
    assert Scores(()).table().rows == ()
