"""Several topic sets of one corpus as one: scores of the same runs on other topics, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.errors import DataError
from assay.data.quantities import policy_of
from assay.data.scores import ScoreMatrix, same_scores


def topics_joined(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """One matrix per measure, with the topics of all: the same runs on topic sets that share no topic.

    Topics of one corpus may be pooled: the 249 topics of TREC 2004 Robust are those of four earlier tracks and 49 new
    ones. Scores must be of one measure and policy.

    >>> old = ScoreMatrix.of([[0.1], [0.2]], runs=["a", "b"], topics=["351"], measure="AP")
    >>> new = ScoreMatrix.of([[0.4], [0.3]], runs=["b", "a"], topics=["401"], measure="AP")
    >>> topics_joined([old, new])[0].of_run("a").tolist()
    [0.1, 0.3]
    """
    by_measure: dict[str, list[ScoreMatrix]] = {}
    for matrix in matrices:
        by_measure.setdefault(matrix.measure, []).append(matrix)
    return [_side_by_side(parts) for parts in by_measure.values()]


def _side_by_side(parts: Sequence[ScoreMatrix]) -> ScoreMatrix:
    """The topics of all parts, for the runs that all must have."""
    head = parts[0]
    topics: list[str] = []
    for part in parts:
        same_scores(head, part)
        odd = sorted(set(head.runs) ^ set(part.runs))
        if odd:
            what = f"run {odd[0]!r} is in one topic set only ({len(odd)} such runs)"
            raise DataError(f"{head.measure}: {what}; topic sets are joined for the same runs, keep those of all files")
        twice = next((topic for topic in part.topics if topic in topics), None)
        if twice is not None:
            raise DataError(f"{head.measure}: topic {twice!r} is in two files; topic sets that are joined share none")
        topics += part.topics
    values = np.concatenate([part.select(runs=head.runs).values for part in parts], axis=1)
    one_policy = len({policy_of(part.signature) for part in parts}) == 1
    signature = head.signature if one_policy else head.measure
    return ScoreMatrix.of(values, runs=head.runs, topics=topics, measure=head.measure, signature=signature)
