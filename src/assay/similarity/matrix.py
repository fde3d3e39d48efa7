"""How alike are all runs? A matrix of every run against every other, mean and spread over topics.

Overlap measures are taken of all pairs of runs at once (`shared_docs`), other similarities pair by pair.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Codes, Floats, Ints
from assay.core.engine import Progress, ordered_stream, silent
from assay.core.errors import UsageError
from assay.core.registry import Entry
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Run
from assay.data.lists import TopicLists, collected
from assay.rankings.rank_biased import check_p
from assay.similarity.by_topic import check_runs, if_defined
from assay.similarity.overlap import LIST_SIMILARITIES
from assay.similarity.shared_docs import (
    average_overlap_value,
    docs_of_runs,
    mirrored,
    overlap_value,
    rbo_ext,
    rbo_max,
    rbo_min,
    summed,
)

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
        notes = [self.recipe]
        not_compared = self.topics == 0
        if not_compared.any():
            notes.append("–: no topic in common, or none on which the similarity has a value")
        return notes

    def to_others(self) -> Floats:
        """The mean similarity of each run with the others; NaN where it could be compared with none."""
        others = ~self._itself_or_unknown()
        compared = others.sum(axis=1)
        similarity = np.where(others, self.mean, 0.0)
        mean = similarity.sum(axis=1) / np.maximum(compared, 1)
        return np.where(compared > 0, mean, np.nan)

    def pairs(self) -> Table:
        """One row per pair of runs, the most alike first."""
        first, second = np.triu_indices(len(self.runs), k=1)
        similarity = self.mean[first, second]
        most_alike_first = _falling(similarity)
        rows = []
        for pair in most_alike_first:
            i = first[pair]
            j = second[pair]
            row = (
                self.runs[i],
                self.runs[j],
                self.mean[i, j],
                self.sd[i, j],
                self.topics[i, j],
            )
            rows.append(row)
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
        record = super().record()
        record.update(self.pairs().record())
        return record

    def _most_and_least(self, caption: str) -> Table:
        to_others = self.to_others()
        others = np.where(self._itself_or_unknown(), np.nan, self.mean)
        most = np.nan_to_num(others, nan=-UNKNOWN).argmax(axis=1)
        least = np.nan_to_num(others, nan=UNKNOWN).argmin(axis=1)
        rows = []
        for i in _falling(to_others):
            most_alike = self._with(others[i], most[i])
            least_alike = self._with(others[i], least[i])
            row = (self.runs[i], to_others[i], *most_alike, *least_alike)
            rows.append(row)
        columns = {
            "run": "",
            "to others": ".4f",
            "most alike": "",
            "to it": ".4f",
            "least alike": "",
            "to that": ".4f",
        }
        keys = {
            "to others": "mean",
            "to it": "most_alike_mean",
            "to that": "least_alike_mean",
        }
        return Table.of(columns, rows, caption=caption, notes=self.notes(), keys=keys)

    def _itself_or_unknown(self) -> Bools:
        """runs × runs: where a run meets itself, or one with which it was not compared."""
        itself = np.eye(len(self.runs), dtype=bool)
        not_compared = self.topics == 0
        return itself | not_compared

    def _with(self, row: Floats, other: int) -> tuple[str | None, float]:
        """The name of another run and the similarity with it; no name where they were not compared."""
        similarity = float(row[other])
        if np.isnan(similarity):
            return None, similarity
        return self.runs[other], similarity


def _falling(similarity: Floats) -> Ints:
    """The places from the highest similarity to the lowest, undefined ones last."""
    comparable = np.nan_to_num(similarity, nan=-UNKNOWN)
    return np.argsort(-comparable, kind="stable")


def rbo_matrix(
    runs: Sequence[Run],
    *,
    p: float = 0.9,
    score: str = "ext",
    depth: int | None = None,
    jobs: int = 1,
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
    forms = {"ext": rbo_ext, "min": rbo_min, "max": rbo_max}
    of_topic = functools.partial(forms[score], p=p)
    recipe = f"RBO {score.upper()}, p = {p:g}, ties in the order of the run, mean over common topics"
    # p^d = 10⁻¹⁷ at this depth d.
    deepest = int(np.ceil(np.log(1e-17) / np.log(p)))
    looked_at = min(depth or deepest, deepest)
    return _averaged(runs, of_topic, looked_at, recipe, jobs, progress)


def similarity_matrix(
    runs: Sequence[Run],
    measure: str = "rbo",
    *,
    depth: int | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> SimilarityMatrix:
    """Any list similarity of every two runs, by name, e.g. `average-overlap(k=10)`; mean over common topics.

    An asymmetric measure takes the row's run as the objective one. overlap, average-overlap and rbo are counted all
    at once, the others pair by pair. A topic on which a similarity has no value (γ of lists that order no pair) is left
    out.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "abd"), ("b", "cbe")])
    >>> float(similarity_matrix([a, b], "overlap(k=2)").mean[0, 1])
    0.5
    """
    entry = LIST_SIMILARITIES.entry(measure)
    given = LIST_SIMILARITIES.given(measure)
    if entry.name == "rbo":
        if "ties" in given:
            raise UsageError(f"{measure}: a matrix reads ties in the order of the run; compare two runs for a tie form")
        p = given.get("p", 0.9)
        return rbo_matrix(runs, p=p, depth=depth, jobs=jobs, progress=progress)
    of_topic = _of_topic(entry, given)
    recipe = f"{measure}, ties in the order of the run, mean over common topics"
    return _averaged(runs, of_topic, depth, recipe, jobs, progress)


def _of_topic(entry: Entry[Callable[..., float]], given: dict[str, Any]) -> Callable[[TopicLists], Floats]:
    """What gives the matrix of one topic: all at once where a doc's part depends on its ranks only, else by pairs."""
    k = given.get("k")
    if entry.name in ("overlap", "average-overlap") and k is not None:
        value_at = overlap_value if entry.name == "overlap" else average_overlap_value
        return functools.partial(summed, value=value_at(k))
    of_two = functools.partial(if_defined, entry.function, **given)
    symmetric = entry.facts.get("symmetric", True)
    return functools.partial(_pair_by_pair, of_two=of_two, symmetric=symmetric)


def _averaged(
    runs: Sequence[Run],
    of_topic: Callable[[TopicLists], Floats],
    depth: int | None,
    recipe: str,
    jobs: int,
    progress: Progress,
) -> SimilarityMatrix:
    """Mean and sd over the topics that two runs have and on which the similarity has a value."""
    check_runs(runs)
    lists = collected(runs, depth=depth)
    shape = (len(runs), len(runs))
    total = np.zeros(shape)
    squares = np.zeros(shape)
    count = np.zeros(shape, dtype=np.int64)

    def similarity_on(t: int) -> Floats:
        return of_topic(lists.topic(t))

    topics = range(len(lists.topics))
    of_topics = ordered_stream(similarity_on, topics, jobs=jobs, forks=True, progress=progress)
    for t, similarity in enumerate(of_topics):
        has_docs = lists.sizes[:, t] > 0
        both_have_docs = has_docs[:, None] & has_docs[None, :]
        compared = both_have_docs & ~np.isnan(similarity)
        values = np.where(compared, similarity, 0.0)
        total += values
        squares += values**2
        count += compared
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    # Σ(x − x̄)² = Σx² − x̄·Σx; rounding can leave it a little below 0.
    deviations = np.maximum(squares - total * np.nan_to_num(mean), 0)
    variance = deviations / np.maximum(count - 1, 1)
    sd = np.where(count > 1, np.sqrt(variance), np.nan)
    names = tuple(run.name for run in runs)
    return SimilarityMatrix(names, mean, sd, count, recipe)


def _pair_by_pair(lists: TopicLists, of_two: Callable[[Codes, Codes], float], symmetric: bool) -> Floats:
    held = docs_of_runs(lists)
    runs = len(lists.runs)
    values = np.zeros((runs, runs))
    for a in range(runs):
        first_other = a if symmetric else 0
        for b in range(first_other, runs):
            if len(held[a]) and len(held[b]):
                values[a, b] = of_two(held[a], held[b])
    if symmetric:
        return mirrored(values)
    return values
