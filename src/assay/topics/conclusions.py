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

    c: tuple[int, ...]
    shares: dict[str, Floats]
    full: float
    pairs: int
    test: str
    alpha: float
    note: str

    def table(self) -> Table:
        """One row per kind of subset and cardinality."""
        rows = [
            (kind, c, *(float(x) for x in row))
            for kind, found in self.shares.items()
            for c, row in zip(self.c, found, strict=True)
        ]
        columns = {"sets": "", "topics": "d"} | dict.fromkeys(OUTCOMES, ".3f")
        return Table.of(columns, rows, caption="Conclusions with fewer topics", notes=[self._meaning(), self.note])

    def _meaning(self) -> str:
        full = f"{self.full:.1%} of {self.pairs} pairs are significant on all topics ({self.test}, p < {self.alpha:g})"
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
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> with_one_topic = compare_conclusions(search_subsets(m), cardinalities=(1,))
    >>> dict(zip(OUTCOMES, with_one_topic.shares["best"][0].round(2).tolist()))
    {'SSA': 0.0, 'SSD': 0.0, 'SN': 0.0, 'NS': 0.82, 'NN': 0.18}
    >>> round(with_one_topic.full, 2)
    0.82
    """
    n = found.problem.n
    wanted = cardinalities or tuple(c for c in spaced(n) if c in found.cardinalities)
    for c in wanted:
        if c not in found.cardinalities:
            raise UsageError(f"no subsets of {c} topics; there are 1 to {n - 1}, if they were searched")
    matrix = found.problem.matrix
    whole = significant(matrix, test=test, alpha=alpha, seed=seed)
    random = _random_masks(n, wanted, seed)
    kinds = {"best": _chosen(found, "best", wanted), "random": random, "worst": _chosen(found, "worst", wanted)}
    todo = [mask for masks in kinds.values() for mask in masks]

    def shares(mask: Masks) -> Floats:
        return outcomes(significant(_part(matrix, mask), test=test, alpha=alpha, seed=seed), whole)

    rows = np.array(ordered_map(shares, todo, jobs=jobs, threads=True, progress=progress))
    split = dict(zip(kinds, np.split(rows, len(kinds)), strict=True))
    note = f"random: one subset per cardinality, seed {seed}; {found.note()}"
    return ConclusionsResult(wanted, split, float((whole != 0).mean()), len(whole), test, alpha, note)


def significant(matrix: ScoreMatrix, *, test: str = "t", alpha: float = 0.05, seed: int = 0) -> Signs:
    """For every pair of runs: 1 if the first is significantly better, -1 if the second, 0 if neither."""
    if len(matrix.topics) < 2:
        return np.zeros(len(matrix.runs) * (len(matrix.runs) - 1) // 2, np.int8)
    from assay.stats import all_pairs

    tested = all_pairs(matrix, test, interval=None, seed=seed)
    return np.asarray(np.where(tested.p < alpha, np.sign(tested.difference), 0).astype(np.int8))


def outcomes(subset: Signs, full: Signs) -> Floats:
    """Shares of SSA, SSD, SN, NS and NN over the pairs.

    >>> outcomes(np.array([1, 1, 1, 0, 0], np.int8), np.array([1, -1, 0, 1, 0], np.int8)).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """
    here, there, product = subset != 0, full != 0, subset * full
    return np.array([np.mean(x) for x in (product > 0, product < 0, here & ~there, ~here & there, ~here & ~there)])


def spaced(n: int, at_most: int = 50) -> tuple[int, ...]:
    """Cardinalities 1 … n-1, or about `at_most` of them evenly spaced.

    >>> spaced(5), len(spaced(250))
    ((1, 2, 3, 4), 50)
    """
    return tuple(np.unique(np.linspace(1, n - 1, min(n - 1, at_most)).round().astype(int)).tolist())


def _chosen(found: SearchResult, side: str, wanted: tuple[int, ...]) -> Masks:
    return np.array([found.sets[side][c][0][0] for c in wanted])


def _random_masks(n: int, wanted: tuple[int, ...], seed: int) -> Masks:
    rng = generator(seed)
    return np.array([np.argsort(np.argsort(rng.random(n))) < c for c in wanted])


def _part(matrix: ScoreMatrix, mask: Masks) -> ScoreMatrix:
    return matrix.select(topics=[t for t, chosen in zip(matrix.topics, mask, strict=True) if chosen])
