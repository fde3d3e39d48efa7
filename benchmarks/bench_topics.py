"""Topic subsets: all three series against the published times, and swap search against pymoo's NSGA-II.

Published (Roitero 2020, Table 3.2): 2 min 41 s for 50 topics × 96 runs, 10 min for 250 topics, 60 min for 1,000.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores
from assay.topics.archive import Archive
from assay.topics.extremes import best_topics
from assay.topics.nsga import first_population
from assay.topics.problem import Problem, problem
from assay.topics.search import search_subsets

Row = tuple[str, float, float, str]
SECONDS = 20.0
PUBLISHED = {50: 161.0, 250: 600.0, 1000: 3600.0}
ASKED = {("pearson", 50): 50.0, ("tau", 50): 20.0, ("pearson", 250): 20.0, ("tau", 250): 20.0}
ASKED |= {("pearson", 1000): 10.0, ("tau", 1000): 3.0}


def rows() -> list[Row]:
    """Every comparison asked for: name, asked ratio, seen ratio, note."""
    timed = [_three_series(criterion, topics) for topics in PUBLISHED for criterion in ("pearson", "tau")]
    peers = [row for criterion in ("pearson", "tau") if (row := _against_pymoo(criterion)) is not None]
    if not peers:
        print("pymoo is not installed: the side by side with its NSGA-II is left out", file=sys.stderr)
    return [*timed, *peers, _memory()]


def _three_series(criterion: str, topics: int) -> Row:
    matrix = _matrix(topics)
    start, cpu = time.perf_counter(), time.process_time()
    found = best_topics(matrix, criterion=criterion, search="swap", repetitions=5000, holdout=False)
    seconds, work = time.perf_counter() - start, time.process_time() - cpu
    # one thread: on an idle machine the two times are one; on a busy one only the second says what the work takes
    note = f"{work:.1f} s of one core ({seconds:.1f} s passed) for all three; {found.found.evaluations} evaluations"
    return (f"{criterion}, {topics} topics × 96 runs", ASKED[criterion, topics], PUBLISHED[topics] / work, note)


def _against_pymoo(criterion: str) -> Row | None:
    """Share of cardinalities and sides at which ours is at least as good, given the same seconds."""
    name = f"{criterion}: as good as pymoo's NSGA-II"
    ready = problem(_matrix(50), criterion=criterion)
    try:
        peers = {side: _pymoo(ready, sign, SECONDS / 2) for side, sign in (("best", 1), ("worst", -1))}
    except ImportError:
        return None
    found = search_subsets(ready, seconds=SECONDS)
    ahead = [
        (sign * found.values(side) >= sign * peers[side] - 1e-12).mean() for side, sign in (("best", 1), ("worst", -1))
    ]
    note = f"share of cardinalities; ours {found.seconds:.0f} s, pymoo {SECONDS:.0f} s, same operators as published"
    return (name, 1.0, float(np.mean(ahead)), note)


def _pymoo(ready: Problem, side: int, seconds: float) -> np.ndarray:
    """The best (or worst) value per cardinality that pymoo's NSGA-II sees, with the published operators."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.crossover import Crossover
    from pymoo.core.mutation import Mutation
    from pymoo.core.problem import Problem as Peer
    from pymoo.core.sampling import Sampling
    from pymoo.optimize import minimize
    from pymoo.termination.max_time import TimeBasedTermination

    rng, archive = np.random.default_rng(0), Archive(ready, keep=1, sides=(side,))

    class Subsets(Peer):
        def __init__(self) -> None:
            super().__init__(n_var=ready.n, n_obj=2, xl=0, xu=1, vtype=bool)

        def _evaluate(self, x, out, *args, **kwargs):
            masks = np.asarray(x, bool)
            masks[~masks.any(axis=1), 0] = True
            values = ready.of_masks(masks)
            archive.offer(np.full(len(masks), side), masks, values)
            out["F"] = np.column_stack([side * masks.sum(axis=1), -side * values])

    class Start(Sampling):
        def _do(self, problem, n_samples, **kwargs):
            return first_population(ready.n, n_samples, rng)

    class AndOr(Crossover):
        def __init__(self) -> None:
            super().__init__(2, 2, prob=0.7)

        def _do(self, problem, x, **kwargs):
            return np.array([x[0] & x[1], x[0] | x[1]])

    class OneFlip(Mutation):
        def _do(self, problem, x, **kwargs):
            x = x.copy()
            flip = np.flatnonzero(rng.random(len(x)) < 0.3)
            x[flip, rng.integers(ready.n, size=len(flip))] ^= True
            return x

    algorithm = NSGA2(pop_size=2000, sampling=Start(), crossover=AndOr(), mutation=OneFlip(prob=1.0))
    minimize(Subsets(), algorithm, TimeBasedTermination(seconds), seed=1, verbose=False)
    seen = [archive.value(side, c) for c in range(1, ready.n)]
    return np.array([-side * np.inf if v is None else v for v in seen])


def _memory() -> Row:
    """Peak memory of all three series for 1,153 topics × 29 runs, in a process of its own, against 1 GB."""
    done = subprocess.run([sys.executable, __file__, "--memory"], capture_output=True, text=True, check=True)
    peak = float(done.stdout.split()[-1])
    return ("memory, 1,153 topics × 29 runs", 1.0, 1024 / peak, f"{peak:.0f} MB at most")


def _matrix(topics: int, runs: int = 96) -> ScoreMatrix:
    """TREC-8's best 96 runs where the data is there; else, and for more topics, made scores of that shape."""
    folder = Path(os.environ.get("ASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    path = folder / "trec-score-matrices" / "named" / "trec8-adhoc_ap.csv"
    if topics == 50 and runs == 96 and path.exists():
        whole = read_scores(path)[0].by_average()
        return whole.select(runs=list(whole.runs[:96]))
    rng = np.random.default_rng(topics)
    raw = 0.28 + 0.05 * rng.normal(size=(runs, 1)) + 0.16 * rng.normal(size=(1, topics))
    return ScoreMatrix.of(np.clip(raw + 0.12 * rng.normal(size=(runs, topics)), 0, 1).round(4), measure="AP")


if __name__ == "__main__":
    if sys.argv[1:] == ["--memory"]:
        best_topics(_matrix(1153, runs=29), search="swap(starts=1, rounds=1)", repetitions=5000, holdout=False)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        for name, asked, seen, note in rows():
            print(f"{name:40} asked {asked:6.1f}  seen {seen:8.1f}  {note}", flush=True)
