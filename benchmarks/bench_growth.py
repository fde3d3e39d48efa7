"""How does the time grow? CPU seconds at growing sizes, and the exponent that fits them, against what it must be.

A row says how many times the exponent that is allowed is above the one that was measured: 1 or more is as it should be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from assay.crowd.cuts import best_cuts
from assay.data import Labels, Qrels, Run, ScoreMatrix
from assay.similarity.matrix import rbo_matrix
from assay.stats import compare
from assay.studies import simulate
from assay.studies.method_comparison import method_tests

Row = tuple[str, float, float, str]
ROOM = 0.4
"""Measured exponents vary, and are larger where arrays outgrow the cache."""
TOPICS = 50
LEVELS_OF_SCALE = 41
REPEATS = 2
"""How often each size is timed; the least time counts."""


def rows() -> list[Row]:
    """The exponent of each computation, by what makes it large."""
    return [_compare(), _similar_runs(), _similar_depths(), _compare_topics(), _cuts(), _methods()]


def _row(what: str, allowed: float, sizes: Sequence[float], work: Sequence[Callable[[], Any]]) -> Row:
    taken = [min(_seconds(one) for _ in range(REPEATS)) for one in work]
    exponent = float(np.polyfit(np.log(sizes), np.log(taken), 1)[0])
    times = ", ".join(f"{size:,.0f}: {second:.2f} s" for size, second in zip(sizes, taken, strict=True))
    note = f"exponent {exponent:.2f}, must be {allowed:g}; {times}"
    return what, 1.0, (allowed + ROOM) / max(exponent, 0.01), note


def _seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _compare() -> Row:
    """All pairs are tested, so that time is the square of the runs."""
    sizes = (500, 1000, 2000)
    matrices = [_matrix(runs) for runs in sizes]
    work = [lambda matrix=matrix: compare(matrix).table() for matrix in matrices]
    return _row("compare: runs x 50 topics", 2.0, sizes, work)


def _matrix(runs: int) -> ScoreMatrix:
    rng = np.random.default_rng(0)
    quality = rng.normal(0.3, 0.05, (runs, 1))
    ease = rng.normal(0.0, 0.1, (1, TOPICS))
    scores = quality + ease + rng.normal(0.0, 0.1, (runs, TOPICS))
    return ScoreMatrix.of(np.clip(scores, 0, 1), measure="AP")


def _similar_runs() -> Row:
    """All pairs of runs."""
    sizes = (500, 1000, 2000)
    runs = _runs(max(sizes), TOPICS, 50)
    work = [lambda size=size: rbo_matrix(runs[:size], p=0.98) for size in sizes]
    return _row("similarity: runs x 50 topics x 50 docs, p = .98", 2.0, sizes, work)


def _similar_depths() -> Row:
    """Ranks that matter: at p = .98 the first 1,938."""
    sizes = (200, 400, 800)
    by_depth = [_runs(60, 20, depth) for depth in sizes]
    work = [lambda runs=runs: rbo_matrix(runs, p=0.98) for runs in by_depth]
    return _row("similarity: 60 runs x 20 topics x docs, p = .98", 1.0, sizes, work)


def _runs(count: int, topics: int, depth: int) -> list[Run]:
    rng = np.random.default_rng(1)
    docs = 2 * depth
    ids = [f"doc-{i}" for i in range(docs)]
    common = rng.normal(size=(topics, docs))
    runs = []
    for number in range(count):
        scores = common + rng.normal(size=(topics, docs))
        best = np.argsort(-scores, axis=1)[:, :depth].tolist()
        rankings = {str(topic): [ids[doc] for doc in row] for topic, row in enumerate(best)}
        runs.append(Run.from_lists(f"run-{number}", rankings))
    return runs


def _compare_topics() -> Row:
    """More topics for the same runs."""
    sizes = (4000, 8000, 16000)
    rng = np.random.default_rng(2)
    matrices = [ScoreMatrix.of(rng.random((100, topics)), measure="AP") for topics in sizes]
    work = [lambda matrix=matrix: compare(matrix).table() for matrix in matrices]
    return _row("compare: 100 runs x topics", 1.0, sizes, work)


def _cuts() -> Row:
    """All cuts of a scale into levels are tried: their number is a binomial, and each costs the same."""
    levels = (4, 5, 6)
    rng = np.random.default_rng(3)
    docs = [f"d{doc}" for doc in range(8)]
    given = [("1", doc, worker, float(rng.integers(LEVELS_OF_SCALE))) for doc in docs for worker in "uvwxy"]
    labels = Labels.from_rows(given)
    targets = [_target(level) for level in levels]
    work = [
        lambda level=level, target=target: best_cuts(
            labels, "H", levels=level, source=f"0-{LEVELS_OF_SCALE - 1}", target=target, search="exact"
        )
        for level, target in zip(levels, targets, strict=True)
    ]
    sizes = [comb(LEVELS_OF_SCALE - 1, level - 1) for level in levels]
    return _row("crowd transform: H, all cuts into 4, 5, 6 of 41 levels", 1.0, sizes, work)


def _target(levels: int) -> Qrels:
    return Qrels.from_dict({"1": {f"d{doc}": doc % levels for doc in range(8)}})


def _methods() -> Row:
    """Every subset of the runs is ranked by every method."""
    sizes = (20, 40, 80)
    made = {f"c{i}": simulate(i, topics=20, runs_per_group=3, docs=200, depth=50) for i in (1, 2)}
    cases = {name: (collection.runs, collection.qrels) for name, collection in made.items()}
    arms = ("predict(method=emap)", ["predict(method=soboroff)"])
    work = [lambda size=size: method_tests(*arms, cases, sizes=[4, 8], subsets=size) for size in sizes]
    return _row("study methods: subsets of the runs", 1.0, sizes, work)


if __name__ == "__main__":
    for row in rows():
        print(row)
