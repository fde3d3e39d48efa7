"""Datasets of ir_datasets by their name, with the real package: datasets registered here from files of the test."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import assay
from assay import DataError, MissingExtra, Qrels, Run, UsageError
from assay.cli.main import cli
from assay.data import IntentQrels
from assay.io import irds, qrels_of, read_docs, read_intent_qrels, runs_of
from assay.io.lengths import read_lengths

ir_datasets = pytest.importorskip("ir_datasets")

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
QUERIES = "q1\tforeign minorities\nq2\tbehavioural genetics\n"
DOCS = "d1\tone two three\nd2\tone\nd3\tone two\n"
SCORED = "q1 Q0 d2 1 5.5 theirs\nq1 Q0 d1 2 4.5 theirs\nq2 Q0 d3 1 1.0 theirs\n"
RUN = "q1 Q0 d1 1 2.0 mine\nq1 Q0 d2 2 1.0 mine\nq2 Q0 d9 1 3.0 mine\n"


class NoNetwork:
    """A file that would have to be fetched, where fetching fails as it does without a network."""

    def stream(self) -> Any:
        import requests

        raise requests.ConnectionError("HTTPSConnectionPool(host='example.org'):\nFailed to resolve 'example.org'")


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the files, and the datasets test/… of them, for one test."""
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels, TrecScoredDocs, TrecSubQrels, TsvDocs, TsvQueries
    from ir_datasets.util import Download, LocalDownload

    def file(name: str, text: str) -> Any:
        (tmp_path / name).write_text(text)
        return LocalDownload(tmp_path / name)

    queries = TsvQueries(file("queries.tsv", QUERIES), lang="en")
    qrels = TrecQrels(file("qrels.txt", QRELS), {0: "no", 1: "yes", 2: "very"})
    by_intent = TrecSubQrels(file("sub.txt", "q1 1 d1 1\nq1 2 d2 1\n"), {0: "no", 1: "yes"})
    unreachable = TrecQrels(Download([NoNetwork(), NoNetwork()], str(tmp_path / "none")), {0: "no"})
    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))
    for name, dataset in {
        "test": Dataset(TsvDocs(file("docs.tsv", DOCS)), queries),
        "test/judged": Dataset(queries, qrels),
        "test/scored": Dataset(qrels, TrecScoredDocs(file("scored.txt", SCORED))),
        "test/intents": Dataset(by_intent),
        "test/unreachable": Dataset(unreachable),
    }.items():
        ir_datasets.registry.register(name, dataset)
    (tmp_path / "mine.run").write_text(RUN)
    yield tmp_path
    # nothing of ours stays in their log
    assert logging.getLogger("ir_datasets").filters == []


@pytest.mark.usefixtures("datasets")
def test_judgments_topics_runs_and_lengths() -> None:
    assert assay.read_qrels("irds:test/judged").to_dict() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    assert assay.read_qrels(Path("irds:test/judged")).name == "irds:test/judged"
    assert assay.read_topics("irds:test").to_dict() == {
        "q1": {"title": "foreign minorities"},
        "q2": {"title": "behavioural genetics"},
    }
    run = assay.read_run("irds:test/scored")
    assert (run.name, run.to_dict()) == ("test/scored", {"q1": {"d2": 5.5, "d1": 4.5}, "q2": {"d3": 1.0}})
    assert read_lengths("irds:test") == {"d1": 3, "d2": 1, "d3": 2}
    texts = {"d1": {"text": "one two three"}, "d2": {"text": "one"}, "d3": {"text": "one two"}}
    assert read_docs("irds:test") == texts
    assert read_docs("irds:test", docs=["d2", "d9"]) == {"d2": texts["d2"]}


@pytest.mark.usefixtures("datasets")
def test_judgments_by_intent() -> None:
    found = qrels_of("irds:test/intents")
    assert isinstance(found, IntentQrels)
    assert found.grades.tolist() == read_intent_qrels("irds:test/intents").grades.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(UsageError, match="these are judgments by intent; give them as --intents"):
        assay.read_qrels("irds:test/intents")
    with pytest.raises(UsageError, match="these judgments have no intents; give them as --qrels"):
        read_intent_qrels("irds:test/judged")
    with pytest.raises(UsageError, match="a file of intents goes with a file of judgments"):
        read_intent_qrels("irds:test/intents", intents="info.txt")


def test_every_entry_takes_the_name(datasets: Path) -> None:
    mine = datasets / "mine.run"
    scores = assay.evaluate([mine, "irds:test/scored"], "irds:test/judged", "AP")
    same = assay.evaluate([mine, {"test/scored": datasets / "scored.txt"}], datasets / "qrels.txt", "AP")
    assert scores.runs == ("mine", "test/scored")
    assert scores["AP"].values.tolist() == same["AP"].values.tolist() == [[1.0, 0.0], [0.5, 1.0]]
    assert [type(run) for run in runs_of("irds:test/scored")] == [str]
    assert assay.check([mine, "irds:test/scored"], "irds:test/judged").errors == 0
    assert assay.report("irds:test/scored", "irds:test/judged", path=datasets / "r.html", sections=["summary"]).exists()
    assert isinstance(qrels_of(Path("irds:test/judged")), Qrels)
    assert isinstance(assay.read_run("irds:test/scored"), Run)


def test_commands_take_the_name(datasets: Path) -> None:
    asked = ["score", "--qrels", "irds:test/judged", str(datasets / "mine.run"), "irds:test/scored", "-m", "AP"]
    done = CliRunner().invoke(cli, [*asked, "--format", "csv"])
    assert done.output.splitlines() == ["run,AP", "test/scored,0.75", "mine,0.5"], done.exception
    by_intent = ["score", "--intents", "irds:test/intents", str(datasets / "mine.run"), "-m", "alpha-nDCG@5"]
    assert CliRunner().invoke(cli, by_intent).exit_code == 0
    for words in (["check"], ["report", "-o", str(datasets / "r.html")], ["score", "--format", "trec_eval"]):
        done = CliRunner().invoke(cli, [*words, "--qrels", "irds:test/judged", str(datasets / "mine.run")])
        assert done.exit_code == 0, done.output
    pooled = ["pool", "contributions", "--qrels", "irds:test/judged", "irds:test/scored", str(datasets / "mine.run")]
    assert "test/scored" in CliRunner().invoke(cli, pooled).output


@pytest.mark.usefixtures("datasets")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assay.read_qrels("irds:test/jugded"), "ir_datasets has no dataset 'test/jugded'; did you mean test/j"),
        (lambda: assay.read_qrels("irds:vaswany"), "no dataset 'vaswany'; did you mean vaswani"),
        (lambda: assay.read_qrels("irds:"), "ir_datasets has no dataset ''; known: "),
        (
            lambda: assay.read_qrels("irds:test"),
            "irds:test: the dataset has no qrels, which would be the judgments; it has queries, docs; try irds:test/j",
        ),
        (
            lambda: assay.read_run("irds:test/judged"),
            "has no scoreddocs, which would be the run; it has qrels, queries",
        ),
        (lambda: assay.read_topics("irds:test/intents"), "has no queries, which would be the topics; it has qrels"),
        (
            lambda: assay.evaluate({"a": {"q1": ["d1"]}}, "irds:test/unreachable", "AP"),
            "irds:test/unreachable: ir_datasets cannot give its qrels .HTTPSConnectionPool.* Failed to resolve "
            "'example.org'.; check the network",
        ),
    ],
)
def test_what_is_not_there_is_one_line(call: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_download_that_fails_says_one_line(tmp_path: Path) -> None:
    """A dataset of the package itself, whose files are neither here nor to be had: the addresses lead nowhere."""
    (tmp_path / "mine.run").write_text(RUN)
    code = (
        "import requests\n"
        "def refused(*_, **__): raise requests.ConnectionError('no network in this test')\n"
        "requests.get = refused\n"
        "from assay.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "score", "--qrels", "irds:vaswani", "mine.run"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"IR_DATASETS_HOME": str(tmp_path / "home"), "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert (done.stdout, len(done.stderr.splitlines())) == ("", 1)
    assert "irds:vaswani: ir_datasets cannot give its qrels (no network in this test)" in done.stderr


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtra, match=r"ir_datasets is not installed; .*pip install 'assay-ir\[irds\]'"):
        assay.read_qrels("irds:vaswani")
    assert irds.is_irds("irds:vaswani")
