"""Speed of rank similarity, against plain Python and scipy in the same run.

Needs the TREC-COVID runs and the grid of points (ASSAY_DATA). Run: python benchmarks/bench_similarity.py
"""

from __future__ import annotations

import csv
import lzma
import os
import resource
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import Run
from assay.io import read_run
from assay.rankings import kendall_matrix
from assay.similarity.matrix import rbo_matrix
from assay.similarity.shared_preferences import preference_similarity

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.oracles.similarity import rbo_ext as plain_rbo  # noqa: E402

Row = tuple[str, float, float, str]
DATA = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))
PAIRS = 200


def rows() -> list[Row]:
    """(what, ratio asked, ratio seen, note) for each hot path."""
    found = []
    if (DATA / "trec-covid-round1").exists():
        found += _rbo(_covid_runs())
    if (DATA / "trec-grid-of-points").exists():
        found += [_kendall()]
    return found or [("similarity: no real data", 0.0, 0.0, "set ASSAY_DATA to its folder")]


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The best processor time of several runs, and the result."""
    times, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def _covid_runs() -> list[Run]:
    with tempfile.TemporaryDirectory() as folder, tarfile.open(DATA / "trec-covid-round1" / "runs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
        return [read_run(path) for path in sorted((Path(folder) / "runs").iterdir())]


def _rbo(runs: list[Run]) -> list[Row]:
    rng = np.random.default_rng(0)
    chosen = [(*rng.choice(len(runs), 2, replace=False), rng.integers(30)) for _ in range(PAIRS)]
    lists = [(runs[a].ranking(runs[a].topics[t]), runs[b].ranking(runs[b].topics[t])) for a, b, t in chosen]
    pairs = len(runs) * (len(runs) - 1) // 2 * 30
    found = []
    for p, asked in ((0.9, 50.0), (0.98, 0.0)):
        each, _ = seconds(lambda p=p: [plain_rbo(a, b, p) for a, b in lists])  # type: ignore[misc]
        ours, _ = seconds(lambda p=p: rbo_matrix(runs, p=p))  # type: ignore[misc]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        note = f"{ours:.2f} s; plain {each / PAIRS * 1e6:.0f} µs a pair; peak {memory:.2f} GB with the runs"
        found.append((f"RBO EXT of {pairs:,} list pairs, p = {p}", asked, each / PAIRS * pairs / ours, note))
    counted, _ = seconds(lambda: preference_similarity(runs), 1)
    found.append(("shared preferences of the same pairs", 0.0, 0.0, f"{counted:.1f} s; no peer, nothing was asked"))
    return found


def _kendall() -> Row:
    from scipy.stats import kendalltau

    with lzma.open(DATA / "trec-grid-of-points" / "trec8_ap.csv.xz", "rt") as file:
        values = np.array([[float(x) for x in row[3:]] for row in list(csv.reader(file))[1:]])
    rng = np.random.default_rng(0)
    chosen = [rng.choice(len(values), 2, replace=False) for _ in range(PAIRS)]
    each, _ = seconds(lambda: [kendalltau(values[a], values[b]).statistic for a, b in chosen])
    ours, matrix = seconds(lambda: kendall_matrix(values))
    pairs = len(values) * (len(values) - 1) // 2
    worst = max(abs(matrix[a, b] - kendalltau(values[a], values[b]).statistic) for a, b in chosen)
    note = f"{ours:.3f} s; scipy {each / PAIRS * 1e6:.0f} µs a pair; largest difference {worst:.1e}"
    shape = f"{values.shape[0]} systems × {values.shape[1]} topics"
    return (f"τ-b of all pairs of {shape}", 20.0, each / PAIRS * pairs / ours, note)


if __name__ == "__main__":
    for what, asked, seen, note in rows():
        print(f"{what}: asked {asked:g}×, seen {seen:.1f}× ({note})")
