"""Speed of agreement, against the package krippendorff in the same run.

Needs the S100 labels (ASSAY_DATA). Run: python benchmarks/bench_agreement.py
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from assay.agreement.alpha import alpha_of_cuts, krippendorff_alpha
from assay.agreement.ratings import Ratings
from assay.agreement.result import agreement
from assay.io.labels import read_labels

Row = tuple[str, float, float, str]
ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data")) / "crowd-s100-trec8"


def rows() -> list[Row]:
    """(what, ratio asked, ratio seen, note) for each hot path."""
    if not DATA.exists():
        return [("agreement: no real data", 0.0, 0.0, "set ASSAY_DATA to its folder")]
    import krippendorff

    labels = read_labels(DATA / "judgments.tsv.xz", times=100)
    ratings = Ratings.of_labels(labels)
    table = np.full((len(ratings.workers), len(ratings.items)), np.nan)
    table[ratings.worker, ratings.item] = ratings.value

    def of_level(level: Any) -> Row:
        theirs, slow = seconds(lambda: krippendorff.alpha(reliability_data=table, level_of_measurement=level), 1)
        ours, fast = seconds(lambda: krippendorff_alpha(ratings.item, ratings.value, level=level))
        note = f"{fast * 1e3:.0f} ms against {slow:.2f} s; α {ours:.6f}, difference {abs(ours - theirs):.0e}"
        return f"α {level}, {len(labels):,} labels", 5.0, slow / fast, note

    found = [of_level(level) for level in ("nominal", "ordinal", "interval", "ratio")]
    triples = np.array([(a, b, c) for a in range(100) for b in range(a + 1, 100) for c in range(b + 1, 100)])
    _, took = seconds(lambda: alpha_of_cuts(ratings.item, ratings.value, triples, level="ordinal"), 1)
    found.append((f"α of {len(triples):,} cuts into four levels", 0.0, 0.0, f"{took:.2f} s; nothing was asked"))
    _, took = seconds(lambda: agreement(ratings, measures=["alpha"], per_topic=True), 1)
    found.append(
        ("α of 18 topics and in all, 1,000 bootstrap samples each", 0.0, 0.0, f"{took:.2f} s; nothing was asked")
    )
    return found


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """The result, and the best processor time of several runs."""
    times, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return result, min(times)


if __name__ == "__main__":
    for what, asked, seen, note in rows():
        print(f"{what}: asked {asked:g}×, seen {seen:.1f}× ({note})")
