"""Did the runs do better on one topic set than on another? Every run that both have, unpaired, with one correction.

Stands after two ScoreMatrices: runs of the same name on different topics → one TopicSets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.multiple import corrected, family_in_words
from assay.stats.resampling import checked_share
from assay.stats.two_runs import Comparison, comparisons_table
from assay.stats.two_sample import compare_topic_sets


@dataclass(frozen=True, eq=False)
class TopicSets:
    """Runs on two topic sets, first − second, in the order of the first; `p` is corrected over all of them."""

    measure: str
    signature: str
    comparisons: tuple[Comparison, ...]
    p: Floats
    correction: str
    alpha: float

    def table(self) -> Table:
        """One row per run."""
        notes = [family_in_words(self.correction, len(self.p), self.alpha)]
        notes.append("the topic sets may differ in difficulty: a difference need not be one of the runs")
        notes += [] if self.signature == self.measure else [self.signature]
        caption = f"{self.measure} on two topic sets"
        shown = None if self.correction == "none" else self.p.tolist()
        return comparisons_table(self.comparisons, corrected=shown, caption=caption, notes=notes)


def on_topic_sets(
    first: ScoreMatrix,
    second: ScoreMatrix,
    test: str = "welch",
    *,
    correction: str = "holm",
    alpha: float = 0.05,
    **how: Any,
) -> TopicSets:
    """Every run of the first matrix against the run of the same name in the second, by one of TWO_SAMPLE_TESTS.

    A single run on each side is compared whatever its name. `how` (alternative, interval, resamples, seed) is that of
    compare_topic_sets; intervals have level 1 − alpha.

    >>> old = ScoreMatrix.of([[0.2, 0.3, 0.4]], runs=["bm25"], topics=["1", "2", "3"])
    >>> new = ScoreMatrix.of([[0.1, 0.2, 0.3]], runs=["bm25"], topics=["4", "5", "6"])
    >>> round(float(on_topic_sets(old, new, "student").p[0]), 4)
    0.2879
    """
    level = 1 - checked_share(alpha, "alpha")
    found = tuple(
        compare_topic_sets(first.of_run(a), second.of_run(b), test, names=(a, b), level=level, **how)
        for a, b in _same_runs(first, second)
    )
    p = corrected([c.p for c in found], correction)
    return TopicSets(first.measure, first.signature, found, p, correction, alpha)


def _same_runs(first: ScoreMatrix, second: ScoreMatrix) -> list[tuple[str, str]]:
    there = set(second.runs)
    pairs = [(run, run) for run in first.runs if run in there]
    if not pairs and len(first.runs) == len(second.runs) == 1:
        return [(first.runs[0], second.runs[0])]
    if not pairs:
        raise UsageError("no run is on both topic sets; name the runs alike, or give one run on each side")
    return pairs
