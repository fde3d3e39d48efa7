"""On which scale are grades, and where do they come from? On a long scale somebody must say what counts as relevant.

Grades of a file say it themselves by how many levels they have; grades that were made of labels carry it, those on
many levels also through TREC files: the second column, which no program reads, holds it (`0-100,,mean-of-10-labels`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.lazy import np

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_LEVELS = 6
"""Up to this many levels of relevance are graded judgments; from 1 on a doc is relevant."""
_NUMBER = r"(-?[0-9.]+)"
_WRITTEN = re.compile(rf"{_NUMBER}-{_NUMBER},([0-9]*),(.*)")


@dataclass(frozen=True)
class GradeScale:
    """From the lowest to the highest grade, how many levels there are (0: any number between them), and the origin.

    >>> mean = GradeScale(0, 100, 0, "mean of 10 labels")
    >>> str(mean), mean.is_fine, str(GradeScale(0, 3, 4, "majority of 10 labels"))
    ('0–100, mean of 10 labels', True, '4 levels 0–3, majority of 10 labels')
    >>> GradeScale.read(mean.written()) == mean, GradeScale.read("Q0")
    (True, None)
    """

    low: float
    high: float
    levels: int
    origin: str = ""

    def __str__(self) -> str:
        ends = f"{self.low:g}–{self.high:g}"
        what = f"{self.levels} levels {ends}" if self.levels else ends
        return f"{what}, {self.origin}" if self.origin else what

    @property
    def is_fine(self) -> bool:
        """Whether the scale is so long that 1 says nothing of relevance."""
        return self.levels > MOST_LEVELS or (not self.levels and self.high - self.low >= MOST_LEVELS)

    def written(self) -> str:
        """As one word, for the second column of a TREC file."""
        origin = re.sub(r"\s+", "-", self.origin.replace("–", "-").encode("ascii", "replace").decode())
        low, high = (f"{end:.12g}" for end in (self.low, self.high))
        return f"{low}-{high},{self.levels or ''},{origin}"

    @classmethod
    def read(cls, word: str) -> GradeScale | None:
        """The scale that a word tells of; None if it tells of none."""
        found = _WRITTEN.fullmatch(word)
        if found is None:
            return None
        try:
            low, high = float(found[1]), float(found[2])
        except ValueError:
            return None
        return cls(low, high, int(found[3] or 0), found[4].replace("-", " "))


def scale_of_grades(grades: npt.NDArray[Any]) -> GradeScale | None:
    """The scale that grades show: that of a few levels is nothing to speak of.

    >>> print(scale_of_grades(np.array([0, 3, 1, -1])), scale_of_grades(np.arange(8.0)))
    None 8 levels 0–7
    """
    top = grades.max(initial=0)
    if grades.dtype.kind != "f" and top < MOST_LEVELS:
        return None
    distinct = np.unique(grades[grades >= 0])
    if len(distinct) <= MOST_LEVELS:
        return None
    return GradeScale(float(distinct[0]), float(distinct[-1]), len(distinct))
