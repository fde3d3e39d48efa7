"""Does the similarity to the ideal list say how effective a list is? Lists made worse by swaps (Webber 2010, §7.4.3).

An ideal list of relevant before other docs; after each swap of a random relevant doc with a random other one, AP and
several similarities to the ideal list are taken; τ between AP and each similarity over all lists.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generators, silent
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.grades import grades
from assay.measures import parse
from assay.rankings import kendall_rows, settled
from assay.similarity.overlap import kendall_top_k

PERSISTENCES = (0.8, 0.9, 0.95, 0.98)
DEPTHS = (10, 50, 100)


@dataclass(frozen=True, eq=False)
class SwappedLists(Result):
    """AP and similarities of all lists, and τ between them."""

    names: tuple[str, ...]
    ap: Floats
    similarity: Floats
    tau: Floats
    recipe: str

    def table(self) -> Table:
        """One row per similarity, the most faithful first."""
        highest_first = np.argsort(-self.tau, kind="stable")
        rows = [(self.names[i], self.tau[i]) for i in highest_first]
        return Table.of(
            {"similarity": "", "τ with AP": ".3f"},
            rows,
            caption="Similarity against AP",
            notes=[self.recipe],
            keys={"τ with AP": "tau"},
        )


def swapped_lists(
    *,
    relevant: int = 10,
    others: int = 90,
    swaps: int = 25,
    repetitions: int = 100,
    seed: int = 0,
    progress: Progress = silent,
) -> SwappedLists:
    """τ between AP and RBO, average overlap and top-k Kendall with the ideal list."""
    rankings = []
    for i, rng in enumerate(generators(seed, repetitions)):
        rankings += _worsened(relevant, others, swaps, rng)
        progress(i + 1, repetitions)
    lists = np.array(rankings)
    similarities = _similarities(lists)
    by_similarity = np.array(list(similarities.values()))
    is_relevant = (lists < relevant).astype(int)
    ap = parse("AP")(grades(*is_relevant.tolist()))
    tau = kendall_rows(settled(by_similarity), settled(ap))
    recipe = f"{relevant} relevant and {others} other docs, {swaps} swaps, {repetitions} repetitions, seed {seed}; τ-b"
    return SwappedLists(
        names=tuple(similarities),
        ap=ap,
        similarity=by_similarity.T,
        tau=tau,
        recipe=recipe,
    )


def _similarities(lists: Ints) -> dict[str, Floats]:
    """By the name of a similarity, that of each list to the ideal list 0, 1, 2, …"""
    docs = lists.shape[1]
    depths = [k for k in DEPTHS if k <= docs]
    shared = _shared(lists)
    similarities = {}
    for p in PERSISTENCES:
        similarities[f"RBO(p={p:g})"] = _rbo_ext(shared, p)
    for k in depths:
        similarities[f"AO@{k}"] = _average_overlap(shared, k)
    for k in depths:
        similarities[f"KD@{k}"] = _kendall(lists, k)
    return similarities


def _worsened(relevant: int, others: int, swaps: int, rng: np.random.Generator) -> list[list[int]]:
    """The list after each swap of a relevant with another doc."""
    ranking = np.arange(relevant + others)
    after_each_swap = []
    for _ in range(swaps):
        is_relevant = ranking < relevant
        i = rng.choice(np.flatnonzero(is_relevant))
        j = rng.choice(np.flatnonzero(~is_relevant))
        ranking[[i, j]] = ranking[[j, i]]
        after_each_swap.append(ranking.tolist())
    return after_each_swap


def _shared(lists: Ints) -> Floats:
    """Share of docs that the first d of each list have in common with the first d of the ideal list 0, 1, 2, …"""
    place = np.arange(lists.shape[1])
    # Doc d stands at place d of the ideal list: from the deeper of its two places on, both lists have it.
    in_both_from = np.maximum(lists, place)
    row = np.arange(len(lists))[:, None]
    new_at_depth = np.zeros(lists.shape)
    np.add.at(new_at_depth, (row, in_both_from), 1.0)
    return new_at_depth.cumsum(axis=1) / (place + 1)


def _rbo_ext(shared: Floats, p: float) -> Floats:
    """RBO EXT of lists over the same docs: the last agreement continues for ever."""
    docs = shared.shape[1]
    weights = (1 - p) * p ** np.arange(docs)
    seen = shared @ weights
    beyond = shared[:, -1] * p**docs
    return seen + beyond


def _average_overlap(shared: Floats, k: int) -> Floats:
    return np.asarray(shared[:, :k].mean(axis=1))


def _kendall(lists: Ints, k: int) -> Floats:
    """Top-k Kendall of each list with the ideal list."""
    ideal = list(range(lists.shape[1]))
    similarity = [kendall_top_k(ranking, ideal, k=k) for ranking in lists.tolist()]
    return np.array(similarity)
