"""How fast are the methods without judgments? Against plain Python and a plain logistic regression, in the same run.

Rows of (what, ratio asked, ratio seen, note). Runs on TREC-COVID round 1 where ASSAY_DATA has it, else on runs made
from a seed, of the same number and depth.
"""

from __future__ import annotations

import os
import resource
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from assay.data import Run
from assay.data.lists import Lists
from assay.nojudgments import comparable, predicted
from assay.nojudgments.predictors import METHODS
from assay.pooling.doc_strengths import strengths

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

Row = tuple[str, float, float, str]
PUBLISHED = 3.0
"""Seconds for one topic of 2.5 million preferences among 800 docs (Carterette & Allan 2007, §4.2.1)."""


def rows() -> list[Row]:
    """All comparisons."""
    lists = _lists()
    return [*_bradley_terry(lists), *_methods(lists), _memory()]


def _bradley_terry(lists: Lists) -> list[Row]:
    """Seconds per topic against the published 3: on this collection, and on a topic of the published size."""
    cut = lists.cut(100)
    spent = _seconds(lambda: [_fit(cut, t) for t in range(len(cut.topics))], repeat=1)
    spent /= len(cut.topics)
    docs = int(np.diff(cut.item_bounds).mean())
    dense = _made(runs=505, topics=1, docs=800, depth=100)
    one = _seconds(lambda: _fit(dense, 0))
    said = 505 * 100 * 99 // 2
    return [
        ("preferences and Bradley-Terry, per topic", 1.0, PUBLISHED / spent, f"{spent:.3f} s, {docs} docs"),
        ("the same, 800 docs", 1.0, PUBLISHED / one, f"{one:.3f} s, {said:,} preferences"),
        _logistic(dense, one),
    ]


def _fit(lists: Lists, t: int) -> np.ndarray:
    seen = lists.topic(t)
    return strengths(seen.ranked, docs=len(seen.docs))


def _logistic(lists: Lists, ours: float) -> Row:
    """scikit-learn on the listed preferences of 50 of the runs, in proportion for all; the same likelihood and prior.

    The rows are sparse and the tolerance is such that probabilities agree to a few digits in the fifth place.
    """
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    small = lists.select(lists.runs[:50])
    block = small.topic(0).ranked
    above, below = np.triu_indices(block.shape[1], 1)
    start = time.perf_counter()
    first, second = block[:, above].ravel(), block[:, below].ravel()
    row = np.arange(len(first))
    # Every other row is turned round, or all labels would be the same; then each doc beats a dummy once and loses once.
    sign = np.where(row % 2 == 0, 1.0, -1.0)
    said = sparse.csr_matrix(
        (np.concatenate([sign, -sign]), (np.tile(row, 2), np.concatenate([first, second]))),
        shape=(len(row), small.items),
    )
    x = sparse.vstack([said, sparse.identity(small.items), sparse.identity(small.items)]).tocsr()
    y = np.concatenate([sign > 0, np.ones(small.items, dtype=bool), np.zeros(small.items, dtype=bool)])
    model = LogisticRegression(C=np.inf, fit_intercept=False, max_iter=10_000, tol=1e-8).fit(x, y)
    plainly = (time.perf_counter() - start) * len(lists.runs) / len(small.runs)
    theta = _fit(small, 0)
    apart = np.abs(1 / (1 + np.exp(-model.coef_[0])) - 1 / (1 + np.exp(-theta))).max()
    note = f"{plainly:.1f} s (from {len(row):,} preferences) against {ours:.3f} s; p differ by {apart:.0e} at most"
    return ("Bradley-Terry against scikit-learn on listed preferences", 50.0, plainly / ours, note)


def _methods(lists: Lists) -> list[Row]:
    """All 17 methods in one go against plain Python of the slowest alone, one small topic, extrapolated to all."""
    from tests.oracles import nojudgments as plain

    names = [m for m in METHODS.names() if m != "emap"]
    ours = _seconds(lambda: [predicted(lists, m) for m in names], repeat=1)
    rankings = {
        run: lists.docs.take(lists.item[lists.bounds[s] : lists.bounds[s + 1]]).tolist()
        for run, s in zip(lists.runs, range(0, len(lists.bounds), len(lists.topics)), strict=False)
    }
    some = dict(list(rankings.items())[:12])
    count = _seconds(lambda: _plain_condorcet({r: docs[:20] for r, docs in some.items()}))
    union = len({d for docs in some.values() for d in docs[:20]})
    full = int(np.diff(lists.cut(100).item_bounds)[0])
    # Pairs of docs grow with the square of the union, each asks every run.
    condorcet = count * (full / union) ** 2 * (len(rankings) / 12) * len(lists.topics)
    pairs = _seconds(lambda: [plain.mean_jaccard(rankings, r) for r in list(rankings)[:5]], repeat=1) / 5
    jaccard = pairs * len(rankings) * len(lists.topics)
    return [
        (
            "17 methods against plain Condorcet alone",
            20.0,
            condorcet / ours,
            f"{condorcet:,.0f} s against {ours:.1f} s",
        ),
        ("Aslam & Savell against plain sets", 1.0, jaccard / _seconds(lambda: predicted(lists, "aslam-savell")), ""),
    ]


def _plain_condorcet(rankings: dict[str, list[str]]) -> dict[str, tuple[int, int]]:
    """Wins and losses of every doc, pair by pair and run by run, with the ranks in dictionaries."""
    ranks = [{d: k for k, d in enumerate(docs)} for docs in rankings.values()]
    record = {d: (0, 0) for docs in rankings.values() for d in docs}
    for x, y in combinations(record, 2):
        votes = 0
        for rank in ranks:
            a, b = rank.get(x, 1000), rank.get(y, 1000)
            votes += (a < b) - (b < a)
        if votes:
            winner, loser = (x, y) if votes > 0 else (y, x)
            record[winner] = (record[winner][0] + 1, record[winner][1])
            record[loser] = (record[loser][0], record[loser][1] + 1)
    return record


def _memory() -> Row:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return ("memory: 2 GB over the peak", 1.0, 2.0 / peak, f"{peak:.2f} GB, runs and all")


def _seconds(function: Callable[[], object], *, repeat: int = 3) -> float:
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return float(best)


def _lists() -> Lists:
    data = Path(os.environ.get("ASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    archive = data / "trec-covid-round1" / "runs.tar.xz"
    if not archive.exists():
        return _made(runs=143, topics=30, docs=20_000, depth=1000)
    from assay.io import read_run

    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
        return comparable([read_run(p) for p in sorted(Path(folder, "runs").iterdir())])


def _made(*, runs: int, topics: int, docs: int, depth: int) -> Lists:
    """Runs that agree on a hidden merit of docs, each with noise of its own."""
    rng = np.random.default_rng(0)
    names = np.array([f"d{i:06d}" for i in range(docs)])
    merit = rng.normal(size=(topics, docs))
    return comparable(
        [
            Run.from_lists(
                f"r{r:03d}",
                {
                    str(t): names[np.argsort(-(merit[t] + rng.normal(size=docs)))[:depth]].tolist()
                    for t in range(topics)
                },
            )
            for r in range(runs)
        ]
    )


if __name__ == "__main__":
    for what, asked, seen, note in rows():
        print(f"{'ok  ' if seen >= asked else 'SLOW'} {what:58s} asked {asked:6.1f}  seen {seen:10.1f}  {note}")
