"""Labels of simulated workers whose quality is known."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.data import Labels


def categories(
    accuracy: Floats, *, docs: int, per_doc: int, levels: int = 2, seed: int = 0, topics: int = 1
) -> tuple[Labels, Ints]:
    """Workers who answer right with their own accuracy, else at random among the other levels; and the true levels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, levels, docs)
    worker = np.argsort(rng.random((docs, len(accuracy))), axis=1)[:, :per_doc]
    right = rng.random(worker.shape) < accuracy[worker]
    wrong = (truth[:, None] + rng.integers(1, levels, worker.shape)) % levels
    label = np.where(right, truth[:, None], wrong)
    return _labels(worker, label.astype(np.float64), len(accuracy), topics), truth


def numbers(
    bias: Floats, noise: Floats, *, docs: int, per_doc: int, seed: int = 0
) -> tuple[Ints, Ints, Floats, Floats]:
    """item, worker, value, truth of workers with a bias and a noise of their own; worths are uniform on 0–100."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 100, docs)
    worker = np.argsort(rng.random((docs, len(bias))), axis=1)[:, :per_doc]
    value = truth[:, None] + bias[worker] + noise[worker] * rng.standard_normal(worker.shape)
    return np.repeat(np.arange(docs), per_doc), worker.ravel(), value.ravel(), truth


def _labels(worker: Ints, label: Floats, workers: int, topics: int) -> Labels:
    docs, per_doc = worker.shape
    doc = np.repeat(np.arange(docs), per_doc)
    return Labels(
        tuple(f"t{t:03d}" for t in range(topics)),
        tuple(f"d{d:07d}" for d in range(docs)),
        tuple(f"w{w:04d}" for w in range(workers)),
        doc * topics // docs,
        doc,
        worker.ravel().astype(np.int64),
        label.ravel(),
    )
