"""Labels: what many workers said of docs, one row per (topic, doc, worker, label)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.groups import coded_names


@dataclass(frozen=True, eq=False)
class Labels:
    """Crowd judgments: one row per (topic, doc, worker, label). Names are coded once; `topic[i]` indexes `topics`."""

    topics: tuple[str, ...]
    docs: tuple[str, ...]
    workers: tuple[str, ...]
    topic: Ints
    doc: Ints
    worker: Ints
    label: Floats
    task: npt.NDArray[np.object_] | None = None
    position: Ints | None = None
    seconds: Floats | None = None
    attempt: Ints | None = None
    gold: Floats | None = None
    lines: Ints | None = None
    name: str = "labels"

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, float]], *, name: str = "labels", **extra: Any) -> Labels:
        """Labels from (topic, doc, worker, label)."""
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        (topics, topic), (docs, doc), (workers, worker) = (coded_names(c) for c in columns[:3])
        label = np.array(columns[3], dtype=np.float64)
        return cls(topics, docs, workers, topic, doc, worker, label, name=name, **extra)

    def __len__(self) -> int:
        return len(self.label)

    def items(self) -> tuple[Ints, list[tuple[str, str]]]:
        """Each row's (topic, doc) as a number, and the pairs that the numbers stand for."""
        keys, item = np.unique(self.topic * len(self.docs) + self.doc, return_inverse=True)
        pairs = [(self.topics[k // len(self.docs)], self.docs[k % len(self.docs)]) for k in keys.tolist()]
        return item.astype(np.int64), pairs

    def select(self, rows: npt.ArrayLike) -> Labels:
        """Only these rows (a mask or places); the names stay."""
        at = np.asarray(rows)
        kept = {
            c: None if (v := getattr(self, c)) is None else v[at]
            for c in ("topic", "doc", "worker", "label", "task", "position", "seconds", "attempt", "gold", "lines")
        }  # fmt: skip
        return replace(self, **kept)  # type: ignore[arg-type]
