"""Pictures of agreement: how often two assessors met in each pair of labels, how far they agree by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, cells, names, ranges, tall
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.agreement.kappa import Contingency
    from assay.agreement.result import AgreementResult


@draws("agreement.Contingency")
def contingency(result: Contingency) -> Figure:
    """How often two assessors met in each pair of labels."""
    n = len(result.values)
    i, j = np.divmod(np.arange(n * n), n)
    labels = [f"{v:g}" for v in result.values]
    rows = rows_of(first=[labels[a] for a in i], second=[labels[b] for b in j], count=result.counts.ravel())
    tip = [("first", result.names[0], ""), ("second", result.names[1], ""), ("count", "items", "d")]
    x, y = names("X", "second", result.names[1], labelAngle=0), names("Y", "first", result.names[0])
    made = tall(cells(x, y, "count", "items", tip=tip), 2 * n)
    same = float(np.trace(result.counts) / max(1, result.counts.sum()))
    title = f"Labels of {result.names[0]} and {result.names[1]}"
    return drawn(
        made, name="labels-met", title=title, description=f"{100 * same:.1f} % of the labels are equal.", rows=rows
    )


@draws("agreement.AgreementResult")
def agreement_by_topic(result: AgreementResult, *, measure: str | None = None, most: int = 60) -> Figure:
    """One agreement measure on every topic with its interval, and on all; the least agreement first."""
    name = measure or result.rows[0].measure
    mine = [r for r in result.rows if r.measure == name and r.value is not None]
    whole = next((r for r in mine if r.topic == "all"), None)
    topics = sorted((r for r in mine if r.topic != "all"), key=lambda r: r.value or 0.0)[:most]
    shown = [*([whole] if whole else []), *topics]
    rows = rows_of(
        topic=[r.topic if r.topic != "all" else "all topics" for r in shown], value=[r.value for r in shown],
        low=[r.value if r.low is None else r.low for r in shown],
        high=[r.value if r.high is None else r.high for r in shown], items=[r.items for r in shown],
    )  # fmt: skip
    tip = [
        ("topic", "topic", ""),
        ("value", name, ".3f"),
        ("low", "low", ".3f"),
        ("high", "high", ".3f"),
        ("items", "items", "d"),
    ]
    x = amount("X", "value", in_words(name))
    made = ranges(names("Y", "topic", "topic"), x, "low", "high", tip=tip, color=altair().value(MAIN))
    said = "" if whole is None or whole.value is None else f"In all {whole.value:.3f}"
    said += f"; least on topic {topics[0].topic} ({topics[0].value:.3f})." if topics else "."
    title = f"How far assessors agree, topic by topic: {in_words(name)}"
    return drawn(tall(made, len(rows)), name="agreement", title=title, description=said, rows=rows)


def in_words(measure: str) -> str:
    """An agreement measure as people call it.

    >>> in_words("alpha(level=ordinal)"), in_words("fleiss")
    ("Krippendorff's α (ordinal)", "Fleiss' κ")
    """
    from assay.core.registry import parse_call

    name, given = parse_call(measure)
    kind = ", ".join(str(v) for v in given.values())
    words = {"alpha": "Krippendorff's α", "fleiss": "Fleiss' κ", "kappa": "Cohen's κ", "overlap": "overlap"}
    return words.get(name, name) + (f" ({kind})" if kind else "")
