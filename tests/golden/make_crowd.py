"""Makes crowd_kit.csv and crowd_kit_workers.csv: what crowd-kit says of the real crowd data sets.

Run it where crowd-kit and pandas are installed and src is on the path; ASSAY_DATA names the folder of real data.
Kept are shares, numbers of iterations, the labels that crowd-kit gives (one bit per doc, in the order of our items, no
ids), and confusion matrices of the workers with most labels; nothing of the released data itself.
"""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import Labels
from assay.io.labels import read_labels

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ASSAY_DATA", HERE.parents[2] / "shared" / "data"))
WORKERS = 20


def sets() -> dict[str, Labels]:
    """S100 with 50 and more as relevant, and the two label files of TREC 2011."""
    fine = read_labels(DATA / "crowd-s100-trec8/judgments.tsv.xz", times=100)
    return {
        "s100": replace(fine, label=(fine.label >= 50).astype(float)),
        "votes": read_labels(DATA / "crowd-trec2011/votes.tsv.xz", split="_"),
        "others": read_labels(DATA / "crowd-trec2011/otherparticipantsvotes.tsv.xz", split="_"),
    }


def frame(labels: Labels, *, ordered: bool) -> Any:
    """The labels as crowd-kit takes them; tasks are our item numbers. ordered: by worker and label, 0 first."""
    import pandas as pd

    item, _ = labels.items()
    rows = pd.DataFrame({"task": item, "worker": labels.worker, "label": labels.label.astype(int)})
    return rows.sort_values(["worker", "label", "task"], kind="stable") if ordered else rows


def bits(values: Any) -> str:
    """Labels 0 and 1 of all docs as hexadecimal digits."""
    return np.packbits(np.asarray(values, dtype=np.uint8)).tobytes().hex()


def main() -> None:
    """Fit every model on every set and write both files."""
    from crowdkit.aggregation import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene

    rows: list[list[object]] = []
    workers: list[list[object]] = []
    for name, labels in sets().items():
        for method, order, model in (
            ("majority", "file", MajorityVote()),
            ("dawid-skene", "file", DawidSkene(100)),
            ("one-coin", "file", OneCoinDawidSkene(100)),
            ("glad", "file", GLAD()),
            ("mace", "file", MACE()),
            ("mace", "sorted", MACE()),
        ):
            data = frame(labels, ordered=order == "sorted")
            model.fit(data)
            found = model.labels_.sort_index().to_numpy()
            steps = len(getattr(model, "loss_history_", []))
            rows.append([name, method, order, steps, len(found), f"{found.mean():.6f}", bits(found)])
            print(*rows[-1][:-1], flush=True)
            if method == "dawid-skene":
                most = np.argsort(-np.bincount(labels.worker), kind="stable")[:WORKERS].tolist()
                for w in most:
                    cells = [model.errors_[c].get((w, y), 0.0) for c in (0, 1) for y in (0, 1)]
                    workers.append([name, steps, w, *(f"{c:.8f}" for c in cells)])
    for path, header, body in (
        ("crowd_kit.csv", ["set", "method", "order", "iterations", "docs", "share", "labels"], rows),
        ("crowd_kit_workers.csv", ["set", "iterations", "worker", "0|0", "1|0", "0|1", "1|1"], workers),
    ):
        with (HERE / path).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *body])


if __name__ == "__main__":
    main()
