"""assay.spark.score: the scores of Spark tables, with the bits of assay.evaluate."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import pytest

import assay
import assay.spark
from assay.core.errors import DataError
from assay.studies import simulate

pytestmark = pytest.mark.filterwarnings("default")  # those of Spark are not ours

SMALL = simulate(topics=12, docs=100, depth=30, runs_per_group=2, manual_runs=0)
MEASURES = "AP nDCG@10 RR ERR@10 RBP(p=0.8)"


def run_rows(drop: Container[tuple[str, str]] = ()) -> list[tuple[str, str, str, float]]:
    rows = []
    for run in SMALL.runs:
        for topic, docs in run.to_dict().items():
            if (run.name, topic) not in drop:
                rows += [(run.name, topic, doc, score) for doc, score in docs.items()]
    return rows


def qrels_rows() -> list[tuple[str, str, int]]:
    rows = []
    for topic, docs in SMALL.qrels.to_dict().items():
        rows += [(topic, doc, int(grade)) for doc, grade in docs.items()]
    return rows


@pytest.fixture(scope="module")
def tables(spark: Any) -> tuple[Any, Any]:
    runs = spark.createDataFrame(run_rows(), "run string, topic string, doc string, score double")
    return runs, spark.createDataFrame(qrels_rows(), "topic string, doc string, grade int")


def in_rows(scores: Any) -> dict[tuple[str, str], list[str]]:
    """The scores of assay.evaluate by run and topic, to the last bit."""
    found: dict[tuple[str, str], list[str]] = {}
    for matrix in scores:
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True):
            for topic, value in zip(matrix.topics, row, strict=True):
                found.setdefault((run, topic), []).append(float(value).hex())
    return found


def of_spark(table: Any) -> dict[tuple[str, str], list[str]]:
    return {(row[0], row[1]): [float(value).hex() for value in row[2:]] for row in table.collect()}


@pytest.mark.parametrize("parts", [None, 1, 5])
def test_the_bits_are_those_of_evaluate(tables: tuple[Any, Any], parts: int | None) -> None:
    scored = assay.spark.score(*tables, MEASURES, parts=parts)
    here = assay.evaluate(SMALL.runs, SMALL.qrels, MEASURES)
    assert scored.columns == ["run", "topic", *here.measures]
    assert of_spark(scored) == in_rows(here)


def test_a_topic_that_a_run_lacks(spark: Any, tables: tuple[Any, Any]) -> None:
    topic = SMALL.qrels.topics[0]
    rows = run_rows({(SMALL.runs[0].name, topic)})
    fewer = spark.createDataFrame(rows, "run string, topic string, doc string, score double")
    with_zero = of_spark(assay.spark.score(fewer, tables[1], "AP"))
    assert with_zero[SMALL.runs[0].name, topic] == [(0.0).hex()]
    assert len(with_zero) == len(SMALL.runs) * len(SMALL.qrels.topics)
    dropped = of_spark(assay.spark.score(fewer, tables[1], "AP", missing="drop"))
    assert {name for _, name in dropped} == set(SMALL.qrels.topics) - {topic}


def test_one_run_under_other_names_of_columns(spark: Any) -> None:
    run = SMALL.runs[0]
    rows = [(topic, doc, score) for topic, docs in run.to_dict().items() for doc, score in docs.items()]
    table = spark.createDataFrame(rows, "question string, docno string, score double")
    judged = spark.createDataFrame(qrels_rows(), "question string, docno string, relevance int")
    scored = assay.spark.score(table, judged, "AP", columns={"topic": "question"})
    expected = in_rows(assay.evaluate(run, SMALL.qrels, "AP"))
    assert sorted(of_spark(scored).values()) == sorted(expected.values())
    assert {row.run for row in scored.collect()} == {"run"}


def test_bad_tables_are_one_line(spark: Any, tables: tuple[Any, Any]) -> None:
    with pytest.raises(DataError, match="the Spark table of runs has no column 'score'"):
        assay.spark.score(tables[1], tables[1], "AP")
    empty = spark.createDataFrame([], "topic string, doc string, grade int")
    with pytest.raises(DataError, match="the Spark table of judgments is empty"):
        assay.spark.score(tables[0], empty, "AP")
