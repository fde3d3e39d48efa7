"""assay standardize: every subcommand on small files, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.standardize import command
from assay.core.errors import AssayError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores, write_scores
from assay.standard.factors import standardized


def standardize(*words: object) -> Result:
    return CliRunner().invoke(command, [str(w) for w in words])


def records(*words: object) -> list[dict[str, Any]]:
    result = standardize(*words, "--format", "json", "--quiet")
    assert result.exit_code == 0, result.output
    record = json.loads(result.output)
    return record if isinstance(record, list) else [record]


def matrix(seed: int, runs: int = 6, topics: int = 10, first: int = 1) -> ScoreMatrix:
    rng = np.random.default_rng(seed)
    x = np.clip(0.4 + np.linspace(-0.2, 0.2, runs)[:, None] + rng.normal(0, 0.1, (runs, topics)), 0, 1)
    return ScoreMatrix.of(x, topics=map(str, range(first, first + topics)), measure="AP")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_scores(tmp_path / "one.csv", [matrix(1)], shape="matrix")
    write_scores(tmp_path / "two.csv", [matrix(2, first=11)], shape="matrix")
    return tmp_path


def test_factors_out_and_in(folder: Path) -> None:
    """Factors of the old runs, saved, standardize a new run as the old runs themselves do."""
    path, saved = folder / "factors.csv", folder / "out.csv"
    fitted = records("fit", folder / "one.csv", "--save", path, "--keep-scores")
    assert len(fitted[0]["rows"]) == 10
    for form in ("z", "cdf", "t1", "U", "E", "N"):
        after = records("apply", folder / "one.csv", "--factors", path, "--form", form, "--save", saved)
        wanted = standardized(matrix(1), form=form)
        assert np.array_equal(read_scores(saved)[0].values, wanted.values)
        assert after[0]["rows"][0][f"{form}(AP)"] == pytest.approx(wanted.means().max())
    by_reference = records("apply", folder / "one.csv", "--reference", folder / "one.csv", "--form", "z")
    assert by_reference == records("apply", folder / "one.csv", "--form", "z")


def test_compare(folder: Path) -> None:
    raw, after, *errors = records(
        "compare", folder / "one.csv", folder / "two.csv", "--permutations", 50, "--halves", 50
    )
    assert [raw["rows"][0][k] for k in ("first", "second")] == ["one", "two"]
    assert 0 < raw["rows"][0]["p"] <= 1
    assert len(errors) == 3
    for name in ("one", "two"):
        standardize("fit", folder / f"{name}.csv", "--save", folder / f"{name}-factors.csv")
    with_factors = records(
        "compare", folder / "one.csv", folder / "two.csv", "--permutations", 50,
        "--factors", folder / "one-factors.csv", "--factors", folder / "two-factors.csv",
    )  # fmt: skip
    assert with_factors[1]["rows"][0]["κ"] == pytest.approx(after["rows"][0]["κ"])
    same = records("compare", folder / "one.csv", folder / "one.csv", "--permutations", 0)
    assert same[0]["rows"][0]["κ"] == 0


def test_variance_and_items(folder: Path) -> None:
    (found,) = records("variance", folder / "one.csv", "--target", 0.99)
    assert found["rows"][0]["what"] == "σ² run"
    assert "For 0.99:" in found["notes"][0]
    (items,) = records("items", folder / "one.csv")
    assert len(items["rows"]) == 10
    assert records("items", folder / "one.csv", "--total") != [items]


def test_references_and_trend(folder: Path) -> None:
    longevity, sizes = records(
        "references",
        folder / "one.csv",
        "--reference",
        folder / "one.csv",
        "--sizes",
        "2,6",
        "--samples",
        20,
        "--jobs",
        1,
    )
    assert longevity["rows"][0]["Kendall τ"] == pytest.approx(1)
    assert [r["reference runs"] for r in sizes["rows"]] == [2, 6]
    pair = [f"2001={folder / 'one.csv'}", f"2002={folder / 'two.csv'}"]
    (trend,) = records("trend", *pair, "--reference", "run1,run2,run3")
    assert [r["runs"] for r in trend["rows"]] == [3, 3]
    assert trend["rows"][0]["best run"] == "run6"
    (plain,) = records("trend", *pair, "--reference", "run1,run2", "--smoothing", "none", "--form", "z")
    assert "smoothing none" in plain["notes"][0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["apply", "one.csv", "--form", "y"], "no form of standardization"),
        (["apply", "one.csv", "--smoothing", "y"], "no smoothing"),
        (["apply", "two.csv", "--factors", "factors.csv"], "no standardization factors for topic '11'"),
        (["apply", "one.csv", "--factors", "factors.csv", "--reference", "one.csv"], "not both"),
        (["apply", "one.csv", "--factors", "factors.csv", "--form", "E"], "needs the reference scores"),
        (["compare", "one.csv"], "at least two"),
        (["trend", "one.csv", "--reference", "run1"], "YEAR=SCORES"),
        (["references", "one.csv", "--reference", "one.csv", "--sizes", "x"], "whole numbers"),
        (["variance", "flat.csv"], "two of each"),
        (["items", "flat.csv"], "item-total needs"),
        (["fit", "nan.csv"], "must be finite"),
    ],
)
def test_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str) -> None:
    monkeypatch.chdir(folder)
    standardize("fit", "one.csv", "--save", "factors.csv")
    (folder / "flat.csv").write_text("AP,1\na,0.1\nb,0.2\n")
    (folder / "nan.csv").write_text("AP,1\na,0.1\nb,nan\n")
    result = standardize(*words)
    assert isinstance(result.exception, AssayError), result.output
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_constant_topics_and_identical_runs_have_a_stated_meaning(folder: Path) -> None:
    (folder / "same.csv").write_text("AP,1,2\na,0.1,0.2\nb,0.1,0.2\n")
    for words in (["fit"], ["apply"], ["variance"], ["compare", folder / "same.csv"]):
        result = standardize(words[0], folder / "same.csv", *words[1:])
        assert result.exit_code == 0, result.output
        assert "nan" not in result.output.lower()
    assert "2 topics have sd 0" in standardize("fit", folder / "same.csv").output


def test_help_has_examples() -> None:
    for name in command.commands:
        result = standardize(name, "--help")
        assert result.exit_code == 0
        assert len(result.output.splitlines()) > 6


def test_reference_scores_are_read_as_the_scores_are(folder: Path) -> None:
    """Of a file of several measures the one in question; with --transpose a row per topic in both files."""
    several = [matrix(1), ScoreMatrix.of(matrix(3).values, runs=matrix(3).runs, topics=matrix(3).topics, measure="RR")]
    write_scores(folder / "several.csv", several)
    both = ["--reference", folder / "several.csv", "-m", "AP", "--samples", 5, "--sizes", 2]
    assert records("references", folder / "several.csv", *both)[0]["rows"][0]["Pearson"] == pytest.approx(1)
    m = matrix(1)
    lines = [",".join([t, *map(str, column)]) for t, column in zip(m.topics, m.values.T.tolist(), strict=True)]
    (folder / "turned.csv").write_text("\n".join([",".join(["topic", *m.runs]), *lines]) + "\n")
    turned = records("apply", folder / "turned.csv", "--transpose", "--reference", folder / "turned.csv")
    plain = records("apply", folder / "one.csv", "--reference", folder / "one.csv")
    assert [list(r.values())[1] for r in turned[0]["rows"]] == [list(r.values())[1] for r in plain[0]["rows"]]


def test_a_year_is_given_once(folder: Path) -> None:
    result = standardize("trend", f"2019={folder}/one.csv", f"2019={folder}/two.csv", "--reference", "run1")
    assert isinstance(result.exception, AssayError)
    assert "'2019' is there twice" in str(result.exception)
