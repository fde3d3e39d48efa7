"""Units: the nuggets of a topic, and those that an answer conveys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.core.errors import DataError


@dataclass(frozen=True)
class Units:
    """The units (nuggets) of a topic with weights and the lengths of their vital strings; those an output matches.

    matched maps a unit's place to its offset: the characters read until it is conveyed. length is the output's.

    >>> Units([3, 1, 3], [10, 5, 5], matched={0: 100, 1: 50}, length=500).matched
    {0: 100, 1: 50}
    """

    weights: Sequence[float]
    lengths: Sequence[int]
    matched: Mapping[int, float]
    length: int

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.lengths):
            raise DataError(
                f"{len(self.weights)} weights for {len(self.lengths)} vital strings; a unit has one of each"
            )
        strange = [i for i in self.matched if not 0 <= i < len(self.weights)]
        if strange:
            raise DataError(f"matched unit number {strange[0]} is not among the {len(self.weights)} units of the topic")
