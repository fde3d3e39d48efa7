"""Do the best and worst subsets keep their topics from one cardinality to the next, and from the best set to the tenth?

Where the flow stands: search → **stability**. Also the pixel map, the overlap of best and worst, and how hard the
topics of the subsets are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.topics.archive import sizes
from assay.topics.criteria import Numbers
from assay.topics.problem import Masks
from assay.topics.search import SearchResult

MARKS = ".+x#"
"""In a pixel map: a topic in neither set, in the best, in the worst, in both."""


def chain_stability(masks: Masks) -> float:
    """How much the sets for c = 1 … n-1 (rows) keep their topics in the set one larger; 1 is always, 0 never.

    (Σ actual - Σ min) / (Σ max - Σ min) over c, where actual counts the topics that set c shares with set c+1 (at n all
    topics), max is c and min is 0 up to ⌊n/2⌋-1 and 2c+1-n beyond (Guiver, Mizzaro and Robertson 2009; Roitero 2020,
    Section 3.3.5.2).

    >>> chain_stability(np.array([[1, 0, 0], [1, 1, 0]], bool)), chain_stability(np.array([[1, 0, 0], [0, 1, 1]], bool))
    (1.0, 0.0)
    """
    n = masks.shape[1]
    if len(masks) != n - 1:
        raise UsageError(f"stability needs one set for each cardinality 1 … {n - 1}, not {len(masks)}")
    c = np.arange(1, n)
    all_topics = np.ones((1, n), bool)
    following = np.concatenate([masks[1:], all_topics])
    actual = (masks & following).sum()
    forced = 2 * c + 1 - n  # topics that sets of c and of c + 1 share whatever they are
    least = np.where(c <= n // 2 - 1, 0, forced).sum()
    most = c.sum()
    return float((actual - least) / (most - least))


@dataclass(frozen=True)
class TopStability:
    """Stability of the p best (or worst) sets of one cardinality, and the most that distinct sets can reach."""

    c: int
    sets: int
    value: float
    ceiling: float

    @property
    def share(self) -> float:
        """Stability as a share of the ceiling."""
        if self.ceiling <= 0:
            return 0.0
        return self.value / self.ceiling


def top_stability(masks: Masks) -> TopStability:
    """How much each of the p sets (rows, best first, all of c topics) shares its topics with the next.

    (actual - min) / (max - min), max = c(p-1), min = (2c-n)(p-1) beyond n/2, else 0 (Roitero 2020, Section 3.3.5.3).
    Distinct sets share at most c-1 topics, so 1 is out of reach: the ceiling is (c-1)/c up to n/2, 1 - 1/(n-c) beyond.

    >>> top_stability(np.array([[1, 1, 0, 0], [1, 0, 1, 0]], bool))
    TopStability(c=2, sets=2, value=0.5, ceiling=0.5)
    """
    p, n = masks.shape
    c = int(masks[0].sum())
    if p < 2:
        raise UsageError(f"stability of the top sets needs at least 2 sets of {c} topics")
    pairs = p - 1
    least = max(0, 2 * c - n) * pairs
    most = c * pairs
    most_of_distinct_sets = (c - 1) * pairs
    shared = int((masks[1:] & masks[:-1]).sum())
    span = most - least
    value = (shared - least) / span
    ceiling = (most_of_distinct_sets - least) / span
    return TopStability(c, p, value, ceiling)


@dataclass(frozen=True, eq=False)
class StabilityResult(Result):
    """All of it for one search: stability of the chains, of the top sets, overlap, and mean effectiveness."""

    found: SearchResult
    chain: dict[str, float]
    top: dict[str, tuple[TopStability, ...]]
    overlap: Floats
    effectiveness: dict[str, Floats]

    def table(self) -> Table:
        """One row per side: stability along c, mean effectiveness of the sets, and its distance from the full mean."""
        full_mean = float(self.found.problem.matrix.values.mean())
        rows = []
        for side, stability in self.chain.items():
            means = self.effectiveness[side]
            distances = np.abs(means - full_mean)
            rows.append((side, stability, means.mean(), distances.mean()))
        columns = {"sets": "", "stability": ".3f", "mean effectiveness": ".4f", "|difference from all|": ".4f"}
        shared = f"best and worst sets share {self.overlap.mean():.0%} of their topics on average"
        return Table.of(columns, rows, caption="Stability along cardinality", notes=[shared, self.found.note()])

    def top_table(self) -> Table:
        """One row per side and cardinality: stability of the top sets, the ceiling, and the share of it."""
        rows = []
        for side, stabilities in self.top.items():
            for top in stabilities:
                rows.append((side, top.c, top.sets, top.value, top.ceiling, top.share))
        columns = {"side": "", "topics": "d", "sets": "d", "stability": ".2f", "ceiling": ".2f", "of ceiling": ".2f"}
        return Table.of(columns, rows, caption="Stability of the top sets", notes=[self.found.note()])


def map_table(found: SearchResult) -> Table:
    """The pixel map of best and worst sets, one row per cardinality."""
    lines = pixel_map(found.masks("best"), found.masks("worst"))
    rows = zip(found.cardinalities, lines, strict=True)
    topics = " ".join(found.problem.matrix.topics)
    note = f"columns: topics {topics}; + best, x worst, # both, . none"
    return Table.of({"topics": "d", "map": ""}, rows, caption="Pixel map", notes=[note])


def subset_stability(found: SearchResult, *, cardinalities: tuple[int, ...] = ()) -> StabilityResult:
    """Stability of the sets of a search with both sides; the top sets at the given cardinalities (by default all).

    >>> from assay.data import ScoreMatrix
    >>> from assay.topics import search_subsets
    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> sorted(subset_stability(search_subsets(m)).chain)
    ['best', 'worst']
    """
    sides = list(found.sets)
    if sides != ["best", "worst"]:
        raise UsageError("stability needs a search of both sides, best and worst")
    top: dict[str, tuple[TopStability, ...]] = {}
    for side in sides:
        sets_of_sizes = [found.sets[side][c][0] for c in sizes(cardinalities, found.problem.n)]
        top[side] = tuple(top_stability(sets) for sets in sets_of_sizes if len(sets) > 1)
    return StabilityResult(
        found=found,
        chain={side: chain_stability(found.masks(side)) for side in sides},
        top=top,
        overlap=overlap(found.masks("best"), found.masks("worst")),
        effectiveness={side: effectiveness(found, side) for side in sides},
    )


def overlap(one: Masks, two: Masks) -> Floats:
    """Share of topics that two sets of the same size have in common, per row.

    >>> overlap(np.array([[1, 1, 0]], bool), np.array([[0, 1, 1]], bool)).tolist()
    [0.5]
    """
    shared = (one & two).sum(axis=1)
    return np.asarray(shared / one.sum(axis=1))


def effectiveness(found: SearchResult, side: str) -> Floats:
    """Mean score of all runs over each set, for c = 1 … n-1."""
    ease = found.problem.matrix.values.mean(axis=0)
    masks = found.masks(side)
    return np.asarray(masks @ ease / masks.sum(axis=1))


def pixel_map(best: Masks, worst: Masks) -> list[str]:
    """Rows of marks, topics across: + in the best set, x in the worst, # in both, . in none.

    >>> pixel_map(np.array([[1, 0, 1]], bool), np.array([[0, 0, 1]], bool))
    ['+.#']
    """
    marks = np.array(list(MARKS))
    return ["".join(row) for row in marks[pixels(best, worst)]]


def pixels(best: Masks, worst: Masks) -> Numbers:
    """The same as numbers, for a figure: 0 none, 1 best, 2 worst, 3 both."""
    return np.asarray(best.astype(np.int8) + 2 * worst.astype(np.int8))
