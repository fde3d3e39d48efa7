"""How fast are the tests of all pairs? Ours against one scipy call per pair, on 129 runs × 50 topics (8,256 pairs).

The scores are made from a seed to look like average precision. What a peer needs for all pairs is extrapolated from a
few; memory is the highest that the process ever held for 560 runs, as a share of 500 MB.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from assay.stats import all_pairs
from assay.stats.tukey import permuted_ranges, randomised_tukey, tukey

RUNS, TOPICS, PAIRS = 129, 50, 8256
B = 10_000
Row = tuple[str, float, float, str]


def scores(runs: int = RUNS, topics: int = TOPICS) -> ScoreMatrix:
    """Runs of differing quality on topics of differing difficulty, bounded to [0, 1]."""
    rng = np.random.default_rng(0)
    values = 0.25 + rng.normal(0, 0.1, (runs, 1)) + rng.normal(0, 0.16, topics) + rng.normal(0, 0.11, (runs, topics))
    return ScoreMatrix.of(np.clip(values, 0, 1).round(4))


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """The shortest of a few runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def rows() -> list[Row]:
    """Name, ratio asked, ratio seen, note."""
    m = scores()
    return [_t(m), _randomisation(m), _randomised_tukey(m), _tukey(m), _linear(m), _memory()]


def _t(m: ScoreMatrix) -> Row:
    ours = seconds(lambda: all_pairs(m, "t", interval=None), 5)
    some = [(i, j) for i in range(20) for j in range(i + 1, 20)]
    theirs = seconds(lambda: [stats.ttest_rel(m.values[i], m.values[j]) for i, j in some]) * PAIRS / len(some)
    return "all-pairs paired t", 100, theirs / ours, f"ours {ours:.4f} s, scipy ttest_rel per pair {theirs:.1f} s"


def _randomisation(m: ScoreMatrix) -> Row:
    ours = seconds(lambda: all_pairs(m, "randomisation", resamples=B))

    def one(k: int) -> object:
        d = m.values[k] - m.values[k + 1]
        return stats.permutation_test((d,), _mean, permutation_type="samples", n_resamples=B, vectorized=True, rng=k)

    theirs = seconds(lambda: [one(k) for k in range(20)], 1) * PAIRS / 20
    note = f"ours {ours:.2f} s, scipy permutation_test per pair {theirs:.0f} s (from 20 pairs)"
    return "all-pairs randomisation, B = 10,000", 100, theirs / ours, note


def _mean(d: Floats, axis: int) -> Floats:
    return np.asarray(d.mean(axis=axis))


def _span(*runs: Floats, axis: int) -> Floats:
    return np.asarray(np.ptp(np.stack([r.mean(axis=axis) for r in runs]), axis=0))


def _randomised_tukey(m: ScoreMatrix) -> Row:
    ours = seconds(lambda: randomised_tukey(m, resamples=B), 2)
    part = 200
    theirs = seconds(
        lambda: stats.permutation_test(
            tuple(m.values), _span, permutation_type="samples", n_resamples=part, batch=50, vectorized=True,
            alternative="greater", rng=0,
        ),
        1,
    ) * B / part  # fmt: skip
    note = f"ours {ours:.2f} s, scipy permutation_test on max - min {theirs:.1f} s (from B = {part})"
    return "randomised Tukey HSD, B = 10,000", 1, theirs / ours, note


def _tukey(m: ScoreMatrix) -> Row:
    ours = seconds(lambda: tukey(m), 2)
    q = np.linspace(0.5, 8, 40)
    theirs = seconds(lambda: [stats.studentized_range.sf(v, RUNS, 6272) for v in q], 1) * PAIRS / 40
    return "Tukey p of all pairs", 50, theirs / ours, f"ours {ours:.2f} s, studentized_range.sf per pair {theirs:.0f} s"


def _linear(m: ScoreMatrix) -> Row:
    short, long = (seconds(lambda b=b: permuted_ranges(m.values, resamples=b)) for b in (1000, 4000))  # type: ignore[misc]
    note = f"time of B = 1,000 over a quarter of that of B = 4,000 ({short:.2f} s, {long:.2f} s): 1 is linear"
    return "grows linearly with B", 0.5, 4 * short / long, note


def _memory() -> Row:
    """In a process of its own, since a process remembers its highest memory."""
    code = (
        "import resource, benchmarks.bench_stats as b\n"
        "from assay.stats import all_pairs\n"
        "m = b.scores(560, 50)\n"
        "for test in ('t', 'wilcoxon', 'randomisation', 'bootstrap', 'randomised-tukey'):\n"
        "    all_pairs(m, test, resamples=100)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    held = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    return "memory for 560 runs below 500 MB", 1, 500 / held, f"{held:.0f} MB held, libraries and all"


if __name__ == "__main__":
    for name, asked, seen, note in rows():
        print(f"{'ok ' if seen >= asked else 'LOW'} {name}: asked {asked:g}, seen {seen:.1f}; {note}")
