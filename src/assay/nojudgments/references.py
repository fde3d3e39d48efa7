"""Runs scored by how often others return the same docs: Wu & Crestani 2003, and Aslam & Savell 2003.

Wu & Crestani: a doc of a run is an *original*, each occurrence in another run a *reference*. The weights are those of
the replication by Roitero et al. (the paper's opening does not give them), applied by rank.
"""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.data.lists import Lists
from assay.nojudgments.predictors import METHODS

LAST = 1000
"""The deepest rank that the weights are made for; lists are cut there."""

PAPER = "Wu & Crestani 2003, weights as replicated"


def reference_weight(rank: Ints) -> Floats:
    """u(r) = 1501 − r.

    >>> reference_weight(np.array([1, 1000])).tolist()
    [1500.0, 501.0]
    """
    return np.asarray(1501.0 - rank)


def original_weight(rank: Ints) -> Floats:
    """v(j) = 5/j + Σ 1/m over m = ⌈j/5⌉ + 1 … 200: shares of the precision at the cut-offs 5, 10 … 1000 below the doc.

    >>> original_weight(np.array([1, 5, 6, 100, 1000])).round(4).tolist()
    [9.878, 5.878, 5.2114, 2.3303, 0.005]
    """
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, 201))])
    return np.asarray(5 / rank + harmonic[200] - harmonic[-(-rank // 5)])


def _summed(lists: Lists, *, references: Floats | None = None, originals: Floats | None = None) -> Floats:
    """Σ over the run's docs of original weight × Σ over the other runs' rows of the reference weight."""
    weights = np.ones(len(lists)) if references is None else references
    others = np.bincount(lists.item, weights, minlength=lists.items)[lists.item] - weights
    return lists.matrix(others if originals is None else others * originals)


@METHODS.register("wu-crestani", short="WUCv0", higher=True, paper=PAPER)
def wu_crestani(lists: Lists) -> Floats:
    """Basic reference count: how often the docs of a run occur in other runs."""
    return _summed(lists.cut(LAST))


@METHODS.register("wu-crestani-v1", short="WUCv1", higher=True, paper=PAPER)
def wu_crestani_v1(lists: Lists) -> Floats:
    """References weighted by their rank, 1501 − r."""
    cut = lists.cut(LAST)
    return _summed(cut, references=reference_weight(cut.rank))


@METHODS.register("wu-crestani-v2", short="WUCv2", higher=True, paper=PAPER)
def wu_crestani_v2(lists: Lists) -> Floats:
    """Originals weighted by their rank in the run, by harmonic sums."""
    cut = lists.cut(LAST)
    return _summed(cut, originals=original_weight(cut.rank))


@METHODS.register("wu-crestani-v3", short="WUCv3", higher=True, paper=PAPER)
def wu_crestani_v3(lists: Lists) -> Floats:
    """References and originals weighted by their ranks."""
    cut = lists.cut(LAST)
    return _summed(cut, references=reference_weight(cut.rank), originals=original_weight(cut.rank))


@METHODS.register("wu-crestani-v4", short="WUCv4", higher=True, paper=PAPER)
def wu_crestani_v4(lists: Lists, *, scores_of: str = "originals", scale: str = "min-max") -> Floats:
    """References weighted by rank, originals by their score, brought to a common scale within each list.

    scores_of="references" is the other reading: reference scores times the rank weight of the original. scale:
    `min-max` to [0, 1] (a list of equal scores: all 1) or `z` (all 0).
    """
    cut = lists.cut(LAST)
    scores = _list_scores(cut, scale)
    if scores_of == "references":
        return _summed(cut, references=scores, originals=original_weight(cut.rank))
    if scores_of != "originals":
        raise UsageError(f"scores_of: must be 'originals' or 'references', not {scores_of!r}")
    return _summed(cut, references=reference_weight(cut.rank), originals=scores)


def _list_scores(lists: Lists, scale: str) -> Floats:
    """Retrieval scores, scaled within each list (one run on one topic)."""
    if scale not in ("min-max", "z"):
        raise UsageError(f"scale: must be 'min-max' or 'z', not {scale!r}")
    full = np.diff(lists.bounds) > 0
    starts, segment = lists.bounds[:-1][full], (np.cumsum(full) - 1)[lists.segment]
    # Runs order their docs best first, so the ends of a list are its extremes; infinite scores count as the ends.
    scores = np.clip(lists.scores, -1e300, 1e300)
    if scale == "min-max":
        low = np.minimum.reduceat(scores, starts)
        span = np.maximum.reduceat(scores, starts) / 2 - low / 2
        return np.where(span[segment] > 0, (scores / 2 - low[segment] / 2) / np.where(span > 0, span, 1)[segment], 1.0)
    sizes = np.diff(lists.bounds)[full]
    top = np.maximum.reduceat(np.abs(scores), starts)
    unit = scores / np.where(top > 0, top, 1)[segment]
    centred = unit - (np.add.reduceat(unit, starts) / sizes)[segment]
    sd = np.sqrt(np.add.reduceat(centred**2, starts) / sizes)
    return np.asarray(centred / np.where(sd > 1e-12, sd, 1)[segment])


@METHODS.register("aslam-savell", short="AS", higher=True, paper="Aslam & Savell 2003")
def aslam_savell(lists: Lists) -> Floats:
    """Mean similarity to the other runs: |A ∩ B| / |A ∪ B| of the docs retrieved for a topic.

    A pair of runs that both retrieved nothing is left out; a run with no other pair scores 0.
    """
    result = np.zeros(lists.shape)
    for t in range(len(lists.topics)):
        common = lists.topic(t).shared().astype(np.float64)
        size = np.diagonal(common)
        union = size[:, None] + size[None, :] - common
        similar = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
        np.fill_diagonal(similar, 0)
        pairs = (union > 0).sum(axis=1) - (size > 0)
        result[:, t] = similar.sum(axis=1) / np.maximum(pairs, 1)
    return result
