"""How fast are studies of methods on subsets of runs? Against coding and scoring every subset anew, in the same run.

Rows of (what, ratio asked, ratio seen, note). Runs of TREC 2019 and 2021 Deep Learning where ASSAY_DATA has them, else
of two collections made from a seed.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from assay.data import Qrels, Run
from assay.io import read_qrels, read_run
from assay.nojudgments import predicted
from assay.nojudgments.predictors import METHODS
from assay.rankings import kendall_tau_b, settled
from assay.scoring import evaluate
from assay.studies import simulate
from assay.studies.method_comparison import method_tests

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

Row = tuple[str, float, float, str]
FIRST = "emap"
OTHERS = [name for name in METHODS.names() if name != FIRST]
SUBSETS = 20
SIZE = 10
DEPTH = 100
PLAIN_SUBSETS = 2
"""Subsets of each collection on which the plain way is timed; it takes as long for each."""


def rows() -> list[Row]:
    """All comparisons."""
    return [_one_arm_against_seventeen(_collections())]


def _one_arm_against_seventeen(collections: dict[str, tuple[list[Run], Qrels]]) -> Row:
    """EMAP against each of 17 other methods, 20 subsets of 10 runs of two collections, all runs last."""
    arms = [f"predict(method={name})" for name in (FIRST, *OTHERS)]
    ours = partial(method_tests, arms[0], arms[1:], collections, sizes=[SIZE], subsets=SUBSETS)
    together = _seconds(ours)
    one_by_one = 0.0
    for runs, qrels in collections.values():
        rng = np.random.default_rng(0)
        subsets = [[runs[place] for place in rng.permutation(len(runs))[:SIZE]] for _ in range(PLAIN_SUBSETS)]
        spent = _seconds(partial(_plainly, subsets, qrels))
        one_by_one += spent * SUBSETS / PLAIN_SUBSETS
    note = f"{one_by_one:.0f} s (from {PLAIN_SUBSETS} subsets of each collection) against {together:.1f} s"
    return (
        f"study methods, {len(OTHERS)} methods × 2 collections × {SUBSETS} subsets",
        10.0,
        one_by_one / together,
        note,
    )


def _plainly(subsets: list[list[Run]], qrels: Qrels) -> None:
    """Each pair of methods by itself: runs cut and coded for every method, EMAP again beside each of the others."""
    truths = [evaluate(runs, qrels, "AP")[0].averages() for runs in subsets]
    for other in OTHERS:
        for runs, truth in zip(subsets, truths, strict=True):
            for method in (FIRST, other):
                cut = [_judged_topics(run, qrels).cut(DEPTH) for run in runs]
                scores = predicted(cut, method).averages()
                kendall_tau_b(settled(scores), settled(truth))


def _judged_topics(run: Run, qrels: Qrels) -> Run:
    judged = set(qrels.topics)
    if judged.issuperset(run.topics):
        return run
    kept = {topic: docs for topic, docs in run.to_dict().items() if topic in judged}
    return Run.from_dict(run.name, kept, info=run.info)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _collections() -> dict[str, tuple[list[Run], Qrels]]:
    """Runs and judgments of two collections."""
    data = Path(os.environ.get("ASSAY_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))
    folders = [data / f"trec-dl-{year}-passage" for year in (2019, 2021)]
    if all(folder.exists() for folder in folders):
        return {folder.name: _unpacked(folder) for folder in folders}
    made = {f"simulated {seed}": simulate(seed, topics=40, docs=500, depth=200) for seed in (1, 2)}
    return {name: (list(one.runs), one.qrels) for name, one in made.items()}


def _unpacked(folder: Path) -> tuple[list[Run], Qrels]:
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(folder / "runs.tar.xz") as archive:
            archive.extractall(unpacked, filter="data")
        runs = [read_run(path) for path in sorted((Path(unpacked) / "runs").iterdir())]
    return runs, read_qrels(folder / "qrels.txt")
