"""Colours stand out: 3:1 for marks, 4.5:1 for text, on the light and on the dark page."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

from assay.report import theme
from assay.report.theme import (
    BETTER,
    COLOURS,
    DARK_INK,
    DARK_PAGE,
    DASHES,
    GREYS,
    INK,
    PAPER,
    UNDECIDED,
    WORSE,
    config,
)


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_on_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("page", [PAPER, DARK_PAGE])
@pytest.mark.parametrize("colour", COLOURS)
def test_marks_stand_out_from_both_pages(colour: str, page: str) -> None:
    assert contrast(colour, page) >= 3


def test_text_of_the_page_has_contrast_aa() -> None:
    style = (Path(theme.__file__).parent / "templates" / "style.css").read_text()
    style = style.replace("{{ colours.paper }}", PAPER).replace("{{ colours.ink }}", INK)
    style = style.replace("{{ colours.dark }}", DARK_PAGE).replace("{{ colours.dark_ink }}", DARK_INK)
    modes = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", style)]
    assert len(modes) == 2
    for colours in modes:
        for text in ("ink", "soft", "link"):
            for ground in ("paper", "shade"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_the_first_colours_and_the_verdicts_differ_in_grey() -> None:
    """A printer without colour leaves the luminance; shapes and dashes tell the others apart."""
    for one, other in combinations(COLOURS[:4], 2):
        assert contrast(one, other) >= 1.15, (one, other)
    assert contrast(BETTER, WORSE) >= 1.8
    assert contrast(BETTER, UNDECIDED) >= 1.25
    assert contrast(WORSE, UNDECIDED) >= 1.25


def test_greys_stand_out_from_paper_and_from_each_other() -> None:
    assert len(GREYS) == len(COLOURS) == len(set(GREYS))
    assert all(grey[1:3] == grey[3:5] == grey[5:] for grey in GREYS)
    assert all(contrast(grey, PAPER) >= 3 for grey in GREYS)
    for one, other in combinations(GREYS[:4], 2):
        assert contrast(one, other) >= 1.4, (one, other)


def test_series_differ_by_more_than_colour() -> None:
    assert len(DASHES) == len(COLOURS)
    assert len({tuple(d) for d in DASHES}) == len(DASHES)


def test_charts_on_the_page_take_the_colour_of_its_text() -> None:
    assert config(page=True)["background"] is None
    assert INK not in str(config(page=True))
    assert config()["axis"]["labelColor"] == INK
