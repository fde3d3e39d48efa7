"""What the studies of measures share: several measures on the same runs and topics, and the runs worth looking at."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix


def same_cells(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The matrices brought to the runs and topics of the first; an error if one lacks any, or two have one name."""
    if not matrices:
        raise UsageError("no scores; name at least one measure")
    measures = [matrix.measure for matrix in matrices]
    for measure in measures:
        if measures.count(measure) > 1:
            raise UsageError(f"two tables of scores are called {measure!r}; give each measure a name of its own")
    first = matrices[0]
    same = []
    for matrix in matrices:
        _check_names("run", first.runs, matrix.runs, matrix.measure, first.measure)
        if matrix.topics == first.topics:  # there may be millions
            same.append(matrix.select(runs=first.runs))
            continue
        _check_names("topic", first.topics, matrix.topics, matrix.measure, first.measure)
        same.append(matrix.select(runs=first.runs, topics=first.topics))
    return same


def _check_names(what: str, wanted: Sequence[str], names: Sequence[str], measure: str, first_measure: str) -> None:
    missing = set(wanted) - set(names)
    if missing:
        raise DataError(f"{measure} has no {what} {min(missing)!r}, which {first_measure} has")


def without_worst(matrices: Sequence[ScoreMatrix], keep: float = 0.75) -> list[ScoreMatrix]:
    """The runs that are among the best `keep` share under at least one of the measures.

    Runs at the bottom under every measure are mostly defective, and inflate any correlation of rankings.

    >>> m = ScoreMatrix.of([[0.1], [0.4], [0.3], [0.2]])
    >>> without_worst([m], 0.75)[0].runs
    ('run2', 'run3', 'run4')
    """
    if not 0 < keep <= 1:
        raise UsageError(f"keep={keep} is not a share in (0, 1]")
    same = same_cells(matrices)
    runs = same[0].runs
    places = np.array([_place(matrix.averages()) for matrix in same])
    among_best = places < np.ceil(keep * len(runs))
    kept = list(compress(runs, among_best.any(axis=0)))
    if len(kept) < 2:
        raise DataError(f"{len(kept)} run is left; a study of rankings needs two")
    return [matrix.select(runs=kept) for matrix in same]


def _place(means: Floats) -> npt.NDArray[np.int64]:
    """The place of each run, best 0."""
    best_first = np.argsort(-means, kind="stable")
    place = np.empty(len(means), dtype=np.int64)
    place[best_first] = np.arange(len(means))
    return place
