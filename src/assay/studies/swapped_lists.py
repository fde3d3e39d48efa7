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
        order = np.argsort(-self.tau, kind="stable")
        rows = [(self.names[i], self.tau[i]) for i in order]
        columns = {"similarity": "", "τ with AP": ".3f"}
        return Table.of(columns, rows, caption="Similarity against AP", notes=[self.recipe], keys={"τ with AP": "tau"})


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
    lists = []
    for i, rng in enumerate(generators(seed, repetitions)):
        lists += _worsened(relevant, others, swaps, rng)
        progress(i + 1, repetitions)
    depths = [k for k in DEPTHS if k <= relevant + others]
    shared = _shared(np.array(lists))
    ideal = list(range(relevant + others))
    of_name: dict[str, Floats] = {}
    of_name |= {f"RBO(p={p:g})": _rbo_ext(shared, p) for p in PERSISTENCES}
    of_name |= {f"AO@{k}": _average_overlap(shared, k) for k in depths}
    of_name |= {f"KD@{k}": np.array([kendall_top_k(ranking, ideal, k=k) for ranking in lists]) for k in depths}
    similarity = np.array(list(of_name.values())).T
    hits = [[int(doc < relevant) for doc in ranking] for ranking in lists]
    ap = parse("AP")(grades(*hits))
    tau = kendall_rows(settled(similarity.T), settled(ap))
    recipe = f"{relevant} relevant and {others} other docs, {swaps} swaps, {repetitions} repetitions, seed {seed}; τ-b"
    return SwappedLists(tuple(of_name), ap, similarity, tau, recipe)


def _worsened(relevant: int, others: int, swaps: int, rng: np.random.Generator) -> list[list[int]]:
    """The list after each swap of a relevant with another doc."""
    ranking, out = np.arange(relevant + others), []
    for _ in range(swaps):
        hit = ranking < relevant
        i, j = rng.choice(np.flatnonzero(hit)), rng.choice(np.flatnonzero(~hit))
        ranking[[i, j]] = ranking[[j, i]]
        out.append(ranking.tolist())
    return out


def _shared(lists: Ints) -> Floats:
    """Share of docs that the first d of each list have in common with the first d of the ideal list 0, 1, 2, …"""
    n = lists.shape[1]
    deepest = np.maximum(lists, np.arange(n))
    counts = np.zeros(lists.shape)
    np.add.at(counts, (np.arange(len(lists))[:, None], deepest), 1.0)
    return counts.cumsum(axis=1) / np.arange(1, n + 1)


def _rbo_ext(shared: Floats, p: float) -> Floats:
    """RBO EXT of lists over the same docs: the last agreement goes on for ever."""
    weights = (1 - p) * p ** np.arange(shared.shape[1])
    return shared @ weights + shared[:, -1] * p ** shared.shape[1]


def _average_overlap(shared: Floats, k: int) -> Floats:
    return np.asarray(shared[:, :k].mean(axis=1))
