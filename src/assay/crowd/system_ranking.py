"""Do judgments rank systems as the reference does? The last test of a scale transformation or an aggregation.

Needs runs: they are scored with both sets of judgments, and the two rankings are compared by Kendall's τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.scoring import evaluate


@dataclass(frozen=True, eq=False)
class RankingAgreement:
    """Means of the runs under both sets of judgments, and τ_b of the two rankings."""

    runs: tuple[str, ...]
    ours: Floats
    reference: Floats
    tau: float
    measure: str

    def table(self) -> Table:
        """One row per run, best by the reference first."""
        order = np.argsort(-self.reference, kind="stable").tolist()
        rows = [(self.runs[i], self.reference[i], self.ours[i]) for i in order]
        notes = (f"Kendall τ_b of the two rankings by mean {self.measure}: {self.tau:.4f}; {len(rows)} runs.",)
        return Table.of({"run": "", "reference": ".4f", "ours": ".4f"}, rows, caption=self.measure, notes=notes)


def ranking_agreement(
    runs: Sequence[Run | str | Path], judgments: Qrels, reference: Qrels, *, measure: str = "nDCG"
) -> RankingAgreement:
    """τ_b of the runs' mean scores under two sets of judgments, on the topics that both have."""
    from scipy.stats import kendalltau

    if len(runs) < 2:
        raise DataError(f"{len(runs)} run; a ranking needs two or more")
    shared = [t for t in judgments.topics if t in set(reference.topics)]
    if not shared:
        raise DataError(f"{judgments.name} and {reference.name} share no topic")
    (ours,), (theirs,) = (evaluate(runs, q, [measure]) for q in (judgments, reference))
    a, b = (m.select(topics=shared).means() for m in (ours, theirs))
    varied = np.ptp(a) > 0 and np.ptp(b) > 0
    tau = float(kendalltau(np.round(a, 12), np.round(b, 12)).statistic) if varied else float("nan")
    return RankingAgreement(ours.runs, a, b, tau, measure)
