"""assay convert as it is called, and --column on the commands that read tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from assay.io import read_labels, read_qrels, read_run
from tests.cli.test_options import COMMANDS

RUN = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\nq2 Q0 d3 1 0.5 bm25\n"
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"


def assay(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bm25.run").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "odd.csv").write_text("question,passage,points\nq1,d1,2.5\nq1,d2,1.5\nq2,d3,0.5\n")
    (tmp_path / "odd-qrels.csv").write_text("question,passage,stars\nq1,d1,2\nq1,d2,0\nq2,d3,1\n")
    return tmp_path


def test_convert_says_what_it_did(folder: Path) -> None:
    done = assay("convert", "bm25.run", "out.tsv", "--to", "msmarco", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].split() == ["bm25.run", "out.tsv", "run", "msmarco", "3"]
    assert "msmarco holds ranks: the scores are left out" in done.stdout
    assert (folder / "out.tsv").read_text() == "q1\td1\t1\nq1\td2\t2\nq2\td3\t1\n"
    record = json.loads(assay("convert", "qrels.txt", "q.rel", "--to", "ntcir", "--format", "json", cwd=folder).stdout)
    assert record["result"] == "conversion"
    assert (folder / "q.rel").read_text() == "q1 d1 L2\nq1 d2 L0\nq2 d3 L1\n"


def test_convert_takes_columns_and_grades(folder: Path) -> None:
    named = ["--column", "topic=question", "--column", "doc=passage"]
    assert assay("convert", "odd.csv", "x.run", *named, "--column", "score=points", cwd=folder).returncode == 0
    assert read_run(folder / "x.run").to_dict() == {"q1": {"d1": 2.5, "d2": 1.5}, "q2": {"d3": 0.5}}
    assert assay("convert", "odd-qrels.csv", "x.txt", *named, "--column", "grade=stars", cwd=folder).returncode == 0
    assert read_qrels(folder / "x.txt").to_dict() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    texts = [{"text": "…", "topic": "q1", "doc": d, "label": [word]} for d, word in (("d1", "yes"), ("d2", "no"))]
    (folder / "anna.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    done = assay("convert", "anna.jsonl", "labels.csv", "--grades", "yes=1", "--grades", "no=0", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert read_labels(folder / "labels.csv").label.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bm25.run", "x.tsv", "--to", "beir"], "x.tsv: runs are not written as 'beir'"),
        (["nothing.run", "x.csv"], "nothing.run: No such file"),
        (["bm25.run", "no/x.csv"], "make the folder 'no' first"),
        (["bm25.run", "x.csv", "--kind", "qrels"], "bm25.run is a run; give judgments here"),
        (["bm25.run", "x.csv", "--kind", "rum"], "no kind 'rum'; did you mean run"),
        (["bm25.run", "x.csv", "--column", "topic=q"], "--column topic=q has no effect: none of the files is a table"),
        (["odd.csv", "x.run", "--column", "topik=q"], "--column: there is no column 'topik'; did you mean topic"),
        (["odd.csv", "x.run"], "odd.csv: it cannot be seen what this is"),
        (["odd.csv", "x.run", "--kind", "run"], "odd.csv: no column 'topic'"),
        (["bm25.run", "x.csv", "--grades", "yes=1"], "grades of words go with labels"),
        (["bm25.run", "x.csv", "--grades", "yes=x"], "--grades yes=x: 'x' is no number"),
    ],
)
def test_bad_conversions_say_one_line_and_write_nothing(arguments: list[str], message: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    done = assay("convert", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(folder.iterdir()) == before


def test_columns_serve_runs_and_judgments_alike(folder: Path) -> None:
    plain = assay("score", "--qrels", "qrels.txt", "bm25.run", "-m", "AP nDCG", "--format", "csv", cwd=folder).stdout
    named = ["--column", "topic=question", "--column", "doc=passage", "--column", "score=points"]
    grade = ["--column", "grade=stars"]
    for qrels, run, columns in [
        ("odd-qrels.csv", "odd.csv", [*named, *grade]),
        ("qrels.txt", "odd.csv", named),
        ("odd-qrels.csv", "bm25.run", [*named[:4], *grade]),
    ]:
        done = assay("score", "--qrels", qrels, run, "-m", "AP nDCG", "--format", "csv", *columns, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert (
            done.stdout.partition(",")[2].split("\n", 1)[1].partition(",")[2]
            == plain.split("\n", 1)[1].partition(",")[2]
        )
    unused = assay("score", "--qrels", "qrels.txt", "odd.csv", *named, *grade, cwd=folder)
    assert unused.returncode == 2
    assert "--column grade=stars has no effect: the tables have question, passage, points" in unused.stderr


def test_columns_of_scores_and_of_labels(folder: Path) -> None:
    (folder / "s.csv").write_text("model,query,score\na,1,.5\na,2,.25\nb,1,.5\nb,2,.75\n")
    done = assay("compare", "s.csv", "--column", "run=model", "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("b,")
    (folder / "l.csv").write_text("query,item,person,mark\n1,a,anna,1\n1,a,ben,0\n1,b,anna,1\n1,b,ben,1\n")
    done = assay("agreement", "l.csv", "--column", "worker=person", "--column", "label=mark", cwd=folder)
    assert done.returncode == 0, done.stderr


OWN_COLUMNS = {
    "answers agreement", "answers nuggets", "answers reports", "answers support", "answers texts", "compare factorial",
    "store add published", "study survey",
}  # fmt: skip
"""Commands whose tables have columns of their own."""
NO_TABLES = {"answers units", "crowd answers", "split", "store add reference", "store import"}
"""Commands that read no tables: lines and JSON of their own, TREC files, names of runs, a folder that assay wrote."""
FILES = {
    "files",
    "runs",
    "paths",
    "first",
    "labels",
    "path",
    "papers",
    "scores",
    "collections",
    "pool",
    "source",
    "judgments",
}


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_that_reads_tables_has_column(words: str) -> None:
    command = COMMANDS[words]
    arguments = {p.name for p in command.params if isinstance(p, click.Argument)}
    if isinstance(command, click.Group) or words in OWN_COLUMNS | NO_TABLES or not arguments & FILES:
        return
    assert any("--column" in parameter.opts for parameter in command.params)
