"""Do labels on a fine scale order docs as a coarse reference does? Pairwise agreement across scales, asymmetric.

Needs no common scale: only whether a doc that the reference puts lower also has the lower label. Roitero 2020,
§9.3.2.1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.ids import Ids, coded
from assay.data import Labels, Qrels
from assay.rankings.counts import concordant_pairs, tied_pairs


def pairwise_agreement(reference: npt.ArrayLike, labels: npt.ArrayLike, *, untied: bool = False) -> float:
    """The share of pairs of items that the reference puts in an order and the labels put in the same, strictly.

    #{x_i < x_j and y_i < y_j} over all n(n−1)/2 pairs; pairs tied in the reference then cap the score (four and four
    docs on a binary reference reach at most .571). untied=True divides by the pairs that the reference orders instead.
    A tie of the labels never agrees. Where the reference is constant: 0 of all pairs; untied, undefined: an error.

    >>> round(pairwise_agreement([0, 1, 0, 1], [10, 80, 90, 90]), 4)
    0.3333
    """
    x, y = np.asarray(reference, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"one reference value and one label per item are needed, not shapes {x.shape} and {y.shape}")
    if len(x) < 2:
        raise DataError(f"two items or more are needed to compare pairs, not {len(x)}")
    found = float(pairwise_agreements(x[None], y[None], untied=untied)[0])
    if np.isnan(found):
        raise DataError("all reference values are equal; no pair of items is ordered")
    return found


def pairwise_agreements(reference: Floats, labels: Floats, *, untied: bool = False) -> Floats:
    """Pairwise agreement along the last axis, for many samples; NaN where no pair counts."""
    n = reference.shape[-1]
    pairs = np.full(reference.shape[:-1], n * (n - 1) // 2)
    pairs = pairs - tied_pairs(reference) if untied else pairs
    agreeing = concordant_pairs(reference, labels)
    return np.asarray(np.where(pairs > 0, agreeing / np.maximum(pairs, 1), np.nan))


def means_and_grades(labels: Labels, qrels: Qrels) -> dict[str, tuple[Floats, Floats, Floats]]:
    """For each topic of both: of the docs that have both, the grades, the mean labels and the number of labels."""
    items, pairs = labels.items()
    count = np.bincount(items).astype(np.float64)
    mean = np.bincount(items, labels.label) / count
    (mine, judged), vocabulary = coded([Ids.of(doc for _, doc in pairs), qrels.docs])
    topic = np.array([t for t, _ in pairs])
    found = {}
    for i, name in enumerate(qrels.topics):
        rows = np.flatnonzero(topic == name)
        grade = np.full(len(vocabulary), np.nan)
        at = slice(int(qrels.bounds[i]), int(qrels.bounds[i + 1]))
        grade[judged[at]] = qrels.grades[at]
        both = rows[~np.isnan(grade[mine[rows]])]
        if len(both) > 1:
            found[name] = (grade[mine[both]], mean[both], count[both])
    if not found:
        raise DataError(f"{labels.name} and {qrels.name} share no topic with two docs in common; nothing to compare")
    return found
