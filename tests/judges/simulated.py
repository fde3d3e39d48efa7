"""Machine judges of known faults, made from human grades: perfect, kind, noisy, adversarial, copies."""

from __future__ import annotations

import numpy as np

from assay.data import Labels, Qrels

TOP = 3


def labels_of(qrels: Qrels, judges: tuple[str, ...], seed: int = 0) -> Labels:
    """Labels of the named judges of every judged doc; `copy-a` and `copy-b` differ on one doc in two hundred."""
    rng = np.random.default_rng(seed)
    grades = qrels.grades.astype(float)
    n = len(grades)
    random = rng.integers(0, TOP + 1, n).astype(float)
    noisy = np.where(rng.random(n) < 0.5, random, grades)
    copied = np.where(rng.random(n) < 0.4, random[::-1], grades)
    second = np.where(rng.random(n) < 0.005, rng.integers(0, TOP + 1, n), copied)
    made = {
        "perfect": grades,
        "kind": np.minimum(TOP, grades + (rng.random(n) < 0.6)),
        "strict": np.maximum(0, grades - (rng.random(n) < 0.6)),
        "noisy": noisy,
        "random": random,
        "adversarial": TOP - grades,
        "constant": np.full(n, 1.0),
        "copy-a": copied,
        "copy-b": second,
        "binary": (grades >= 2).astype(float),
    }
    docs = qrels.docs.tolist()
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    rows = []
    for judge in judges:
        rows += [(topics[i], docs[i], judge, float(made[judge][i])) for i in range(n)]
    return Labels.from_rows(rows)
