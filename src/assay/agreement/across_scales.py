"""Do labels on a fine scale order docs as a coarse reference does? Pairwise agreement across scales, asymmetric.

Needs no common scale: only whether a doc that the reference puts lower also has the lower label. The area under the ROC
curve comes from the same counts. Roitero 2020, §9.3.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError
from assay.data import Labels, Qrels
from assay.rankings.counts import concordant_pairs, tied_pairs

CELLS = 2**20
"""Numbers that are worked on at a time."""
Numbers = npt.NDArray[np.number]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Of each group: pairs of items, those whose references differ, and of these the ones in the same order or tied.

    >>> counts = pair_counts(np.array([0, 1, 0, 1]), np.array([10, 80, 90, 90]))
    >>> round(float(counts.agreement()), 4), float(counts.agreement(untied=True)), float(counts.auc())
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


def _share(part: Numbers, whole: Ints) -> Floats:
    return np.asarray(np.where(whole > 0, part / np.maximum(whole, 1), np.nan), dtype=np.float64)


def pairwise_agreement(reference: npt.ArrayLike, labels: npt.ArrayLike, *, untied: bool = False) -> float:
    """The share of pairs of items that the reference puts in an order and the labels put in the same, strictly.

    #{x_i < x_j and y_i < y_j} over all n(n−1)/2 pairs; pairs tied in the reference then cap the score (four and four
    docs on a binary reference reach at most .571). untied=True divides by the pairs that the reference orders instead.
    A tie of the labels never agrees. Where the reference is constant: 0 of all pairs; untied, undefined: an error.

    >>> round(pairwise_agreement([0, 1, 0, 1], [10, 80, 90, 90]), 4)
    0.3333
    """
    x = np.asarray(reference, dtype=np.float64)
    y = np.asarray(labels, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"one reference value and one label per item are needed, not shapes {x.shape} and {y.shape}")
    if len(x) < 2:
        raise DataError(f"two items or more are needed to compare pairs, not {len(x)}")
    share = float(pairwise_agreements(x, y, untied=untied))
    if np.isnan(share):
        raise DataError("all reference values are equal; no pair of items is ordered")
    return share


def pairwise_agreements(reference: Numbers, labels: Numbers, *, untied: bool = False) -> Floats:
    """Pairwise agreement along the last axis, for many samples; NaN where no pair counts."""
    pairs = _all_pairs(reference)
    if untied:
        pairs = pairs - tied_pairs(reference)
    return _share(concordant_pairs(reference, labels), pairs)


def pair_counts(reference: Numbers, labels: Numbers) -> PairCounts:
    """Counts along the last axis, for many samples at once."""
    pairs = _all_pairs(reference)
    different = pairs - tied_pairs(reference)
    same = concordant_pairs(reference, labels)
    opposite = concordant_pairs(reference, -labels)
    tied = different - same - opposite
    return PairCounts(pairs, different, same, tied)


def _all_pairs(samples: Numbers) -> Ints:
    """The pairs of items of each sample; items stand along the last axis."""
    n = samples.shape[-1]
    return np.full(samples.shape[:-1], n * (n - 1) // 2)


def ordered_pairs(group: Ints, reference: Numbers, label: Numbers) -> PairCounts:
    """Counts for every group 0 … max of items, e.g. tasks or topics: groups of one size are worked on together."""
    sizes = np.bincount(group)
    begin = np.cumsum(sizes) - sizes
    order = np.argsort(group, kind="stable")
    x = np.asarray(reference)[order]
    y = np.asarray(label)[order]
    different = np.zeros(len(sizes), dtype=np.int64)
    same = np.zeros(len(sizes), dtype=np.int64)
    tied = np.zeros(len(sizes), dtype=np.int64)
    for size in np.unique(sizes[sizes > 1]):
        groups = np.flatnonzero(sizes == size)
        groups_at_once = CELLS // int(size)
        for some in chunks(len(groups), max(1, groups_at_once)):
            members = groups[some]
            rows = begin[members, None] + np.arange(size)
            counts = pair_counts(x[rows], y[rows])
            different[members] = counts.different
            same[members] = counts.same
            tied[members] = counts.tied
    pairs = sizes * (sizes - 1) // 2
    return PairCounts(pairs, different, same, tied)


def reference_of(labels: Labels, qrels: Qrels) -> Floats:
    """The reference grade of each label's doc; NaN where it was not judged. No doc with a grade at all is an error."""
    item, docs = labels.items()
    return grades_of(docs, qrels, labels.name)[item]


def grades_of(docs: list[tuple[str, str]] | tuple[tuple[str, str], ...], qrels: Qrels, name: str) -> Floats:
    """The grade of each (topic, doc); NaN where it was not judged, which a grade below 0 means too.

    name: that of the labels, for the error where no doc has a grade.
    """
    known = qrels.to_dict()
    grades = []
    for topic, doc in docs:
        of_topic = known.get(topic, {})
        grades.append(of_topic.get(doc, np.nan))
    grade = np.array(grades, dtype=np.float64)
    grade[grade < 0] = np.nan
    if np.isnan(grade).all():
        raise DataError(f"{name}: no doc has a grade in {qrels.name}; check topics and doc ids")
    return grade


def means_and_grades(labels: Labels, qrels: Qrels) -> dict[str, tuple[Floats, Floats, Ints]]:
    """For each topic of both: of the docs that have both, the grades, the mean labels and the number of labels."""
    item, docs = labels.items()
    count = np.bincount(item)
    mean = mean_labels(labels)
    grade = grades_of(docs, qrels, labels.name)
    topic = np.array([t for t, _ in docs])
    found = {}
    for name in qrels.topics:
        both = np.flatnonzero((topic == name) & ~np.isnan(grade))
        if len(both) > 1:
            found[name] = (grade[both], mean[both], count[both])
    if not found:
        raise DataError(f"{labels.name} and {qrels.name} share no topic with two docs in common; nothing to compare")
    return found


def mean_labels(labels: Labels) -> Floats:
    """The mean label of each item of `labels.items()`."""
    item, _ = labels.items()
    return np.asarray(np.bincount(item, labels.label) / np.bincount(item))
