"""Spoerri 2007: runs scored by the structure of overlap in trials of five runs, each run in five trials.

S % is the share of a run's docs that no other run of the trial found, A % the share that all five found. Runs with
many docs of their own are taken to be worse. Spoerri takes one run of each group: see `one_per_group`.
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
def spoerri_single(
    lists: Lists, *, depth: Annotated[int, Within(1)] = 1000, seed: Annotated[int, Within(0)] = 0
) -> Floats:
    """S %: the share of a run's docs that it alone found among the five of a trial, mean over its trials."""
    single, _ = overlap_shares(lists, depth=depth, seed=seed)
    return single


@METHODS.register("spoerri-all", short="SPO-A", higher=True, paper=PAPER)
def spoerri_all(
    lists: Lists, *, depth: Annotated[int, Within(1)] = 1000, seed: Annotated[int, Within(0)] = 0
) -> Floats:
    """A %: the share of a run's docs that all five runs of a trial found, mean over its trials."""
    _, everywhere = overlap_shares(lists, depth=depth, seed=seed)
    return everywhere


@METHODS.register("spoerri-difference", short="SPO-SA", higher=False, paper=PAPER)
def spoerri_difference(
    lists: Lists, *, depth: Annotated[int, Within(1)] = 1000, seed: Annotated[int, Within(0)] = 0
) -> Floats:
    """S % − A %."""
    single, everywhere = overlap_shares(lists, depth=depth, seed=seed)
    return single - everywhere


def overlap_shares(lists: Lists, *, depth: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
    """Shares of docs found by one run and by all runs of a trial, each runs × topics, means over the trials of a run.

    A share is taken of the run's own list; an empty list has S = 1 and A = 0, the worst. With five runs or fewer there
    is one trial, of all runs.
    """
    cut = lists.cut(depth)
    topics = len(cut.topics)
    drawn = trials(len(cut.runs), seed=seed)
    single = np.zeros(cut.shape)
    everywhere = np.zeros(cut.shape)
    for members in drawn:
        holders = _holders(cut, members)
        for run in members:
            rows = _rows(cut, run)
            # Segments count the lists run by run, and within a run topic by topic.
            topic = cut.segment[rows] - run * topics
            times_held = holders[cut.item[rows]]

            # The topics of the docs that no other member has, and of those that all have.
            alone = topic[times_held == 1]
            by_all = topic[times_held == len(members)]
            single[run] += np.bincount(alone, minlength=topics)
            everywhere[run] += np.bincount(by_all, minlength=topics)

    # Shares of the docs of all the run's trials; an empty list counts as one doc, and S of it is set to 1.
    trials_of_run = np.bincount(drawn.ravel())[:, None]
    docs = np.maximum(cut.sizes, 1) * trials_of_run
    single_share = np.where(cut.sizes > 0, single / docs, 1.0)
    return single_share, everywhere / docs


def _rows(lists: Lists, run: int) -> slice:
    """The rows of a run."""
    first = lists.run_bounds[run]
    last = lists.run_bounds[run + 1]
    return slice(first, last)


def _holders(lists: Lists, members: Ints) -> Ints:
    """How many of these runs have each item."""
    items = [lists.item[_rows(lists, run)] for run in members]
    return np.bincount(np.concatenate(items), minlength=lists.items)


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
    while _comes_back(places, runs):
        places = rng.choice(runs, FIVE, replace=False)
    turns = np.arange(runs)[:, None]
    turned = (turns + places) % runs
    return circle[turned]


def _comes_back(places: Ints, runs: int) -> bool:
    """Whether five places are spread evenly: after a fifth of a turn they would be the same trial again."""
    if runs % FIVE:
        return False
    fifth = runs // FIVE
    return len(set(places % fifth)) == 1
