"""The result lists of many runs on one topic as integers, so that all pairs of them can be compared at once.

Where the flow stands: runs → **lists per topic** → `matrix`, `preferences`. Docs are coded once for all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.data import Qrels, Run, natural_order
from assay.errors import DataError
from assay.ids import Ids, coded

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TopicLists:
    """One topic: all docs that a run retrieved, numbered; per run their numbers and ranks, best first."""

    topic: str
    docs: int
    held: tuple[Ints, ...]
    ranks: tuple[Ints, ...]
    lengths: Ints
    """Docs of each run; 0 where it lacks the topic."""
    pairs: Ints
    """Pairs of docs that each run puts in an order: all, less those with equal ranks."""

    def table(self, values: Sequence[npt.NDArray[Any]], *, absent: int = 0) -> npt.NDArray[Any]:
        """docs × runs: a value for each doc that a run holds, `absent` elsewhere."""
        filled: npt.NDArray[Any] = np.full((self.docs, len(self.held)), absent, dtype=values[0].dtype)
        for run, (docs, value) in enumerate(zip(self.held, values, strict=True)):
            filled[docs, run] = value
        return filled

    def shared(self) -> Ints:
        """runs × runs: docs in common."""
        holds = self.table([np.ones(len(r), dtype=np.float32) for r in self.ranks])
        return np.asarray(np.rint(holds.T @ holds), dtype=np.int64)


def topic_lists(
    runs: Sequence[Run],
    *,
    depth: int | None = None,
    tied: bool = False,
    only: Qrels | None = None,
    rel: int = 1,
    relevant: bool = True,
) -> Iterator[TopicLists]:
    """The lists of each topic that any run has, in natural order.

    Ranks are 1, 2, 3, … in the order of the run; with `tied` docs of equal score share a rank. With `only`, just the
    docs that are relevant there (grade ≥ rel), or with relevant=False just the others, ranked among each other.
    """
    check_runs(runs)
    cut = list(runs) if depth is None else [run.cut(depth) for run in runs]
    codes, vocabulary = coded([run.docs for run in cut])
    wanted = None if only is None else _RelevantDocs(only, vocabulary, rel, relevant)
    places = [{t: i for i, t in enumerate(run.topics)} for run in cut]
    levels = [_levels(run) if tied else None for run in cut]
    for topic in natural_order({t for run in cut for t in run.topics}):
        rows = [_rows(run, place.get(topic)) for run, place in zip(cut, places, strict=True)]
        docs = [code[at] for code, at in zip(codes, rows, strict=True)]
        level = [np.arange(len(d)) if v is None else v[at] for v, at, d in zip(levels, rows, docs, strict=True)]
        if wanted is not None:
            keep = [wanted.mask(topic, d) for d in docs]
            docs = [d[k] for d, k in zip(docs, keep, strict=True)]
            level = [v[k] for v, k in zip(level, keep, strict=True)]
        for run, mine in zip(cut, docs, strict=True):
            check_once(run, topic, mine)
        yield _lists(topic, docs, [_dense(v) for v in level], len(vocabulary))


def check_runs(runs: Sequence[Run]) -> None:
    """Refuse fewer than two runs, two of one name, and a run that holds a doc twice for a topic."""
    if len(runs) < 2:
        raise DataError(f"two runs or more are needed to compare, not {len(runs)}")
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise DataError(f"run {twice!r} is there twice; names must differ")
    for run in runs:
        if not len(run):
            raise DataError(f"run {run.name!r} is empty; there is nothing to compare")


def check_once(run: Run, topic: str, codes: Ints) -> None:
    """Refuse a list that holds a doc twice."""
    ordered = np.sort(codes)
    if (ordered[1:] == ordered[:-1]).any():
        raise DataError(f"run {run.name!r} holds a doc twice for topic {topic!r}; a doc has one rank")


def _rows(run: Run, topic: int | None) -> slice:
    return slice(0, 0) if topic is None else slice(int(run.bounds[topic]), int(run.bounds[topic + 1]))


def _levels(run: Run) -> Ints:
    """A number for each row that rises by one wherever the score falls."""
    return np.cumsum(~run.tied())


def _dense(level: Ints) -> Ints:
    """1, 2, 3, … in place of rising numbers; equal numbers stay equal."""
    return np.cumsum(np.concatenate([[True], np.diff(level) != 0])[: len(level)])


def _lists(topic: str, docs: list[Ints], ranks: list[Ints], vocabulary: int) -> TopicLists:
    present = np.bincount(np.concatenate(docs), minlength=vocabulary) > 0
    number = np.cumsum(present) - 1
    held = tuple(number[d] for d in docs)
    lengths = np.array([len(d) for d in docs], dtype=np.int64)
    pairs = np.array([_ordered_pairs(r) for r in ranks], dtype=np.int64)
    return TopicLists(topic, int(present.sum()), held, tuple(ranks), lengths, pairs)


def _ordered_pairs(rank: Ints) -> int:
    """All pairs less those of equal rank; ranks are dense, so the last one tells whether there is any."""
    n = len(rank)
    if not n or rank[-1] == n:
        return n * (n - 1) // 2
    size = np.bincount(rank)
    return int(n * (n - 1) // 2 - (size * (size - 1) // 2).sum())


class _RelevantDocs:
    """Which docs, as codes of a vocabulary, are relevant on each topic."""

    def __init__(self, qrels: Qrels, vocabulary: Ids, rel: int, relevant: bool) -> None:
        (judged, mine), merged = coded([qrels.docs, vocabulary])
        back = np.full(len(merged), -1)
        back[mine] = np.arange(len(mine))
        self._codes = np.where(qrels.grades >= rel, back[judged], -1)
        self._bounds = dict(zip(qrels.topics, zip(qrels.bounds, qrels.bounds[1:], strict=False), strict=True))
        self._relevant = relevant

    def mask(self, topic: str, docs: Ints) -> npt.NDArray[np.bool_]:
        """Which of the docs count."""
        start, stop = self._bounds.get(topic, (0, 0))
        return np.asarray(np.isin(docs, self._codes[start:stop]) == self._relevant)
