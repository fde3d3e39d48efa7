"""assay interleave: from a log to a verdict, plans on disk, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, ["interleave", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"u{i % 59},{'new' if i % 5 < 3 else 'old'}" for i in range(300)]
    (tmp_path / "log.csv").write_text("user,winner\n" + "\n".join(rows) + "\n")
    lines = ["user,impression,team,clicked"]
    for i in range(60):
        lines += [f"u{i % 9},{i},{team},{(i + at) % 2}" for at, team in enumerate(("a", "b", "c"))]
    (tmp_path / "teams.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_log_is_analysed_with_a_verdict_and_a_figure(folder: Path) -> None:
    result = call("log.csv", "--baseline", "old", "--figure", "delta.svg")
    assert result.exit_code == 0, result.exception
    assert "new is preferred to old: Δ = +.1000" in result.output
    assert Path("delta.svg").read_text().startswith("<svg")
    rows = json.loads(call("log.csv", "--format", "json", "--quiet").stdout)["rows"]
    assert (rows[0]["delta"], rows[0]["wins"], rows[0]["users"]) == (pytest.approx(0.1), 180, 59)


def test_pairs(folder: Path) -> None:
    rows = json.loads(call("pairs", "teams.csv", "--format", "json", "--quiet").stdout)["rows"]
    assert [(row["system"], row["baseline"]) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rows[1]["delta"] == 0.0  # a and c are always clicked together


def test_a_plan_is_written_once_and_followed(folder: Path) -> None:
    words = ["plan", "--effect", ".1", "--system", "new", "--baseline", "old", "--save", "plan.json"]
    made = call(*words)
    assert made.exit_code == 0, made.exception
    assert "plan written to plan.json" in made.output
    again = call(*words)
    assert "there is a plan already" in str(again.exception)
    followed = call("log.csv", "--plan", "plan.json")
    assert "as planned: the one look, the first 189 impressions, and 111 later ones are left out" in followed.output
    piloted = call("plan", "--effect", ".1", "--pilot", "log.csv", "--looks", 2, "--format", "json", "--quiet")
    assert json.loads(piloted.stdout)["rows"][0]["looks"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["short.csv", "--plan", "plan.json"], "2 impressions count, and the plan says 189; collect the others before"),
        (["log.csv", "--plan", "plan.json", "--level", ".9"], "--level is fixed by the plan; leave it out"),
        (["log.csv", "--plan", "plan.json", "--baseline", "old"], "--baseline is fixed by the plan"),
        (["log.csv", "--plan", "log.csv"], "not a plan of an interleaving experiment"),
        (["log.csv", "--plan", "plan.json", "--method", "users"], "--method is fixed by the plan"),
        (["short.csv", "--method", "always"], "2 users; looking at any time takes at least 30"),
        (["log.csv", "--no-clicks", "tie"], "--no-clicks goes with logs of clicks, and this one has winners"),
        (["pairs", "log.csv", "--no-clicks", "drop"], "--no-clicks goes with logs of clicks"),
        (["teams.csv"], "3 systems; name two with --system and --baseline, or ask for pairs"),
        (["plan", "--effect", "2"], "effect must lie between 0 and 0.5, not 2"),
        (["plan", "--effect", ".1", "--pilot", "log.csv", "--ties", ".1"], "--pilot says what --ties and --design are"),
        (["plan", "--effect", ".1", "--pilot", "log.csv", "--save", "log.csv"], "this command reads that file"),
        (["plan", "--effect", ".1", "--pilot", "log.csv", "--save", "plan.json"], "there is a plan already"),
    ],
)
def test_bad_input_is_one_clear_line(folder: Path, words: list[str], message: str) -> None:
    call("plan", "--effect", ".1", "--system", "new", "--baseline", "old", "--save", "plan.json")
    (folder / "short.csv").write_text("user,winner\nx,new\ny,old\n")
    result = call(*words)
    assert result.exit_code != 0
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
