"""Several run files and several score files, and what stands beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import UsageError
from assay.data import ScoreMatrix
from assay.io.run_files import read_names, read_run_files, run_files
from assay.io.score_files import of_measures, only_measure, read_score_files, scores_of_collections
from assay.io.scores import write_scores


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "runs"
    inside.mkdir()
    for name, tag in (("b.run", "same"), ("a.run", "same"), ("c.run", "own")):
        (inside / name).write_text(f"1 Q0 x 1 2.0 {tag}\n")
    (inside / ".hidden").write_text("no run\n")
    return inside


def test_a_folder_stands_for_its_files(folder: Path) -> None:
    assert [path.name for path in run_files([folder, Path("z.run")])] == ["a.run", "b.run", "c.run", "z.run"]
    empty = folder.parent / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="the folder has no files"):
        run_files([empty])


@pytest.mark.parametrize("jobs", [1, 3])
def test_runs_of_one_tag_are_called_as_their_files(folder: Path, jobs: int) -> None:
    assert [run.name for run in read_run_files([folder], jobs=jobs)] == ["a.run", "b.run", "own"]


def test_names_stand_one_on_a_line(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("x\n\n  y \n")
    assert read_names(names) == ["x", "y"]


def matrices() -> list[ScoreMatrix]:
    return [ScoreMatrix.of([[0.25, 0.5]], runs=["a"], measure=measure) for measure in ("AP", "nDCG@10")]


def test_measures_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    write_scores(path, matrices())
    assert [matrix.measure for matrix in read_score_files([path], measures=["AP"])] == ["AP"]
    assert [matrix.measure for matrix in read_score_files([path], measures=["nDCG@10", ["MAP", "AP"]])] == [
        "nDCG@10",
        "AP",
    ]
    assert [matrix.measure for matrix in read_score_files([path], force="P@5")] == ["P@5", "P@5"]
    with pytest.raises(UsageError, match=r"no measure 'RR' in these files; they have: AP, nDCG@10"):
        of_measures(matrices(), ["RR"])
    with pytest.raises(UsageError, match=r"the files name their measures themselves \(AP, nDCG@10\)"):
        read_score_files([path], name="RR")


def test_the_only_measure(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there are 2 \(AP, nDCG@10\); choose one with -m"):
        only_measure(matrices())
    ap, other = matrices()[0], ScoreMatrix.of([[0.75, 1.0]], runs=["b"], measure="AP")
    assert only_measure([ap, other]).runs == ("a", "b")


def test_collections_are_called_as_their_files(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        write_scores(tmp_path / folder / "trec.csv", matrices()[:1])
    write_scores(tmp_path / "other.csv", matrices()[:1])
    different = scores_of_collections([tmp_path / "x" / "trec.csv", tmp_path / "other.csv"])
    assert list(different) == ["trec", "other"]
    same = scores_of_collections([tmp_path / "x" / "trec.csv", tmp_path / "y" / "trec.csv"], measures=["AP"])
    assert list(same) == ["trec (1)", "trec (2)"]
