"""From which label on does a judge call a doc relevant? `rel` on the scale of the people, else a cut that is fitted.

A judge on a scale of its own says nowhere what is relevant: a 0–5 scale cut at its middle can make a κ of .42 look like
.14. So it is cut where it agrees best with people (Cohen's κ), each topic at the cut of the topics of the other folds,
so that no topic chooses its own cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.agreement.kappa import kappas_of_tables
from assay.core.arrays import Bools, Floats, Ints
from assay.judges.calibration import FOLDS
from assay.judges.labelled_pairs import Labelled, middle

MOST_CUTS = 12
"""Labels at which a scale is cut; a finer one is cut at that many places."""


@dataclass(frozen=True, eq=False)
class Cut:
    """The cut of one judge on each topic, and from all topics that people judged."""

    of_topic: Floats
    whole: float
    fitted: bool

    @cached_property
    def described(self) -> str:
        """The cut in words: `2`, or `3 (fitted)`, or `2–3 (fitted on other topics)` where the folds differ."""
        low, high = float(self.of_topic.min()), float(self.of_topic.max())
        if not self.fitted:
            return f"{self.whole:g}"
        return f"{low:.3g} (fitted)" if low == high else f"{low:.3g}–{high:.3g} (fitted on other topics)"


def cut_of(pairs: Labelled, j: int, rel: float) -> Cut:
    """Where the labels of a judge are cut: at `rel`, or on another scale than the people's at a fitted cut.

    >>> from assay.judges.labelled_pairs import labelled
    >>> human = {str(t): {f"d{i}": int(i > 3) for i in range(6)} for t in range(4)}
    >>> machine = {t: {d: {"five": int(d[1:])} for d in docs} for t, docs in human.items()}
    >>> cut_of(labelled(human, machine), 0, 1).described
    '4 (fitted)'
    """
    topics = len(pairs.topics)
    cuts = np.array(places_to_cut(pairs, j)) if pairs.is_other_scale(j) else np.array([rel])
    if len(cuts) == 1:
        return Cut(np.full(topics, cuts[0]), float(cuts[0]), False)
    both = pairs.by_people & ~np.isnan(pairs.machine[j])
    relevant = pairs.human[both] >= rel
    topic = pairs.topic[both]
    tables = np.stack([_tables(relevant, pairs.machine[j][both] >= cut, topic, topics) for cut in cuts])
    whole = _best(cuts, tables.sum(axis=1))
    of_topic = np.full(topics, middle(pairs.scales[j]) if whole is None else whole)
    fold = folds_of(np.unique(topic))
    for part in range(int(fold.max(initial=-1)) + 1):
        here = np.unique(topic)[fold == part]
        fitted = _best(cuts, np.delete(tables, here, axis=1).sum(axis=1))
        if fitted is not None:
            of_topic[here] = fitted
    return Cut(of_topic, float(middle(pairs.scales[j]) if whole is None else whole), True)


def called_relevant(pairs: Labelled, j: int, rel: float) -> Bools:
    """Which pairs a judge calls relevant; not those that it did not label."""
    return np.asarray(pairs.machine[j] >= cut_of(pairs, j, rel).of_topic[pairs.topic])


def places_to_cut(pairs: Labelled, j: int) -> list[float]:
    """The labels of a judge at which it can be cut: each but the lowest, or MOST_CUTS places of a finer scale."""
    labels = pairs.machine[j]
    used = np.unique(labels[~np.isnan(labels)])[1:]
    if len(used) > MOST_CUTS:
        used = np.linspace(pairs.scales[j].low, pairs.scales[j].high, MOST_CUTS + 2)[1:-1]
    return [float(cut) for cut in used] or [middle(pairs.scales[j])]


def folds_of(topics: Ints) -> Ints:
    """The fold of each of these topics, by turns."""
    return np.arange(len(topics)) % min(FOLDS, max(2, len(topics)))


def _tables(relevant: Bools, called: Bools, topic: Ints, topics: int) -> Floats:
    """topics × 2 × 2 of counts, people × judge."""
    cell = 4 * topic + 2 * relevant + called
    return np.bincount(cell, minlength=4 * topics).reshape(topics, 2, 2).astype(np.float64)


def _best(cuts: Floats, tables: Floats) -> float | None:
    """The cut with the largest κ, the lowest of several; None where no κ is defined."""
    kappas = kappas_of_tables(tables, [0, 1])
    return None if np.isnan(kappas).all() else float(cuts[int(np.nanargmax(kappas))])
