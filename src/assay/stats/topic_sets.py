"""Did the runs do better on one topic set than on another? Every run that both have, unpaired, with one correction.

Stands after two ScoreMatrices: runs of the same name on different topics → one TopicSets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix, same_scores
from assay.data.tested_means import needs_means
from assay.stats.limits import assumed_scores
from assay.stats.multiple import corrected, family_in_words
from assay.stats.resampling import RESAMPLES, checked_share
from assay.stats.two_runs import Comparison, comparisons_table
from assay.stats.two_sample import compare_topic_sets


@dataclass(frozen=True, eq=False)
class TopicSets(Result):
    """Runs on two topic sets, first − second, in the order of the first; `p` is corrected over all of them."""

    unit = "topic"
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
        return comparisons_table(self.comparisons, corrected=self.p.tolist(), caption=caption, notes=notes)

    def record(self) -> dict[str, Any]:
        """What was tested and how it was corrected, and the rows; of a single run also the verdict."""
        settings: dict[str, Any] = {"measure": self.measure, "signature": self.signature}
        settings |= {"correction": self.correction, "alpha": self.alpha}
        if len(self.comparisons) == 1:
            settings["verdict"] = self.comparisons[0].verdict
        return settings | super().record()


def compare_sets(
    first: ScoreMatrix,
    second: ScoreMatrix,
    test: str = "welch",
    *,
    correction: str = "holm",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    interval: str = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
    measure: str | None = None,
) -> TopicSets:
    """Every run of the first matrix against the run of the same name in the second, by one of TWO_SAMPLE_TESTS.

    A single run on each side is compared whatever its name. Intervals have level 1 − alpha. Scores of two measures, or
    of one under two policies, are an error, unless `measure` says what both are.
    If the scores of a run are too alike for a t interval, bounds of both means within the measure's range decide.

    >>> old = ScoreMatrix.of([[0.2, 0.3, 0.4]], runs=["bm25"], topics=["1", "2", "3"])
    >>> new = ScoreMatrix.of([[0.1, 0.2, 0.3]], runs=["bm25"], topics=["4", "5", "6"])
    >>> round(float(compare_sets(old, new, "student").p[0]), 4)
    0.2879
    """
    level = 1 - checked_share(alpha, "alpha")
    same_scores(first, second, force=measure)
    if measure is None:
        needs_means(first, "a comparison of topic sets")
    limits = assumed_scores(first) if assumed_scores(first) == assumed_scores(second) else None
    comparisons = []
    for a, b in _same_runs(first, second):
        comparison = compare_topic_sets(
            first.of_run(a),
            second.of_run(b),
            test,
            names=(a, b),
            alternative=alternative,
            interval=interval,
            level=level,
            limits=limits,
            resamples=resamples,
            seed=seed,
        )
        comparisons.append(comparison)
    corrected_p = corrected([c.p for c in comparisons], correction)
    named = first if measure is None else first.renamed(measure)
    return TopicSets(named.measure, named.signature, tuple(comparisons), corrected_p, correction, alpha)


def same_measures(
    first: Sequence[ScoreMatrix], second: Sequence[ScoreMatrix], *, force: str | None = None
) -> list[tuple[ScoreMatrix, ScoreMatrix]]:
    """The matrices of two topic sets by measure; a single one on each side go together, to be checked by compare_sets.

    >>> ap, rr = (ScoreMatrix.of([[0.1]], measure=m) for m in ("AP", "RR"))
    >>> same_measures([rr], [ap, rr])
    [(ScoreMatrix('RR', 1 run × 1 topic), ScoreMatrix('RR', 1 run × 1 topic))]
    """
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    if force is not None:
        raise UsageError(f"{force} cannot be the measure of several; choose one on each side with -m")
    pairs = []
    for matrix in first:
        other = next((m for m in second if canonical(m.measure) == canonical(matrix.measure)), None)
        if other is None:
            known = ", ".join(m.measure for m in second)
            raise UsageError(f"no scores of {matrix.measure} on the second topic set; it has: {known}")
        pairs.append((matrix, other))
    return pairs


def _same_runs(first: ScoreMatrix, second: ScoreMatrix) -> list[tuple[str, str]]:
    there = set(second.runs)
    pairs = [(run, run) for run in first.runs if run in there]
    if not pairs and len(first.runs) == len(second.runs) == 1:
        return [(first.runs[0], second.runs[0])]
    if not pairs:
        raise UsageError("no run is on both topic sets; name the runs alike, or give one run on each side")
    return pairs
