"""Do labels put docs in the order in which the reference puts them? Counts of ordered pairs, per task or topic.

The pairwise agreement across scales of Roitero 2020, §9.3.2.1, with the reference as the baseline, and the area under
the ROC curve come from the same counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError
from assay.data import Labels, Qrels

CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Per group: pairs of rows, those whose references differ, and of these the ones in the same order or tied.

    >>> counts = ordered_pairs(np.zeros(4, int), np.array([0, 1, 0, 1]), np.array([10, 80, 90, 90]))
    >>> float(counts.agreement()[0].round(4)), float(counts.agreement(untied=True)[0]), float(counts.auc()[0])
    (0.3333, 0.5, 0.625)
    """

    pairs: Ints
    different: Ints
    same: Ints
    tied: Ints

    def agreement(self, *, untied: bool = False) -> Floats:
        """Pairs in the same order over all pairs, or over those whose references differ; NaN where there is none."""
        return _share(self.same, self.different if untied else self.pairs)

    def auc(self) -> Floats:
        """As the untied agreement, with half a point for a pair that the labels tie."""
        return _share(self.same + self.tied / 2, self.different)


def _share(part: npt.NDArray[np.number], whole: Ints) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan).astype(np.float64)


def ordered_pairs(group: Ints, reference: npt.NDArray[np.number], label: npt.NDArray[np.number]) -> PairCounts:
    """Counts for every group 0 … max: groups of one size are worked on together, n² cells each."""
    sizes = np.bincount(group)
    begin = np.cumsum(sizes) - sizes
    order = np.argsort(group, kind="stable")
    x, y = np.asarray(reference)[order], np.asarray(label)[order]
    counts = np.zeros((3, len(sizes)), dtype=np.int64)
    for size in np.unique(sizes[sizes > 1]):
        members = np.flatnonzero(sizes == size)
        for some in chunks(len(members), max(1, CELLS // int(size) ** 2)):
            rows = begin[members[some], None] + np.arange(size)
            counts[:, members[some]] = _counted(x[rows], y[rows])
    return PairCounts(sizes * (sizes - 1) // 2, *counts)


def _counted(x: npt.NDArray[np.number], y: npt.NDArray[np.number]) -> tuple[Ints, Ints, Ints]:
    """Of the pairs with x_i < x_j: how many, with y_i < y_j, with y_i = y_j."""
    less = x[:, :, None] < x[:, None, :]
    below, equal = y[:, :, None] < y[:, None, :], y[:, :, None] == y[:, None, :]
    different, same, tied = (m.sum(axis=(1, 2)) for m in (less, less & below, less & equal))
    return different, same, tied


def reference_of(labels: Labels, qrels: Qrels) -> npt.NDArray[np.float64]:
    """The reference grade of each label's doc; not-a-number where it has none. All without a grade is an error."""
    known = qrels.to_dict()
    item, pairs = labels.items()
    grade = np.array([known.get(t, {}).get(d, np.nan) for t, d in pairs], dtype=np.float64)
    if np.isnan(grade).all():
        raise DataError(f"{labels.name}: no doc has a grade in {qrels.name}; check topics and doc ids")
    return grade[item]
