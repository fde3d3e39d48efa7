"""A file of another kind than the one expected is named, in Python and on the command line, for every pair of kinds."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.core.errors import DataError
from assay.io import read_docs, read_intent_qrels, read_labels, read_qrels, read_run, read_scores, read_topics, samples
from assay.io.assignments import read_assignments, read_bank, read_support
from assay.io.content import Content
from assay.io.recognition import KINDS, WrongKind, recognise

FILES: dict[str, list[str]] = {
    "run": [
        "1 Q0 a 1 2.5 bm25\n1 Q0 b 2 1.5 bm25\n",
        "topic,doc,rank,score,run\n1,a,1,2.5,bm25\n1,b,2,1.5,bm25\n",
        "1\ta\t1\n1\tb\t2\n1\tc\t3\n",
    ],
    "qrels": [
        "1 0 a 1\n1 0 b 0\n",
        "topic,doc,grade\n1,a,1\n",
        "1 a L1\n1 b L0\n",
        "query-id\tcorpus-id\tscore\n1\ta\t1\n",
    ],
    "intents": ["1 1 a 1\n1 2 a 1\n1 2 b 1\n", "1 1 a L1\n1 2 b L0\n", "topic,intent,doc,grade\n1,1,a,1\n1,2,b,1\n"],
    "labels": ["topic,doc,worker,label\n1,a,anna,1\n1,a,ben,0\n"],
    "scores": [
        "run,topic,measure,score\nbm25,1,AP,.25\n",
        "bm25 AP 1 .25\nbm25 AP all .25\n",
        "map\t1\t.2\nmap\tall\t.2\n",
    ],
    "topics": ["<top><num> Number: 401 <title> cats</top>\n", "1\tcats and dogs\n2\tthe weather of today\n"],
    "docs": [
        '{"_id": "d1", "title": "Cats", "text": "They sleep."}\n{"_id": "d2", "title": "D", "text": "T"}\n',
        "docno,text\na,cats\n",
    ],
    "nuggets": [
        '{"qid": "1", "query": "q", "nuggets": [{"text": "in Peru", "importance": "vital"}]}\n',
        '{"query_id": "1", "nugget_bank": {"Where?": {"question": "Where?"}}}\n',
        "topic,nugget,importance\n1,in Peru,vital\n",
    ],
    "assignments": [
        '{"qid": "1", "run_id": "a", "nuggets": [{"text": "x", "importance": "okay", "assignment": "support"}]}\n',
        "topic,run,nugget,importance,assignment\n1,mine,in Peru,vital,support\n",
        "topic,run,nugget,importance,assignment,assessor\n1,mine,in Peru,vital,support,anna\n",
    ],
    "support": ["topic,run,sentence,citation,support\n1,mine,s1,d1,full\n"],
}
READERS: dict[str, Callable[[Path], Any]] = {
    "run": read_run,
    "qrels": read_qrels,
    "intents": read_intent_qrels,
    "labels": read_labels,
    "scores": read_scores,
    "topics": read_topics,
    "docs": read_docs,
    "nuggets": read_bank,
    "assignments": read_assignments,
    "support": read_support,
}
EITHER = {("topics", "docs"), ("docs", "topics")}
"""Texts with ids: nothing in them says of what."""
PAIRS = [(given, wanted) for given, wanted in itertools.permutations(KINDS, 2) if (given, wanted) not in EITHER]


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_is_recognised_and_read_as_what_it_is(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in FILES[kind]:
        path.write_text(text)
        assert recognise(path)[0].kind == kind, text
        assert READERS[kind](path) is not None


@pytest.mark.parametrize(("given", "wanted"), PAIRS)
def test_a_file_of_another_kind_is_named(given: str, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in FILES[given]:
        path.write_text(text)
        with pytest.raises(DataError) as caught:
            READERS[wanted](path)
        message = str(caught.value)
        assert isinstance(caught.value, WrongKind), (text, message)
        assert message.startswith(f"{path} is {KINDS[given]}; give {KINDS[wanted]} here (")
        assert "\n" not in message


@pytest.mark.parametrize("wanted", ["run", "qrels", "labels", "scores"])
def test_tables_in_parquet_are_named_too(wanted: str, tmp_path: Path) -> None:
    for kind in ("run", "qrels", "labels", "scores"):
        if kind == wanted:
            continue
        text = next(text for text in FILES[kind] if "," in text.partition("\n")[0])
        (tmp_path / "x.csv").write_text(text)
        assay.io.convert(tmp_path / "x.csv", tmp_path / "x.parquet")
        with pytest.raises(DataError) as caught:
            READERS[wanted](tmp_path / "x.parquet")
        assert f"x.parquet is {KINDS[kind]}" in str(caught.value), (kind, wanted)


def test_swapped_files_in_python(tmp_path: Path) -> None:
    run, qrels = tmp_path / "bm25.run", tmp_path / "qrels.txt"
    run.write_text(FILES["run"][0])
    qrels.write_text(FILES["qrels"][0])
    with pytest.raises(
        WrongKind, match=r"bm25.run is a run; give judgments here \(.*qrels.txt is judgments: did you swap"
    ):
        assay.evaluate(qrels, run, "AP")
    with pytest.raises(WrongKind, match=r"qrels.txt is judgments; give a run here"):
        assay.evaluate([qrels, run], qrels, "AP", jobs=2)
    error = WrongKind("a", "run", "qrels", "--qrels", "why")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def assay_says(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    return done.stderr.removeprefix("assay: ").rstrip("\n")


def test_swapped_files_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, kind in (("bm25.run", "run"), ("qrels.txt", "qrels"), ("labels.csv", "labels"), ("s.csv", "scores")):
        Path(name).write_text(FILES[kind][0])
    assert assay_says("score", "--qrels", "bm25.run", "qrels.txt") == (
        "bm25.run is a run; give judgments with --qrels (qrels.txt is judgments: did you swap them?)"
    )
    assert assay_says("check", "--qrels", "bm25.run", "qrels.txt").endswith("did you swap them?)")
    assert assay_says("predict", "bm25.run", "--qrels", "labels.csv").startswith("labels.csv is labels; give judgments")
    assert assay_says("compare", "bm25.run").startswith("bm25.run is a run; give scores here")
    assert assay_says("crowd", "check", "s.csv").startswith("s.csv is scores; give labels here")
    assert assay_says("score", "--qrels", "qrels.txt", "s.csv").startswith("s.csv is scores; give a run here")
    assert assay_says("score", "--intents", "qrels.txt", "bm25.run").startswith(
        "qrels.txt is judgments; give judgments by"
    )
    assert assay_says("score", "--qrels", "qrels.txt", "qrels.txt").startswith(
        "qrels.txt is judgments; give a run here"
    )


def test_judgments_with_q0_are_judgments_and_short_runs_are_not(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("19335 Q0 1017759 0\n19335 Q0 1082489 3\n47923 Q0 1720389 1\n")
    assert recognise(path) == [("qrels", "trec")]
    path.write_text("1 Q0 a 1\n1 Q0 b 2\n1 Q0 c 3\n")
    assert recognise(path) == []


def test_texts_may_end_in_numbers(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text("".join(f"{i}\tquery {i}\n" for i in range(1, 9)))
    assert read_topics(path).queries()["3"] == "query 3"
    assert read_docs(path)["3"] == read_docs(path, docs=["3"])["3"] == {"text": "query 3"}


WORDS = st.sampled_from(["1", "Q0", "0", "q0", "Q1", "#2", "doc-1", "é", "1e3", "-2.5", ".5", "5.", "+1", "nan", "1_0"])
LINES = st.lists(WORDS, min_size=4, max_size=7).map(" ".join)


@given(
    st.lists(LINES | st.just("q1 Q0 d 1 -2.5 bm25") | st.just("q1\t0\td\t1\t7\tr"), max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_lines_that_are_a_run_at_a_glance_are_one_by_a_closer_look(lines: list[str], end: str, is_long: bool) -> None:
    text = end.join([*lines * (samples.SEEN_LINES if is_long else 1), ""])
    content = Content.of_bytes("x", text.encode())
    if samples._has_run_lines(content):
        assert samples._of_text(content, ()).are_of_run


@pytest.mark.parametrize("lines", [1, samples.SEEN_LINES, samples.SEEN_LINES + 1])
def test_usual_lines_of_a_run_are_seen_at_a_glance(lines: int) -> None:
    usual = Content.of_bytes("x", b"1 Q0 doc-1 1 12.5 bm25\n" * lines)
    assert samples._has_run_lines(usual)
    cut = Content.of_bytes("x", b"1 Q0 doc-1 1 12.5 bm25\n" * lines + b"1 Q0 doc-2 2")
    assert samples._has_run_lines(cut) == (lines >= samples.SEEN_LINES)
