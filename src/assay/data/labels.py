"""Labels: what many workers said of docs, one row per (topic, doc, worker, label)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints, Sealed, kept
from assay.core.dataframes import pandas_frame, polars_frame
from assay.core.groups import coded_names
from assay.data.given import id_texts, numbers
from assay.data.topic_rows import counted

COLUMNS = (
    "topic", "doc", "worker", "label", "task", "position", "seconds", "attempt", "gold", "back", "tested", "lines",
)  # fmt: skip


def number_in(text: str) -> float | None:
    """The number that a label is written as, None if it is a word: '1', '1.0' and ' 1 ' are one label.

    >>> number_in("1"), number_in(" 1.0 "), number_in("no"), number_in("1_0"), number_in("nan")
    (1.0, 1.0, None, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    # Python reads 1_000 as a number; a person who typed it may have meant something else.
    return number if abs(number) < float("inf") and "_" not in text else None


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Sealed):
    """Crowd judgments: one row per (topic, doc, worker, label). Names are coded once; `topic[i]` indexes `topics`.

    >>> labels = Labels.from_rows([("1", "a", "w1", 2), ("1", "a", "w2", 0)])
    >>> labels
    Labels('labels', 2 labels of 2 workers, 1 topic, 1 doc)
    >>> labels.to_dict()
    {'topic': ['1', '1'], 'doc': ['a', 'a'], 'worker': ['w1', 'w2'], 'label': [2.0, 0.0]}
    """

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
    back: Ints | None = None
    """How often the worker went back from this doc to an earlier one."""
    tested: Floats | None = None
    """1 where the test question of the task was answered right, 0 where not."""
    lines: Ints | None = None
    name: str = "labels"

    def __post_init__(self) -> None:
        """Nobody can change the columns: those that somebody else could write to are copied."""
        for column in COLUMNS:
            values = getattr(self, column)
            if values is not None:
                object.__setattr__(self, column, kept(values))

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[str | int, str | int, str | int, float]],
        *,
        name: str = "labels",
        **extra: Any,
    ) -> Labels:
        """Labels from (topic, doc, worker, label). Ids may be whole numbers, which are read as their digits."""
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        topics, topic = coded_names(id_texts(columns[0], "topic", name))
        docs, doc = coded_names(id_texts(columns[1], "doc", name))
        workers, worker = coded_names(id_texts(columns[2], "worker", name))
        label = numbers(columns[3], "label", name)
        return cls(topics, docs, workers, topic, doc, worker, label, name=name, **extra)

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        labels = f"{counted(len(self), 'label')} of {counted(len(self.workers), 'worker')}"
        items = f"{counted(len(self.topics), 'topic')}, {counted(len(self.docs), 'doc')}"
        return f"Labels({self.name!r}, {labels}, {items})"

    def to_dict(self) -> dict[str, list[Any]]:
        """{column: values} of all columns that there are, names written out."""
        names = {"topic": self.topics, "doc": self.docs, "worker": self.workers}
        listed = {}
        for column in COLUMNS:
            values = getattr(self, column)
            if values is None:
                continue
            cells = values.tolist()
            listed[column] = [names[column][i] for i in cells] if column in names else cells
        return listed

    def to_pandas(self) -> Any:
        """A pandas DataFrame of the columns of `to_dict`: a row for each label."""
        return pandas_frame(self.to_dict())

    def to_polars(self) -> Any:
        """A polars DataFrame of the columns of `to_dict`: a row for each label."""
        return polars_frame(self.to_dict())

    def items(self) -> tuple[Ints, list[tuple[str, str]]]:
        """Each row's (topic, doc) as a number, and the pairs that the numbers stand for."""
        width = len(self.docs)
        keys, item = np.unique(self.topic * width + self.doc, return_inverse=True)
        pairs = [(self.topics[key // width], self.docs[key % width]) for key in keys.tolist()]
        return item.astype(np.int64), pairs

    def select(self, rows: npt.ArrayLike) -> Labels:
        """Only these rows (a mask or places); the names stay."""
        at = np.asarray(rows)
        columns: dict[str, Any] = {}
        for column in COLUMNS:
            values = getattr(self, column)
            columns[column] = None if values is None else values[at]
        return replace(self, **columns)
