"""Golden values of measures: one row of measures.csv each, with where the value comes from.

ranked and judged are grades, `-` a doc without judgment. A value must agree in all the digits that are given.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from assay.data.grades import UNJUDGED, Grades
from assay.measures import parse

ROWS = list(csv.DictReader((Path(__file__).parent / "measures.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['measure']}-{i}" for i, r in enumerate(ROWS, 2)])
def test_golden(row: dict[str, str]) -> None:
    value = float(parse(row["measure"])(_grades(row))[0])
    digits = len(row["expected"].partition(".")[2])
    half = 0.5 * 10.0**-digits if digits else 0.0
    assert value == pytest.approx(float(row["expected"]), abs=half + 1e-12, rel=0), row["source"]


def test_every_row_says_where_it_comes_from() -> None:
    assert all(row["source"] for row in ROWS)


def _grades(row: dict[str, str]) -> Grades:
    ranked = [None if x == "-" else float(x) for x in row["ranked"].split()]
    judged = sorted((float(x) for x in row["judged"].split()), reverse=True)
    g = Grades(
        ("1",),
        np.array([[UNJUDGED if x is None else x for x in ranked]]).reshape(1, -1),
        np.array([len(ranked)]),
        np.array([judged]).reshape(1, -1),
        top=float(row["top"]) if row["top"] else max([1.0, *judged]),
    )
    return replace(
        g,
        lengths=_numbers(row["lengths"]),
        inclusion=_numbers(row["inclusion"]),
        judged_inclusion=_numbers(row["judged_inclusion"]),
    )


def _numbers(text: str) -> npt.NDArray[np.float64] | None:
    return np.array([[float(x) for x in text.split()]]) if text else None
