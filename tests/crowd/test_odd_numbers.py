"""Huge and tiny labels, seconds and positions: an answer or one line, and never a warning of numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.agreement.scales import MAGNITUDE
from assay.cli.agreement import command as agreement
from assay.cli.crowd import command as crowd
from assay.core.errors import AssayError, DataError
from assay.crowd.effort import time_by_position
from assay.crowd.quality import doc_quality, topic_quality, worker_quality
from assay.data import Labels

ODD = {
    "huge labels": ("label", ["1e300", "1e308", "3e307", "1", "5"]),
    "labels of both signs": ("label", ["1e308", "-1e308", "0"]),
    "tiny labels": ("label", ["1e-300", "1e-308", "5e-324"]),
    "fractions": ("label", [".5", "1.25", "3"]),
    "equal labels": ("label", ["1"]),
    "huge seconds": ("seconds", ["1e308", "1.7e308", "1e-320"]),
    "huge positions": ("position", ["9e18", "-9e18", "1"]),
}
METHODS = ("mean", "geometric", "trimmed", "median", "majority", "weighted", "interval", "ordinal", "dawid-skene")


@pytest.fixture(params=ODD)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    column, values = ODD[request.param]
    lines = ["topic,doc,worker,label,seconds,position"]
    for i in range(48):
        cells = {"label": str(i % 2), "seconds": "20", "position": str(i % 6)}
        cells[column] = values[(3 * i) % len(values)]
        lines.append(f"{i % 2},d{i % 12},w{i // 12},{cells['label']},{cells['seconds']},{cells['position']}")
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "q").write_text("".join(f"{t} 0 d{d} {d % 3 - 1}\n" for t in (0, 1) for d in range(12)))
    return tmp_path / "labels.csv"


def answered(done: Result) -> None:
    """An answer, or an error of one line with nothing beside it. Warnings are errors in these tests."""
    if done.exception is not None:
        assert isinstance(done.exception, AssayError), repr(done.exception)
        assert "\n" not in str(done.exception)
        assert not done.stderr
        assert not done.stdout


@pytest.mark.parametrize("scale", [None, "S2", "magnitude", "0-1e99", "0-1e308"])
def test_every_command_answers_or_refuses_in_one_line(path: Path, scale: str | None) -> None:
    chosen = ["--scale", scale] if scale else []
    reference = ["--reference", path.parent / "q"]
    calls: list[list[object]] = [
        ["check", path, *reference, "--start", 5],
        ["check", path, "--gold", path.parent / "q"],
        ["effort", path],
        ["effort", path, *reference, "--repeats", 2],
        ["transform", path],
        ["profile", path, *reference],
        *(["aggregate", path, "--method", method, *reference] for method in METHODS),
    ]
    for call in calls:
        answered(CliRunner().invoke(crowd, [str(a) for a in [*call, *chosen]]))
    for options in ([], ["-m", "kappa(weighting=quadratic)"], ["-m", "alpha(level=ratio)"], reference):
        answered(CliRunner().invoke(agreement, [str(a) for a in [path, *options, *chosen]]))


@pytest.mark.parametrize("column", ["label", "seconds"])
def test_what_is_too_large_is_named_with_its_line(column: str) -> None:
    values = {"label": np.array([1.0, 1.0]), "seconds": np.array([20.0, 20.0]), column: np.array([1.0, 1e300])}
    labels = Labels.from_rows(
        [("1", "a", w, v) for w, v in zip("vw", values["label"].tolist(), strict=True)],
        seconds=values["seconds"],
        lines=np.array([2, 3]),
    )
    message = rf"labels:3: {column} 1e\+300 is too large to be added up"
    for quality in (worker_quality, topic_quality, doc_quality):
        with pytest.raises(DataError, match=message):
            quality(labels, scale=MAGNITUDE)
    with pytest.raises(DataError, match=message):
        time_by_position(labels)


@pytest.mark.parametrize("scale", ["0-1e308", "-1e300-5", "99999999999", "nan-5"])
def test_scales_that_cannot_be_are_refused(tmp_path: Path, scale: str) -> None:
    (tmp_path / "l.csv").write_text("topic,doc,worker,label\n1,a,w,1\n")
    done = CliRunner().invoke(crowd, ["aggregate", str(tmp_path / "l.csv"), f"--scale={scale}"])
    assert isinstance(done.exception, AssayError)
