"""Makes crowd_kit.csv and crowd_kit_workers.csv: what crowd-kit says of the real crowd data sets.

Run it where crowd-kit and pandas are installed and src is on the path; ASSAY_DATA names the folder of real data.
Kept are shares, numbers of iterations, the labels that crowd-kit gives (one bit per doc, in the order of our items, no
ids), and confusion matrices of the workers with most labels; nothing of the released data itself.

The column `call` says how crowd-kit was called: `file` (rows as they come), `long` (as they come, never stopped before
300 or 100 iterations), `short` (as they come, 20 iterations), `sorted` (rows by worker and label), `shuffled N` (rows
in an order drawn with seed N); `… renamed`: the same rows in the same order, but workers and labels named by the number
in which they come.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Ints
from assay.data import Labels
from assay.io.labels import read_labels

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ASSAY_DATA", HERE.parents[2] / "shared" / "data"))
WORKERS = 20
SHUFFLES = (1, 2, 3)


def sets() -> dict[str, Labels]:
    """S100 with 50 and more as relevant, and the two label files of TREC 2011."""
    fine = read_labels(DATA / "crowd-s100-trec8/judgments.tsv.xz", times=100)
    return {
        "s100": replace(fine, label=(fine.label >= 50).astype(float)),
        "votes": read_labels(DATA / "crowd-trec2011/votes.tsv.xz", split="_"),
        "others": read_labels(DATA / "crowd-trec2011/otherparticipantsvotes.tsv.xz", split="_"),
    }


def permutation(labels: Labels, call: str) -> Ints:
    """The order of the rows in a call: sorted by worker and label, shuffled, or as they come."""
    if call.startswith("sorted"):
        return np.lexsort((labels.items()[0], labels.label, labels.worker))
    if call.startswith("shuffled"):
        return np.random.RandomState(int(call.split()[1])).permutation(len(labels))
    return np.arange(len(labels))


def frame(labels: Labels, call: str) -> tuple[Any, Any]:
    """The labels as crowd-kit takes them (tasks are our item numbers), and the label that each of its labels means."""
    import pandas as pd

    rows = pd.DataFrame({"task": labels.items()[0], "worker": labels.worker, "label": labels.label.astype(int)})
    rows = rows.iloc[permutation(labels, call)].reset_index(drop=True)
    if not call.endswith("renamed"):
        return rows, np.array([0, 1])
    label, means = pd.factorize(rows["label"])
    return rows.assign(worker=pd.factorize(rows["worker"])[0], label=label), np.asarray(means)


def calls() -> Iterator[tuple[str, str, Any]]:
    """Method, call, model."""
    from crowdkit.aggregation import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene

    yield "majority", "file", MajorityVote()
    yield "dawid-skene", "file", DawidSkene(100)
    yield "dawid-skene", "long", DawidSkene(300, tol=-np.inf)
    yield "one-coin", "file", OneCoinDawidSkene(100)
    yield "glad", "file", GLAD()
    yield "glad", "long", GLAD(100, tol=-np.inf)
    yield "mace", "short", MACE(n_iter=20)
    for order in ("file", "sorted", *(f"shuffled {s}" for s in SHUFFLES)):
        yield "mace", order, MACE()
    for order in ("file", *(f"shuffled {s}" for s in SHUFFLES)):
        yield "mace", f"{order} renamed", MACE()


def bits(values: Any) -> str:
    """Labels 0 and 1 of all docs as hexadecimal digits."""
    return np.packbits(np.asarray(values, dtype=np.uint8)).tobytes().hex()


def matrices(model: Any, labels: Labels) -> Iterator[list[object]]:
    """The confusion matrices of the workers with most labels."""
    for worker in np.argsort(-np.bincount(labels.worker), kind="stable")[:WORKERS].tolist():
        cells = [model.errors_[c].get((worker, y), 0.0) for c in (0, 1) for y in (0, 1)]
        yield [worker, *(f"{c:.8f}" for c in cells)]


def written(path: str, header: list[str], rows: list[list[object]]) -> None:
    """One golden file."""
    with (HERE / path).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def main() -> None:
    """Fit every model on every set and write both files."""
    rows: list[list[object]] = []
    workers: list[list[object]] = []
    for name, labels in sets().items():
        for method, call, model in calls():
            data, means = frame(labels, call)
            found = means[model.fit(data).labels_.sort_index().to_numpy()]
            steps = len(getattr(model, "loss_history_", []))
            rows.append([name, method, call, steps, len(found), f"{found.mean():.6f}", bits(found)])
            print(*rows[-1][:-1], flush=True)
            if method == "dawid-skene":
                workers += [[name, call, steps, *cells] for cells in matrices(model, labels)]
    written("crowd_kit.csv", ["set", "method", "call", "iterations", "docs", "share", "labels"], rows)
    written("crowd_kit_workers.csv", ["set", "call", "iterations", "worker", "0|0", "1|0", "0|1", "1|1"], workers)


if __name__ == "__main__":
    main()
