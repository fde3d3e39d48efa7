"""Uncertain: judgments made from many labels, and how sure each of them is.

Every aggregation ends here: a grade per doc with an interval, an sd or a posterior over the levels. Low, high and drawn
qrels carry that uncertainty on to any measure: score each of them and look at how far the scores spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import generator
from assay.core.errors import DataError
from assay.core.ids import Ids
from assay.core.tables import Table
from assay.data import Qrels
from assay.io.sheet import Sheet, read_sheet, write_sheet

COLUMNS = ("topic", "doc", "grade", "low", "high", "probability", "sd", "labels")
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Uncertain:
    """One row per doc, grouped by topic: the grade, an interval of grades that holds it with 95 %, and its spread.

    probability is that of the grade (not-a-number where a method has none), sd is on the scale of the grades.
    posterior: docs × levels; None for methods that estimate a number. workers: what a model says of each worker.

    >>> u = Uncertain.of_posterior("demo", [("1", "a"), ("1", "b")], [[.9, .1], [.2, .8]], levels=[0, 1], labels=[5, 5])
    >>> u.grade.tolist(), u.low.tolist(), u.high.tolist()
    ([0, 1], [0, 0], [1, 1])
    """

    method: str
    items: tuple[tuple[str, str], ...]
    grade: Ints
    low: Ints
    high: Ints
    probability: Floats
    sd: Floats
    labels: Ints
    estimate: Floats
    levels: Floats
    posterior: Floats | None = None
    workers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of_posterior(
        cls,
        method: str,
        items: Iterable[tuple[str, str]],
        posterior: npt.ArrayLike,
        *,
        levels: npt.ArrayLike,
        labels: npt.ArrayLike,
        grade: Ints | None = None,
        workers: Mapping[str, Mapping[str, float]] | None = None,
        notes: tuple[str, ...] = (),
    ) -> Uncertain:
        """From the posterior over the levels: the grade is the most probable level (the lower of equal ones).

        The interval runs from the level where the cumulated posterior reaches 2.5 % to the one where it reaches 97.5 %.
        """
        p, values = np.asarray(posterior, dtype=np.float64), np.asarray(levels, dtype=np.float64)
        best = np.argmax(p, axis=1) if grade is None else np.searchsorted(values, grade)
        cumulated = p.cumsum(axis=1)
        tail = (1 - LEVEL) / 2
        low = np.minimum((cumulated < tail - 1e-12).sum(axis=1), best)
        high = np.maximum((cumulated < 1 - tail - 1e-12).sum(axis=1).clip(max=len(values) - 1), best)
        mean = p @ values
        spread = np.sqrt(np.maximum(0.0, p @ values**2 - mean**2))
        whole = np.round(values).astype(np.int64)
        return cls(
            method,
            tuple(items),
            whole[best],
            whole[low],
            whole[high],
            p[np.arange(len(p)), best],
            spread,
            np.asarray(labels, dtype=np.int64),
            mean,
            values,
            p,
            workers or {},
            notes,
        )

    def __len__(self) -> int:
        return len(self.grade)

    def qrels(self) -> Qrels:
        """The grades as qrels."""
        return self._as_qrels(self.grade, self.method)

    def low_qrels(self) -> Qrels:
        """Every doc at the low end of its interval: an all-at-once bound, so wider than 95 % for a mean over docs."""
        return self._as_qrels(self.low, f"{self.method} low")

    def high_qrels(self) -> Qrels:
        """Every doc at the high end of its interval."""
        return self._as_qrels(self.high, f"{self.method} high")

    def draw(self, seed: int | np.random.Generator = 0) -> Qrels:
        """Qrels drawn from the posterior, each doc on its own: score many draws to see the spread of a measure."""
        rng = generator(seed)
        if self.posterior is not None:
            u = rng.random(len(self))[:, None]
            place = (self.posterior.cumsum(axis=1) < u).sum(axis=1).clip(max=len(self.levels) - 1)
            return self._as_qrels(np.round(self.levels[place]).astype(np.int64), f"{self.method} drawn")
        drawn = np.round(self.estimate + self.sd * rng.standard_normal(len(self)))
        clipped = drawn.clip(np.floor(self.levels[0]), np.ceil(self.levels[-1]))
        return self._as_qrels(clipped.astype(np.int64), f"{self.method} drawn")

    def table(self, *, most: int | None = None) -> Table:
        """One row per doc, least certain first where `most` limits them."""
        order = np.argsort(-self.sd, kind="stable")[:most] if most is not None else np.arange(len(self))
        rows = [self._row(i) for i in order.tolist()]
        formats = dict.fromkeys(COLUMNS[:2], "") | {
            "grade": "d", "low": "d", "high": "d", "probability": ".3f", "sd": ".3f", "labels": "d",
        }  # fmt: skip
        which = "" if most is None or most >= len(self) else f", the {most} least certain of {len(self)} docs"
        return Table.of(formats, rows, caption=f"Judgments by {self.method}{which}")

    def _row(self, i: int) -> tuple[object, ...]:
        columns = (self.grade, self.low, self.high, self.probability, self.sd, self.labels)
        return (*self.items[i], *(c[i].item() for c in columns))

    def summary(self) -> Table:
        """One row per grade, or for many grades one row of their mean: docs, and how sure they are on average."""
        levels = np.unique(self.grade)
        named = [(f"{v}", self.grade == v) for v in levels.tolist()] if len(levels) <= 12 else []
        rows = [
            (name, int(m.sum()), m.mean(), _mean(self.probability[m]), self.sd[m].mean())
            for name, m in [*named, ("all", np.ones(len(self), dtype=bool))]
        ]
        formats = {"grade": "", "docs": "d", "share": ".4f", "mean probability": ".3f", "mean sd": ".3f"}
        return Table.of(formats, rows, caption=f"Judgments by {self.method}", notes=self.notes)

    def worker_table(self, *, most: int | None = None) -> Table:
        """What the model says of each worker, or of the first so many; empty for methods without such a model."""
        names = list(next(iter(self.workers.values()), {}))
        rows = [(w, *(facts[n] for n in names)) for w, facts in list(self.workers.items())[:most]]
        which = f", the first {len(rows)} of {len(self.workers)}" if len(rows) < len(self.workers) else ""
        formats = {"worker": ""} | dict.fromkeys(names, ".4f")
        return Table.of(formats, rows, caption=f"Workers by {self.method}{which}", notes=self.notes)

    def _as_qrels(self, grades: Ints, name: str) -> Qrels:
        sizes = Counter(t for t, _ in self.items)
        bounds = np.cumsum([0, *sizes.values()], dtype=np.int64)
        return Qrels(tuple(sizes), bounds, Ids.of(d for _, d in self.items), grades, name=name)


def write_uncertain(path: str | Path, judgments: Uncertain) -> None:
    """The judgments as a table of COLUMNS and, where there is a posterior, p(level) for each level."""
    header = list(COLUMNS)
    rows = [list(judgments._row(i)) for i in range(len(judgments))]
    if judgments.posterior is not None:
        header += [f"p({v:g})" for v in judgments.levels]
        rows = [r + p for r, p in zip(rows, judgments.posterior.tolist(), strict=True)]
    write_sheet(path, header, ([None if v != v else v for v in row] for row in rows))


def read_uncertain(path: str | Path) -> Uncertain:
    """Judgments as `write_uncertain` wrote them; rows of a topic may stand anywhere in the file."""
    sheet = read_sheet(path)
    at = {c: sheet.place(c) for c in COLUMNS}
    first = {t: i for i, t in reversed(list(enumerate(row[at["topic"]] for row in sheet.rows)))}
    order = sorted(range(len(sheet.rows)), key=lambda i: first[sheet.rows[i][at["topic"]]])
    sheet = Sheet(sheet.where, sheet.header, [sheet.rows[i] for i in order], [sheet.lines[i] for i in order])
    number = {c: _column(sheet, at[c]) for c in COLUMNS[2:]}
    grade, low, high = (np.round(number[c]).astype(np.int64) for c in ("grade", "low", "high"))
    wrong = np.flatnonzero((low > grade) | (grade > high))
    if len(wrong):
        what = f"the grade {grade[wrong[0]]} is not between low {low[wrong[0]]} and high {high[wrong[0]]}"
        raise DataError.at(sheet.where, sheet.lines[wrong[0]], what)
    places = [i for i, h in enumerate(sheet.header) if h.startswith("p(")]
    levels = np.array([float(sheet.header[i][2:-1]) for i in places]) if places else np.unique([low, high])
    posterior = np.column_stack([_column(sheet, i) for i in places]) if places else None
    items = tuple((row[at["topic"]], row[at["doc"]]) for row in sheet.rows)
    estimate = posterior @ levels if posterior is not None else grade.astype(np.float64)
    labels = np.round(number["labels"]).astype(np.int64)
    name = Path(path).name
    return Uncertain(
        name, items, grade, low, high, number["probability"], number["sd"], labels, estimate, levels, posterior
    )


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _column(sheet: Sheet, column: int) -> Floats:
    """A column as numbers; only probability and sd may be empty."""
    may = sheet.header[column] in ("probability", "sd")
    cells = [row[column].strip() for row in sheet.rows]
    return np.array([np.nan if may and not c else sheet.finite(i, column) for i, c in enumerate(cells)])
