"""What can be drawn of scored runs? Scores by run and topic, raw beside standardized, diversity, curves, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.core.errors import UsageError
from assay.core.registry import one_of

if TYPE_CHECKING:
    from assay.data.scores import Scores
    from assay.scoring import Aligned

ON_RUNS = ("recall-precision", "relevance")
"""Pictures that are drawn from the aligned runs themselves."""
PICTURES = ("map", "distribution", "diversity", *ON_RUNS)
"""Every picture of scored runs."""


def score_pictures(scores: Scores, picture: str = "map", *, aligned: Aligned | None = None) -> Any:
    """What `assay.report.figure` draws: a result, a figure, or a list of them, one for each measure or run.

    map: scores by run and topic. distribution: quartiles of every topic, raw and standardized. diversity: I-rec against
    D-M of every run, with lines of equal D#-M. recall-precision and relevance (the grade at every rank) need the runs
    themselves, aligned with their judgments.

    >>> from assay.scoring import evaluate
    >>> scores = evaluate({"a": {"1": {"x": 2.0}}, "b": {"1": {"y": 1.0}}}, {"1": {"x": 1}}, ["AP", "RR"])
    >>> [matrix.measure for matrix in score_pictures(scores)]
    ['AP', 'RR']
    """
    one_of("picture of scores", picture, PICTURES)
    if picture in ON_RUNS:
        if aligned is None:
            raise UsageError(f"{picture} is drawn from the runs and their judgments; give them aligned")
        return _of_runs(picture, aligned)
    if picture == "map":
        return scores[0] if len(scores) == 1 else list(scores)
    if picture == "diversity":
        from assay.report.diversity import diversity_scatter

        return diversity_scatter(scores)
    from assay.report.figures.data import distribution
    from assay.standard import standardize

    return [distribution(matrix, standardize(matrix, form="z")) for matrix in scores]


def _of_runs(picture: str, aligned: Aligned) -> Any:
    """The curve of all runs, or the map of each."""
    if picture == "recall-precision":
        from assay.report.curves import recall_precision

        return recall_precision(aligned)
    from assay.report.figures.data import relevance_map

    return [relevance_map(aligned.grades(run), run=run) for run in aligned.names]
