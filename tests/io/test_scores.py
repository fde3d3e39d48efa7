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
