"""Estimates from scores of people and of a machine: those of judgments where both are known, and for answers."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AssayError, UsageError
from assay.data import ScoreMatrix
from assay.data.assignments import Assignments
from assay.judges import estimate, estimate_scores, judge
from assay.judges.topic_estimators import ESTIMATORS
from assay.scoring import evaluate
from assay.scoring.assigned_scores import evaluate_nuggets
from tests.hostile.calls import call
from tests.judges.simulated import labels_of
from tests.judges.test_audit import collection

WORDS = ("not_support", "partial_support", "support")


def test_scores_give_what_judgments_give() -> None:
    rng = random.Random(0)
    docs = [f"d{i}" for i in range(6)]
    people = {str(t): {doc: rng.randrange(2) for doc in docs} for t in range(8)}
    machine = {str(t): {doc: rng.randrange(2) for doc in docs} for t in range(20)}
    runs = {run: {str(t): {doc: rng.random() for doc in docs} for t in range(20)} for run in ("a", "b", "c")}
    labels = {topic: {doc: {"gpt": grade} for doc, grade in of.items()} for topic, of in machine.items()}
    judged = estimate(people, labels, runs, measure="P@3", baseline="a", method="tuned")
    by_people = evaluate({n: {t: r[t] for t in people} for n, r in runs.items()}, people, "P@3")["P@3"]
    by_machine = evaluate(runs, machine, "P@3")["P@3"]
    scored = estimate_scores(by_people, by_machine, baseline="a", method="tuned")
    assert scored.runs == judged.runs
    assert scored.found.value == pytest.approx(judged.found.value)
    assert scored.interval[0] == pytest.approx(judged.interval[0])
    assert scored.machine_only == pytest.approx(judged.machine_only)
    assert scored.checks[0] == judged.checks[0]


def assigned(topics: range, error: float, seed: int) -> Assignments:
    """Assignments of three runs; with an error the assessor sees more support than there is."""
    truth = random.Random(5)
    noise = random.Random(seed)
    rows = []
    for t in range(60):
        for skill, run in enumerate(("a", "b", "c"), start=1):
            for n in range(8):
                word = truth.choices(WORDS, weights=(4 - skill, 1, skill))[0]
                seen = "support" if noise.random() < error else word
                if t in topics:
                    rows.append((str(t), run, f"n{n}", "vital" if n % 2 else "okay", seen))
    return Assignments.from_rows(rows)


def test_few_people_and_many_machine_assignments_of_answers(tmp_path: Path) -> None:
    """People assessed 20 topics, a lenient machine all 60: the estimate is nearer to what people say of all topics."""
    truth = evaluate_nuggets(assigned(range(60), 0.0, 0), ["V_strict"])["V_strict"]
    people = evaluate_nuggets(assigned(range(20), 0.0, 0), ["V_strict"])["V_strict"]
    machine = evaluate_nuggets(assigned(range(60), 0.3, 1), ["V_strict"])["V_strict"]
    found = estimate_scores(people, machine)
    assert len(found.human_topics) == 20
    assert len(found.machine_topics) == 40
    low, high = found.interval
    assert ((low <= truth.averages()) & (truth.averages() <= high)).all()
    assert (np.abs(found.machine_only - truth.averages()) > 0.05).all()  # the machine alone is biased
    assert (found.found.error < found.human_only.error).all()
    assert found.found.limits == (0.0, 1.0)  # quarters agree on most topics, so there are bounds and no t interval
    files = {}
    for name, matrix in (("people", people), ("gpt", machine)):
        files[name] = tmp_path / f"{name}.csv"
        rows = [
            f"{run},{topic},V_strict,{score}" for run, of in matrix.to_dict().items() for topic, score in of.items()
        ]
        files[name].write_text("run,topic,measure,score\n" + "\n".join(rows) + "\n")
    words = ["judge", "estimate", "--human", str(files["people"]), "--machine", str(files["gpt"]), "-m", "V_strict"]
    done = call([*words, "--format", "json"])
    printed = json.loads(done.out)
    assert (printed["judge"], printed["human_topics"], printed["machine_topics"]) == ("gpt", 20, 40)
    by_run = {row["run"]: row["estimate"] for row in printed["rows"]}
    assert by_run == pytest.approx(dict(zip(found.runs, found.found.value.tolist(), strict=True)))
    for method in ESTIMATORS.names():
        again = call([*words, "--baseline", "a", "--method", method, "--figure", str(tmp_path / "e.svg")])
        assert (again.code, again.fell_over) == (0, None), again.err


def test_scores_that_do_not_go_together(tmp_path: Path) -> None:
    def matrix(runs: str, topics: range, measure: str = "V_strict") -> ScoreMatrix:
        values = np.full((len(runs), len(topics)), 0.5)
        return ScoreMatrix.of(values, runs=list(runs), topics=[str(t) for t in topics], measure=measure)

    for human, machine, message in (
        (matrix("ab", range(5)), matrix("ab", range(9), "AP"), "V_strict and AP are not the same measure"),
        (matrix("ab", range(5)), matrix("ac", range(9)), "run 'b' has scores by people only"),
        (matrix("a", range(5)), matrix("ab", range(9)), "run 'b' has scores by the machine only"),
        (matrix("ab", range(1)), matrix("ab", range(9)), "1 topics have scores by people and the machine"),
        (matrix("ab", range(9)), matrix("ab", range(9)), "0 topics have scores by the machine only"),
    ):
        with pytest.raises(AssayError, match=message):
            estimate_scores(human, machine)
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n1 0 b 0\n")
    done = call(["judge", "estimate", "--human", str(path), "--machine", str(path)])
    assert done.code == 2
    assert "no runs are given, and" in done.err
    assert "(--human) holds no scores; give RUNS with judgments, or scores" in done.err
    (tmp_path / "s.csv").write_text("run,topic,measure,score\na,1,AP,.5\na,2,AP,.25\n")
    done = call(["judge", "estimate", "--human", str(tmp_path / "s.csv"), "--machine", str(path), "--judge", "x"])
    assert "--judge has no effect without runs; leave it out" in done.err


@pytest.mark.parametrize("measure", ["geometric(AP)", "median(AP)", "harmonic(AP)", "NumRelRet"])
def test_other_averages_than_means_are_refused(measure: str) -> None:
    """An interval of a mean would be shown under the name of another average."""
    rng = np.random.default_rng(0)
    topics = [str(number) for number in range(12)]
    people = ScoreMatrix.of(rng.random((2, 6)), topics=topics[:6], measure=measure)
    machine = ScoreMatrix.of(rng.random((2, 12)), topics=topics, measure=measure)
    with pytest.raises(UsageError, match="rests on means"):
        estimate_scores(people, machine)
    runs, qrels = collection()
    with pytest.raises(UsageError, match="rests on means"):
        judge(qrels, labels_of(qrels, ("kind",)), runs, measure=measure)
