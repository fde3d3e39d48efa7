"""How far do people and machines agree on what they assigned to answers, and do they order the runs alike?

Where the flow stands: Assignments or CitationSupport of several assessors → ratings and scores → **result**. The items
are nuggets or citations of answers, and an assignment is a label on the scale not < partially < fully supported.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from assay.agreement.ratings import Ratings
from assay.agreement.result import AgreementResult, agreement_of_parts
from assay.agreement.scales import Scale
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.assignments import Assignments, CitationSupport
from assay.data.labels import Labels
from assay.data.scores import ScoreMatrix
from assay.io.assignments import Paths, read_assessed
from assay.rankings import kendall_tau_b, settled
from assay.scoring.assigned_scores import OF_NUGGETS, OF_SUPPORT, evaluate_nuggets, evaluate_support

SCALE = Scale.ordered(("not", "partially", "fully"), name="support")
"""How far an answer has a nugget, or a citation supports a sentence."""
PARTS = ("coefficients", "orders", "topics", "runs")
"""What can be shown."""
Assessed = Assignments | CitationSupport
Label = tuple[str, str, str, float]


@dataclass(frozen=True)
class OrderAgreement:
    """Whether two assessors order the runs alike on the answers that both saw: Kendall's τ-b of the means."""

    first: str
    second: str
    measure: str
    tau: float | None
    runs: tuple[str, ...]
    first_means: tuple[float, ...]
    """The score of each run by the first assessor."""
    second_means: tuple[float, ...]
    topics: int


@dataclass(frozen=True, eq=False)
class AssignmentAgreement(Result):
    """Agreement on single assignments, in all, by topic and by run, and agreement on the order of runs."""

    by_topic: AgreementResult
    orders: tuple[OrderAgreement, ...]
    by_run: AgreementResult | None = None

    def value(self, coefficient: str, *, topic: str | None = None, run: str | None = None) -> float | None:
        """One coefficient of agreement: in all, or on one topic or run."""
        if run is None:
            return self.by_topic.value(coefficient, topic)
        if self.by_run is None:
            raise UsageError(f"agreement on run {run!r} was not asked for; give per_run=True")
        return self.by_run.value(coefficient, run)

    def tau(self, measure: str) -> float | None:
        """τ between the orders of the runs by the first two assessors."""
        for row in self.orders:
            if row.measure == measure:
                return row.tau
        raise UsageError(f"no orders by {measure!r}{did_you_mean(measure, [row.measure for row in self.orders])}")

    def table(self) -> Table:
        """Each coefficient in all."""
        return self.by_topic.table()

    def order_table(self) -> Table:
        """Each measure and pair of assessors: τ of the order of the runs, and the mean of all runs by each."""
        formats = {
            "measure": "", "first": "", "second": "", "τ": ".4f", "first mean": ".4f", "second mean": ".4f",
            "runs": "d", "topics": "d",
        }  # fmt: skip
        rows = []
        for row in self.orders:
            means = [float(np.mean(of_runs)) if of_runs else None for of_runs in (row.first_means, row.second_means)]
            rows.append((row.measure, row.first, row.second, row.tau, *means, len(row.runs), row.topics))
        notes = ["τ-b of the mean scores of the runs, on the topics that both assessed"]
        if any(row.tau is None for row in self.orders):
            notes.append("–: undefined, fewer than two runs or all means equal")
        return Table.of(formats, rows, caption="Agreement on the order of the runs", notes=notes)

    def parts(self) -> dict[str, Table]:
        """The tables by the names of PARTS; topics and runs where they were asked for."""
        parts = {"coefficients": self.table(), "orders": self.order_table()}
        by_topic = self.by_topic.topic_table()
        if by_topic.rows:
            parts["topics"] = by_topic
        if self.by_run is not None:
            by_run = self.by_run.topic_table()
            columns = ("measure", "run", *by_run.columns[2:])
            keys = ("measure", "run", *by_run.keys[2:])
            parts["runs"] = replace(by_run, columns=columns, keys=keys, caption="Agreement per run")
        return parts

    def tables(self) -> list[Table]:
        """All tables, the coefficients first."""
        return list(self.parts().values())


def assignment_agreement(
    source: Assessed | Paths,
    measures: Sequence[str] | None = None,
    *,
    coefficients: Sequence[str] | None = None,
    per_topic: bool = False,
    per_run: bool = False,
    level: float = 0.95,
    progress: Progress = silent,
) -> AssignmentAgreement:
    """How far assessors agree on assignments of nuggets or support of citations, and on the order of the runs.

    source: Assignments or CitationSupport of two assessors or more, e.g. people and a machine; or files, each of one
    assessor who is named as the file is, or one file with a column assessor. measures: those by which runs are ordered;
    coefficients: names of AGREEMENTS, by default α, Fleiss' κ and Cohen's κ, unweighted and quadratic. Intervals
    take topics as units (5 at least), in all and on a run; on one topic there are none, as its items come by answers.

    >>> rows = [("1", "mine", "in Peru", "vital", "support"), ("1", "mine", "high", "okay", "not_support")]
    >>> both = [(*row, assessor) for row in rows for assessor in ("anna", "gpt")]
    >>> found = assignment_agreement(Assignments.from_rows(both), coefficients=["kappa"])
    >>> found.value("kappa")
    1.0
    """
    assessed = source if isinstance(source, Assignments | CitationSupport) else read_assessed(source)
    if len(assessed.assessors) < 2:
        raise DataError(f"{assessed.name}: one assessor alone; agreement needs assignments of two or more")
    names = [name or "(not named)" for name in assessed.assessors]
    by_run = _labels(assessed, names)
    ratings = _rated(assessed.name, itertools.chain.from_iterable(by_run.values()))
    topics = [(topic, ratings.of_topic(i)) for i, topic in enumerate(ratings.topics)] if per_topic else []
    runs = [(run, _rated(assessed.name, rows)) for run, rows in by_run.items()] if per_run else []
    found = partial(agreement_of_parts, ratings, measures=coefficients or None, level=level, by_docs=False)
    of_topics = found(topics, progress=progress)
    of_runs = found(runs, progress=progress) if per_run else None
    wanted = measures or (OF_NUGGETS if isinstance(assessed, Assignments) else OF_SUPPORT)
    orders = _orders(assessed, names, wanted)
    return AssignmentAgreement(of_topics, tuple(orders), of_runs)


def _labels(assessed: Assessed, names: Sequence[str]) -> dict[str, list[Label]]:
    """Assignments as labels of nuggets or citations, by run."""
    cites = np.ones(len(assessed), dtype=bool) if isinstance(assessed, Assignments) else assessed.cites
    by_run: dict[str, list[Label]] = {}
    items = assessed.items()
    for i in np.flatnonzero(cites).tolist():
        run = assessed.runs[assessed.run[i]]
        grade = 2 * float(assessed.credit[i])
        label = (assessed.topics[assessed.topic[i]], f"{run} {items[i]}", names[assessed.assessor[i]], grade)
        by_run.setdefault(run, []).append(label)
    return by_run


def _rated(name: str, labels: Iterable[Label]) -> Ratings:
    return Ratings.of_labels(Labels.from_rows(list(labels), name=name), scale=SCALE)


def _orders(assessed: Assessed, names: Sequence[str], measures: Sequence[str]) -> list[OrderAgreement]:
    """τ of every pair of assessors by every measure."""
    _, first_row = np.unique(assessed.assessor, return_index=True)
    as_they_come = np.argsort(first_row).tolist()
    by_assessor = {i: _matrices(assessed, assessed.assessors[i], measures) for i in as_they_come}
    found = []
    for i, j in itertools.combinations(as_they_come, 2):
        for one, other in zip(by_assessor[i], by_assessor[j], strict=True):
            found.append(_order(names[i], names[j], one, other))
    return found


def _matrices(assessed: Assessed, assessor: str, measures: Sequence[str]) -> Sequence[ScoreMatrix]:
    if isinstance(assessed, Assignments):
        return evaluate_nuggets(assessed, measures, assessor=assessor).scores.matrices
    return evaluate_support(assessed, measures, assessor=assessor).scores.matrices


def _order(first: str, second: str, one: ScoreMatrix, other: ScoreMatrix) -> OrderAgreement:
    """Two assessors on the runs and topics that both assessed."""
    runs = [run for run in one.runs if run in other.runs]
    topics = [topic for topic in one.topics if topic in other.topics]
    if not runs or not topics:
        return OrderAgreement(first, second, one.measure, None, (), (), (), len(topics))
    means = [settled(matrix.select(runs=runs, topics=topics).averages()) for matrix in (one, other)]
    try:
        tau: float | None = float(kendall_tau_b(means[0], means[1]))
    except DataError:
        tau = None
    first_means = tuple(means[0].tolist())
    second_means = tuple(means[1].tolist())
    return OrderAgreement(first, second, one.measure, tau, tuple(runs), first_means, second_means, len(topics))
