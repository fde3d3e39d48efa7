"""Figures for papers have the size, letters and colours that are asked for; what cannot be is an error."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from assay.report import figure
from assay.report.figure import Figure
from assay.report.figures.data import score_map
from assay.report.figures.stats import SIGNS, VERDICTS, leaderboard
from assay.report.paper import POINTS_PER_CM, Paper, in_grey
from assay.report.shapes import colour_range
from assay.stats import compare
from tests.report.zoo import ZOO


def board() -> Figure:
    return figure(ZOO["leaderboard"]())


def points(svg: str) -> tuple[float, float]:
    """The size of a picture in points."""
    width, height = re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2]
    return float(width), float(height)


@pytest.mark.parametrize("name", ZOO)
def test_every_figure_fits_a_column(name: str, tmp_path: Path) -> None:
    figure(ZOO[name]()).save(tmp_path / "x.svg", width=8.5, height=9)
    width, height = points((tmp_path / "x.svg").read_text())
    assert width == pytest.approx(8.5 * POINTS_PER_CM, abs=1)
    assert height == pytest.approx(9 * POINTS_PER_CM, abs=1)


def test_all_formats_have_the_size_that_is_asked_for(tmp_path: Path) -> None:
    for ending in ("svg", "pdf", "png"):
        board().save(tmp_path / f"x.{ending}", width=8.5, height=7)
    assert points((tmp_path / "x.svg").read_text()) == pytest.approx((240.9, 198.4), abs=1)
    box = re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", (tmp_path / "x.pdf").read_bytes())
    assert box is not None
    assert [float(side) for side in box.groups()] == pytest.approx([240.9, 198.4], abs=1)
    dots = struct.unpack(">II", (tmp_path / "x.png").read_bytes()[16:24])
    assert dots == pytest.approx((8.5 / 2.54 * 300, 7 / 2.54 * 300), abs=4)


@pytest.mark.parametrize("size", [6, 9])
def test_letters_have_the_size_that_is_asked_for(size: float) -> None:
    svg = str(board().rendered("svg", Paper(width=12, font_size=size)))
    inside = re.search(r'viewBox="0 0 ([\d.]+) ', svg)
    assert inside is not None
    scale = points(svg)[0] / float(inside.group(1))
    letters = {float(found) * scale for found in re.findall(r'font-size="([\d.]+)px"', svg)}
    assert any(letter == pytest.approx(size, abs=0.02) for letter in letters)


def test_the_title_may_be_left_to_the_caption() -> None:
    drawing = board()
    title = drawing.title
    assert f">{title}<" in str(drawing.rendered("svg"))
    assert f">{title}<" not in str(drawing.rendered("svg", Paper(title=False)))


def test_a_long_title_is_wrapped() -> None:
    matrix = ScoreMatrix.of(np.random.default_rng(1).random((30, 200)), measure="nDCG@10")
    drawing = score_map(matrix)
    lines = drawing.standalone()["title"]["text"]
    assert len(lines) == 2
    assert " ".join(lines) == drawing.title


@pytest.mark.parametrize("name", ZOO)
def test_greyscale_leaves_no_colour(name: str) -> None:
    svg = str(figure(ZOO[name]()).rendered("svg", Paper(greyscale=True)))
    inside = re.sub(r"<text.*?</text>", "", svg)
    hexes = set(re.findall(r'"#([0-9a-fA-F]{6})"', inside)) - {"1b1f23"}
    assert all(len({text[0:2], text[2:4], text[4:6]}) == 1 for text in hexes)
    mixed = {tuple(map(int, found)) for found in re.findall(r"rgb\((\d+), (\d+), (\d+)\)", inside)}
    assert all(max(colour) - min(colour) <= 3 for colour in mixed), mixed
    assert hexes | mixed


def test_greyscale_touches_no_data() -> None:
    spec = {"datasets": {"rows": [{"run": "#006ba6"}]}, "mark": {"color": "#006ba6"}}
    assert in_grey(spec) == {"datasets": {"rows": [{"run": "#006ba6"}]}, "mark": {"color": "#1a1a1a"}}


WRONG: dict[str, dict[str, Any]] = {
    "width 0: give a number of cm from 2 to 120": {"width": 0},
    "width '8.5cm': give a number of cm": {"width": "8.5cm"},
    "height nan: give a number of cm": {"height": float("nan")},
    "font size 200: give a number of points from 3 to 40": {"font_size": 200},
    "width 2 cm: no room for the chart beside its names and legend": {"width": 2},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_is_an_error_and_nothing_is_written(message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        board().save(tmp_path / "x.svg", **WRONG[message])
    with pytest.raises(UsageError, match=r"are of \.svg, \.png and \.pdf, not of a page"):
        board().save(tmp_path / "x.html", greyscale=True)
    assert list(tmp_path.iterdir()) == []


def test_better_and_worse_differ_in_colour_and_shape() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal([[0.2], [0.5], [0.5], [0.8]], 0.1, size=(4, 50))
    scores = ScoreMatrix.of(values, runs=["low", "base", "same", "high"])
    drawing = leaderboard(compare(scores, baseline="base", test="tukey"))
    kinds = {row["run"]: row["kind"] for row in drawing.spec["datasets"]["rows"]}
    assert kinds == {"high": VERDICTS[0], "low": VERDICTS[1], "same": VERDICTS[2], "base": "baseline"}
    point = next(layer for layer in drawing.spec["layer"] if layer["mark"]["type"] == "point")["encoding"]
    assert len(set(point["shape"]["scale"]["range"])) == len(set(point["color"]["scale"]["range"])) == 4
    assert dict(zip(point["shape"]["scale"]["domain"], point["shape"]["scale"]["range"], strict=True)) == {
        kind: shape for kind, (_, shape) in SIGNS.items() if kind in kinds.values()
    }
    assert "share a letter" in drawing.note
    assert "share a letter" in str(drawing.rendered("svg"))
    assert "1 significantly better, 1 significantly worse, 1 not significantly different" in drawing.description


def test_a_map_shows_all_runs_and_one_outlier_does_not_pale_it() -> None:
    values = np.random.default_rng(0).random((143, 30))
    drawing = score_map(ScoreMatrix.of(values, measure="DCG"))
    assert drawing.title == "DCG of 143 runs on 30 topics"
    assert len(drawing.spec["datasets"]["rows"]) == 143 * 30
    assert colour_range(values) is None
    assert drawing.spec["encoding"]["color"]["legend"]["title"] == "DCG"
    values[5, 5] = 1000
    clipped = score_map(ScoreMatrix.of(values, measure="DCG")).spec["encoding"]["color"]
    low, high = clipped["scale"]["domain"]
    assert (low, high) == pytest.approx((0.01, 0.99), abs=0.01)
    assert clipped["legend"]["title"] == ["DCG", f"scores below {low:g} and above {high:g} look like the end"]
    both = score_map(ScoreMatrix.of(values - 0.5, measure="z(DCG)")).spec["encoding"]["color"]["scale"]["domain"]
    assert both[0] == -both[1]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    write_scores(tmp_path / "s.csv", [ScoreMatrix.of(np.random.default_rng(0).random((4, 9)), measure="AP")])
    return tmp_path


def asked(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.cli.main", "compare", "s.csv", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_commands_draw_for_papers(scores: Path) -> None:
    paper = ["--width", "8.5", "--height", "6", "--font-size", "7", "--no-title", "--greyscale"]
    done = asked(scores, "--figure", "x.svg", *paper)
    assert done.returncode == 0, done.stderr
    svg = (scores / "x.svg").read_text()
    assert points(svg) == pytest.approx((240.9, 170.1), abs=1)
    assert "AP of 4 runs" not in re.sub(r'aria-label="[^"]*"', "", svg)


@pytest.mark.parametrize(
    "words", [["--width", "8"], ["--height", "8"], ["--font-size", "8"], ["--no-title"], ["--greyscale"]]
)
def test_options_of_a_figure_need_one(scores: Path, words: list[str]) -> None:
    done = asked(scores, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"assay: {words[0]} says how the figure is drawn; name its file with --figure\n"
    page = asked(scores, "--figure", "x.html", *words)
    assert (page.returncode, page.stdout) == (2, "")
    assert len(page.stderr.splitlines()) == 1
