"""Uncertain: judgments made from many labels, and how sure each of them is.

Every aggregation ends here: a grade per doc with an interval, an sd or a posterior over the levels. Low, high and drawn
qrels carry that uncertainty on to any measure: score each of them and look at how far the scores spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import generator
from assay.core.errors import DataError
from assay.core.ids import Ids
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.grade_scales import GradeScale

PARTS = ("summary", "docs", "workers", "reference", "calibration", "reliability")
"""The tables of aggregated judgments, by name."""
COLUMNS = ("topic", "doc", "grade", "low", "high", "probability", "sd", "labels", "basis")
GIVEN = ("level", "expected")
"""The grade that a model of levels gives a doc: its most probable level, or the expected one, a fraction."""
OWN_LABELS = "labels"
RAW = "raw"
"""The calibration of probabilities as a method made them."""
POOLED = "pooled"
NOTHING = "nothing"
VOTES = "votes"
AT_EDGE = "edge"
BASES = {
    OWN_LABELS: "their own labels, and what is known of their workers",
    POOLED: "the docs with several labels, since they have one",
    NOTHING: "nothing: no doc has two labels, so all of the scale is possible",
    VOTES: "votes of equally good workers, since the model has collapsed",
    AT_EDGE: "workers without a single miss, taken as a little worse than that",
}
"""What the uncertainty of a doc can rest on."""
LEVEL = 0.95
FEW_GRADES = 12
"""Up to this many different grades are listed one by one."""


@dataclass(frozen=True, eq=False)
class Uncertain(Result):
    """One row per doc, grouped by topic: the grade, an interval of grades that holds it with 95 %, and its spread.

    Grades of methods that estimate a number are that number, fractions and all. probability is that of the grade (NaN
    where a method has none), sd is on the scale of the grades. posterior: docs × levels; None for methods that estimate
    a number. workers: what a model says of each worker. warnings: what a person must know before using the grades.
    basis: what the uncertainty of each doc rests on (a name of BASES); empty where all rest on labels. calibration: how
    the posterior was calibrated on gold docs, or raw.

    >>> u = Uncertain.of_posterior("demo", [("1", "a"), ("1", "b")], [[.9, .1], [.2, .8]], levels=[0, 1], labels=[5, 5])
    >>> u.grade.tolist(), u.low.tolist(), u.high.tolist()
    ([0.0, 1.0], [0.0, 0.0], [1.0, 1.0])
    """

    unit = "doc"

    method: str
    items: tuple[tuple[str, str], ...]
    grade: Floats
    low: Floats
    high: Floats
    probability: Floats
    sd: Floats
    labels: Ints
    estimate: Floats
    levels: Floats
    posterior: Floats | None = None
    workers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    basis: tuple[str, ...] = ()
    calibration: str = RAW

    def __post_init__(self) -> None:
        """An error where the labels were so large that a number of theirs cannot be written."""
        if not self.basis:
            object.__setattr__(self, "basis", (OWN_LABELS,) * len(self.grade))
        for values in (self.grade, self.low, self.high, self.sd):
            if not np.isfinite(values).all():
                raise DataError(f"{self.method}: labels are too large or too far apart to be added up; rescale them")

    @classmethod
    def of_posterior(
        cls,
        method: str,
        items: Iterable[tuple[str, str]],
        posterior: npt.ArrayLike,
        *,
        levels: npt.ArrayLike,
        labels: npt.ArrayLike,
        best: Ints | None = None,
        workers: Mapping[str, Mapping[str, float]] | None = None,
        notes: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
        basis: tuple[str, ...] = (),
    ) -> Uncertain:
        """From the posterior over the levels: the grade is the most probable level (the lower of equal ones).

        The interval runs from the level where the cumulated posterior reaches 2.5 % to the one where it reaches 97.5 %.
        best: the place of each doc's grade among the levels, where it is another than the most probable.
        """
        p = np.asarray(posterior, dtype=np.float64)
        values = np.asarray(levels, dtype=np.float64)
        chosen = np.argmax(p, axis=1) if best is None else best
        cumulated = p.cumsum(axis=1)
        tail = (1 - LEVEL) / 2
        below = (cumulated < tail - 1e-12).sum(axis=1)
        above = (cumulated < 1 - tail - 1e-12).sum(axis=1).clip(max=len(values) - 1)
        mean = p @ values
        variance = p @ values**2 - mean**2
        return cls(
            method=method,
            items=tuple(items),
            grade=values[chosen],
            low=values[np.minimum(below, chosen)],
            high=values[np.maximum(above, chosen)],
            probability=p[np.arange(len(p)), chosen],
            sd=np.sqrt(np.maximum(0.0, variance)),
            labels=np.asarray(labels, dtype=np.int64),
            estimate=mean,
            levels=values,
            posterior=p,
            workers=workers or {},
            notes=notes,
            warnings=warnings,
            basis=basis,
        )

    def __len__(self) -> int:
        return len(self.grade)

    def qrels(self) -> Qrels:
        """The grades as qrels; fractions stay fractions."""
        return self._as_qrels(self.grade, self.method)

    def giving(self, what: str) -> Uncertain:
        """The judgments with one of GIVEN as the grade of each doc."""
        return self.expected() if one_of("grade of a doc", what, GIVEN) == "expected" else self

    def expected(self) -> Uncertain:
        """The same judgments with the expected grade Σ p(level)·level, a fraction, instead of the most probable level.

        Numbers are their own expectation. The interval and the sd stay; a fraction has no probability.

        >>> u = Uncertain.of_posterior("demo", [("1", "a")], [[0.25, 0.75]], levels=[0, 1], labels=[4])
        >>> u.expected().qrels().to_dict()
        {'1': {'a': 0.75}}
        """
        if self.posterior is None:
            return self
        grade = np.round(self.estimate, 9)
        return replace(
            self,
            method=f"{self.method}, expected grade",
            grade=grade,
            low=np.minimum(self.low, grade),
            high=np.maximum(self.high, grade),
            probability=np.full(len(self), np.nan),
        )

    def with_posterior(self, posterior: Floats, calibration: str) -> Uncertain:
        """The same judgments with a calibrated posterior, and the grades and intervals that follow from it."""
        made = Uncertain.of_posterior(
            self.method, self.items, posterior, levels=self.levels, labels=self.labels, workers=self.workers,
            notes=self.notes, warnings=self.warnings, basis=self.basis,
        )  # fmt: skip
        return replace(made, calibration=calibration)

    def probabilities_note(self) -> str:
        """Whether the probabilities are raw, or how they were calibrated; of numbers that they have none."""
        if self.posterior is None:
            return "no probabilities: numbers with their sd"
        if self.calibration == RAW:
            return "probabilities: raw, as the method made them"
        return f"probabilities: calibrated by {self.calibration} on gold docs, each topic from others"

    def low_qrels(self) -> Qrels:
        """Every doc at the low end of its interval: an all-at-once bound, so wider than 95 % for a mean over docs."""
        return self._as_qrels(self.low, f"{self.method} low")

    def high_qrels(self) -> Qrels:
        """Every doc at the high end of its interval."""
        return self._as_qrels(self.high, f"{self.method} high")

    def draw(self, seed: int | np.random.Generator = 0) -> Qrels:
        """Qrels drawn from the posterior, each doc on its own: score many draws to see the spread of a measure."""
        name = f"{self.method} drawn"
        rng = generator(seed)
        if self.posterior is None:
            drawn = self.estimate + self.sd * rng.standard_normal(len(self))
            inside = drawn.clip(self.levels[0], self.levels[-1])
            return self._as_qrels(inside, name)
        share = rng.random(len(self))[:, None]
        place = (self.posterior.cumsum(axis=1) < share).sum(axis=1)
        # The shares of a doc may sum to a little less than 1, and a draw lie above them all.
        last = len(self.levels) - 1
        return self._as_qrels(self.levels[place.clip(max=last)], name)

    def table(self, *, most: int | None = None) -> Table:
        """One row per doc, least certain first where `most` limits them."""
        order = np.arange(len(self))
        which = ""
        if most is not None:
            order = np.argsort(-self.sd, kind="stable")[:most]
        if most is not None and most < len(self):
            which = f", the {most} least certain of {len(self)} docs"
        rows = [self.row(i) for i in order.tolist()]
        whole = all(_is_whole(values) for values in (self.grade, self.low, self.high))
        grade = "d" if whole else ".3f"
        formats = {
            "topic": "", "doc": "", "grade": grade, "low": grade, "high": grade, "probability": ".3f", "sd": ".3f",
            "labels": "d", "basis": "",
        }  # fmt: skip
        return Table.of(formats, rows, caption=f"Judgments by {self.method}{which}")

    def basis_notes(self) -> tuple[str, ...]:
        """A sentence for each basis other than a doc's own labels: how many docs, and what it is."""
        docs_of = Counter(self.basis)
        notes = []
        for name, what in BASES.items():
            if name != OWN_LABELS and docs_of[name]:
                notes.append(f"Uncertainty of {docs_of[name]} of {len(self)} docs rests on {what}.")
        return tuple(notes)

    def tables(self) -> list[Table]:
        """The summary, every doc, and the workers where the method says something of them."""
        workers = [self.worker_table()] if self.workers else []
        return [self.summary(), self.table(), *workers]

    def parts(
        self,
        *,
        most: int | None = None,
        workers: int | None = None,
        reference: Result | None = None,
        calibration: Result | None = None,
    ) -> dict[str, Table]:
        """The tables by the names of PARTS: at most `most` docs and `workers` workers, with 0 none of them.

        reference: how far these judgments agree with others. calibration: how far their probabilities hold.
        """
        parts = {"summary": self.summary()}
        if most != 0:
            parts["docs"] = self.table(most=most)
        if workers != 0 and self.workers:
            parts["workers"] = self.worker_table(most=workers)
        if reference is not None:
            parts["reference"] = reference.table()
        if calibration is not None:
            parts["calibration"], parts["reliability"] = calibration.tables()
        return parts

    def row(self, i: int) -> tuple[Any, ...]:
        """One doc, in the order of COLUMNS; whole grades as whole numbers."""
        grades = (_tidy(float(v[i])) for v in (self.grade, self.low, self.high))
        rest = (self.probability[i].item(), self.sd[i].item(), self.labels[i].item(), self.basis[i])
        return (*self.items[i], *grades, *rest)

    def summary(self) -> Table:
        """One row per grade, or for many grades one row of their mean: docs, and how sure they are on average."""
        groups: list[tuple[str, Bools]] = []
        grades = np.unique(self.grade)
        if len(grades) <= FEW_GRADES:
            groups = [(f"{grade:g}", self.grade == grade) for grade in grades.tolist()]
        groups.append(("all", np.ones(len(self), dtype=bool)))
        rows = []
        for name, docs in groups:
            probability = _mean(self.probability[docs])
            rows.append((name, int(docs.sum()), docs.mean(), probability, self.sd[docs].mean()))
        formats = {"grade": "", "docs": "d", "share": ".4f", "mean probability": ".3f", "mean sd": ".3f"}
        notes = (*self.notes, *self.warnings)
        return Table.of(formats, rows, caption=f"Judgments by {self.method}", notes=notes)

    def worker_table(self, *, most: int | None = None) -> Table:
        """What the model says of each worker, or of the first `most`; empty for methods without such a model."""
        first_worker = next(iter(self.workers.values()), {})
        names = list(first_worker)
        rows = []
        for worker, facts in list(self.workers.items())[:most]:
            values = [facts[name] for name in names]
            rows.append((worker, *values))
        which = ""
        if len(rows) < len(self.workers):
            which = f", the first {len(rows)} of {len(self.workers)}"
        formats = {"worker": "", **dict.fromkeys(names, ".4f")}
        # Cells of a confusion matrix, "1|0", keep their names for programs.
        keys = {name: name for name in names}
        return Table.of(formats, rows, caption=f"Workers by {self.method}{which}", notes=self.notes, keys=keys)

    @property
    def scale(self) -> GradeScale:
        """The scale of the grades, and that they are made of how many labels a doc."""
        levels = 0 if self.posterior is None else len(self.levels)
        origin = f"{self.method} of {np.median(self.labels):g} labels" if len(self) else self.method
        return GradeScale(float(self.levels[0]), float(self.levels[-1]), levels, origin)

    def _as_qrels(self, grades: Floats, name: str) -> Qrels:
        topics = [topic for topic, _ in self.items]
        docs = [doc for _, doc in self.items]
        docs_of_topic = Counter(topics)
        ends = np.cumsum(list(docs_of_topic.values()), dtype=np.int64)
        bounds = np.concatenate([[0], ends])
        return Qrels(tuple(docs_of_topic), bounds, Ids.of(docs), grades, name=name, scale=self.scale)


def _is_whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def _tidy(value: float) -> int | float:
    """A whole number without its point."""
    return int(value) if value.is_integer() else value


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
