"""The picture of relevance and diversity, and judgments by intent where scores are compared and files checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.check import check_intents
from assay.core.errors import UsageError
from assay.data import Run
from assay.io.intents import read_intent_qrels
from assay.report.diversity import diversity_scatter
from assay.scoring import evaluate
from tests.hostile.calls import call

JUDGED = "1 1 a 2\n1 1 b 1\n1 2 b 1\n1 2 c 1\n2 1 d 1\n2 2 e 1\n2 3 e 0\n"
INFO = "1 1 .7 inf\n1 2 .3 nav\n2 1 .5\n2 2 .3\n4 1 1\n"
RUNS = {"narrow": {"1": ["a", "b"], "2": ["d"]}, "broad": {"1": ["b", "c"], "2": ["d", "e"]}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d.qrels").write_text(JUDGED)
    (tmp_path / "d.intents").write_text(INFO)
    for name, lists in RUNS.items():
        lines = [f"{t} Q0 {d} {i + 1} {9 - i} {name}" for t, docs in lists.items() for i, d in enumerate(docs)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_points_are_the_two_parts_of_d_sharp_and_lines_have_one_of_it(folder: Path) -> None:
    qrels = read_intent_qrels(folder / "d.qrels", intents=folder / "d.intents")
    runs = [Run.from_lists(name, lists) for name, lists in RUNS.items()]
    scores = evaluate(runs, qrels, ["I-rec@5", "D-nDCG@5", "D#-nDCG@5"])
    made = diversity_scatter(scores)
    for row, together in zip(made.spec["datasets"]["rows"], scores["D#-nDCG@5"].averages(), strict=True):
        assert row["both"] == pytest.approx(together, abs=1e-6)
        assert (row["recall"] + row["relevance"]) / 2 == pytest.approx(row["both"], abs=1e-6)
    for point in made.spec["datasets"]["levels"]:
        assert (point["recall"] + point["relevance"]) / 2 == pytest.approx(point["level"], abs=1e-5)
    assert "broad has the highest D#-nDCG@5" in made.description
    with pytest.raises(UsageError, match="needs I-rec and a D measure of one cutoff"):
        diversity_scatter(evaluate(runs, qrels, ["I-rec@5", "D-nDCG@10"]))


def test_compare_and_study_score_by_intents_as_score_does(folder: Path) -> None:
    judged = ["--intents", str(folder / "d.qrels"), "--intent-info", str(folder / "d.intents")]
    runs = [str(folder / "narrow.run"), str(folder / "broad.run")]
    shown = json.loads(call(["score", *judged, *runs, "-m", "D#-nDCG@5", "--format", "json"]).out)
    of_score = {row["run"]: row["D#-nDCG@5"] for row in shown["rows"]}
    done = call(["compare", *judged, *runs, "-m", "D#-nDCG@5", "--format", "json"])
    assert {row["run"]: row["mean"] for row in json.loads(done.out)["rows"]} == pytest.approx(of_score)
    assert call(["study", "discriminative", *judged, *runs, "--test", "t"]).code == 0
    for words, message in (
        (["--qrels", str(folder / "d.qrels"), *judged[:2]], "--qrels and --intents are both judgments"),
        (judged[2:], "--intent-info describes the intents of --intents"),
    ):
        refused = call(["compare", *words, *runs])
        assert refused.code == 2
        assert message in refused.err


def test_what_is_odd_in_judgments_by_intent(folder: Path) -> None:
    found, facts, plain = check_intents(folder / "d.qrels", folder / "d.intents")
    said = [finding.what for finding in found]
    assert said == [
        "1 intents without a relevant doc, which are left out of scores ('3' of topic '2')",
        "1 topics that have no judgments ('4')",
        "1 judged intents without a probability, which count as 0 ('3' of topic '2')",
        "1 topics whose probabilities sum to less than 1 ('2': 0.80)",
    ]
    assert facts is not None
    assert facts.table().rows == (("1", 2, 2, 1, 3, 3, 1), ("2", 3, 2, 0, 2, 2, 0))
    assert plain is not None
    assert plain.to_dict() == {"1": {"a": 2, "b": 1, "c": 1}, "2": {"d": 1, "e": 1}}


def test_check_by_intent_on_the_command_line(folder: Path) -> None:
    judged = ["--intents", str(folder / "d.qrels")]
    done = call(["check", *judged, str(folder / "narrow.run"), "--format", "json"])
    assert done.code == 0, done.err
    records = json.loads(done.out)
    assert [row["relevant"] for row in records[0]["rows"]] == [3, 2]
    (folder / "bad.qrels").write_text(JUDGED + "1 1 a 1\n")
    broken = call(["check", "--intents", str(folder / "bad.qrels")])
    assert broken.code == 1
    assert "is judged twice for intent '1' of topic '1'" in broken.out
    idle = call(["check", *judged, "--ties"])
    assert (idle.code, "--ties goes with --qrels, not with --intents" in idle.err) == (2, True)
