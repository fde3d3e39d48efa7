"""Do judgments rank systems as the reference does? The last test of a scale transformation or an aggregation.

Needs runs: they are scored with both sets of judgments, and the two rankings are compared by Kendall's τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.averages import average_title
from assay.measures import parse
from assay.rankings import kendall_tau_b, settled
from assay.scoring import evaluate


@dataclass(frozen=True, eq=False)
class RankingAgreement(Result):
    """Means of the runs under both sets of judgments, and τ_b of the two rankings."""

    runs: tuple[str, ...]
    ours: Floats
    reference: Floats
    tau: float
    """NaN where one of the two gives all runs the same mean."""
    measure: str

    def table(self) -> Table:
        """One row per run, best by the reference first."""
        best_first = np.argsort(-self.reference, kind="stable").tolist()
        rows = []
        for run in best_first:
            row = (self.runs[run], self.reference[run], self.ours[run])
            rows.append(row)
        average = average_title(self.measure, parse(self.measure).aggregate)
        note = f"Kendall τ_b of the two rankings by {average}: {self.tau:.4f}; {len(rows)} runs."
        formats = {"run": "", "reference": ".4f", "ours": ".4f"}
        return Table.of(formats, rows, caption=self.measure, notes=(note,))

    def record(self) -> dict[str, Any]:
        """The table, and τ."""
        tau = None if np.isnan(self.tau) else self.tau
        return {"tau": tau, "measure": self.measure, **super().record()}


def ranking_agreement(
    runs: Sequence[Run | str | Path], judgments: Qrels, reference: Qrels, *, measure: str = "nDCG"
) -> RankingAgreement:
    """τ_b of the runs' mean scores under two sets of judgments, on the topics that both have."""
    if len(runs) < 2:
        raise DataError(f"{len(runs)} run; a ranking needs two or more")
    known = set(reference.topics)
    shared = [topic for topic in judgments.topics if topic in known]
    if not shared:
        raise DataError(f"{judgments.name} and {reference.name} share no topic")
    ours = evaluate(runs, judgments, [measure])[0]
    theirs = evaluate(runs, reference, [measure])[0]
    our_means = ours.select(topics=shared).averages()
    their_means = theirs.select(topics=shared).averages()
    try:
        tau = kendall_tau_b(settled(our_means), settled(their_means))
    except DataError:
        tau = float("nan")
    return RankingAgreement(ours.runs, our_means, their_means, tau, measure)
