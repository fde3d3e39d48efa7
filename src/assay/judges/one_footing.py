"""On what are several judges compared? One coefficient for all: of grades where all give them, else relevant or not.

α of grades for one judge and α of relevant or not for another are two coefficients: which is larger says nothing. So
all judges are compared on the same docs, those that all of them labelled, and by the same coefficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.agreement.alpha import alpha_of_coincidences
from assay.agreement.scales import S2, Scale
from assay.core.arrays import Floats, Ints
from assay.judges.judge_differences import Differences, compared, jackknife_ends, leave_topics_out
from assay.judges.label_cuts import called_relevant, cut_of
from assay.judges.labelled_pairs import Labelled


@dataclass(frozen=True, eq=False)
class Footing:
    """People and all judges on one scale and on the same docs."""

    pairs: Labelled
    human: Floats
    labels: Floats
    """judges × docs."""
    scale: Scale
    coefficient: str
    """`α ordinal` of grades, or `α nominal` of relevant or not."""
    how: str
    same_docs: bool

    @classmethod
    def of(cls, pairs: Labelled, rel: float) -> Footing:
        """Grades where all judges are on the scale of the people, else relevant or not, each judge at its cut."""
        seen = pairs.compared()
        complete = np.asarray(seen.by_machine.all(axis=0))
        same_docs = bool(complete.any()) and len(np.unique(seen.topic[complete])) > 1
        if same_docs:
            seen = seen.only(complete)
        places = range(len(seen.judges))
        if seen.scale.kind == "categories" and not any(seen.is_other_scale(j) for j in places):
            coefficient = "α nominal" if len(seen.scale.levels) == 2 else "α ordinal"
            return cls(seen, seen.human, seen.machine, seen.scale, coefficient, "grades", same_docs)
        human = (seen.human >= rel).astype(np.float64)
        called = [called_relevant(seen, j, rel).astype(np.float64) for j in places]
        labels = np.where(np.isnan(seen.machine), np.nan, called)
        cuts = [cut_of(seen, j, rel) for j in places]
        said = ", ".join(f"{seen.judges[j]} {cut.described}" for j, cut in zip(places, cuts, strict=True) if cut.fitted)
        how = f"relevant or not: human from {rel:g} on, each judge from its cut on" + (f" ({said})" if said else "")
        return cls(seen, human, labels, S2, "α nominal", how, same_docs)

    @property
    def docs(self) -> str:
        """Which docs were compared, in words."""
        which = "that all judges labelled" if self.same_docs else "(no docs have labels of all judges: each on its own)"
        return f"{len(self.pairs)} docs {which}"

    def tables(self, labels: Floats) -> Floats:
        """topics × human level × machine level of counts."""
        levels = np.array(self.scale.levels)
        size = len(levels)
        both = ~np.isnan(labels)
        cell = np.searchsorted(levels, self.human[both]) * size + np.searchsorted(levels, labels[both])
        topics = len(self.pairs.topics)
        counts = np.bincount(self.pairs.topic[both] * size**2 + cell, minlength=topics * size**2)
        return counts.reshape(topics, size, size).astype(np.float64)

    def alphas(self, tables: Floats) -> Floats:
        """The coefficient of tables of counts (the last two axes); NaN where it is undefined."""
        met = tables + np.swapaxes(tables, -1, -2)
        levels = np.array(self.scale.levels)
        if self.coefficient == "α nominal":
            return alpha_of_coincidences(met, levels, level="nominal")
        return alpha_of_coincidences(met, levels, level="ordinal")


@dataclass(frozen=True, eq=False)
class Standing:
    """The coefficient of every judge (or panel) on one footing, with and without each topic."""

    footing: Footing
    names: tuple[str, ...]
    values: Floats
    left_out: Floats
    level: float

    @classmethod
    def of(cls, footing: Footing, given: dict[str, Floats], level: float) -> Standing:
        """given: the labels of each name."""
        tables = [footing.tables(labels) for labels in given.values()]
        values = np.array([float(footing.alphas(table.sum(axis=0))) for table in tables])
        left_out = np.stack([footing.alphas(leave_topics_out(table)) for table in tables])
        return cls(footing, tuple(given), values, left_out, level)

    def value(self, name: str) -> float | None:
        """The coefficient of one name; None where it is undefined."""
        value = float(self.values[self.names.index(name)])
        return None if np.isnan(value) else value

    def ends(self, name: str) -> tuple[float | None, float | None]:
        """The interval of one name."""
        at = self.names.index(name)
        return jackknife_ends(float(self.values[at]), self.left_out[at], self.level)

    def best(self, names: Sequence[str]) -> str:
        """The name with the largest coefficient, the first of several."""
        return max(names, key=lambda name: np.nan_to_num(self.values[self.names.index(name)], nan=-2.0))

    def differences(self, pairs: tuple[Ints, Ints], resamples: int | None, seed: int) -> Differences:
        """The differences of these pairs of names, all considered together."""
        return compared(
            self.names, self.values, self.left_out, pairs, self.footing.coefficient, level=self.level,
            resamples=resamples, seed=seed,
        )  # fmt: skip
