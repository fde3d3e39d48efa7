"""PublishedScore: one score that a paper reports, with where it stands and what it is about."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.core.errors import DataError

KINDS = ("baseline", "improved", "run")
"""What a published score is: what a paper starts from, what it ends with, or a run of the original track."""


@dataclass(frozen=True)
class PublishedScore:
    """A mean score of a paper on a collection, or of a run of the original track.

    >>> PublishedScore("baseline", 0.21, paper="Smith 2004", year=2004, collection="TREC-8").kind
    'baseline'
    """

    kind: str
    score: float
    paper: str = ""
    venue: str = ""
    year: float | None = None
    collection: str = ""
    query_type: str = ""
    measure: str = "AP"
    significant: bool | None = None
    """Whether the paper claims significance; None where it does not say."""
    excluded: str = ""
    """Why the score is left out of every count, e.g. `trained on the test topics`; empty where it counts."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(f"kind is {self.kind!r}; write baseline, improved, or run for a run of the original track")
        if not math.isfinite(self.score):
            raise DataError(f"{self.kind} score is {self.score}; a finite number is needed")
        if self.kind != "run" and (self.year is None or not math.isfinite(self.year)):
            raise DataError(f"{self.kind} score {self.score:g} has no year; give the year of publication")

    @property
    def experiment(self) -> tuple[str, str, str, str]:
        """What pairs a baseline with an improved score: paper, collection, query type and measure."""
        return self.paper, self.collection, self.query_type, self.measure
