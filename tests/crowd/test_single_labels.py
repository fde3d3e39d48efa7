"""Docs with one label: a model of the workers may not turn the only label round, and says that it would have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from assay.agreement.scales import Scale
from assay.cli.crowd import command
from assay.core.errors import AssayError
from assay.crowd import aggregate
from assay.data import Labels
from assay.io.labels import write_labels
from tests.hostile.calls import call

MODELS = ("dawid-skene", "one-coin", "glad", "mace", "weighted", "ordinal", "majority")


def half_with_one_label(seed: int = 0, levels: int = 3) -> Labels:
    """600 docs, every other with one label, by workers of whom some are worse than chance."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(600):
        truth = int(rng.integers(0, levels))
        for w in rng.choice(12, 1 if d % 2 else 4, replace=False).tolist():
            wrong = (truth + int(rng.integers(1, levels))) % levels
            rows.append(("1", f"d{d:03d}", f"w{w:02d}", float(truth if rng.random() < 0.05 + 0.08 * w else wrong)))
    return Labels.from_rows(rows)


@pytest.mark.parametrize("method", MODELS)
@pytest.mark.parametrize("levels", [2, 3])
def test_the_only_label_of_a_doc_is_its_grade(method: str, levels: int) -> None:
    labels = half_with_one_label(levels=levels)
    judged = aggregate(labels, method, scale=Scale.ordered(levels))
    item, _ = labels.items()
    alone = judged.labels[item] == 1
    assert alone.sum() == 300
    assert (judged.grade[item][alone] == labels.label[alone]).all()
    assert ((judged.low <= judged.grade) & (judged.grade <= judged.high)).all()
    # Docs with several labels are still the model's to judge.
    assert judged.posterior is not None
    several = judged.labels > 1
    collapsed = any("has collapsed" in warning for warning in judged.warnings)
    assert collapsed == (method == "ordinal" and levels == 3)
    if method != "majority" and not collapsed:
        assert (judged.grade[several] == judged.levels[np.argmax(judged.posterior[several], axis=1)]).all()
        overruled = judged.levels[np.argmax(judged.posterior, axis=1)] != judged.grade
        assert bool(judged.warnings) == bool(overruled[~several].any())


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad", "weighted"])
def test_what_would_have_been_overruled_is_said(method: str, tmp_path: Path) -> None:
    labels = half_with_one_label(levels=2)
    judged = aggregate(labels, method)
    assert judged.posterior is not None
    count = int(((np.argmax(judged.posterior, axis=1) != judged.grade) & (judged.labels == 1)).sum())
    assert count > 0
    words = f"would overrule the only label of {count} of 300 docs with one label; the label is kept"
    assert words in judged.warnings[0]
    assert words in judged.summary().text()
    write_labels(tmp_path / "l.csv", labels)
    done = CliRunner().invoke(command, ["aggregate", str(tmp_path / "l.csv"), "--method", method])
    assert [words in line for line in done.stderr.splitlines()].count(True) == 1
    quiet = CliRunner().invoke(command, ["aggregate", str(tmp_path / "l.csv"), "--method", method, "--quiet"])
    assert not quiet.stderr


def test_means_keep_their_fractions(tmp_path: Path) -> None:
    labels = Labels.from_rows([("1", "a", w, v) for w, v in zip("uvw", (0, 1, 1), strict=True)] + [("1", "b", "u", 1)])
    judged = aggregate(labels, "mean")
    assert judged.qrels().to_dict() == {"1": {"a": pytest.approx(2 / 3), "b": 1.0}}
    assert "between 0 and 1" in judged.summary().text()
    write_labels(tmp_path / "l.csv", labels)
    out = tmp_path / "out.qrels"
    CliRunner().invoke(command, ["aggregate", str(tmp_path / "l.csv"), "--method", "mean", "--qrels", str(out)])
    assert out.read_text() == "1 0 a 0.666666667\n1 0 b 1.0\n"
    whole = aggregate(labels, "majority").qrels()
    assert whole.grades.dtype.kind == "i"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--moved", "3"],
        ["check", "--on-docs", "3"],
        ["aggregate", "--method", "majority", "--workers", "3"],
        ["transform", "--scale", "S4", "--reference", "q"],
        ["transform", "--scale", "S4", "-m", "AP"],
        ["transform", "--scale", "S4", "--target", "q"],
        ["transform", "--scale", "S4", "--unjudged", "drop"],
        ["transform", "--scale", "S4", "--aggregate", "mean"],
        ["effort", "--scale", "S100", "--seed", "3"],
        ["effort", "--scale", "S100", "--untied"],
    ],
)
def test_options_without_effect_are_errors(tmp_path: Path, arguments: list[str]) -> None:
    write_labels(tmp_path / "l.csv", half_with_one_label())
    (tmp_path / "q").write_text("1 0 d000 1\n")
    given = [str(tmp_path / "q") if a == "q" else a for a in arguments]
    done = CliRunner().invoke(command, [given[0], str(tmp_path / "l.csv"), *given[1:]])
    assert isinstance(done.exception, AssayError)
    assert "has no effect" in str(done.exception)
    assert not done.stderr


@pytest.mark.parametrize(
    ("name", "tables"),
    [("check", ["odd", "protocol", "failures", "topics", "workers", "docs"]), ("aggregate", ["summary", "docs"])],
)
def test_each_table_can_be_had_as_a_spreadsheet(tmp_path: Path, name: str, tables: list[str]) -> None:
    write_labels(tmp_path / "l.csv", half_with_one_label())
    for table in tables:
        done = CliRunner().invoke(command, [name, str(tmp_path / "l.csv"), "--show", table, "--format", "csv"])
        assert done.exit_code == 0, done.output
        assert done.stdout.splitlines()[0].isascii()
    done = CliRunner().invoke(command, [name, str(tmp_path / "l.csv"), "--show", "nothing"])
    assert "there is no such table here" in str(done.exception)
    assert CliRunner().invoke(command, ["methods", "--format", "csv"]).exit_code == 0


@pytest.mark.parametrize("asked", [["aggregate"], ["transform", "--way", "Tw_alpha"]], ids=lambda words: words[0])
def test_qrels_that_cannot_be_written_are_refused_before_anything_is_shown(tmp_path: Path, asked: list[str]) -> None:
    rows = [f"1,{doc},w{w},{(i + w) % 4}" for i, doc in enumerate(("a", "b c", "d")) for w in range(3)]
    (tmp_path / "labels.csv").write_text("topic,doc,worker,label\n" + "\n".join(rows) + "\n")
    name, *way = asked
    outcome = call(["crowd", name, f"{tmp_path}/labels.csv", "--scale", "4", "--qrels", f"{tmp_path}/q.txt", *way])
    assert (outcome.code, outcome.out) == (2, "")
    assert "doc 'b c'" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
