"""How alike are all runs? A matrix of every run against every other, mean and spread over topics.

Overlap measures need no loop over pairs of docs: a doc at ranks i and j in two runs adds g(max(i, j)) for a falling g,
and that is min(g(i), g(j)); so one run against all others is a gather, a minimum and a sum. Memory: docs × runs of one
topic.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Codes, Floats, Ints
from assay.core.engine import Progress, chunks, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Run
from assay.data.lists import TopicLists, collected
from assay.rankings.rank_biased import check_p
from assay.similarity.by_topic import check_runs, if_defined
from assay.similarity.overlap import LIST_SIMILARITIES

SCORES = ("ext", "min", "max")
SHOWN = 12
"""Runs up to which the whole matrix is shown."""
UNKNOWN = 2.0
"""Beyond every similarity: where undefined ones are sorted to."""


@dataclass(frozen=True, eq=False)
class SimilarityMatrix(Result):
    """Mean and standard deviation over topics of the similarity of every two runs."""

    runs: tuple[str, ...]
    mean: Floats
    sd: Floats
    """NaN where fewer than two topics were compared."""
    topics: Ints
    """How many topics were compared: those that both runs have, and on which the similarity has a value."""
    recipe: str

    def notes(self) -> list[str]:
        """The recipe, and what a dash means where there is one."""
        dash = "–: no topic in common, or none on which the similarity has a value"
        return [self.recipe, dash] if (self.topics == 0).any() else [self.recipe]

    def to_others(self) -> Floats:
        """The mean similarity of each run with the others; NaN where it could be compared with none."""
        others = (self.topics > 0) & ~np.eye(len(self.runs), dtype=bool)
        compared = others.sum(axis=1)
        total = np.where(others, self.mean, 0.0).sum(axis=1)
        return np.where(compared > 0, total / np.maximum(compared, 1), np.nan)

    def pairs(self) -> Table:
        """One row per pair of runs, the most alike first."""
        first, second = np.triu_indices(len(self.runs), k=1)
        most_alike = np.argsort(-np.nan_to_num(self.mean[first, second], nan=-UNKNOWN), kind="stable")
        rows = []
        for i, j in zip(first[most_alike], second[most_alike], strict=True):
            rows.append((self.runs[i], self.runs[j], self.mean[i, j], self.sd[i, j], self.topics[i, j]))
        columns = {"run": "", "other": "", "mean": ".4f", "sd": ".4f", "topics": "d"}
        return Table.of(columns, rows, caption="Similarity of runs", notes=self.notes())

    def table(self) -> Table:
        """The matrix where it fits a page, else one row per run: how alike the others are, and which most and least."""
        caption = "Similarity of runs, mean over topics"
        if len(self.runs) > SHOWN:
            return self._most_and_least(caption)
        rows = [(run, *row) for run, row in zip(self.runs, self.mean, strict=True)]
        columns = {"run": "", **dict.fromkeys(self.runs, ".4f")}
        keys = {run: run for run in self.runs}  # the columns are runs, and are called as the runs are
        return Table.of(columns, rows, caption=caption, notes=self.notes(), keys=keys)

    def record(self) -> dict[str, Any]:
        """Every pair of runs as a row, whatever the table shows."""
        return {**super().record(), **self.pairs().record()}

    def _most_and_least(self, caption: str) -> Table:
        to_others = self.to_others()
        itself_or_unknown = np.eye(len(self.runs), dtype=bool) | (self.topics == 0)
        others = np.where(itself_or_unknown, np.nan, self.mean)
        most = np.nan_to_num(others, nan=-UNKNOWN).argmax(axis=1)
        least = np.nan_to_num(others, nan=UNKNOWN).argmin(axis=1)
        rows = []
        for i in np.argsort(-np.nan_to_num(to_others, nan=-UNKNOWN), kind="stable"):
            extremes = (*self._with(others[i], most[i]), *self._with(others[i], least[i]))
            rows.append((self.runs[i], to_others[i], *extremes))
        columns = {"run": "", "to others": ".4f", "most alike": "", "to it": ".4f", "least alike": "", "to that": ".4f"}
        keys = {"to others": "mean", "to it": "most_alike_mean", "to that": "least_alike_mean"}
        return Table.of(columns, rows, caption=caption, notes=self.notes(), keys=keys)

    def _with(self, row: Floats, other: int) -> tuple[str | None, float]:
        """The name of another run and the similarity with it; no name where they were not compared."""
        name = None if np.isnan(row[other]) else self.runs[other]
        return name, float(row[other])


def rbo_matrix(
    runs: Sequence[Run],
    *,
    p: float = 0.9,
    score: str = "ext",
    depth: int | None = None,
    progress: Progress = silent,
) -> SimilarityMatrix:
    """RBO of every two runs: EXT, MIN or MAX, mean over the topics that both have.

    Ties are read in the order of the run. Lists may differ in length. As `rbo` for each pair, all at once, to the last
    digits: ranks so deep that all of them together weigh less than 10⁻¹⁷ are not looked at.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "abd"), ("b", "cbe")])
    >>> rbo_matrix([a, b], p=0.9).mean.round(3)
    array([[1.   , 0.315],
           [0.315, 1.   ]])
    """
    check_p(p)
    if score not in SCORES:
        raise UsageError(f"RBO: no score {score!r}; known: {', '.join(SCORES)}")
    of_topic = {"ext": _rbo_ext, "min": _rbo_min, "max": _rbo_max}[score]
    recipe = f"RBO {score.upper()}, p = {p:g}, ties in the order of the run, mean over common topics"
    deepest = int(np.ceil(np.log(1e-17) / np.log(p)))
    return _averaged(runs, lambda lists: of_topic(lists, p), min(depth or deepest, deepest), recipe, progress)


def similarity_matrix(
    runs: Sequence[Run], measure: str = "rbo", *, depth: int | None = None, progress: Progress = silent
) -> SimilarityMatrix:
    """Any list similarity of every two runs, by name, e.g. `average-overlap(k=10)`; mean over common topics.

    An asymmetric measure takes the row's run as the objective one. overlap, average-overlap and rbo are counted all
    at once, the others pair by pair. A topic on which a similarity has no value (γ of lists that order no pair) is left
    out.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "abd"), ("b", "cbe")])
    >>> float(similarity_matrix([a, b], "overlap(k=2)").mean[0, 1])
    0.5
    """
    entry, given = LIST_SIMILARITIES.parse(measure)
    k = given.get("k")
    recipe = f"{measure}, ties in the order of the run, mean over common topics"
    if entry.name == "rbo":
        if "ties" in given:
            raise UsageError(f"{measure}: a matrix reads ties in the order of the run; compare two runs for a tie form")
        return rbo_matrix(runs, p=given.get("p", 0.9), depth=depth, progress=progress)
    if entry.name in ("overlap", "average-overlap") and k is not None:
        if k < 1:
            raise UsageError(f"k = {k}: lists are compared at depth 1 or more")
        value = _overlap_value(k) if entry.name == "overlap" else _average_overlap_value(k)
        return _averaged(runs, lambda lists: _summed(lists, value), depth, recipe, progress)

    def one_by_one(lists: TopicLists) -> Floats:
        of_two = functools.partial(if_defined, entry.function, **given)
        return _pair_by_pair(lists, of_two, entry.facts.get("symmetric", True))

    return _averaged(runs, one_by_one, depth, recipe, progress)


def _averaged(
    runs: Sequence[Run],
    of_topic: Callable[[TopicLists], Floats],
    depth: int | None,
    recipe: str,
    progress: Progress,
) -> SimilarityMatrix:
    """Mean and sd over the topics that two runs have and on which the similarity has a value."""
    check_runs(runs)
    lists = collected(runs, depth=depth)
    shape = (len(runs), len(runs))
    total, squares = np.zeros(shape), np.zeros(shape)
    count = np.zeros(shape, dtype=np.int64)
    for t in range(len(lists.topics)):
        has_docs = lists.sizes[:, t] > 0
        found = of_topic(lists.topic(t))
        compared = has_docs[:, None] & has_docs[None, :] & ~np.isnan(found)
        values = np.where(compared, found, 0.0)
        total += values
        squares += values**2
        count += compared
        progress(t + 1, len(lists.topics))
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    variance = np.maximum(squares - total * np.nan_to_num(mean), 0) / np.maximum(count - 1, 1)
    sd = np.where(count > 1, np.sqrt(variance), np.nan)
    return SimilarityMatrix(tuple(r.name for r in runs), mean, sd, count, recipe)


def _summed(lists: TopicLists, value: Callable[[Ints], Floats]) -> Floats:
    """runs × runs: Σ over shared docs of value(max of the two ranks), for a falling, positive value of the rank."""
    ranks = np.arange(1, lists.ranked.shape[1] + 1)
    of_rank = np.asarray(value(ranks), dtype=np.float64)
    of_doc = _table(lists, of_rank)
    runs = len(lists.runs)
    at_once = max(1, 2**18 // runs)
    total = np.zeros((runs, runs))
    for a, docs in enumerate(_held(lists)):
        for rows in chunks(len(docs), at_once):
            mine = of_rank[rows, None]
            theirs = of_doc[docs[rows], a:]
            total[a, a:] += np.minimum(theirs, mine).sum(axis=0)
    return _mirrored(total)


def _held(lists: TopicLists) -> list[Codes]:
    """The docs of each run, best first."""
    return [row[:size] for row, size in zip(lists.ranked, lists.sizes, strict=True)]


def _table(lists: TopicLists, values: npt.NDArray[Any], *, absent: int = 0) -> npt.NDArray[Any]:
    """docs × runs: the value of the rank at which a run has the doc, `absent` where it lacks it."""
    run, place, doc = lists.cells
    filled = np.full((len(lists.docs), len(lists.runs)), absent, dtype=values.dtype)
    filled[doc, run] = values[place]
    return filled


def _rbo_min(lists: TopicLists, p: float) -> Floats:
    """MIN = Σ over shared docs of (1−p)/p Σ_{d ≥ max rank} p^d / d, whatever the lengths (Webber 2010, Eq. 7.11)."""
    tail = _Logs(p, int(lists.sizes.max())).tail
    return _summed(lists, lambda rank: (1 - p) / p * tail[rank - 1])


def _rbo_max(lists: TopicLists, p: float) -> Floats:
    """MAX = MIN + RES (Webber 2010, Eq. 7.30)."""
    shared = lists.shared()
    short, long = _lengths(lists)
    full = long + short - shared
    h = _Logs(p, int(full.max())).head
    of_short = short * (h[full] - h[short])
    of_long = long * (h[full] - h[long])
    of_shared = shared * (-np.log1p(-p) - h[full])
    spread = of_short + of_long + of_shared
    residual = p**short + p**long - p**full - (1 - p) / p * spread
    return np.asarray(_rbo_min(lists, p) + residual)


def _rbo_ext(lists: TopicLists, p: float) -> Floats:
    """EXT (Webber 2010, Eq. 7.32): a sum over shared docs, corrected where one of the lists is not of full length."""
    short, long = _lengths(lists)
    longest = int(lists.sizes.max())
    h = _Logs(p, longest).head
    depth = np.maximum(np.arange(longest + 1), 1)
    whole = p**depth / depth + (1 - p) / p * h
    ext = _summed(lists, lambda rank: whole[longest] - (1 - p) / p * h[rank - 1])
    if (lists.sizes == longest).all():
        return ext
    ext -= lists.shared() * (whole[longest] - whole[long])
    # Σ_{d=s+1…l} (d−s)/(s d) p^d = (Σ p^d)/s − Σ p^d/d
    s, l = np.maximum(short, 1), np.maximum(long, 1)  # noqa: E741
    powers = (p ** (short + 1) - p ** (long + 1)) / (1 - p)
    beyond = powers / s - (h[long] - h[short])
    step = (1 / s - 1 / l) * p**long + (1 - p) / p * beyond
    return np.asarray(ext + _shared_in_prefix(lists) * step)


def _shared_in_prefix(lists: TopicLists) -> Ints:
    """runs × runs: docs in common among the first len(shorter) of both; 0 for two lists of full length."""
    runs = len(lists.runs)
    lengths = lists.sizes
    held = _held(lists)
    longest = int(lengths.max())
    order = np.argsort(lengths, kind="stable")
    ranks = np.arange(1, longest + 1, dtype=np.int32)
    rank_of_doc = _table(lists, ranks, absent=longest + 1)[:, order]
    in_prefix = np.zeros((runs, runs), dtype=np.int64)
    for place, a in enumerate(order[lengths[order] < longest]):
        not_shorter = order[place:]
        shared = (rank_of_doc[held[a], place:] <= lengths[a]).sum(axis=0)
        in_prefix[a, not_shorter] = shared
        in_prefix[not_shorter, a] = shared
    return in_prefix


def _pair_by_pair(lists: TopicLists, of_two: Callable[[Codes, Codes], float], symmetric: bool) -> Floats:
    held = _held(lists)
    runs = len(lists.runs)
    values = np.zeros((runs, runs))
    for a in range(runs):
        for b in range(a if symmetric else 0, runs):
            if len(held[a]) and len(held[b]):
                values[a, b] = of_two(held[a], held[b])
    return _mirrored(values) if symmetric else values


def _overlap_value(k: int) -> Callable[[Ints], Floats]:
    return lambda rank: np.where(rank <= k, 1 / k, 0.0)


def _average_overlap_value(k: int) -> Callable[[Ints], Floats]:
    """H_k − H_{rank−1}, over k: what a doc found at this depth adds."""
    reciprocals = 1 / np.arange(1, k + 1)
    from_rank_on = reciprocals[::-1].cumsum()[::-1] / k
    value = np.concatenate([from_rank_on, [0.0]])
    return lambda rank: value[np.minimum(rank, k + 1) - 1]


class _Logs:
    """head[k] = Σ_{i ≤ k} p^i/i and tail[k] = Σ_{i > k} p^i/i for k = 0 … n."""

    def __init__(self, p: float, n: int) -> None:
        i = np.arange(1, n + 1)
        self.head = np.concatenate([[0.0], np.cumsum(p**i / i)])
        self.tail = np.maximum(-np.log1p(-p) - self.head, 0.0)


def _lengths(lists: TopicLists) -> tuple[Ints, Ints]:
    """runs × runs: the length of the shorter and of the longer list of each pair."""
    n = lists.sizes
    return np.minimum(n[:, None], n[None, :]), np.maximum(n[:, None], n[None, :])


def _mirrored(upper: Floats) -> Floats:
    return np.asarray(np.triu(upper) + np.triu(upper, k=1).T)
