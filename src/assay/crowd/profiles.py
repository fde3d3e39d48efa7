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
        place = (np.array(self.levels) - self.levels[0]) / (self.levels[-1] - self.levels[0])
        bend = ((middle - middle[0]) / (middle[-1] - middle[0]) - place)[1:-1].mean()
        return "linear" if abs(bend) < 0.02 else "sub-linear" if bend > 0 else "super-linear"

    def table(self) -> Table:
        """One row per level."""
        rows = [
            (f"{v:g}", n, *q, m) for v, n, q, m in zip(self.levels, self.count, self.quartiles, self.mean, strict=True)
        ]
        formats = {"level": "", self.what: "d", "lower quartile": ".2f", "median": ".2f", "upper quartile": ".2f"}
        notes = [f"Shape of the medians: {self.shape}."]
        notes += [f"{self.unjudged} {self.what} without a reference grade are left out."] if self.unjudged else []
        return Table.of(formats | {"mean": ".2f"}, rows, caption="Gain profile", notes=notes)


def gain_profile(labels: Labels, reference: Qrels, *, aggregated: bool = False) -> GainProfile:
    """Labels (or with `aggregated` the mean label of each doc) per level of the reference."""
    grade, value, what = reference_of(summable(labels), reference), labels.label, "labels"
    if aggregated:
        item, _ = labels.items()
        value, what = np.bincount(item, labels.label) / np.bincount(item), "docs"
        grade = grade[np.unique(item, return_index=True)[1]]
    levels = np.unique(grade[~np.isnan(grade)])
    groups = [value[grade == v] for v in levels]
    return GainProfile(
        tuple(levels.tolist()),
        tuple(len(g) for g in groups),
        np.array([np.percentile(g, [25, 50, 75]) for g in groups]),
        np.array([g.mean() for g in groups]),
        what,
        int(np.isnan(grade).sum()),
    )
