"""`assay store add experiment` and `tasks` as a person types them, bad input included."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.store import Store
from tests.hostile.calls import Outcome, call
from tests.store.crowd_workers import done

POOL = "--pool pool.txt --gold gold.qrels --docs 4 --workers 2"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with texts, and the files of an experiment."""
    monkeypatch.chdir(tmp_path)
    Path("topics.tsv").write_text("1\tcats\n2\tdogs\n")
    Path("docs.tsv").write_text("".join(f"{doc}\ttext of {doc}\n" for doc in "abcdgh"))
    Path("pool.txt").write_text("".join(f"{topic} {doc}\n" for topic in "12" for doc in "abcd"))
    Path("gold.qrels").write_text("1 0 g 0\n1 0 h 2\n2 0 g 0\n2 0 h 2\n")
    Path("one.run").write_text(
        "".join(f"{topic} Q0 {doc} 1 {5 - i} one\n" for topic in "12" for i, doc in enumerate("abcd"))
    )
    Path("two.run").write_text(
        "".join(f"{topic} Q0 {doc} 1 {5 - i} two\n" for topic in "12" for i, doc in enumerate("abdc"))
    )
    Path("consent.txt").write_text("Please take part.\n")
    Path("questions.csv").write_text("topic,question,options,answer\n1,What?,cats|cars,cats\n2,What?,dogs|cars,dogs\n")
    assert assay("store add collection pets --topics topics.tsv --docs docs.tsv").code == 0
    return tmp_path


def assay(line: str) -> Outcome:
    return call(line.split())


def test_an_experiment_from_the_estimate_to_the_qrels(folder: Path) -> None:
    estimate = assay(f"store add experiment s100 pets {POOL} --consent consent.txt --estimate")
    assert "tasks                                8.00" in estimate.out
    assert json.loads(assay("store list experiments --format json").out)["rows"] == []
    added = assay(f"store add experiment s100 pets {POOL} --consent consent.txt --format csv")
    assert added.code == 0, added.err
    assert added.out.splitlines()[1].startswith("s100,pets,slider,2,8,0,")
    with Store("assay-store") as store:
        own = store.experiments["s100"]
        assert own.plan.consent == "Please take part."
        assert own.link in added.out
        for number in range(5):
            while done(own, f"w{number}") is not None:
                pass
    assert "tasks accepted                    8" in assay("store show s100").out
    exported = assay("store export answers --experiment s100")
    assert exported.out.split() == [f"answers/{name}.csv" for name in
                                       ("labels", "accepted", "rejected", "bonus", "workers", "tasks")]  # fmt: skip
    assert assay("crowd check answers/labels.csv --scale S100 --start 50 --moved 2").code == 0
    assert assay("crowd aggregate answers/accepted.csv --scale S100 --method mean --qrels crowd.qrels").code == 0
    assert len(Path("crowd.qrels").read_text().splitlines()) == 12
    assert assay("store add runs pets one.run two.run").code == 0
    more = assay("store add tasks s100 --labels 2 -m DCG@4")
    assert "Where the next labels matter" in more.out
    with Store("assay-store") as store:
        assert len(store.experiments["s100"].tasks().by_task()) > 8
    assert "0 errors" in assay("store check").out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"add experiment x nowhere {POOL}", "no collection 'nowhere'"),
        ("add experiment x pets", "has no runs to judge"),
        (f"add experiment x pets {POOL} --depth 3", "an experiment has one of the two"),
        ("add experiment x pets --pool pool.txt --gold-docs 1", "--gold-docs has no effect without --gold"),
        (f"add experiment x pets {POOL} --pairs-per-doc 2", "--pairs-per-doc has no effect without --form pairs"),
        (f"add experiment x pets {POOL} --form shouting", "shouting"),
        (f"add experiment x pets {POOL} --form radio", "radio buttons need a scale"),
        (f"add experiment x pets {POOL} --on-docs 2", "on_docs is 2 without seconds"),
        ("add experiment x pets --pool pool.txt --gold questions.csv", "questions.csv"),
        (f"add experiment x pets {POOL} --questions topics.tsv", "topics.tsv"),
        ("add experiment x pets --pool pool.txt --gold one.run", "one.run"),
        ("add tasks x", "no experiment 'x'"),
        ("export out --experiment x", "no experiment 'x'"),
        ("export out --experiment x --campaign y", "one folder has one of the two"),
    ],
)
def test_what_cannot_be_is_one_line_and_stores_nothing(folder: Path, line: str, says: str) -> None:
    result = assay(f"store {line}")
    assert result.code == 2, result.err
    assert says in result.err
    assert result.err.count("\n") == 1
    assert not Path("out").exists()
    with Store("assay-store") as store:
        assert store.experiments.listed() == []
