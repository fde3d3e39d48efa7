"""assay judge, assay plan labels and the order label-variance: on files, with bad input as one line and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.studies.simulate import simulate, write_collection
from tests.hostile.calls import call


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    made = simulate(topics=14, docs=200, depth=40, runs_per_group=1, manual_runs=1)
    write_collection(made, folder)
    lines = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    few = {str(301 + t) for t in range(6)}
    (folder / "few.qrels").write_text("".join(line for line in lines if line.split()[0] in few))
    return folder


def ran(folder: Path, *words: str) -> str:
    done = call([word.replace("@", str(folder) + "/") if word.startswith("@") else word for word in words])
    assert done.code == 0, done.err
    return done.out


def refused(folder: Path, *words: str) -> str:
    done = call([word.replace("@", str(folder) + "/") if word.startswith("@") else word for word in words])
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.strip().splitlines()) == 1
    return done.err


BOTH = ("--human", "@qrels.txt", "--machine", "@judges.csv")
FEW = ("--human", "@few.qrels", "--machine", "@judges.csv")


def test_audit_with_and_without_runs(demo: Path) -> None:
    text = ran(demo, "judge", "audit", *BOTH, "@runs", "-B", "50")
    assert "copies of one another" in text
    assert "lenient ranks" in text
    labels = ran(demo, "judge", "audit", *BOTH, "-B", "50", "--show", "agreement", "--format", "csv")
    assert labels.startswith("judge,compared,measure,value,low,high,pairs")
    record = json.loads(ran(demo, "judge", "audit", *BOTH, "@runs", "-B", "50", "--show", "panel", "--format", "json"))
    assert {row["kind"] for row in record["rows"]} == {"judge", "panel"}


def test_audit_by_a_column_of_the_runs(demo: Path) -> None:
    text = ran(
        demo, "judge", "audit", *BOTH, "@runs", "-B", "20", "--info", "@runs.csv", "--by", "manual", "--show", "parts"
    )
    assert "manual" in text
    assert "topic difficulty" in text


def test_audit_draws_and_reports(demo: Path, tmp_path: Path) -> None:
    ran(demo, "judge", "audit", *BOTH, "@runs", "-B", "20", "--figure", str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    page = tmp_path / "judges.html"
    words = (
        "report",
        "--qrels",
        "@qrels.txt",
        "--judge",
        "@judges.csv",
        "@runs",
        "--sections",
        "judges",
        "-m",
        "nDCG@10",
    )
    ran(demo, *words, "-o", str(page))
    text = page.read_text()
    for said in ("Machine judges", "What a run gains by asking the judge", "Do several judges help?"):
        assert said in text
    only_labels = tmp_path / "labels.html"
    ran(
        demo,
        "report",
        "--qrels",
        "@qrels.txt",
        "--judge",
        "@judges.csv",
        "--sections",
        "judges",
        "-o",
        str(only_labels),
    )
    assert "How far machine judges agree with people" in only_labels.read_text()


def test_estimates_of_topics_and_docs(demo: Path, tmp_path: Path) -> None:
    text = ran(demo, "judge", "estimate", *FEW, "@runs", "--judge", "careful", "--baseline", "cygnus1")
    assert "assumes that the human topics are drawn from the same topics" in text
    sampled = tmp_path / "sample.qrels"
    ran(demo, "pool", "sample", "@runs", "--method", "uniform(share=0.3,k=10)", "--qrels", "@qrels.txt", "--save",
        str(sampled), "--quiet")  # fmt: skip
    text = ran(
        demo, "judge", "docs", "--human", str(sampled), "--machine", "@judges.csv", "@runs", "--judge", "careful"
    )
    assert "with known probabilities" in text
    assert "calibrated by isotonic" in text


def test_prevalence_fill_coverage_and_plan(demo: Path) -> None:
    assert "with topics as units" in ran(demo, "judge", "prevalence", *FEW, "--rel", "2")
    text = ran(demo, "judge", "fill", *FEW, "@runs", "--judge", "lenient", "--draws", "5")
    assert "filled by machine" in text
    text = ran(demo, "judge", "coverage", *BOTH, "@runs", "--topics", "8", "--samples", "5")
    assert "machine only" in text
    text = ran(demo, "plan", "labels", *BOTH, "@runs", "--judge", "careful", "--width", "0.1")
    assert "one human topic is worth up to" in text
    assert "people alone" in text
    assert "Neyman" in ran(demo, "plan", "labels", *BOTH, "@runs", "--judge", "careful", "--delta", ".05", "--strata")


def test_labels_decide_what_to_judge_next(demo: Path, tmp_path: Path) -> None:
    how = ("pool", "next", "@runs", "--order", "label-variance", "--labels", "@judges.csv", "--judge-name", "lenient")
    first = ran(demo, *how, "--count", "5")
    journal = tmp_path / "my.qrels"
    topic, doc = first.splitlines()[4].split()[:2]
    second = ran(demo, *how, "--count", "5", "--journal", str(journal), "--tell", topic, doc, "2")
    assert doc not in second


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("judge", "audit", *BOTH, "--top", "3"), "--top has no effect without runs"),
        (("judge", "audit", *BOTH, "@runs", "--info", "@runs.csv", "--show", "bias"), "without --where or --by;"),
        (("judge", "estimate", *FEW, "@runs"), "name one"),
        (("judge", "estimate", *BOTH, "@runs", "--judge", "careful"), "have machine labels only"),
        (("judge", "docs", *FEW, "@runs", "--judge", "careful"), "have no probabilities"),
        (("judge", "audit", *BOTH, "--scale", "S4", "--scale", "lenient=S2"), "one scale for everybody"),
        (("plan", "labels", *BOTH, "@runs", "--judge", "careful"), "give the width"),
        (("pool", "next", "@runs", "--order", "label-variance"), "give --labels FILE"),
        (("pool", "next", "@runs", "--order", "hedge", "--labels", "@qrels.txt"), "--labels"),
        (("pool", "next", "@runs", "--labels", "@judges.csv", "--judge-name", "twin"), "does not look at"),
        (("report", "--judge", "@judges.csv"), "judgments of people"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(demo: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused(demo, *words)


def test_judgments_of_one_judge_are_labels_too(demo: Path) -> None:
    text = ran(
        demo, "judge", "audit", "--human", "@qrels.txt", "--machine", "@qrels.txt", "-B", "20", "--show", "faults"
    )
    assert "No fault was found." in text
