"""One function writes whatever has a file format; the readers give back what it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay.io
from assay.core.errors import UsageError
from assay.data import Labels, Qrels, Run, ScoreMatrix
from assay.io import read_labels, read_qrels, read_run, read_scores, write

ENDINGS = ["csv", "tsv", "jsonl", "parquet", "csv.gz"]


@pytest.mark.parametrize("ending", ["txt", "run.zst", *ENDINGS])
def test_runs_and_judgments(ending: str, tmp_path: Path) -> None:
    run = Run.from_dict("r", {"1": {"a": 1.5, "b": 0.25}})
    grades: dict[str, dict[str, float]] = {"1": {"a": 0.5}, "2": {"b": 1}}
    qrels = Qrels.from_dict(grades)
    write(tmp_path / f"r.{ending}", run)
    write(tmp_path / f"q.{ending}", qrels)
    assert read_run(tmp_path / f"r.{ending}").to_dict() == run.to_dict()
    assert read_qrels(tmp_path / f"q.{ending}").to_dict() == qrels.to_dict()


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_and_scores(ending: str, tmp_path: Path) -> None:
    number = np.array([0, 1])
    labels = Labels(("1",), ("a", "b"), ("w",), np.array([0, 0]), number, np.array([0, 0]), np.array([1.0, 0.5]))
    write(tmp_path / f"l.{ending}", labels)
    assert read_labels(tmp_path / f"l.{ending}").label.tolist() == [1.0, 0.5]
    matrix = ScoreMatrix.of([[0.1, 0.2], [0.3, 0.4]], runs=["x", "y"], topics=["1", "2"], measure="AP")
    for thing in (matrix, [matrix]):
        write(tmp_path / f"s.{ending}", thing)
        (again,) = read_scores(tmp_path / f"s.{ending}")
        assert (again.measure, again.values.tolist()) == ("AP", matrix.values.tolist())


@pytest.mark.parametrize("thing", [None, "text", {"1": {"a": 1}}, [1, 2], 3])
def test_what_has_no_format_is_an_error(thing: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write(tmp_path / "x.csv", thing)
    assert not list(tmp_path.iterdir())


def test_the_package_has_few_names() -> None:
    assert assay.io.__all__ == sorted(assay.io.__all__)
    assert all(getattr(assay.io, name) for name in assay.io.__all__)
