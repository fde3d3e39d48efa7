"""How often do other runs return the docs of a run? Methods of Wu & Crestani 2003, and of Aslam & Savell 2003.

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
    cutoffs = LAST // 5
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, cutoffs + 1)))
    cutoff = (rank + 4) // 5  # the first cut-off, in fives, that the rank is within
    return np.asarray(5 / rank + harmonic[cutoffs] - harmonic[cutoff])


def _summed(lists: Lists, *, references: Floats | None = None, originals: Floats | None = None) -> Floats:
    """Σ over the run's docs of original weight × Σ over the other runs' rows of the reference weight."""
    own = np.ones(len(lists)) if references is None else references
    every_run = np.bincount(lists.item, own, minlength=lists.items)
    other_runs = every_run[lists.item] - own
    if originals is None:
        return lists.matrix(other_runs)
    return lists.matrix(other_runs * originals)


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
    sizes = np.diff(lists.bounds)
    has_docs = sizes > 0
    # Empty lists are left out: reduceat would give them a score of the next list.
    starts = lists.bounds[:-1][has_docs]
    number_of_list = np.cumsum(has_docs) - 1
    list_of_row = number_of_list[lists.segment]
    scores = np.clip(lists.scores, -1e300, 1e300)  # infinite scores count as the ends
    if scale == "min-max":
        return _min_max(scores, starts, list_of_row)
    return _z(scores, starts, sizes[has_docs], list_of_row)


def _min_max(scores: Floats, starts: Ints, list_of_row: Ints) -> Floats:
    """Scores scaled to [0, 1] within each list; 1 where all are equal."""
    low = np.minimum.reduceat(scores, starts)
    high = np.maximum.reduceat(scores, starts)
    # Halves, because the difference of two huge scores would overflow.
    half_span = high / 2 - low / 2
    varies = half_span > 0
    divisor = np.where(varies, half_span, 1)
    above_low = scores / 2 - low[list_of_row] / 2
    return np.where(varies[list_of_row], above_low / divisor[list_of_row], 1.0)


def _z(scores: Floats, starts: Ints, sizes: Ints, list_of_row: Ints) -> Floats:
    """Scores scaled to mean 0 and sd 1 within each list; 0 where all are equal."""
    # Scores are divided by the largest first, because the squares of huge scores would overflow.
    largest = np.maximum.reduceat(np.abs(scores), starts)
    divisor = np.where(largest > 0, largest, 1)
    unit = scores / divisor[list_of_row]
    mean = np.add.reduceat(unit, starts) / sizes
    centred = unit - mean[list_of_row]
    sd = np.sqrt(np.add.reduceat(centred**2, starts) / sizes)
    sd_or_one = np.where(sd > 1e-12, sd, 1)
    return np.asarray(centred / sd_or_one[list_of_row])


@METHODS.register("aslam-savell", short="AS", higher=True, paper="Aslam & Savell 2003")
def aslam_savell(lists: Lists) -> Floats:
    """Mean similarity to the other runs: |A ∩ B| / |A ∪ B| of the docs retrieved for a topic.

    A pair of runs that both retrieved nothing is left out; a run with no other pair scores 0.
    """
    scores = np.zeros(lists.shape)
    for t in range(len(lists.topics)):
        common = lists.topic(t).shared().astype(np.float64)
        size = np.diagonal(common)
        union = size[:, None] + size - common
        similarity = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
        np.fill_diagonal(similarity, 0)
        pairs_with_itself = (union > 0).sum(axis=1)
        other_pairs = pairs_with_itself - (size > 0)
        scores[:, t] = similarity.sum(axis=1) / np.maximum(other_pairs, 1)
    return scores
