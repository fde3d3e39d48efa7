"""How sure is a grade that a cut gave? Of all cuts that may be the best, how many give that grade?"""

from __future__ import annotations

import numpy as np

from assay.core.engine import generator
from assay.crowd.cuts import transformed
from assay.crowd.cutsets import HonestCuts
from assay.crowd.uncertain import Uncertain
from assay.data import Labels


def judgments_over_cuts(
    labels: Labels, honest: HonestCuts, *, draws: int = 200, ties: str = "low", aggregate: str = "median", seed: int = 0
) -> Uncertain:
    """The grades of the best cuts, and of each doc the share of the cuts of its topic's set that give it each level.

    Cuts are drawn from the sets of `honest_cuts`, `draws` times; the labels themselves are taken as they are. A doc
    whose grade no cut of the set changes is certain here.

    >>> from assay.crowd.cutsets import honest_cuts
    >>> rows = [("1", f"d{i}", w, 10.0 * i) for i in range(9) for w in "uvwx"]
    >>> labels = Labels.from_rows(rows)
    >>> honest = honest_cuts(labels, "H_t+a", source="0-100", halves=4)
    >>> judged = judgments_over_cuts(labels, honest, draws=20)
    >>> judged.grade.tolist() == transformed(labels, honest.search).grades.tolist()
    True
    """
    rng = generator(seed)
    best = transformed(labels, honest.search, ties=ties, aggregate=aggregate)
    levels = np.arange(honest.search.levels)
    counts = np.zeros((len(best.grades), len(levels)))
    rows = np.arange(len(best.grades))
    for _ in range(draws):
        drawn = transformed(labels, honest.drawn(rng), ties=ties, aggregate=aggregate)
        counts[rows, drawn.grades] += 1
    # The best cut itself is one of the set: it counts as one draw more, so that no grade of its has no chance.
    counts[rows, best.grades] += 1
    topics = [best.topics[t] for t in best.topic_of_row().tolist()]
    many = np.unique(labels.topic * len(labels.docs) + labels.doc, return_counts=True)[1]
    return Uncertain.of_posterior(
        best.name,
        zip(topics, best.docs.tolist(), strict=True),
        counts / counts.sum(axis=1, keepdims=True),
        levels=levels,
        labels=many,
        best=best.grades.astype(np.int64),
        notes=(
            f"Probabilities: of {draws} cuts drawn from those that cannot be distinguished from the best, seed {seed}; "
            "docs of a topic share its cut.",
        ),
    )
