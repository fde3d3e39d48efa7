"""What the studies of measures share: several measures on the same runs and topics, and the runs worth looking at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix


def same_cells(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The matrices brought to the runs and topics of the first; an error if one lacks any, or two have one name."""
    if not matrices:
        raise UsageError("no scores; name at least one measure")
    first, called = matrices[0], [m.measure for m in matrices]
    if len(set(called)) < len(called):
        twice = next(n for n in called if called.count(n) > 1)
        raise UsageError(f"two tables of scores are called {twice!r}; give each measure a name of its own")
    for m in matrices[1:]:
        for names, have, what in ((first.runs, m.runs, "run"), (first.topics, m.topics, "topic")):
            lost = set(names) - set(have)
            if lost:
                raise DataError(f"{m.measure} has no {what} {min(lost)!r}, which {first.measure} has")
    return [m.select(runs=first.runs, topics=first.topics) for m in matrices]


def without_worst(matrices: Sequence[ScoreMatrix], keep: float = 0.75) -> list[ScoreMatrix]:
    """The runs that are among the best `keep` share under at least one of the measures.

    Runs at the bottom under every measure are mostly defective, and inflate any correlation of rankings.

    >>> m = ScoreMatrix.of([[0.1], [0.4], [0.3], [0.2]])
    >>> without_worst([m], 0.75)[0].runs
    ('run2', 'run3', 'run4')
    """
    if not 0 < keep <= 1:
        raise UsageError(f"keep={keep} is not a share in (0, 1]")
    alike = same_cells(matrices)
    n = len(alike[0].runs)
    places = np.array([_place(m.means()) for m in alike])
    good = (places < np.ceil(keep * n)).any(axis=0)
    if good.sum() < 2:
        raise DataError(f"{int(good.sum())} run is left; a study of rankings needs two")
    return [m.select(runs=[r for r, g in zip(m.runs, good, strict=True) if g]) for m in alike]


def _place(means: Floats) -> npt.NDArray[np.int64]:
    """The place of each run, best 0."""
    place = np.empty(len(means), dtype=np.int64)
    place[np.argsort(-means, kind="stable")] = np.arange(len(means))
    return place
