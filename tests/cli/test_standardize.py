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
from assay.standard import standardize as by_runs


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
        wanted = by_runs(matrix(1), form=form)
        assert np.array_equal(read_scores(saved)[0].values, wanted.values)
        assert after[0]["rows"][0]["standardized"] == pytest.approx(wanted.averages().max())
    by_reference = records("apply", folder / "one.csv", "--reference", folder / "one.csv", "--form", "z")
    assert by_reference == records("apply", folder / "one.csv", "--form", "z")


def test_compare(folder: Path) -> None:
    raw, after = records("compare", folder / "one.csv", folder / "two.csv", "--permutations", 50)
    assert [raw["rows"][0][k] for k in ("first", "second")] == ["one", "two"]
    assert 0 < raw["rows"][0]["p"] <= 1
    for name in ("one", "two"):
        standardize("fit", folder / f"{name}.csv", "--save", folder / f"{name}-factors.csv")
    with_factors = records(
        "compare", folder / "one.csv", folder / "two.csv", "--permutations", 50,
        "--factors", folder / "one-factors.csv", "--factors", folder / "two-factors.csv",
    )  # fmt: skip
    assert with_factors[1]["rows"][0]["kappa"] == pytest.approx(after["rows"][0]["kappa"])
    same = records("compare", folder / "one.csv", folder / "one.csv", "--permutations", 0)
    assert same[0]["rows"][0]["kappa"] == 0


def test_variance_and_items(folder: Path) -> None:
    (found,) = records("variance", folder / "one.csv", "--target", 0.99)
    assert found["rows"][0]["what"] == "σ² run"
    assert "For 0.99:" in found["notes"][0]
    (items,) = records("items", folder / "one.csv")
    assert len(items["rows"]) == 10
    assert records("items", folder / "one.csv", "--total") != [items]


def test_references_and_trend(folder: Path) -> None:
    (kept,) = records("longevity", folder / "one.csv", "--reference", folder / "one.csv")
    assert kept["rows"][0]["tau"] == pytest.approx(1)
    few = ["--sizes", "2,6", "--samples", 20, "--jobs", 1]
    (sizes,) = records("references", folder / "one.csv", "--reference", folder / "one.csv", *few)
    assert [r["reference_runs"] for r in sizes["rows"]] == [2, 6]
    assert sizes["rows"][1]["tau_99"] == pytest.approx(1)
    pair = [f"2001={folder / 'one.csv'}", f"2002={folder / 'two.csv'}"]
    (trend,) = records("trend", *pair, "--reference", "run1,run2,run3")
    assert [r["runs"] for r in trend["rows"]] == [3, 3]
    assert trend["rows"][0]["best_run"] == "run6"
    (plain,) = records("trend", *pair, "--reference", "run1,run2", "--smoothing", "none", "--form", "z")
    assert "smoothing none" in plain["notes"][-1]


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
    both = ["--reference", folder / "several.csv", "-m", "AP"]
    assert records("longevity", folder / "several.csv", *both)[0]["rows"][0]["pearson"] == pytest.approx(1)
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


def test_errors_of_tests_are_one_table(folder: Path) -> None:
    (found,) = records("errors", folder / "one.csv", folder / "two.csv", "--splits", 50)
    raw, after = found["rows"]
    assert (raw["measure"], after["measure"]) == ("AP", "cdf(AP)")
    assert 0 <= raw["false_positives"] <= raw["high"] <= raw["maximum"] <= 1
    assert 0 <= after["missed"] <= 1
    result = standardize("errors", folder / "one.csv", folder / "two.csv", "--splits", 50, "--format", "csv")
    assert result.output.splitlines()[0] == "measure,false_positives,median,high,maximum,missed,mean_kappa"


@pytest.fixture
def mixed(folder: Path) -> Path:
    """Scores of two measures and of two policies on the same runs, and the factors of one of them."""
    for name, measure, signature in (
        ("ap", "AP", "AP|ties:docid"), ("ranked", "AP", "AP|ties:rank"), ("p10", "P@10", "P@10|ties:docid"),
    ):  # fmt: skip
        made = matrix(1)
        scores = ScoreMatrix.of(made.values, runs=made.runs, topics=made.topics, measure=measure, signature=signature)
        write_scores(folder / f"{name}.csv", [scores])
    standardize("fit", folder / "p10.csv", "--save", folder / "p10-factors.csv")
    standardize("fit", folder / "ranked.csv", "--save", folder / "ranked-factors.csv")
    standardize("apply", folder / "ap.csv", "--form", "z", "--save", folder / "z.csv")
    standardize("apply", folder / "ap.csv", "--save", folder / "cdf.csv")
    return folder


MIXED = [
    (["apply", "ap.csv", "--factors", "p10-factors.csv"], "AP and P@10 are not the same measure"),
    (["apply", "ap.csv", "--reference", "p10.csv"], "AP and P@10 are not the same measure"),
    (["apply", "ap.csv", "--factors", "ranked-factors.csv"], "AP|ties:docid and AP|ties:rank"),
    (["compare", "ap.csv", "p10.csv"], "AP and P@10 are not the same measure"),
    (["compare", "ap.csv", "ranked.csv"], "AP|ties:docid and AP|ties:rank"),
    (["compare", "ap.csv", "z.csv"], "AP and z(AP) are not the same measure"),
    (["compare", "z.csv", "cdf.csv"], "z(AP) and cdf(AP) are not the same measure"),
    (["errors", "ap.csv", "p10.csv"], "AP and P@10 are not the same measure"),
    (["trend", "1=ap.csv", "2=p10.csv", "--reference", "run1,run2"], "AP and P@10 are not the same measure"),
    (["references", "ap.csv", "--reference", "p10.csv", "--sizes", "3"], "AP and P@10 are not the same measure"),
    (["longevity", "ap.csv", "--factors", "p10-factors.csv"], "AP and P@10 are not the same measure"),
]


@pytest.mark.parametrize(("words", "message"), MIXED, ids=[" ".join(words[:4]) for words, _ in MIXED])
def test_two_measures_or_policies_are_not_mixed(
    mixed: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(mixed)
    result = standardize(*words)
    assert isinstance(result.exception, AssayError), result.output
    assert message in str(result.exception)
    assert "--force-measure" in str(result.exception)
    forced = standardize(*words, "--force-measure", "AP", "--quiet")
    assert forced.exit_code == 0, (forced.output, forced.exception)


def test_what_is_forced_is_signed(mixed: Path) -> None:
    words = ["apply", mixed / "ap.csv", "--factors", mixed / "p10-factors.csv", "--force-measure", "AP"]
    assert standardize(*words, "--save", mixed / "out.csv").exit_code == 0
    assert "AP)|forced:AP|std:cdf" in read_scores(mixed / "out.csv")[0].signature


def test_factors_keep_the_policy(mixed: Path) -> None:
    assert "AP|ties:rank" in (mixed / "ranked-factors.csv").read_text()
    assert standardize("apply", mixed / "ranked.csv", "--factors", mixed / "ranked-factors.csv").exit_code == 0


def test_unnamed_tables_are_named_by_a_person(tmp_path: Path) -> None:
    made = matrix(1)
    for name in ("old", "new"):
        lines = [",".join([run, *map(str, row)]) for run, row in zip(made.runs, made.values.tolist(), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join(["", *made.topics]), *lines]) + "\n")
    pair = [tmp_path / "old.csv", tmp_path / "new.csv"]
    refused = standardize("compare", *pair)
    assert "old and new are not the same measure" in str(refused.exception)
    raw, _ = records("compare", *pair, "--measure", "AP")
    assert raw["caption"].startswith("AP:")
    standardize("fit", tmp_path / "old.csv", "--measure", "AP", "--save", tmp_path / "f.csv")
    by_factors = records("apply", tmp_path / "new.csv", "--measure", "AP", "--factors", tmp_path / "f.csv")
    by_runs = ["apply", tmp_path / "new.csv", "--measure", "AP", "--reference", tmp_path / "old.csv"]
    assert by_factors == records(*by_runs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "one.csv", "--keep-scores"], "name the file with --save"),
        (["compare", "one.csv", "two.csv", "--permutations", "0", "--seed", "1"], "--seed is that of the permutations"),
        (["apply", "one.csv", "--force-measure", "AP"], "neither is given"),
        (["apply", "one.csv", "--form", "z", "--form", "cdf"], "--form is given twice"),
        (["apply", "one.csv", "--measure", "P@10"], "the files name their measures themselves (AP)"),
        (["longevity", "one.csv"], "name the old factors"),
    ],
)
def test_what_has_no_effect_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(folder)
    result = standardize(*words)
    assert isinstance(result.exception, AssayError), result.output
    assert message in str(result.exception)


def test_the_default_form_is_one() -> None:
    """What --help prints is what the function does."""
    import inspect

    from assay.standard import longevity, reference_size, trend

    for function in (by_runs, longevity, reference_size, trend):
        assert inspect.signature(function).parameters["form"].default == "cdf"
    shown = standardize("apply", "--help").output
    assert "default: cdf" in " ".join(shown.split())
    assert "z, cdf, t1, U, E, N" in " ".join(shown.split())
