"""Would the same differences be significant with a subset of the topics as with all of them?

Where the flow stands: search → **conclusions**. For every pair of runs a paired test on the subset and on all topics;
the five outcomes of Moffat, Scholer and Thomas, as used by Roitero 2020, Section 4.4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import Progress, generator, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.problem import Masks
from assay.topics.search import SearchResult

OUTCOMES = ("SSA", "SSD", "SN", "NS", "NN")
Signs = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class ConclusionsResult(Result):
    """Shares of the pairs of runs with each outcome, per kind of subset (best, random, worst) and cardinality."""

    unit = "topic"

    c: tuple[int, ...]
    shares: dict[str, Floats]
    full: float
    pairs: int
    test: str
    alpha: float
    note: str

    def table(self) -> Table:
        """One row per kind of subset and cardinality."""
        columns = {"sets": "", "topics": "d"}
        for outcome in OUTCOMES:
            columns[outcome] = ".3f"
        rows = []
        for kind, shares in self.shares.items():
            for c, of_subset in zip(self.c, shares.tolist(), strict=True):
                rows.append((kind, c, *of_subset))
        return Table.of(
            columns,
            rows,
            caption="Conclusions with fewer topics",
            notes=[self._meaning(), self.note],
            keys={outcome: outcome.lower() for outcome in OUTCOMES},
        )

    def _meaning(self) -> str:
        """What the outcomes stand for, and how many pairs are significant on all topics."""
        test = f"{self.test}, p < {self.alpha:g}"
        full = f"{self.full:.1%} of {self.pairs} pairs are significant on all topics ({test})"
        return f"{full}; SSA both and alike, SSD both but opposite, SN only on the subset, NS only on all, NN neither"


def compare_conclusions(
    found: SearchResult,
    *,
    cardinalities: tuple[int, ...] = (),
    test: str = "t",
    alpha: float = 0.05,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> ConclusionsResult:
    """Outcomes over all pairs of runs for the best, a random and the worst subset of each cardinality.

    Two-sided paired tests without correction, since the question is what single researchers would conclude. One topic
    allows no test: nothing is significant there.

    >>> from assay.topics import search_subsets
    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 5), measure="AP")
    >>> with_one_topic = compare_conclusions(search_subsets(m), cardinalities=(1,))
    >>> dict(zip(OUTCOMES, with_one_topic.shares["best"][0].round(2).tolist()))
    {'SSA': 0.0, 'SSD': 0.0, 'SN': 0.0, 'NS': 0.82, 'NN': 0.18}
    >>> round(with_one_topic.full, 2)
    0.82
    """
    wanted = _wanted(found, cardinalities)
    problem = found.problem
    on_all = significant(problem.matrix, test=test, alpha=alpha, seed=seed)
    subsets = {
        "best": _first_sets(found, "best", wanted),
        "random": _random_masks(problem.n, wanted, seed),
        "worst": _first_sets(found, "worst", wanted),
    }

    def shares(mask: Masks) -> Floats:
        topics = problem.names(mask)
        part = problem.matrix.select(topics=list(topics))
        on_subset = significant(part, test=test, alpha=alpha, seed=seed)
        return outcomes(on_subset, on_all)

    masks = np.concatenate(list(subsets.values()))
    rows = ordered_map(
        shares,
        list(masks),
        jobs=jobs,
        threads=True,
        progress=progress,
    )
    # All topics come last: whatever is significant agrees with itself.
    full = outcomes(on_all, on_all)
    shares_by_kind = [np.vstack([of_kind, full]) for of_kind in np.split(np.array(rows), len(subsets))]
    return ConclusionsResult(
        c=(*wanted, problem.n),
        shares=dict(zip(subsets, shares_by_kind, strict=True)),
        full=float((on_all != 0).mean()),
        pairs=len(on_all),
        test=test,
        alpha=alpha,
        note=f"random: one subset per cardinality, seed {seed}; {found.note()}",
    )


def _wanted(found: SearchResult, cardinalities: tuple[int, ...]) -> tuple[int, ...]:
    """The cardinalities asked for if all were searched; by default about 50 of those that were."""
    n = found.problem.n
    for c in cardinalities:
        if c not in found.cardinalities:
            raise UsageError(f"no subsets of {c} topics; there are 1 to {n - 1}, if they were searched")
    if cardinalities:
        return cardinalities
    return tuple(c for c in spaced(n) if c in found.cardinalities)


def significant(matrix: ScoreMatrix, *, test: str = "t", alpha: float = 0.05, seed: int = 0) -> Signs:
    """For every pair of runs: 1 if the first is significantly better, -1 if the second, 0 if neither."""
    runs, topics = matrix.shape
    if topics < 2:
        pairs = runs * (runs - 1) // 2
        return np.zeros(pairs, np.int8)
    from assay.stats import all_pairs

    tested = all_pairs(matrix, test, interval=None, seed=seed)
    better = np.sign(tested.difference)
    signs = np.where(tested.p < alpha, better, 0)
    return signs.astype(np.int8)


def outcomes(subset: Signs, full: Signs) -> Floats:
    """Shares of SSA, SSD, SN, NS and NN over the pairs.

    >>> outcomes(np.array([1, 1, 1, 0, 0], np.int8), np.array([1, -1, 0, 1, 0], np.int8)).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """
    on_subset = subset != 0
    on_all = full != 0
    product = subset * full
    pairs_by_outcome = (
        product > 0,
        product < 0,
        on_subset & ~on_all,
        ~on_subset & on_all,
        ~on_subset & ~on_all,
    )
    return np.array([pairs.mean() for pairs in pairs_by_outcome])


def spaced(n: int, at_most: int = 50) -> tuple[int, ...]:
    """Cardinalities 1 … n-1, or about `at_most` of them evenly spaced.

    >>> spaced(5), len(spaced(250))
    ((1, 2, 3, 4), 50)
    """
    count = min(n - 1, at_most)
    places = np.linspace(1, n - 1, count).round()
    distinct = np.unique(places.astype(int))
    return tuple(distinct.tolist())


def _first_sets(found: SearchResult, side: str, wanted: tuple[int, ...]) -> Masks:
    """The best (or worst) subset of each cardinality."""
    first = []
    for c in wanted:
        masks, _ = found.sets[side][c]
        first.append(masks[0])
    return np.array(first)


def _random_masks(n: int, wanted: tuple[int, ...], seed: int) -> Masks:
    """A random subset of each cardinality: the c topics that come first in a random order."""
    rng = generator(seed)
    masks = []
    for c in wanted:
        order = np.argsort(rng.random(n))
        place = np.argsort(order)
        masks.append(place < c)
    return np.array(masks)
