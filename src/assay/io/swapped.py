"""Were runs and judgments given in each other's place? Dicts and frames of both look alike; their numbers do not.

Judgments have few grades, which are whole numbers and the same for many docs; the scores of a run are many and differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Ints
from assay.core.errors import UsageError
from assay.data import IntentQrels, Qrels, Run

MOST_GRADES = 6
"""Judgments that are compared with a run have at most this many grades."""
FEWEST_SCORES = 20
"""From this many on, judgments that are nearly all different within their topic are the scores of a run."""


def refuse_swapped(runs: Any, brought: Sequence[Any], qrels: Any, judgments: Any) -> None:
    """An error where dicts or frames of runs look like judgments and those of judgments like a run.

    runs, qrels: as a person gave them; brought, judgments: what was made of them. Paths, and Run and Qrels objects,
    are what they say. Scores that are ranks, 1, 2, 3 … within each topic, are those of a run, and so is one score for
    all docs unless the judgments are surely scores.

    >>> runs, qrels = {"1": {"a": 2.5, "b": 1.5, "c": 0.5}}, {"1": {"a": 1, "b": 0, "c": 1}}
    >>> refuse_swapped(runs, [Run.from_dict("r", runs)], qrels, Qrels.from_dict(qrels))
    >>> refuse_swapped(qrels, [Run.from_dict("r", qrels)], runs, Qrels.from_dict(runs))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    assay.core.errors.UsageError: runs look like judgments (scores 0, 1) and qrels like a run (3 different grades); ...
    """
    if not (_is_untyped(runs) and _is_untyped(qrels) and isinstance(judgments, Qrels)):
        return
    made = [run for run in brought if isinstance(run, Run)]
    if not made or len(made) < len(brought):
        return
    levels: set[float] = set()
    for run in made:
        found = _grades_of(run)
        if found is None:
            return
        levels |= found
    if not _may_be_scores(judgments, surely=len(levels) == 1):
        return
    scores = ", ".join(f"{level:g}" for level in sorted(levels))
    many = len(np.unique(judgments.grades))
    raise UsageError(
        f"runs look like judgments (scores {scores}) and qrels like a run ({many:,} different grades); "
        "swap them, or pass assay.io.runs_of(runs) and assay.io.qrels_of(qrels) if they are right"
    )


def _is_untyped(thing: Any) -> bool:
    """Whether this may hold either: not a path, an object that says what it is, or lists of docs without numbers."""
    says_itself = isinstance(thing, Run | Qrels | IntentQrels | str | Path | Iterator)
    if says_itself or type(thing).__module__.partition(".")[0] == "ranx":
        return False
    if isinstance(thing, Mapping):
        return not any(isinstance(value, Run | str | Path) for value in thing.values())
    return not isinstance(thing, list | tuple) or all(map(_is_untyped, thing))


def _grades_of(run: Run) -> set[float] | None:
    """The scores of a run that look like grades; None if they do not."""
    scores = run.scores
    if len(np.unique(scores[:1000])) > MOST_GRADES:  # most runs need no more than a look
        return None
    levels = np.unique(scores)
    whole = bool((levels == np.floor(levels)).all())
    has_several = bool((np.diff(run.bounds) > 1).any())
    are_ranks = has_several and _different(run.bounds, scores) == len(scores)
    return set(levels.tolist()) if 0 < len(levels) <= MOST_GRADES and whole and not are_ranks else None


def _may_be_scores(judgments: Qrels, *, surely: bool) -> bool:
    """Whether grades can be the scores of a run; surely: whether they can hardly be anything else."""
    levels = np.unique(judgments.grades)
    is_run = len(levels) > MOST_GRADES or bool((levels != np.floor(levels)).any())
    if not surely:
        return is_run
    docs = len(judgments.grades)
    return is_run and docs >= FEWEST_SCORES and _different(judgments.bounds, judgments.grades) >= 0.9 * docs


def _different(bounds: Ints, values: npt.NDArray[Any]) -> int:
    """How many different values there are within the topics, in all."""
    levels, level = np.unique(values, return_inverse=True)
    topic = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return len(np.unique(topic * len(levels) + level))
