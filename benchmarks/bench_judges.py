"""Speed of the audit of machine judges, against scoring the same runs under each judge's labels in the same run.

Needs the runs and judges of TREC DL 2021 (ASSAY_DATA). Run: python benchmarks/bench_judges.py
"""

from __future__ import annotations

import os
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.io import read_labels, read_qrels
from assay.io.run_files import read_run_files
from assay.judges import judge, labelled
from assay.judges.interval_coverage import coverage_of_judges
from assay.scoring import evaluate

Row = tuple[str, float, float, str]
ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))
MOST = 3.0
"""The audit takes at most this many times as long as scoring."""


def rows() -> list[Row]:
    """(what, ratio asked, ratio seen, note) for each hot path."""
    if not (DATA / "trec-dl-2021-passage").exists():
        return [("judges: no real data", 0.0, 0.0, "set ASSAY_DATA to its folder")]
    qrels = read_qrels(DATA / "trec-dl-2021-passage" / "qrels.txt")
    labels = read_labels(DATA / "machine-judges-dl2019-2021" / "labels-dl2021.tsv.xz")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(DATA / "trec-dl-2021-passage" / "runs.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        runs = read_run_files([Path(folder) / "runs"])
    pairs = labelled(qrels, labels)
    sets = [qrels, *(pairs.qrels(given, name) for name, given in zip(pairs.judges, pairs.machine, strict=True))]
    _, scoring = seconds(lambda: [evaluate(runs, one, "nDCG@10") for one in sets])
    audit, auditing = seconds(lambda: judge(qrels, labels, runs))
    what = f"audit of {len(pairs.judges)} judges × {len(runs)} runs × {len(qrels.topics)} topics"
    note = (
        f"{auditing:.2f} s; scoring under {len(sets)} qrels {scoring:.2f} s, so {auditing / scoring:.1f} times as long"
        f"; {len(audit.faults)} faults"
    )
    found = [(what, 1.0, MOST * scoring / auditing, f"{note}; asked: at most {MOST:g} times")]
    table, took = seconds(lambda: coverage_of_judges(qrels, labels, runs, samples=400), 1)
    covered = [row.coverage for row in table.rows if row.method == "cross-fitted"]
    note = f"{took:.1f} s; the default covers {min(covered):.3f} to {max(covered):.3f}"
    return [*found, ("coverage of 4 estimators, 7 judges, 400 samples each", 0.0, 0.0, note)]


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """The result, and the best processor time of several runs."""
    times, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return result, min(times)


if __name__ == "__main__":
    for row in rows():
        print(*row)
