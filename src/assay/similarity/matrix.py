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
from assay.core.tables import Table
from assay.data import Run
from assay.data.lists import TopicLists, collected
from assay.rankings.rank_biased import check_p
from assay.similarity.by_topic import check_runs, if_defined
from assay.similarity.overlap import LIST_SIMILARITIES

SCORES = ("ext", "min", "max")
SHOWN = 12


@dataclass(frozen=True, eq=False)
class SimilarityMatrix:
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
        order = np.argsort(-np.nan_to_num(self.mean[first, second], nan=-2.0), kind="stable")
        rows = [
            (self.runs[i], self.runs[j], self.mean[i, j], self.sd[i, j], self.topics[i, j])
            for i, j in zip(first[order], second[order], strict=True)
        ]
        columns = {"run": "", "other": "", "mean": ".4f", "sd": ".4f", "topics": "d"}
        return Table.of(columns, rows, caption="Similarity of runs", notes=self.notes())

    def table(self) -> Table:
        """The matrix where it fits a page, else one row per run: how alike the others are, and which most and least."""
        notes = self.notes()
        if len(self.runs) <= SHOWN:
            rows = [(run, *row) for run, row in zip(self.runs, self.mean, strict=True)]
            columns = {"run": "", **dict.fromkeys(self.runs, ".4f")}
            return Table.of(columns, rows, caption="Similarity of runs, mean over topics", notes=notes)
        d = self.to_others()
        off = np.where(np.eye(len(d), dtype=bool) | (self.topics == 0), np.nan, self.mean)
        most, least = np.nan_to_num(off, nan=-2.0).argmax(axis=1), np.nan_to_num(off, nan=2.0).argmin(axis=1)
        listed = [
            (self.runs[i], d[i], *self._with(off[i], most[i]), *self._with(off[i], least[i]))
            for i in np.argsort(-np.nan_to_num(d, nan=-2.0), kind="stable")
        ]
        formats = {"run": "", "to others": ".4f", "most alike": "", "to it": ".4f", "least alike": "", "to that": ".4f"}
        return Table.of(formats, listed, caption="Similarity of runs, mean over topics", notes=notes)

    def _with(self, row: Floats, other: int) -> tuple[str | None, float]:
        """The name of another run and the similarity with it; no name where they were not compared."""
        return None if np.isnan(row[other]) else self.runs[other], float(row[other])


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
    of = {"ext": _rbo_ext, "min": _rbo_min, "max": _rbo_max}[score]
    recipe = f"RBO {score.upper()}, p = {p:g}, ties in the order of the run, mean over common topics"
    seen = int(np.ceil(np.log(1e-17) / np.log(p)))
    return _averaged(runs, lambda lists: of(lists, p), min(depth or seen, seen), recipe, progress)


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
        weight = _overlap_value(k) if entry.name == "overlap" else _average_overlap_value(k)
        return _averaged(runs, lambda lists: _summed(lists, weight), depth, recipe, progress)

    def one_by_one(lists: TopicLists) -> Floats:
        of = functools.partial(if_defined, entry.function, **given)
        return _pair_by_pair(lists, of, entry.facts.get("symmetric", True))

    return _averaged(runs, one_by_one, depth, recipe, progress)


def _averaged(
    runs: Sequence[Run],
    of: Callable[[TopicLists], Floats],
    depth: int | None,
    recipe: str,
    progress: Progress,
) -> SimilarityMatrix:
    check_runs(runs)
    lists, m = collected(runs, depth=depth), len(runs)
    total, squares, count = np.zeros((m, m)), np.zeros((m, m)), np.zeros((m, m), dtype=np.int64)
    for t in range(len(lists.topics)):
        has = lists.sizes[:, t] > 0
        found = of(lists.topic(t))
        both = has[:, None] & has[None, :] & ~np.isnan(found)
        values = np.where(both, found, 0.0)
        total, squares, count = total + values, squares + values**2, count + both
        progress(t + 1, len(lists.topics))
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    variance = np.maximum(squares - total * np.nan_to_num(mean), 0) / np.maximum(count - 1, 1)
    sd = np.where(count > 1, np.sqrt(variance), np.nan)
    return SimilarityMatrix(tuple(r.name for r in runs), mean, sd, count, recipe)


def _summed(lists: TopicLists, value: Callable[[Ints], Floats]) -> Floats:
    """runs × runs: Σ over shared docs of value(max of the two ranks), for a falling, positive value of the rank."""
    values = np.asarray(value(np.arange(1, lists.ranked.shape[1] + 1)), dtype=np.float64)
    table = _table(lists, values)
    m = len(lists.runs)
    out = np.zeros((m, m))
    for a, docs in enumerate(_held(lists)):
        for rows in chunks(len(docs), max(1, 2**18 // m)):
            out[a, a:] += np.minimum(table[docs[rows], a:], values[rows, None]).sum(axis=0)
    return _mirrored(out)


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
    spread = short * (h[full] - h[short]) + long * (h[full] - h[long]) + shared * (-np.log1p(-p) - h[full])
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
    beyond = (p ** (short + 1) - p ** (long + 1)) / (1 - p) / np.maximum(short, 1) - (h[long] - h[short])
    step = (1 / np.maximum(short, 1) - 1 / np.maximum(long, 1)) * p**long + (1 - p) / p * beyond
    return np.asarray(ext + _shared_in_prefix(lists) * step)


def _shared_in_prefix(lists: TopicLists) -> Ints:
    """runs × runs: docs in common among the first len(shorter) of both; 0 for two lists of full length."""
    lengths, held, m = lists.sizes, _held(lists), len(lists.runs)
    longest = int(lengths.max())
    order = np.argsort(lengths, kind="stable")
    rank = _table(lists, np.arange(1, longest + 1, dtype=np.int32), absent=longest + 1)[:, order]
    in_prefix = np.zeros((m, m), dtype=np.int64)
    for place, a in enumerate(order[lengths[order] < longest]):
        longer, others = rank[held[a], place:], order[place:]
        in_prefix[a, others] = in_prefix[others, a] = (longer <= lengths[a]).sum(axis=0)
    return in_prefix


def _pair_by_pair(lists: TopicLists, of: Callable[[Codes, Codes], float], symmetric: bool) -> Floats:
    held, m = _held(lists), len(lists.runs)
    out = np.zeros((m, m))
    for a in range(m):
        for b in range(a if symmetric else 0, m):
            if len(held[a]) and len(held[b]):
                out[a, b] = of(held[a], held[b])
    return _mirrored(out) if symmetric else out


def _overlap_value(k: int) -> Callable[[Ints], Floats]:
    return lambda rank: np.where(rank <= k, 1 / k, 0.0)


def _average_overlap_value(k: int) -> Callable[[Ints], Floats]:
    """H_k − H_{rank−1}, over k: what a doc found at this depth adds."""
    left = np.concatenate([(1 / np.arange(1, k + 1))[::-1].cumsum()[::-1] / k, [0.0]])
    return lambda rank: left[np.minimum(rank, k + 1) - 1]


class _Logs:
    """head[k] = Σ_{i ≤ k} p^i/i and tail[k] = Σ_{i > k} p^i/i for k = 0 … n."""

    def __init__(self, p: float, n: int) -> None:
        i = np.arange(1, n + 1)
        self.head = np.concatenate([[0.0], np.cumsum(p**i / i)])
        self.tail = np.maximum(-np.log1p(-p) - self.head, 0.0)


def _lengths(lists: TopicLists) -> tuple[Ints, Ints]:
    n = lists.sizes
    return np.minimum(n[:, None], n[None, :]), np.maximum(n[:, None], n[None, :])


def _mirrored(upper: Floats) -> Floats:
    return np.asarray(np.triu(upper) + np.triu(upper, k=1).T)
