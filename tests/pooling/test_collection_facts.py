"""What a collection consists of, against printed numbers and against plain counts."""

from __future__ import annotations

import lzma
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.info import RunsInfo
from assay.io import read_info, read_qrels, read_run
from assay.pooling.collection_facts import describe, pool_by_type
from tests.conftest import real_data
from tests.pooling.collections import made


@pytest.fixture(scope="module")
def robust(tmp_path_factory: pytest.TempPathFactory) -> Qrels:
    path = tmp_path_factory.mktemp("robust") / "qrels.txt"
    path.write_bytes(lzma.decompress((real_data("trec-robust-2004") / "qrels.txt.xz").read_bytes()))
    return read_qrels(path)


@pytest.fixture(scope="module")
def covid_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("covid")
    with tarfile.open(real_data("trec-covid-round1") / "runs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "runs"


def test_table_4_13(robust: Qrels) -> None:
    """Webber 2010: docs judged and relevant per topic; for Robust 2003 958.7 is printed, and the qrels have 958.64."""
    parts = {"T7": "351-400", "T8": "401-450", "T03": "601-650", "T04": "651-700"}
    table = describe(robust, parts=parts).table()
    assert table.column("topics") == [50, 50, 50, 49]
    assert table.column("judged") == pytest.approx([1606.9, 1736.6, 958.64, 710.0], abs=0.05)
    assert table.column("relevant") == pytest.approx([93.5, 94.6, 33.2, 42.1], abs=0.05)


def test_relevant_docs_of_trec_8(robust: Qrels) -> None:
    """Fig. 3.24: from 6 to 347 relevant docs per topic, 95 on average."""
    row = describe(robust, parts={"T8": "401-450"}).table().rows[0]
    assert row[-2:] == (6, 347)
    assert round(row[3]) == 95


def test_counts_by_a_plain_loop() -> None:
    _, qrels = made(3, runs=3, topics=5, docs=40)
    facts = describe(qrels, rel=1)
    for place, (topic, docs) in enumerate(qrels.to_dict().items()):
        assert facts.topics[place] == topic
        assert facts.judged[place] == sum(grade >= 0 for grade in docs.values())
        assert facts.relevant[place] == sum(grade >= 1 for grade in docs.values())
        counted = Counter(docs.values())
        assert facts.counts[place].tolist() == [counted[grade] for grade in facts.grades]


def test_pooled_docs_are_not_judged() -> None:
    facts = describe(Qrels.from_dict({"1": {"a": -1, "b": 0, "c": 2}, "2": {"d": 1}}), rel=2)
    assert facts.pooled.tolist() == [3, 1]
    assert facts.judged.tolist() == [2, 1]
    assert facts.relevant.tolist() == [1, 0]
    assert facts.topics_table().columns[-1] == "grade 2"


@pytest.mark.parametrize(
    ("text", "message"),
    [("5-9", "no topic has a number from 5 to 9"), ("nope", "no topic 'nope'"), ("1,", "no topic ''")],
)
def test_parts_without_topics_are_errors(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        describe(Qrels.from_dict({"1": {"a": 1}}), parts={"x": text})


def test_a_topic_called_like_a_range_is_that_topic() -> None:
    facts = describe(Qrels.from_dict({"1-2": {"a": 1}, "1": {"b": 1}}), parts={"x": "1-2"})
    assert [facts.topics[place] for place in facts.parts["x"]] == ["1-2"]


def test_pool_by_type_by_plain_sets() -> None:
    runs, qrels = made(5, runs=6, topics=4, docs=60)
    types = {run.name: ("manual",) if i % 3 == 0 else ("automatic",) for i, run in enumerate(runs)}
    found = pool_by_type(runs, qrels, RunsInfo("runs.csv", ("runtype",), types), depth=5)
    brought: dict[str, set[tuple[str, str]]] = {"manual": set(), "automatic": set()}
    for run in runs:
        for topic in qrels.topics:
            brought[types[run.name][0]] |= {(topic, doc) for doc in run.ranking(topic)[:5]}
    grades = {(t, d): g for t, docs in qrels.to_dict().items() for d, g in docs.items()}
    for i, name in enumerate(found.names):
        others = set().union(*(docs for other, docs in brought.items() if other != name))
        relevant = {item for item in brought[name] if grades.get(item, -1) >= 1}
        assert found.relevant[i] == len(relevant)
        assert found.relevant_alone[i] == len(relevant - others)
        assert found.judged[i] == len({item for item in brought[name] if grades.get(item, -1) >= 0})


def test_a_run_of_which_nothing_is_said_is_an_error() -> None:
    runs = [Run.from_lists(name, {"1": ["x"]}) for name in ("a", "b")]
    info = RunsInfo("runs.csv", ("type",), {"a": ("manual",)})
    with pytest.raises(DataError, match="nothing is said of the type of run 'b'"):
        pool_by_type(runs, Qrels.from_dict({"1": {"x": 1}}), info)


def test_manual_runs_of_trec_covid_brought_a_sixth_of_the_relevant_docs_alone(covid_runs: Path) -> None:
    root = real_data("trec-covid-round1")
    runs = [read_run(path) for path in sorted(covid_runs.iterdir())]
    found = pool_by_type(runs, read_qrels(root / "qrels.txt"), read_info(root / "leaderboard.csv"), depth=7)
    assert dict(zip(found.names, found.runs.tolist(), strict=True)) == {"automatic": 100, "manual": 43}
    assert dict(zip(found.names, found.relevant_alone.tolist(), strict=True)) == {"automatic": 744, "manual": 393}
    assert found.all_relevant == 2352
