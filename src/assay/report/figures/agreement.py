"""Pictures of agreement: how often two assessors met in each pair of labels, how far they agree by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, cells, diagonal, names, ranges, scatter, tall
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.agreement.assigned_agreement import AssignmentAgreement
    from assay.agreement.kappa import Contingency
    from assay.agreement.result import AgreementResult


@draws("agreement.Contingency")
def contingency(result: Contingency) -> Figure:
    """How often two assessors met in each pair of labels."""
    one, other = result.names
    labels = [f"{value:g}" for value in result.values]
    rows = []
    for label, counts in zip(labels, result.counts, strict=True):
        rows += rows_of(first=[label] * len(labels), second=labels, count=counts)
    tip = [("first", one, ""), ("second", other, ""), ("count", "items", "d")]
    x = names("X", "second", other, labelAngle=0)
    y = names("Y", "first", one)
    made = tall(cells(x, y, "count", "items", tip=tip), 2 * len(labels))
    same = float(np.trace(result.counts) / max(1, result.counts.sum()))
    title = f"Labels of {one} and {other}"
    said = f"{100 * same:.1f} % of the labels are equal."
    return drawn(made, name="labels-met", title=title, description=said, rows=rows)


@draws("agreement.AgreementResult")
def agreement_by_topic(result: AgreementResult, *, measure: str | None = None, most: int = 60) -> Figure:
    """One agreement measure on every topic with its interval, and on all; the least agreement first."""
    name = measure or result.rows[0].measure
    defined = [row for row in result.rows if row.measure == name and row.value is not None]
    whole = [row for row in defined if row.topic == result.whole]
    topics = [row for row in defined if row.topic != result.whole]
    topics.sort(key=lambda row: row.value or 0.0)
    del topics[most:]
    rows = []
    for row in [*whole, *topics]:
        rows += rows_of(
            topic=["all topics" if row.topic == result.whole else row.topic],
            value=[row.value],
            low=[row.value if row.low is None else row.low],
            high=[row.value if row.high is None else row.high],
            items=[row.items],
        )
    tip = [
        ("topic", "topic", ""),
        ("value", name, ".3f"),
        ("low", "low", ".3f"),
        ("high", "high", ".3f"),
        ("items", "items", "d"),
    ]
    x = amount("X", "value", in_words(name))
    made = ranges(names("Y", "topic", "topic"), x, "low", "high", tip=tip, color=altair().value(MAIN))
    said = f"In all {whole[0].value:.3f}" if whole else ""
    said += f"; least on topic {topics[0].topic} ({topics[0].value:.3f})." if topics else "."
    title = f"How far assessors agree, topic by topic: {in_words(name)}"
    return drawn(tall(made, len(rows)), name="agreement", title=title, description=said, rows=rows)


@draws("agreement.AssignmentAgreement")
def run_orders(result: AssignmentAgreement, *, measure: str | None = None) -> Figure:
    """The score of every run by two assessors, one along each axis; on the diagonal both score alike."""
    chosen = [row for row in result.orders if measure in (None, row.measure)]
    order = chosen[0]
    ends = [*order.first_means, *order.second_means]
    line, at = diagonal(min(ends, default=0.0), max(ends, default=1.0))
    tip = [("run", "run", ""), ("first", order.first, ".4f"), ("second", order.second, ".4f")]
    x = amount("X", "first", f"{order.measure} by {order.first}")
    y = amount("Y", "second", f"{order.measure} by {order.second}")
    tau = "τ is not defined" if order.tau is None else f"τ = {order.tau:.3f}"
    return drawn(
        line + scatter(x, y, tip=tip),
        name="run-orders",
        title=f"{order.measure} of {len(order.runs)} runs by {order.first} and by {order.second}: {tau}",
        description=f"{len(order.runs)} runs on {order.topics} topics that both assessed; {tau}.",
        rows=rows_of(run=order.runs, first=order.first_means, second=order.second_means),
        diagonal=at,
    )


def in_words(measure: str) -> str:
    """An agreement measure as people call it.

    >>> in_words("alpha(level=ordinal)"), in_words("fleiss")
    ("Krippendorff's α (ordinal)", "Fleiss' κ")
    """
    from assay.core.registry import parse_call

    words = {"alpha": "Krippendorff's α", "fleiss": "Fleiss' κ", "kappa": "Cohen's κ", "overlap": "overlap"}
    name, given = parse_call(measure)
    known_as = words.get(name, name)
    if not given:
        return known_as
    kind = ", ".join(str(value) for value in given.values())
    return f"{known_as} ({kind})"
