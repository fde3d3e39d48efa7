"""`assay store` as a person types it, bad input included."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.core.errors import UsageError
from assay.store import Store
from assay.store.filling import add_files
from assay.store.schema import sa, tallies

ASSAY = [sys.executable, "-m", "assay.cli.main"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments and two runs, in the folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("1 0 a 2\n1 0 b 0\n2 0 c 1\n")
    runs = Path("runs")
    runs.mkdir()
    (runs / "one.run").write_text("1 Q0 a 1 2 one\n1 Q0 b 2 1 one\n2 Q0 c 1 1 one\n")
    (runs / "two.run").write_text("1 Q0 b 1 2 two\n1 Q0 a 2 1 two\n")
    Path("topics.tsv").write_text("1\tcats\n2\tdogs\n")
    return tmp_path


def assay(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def fill() -> None:
    for line in (
        "add collection pets --topics topics.tsv -m P@1",
        "add qrels pets qrels.txt --label first",
        "add runs pets runs --team lab --type automatic",
    ):
        assert assay("store", *line.split()).exit_code == 0


def test_everything_goes_in_and_out(folder: Path) -> None:
    fill()
    listed = json.loads(assay("store", "list", "runs", "--format", "json").stdout)
    assert [(row["run"], row["team"], row["type"]) for row in listed["rows"]] == [
        ("one", "lab", "automatic"), ("two", "lab", "automatic"),
    ]  # fmt: skip
    assert "grade 2" in assay("store", "show", "pets").stdout
    assert assay("store", "export", "out").stdout == "exported to out\n"
    assert assay("store", "import", "out", "--store", "again").exit_code == 0
    assert assay("store", "backup", "copy").exit_code == 0
    for other in ("again", "copy"):
        assert assay("store", "list", "runs", "--store", other).stdout == assay("store", "list", "runs").stdout
        assert "0 errors, 0 remarks" in assay("store", "check", "--store", other).stdout
    scored = assay(
        "score", "--qrels", "out/collections/1-pets/qrels/1.qrels", "out/collections/1-pets/runs", "-m", "P@1"
    )
    assert scored.exit_code == 0
    run = listed["rows"][0]["hash"]
    assert "automatic" in assay("store", "show", run[:8]).stdout


def test_tables_with_columns_of_other_names_are_stored_under_the_usual_ones(folder: Path) -> None:
    Path("odd-qrels.csv").write_text("question,passage,stars\n1,a,2\n1,b,0\n2,c,1\n")
    Path("odd.csv").write_text("question,passage,points\n1,a,2\n1,b,1\n2,c,1\n")
    names = ["--column", "topic=question", "--column", "doc=passage"]
    assay("store", "add", "collection", "pets")
    for part, path, own in [("qrels", "odd-qrels.csv", "grade=stars"), ("runs", "odd.csv", "score=points")]:
        with pytest.raises(UsageError, match="--column worker=x has no effect"):
            assay("store", "add", part, "pets", path, *names, "--column", own, "--column", "worker=x")
        with Store("assay-store") as store:
            assert len(store.qrels.listed("pets")) == (part == "runs")
            assert store.runs.listed() == []
        assert assay("store", "add", part, "pets", path, *names, "--column", own).exit_code == 0
    with Store("assay-store") as store:
        add_files(
            store, "odd-qrels.csv", ["odd.csv"], name="pets",
            columns={"topic": "question", "doc": "passage", "grade": "stars", "score": "points"},
        )  # fmt: skip
        (run,) = store.runs.listed("pets")
        (version,) = store.qrels.listed("pets")
        assert store.runs.read(run.hash).to_dict() == {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        assert store.qrels.read_version(version).to_dict() == {"1": {"a": 2, "b": 0}, "2": {"c": 1}}


def test_a_campaign_is_set_up_and_its_labels_are_read_by_other_commands(folder: Path) -> None:
    fill()
    token = assay("store", "add", "person", "ann").stdout.strip()
    assay("store", "add", "person", "bob")
    Path("gold.txt").write_text("1 0 a 2\n")
    Path("rules.txt").write_text("Be strict.")
    added = assay(
        "store", "add", "campaign", "pilot", "pets", "--scale", "no<maybe<yes", "--labels", "2", "--gold", "gold.txt",
        "--guidelines", "rules.txt", "--order", "mtc", "--gold-every", "2",
    )  # fmt: skip
    assert added.exit_code == 0
    with Store("assay-store") as store:
        assert store.people.of_token(token) == store.people["ann"]
        campaign = store.campaigns["pilot"]
        assert campaign.plan.guidelines == "Be strict."
        for name in ("ann", "bob"):
            while asked := campaign.next(name):
                campaign.judge(name, asked[0].item, "yes")
    assert "ann" in assay("store", "show", "pilot").stdout
    assert assay("store", "export", "judged", "--campaign", "pilot").stdout == "judged/labels.csv\njudged/qrels.txt\n"
    assert assay("crowd", "aggregate", "judged/labels.csv", "--scale", "no<maybe<yes").exit_code == 0
    assert assay("score", "--qrels", "judged/qrels.txt", "runs", "-m", "AP").exit_code == 0


def test_reference_sets_and_published_scores(folder: Path) -> None:
    fill()
    assert "one two" in assay("store", "add", "reference", "pets", "basic", "one", "two").stdout
    Path("papers.csv").write_text("paper,year,collection,baseline,improved\nSmith,2004,pets,.2,.3\n")
    assert "Smith" in assay("store", "add", "published", "papers.csv").stdout
    assert len(json.loads(assay("store", "list", "published", "--format", "json").stdout)["rows"]) == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("list", "there is no store here"),
        ("check", "there is no store here"),
        ("add qrels pets qrels.txt", "there is no store here"),
        ("list --database mysql://x", "does not work on mysql"),
        ("import runs", "is this a folder that `assay store export` wrote?"),
    ],
)
def test_without_a_store(folder: Path, line: str, says: str) -> None:
    done = subprocess.run([*ASSAY, "store", *line.split()], capture_output=True, text=True)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("assay-store/store.db").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("add collection pets", "there is a collection 'pets' already"),
        ("add qrels pts qrels.txt", "no collection 'pts'; did you mean pets?"),
        ("add qrels pets runs/one.run", "run"),
        ("add runs pets qrels.txt", "judgments"),
        ("add reference pets basic one none", "no run 'none'"),
        ("add campaign c pets --order none", "no judging order 'none'"),
        ("add campaign c pets --order hedge --pool depth", "a campaign has one of the two"),
        ("add person ann --role king", "king"),
        ("list runs --collection pts", "did you mean pets"),
        ("show nothing", "no collection, campaign, experiment or run 'nothing'"),
        ("export runs", "there is something already"),
        ("backup no/such", "is not there; make it first"),
        ("import runs --store assay-store", "is this a folder"),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(folder: Path, line: str, says: str) -> None:
    fill()
    before = assay("store", "list", "runs").stdout + assay("store", "list").stdout
    done = subprocess.run([*ASSAY, "store", *line.split()], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert assay("store", "list", "runs").stdout + assay("store", "list").stdout == before


def test_check_ends_with_1_where_something_is_wrong(folder: Path) -> None:
    fill()
    with Store("assay-store") as store:
        store.files.path(store.runs.listed("pets")[0].hash).unlink()
    done = assay("store", "check")
    assert done.exit_code == 1
    assert "restore it from a backup" in done.stdout


def test_check_counts_anew_what_an_old_server_did_not_count(folder: Path) -> None:
    fill()
    assay("store", "add", "person", "ann")
    assay("store", "add", "campaign", "pilot", "pets", "--scale", "S2")
    with Store("assay-store") as store:
        campaign = store.campaigns["pilot"]
        campaign.judge("ann", campaign.next("ann")[0].item, 1)
        with store.database.writing() as connection:
            connection.execute(sa.delete(tallies))
    assert assay("store", "check").exit_code == 1
    done = assay("store", "check", "--recount")
    assert done.exit_code == 0
    assert "mended" in done.stdout
    assert "campaign 'pilot', person 'ann'" in done.stdout
    assert "0 errors, 0 remarks, 2 mended" in done.stdout
    again = assay("store", "check", "--recount")
    assert (again.exit_code, again.stdout) == (0, assay("store", "check").stdout)
    assert "0 errors, 0 remarks\n" in again.stdout


def test_machine_labels_are_added_to_a_campaign(folder: Path) -> None:
    fill()
    assert assay("store", "add", "campaign", "pilot", "pets", "--scale", "S2").exit_code == 0
    Path("judges.csv").write_text("topic,doc,worker,label\n1,a,gpt,1\n1,nowhere,gpt,0\n")
    added = json.loads(assay("store", "add", "machine", "pilot", "judges.csv", "--format", "json").stdout)
    assert [(row["judge"], row["docs"], row["compared"]) for row in added["rows"]] == [("gpt", 1, 0)]
    Path("far.csv").write_text("topic,doc,worker,label\n1,a,gpt,5\n")
    refused = subprocess.run([*ASSAY, "store", "add", "machine", "pilot", "far.csv"], capture_output=True, text=True)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "far.csv:2: label 5.0 is not on the scale" in refused.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("serve runs", "runs are given without judgments"),
        ("serve --topics topics.tsv", "--topics has no effect without --qrels"),
        ("serve --name pets", "--name has no effect without --qrels"),
        ("serve --qrels topics.tsv runs", "topics.tsv is topics"),
        ("store add collection pets -m nothing", "nothing"),
    ],
)
def test_a_mistake_leaves_no_new_store_behind(folder: Path, line: str, says: str) -> None:
    done = subprocess.run([*ASSAY, *line.split()], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert says in done.stderr
    assert not Path("assay-store").exists()
