"""NTCIR-13 We Want Web, English: the official scores of RMIT's four runs, 100 topics, three measures: 1,200 values."""

from __future__ import annotations

import csv
from functools import cache

import pytest

from assay.data import Qrels
from assay.data.aligned import align
from assay.io import read_run
from assay.io.ntcir import read_rel
from assay.measures import parse
from tests.conftest import real_data

MEASURES = {"MSnDCG": "nDCG@10", "Q": "Q@10", "nERR": "nERRlin@10"}


@cache
def judgments() -> Qrels:
    return read_rel(real_data("ntcir13-www-english/wwwE.qrels.xz"))


def test_size_of_the_judgments() -> None:
    qrels = judgments()
    assert (len(qrels), len(qrels.topics), qrels.top_grade()) == (22912, 100, 4)


@pytest.mark.parametrize("official", MEASURES)
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_official_values(number: int, official: str) -> None:
    folder = real_data("ntcir13-www-english")
    run = f"RMIT-E-NU-Own-{number}"
    g = align(read_run(folder / f"{run}.run.xz"), judgments())
    scores = dict(zip(g.topics, parse(MEASURES[official])(g), strict=True))
    text = (folder / f"wwwE.official.{official}@0010.topic-by-run.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    column = rows[0].index(run)
    assert len(rows) == 101
    assert {r[0]: f"{scores[r[0]]:.4f}" for r in rows[1:]} == {r[0]: r[column] for r in rows[1:]}
