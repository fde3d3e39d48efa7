"""assay board: every subcommand on small files of every shape, and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.data import Run
from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from assay.store import Store
from tests.board.test_board import made


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, ["board", *map(str, words)])


def rows(*words: object) -> list[dict[str, object]]:
    result = call(*words, "--format", "json", "--quiet")
    assert result.exit_code == 0, result.exception
    return list(json.loads(result.stdout)["rows"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four collections: a file each, one tidy table of all, means as tidy rows and as a matrix."""
    collections = made(4, 4)
    tidy = ["run,collection,topic,measure,score"]
    means = ["run,dataset,score"]
    matrix = ["run," + ",".join(collections)]
    for name, scores in collections.items():
        write_scores(tmp_path / f"{name}.csv", [scores], shape="matrix")
        for run, values in scores.to_dict().items():
            tidy += [f"{run},{name},{topic},P@10,{score}" for topic, score in values.items()]
        means += [f"{run},{name},{mean}" for run, mean in zip(scores.runs, scores.averages(), strict=True)]
    for i, run in enumerate(scores.runs):
        cells = [str(one.averages()[i]) for one in collections.values()]
        matrix.append(",".join([run, *cells]))
    (tmp_path / "tidy.csv").write_text("\n".join(tidy) + "\n")
    (tmp_path / "means.csv").write_text("\n".join(means) + "\n")
    (tmp_path / "wide.csv").write_text("\n".join(matrix) + "\n")
    return tmp_path


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("c?.csv"))


def test_files_and_a_table_with_a_column_of_collections_are_the_same(folder: Path) -> None:
    from_files = rows(*files(folder))
    assert rows(folder / "tidy.csv") == from_files
    renamed = folder / "renamed.csv"
    renamed.write_text((folder / "tidy.csv").read_text().replace("collection", "benchmark", 1))
    assert rows(renamed, "--column", "collection=benchmark") == from_files
    assert [row["rank"] for row in from_files] == [1, 2, 3, 4]
    assert {"rank_low", "rank_high", "letters", "borda", "mean_rank", "win_probability"} <= set(from_files[0])


def test_means_are_read_as_rows_and_as_a_matrix(folder: Path) -> None:
    from_rows = rows(folder / "means.csv", "--aggregate", "mean", "--measure", "P@10")
    assert rows(folder / "wide.csv", "--means", "--aggregate", "mean", "--measure", "P@10") == from_rows
    whole = rows(*files(folder), "--aggregate", "mean")
    assert [row["system"] for row in whole] == [row["system"] for row in from_rows]


def test_empty_cells_are_missing_not_zero(folder: Path) -> None:
    lines = (folder / "wide.csv").read_text().splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join([*cells[:2], "", *cells[3:]])
    (folder / "holes.csv").write_text("\n".join(lines) + "\n")
    result = call(folder / "holes.csv", "--means")
    assert result.exit_code == 0
    assert "1 of 16 cells are missing: 1 systems that are not on all collections have no rank" in result.output
    shown = rows(folder / "holes.csv", "--means")
    assert shown[-1]["system"] == cells[0]
    assert shown[-1]["mean"] is None
    assert shown[-1]["collections"] == 3


def test_parts_of_one_file(folder: Path) -> None:
    shown = rows(folder / "c3.csv", "--part", "a=1-7", "--part", "b=8-15")
    assert [row["collections"] for row in shown] == [2, 2, 2, 2]


def test_every_subcommand_has_a_table_and_a_figure(folder: Path) -> None:
    for words in (
        ["systems", "--top", "2", "--intervals"],
        ["systems", "--map"],
        ["conclusions", "--over", "topics"],
        ["effects", "--baseline", "run1"],
        ["effects", "--baseline", "run1", "--system", "run2", "--standardized", "--interval", "normal"],
        ["leave-out", "--aggregate", "wins"],
        ["subsets", "--aggregate", "mean"],
    ):
        figure = folder / "figure.svg"
        result = call(*words[:1], *files(folder), *words[1:], "--figure", figure)
        assert result.exit_code == 0, result.exception
        assert figure.read_text().startswith("<svg")
        figure.unlink()


def test_the_verdict_is_said_and_the_top_is_shown(folder: Path) -> None:
    result = call(*files(folder), "--top", "2")
    assert "2 of 4 systems on 4 collections, by standardized mean" in result.output
    assert "leads 4 systems on 4 collections by standardized mean" in result.output


def test_the_collections_of_a_store(folder: Path) -> None:
    with Store(folder / "lab") as store:
        for name in ("news", "web", "law"):
            store.collections.add(name, measure="P@1")
            store.qrels.add(name, {"1": {"a": 1, "b": 0}, "2": {"b": 1, "a": 0}, "3": {"a": 1}})
            for tag, docs in {"bm25": "ab", "dense": "ba"}.items():
                store.runs.add(name, Run.from_lists(tag, {topic: [*docs, name] for topic in "123"}))
    shown = rows("--store", folder / "lab")
    assert [(row["system"], row["collections"]) for row in shown] == [("bm25", 3), ("dense", 3)]
    of_two = rows("--store", folder / "lab", "-m", "AP", "--collection", "web", "--collection", "law")
    assert of_two[0]["collections"] == 2
    for words, message in (
        (["--store", folder / "lab", "--transpose"], "--transpose goes with score files, not with --store"),
        (["--store", folder / "lab", "-m", "AP P@1"], "a board is of one measure; name one"),
        (["--store", folder / "lab", folder / "c0.csv"], "give files or --store, not both"),
        (["--store", folder / "nothing"], "there is no store here"),
        (["--store", folder / "lab", "--collection", "lew"], "no collection 'lew'"),
        (["--collection", "law", folder / "c0.csv"], "--collection goes with --store, not with score files"),
        (["systems"], "no scores; give score files, or a store with --store"),
    ):
        result = call(*words)
        assert result.exit_code != 0
        assert message in str(result.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["c0.csv"], "1 collection given; a board takes at least two"),
        (["c0.csv", "one.csv"], "1 systems are on all 2 collections"),
        (["c0.csv", "other.csv"], "P@10 and AP are not the same measure; --force-measure NAME says that they are"),
        (["c0.csv", "c1.csv", "--part", "a=1-5"], "--part splits the topics of one file, and there are 2"),
        (["c0.csv", "--part", "a=1-5", "--part", "b=5-9"], "topic '5' is in the parts 'a' and 'b'"),
        (["tidy.csv", "--means"], "the table has a column for collections, and is no matrix; leave out --means"),
        (["tidy.csv", "c0.csv"], "c0: a collection of a table and a file have this name; rename the file"),
        (["c0.csv", "c1.csv", "--map"], "--map says what the figure shows; name its file with --figure"),
        (["means.csv", "--over", "topics"], "only means are known, so there is no sample of topics"),
        (["c0.csv", "c1.csv", "-B", "99"], "-B has no effect: 2 collections cannot show what holds on others: 3 are"),
        (["c0.csv", "c1.csv", "c2.csv", "--seed", "1"], "--seed has no effect: paired t over 3 collections, Holm over"),
        (["half.csv"], "half.csv, collection a: run 'y' has no P@10 for topic '2'; every run needs every topic"),
        (["effects", "c0.csv", "c1.csv", "--baseline", "x"], "no system 'x' on all collections"),
        (["effects", "c0.csv", "c1.csv", "--baseline", "run1", "--form", "z"], "--form is that of standardized"),
        (["effects", "means.csv", "--baseline", "run1"], "c0: one score per system; random effects need scores on"),
        (["subsets", "c0.csv", "c1.csv"], "2 collections have no subsets worth a search; give at least three"),
    ],
)
def test_bad_input_is_one_clear_line(
    folder: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    write_scores(folder / "one.csv", [ScoreMatrix.of([[0.1, 0.2]], runs=["run1"], measure="P@10")])
    write_scores(folder / "other.csv", [ScoreMatrix.of([[0.1], [0.2]], runs=["run1", "run2"], measure="AP")])
    half = "run,collection,topic,measure,score\nx,a,1,P@10,.1\nx,a,2,P@10,.2\ny,a,1,P@10,.3\nx,b,1,P@10,.1\n"
    (folder / "half.csv").write_text(half)
    result = call(*words)
    assert result.exit_code != 0
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_folder_where_a_file_is_expected_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assay.cli.main", "board", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"assay: {tmp_path}: this is a folder where a file is expected; name a file\n"
