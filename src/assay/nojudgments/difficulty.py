"""Which topics are hard? Predicted without judgments from the means over runs of a predicted matrix.

AAP is the mean over runs of a topic's scores, GAAP the geometric mean, which weighs hard topics more. Where the flow
stands: predicted scores (+ true scores) → **topic difficulty**. Roitero 2020, §6.5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.scores import ScoreMatrix
from assay.nojudgments.against_truth import correlations, matched
from assay.nojudgments.predictors import scaled
from assay.stats.two_sample import welch_test

ORDERS = ("predicted", "true")
"""What quarters of topics may be made of."""


def average_ap(matrix: ScoreMatrix) -> Floats:
    """AAP: the mean over runs, one per topic; low means hard.

    >>> average_ap(ScoreMatrix.of([[0.2, 0.4], [0.4, 0.8]])).round(4).tolist()
    [0.3, 0.6]
    """
    return np.asarray(matrix.values.mean(axis=0))


def geometric_average_ap(matrix: ScoreMatrix, *, floor: float = 1e-5) -> Floats:
    """GAAP: exp(mean(log(max(score, floor)))) over runs, one per topic.

    >>> geometric_average_ap(ScoreMatrix.of([[0.2, 0.4], [0.8, 0.9]])).round(4).tolist()
    [0.4, 0.6]
    """
    logs = np.log(np.maximum(matrix.values, floor))
    return np.asarray(np.exp(logs.mean(axis=0)))


@dataclass(frozen=True, eq=False)
class Difficulty(Result):
    """Predicted and true ease of topics, their correlations, and the true ease by quarter of predicted ease."""

    unit = "topic"

    method: str
    topics: tuple[str, ...]
    predicted: Floats
    true: Floats
    correlations: dict[str, float | None]
    """ρ, τ, r_S, and τ_AP* and RBO*, which weigh the hard topics."""
    quarter: Floats
    """0 for the quarter of topics that are hardest … 3, by the prediction or by the truth."""
    tests: tuple[tuple[int, int, float, float], ...]
    """(quarter, quarter, difference of means, p by Welch's t corrected by Bonferroni)."""
    statistic: str
    by: str = "predicted"
    """Whose order the quarters are of: `predicted` or `true`."""

    def table(self) -> Table:
        """One row per topic, the hardest predicted first."""
        hardest_first = np.argsort(self.predicted, kind="stable")
        quarters_from_1 = self.quarter.astype(np.int64) + 1
        rows = [(self.topics[i], quarters_from_1[i], self.predicted[i], self.true[i]) for i in hardest_first]
        notes = []
        for name, value in self.correlations.items():
            starred = f"{name}*" if name in ("τ_AP", "RBO") else name
            notes.append(f"{starred} {shown(value, '.3f')}")
        caption = f"Topic difficulty by {self.method}: {self.statistic} over runs, the hardest first"
        columns = {"topic": "", "quarter": "d", "predicted": ".4f", "true": ".4f"}
        return Table.of(columns, rows, caption=caption, notes=[", ".join(notes)])

    @property
    def compared(self) -> str:
        """Which ease the quarters are compared by: the one that they are not made of."""
        return "true" if self.by == "predicted" else "predicted"

    def quarters(self) -> Table:
        """Differences of the ease between quarters: the true ease by predicted quarters, or the other way round."""
        rows = []
        for harder, easier, difference, corrected_p in self.tests:
            rows.append((f"{harder + 1} – {easier + 1}", difference, corrected_p))
        return Table.of(
            {"quarters": "", "difference": "+.4f", "p corrected": "p"},
            rows,
            caption=f"{self.compared.capitalize()} {self.statistic} by quarter of {self.by} ease",
            notes=[f"Welch's t test, p corrected by Bonferroni over {len(self.tests)} tests"],
            keys={"difference": "delta"},
        )


@dataclass(frozen=True, eq=False)
class TopicEase(Result):
    """Predicted ease of topics, where no true scores are known."""

    method: str
    topics: tuple[str, ...]
    predicted: Floats
    signature: str = ""
    statistic: str = "AAP"

    def table(self) -> Table:
        """One row per topic, the hardest first."""
        hardest_first = self.predicted.argsort(kind="stable")
        rows = [(self.topics[i], self.predicted[i]) for i in hardest_first]
        return Table.of(
            {"topic": "", "predicted": ".4f"},
            rows,
            caption=f"Topic difficulty by {self.method}: {self.statistic} over runs, the hardest first",
            notes=[self.signature],
        )


def topic_ease(predicted: ScoreMatrix, *, geometric: bool = False) -> TopicEase:
    """The predicted mean over runs of each topic, or its geometric mean; low means hard."""
    if geometric:
        ease = geometric_average_ap(scaled(predicted, "min-max"))
    else:
        ease = average_ap(predicted)
    statistic = "GAAP" if geometric else "AAP"
    return TopicEase(predicted.measure, predicted.topics, ease, predicted.signature, statistic)


def difficulty(
    predicted: ScoreMatrix, truth: ScoreMatrix, *, geometric: bool = False, by: str = "predicted"
) -> Difficulty:
    """How well predicted means say which topics are hard.

    geometric: GAAP instead of AAP; the prediction is first brought to [0, 1]. Quarters are of the predicted order (is a
    topic that is predicted hard truly hard?) or with by="true" of the true one (are hard topics predicted to be hard?),
    ties by the order of topics; at least 8 topics are needed for them (fewer: no tests).
    """
    one_of("order of quarters", by, ORDERS)
    ours, real = matched(predicted, truth)
    if len(ours.topics) < 2:
        raise DataError("one topic has no difficulty relative to others; give two or more")
    if geometric:
        guessed_ease = geometric_average_ap(scaled(ours, "min-max"))
        true_ease = geometric_average_ap(real)
    else:
        guessed_ease = average_ap(ours)
        true_ease = average_ap(real)
    topics = len(guessed_ease)
    place = np.empty(topics, dtype=np.int64)
    ordered, compared = (guessed_ease, true_ease) if by == "predicted" else (true_ease, guessed_ease)
    place[np.argsort(ordered, kind="stable")] = np.arange(topics)
    quarter = place * 4 // topics
    return Difficulty(
        method=predicted.measure,
        topics=ours.topics,
        predicted=guessed_ease,
        true=true_ease,
        correlations=correlations(true_ease, guessed_ease, heavy="bottom"),
        quarter=quarter.astype(np.float64),
        tests=_tests(quarter, compared) if topics >= 8 else (),
        statistic="GAAP" if geometric else "AAP",
        by=by,
    )


def _tests(quarter: Ints, true: Floats) -> tuple[tuple[int, int, float, float], ...]:
    """Welch's t test of each two quarters, times six."""
    tests = []
    for a, b in combinations(range(4), 2):
        harder = true[quarter == a]
        easier = true[quarter == b]
        difference = float(harder.mean() - easier.mean())
        corrected_p = min(1.0, 6 * welch_test(harder, easier).p)
        tests.append((a, b, difference, corrected_p))
    return tuple(tests)
