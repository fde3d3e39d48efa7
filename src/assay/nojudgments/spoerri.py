"""Spoerri 2007: runs scored by the structure of overlap in trials of five runs, each run in five trials.

S % is the share of a run's docs that no other run of the trial found, A % the share that all five found. Runs with
many docs of their own are taken to be worse. Spoerri takes one run per group; choose them with `Lists.select`.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import generator
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.data.lists import Lists
from assay.nojudgments.predictors import METHODS

FIVE = 5
PAPER = "Spoerri 2007"


@METHODS.register("spoerri-single", short="SPO-S", higher=False, paper=PAPER)
def spoerri_single(lists: Lists, *, depth: Annotated[int, Within(1)] = 1000, seed: int = 0) -> Floats:
    """S %: the share of a run's docs that it alone found among the five of a trial, mean over its trials."""
    return overlap_shares(lists, depth=depth, seed=seed)[0]


@METHODS.register("spoerri-all", short="SPO-A", higher=True, paper=PAPER)
def spoerri_all(lists: Lists, *, depth: Annotated[int, Within(1)] = 1000, seed: int = 0) -> Floats:
    """A %: the share of a run's docs that all five runs of a trial found, mean over its trials."""
    return overlap_shares(lists, depth=depth, seed=seed)[1]


@METHODS.register("spoerri-difference", short="SPO-SA", higher=False, paper=PAPER)
def spoerri_difference(lists: Lists, *, depth: Annotated[int, Within(1)] = 1000, seed: int = 0) -> Floats:
    """S % − A %."""
    single, everywhere = overlap_shares(lists, depth=depth, seed=seed)
    return single - everywhere


def overlap_shares(lists: Lists, *, depth: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
    """Shares of docs found by one run and by all runs of a trial, each runs × topics, means over the trials of a run.

    A share is taken of the run's own list; an empty list has S = 1 and A = 0, the worst. With five runs or fewer there
    is one trial, of all runs.
    """
    cut = lists.cut(depth)
    single, everywhere = np.zeros(cut.shape), np.zeros(cut.shape)
    drawn = trials(len(cut.runs), seed=seed)
    for members in drawn:
        parts = [slice(cut.run_bounds[r], cut.run_bounds[r + 1]) for r in members]
        found = np.bincount(np.concatenate([cut.item[p] for p in parts]), minlength=cut.items)
        for r, part in zip(members, parts, strict=True):
            topic, times = cut.segment[part] - r * len(cut.topics), found[cut.item[part]]
            single[r] += np.bincount(topic[times == 1], minlength=len(cut.topics))
            everywhere[r] += np.bincount(topic[times == len(members)], minlength=len(cut.topics))
    docs = np.maximum(cut.sizes, 1) * np.bincount(drawn.ravel())[:, None]
    return np.where(cut.sizes > 0, single / docs, 1.0), everywhere / docs


def trials(runs: int, *, seed: int = 0) -> Ints:
    """Trials of five different runs (one per row), all trials different, each run in exactly five.

    A random order of the runs is laid on a circle and one random pattern of five places turned through all positions.

    >>> drawn = trials(7)
    >>> drawn.shape, np.bincount(drawn.ravel()).tolist(), len({frozenset(t) for t in drawn.tolist()})
    ((7, 5), [5, 5, 5, 5, 5, 5, 5], 7)
    """
    if runs < 2:
        raise UsageError(f"trials need at least two runs, not {runs}")
    if runs <= FIVE:
        return np.arange(runs)[None, :]
    rng = generator(seed)
    circle = rng.permutation(runs)
    places = rng.choice(runs, FIVE, replace=False)
    # Five places evenly spread would come back to themselves after a fifth of a turn: the same trial twice.
    while runs % FIVE == 0 and len(set(places % (runs // FIVE))) == 1:
        places = rng.choice(runs, FIVE, replace=False)
    return np.asarray(circle[(np.arange(runs)[:, None] + places) % runs])
