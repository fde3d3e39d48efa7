"""Which measures found no doc relevant, because no grade is as high as the lowest that they count?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class OfJudgments(Protocol):
    """What says of which measure it holds scores, and which grades were lost there."""

    @property
    def measure(self) -> str: ...
    @property
    def lost(self) -> tuple[float, float] | None: ...


def lost_grades(scores: Iterable[OfJudgments]) -> list[str]:
    """A line for the measures that count none of the grades: the highest grade, what they count and what to do.

    >>> from assay.data.scores import ScoreMatrix
    >>> zeros = ScoreMatrix(("a",), ("1",), [[0.0]], "AP", lost=(0.9, 1))
    >>> lost_grades([zeros, ScoreMatrix(("a",), ("1",), [[0.7]], "nDCG")])
    ['highest grade .9: AP counts grades ≥ 1; set rel=.5']
    """
    groups: dict[tuple[float, float], list[str]] = {}
    for matrix in scores:
        if matrix.lost is not None:
            groups.setdefault(matrix.lost, []).append(matrix.measure)
    return [_line(highest, lowest, measures) for (highest, lowest), measures in groups.items()]


def _line(highest: float, lowest: float, measures: list[str]) -> str:
    if not highest:
        return f"no grade reaches {_short(lowest)}: {', '.join(measures)} of binary judgments; set a lower binary="
    verb = "counts" if len(measures) == 1 else "count"
    below = 0.5 if 0.5 <= highest < 1 else highest
    what = f"highest grade {_short(highest)}: {', '.join(measures)} {verb} grades ≥ {_short(lowest)}"
    return f"{what}; set rel={_short(below)}"


def _short(grade: float) -> str:
    """A grade without the 0 in front of its fraction."""
    return f"{grade:g}".removeprefix("0") if 0 < grade < 1 else f"{grade:g}"
