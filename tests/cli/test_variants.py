"""assay topics variants, topics groups, compare conversations and plan power with turns: formats and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.hierarchy import by_group, compare_conversations, query_variants
from assay.io import read_scores
from assay.io.scores import write_scores
from assay.plan import power
from tests.hierarchy.test_conversations import made as turns
from tests.hierarchy.test_variants import made as variants


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, words)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_scores(tmp_path / "variants.csv", [variants(4, [3, 2, 4, 3, 3], seed=1)], shape="matrix")
    write_scores(tmp_path / "turns.csv", [turns([4, 5, 3, 6])], shape="matrix")
    return tmp_path


def test_variants(folder: Path) -> None:
    result = call("topics", "variants", folder / "variants.csv", "--format", "json", "--figure", folder / "v.svg")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    found = query_variants(folder / "variants.csv")
    assert record["sigma2_variant"] == found["variant"].component
    assert [row["ss"] for row in record["rows"]] == [source.squares for source in found.sources]
    assert record["verdict"] == found.verdict
    assert (folder / "v.svg").read_text().startswith("<svg")
    assert "rank_by_worst" in call("topics", "variants", folder / "variants.csv", "--systems", "--format", "csv").stdout
    plan = call("topics", "variants", folder / "variants.csv", "--plan", "--per-topic", "1,4", "--format", "csv")
    assert len(plan.stdout.splitlines()) == 3
    for form in ("latex", "markdown", "html", "text"):
        assert call("topics", "variants", folder / "variants.csv", "--format", form).exit_code == 0


@pytest.mark.parametrize("per", ["mean", "worst", "best"])
def test_groups_are_written_as_scores_that_other_commands_read(folder: Path, per: str) -> None:
    saved = folder / "groups.csv"
    result = call("topics", "groups", folder / "turns.csv", "--per", per, "--save", saved)
    assert result.exit_code == 0, result.output
    [again] = read_scores(saved)
    expected = by_group(folder / "turns.csv", per=per)
    assert (again.topics, again.runs) == (expected.topics, expected.runs)
    assert again.values == pytest.approx(expected.values)
    assert call("compare", saved, "--baseline", "old").exit_code == 0
    assert call("standardize", "apply", saved, "--reference", saved).exit_code == 0


def test_conversations(folder: Path) -> None:
    words = ("compare", "conversations", folder / "turns.csv", "--baseline", "old")
    result = call(*words, "--format", "json", "--figure", folder / "c.svg")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    found = compare_conversations(folder / "turns.csv", baseline="old")
    assert record["rows"][0]["p"] == found.rows[0].p
    assert record["conversations"] == 4
    assert found.verdict in result.stderr
    by_turns = json.loads(call(*words, "--weights", "turns", "--alpha", ".1", "--format", "json").stdout)
    assert by_turns["level"] == 0.9
    assert by_turns["rows"][0]["difference"] != record["rows"][0]["difference"]


def test_power_with_turns() -> None:
    words = ("plan", "power", "--delta", ".05", "--sigma", ".2", "--format", "json")
    found = json.loads(call(*words, "--turns", "8", "--icc", ".3").stdout)
    assert found["rows"][0]["topics"] == power(delta=0.05, sigma=0.2, turns=8, icc=0.3).topics
    assert found["design_effect"] == pytest.approx(3.1)
    plain = json.loads(call(*words).stdout)
    one_turn = json.loads(call(*words, "--turns", "1", "--icc", "0").stdout)
    assert one_turn == plain


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["topics", "variants", "variants.csv", "--systems", "--plan"], "--systems and --plan are two tables"),
        (["topics", "variants", "variants.csv", "--power", ".9"], "--power is about the plan; give --plan as well"),
        (["topics", "variants", "variants.csv", "--separator", "#"], "is not of the form group#member"),
        (["topics", "groups", "turns.csv", "--save", "no/where.csv"], "No such file or directory"),
        (["compare", "conversations", "turns.csv", "--baseline", "bm25"], "no run 'bm25', the baseline"),
        (["plan", "power", "--delta", ".1", "--sigma", ".2", "--icc", ".3"], "--turns and --icc go together"),
        (["plan", "power", "--delta", ".1", "--sigma", ".2", "--turns", "8"], "--turns and --icc go together"),
        (["plan", "power", "--delta", ".1", "--sigma", ".2", "--turns", "0", "--icc", ".1"], "at least one (got 0)"),
    ],
)
def test_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    result = CliRunner().invoke(cli, words)
    assert result.exit_code != 0
    assert message in (str(result.exception) + result.output)
    assert sorted(folder.iterdir()) == before
