"""Speed of aggregation and of the search for cuts, against crowd-kit and krippendorff in the same run.

Needs the S100 labels (ASSAY_DATA) and, for the rows against it, crowd-kit. Run: python benchmarks/bench_crowd.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.agreement.ratings import Ratings
from assay.agreement.scales import S2, S100
from assay.crowd.cuts import best_cuts
from assay.crowd.cutsearch import combinations
from assay.crowd.eases import glad
from assay.crowd.latent import dawid_skene, one_coin
from assay.crowd.spammers import mace
from assay.data import Labels, Qrels
from assay.io import read_qrels
from assay.io.labels import read_labels

Row = tuple[str, float, float, str]
ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data")) / "crowd-s100-trec8"
LABELS = 10_000_000
MEMORY = 4.0


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The best time of several runs, and the result."""
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def rows() -> list[Row]:
    """(what, ratio asked, ratio seen, note) for each hot path."""
    if not DATA.exists():
        return [("crowd: no real data", 0.0, 0.0, f"set ASSAY_DATA; {DATA.name} is not there")]
    fine = read_labels(DATA / "judgments.tsv.xz", times=100)
    return [*_models(fine), _cuts(fine, read_qrels(DATA / "trec8-qrels.txt")), _large()]


def _models(fine: Labels) -> list[Row]:
    try:
        import crowdkit.aggregation as peer
        import pandas as pd
    except ImportError:
        return [("aggregation against crowd-kit", 5.0, 0.0, "crowd-kit is not installed")]
    labels = replace(fine, label=(fine.label >= 50).astype(float))
    answers = Ratings.of_labels(labels, scale=S2, repeats="all")
    frame = pd.DataFrame({"task": answers.item, "worker": answers.worker, "label": answers.answer})
    found: list[Row] = []
    for name, asked, ours, model in (
        ("Dawid–Skene", 5.0, dawid_skene, peer.DawidSkene(100)),
        ("one coin", 20.0, one_coin, peer.OneCoinDawidSkene(100)),
        ("GLAD", 20.0, glad, peer.GLAD(100)),
    ):
        slow, fitted = seconds(lambda m=model: m.fit(frame), 1)  # type: ignore[misc]
        steps = len(fitted.loss_history_)
        fast, judged = seconds(lambda f=ours: f(answers))  # type: ignore[misc]
        same = float((judged.grade == fitted.labels_.sort_index().to_numpy()).mean())
        note = f"{steps} iterations, {slow:.3f} s against {fast:.4f} s to the end; {same:.2%} same labels"
        found.append((f"{name}, {len(labels)} labels", asked, slow / fast, note))
    slow, _ = seconds(lambda: peer.MACE().fit(frame), 1)
    fast, _ = seconds(lambda: mace(answers), 1)
    found.append(
        ("MACE, 10 starts", 1.0, slow / fast, f"{slow:.2f} s against {fast:.2f} s to the end; nothing was asked")
    )
    return found


def _cuts(fine: Labels, target: Qrels) -> Row:
    """All triples of one topic by D_a+t against one call of the package per triple, extrapolated from 50."""
    import krippendorff

    topic = fine.topics.index("402")
    labels = fine.select(fine.topic == topic)
    fast, _ = seconds(lambda: best_cuts(labels, "D_a+t", levels=4, source=S100, target=target))
    item, pairs = labels.items()
    order = np.lexsort((labels.label, item))
    n = np.bincount(item)
    begin = np.cumsum(n) - n
    values = labels.label[order]
    middle = (values[begin + (n - 1) // 2] + values[begin + n // 2]) / 2
    grade = np.array([target.to_dict()["402"][d] for _, d in pairs])
    every = combinations(100, 3)
    some = every[:: len(every) // 50][:50]

    def by_package() -> None:
        for cut in some:
            data = np.array([(middle[:, None] > cut).sum(axis=1), grade])
            krippendorff.alpha(data, level_of_measurement="interval")

    slow, _ = seconds(by_package)
    per_cut = slow / len(some)
    note = (
        f"{len(every)} cuts in {fast:.3f} s; the package {per_cut * 1000:.3f} ms a cut, so {per_cut * len(every):.0f} s"
    )
    return "S100 → 4 levels, D_a+t, one topic", 500.0, per_cut * len(every) / fast, note


_SCRIPT = """
import resource, sys, time
import numpy as np
from assay.data import Labels
from assay.agreement.ratings import Ratings
from assay.crowd.latent import dawid_skene
from assay.agreement.scales import S2
n, docs, workers = {labels}, {labels} // 10, 20000
rng = np.random.default_rng(0)
truth = rng.integers(0, 2, docs)
doc = np.repeat(np.arange(docs), 10)
worker = rng.integers(0, workers, n)
quality = rng.uniform(.55, .95, workers)
right = rng.random(n) < quality[worker]
label = np.where(right, truth[doc], 1 - truth[doc]).astype(np.float64)
del right
names = tuple(f"d{{i:07d}}" for i in range(docs))
labels = Labels(("1",), names, tuple(f"w{{i}}" for i in range(workers)), np.zeros(n, np.int64), doc, worker, label)
start = time.perf_counter()
judged = dawid_skene(Ratings.of_labels(labels, scale=S2, repeats="all"), iterations=50)
took = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024
print(took, peak, float((judged.grade == truth).mean()), judged.notes[0])
"""


def _large() -> Row:
    """Ten million labels in a process of its own: GB allowed over GB used."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(labels=LABELS)], capture_output=True, text=True, check=True
    )
    took, peak, right, told = done.stdout.split(maxsplit=3)
    note = f"{float(took):.1f} s, {float(peak):.2f} GB of {MEMORY:g}; {float(right):.2%} right; {told.strip()}"
    return f"Dawid–Skene, {LABELS} labels, memory", 1.0, MEMORY / float(peak), note


if __name__ == "__main__":
    for what, asked, seen, note in rows():
        print(f"{what:42} asked {asked:6.1f}  seen {seen:9.1f}  {note}")
