"""Runs of answers scored from assignments: the numbers of plain loops, policies, banks, and what is said of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.core.errors import AssayError
from assay.data.assignments import Answer, Assignments, CitationSupport
from assay.io.scores import read_scores
from assay.scoring.assigned_scores import OF_NUGGETS, evaluate_nuggets, evaluate_reports, evaluate_support
from tests.hostile.calls import call
from tests.oracles import answers as oracle

RUNS = [f"run{i}" for i in range(4)]
TOPICS = [f"q{t}" for t in range(1, 13)]


def simulated(seed: int = 0) -> dict[tuple[str, str], list[tuple[str, str, str]]]:
    """{(run, topic): (nugget, importance, assignment)}, every run on the same nuggets; one answer is not there."""
    rng = random.Random(seed)
    made = {}
    for topic in TOPICS:
        bank = [(f"n{i}", rng.choice(["vital", "okay"])) for i in range(rng.randrange(1, 9))]
        for run in RUNS:
            words = [rng.choice(list(oracle.CREDIT)) for _ in bank]
            made[run, topic] = [(*nugget, word) for nugget, word in zip(bank, words, strict=True)]
    del made["run3", "q5"]
    return made


def assignments(made: dict[tuple[str, str], list[tuple[str, str, str]]]) -> Assignments:
    rows = [(topic, run, *nugget) for (run, topic), nuggets in made.items() for nugget in nuggets]
    random.Random(1).shuffle(rows)
    return Assignments.from_rows(rows)


def test_nugget_recall_of_runs_is_that_of_a_loop() -> None:
    made = simulated()
    found = evaluate_nuggets(assignments(made))
    assert found.scores.measures == OF_NUGGETS
    for matrix in found.scores:
        assert (matrix.runs, matrix.topics) == (tuple(RUNS), tuple(TOPICS))
        for i, run in enumerate(RUNS):
            for j, topic in enumerate(TOPICS):
                nuggets = [(importance, word) for _, importance, word in made.get((run, topic), [])]
                assert matrix.values[i, j] == pytest.approx(oracle.nugget_recall(nuggets, matrix.measure))
    assert "run 'run3' does not answer 1 of 12 topics (q5): they score 0" in found.table().notes


def test_support_of_runs_is_that_of_a_loop() -> None:
    rng = random.Random(3)
    made: dict[tuple[str, str], list[list[str]]] = {}
    rows = []
    for run in RUNS:
        for topic in TOPICS:
            sentences = [
                [rng.choice(list(oracle.SUPPORT)) for _ in range(rng.randrange(4))] for _ in range(rng.randrange(1, 6))
            ]
            made[run, topic] = sentences
            rows.append((topic, run, "greeting", "", "not_needed"))
            for s, citations in enumerate(sentences):
                rows += [(topic, run, f"s{s}", f"d{c}", word) for c, word in enumerate(citations)]
                rows += [(topic, run, f"s{s}", "", "")] * (not citations)
    rng.shuffle(rows)
    measures = ["SupportP", "SupportR", "SupportF1", "SentenceP"]
    found = evaluate_support(CitationSupport.from_rows(rows), measures)
    for matrix in found.scores:
        for i, run in enumerate(RUNS):
            for j, topic in enumerate(TOPICS):
                assert matrix.values[i, j] == pytest.approx(oracle.support(made[run, topic], matrix.measure))


def test_topics_without_nuggets_of_a_kind_score_0_and_that_is_said() -> None:
    rows = [("1", "mine", "a", "okay", "support"), ("2", "mine", "a", "vital", "support")]
    made = Assignments.from_rows(rows, without=[Answer("3", "mine")])
    found = evaluate_nuggets(made, ["V_strict", "A_strict"])
    assert found["V_strict"].values.tolist() == [[0.0, 1.0, 0.0]]
    assert found["A_strict"].values.tolist() == [[1.0, 1.0, 0.0]]
    assert found.remarks == (
        "1 of 3 topics have no nuggets (3): 0 there by V_strict, A_strict",
        "1 of 3 topics have no vital nuggets (1): 0 there by V_strict",
    )
    assert found.record()["remarks"] == list(found.remarks)
    alone = evaluate_nuggets(Assignments.from_rows([], without=[Answer("3", "mine")]))
    assert alone["A_strict"].values.tolist() == [[0.0]]


def test_missing_topics_obey_the_policy() -> None:
    made = assignments(simulated())
    zero, dropped = (evaluate_nuggets(made, ["A_strict"], missing=how)["A_strict"] for how in ("zero", "drop"))
    assert zero.values[3, TOPICS.index("q5")] == 0
    assert dropped.topics == tuple(topic for topic in TOPICS if topic != "q5")
    assert "missing:drop" in dropped.signature
    with pytest.raises(AssayError, match="run 'run3' has no answer to topic 'q5'; missing='zero'"):
        evaluate_nuggets(made, missing="error")
    with pytest.raises(AssayError, match="no policy for missing topics 'mean'; known: zero, drop, error"):
        evaluate_nuggets(made, missing="mean")
    nowhere = [("1", "a", "n", "okay", "yes"), ("2", "b", "n", "okay", "yes")]
    with pytest.raises(AssayError, match="no topic is answered by every run"):
        evaluate_nuggets(Assignments.from_rows(nowhere), missing="drop")


def test_a_bank_says_what_there_was_to_find() -> None:
    rows = [("1", "a", "n1", "vital", "support"), ("1", "b", "n1", "vital", "no"), ("1", "b", "n2", "okay", "yes")]
    made = Assignments.from_rows(rows)
    message = "run 'a' has assignments of 1 of the 2 nuggets of topic '1' that other runs have; give all nuggets"
    with pytest.raises(AssayError, match=message):
        evaluate_nuggets(made)
    bank = {"1": {"n1": False, "n2": False, "n3": True}, "2": {"x": True}}
    found = evaluate_nuggets(made, ["A_strict", "V_strict"], bank=bank)
    assert found["A_strict"].topics == ("1", "2")
    assert found["A_strict"].values.tolist() == [[pytest.approx(1 / 3), 0], [pytest.approx(1 / 3), 0]]
    assert found["V_strict"].values.tolist() == [[0, 0], [0, 0]]
    assert found.remarks[:2] == (
        "2 assignments give their nuggets another importance than the bank; that of the bank counts",
        "3 nuggets of the bank have no assignment; they count as not supported",
    )
    with pytest.raises(AssayError, match="nugget 'n2' of topic '1' is not in the bank"):
        evaluate_nuggets(made, bank={"1": {"n1": True}})
    with pytest.raises(AssayError, match="topic '1' has no nuggets in the bank"):
        evaluate_nuggets(made, bank={"2": {"n1": True}})


def test_reports_need_the_same_runs_and_take_all_measures() -> None:
    nuggets = Assignments.from_rows([("1", "a", "n", "okay", "support"), ("2", "a", "n", "vital", "yes")])
    cited = CitationSupport.from_rows([("1", "a", "s1", "d", "full"), ("1", "a", "s2", "", "")])
    found = evaluate_reports(nuggets, cited, "ArgueF1 SentenceP A_strict SupportP")
    assert found["A_strict"].values.tolist() == [[1.0, 1.0]]  # known without any support
    assert found.remarks == ("run 'a' has no nuggets or no support for 1 of 2 topics (2): what is missing counts as 0",)
    assert found["ArgueF1"].values.tolist() == [[pytest.approx(2 / 3), 0]]
    assert found["SentenceP"].values.tolist() == [[0.5, 0]]
    assert found["SupportP"].values.tolist() == [[1.0, 0]]
    other = CitationSupport.from_rows([("1", "b", "s1", "d", "full")])
    with pytest.raises(AssayError, match="run 'a' has nuggets and no support; give both of the same runs"):
        evaluate_reports(nuggets, other)
    with pytest.raises(AssayError, match="SupportP cannot be computed from nuggets; take one of V_strict, V_lenient"):
        evaluate_nuggets(nuggets, ["SupportP"])
    with pytest.raises(AssayError, match="no measure; give at least one of SupportP, SupportR"):
        evaluate_support(cited, [])


def nuggetizer_file(path: Path, seed: int = 0) -> Path:
    lines = []
    for (run, topic), nuggets in simulated(seed).items():
        assigned = [{"text": text, "importance": i, "assignment": a} for text, i, a in nuggets]
        lines.append({"query": topic, "qid": topic, "run_id": run, "nuggets": assigned})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_scores_of_answers_are_compared_planned_standardized_and_reported(tmp_path: Path) -> None:
    saved = tmp_path / "scores.csv"
    done = call(["answers", "nuggets", str(nuggetizer_file(tmp_path / "a.jsonl")), "--save", str(saved)])
    assert (done.code, done.fell_over) == (0, None), done.err
    matrices = {matrix.measure: matrix for matrix in read_scores(saved)}
    assert list(matrices) == list(OF_NUGGETS)
    page = tmp_path / "report.html"
    for words in (
        ["compare", str(saved), "-m", "V_strict", "--baseline", "run0"],
        ["plan", "topics", str(saved), "-m", "V_strict"],
        ["standardize", "apply", str(saved), "-m", "A_lenient"],
        ["report", str(saved), "-o", str(page)],
    ):
        again = call(words)
        assert (again.code, again.fell_over) == (0, None), (words, again.err)
    assert "V_strict" in page.read_text()
    found = assay.compare(matrices["V_strict"], baseline="run0")
    assert found.table().rows


def test_the_command_prints_what_the_library_says(tmp_path: Path) -> None:
    path = nuggetizer_file(tmp_path / "a.jsonl")
    figure = tmp_path / "shares.svg"
    done = call(["answers", "nuggets", str(path), "-m", "V_strict", "--format", "json", "--figure", str(figure)])
    printed: dict[str, Any] = json.loads(done.out)
    found = evaluate_nuggets(path, ["V_strict"])
    assert printed["result"] == "answer_scores"
    assert printed["remarks"] == list(found.remarks)
    by_run = {row["run"]: row["V_strict"] for row in printed["rows"]}
    assert by_run == pytest.approx(dict(zip(RUNS, found["V_strict"].averages().tolist(), strict=True)))
    counted = [one for one in printed["grades"] if one["run"] == "run0"]
    assert sum(one["count"] for one in counted) == sum(len(n) for (r, _), n in simulated().items() if r == "run0")
    assert figure.read_text().startswith("<svg")
    as_csv = call(["answers", "nuggets", str(path), "-m", "V_strict", "--per-topic", "--format", "csv"])
    assert len(as_csv.out.splitlines()) == 1 + len(RUNS) * len(TOPICS)
    assert "tabular" in call(["answers", "nuggets", str(path), "--format", "latex"]).out


def test_bad_calls_say_one_line(tmp_path: Path) -> None:
    path = nuggetizer_file(tmp_path / "a.jsonl")
    (tmp_path / "run.txt").write_text("1 Q0 a 1 2.5 bm25\n1 Q0 b 2 1.5 bm25\n")
    (tmp_path / "s.csv").write_text("topic,run,sentence,citation,support\nq1,run0,s1,d1,full\n")
    for words, message in (
        (["nuggets", str(tmp_path / "run.txt")], "run.txt is a run; give nuggets assigned to answers here"),
        (["nuggets", str(tmp_path / "s.csv")], "s.csv is support of citations; give nuggets assigned"),
        (["support", str(path)], "a.jsonl is nuggets assigned to answers; give support of citations here"),
        (["nuggets", str(path), "--bank", str(path)], "give nuggets of topics here"),
        (["nuggets", str(path), "-m", "V_strct"], "no text measure 'V_strct'; did you mean V_strict"),
        (["nuggets", str(path), "-m", "ArgueF1"], "ArgueF1 cannot be computed from nuggets"),
        (["nuggets", str(path), "--assessor", "anna"], "a.jsonl: the rows name no assessor ('anna')"),
        (["nuggets", str(path), str(path)], "is there twice for run"),
        (["reports", str(path), "--support", str(tmp_path / "s.csv")], "has nuggets and no support"),
        (["agreement", str(path)], "one assessor alone; agreement needs assignments of two or more"),
    ):
        done = call(["answers", *words])
        assert (done.code, done.fell_over, done.out) == (2, None, ""), (words, done)
        assert message in done.err, (words, done.err)
        assert len(done.err.splitlines()) == 1


def test_many_assignments_take_little_time() -> None:
    """45 runs on 300 topics of 14 nuggets, counted as arrays."""
    rng = np.random.default_rng(0)
    runs, topics, nuggets = 45, 300, 14
    size = runs * topics * nuggets
    grid = np.indices((runs, topics, nuggets)).reshape(3, size)
    names = tuple(f"r{i}" for i in range(runs)), tuple(f"q{i}" for i in range(topics))
    vital = (grid[1] + grid[2]) % 3 == 0
    credit = rng.integers(0, 3, size) / 2
    nobody = np.zeros(size, dtype=np.int64)
    texts = tuple(f"n{i}" for i in range(nuggets))
    made = Assignments(*names, texts, ("",), grid[0], grid[1], grid[2], nobody, vital, credit)
    found = evaluate_nuggets(made, ["A_lenient"])["A_lenient"]
    assert found.values == pytest.approx(credit.reshape(runs, topics, nuggets).mean(axis=2))
