"""Do methods that rest on means suit these scores? The scale on which an average is a mean, or an error.

The average of most measures is the mean over the topics. A geometric mean is one on the scale of logs, a sum is a
multiple of one, a median is none, and differences of harmonic means have no meaning on the scale of theirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assay.core.errors import UsageError
from assay.data.averages import FLOOR, IN_WORDS, as_mean, on_scale_of_means
from assay.data.scores import ScoreMatrix, Scores

TESTED = {
    "geometric": f"geometric means are tested as means of logs of max(score, {FLOOR:g})",
    "sum": "sums are tested as means",
}
"""What a result says of the tests of an average that is not the mean."""
SHOWN = {"geometric": "a difference of logs is shown as a ratio", "sum": "shown times the number of topics"}
"""What it says of the differences and intervals that it shows."""


def scores_of_one_measure(thing: Any) -> ScoreMatrix:
    """The thing, if it is a ScoreMatrix; else an error that says how to come by one."""
    if isinstance(thing, ScoreMatrix):
        return thing
    if isinstance(thing, Scores) and len(thing):
        what_to_do = f"choose one by its name, such as {thing.measures[0]!r}"
    else:
        what_to_do = "make a ScoreMatrix with assay.evaluate, assay.read_scores or ScoreMatrix.of"
    raise UsageError(f"this needs the scores of one measure, not {type(thing).__name__}; {what_to_do}")


def for_tests_of_means(matrix: ScoreMatrix) -> ScoreMatrix:
    """The scores on the scale on which their average is a mean, for tests and intervals of means.

    Of a geometric mean the logs; a sum is a multiple of the mean, so that its scores stay as they are; a median or
    harmonic mean is an error.

    >>> for_tests_of_means(ScoreMatrix.of([[0.1, 1.0]], measure="geometric(AP)")).values.round(4).tolist()
    [[-2.3026, 0.0]]
    """
    matrix = scores_of_one_measure(matrix)
    name = as_mean(matrix.measure)
    how = matrix.aggregate
    if how == "mean":
        return matrix
    if how in ("median", "harmonic"):
        raise UsageError(
            f"{matrix.measure}: a test of means says nothing of {IN_WORDS[how]}s; take {name}, whose sign test "
            "asks which run is better on most topics"
        )
    if how == "geometric":
        name = f"log({name})"
    return replace(matrix, values=on_scale_of_means(matrix.values, how), measure=name, signature=name)


def needs_means(matrix: ScoreMatrix, what: str) -> ScoreMatrix:
    """The matrix, if its average is the mean over the topics; else an error, because `what` rests on means.

    >>> needs_means(ScoreMatrix.of([[0.1, 1.0]], measure="geometric(AP)"), "a power analysis")
    Traceback (most recent call last):
    assay.core.errors.UsageError: geometric(AP) is a geometric mean, and a power analysis rests on means; take AP
    """
    matrix = scores_of_one_measure(matrix)
    refuse_other_averages(matrix.measure, matrix.aggregate, what)
    return matrix


def refuse_other_averages(measure: str, aggregate: str, what: str) -> None:
    """An error where the average of a measure is not the mean over the topics, on which `what` rests."""
    if aggregate == "mean":
        return
    raise UsageError(f"{measure} is a {IN_WORDS[aggregate]}, and {what} rests on means; take {as_mean(measure)}")
