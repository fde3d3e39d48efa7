"""assay fairness: from files to scores that compare takes, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text("1 0 a 1\n1 0 c 1\n2 0 b 1\n2 0 c 2\n3 0 a 1\n")
    (tmp_path / "groups.csv").write_text("doc,group\na,x\nb,x\nc,y\n")
    for name, order in (("one", "abc"), ("two", "cab")):
        lines = [f"{topic} Q0 {doc} {rank} {9 - rank} {name}" for topic in "123" for rank, doc in enumerate(order, 1)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_scores_are_shown_saved_and_compared(folder: Path) -> None:
    words = ["fairness", "--qrels", "q.txt", "--groups", "groups.csv", "one.run", "two.run"]
    result = call(*words, "-m", "AWRF M1 EE-L(k=3)", "-q", "--save", "scores.csv", "--format", "json", "--quiet")
    assert result.exit_code == 0, result.exception
    tables = json.loads(result.stdout)
    rows = tables[0]["rows"] if isinstance(tables, list) else tables["rows"]
    assert {row["run"] for row in rows} == {"one", "two"}
    compared = call("compare", "scores.csv", "-m", "AWRF", "--baseline", "one", "--format", "json", "--quiet")
    assert compared.exit_code == 0, compared.exception
    explained = call("measures", "AWRF")
    assert "Jensen–Shannon" in explained.output
    assert "TREC Fair" in explained.output


def test_the_example_of_the_howto(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs of four relevant docs; log attention 1, 1, .6309, .5."""
    monkeypatch.chdir(tmp_path)
    Path("groups.csv").write_text("doc,group\na,north\nb,north\nc,south\nd,south\n")
    Path("q.txt").write_text("1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 1\n")
    for name, order in (("usual", "abcd"), ("mixed", "acdb")):
        lines = [f"1 Q0 {doc} {rank} {9 - rank} {name}\n" for rank, doc in enumerate(order, 1)]
        Path(f"{name}.run").write_text("".join(lines))
    words = ["fairness", "--qrels", "q.txt", "--groups", "groups.csv", "usual.run", "mixed.run"]
    shown = call(*words, "-m", "AWRF M1 EE-L(k=4)").output.splitlines()
    assert shown[2].split() == ["mixed", "0.9998", "0.9998", "0.0086"]
    assert shown[3].split() == ["usual", "0.9901", "0.9901", "0.3776"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--groups", "few.csv"], "'b' has no group"),
        (["--groups", "groups.csv", "-m", "AWRFF"], "AWRFF"),
        (["--groups", "groups.csv", "--attribute", "sex"], "no attribute 'sex'"),
        (["--groups", "groups.csv", "--target", "both"], "needs the shares of the population"),
        (["--groups", "groups.csv", "--separator", "-"], "has no topic, written topic-number,"),
        (["--groups", "groups.csv", "--population", "groups.csv", "--target", "both"], "no column 'share'"),
    ],
)
def test_bad_input_is_one_clear_line(folder: Path, words: list[str], message: str) -> None:
    (folder / "few.csv").write_text("doc,group\na,x\nc,y\n")
    result = call("fairness", "--qrels", "q.txt", "one.run", *words)
    assert result.exit_code != 0
    said = str(result.exception) + result.output
    assert message in said
    assert "Traceback" not in said
