"""What is each level of one scale worth on another? The gain profile: median and quartiles of labels per level.

Sub-linear where low levels already get much of the scale (as 0–100 labels do), super-linear where high levels run away
(as magnitudes do). Roitero 2020, Figs 9.3 and 9.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.agreement.across_scales import reference_of
from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.units import summable
from assay.data import Labels, Qrels


@dataclass(frozen=True, eq=False)
class GainProfile(Result):
    """Per level of the reference: how many labels, their lower quartile, median, upper quartile and mean."""

    levels: tuple[float, ...]
    count: tuple[int, ...]
    quartiles: Floats
    mean: Floats
    what: str
    unjudged: int

    @property
    def shape(self) -> str:
        """Whether the medians rise below a straight line between their ends, above it, or along it."""
        middle = self.quartiles[:, 1]
        if len(middle) < 3 or middle[-1] <= middle[0]:
            return "unknown"
        levels = np.array(self.levels)
        place = (levels - levels[0]) / (levels[-1] - levels[0])
        height = (middle - middle[0]) / (middle[-1] - middle[0])
        bend = (height - place)[1:-1].mean()
        if abs(bend) < 0.02:
            return "linear"
        return "sub-linear" if bend > 0 else "super-linear"

    def table(self) -> Table:
        """One row per level."""
        rows = []
        for level, count, quartiles, mean in zip(self.levels, self.count, self.quartiles, self.mean, strict=True):
            rows.append((f"{level:g}", count, *quartiles, mean))
        formats = {"level": "", self.what: "d", "lower quartile": ".2f", "median": ".2f", "upper quartile": ".2f"}
        formats["mean"] = ".2f"
        notes = [f"Shape of the medians: {self.shape}."]
        if self.unjudged:
            notes.append(f"{self.unjudged} {self.what} without a reference grade are left out.")
        return Table.of(formats, rows, caption="Gain profile", notes=notes)


def gain_profile(labels: Labels, reference: Qrels, *, aggregated: bool = False) -> GainProfile:
    """Labels (or with `aggregated` the mean label of each doc) per level of the reference."""
    grade = reference_of(summable(labels), reference)
    value = labels.label
    what = "labels"
    if aggregated:
        item, _ = labels.items()
        first_row = np.unique(item, return_index=True)[1]
        value = np.bincount(item, labels.label) / np.bincount(item)
        grade = grade[first_row]
        what = "docs"
    unknown = np.isnan(grade)
    levels = np.unique(grade[~unknown])
    groups = [value[grade == level] for level in levels]
    return GainProfile(
        levels=tuple(levels.tolist()),
        count=tuple(len(group) for group in groups),
        quartiles=np.array([np.percentile(group, [25, 50, 75]) for group in groups]),
        mean=np.array([group.mean() for group in groups]),
        what=what,
        unjudged=int(unknown.sum()),
    )
