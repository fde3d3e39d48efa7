"""How large a drop is too large? Margins from what a person writes: .01, "2%", {"nDCG@10": .01, "RR": "2%"}."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.arrays import Floats
from assay.core.errors import AssayError, DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix
from assay.measures import parse
from assay.stats.effect import differences, rounded
from assay.stats.limits import assumed_scores, possible_differences

EXAMPLES = "give a number such as .01, a share of the baseline such as 2%, or one for each measure"


@dataclass(frozen=True)
class Margin:
    """The largest drop that is allowed: an amount of the measure, or a share of the baseline's mean.

    >>> Margin.of(".01"), str(Margin.of("2%"))
    (Margin(size=0.01, relative=False), '2%')
    """

    size: float
    relative: bool = False

    @classmethod
    def of(cls, given: Any) -> Margin:
        """A margin from a number, or from a text such as ".01" or "2%"."""
        if isinstance(given, Margin):
            return given
        text = str(given).strip()
        relative = isinstance(given, str) and text.endswith("%")
        try:
            size = float(text.removesuffix("%") if relative else text)
        except ValueError:
            raise UsageError(f"max-drop: {given!r} is not a drop; {EXAMPLES}") from None
        if isinstance(given, bool) or not math.isfinite(size) or size < 0:
            raise UsageError(f"max-drop: must be a number of 0 or more (got {text}); {EXAMPLES}")
        if relative and size >= 100:
            raise UsageError(f"max-drop: {text} of the baseline allows any drop; give less than 100%")
        return cls(size / 100 if relative else size, relative)

    def __str__(self) -> str:
        if self.relative:
            return f"{100 * self.size:.6g}%"
        text = f"{self.size:g}"
        return text.removeprefix("0") if text.startswith("0.") else text

    def amount(self, matrix: ScoreMatrix) -> float:
        """The margin as an amount of the measure; the matrix has the new run first and the baseline second."""
        if not self.relative:
            limits = possible_differences(matrix)
            if limits is not None and self.size >= limits[1]:
                raise UsageError(
                    f"max-drop: {matrix.measure} cannot drop by more than {limits[1]:g}, and {self.size:g} is allowed; "
                    f"for a share of the baseline write {self.size:g}%"
                )
            return self.size
        mean = float(matrix.averages()[1])
        if mean <= 0:
            raise DataError(
                f"max-drop: the baseline has a mean {matrix.measure} of {mean:g}, of which {self} is no drop; "
                "give an amount such as .01"
            )
        return self.size * mean

    def above(self, matrix: ScoreMatrix) -> Floats:
        """By how much the new run is above what is allowed, on every topic; the test is whether the mean is above 0.

        An amount: new − (baseline − max-drop). A share r: new − (1 − r)·baseline, in which the baseline is as uncertain
        as the new run.
        """
        new, baseline = matrix.values
        if self.relative:
            return rounded(new - (1 - self.size) * baseline)
        return rounded(differences(new, baseline)[0] + self.size)

    def limits(self, matrix: ScoreMatrix) -> tuple[float, float] | None:
        """The least and largest value of `above`; None if the range of the scores is not known."""
        scores = assumed_scores(matrix)
        if scores is None:
            return None
        low, high = scores
        if self.relative:
            kept = 1 - self.size
            return low - kept * high, high - kept * low
        return low - high + self.size, high - low + self.size


def margins_of(max_drop: Any, measures: Sequence[str]) -> list[Margin]:
    """The margin of each measure: one for all, or {measure: margin}; a key None stands for all other measures.

    >>> [str(margin) for margin in margins_of({"RR": "2%", None: 0.01}, ["AP", "RR"])]
    ['.01', '2%']
    """
    if not isinstance(max_drop, Mapping):
        return [Margin.of(max_drop)] * len(measures)
    by_name = {None if name is None else _spelled(str(name)): Margin.of(one) for name, one in max_drop.items()}
    if len(by_name) < len(max_drop):
        raise UsageError("max-drop: one measure is there twice; give one drop for each")
    wanted = [_spelled(measure) for measure in measures]
    for name in by_name:
        if name is not None and name not in wanted:
            raise UsageError(f"max-drop: {name} is not among the measures{did_you_mean(name, measures)}")
    others = by_name.get(None)
    margins = []
    for measure, name in zip(measures, wanted, strict=True):
        margin = by_name.get(name, others)
        if margin is None:
            raise UsageError(f"max-drop: there is none for {measure}; add {measure}=.01, or one for all measures")
        margins.append(margin)
    if None in by_name and set(wanted) <= set(by_name):
        raise UsageError(f"max-drop: {others} has no effect, every measure has its own; leave it out")
    return margins


def _spelled(measure: str) -> str:
    """A measure in one spelling, also where it is given by its name in trec_eval."""
    try:
        return str(parse(measure))
    except AssayError:  # a name of a score table that is no measure of ours
        return canonical(measure)
