"""Are the same docs in the same order? τ union and RBO of an original and a replicated run, topic by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.registry import one_of
from assay.data import Run
from assay.rankings import kendall_tau_a
from assay.rankings.rank_biased import rbo_ext
from assay.rankings.ranked_items import Ranking

UNIONS = ("original", "docid")
"""In which order the docs of both lists are numbered: those of the original first, or by their ids."""
DEPTH = 1000
"""Docs of a list that are compared at most."""
RBO_P = 0.9
"""The persistence of RBO."""


@dataclass(frozen=True, eq=False)
class DocOrder:
    """Similarity of the docs of two runs on each topic; NaN where a list has no order."""

    topics: tuple[str, ...]
    tau: Floats
    rbo: Floats
    p: float
    depth: int


def doc_order(original: Run, replicated: Run, topics: Sequence[str], *, p: float, depth: int) -> DocOrder:
    """τ union and RBO of two runs on these topics; NaN on a topic for which a run has no docs."""
    taus = []
    overlaps = []
    for topic in topics:
        first = _docs(original, topic, depth)
        second = _docs(replicated, topic, depth)
        taus.append(tau_union(first, second) if min(len(first), len(second)) > 1 else np.nan)
        overlaps.append(rbo_ext(Ranking.of(first), Ranking.of(second), p) if first and second else np.nan)
    return DocOrder(tuple(topics), np.array(taus), np.array(overlaps), p, depth)


def _docs(run: Run, topic: str, depth: int) -> list[str]:
    """The first docs of a run on a topic; none where the topic is missing."""
    if topic not in run.topics:
        return []
    return list(run.ranking(topic))[:depth]


def tau_union(original: Sequence[str], replicated: Sequence[str], *, union: str = "original") -> float:
    """Kendall's τ of two lists that may hold different docs, rank by rank (Breuer et al. 2020, §3.1).

    All docs of both lists are numbered, and τ is that of the two lists of numbers, the longer list cut to the length of
    the shorter. union="original" numbers the docs of the original in its order and then the new ones of the replicated,
    so that 1 is the same order and −1 the reverse. union="docid" numbers them by their ids, as repro_eval does: the
    value then depends on what docs are called, and the reverse of a list need not be −1.

    >>> tau_union(["d1", "d2", "d3"], ["d1", "d2", "d4"]), tau_union(["d1", "d2", "d3"], ["d3", "d2", "d1"])
    (1.0, -1.0)
    >>> round(tau_union(["b", "a", "c"], ["c", "a", "b"], union="docid"), 4)
    0.3333
    """
    one_of("union", union, UNIONS)
    size = min(len(original), len(replicated))
    if size < 2:
        raise DataError(f"lists of {len(original)} and {len(replicated)} docs; τ needs two docs or more in both")
    first = list(original[:size])
    second = list(replicated[:size])
    every_doc = dict.fromkeys([*first, *second])
    if union == "docid":
        every_doc = dict.fromkeys(sorted(every_doc))
    number = {doc: i for i, doc in enumerate(every_doc)}
    return kendall_tau_a([number[doc] for doc in first], [number[doc] for doc in second])
