"""Planning and standardizing: ours against a call per pair, per split or per number of topics, in the same run.

129 runs × 50 topics of made-up scores; the slower side is timed on a part and scaled up.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from assay.data.scores import ScoreMatrix
from assay.plan.audits import pair_differences
from assay.plan.stopping import detectable_effects
from assay.standard.halves import false_positives


def rows() -> list[tuple[str, float, float, str]]:
    """(what, ratio asked for, ratio seen, note)."""
    matrix = ScoreMatrix.of(np.random.default_rng(0).beta(2, 5, size=(129, 50)))
    return [_sigmas(matrix), _halves(matrix), _effects()]


def _sigmas(matrix: ScoreMatrix) -> tuple[str, float, float, str]:
    x, pairs = matrix.values, 8256

    def per_pair() -> None:
        for j in range(1, 101):
            (x[0] - x[j]).std(ddof=1)

    ours, peer = seconds(lambda: pair_differences(matrix)), seconds(per_pair) * pairs / 100
    return ("σ of all pairs of runs", 20, peer / ours, "numpy std per pair, 100 pairs scaled to 8,256")


def _halves(matrix: ScoreMatrix) -> tuple[str, float, float, str]:
    from scipy.stats import ttest_ind

    x, rng, splits = matrix.values, np.random.default_rng(1), 2000

    def per_split() -> None:
        for _ in range(20):
            order = rng.permutation(50)
            ttest_ind(x[:, order[:25]], x[:, order[25:]], axis=1)

    ours, peer = seconds(lambda: false_positives(matrix, splits=splits)), seconds(per_split) * splits / 20
    return ("false positives on 2,000 halves", 5, peer / ours, "scipy ttest_ind per split, 20 splits scaled")


def _effects() -> tuple[str, float, float, str]:
    from statsmodels.stats.power import TTestPower

    topics, solver = np.arange(10, 410), TTestPower()

    def per_number() -> None:
        for n in topics[::20]:
            solver.solve_power(nobs=int(n), alpha=0.05, power=0.8)

    ours, peer = seconds(lambda: detectable_effects(topics)), seconds(per_number) * 20
    return ("detectable effect of 400 numbers of topics", 5, peer / ours, "statsmodels solve_power each, 20 scaled")


def seconds(work: Callable[[], object]) -> float:
    """The best of three timings."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    for what, asked, seen, note in rows():
        print(f"{what}: {seen:.0f}× (asked {asked:g}×), {note}")
