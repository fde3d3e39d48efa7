"""Are the same topics hard for other runs? The ease of topics in two score tables (Roitero 2020, §6.5.2).

Where the flow stands: two matrices of scores, of other runs or another measure → **ease of the topics they share**.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.scores import ScoreMatrix
from assay.nojudgments.against_truth import correlations
from assay.nojudgments.difficulty import average_ap, geometric_average_ap
from assay.rankings import midranks


@dataclass(frozen=True, eq=False)
class EaseComparison(Result):
    """The ease of each topic in two score tables, and the correlations of the two."""

    names: tuple[str, str]
    topics: tuple[str, ...]
    first: Floats
    second: Floats
    correlations: dict[str, float | None]
    """ρ, τ, r_S, and τ_AP* and RBO*, which weigh the topics that are hard in the first table."""
    statistic: str
    measures: tuple[str, str]
    """The measure of each table; where they are two, the numbers of the tables are not on one scale."""

    def table(self) -> Table:
        """One row per topic, those first whose places differ most; place 1 is the hardest topic."""
        places = [midranks(ease) for ease in (self.first, self.second)]
        farthest_first = np.argsort(-np.abs(places[0] - places[1]), kind="stable")
        rows = []
        for i in farthest_first:
            rows.append((self.topics[i], self.first[i], self.second[i], places[0][i], places[1][i]))
        columns = {"topic": "", "ease 1": ".4f", "ease 2": ".4f", "place 1": ".1f", "place 2": ".1f"}
        said = []
        for name, value in self.correlations.items():
            starred = f"{name}*" if name in ("τ_AP", "RBO") else name
            said.append(f"{starred} {shown(value, '.4f')}")
        caption = f"Ease of {len(self.topics)} topics ({self.statistic}): {self.names[0]} (1) and {self.names[1]} (2)"
        notes = [", ".join(said), "place 1: the hardest topic"]
        if not self.on_one_scale:
            one, other = self.measures
            notes.append(f"ease 1 is of {one}, ease 2 of {other}: compare their places, not their values")
        return Table.of(columns, rows, caption=caption, notes=notes)

    @property
    def on_one_scale(self) -> bool:
        """Whether both tables are of one measure."""
        return self.measures[0] == self.measures[1]


def ease_comparison(
    first: ScoreMatrix, second: ScoreMatrix, *, geometric: bool = False, names: tuple[str, str] | None = None
) -> EaseComparison:
    """The mean over runs of each topic that two score tables share, in both; the runs may be others.

    geometric: the geometric mean, which weighs runs that fail. names: what the tables are called, their measures by
    default.

    >>> a = ScoreMatrix.of([[0.1, 0.3, 0.5], [0.3, 0.5, 0.7]], topics=["1", "2", "3"], measure="AP")
    >>> b = ScoreMatrix.of([[0.9, 0.2, 0.6]], topics=["3", "1", "9"], measure="AP")
    >>> ease_comparison(a, b).topics
    ('1', '3')
    """
    others = set(second.topics)
    shared = [topic for topic in first.topics if topic in others]
    if len(shared) < 2:
        raise DataError(f"the score tables share {len(shared)} topic(s); two or more are needed to compare their ease")
    eases = []
    for matrix in (first, second):
        on_shared = matrix.select(topics=shared)
        if geometric and on_shared.values.min() < 0:
            raise DataError(f"{matrix.measure}: a score is below 0, and has no geometric mean; scale the scores first")
        eases.append(geometric_average_ap(on_shared) if geometric else average_ap(on_shared))
    return EaseComparison(
        names=names or (first.measure, second.measure),
        topics=tuple(shared),
        first=eases[0],
        second=eases[1],
        correlations=correlations(eases[0], eases[1], heavy="bottom"),
        statistic="GAAP" if geometric else "AAP",
        measures=(first.measure, second.measure),
    )
