"""assay plan: every subcommand on small files, its formats, and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.plan import command
from assay.core.errors import AssayError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores, write_scores


def plan(*words: object) -> Result:
    return CliRunner().invoke(command, [str(w) for w in words])


def rows(*words: object) -> list[dict[str, Any]]:
    result = plan(*words, "--format", "json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.output)
    return (record if isinstance(record, dict) else record[0])["rows"]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = np.clip(0.4 + rng.normal(0, 0.05, (8, 1)) + rng.normal(0, 0.15, (8, 40)), 0, 1)
    path = tmp_path / "scores.csv"
    write_scores(path, [ScoreMatrix.of(x, measure="AP")], shape="matrix")
    return path


def test_power() -> None:
    assert rows("power", "--delta", 0.03, "--sigma", 0.13)[0]["topics"] == 150
    assert rows("power", "--topics", 50, "--sigma", 0.159)[0]["delta"] == pytest.approx(0.0643, abs=5e-5)
    found = rows("power", "--topics", 50, "--delta", 0.05, "--sigma", 0.16, "--one-sided")
    assert found[0]["power"] == pytest.approx(0.7034, abs=5e-5)
    assert rows("power", "--effect", 0.5, "--normal")[0]["topics"] == 32
    assert rows("power", "--effect", 0.5, "--two-sample")[0]["topics"] == 64
    # Webber 2010, Fig. 5.1, prints .0376, which is 1.645·.16/√49; the t test needs .0379.
    assert found[0]["significant_from"] == pytest.approx(0.03794, abs=5e-6)
    normal = rows("power", "--topics", 50, "--delta", 0.05, "--sigma", 0.16, "--one-sided", "--normal")
    assert normal[0]["significant_from"] == pytest.approx(0.03722, abs=5e-6)


def test_curve() -> None:
    found = rows("curve", "--sigma", 0.13, "--sigma", 0.19, "--topics", "50,150", "--delta", 0.05)
    assert [(r["sigma"], r["topics"]) for r in found] == [(0.13, 50), (0.13, 150), (0.19, 50), (0.19, 150)]
    assert found[3]["delta"] == pytest.approx(0.04374, abs=5e-6)
    assert all(0 < r["power"] < 1 for r in found)


def test_topics(scores: Path) -> None:
    given = rows("topics", "--variance", 0.05, "--difference", 0.1, "--runs", 10)
    assert [r["topics"] for r in given] == [81, 80, 158, 156, 155]
    estimated = rows("topics", scores, "--best", 5)
    assert all(r["topics"] > 0 for r in estimated)


def test_topics_of_two_sets_are_those_of_each_and_pairs_are_said_to_be_a_bound() -> None:
    assert "topics of each of the two sets" in plan("power", "--effect", 0.3, "--two-sample").output
    assert "of each" not in plan("power", "--effect", 0.3).output
    text = plan("topics", "--variance", 0.05).output
    assert text.count("topics of each of the two sets") == 2
    assert "pairs of real runs need fewer topics" in text


def test_audits_of_every_measure_are_drawn(scores: Path, tmp_path: Path) -> None:
    assert plan("audit", scores, "--figure", tmp_path / "a.svg").exit_code == 0
    assert "can find" in (tmp_path / "a.svg").read_text()
    assert plan("one-sigma", scores, "-B", 20, "--jobs", 1, "--figure", tmp_path / "b.svg").exit_code == 0
    assert "is one σ of differences plausible?" in (tmp_path / "b.svg").read_text()


def test_audit(scores: Path) -> None:
    result = plan("audit", scores)
    assert result.exit_code == 0
    assert "what 40 topics and 8 runs can find" in result.output
    assert "is one σ plausible?" in plan("one-sigma", scores, "-B", 20, "--jobs", 1).output
    assert plan("audit", scores, "--weights", "pairs").exit_code == 0


def test_trial(scores: Path) -> None:
    best = rows("trial", "--sigma", 0.15, "--delta", 0.033)
    assert {"trial_topics": 31, "total": 270} in [{k: r[k] for k in ("trial_topics", "total")} for r in best]
    after = rows("trial", "--sigma", 0.15, "--topics", 40, "--delta", 0.033, "--exact")
    assert after[0]["sigma_planned"] == pytest.approx(0.185, abs=5e-4)
    assert rows("trial", scores, "--runs", "run1,run2", "--delta", 0.05)[0]["trial_topics"] == 40


def test_next_keeps_its_looks_in_a_file(scores: Path, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    start = plan("next", "--plan", path, "--delta", 0.2, "--sigma", 0.2)
    assert "Judge 30 more topics" in start.output
    look = plan("next", "--plan", path, scores, "--runs", "run1,run2")
    assert look.exit_code == 0
    assert "Power is reached" in look.output
    assert "paired t test, 39 degrees of freedom" in look.output
    assert [x["topics"] for x in json.loads(path.read_text())["looks"]] == [40]
    with pytest.raises(AssayError, match="fixed at the start"):
        raise _error("next", "--plan", path, "--delta", 0.05)
    before = path.read_text()
    for late in (["--power", 0.9], ["--alpha", 0.05], ["--one-sided"], ["--normal"], ["--minimum", 3], ["--step", 2]):
        assert f"leave {late[0]} out" in str(_error("next", "--plan", path, scores, "--runs", "run1,run2", *late))
    assert path.read_text() == before


def test_sigma_and_inclusion(scores: Path) -> None:
    drawn = rows("sigma", scores, "--topics", 5, "--samples", 50, "--jobs", 1)[0]
    assert drawn["low"] < 1 < drawn["high"]
    names = ",".join(read_scores(scores)[0].runs[:2])
    topics = rows("inclusion", scores, "--runs", names, "--delta", 0.2, "--minimum", 3, "--trials", 50, "--jobs", 1)
    assert all(0 <= row["included"] <= 1 for row in topics)


def test_bias(scores: Path) -> None:
    found = rows("bias", scores, "--pairs", 2, "--samples", 50, "--target", 20, "--minimum", 5, "--jobs", 1)
    assert [r["pair"] for r in found][-1] == "mean"


def test_depth(tmp_path: Path) -> None:
    qrels, one, two = (tmp_path / name for name in ("qrels.txt", "one.run", "two.run"))
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 0\n2 0 c 1\n")
    one.write_text("1 Q0 a 1 9 one\n1 Q0 b 2 8 one\n2 Q0 c 1 9 one\n2 Q0 a 2 8 one\n")
    two.write_text("1 Q0 b 1 9 two\n1 Q0 a 2 8 two\n2 Q0 c 1 9 two\n2 Q0 d 2 8 two\n")
    found = rows("depth", "--qrels", qrels, one, two, "--depths", "1,2", "--budget", 10)
    assert [r["docs_per_topic"] for r in found] == [1.5, 2.5]
    assert [r["topics"] for r in found] == [6, 4]
    assert {"effect", "effect_q1", "effect_median", "effect_q3", "percent_found"} <= set(found[0])


def _error(*words: object) -> BaseException:
    result = plan(*words)
    assert result.exception is not None, result.output
    return result.exception


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["power"], "give two of"),
        (["power", "--effect", "0.2", "--alpha", "7"], "alpha"),
        (["curve", "--sigma", "0.1", "--topics", "a"], "whole numbers"),
        (["topics"], "give --variance, or score files"),
        (["topics", "--variance", "-1"], "variance: must be above 0 (got -1)"),
        (["topics", "--variance", "0.1", "--power", "0.01"], "power: 0.01 is not above α = 0.05"),
        (["trial", "--delta", "0.1"], "give --sigma, or the scores"),
        (["next", "--plan", "nowhere.json"], "no such experiment yet"),
        (["next", "--plan", "nowhere.json", "--delta", ".1", "--runs", "a,b"], "--runs has no effect without score"),
        (["topics", "--variance", "0.1", "--best", "5"], "--best has no effect without score files"),
        (["topics", "--variance", "0.1", "-m", "AP"], "-m has no effect without score files"),
        (["trial", "--sigma", "0.1", "--delta", "0.1", "--runs", "a,b"], "--runs has no effect without score files"),
        (["trial", "--sigma", "0.1", "--delta", "0.1", "--transpose"], "--transpose has no effect without score"),
    ],
)
def test_bad_words(words: list[str], message: str) -> None:
    error = _error(*words)
    assert isinstance(error, AssayError)
    assert message in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("AP,1\na,0.1\nb,0.2\n", ["audit"], "two runs and two topics"),
        ("AP,1,2\na,0.1,NaN\nb,0.2,0.3\n", ["audit"], "must be finite"),
        ("AP,1,2\na,0.1,0.2\nb,0.1,0.2\n", ["trial", "--delta", "0.1"], "a σ above 0 is needed"),
        ("AP,1,2\na,0.1,0.2\nb,0.1,0.2\nc,0.1,0.3\n", ["trial", "--delta", "0.1"], "compares two"),
        ("run,topic,score\na,1,0.1\nb,2,0.2\n", ["audit"], "every run needs every topic"),
    ],
)
def test_bad_scores(tmp_path: Path, text: str, words: list[str], message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    error = _error(words[0], path, *words[1:])
    assert isinstance(error, AssayError)
    assert message in str(error)


def test_identical_runs_have_a_stated_meaning(tmp_path: Path) -> None:
    path = tmp_path / "same.csv"
    path.write_text("AP,1,2\na,0.1,0.2\nb,0.1,0.2\n")
    result = plan("audit", path)
    assert result.exit_code == 0
    assert "nan" not in result.output.lower()


def test_help_has_examples() -> None:
    for name in command.commands:
        result = plan(name, "--help")
        assert result.exit_code == 0
        assert len(result.output.splitlines()) > 8


def test_errors_are_one_line_and_exit_2(tmp_path: Path) -> None:
    """Through the whole program, as a user meets them."""
    for words in (["power"], ["audit", str(tmp_path / "nothing.csv")], ["trial", "--sigma", "0.1"], ["nonsense"]):
        done = subprocess.run([sys.executable, "-m", "assay.cli.main", "plan", *words], capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("topics", ["inf", "nan"])
def test_a_number_of_topics_is_a_number(topics: str) -> None:
    result = plan("power", "--topics", topics, "--sigma", 0.1)
    assert isinstance(result.exception, AssayError)
    assert "topics: a t test needs at least two" in str(result.exception)


def test_variances_of_different_measures_are_not_pooled(tmp_path: Path) -> None:
    m = [ScoreMatrix.of([[0.1, 0.4], [0.2, 0.9]], measure=name) for name in ("AP", "RR")]
    write_scores(tmp_path / "s.csv", m)
    assert "choose one with -m" in str(plan("topics", tmp_path / "s.csv").exception)
    assert plan("topics", tmp_path / "s.csv", "-m", "RR").exit_code == 0
    write_scores(tmp_path / "a.csv", m[:1])
    write_scores(tmp_path / "b.csv", m[:1])
    assert plan("topics", tmp_path / "a.csv", tmp_path / "b.csv").exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AP,1\na,.1\nb,.2\n", "σ needs at least two topics"),
        ("AP,1,2,3\na,.1,.2,.3\nb,.2,.3,.4\n", "the same amount on every topic"),
    ],
)
def test_a_trial_without_a_spread_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    result = plan("trial", tmp_path / "t.csv", "--delta", 0.1)
    assert isinstance(result.exception, AssayError)
    assert message in str(result.exception)
