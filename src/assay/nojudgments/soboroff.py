"""Soboroff, Nicholas & Cahan 2001: docs drawn at random from the pool are taken as relevant, the runs scored by AP.

The share of relevant docs in a pool comes from qrels, from the caller, or from the number of runs (Roitero 2020,
Eq. 6.2). All shares here are fractions: the literature writes the mean as a percentage and the sd as a fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import generators
from assay.core.errors import DataError, UsageError
from assay.core.registry import Within
from assay.data import Qrels
from assay.data.lists import Lists
from assay.nojudgments.basis import average_precision
from assay.nojudgments.predictors import METHODS

FITTED = (30, 129)
"""The numbers of runs between which Eq. 6.2 has been used; outside, the nearer end stands in."""


@dataclass(frozen=True)
class Share:
    """Mean and sample sd over topics of the share of relevant docs in a pool, both as fractions."""

    mean: float
    sd: float


def judged_share(qrels: Qrels, *, rel: float = 1) -> Share:
    """The share of relevant docs among the judged ones: mean and sample sd (n − 1) over topics.

    TREC-8 ad hoc: mean .054966, sd .0480 (Roitero 2020, Table 6.3). One topic: sd 0.

    >>> judged_share(Qrels.from_dict({"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 0}}))
    Share(mean=0.25, sd=0.3535533905932738)
    """
    shares = np.array(list(judged_shares(qrels, rel=rel).values()))
    if not len(shares):
        raise DataError(f"{qrels.name}: no judged topic; the share of relevant docs needs one")
    return _mean_and_sd(shares)


def judged_shares(qrels: Qrels, *, rel: float = 1) -> dict[str, float]:
    """The share of relevant docs of each judged topic, for the exact-fraction variant.

    >>> judged_shares(Qrels.from_dict({"1": {"a": 1, "b": 0}}))
    {'1': 0.5}
    """
    topic = qrels.topic_of_row()
    judged = np.bincount(topic, qrels.grades >= 0, minlength=len(qrels.topics))
    relevant = np.bincount(topic, qrels.grades >= rel, minlength=len(qrels.topics))
    shares = {}
    for t in np.flatnonzero(judged):
        shares[qrels.topics[t]] = float(relevant[t] / judged[t])
    return shares


def expected_share(runs: int) -> Share:
    """The share to expect for a number of runs, without judgments: Roitero 2020, Eq. 6.2.

    mean [%] = 1133.3/runs − 5.1841 and sd = .0037 · mean [%] + .0242.

    >>> share = expected_share(103)
    >>> round(100 * share.mean, 2), round(share.sd, 3)
    (5.82, 0.046)
    """
    if runs < 1:
        raise UsageError(f"runs: must be at least 1, not {runs}")
    percent = 1133.3 / runs - 5.1841
    return Share(percent / 100, 0.0037 * percent + 0.0242)


SHARES = ("expected", "judged", "exact")
"""Where the share of relevant docs comes from: the number of runs, the judgments of all topics, or of each topic."""
POOLS = ("runs", "judged")
"""The docs that are drawn from: the first of every run, or those that are judged."""


def _asks_judgments(given: dict[str, Any]) -> bool:
    """Whether these parameters need judgments."""
    return given.get("share", "expected") != "expected" or given.get("pool", "runs") != "runs"


@METHODS.register("soboroff", short="SNC", higher=True, paper="Soboroff, Nicholas & Cahan 2001", judged=_asks_judgments)
def soboroff(
    lists: Lists,
    *,
    mean: float | None = None,
    sd: Annotated[float, Within(0)] | None = None,
    fractions: Mapping[str, float] | None = None,
    share: str = "expected",
    pool: str = "runs",
    rel: float = 1,
    duplicates: bool = False,
    depth: Annotated[int, Within(1)] = 100,
    repetitions: Annotated[int, Within(1)] = 20,
    empty: str = "zero",
    seed: Annotated[int, Within(0)] = 0,
) -> Floats:
    """Mean AP over repetitions with randomly drawn pseudo-relevant docs.

    For each topic a share x ~ N(mean, sd), cut to [0, 1], of the pool (top `depth` of every run) is drawn without
    replacement; `fractions` fixes each topic's share instead. With `duplicates` the entries of the pool are drawn, a
    doc found by c runs having c of them, and the distinct docs taken. mean and sd are fractions; if not given they are
    `expected_share` of the number of runs, held within 30–129 runs; mean alone has sd 0. Where the lists have
    judgments, share=judged takes mean and sd from them, share=exact the share of each topic (`rel`: the lowest relevant
    grade), and pool=judged draws from the judged docs. A share that comes to no doc scores 0 on that topic
    (empty="zero") or draws one doc (empty="one").
    """
    trials = soboroff_trials(
        lists,
        mean=mean,
        sd=sd,
        fractions=fractions,
        share=share,
        pool=pool,
        rel=rel,
        duplicates=duplicates,
        depth=depth,
        repetitions=repetitions,
        empty=empty,
        seed=seed,
    )
    return np.asarray(trials.mean(axis=0))


def soboroff_trials(
    lists: Lists,
    *,
    mean: float | None = None,
    sd: float | None = None,
    fractions: Mapping[str, float] | None = None,
    share: str = "expected",
    pool: str = "runs",
    rel: float = 1,
    duplicates: bool = False,
    depth: int = 100,
    repetitions: int = 20,
    empty: str = "zero",
    seed: int = 0,
) -> Floats:
    """AP of each repetition, repetitions × runs × topics; parameters as in `soboroff`."""
    if empty not in ("zero", "one"):
        raise UsageError(f"empty: must be 'zero' or 'one', not {empty!r}")
    if repetitions < 1 or depth < 1:
        raise UsageError(f"repetitions and depth must be at least 1, not {repetitions} and {depth}")
    if fractions is None and share == "exact":
        fractions = _judged_fractions(lists, rel)
    drawn_share = _share(lists, mean, sd, share, rel)
    entries = _pool(lists, pool, depth, duplicates)
    topics = len(lists.topics)
    starts = np.searchsorted(lists.topic_of_item[entries], np.arange(topics + 1))
    trials = np.empty((repetitions, *lists.shape))
    for i, rng in enumerate(generators(seed, repetitions)):
        if fractions is None:
            shares = np.clip(rng.normal(drawn_share.mean, drawn_share.sd, topics), 0, 1)
        else:
            shares = _fixed(lists, fractions)
        relevant = _drawn(lists, entries, starts, shares, rng, empty == "one")
        trials[i] = average_precision(lists, relevant)
    return trials


def _pool(lists: Lists, pool: str, depth: int, duplicates: bool) -> Ints:
    """The items to draw from, those of one topic together; with duplicates an item as often as runs have it."""
    if pool not in POOLS:
        raise UsageError(f"no pool {pool!r}; known: {', '.join(POOLS)}")
    if pool == "judged":
        if duplicates:
            raise UsageError("duplicates count the runs that have a doc, and pool=judged draws from the judgments")
        _judged_fractions(lists, 1)  # every topic needs a judged doc
        return np.flatnonzero(lists.judged())
    shallow = np.flatnonzero(lists.rank <= depth)
    entries = np.sort(lists.item[shallow])
    return entries if duplicates else np.unique(entries)


def _judged_fractions(lists: Lists, rel: float) -> dict[str, float]:
    """The share of relevant docs among the judged ones of each topic of the lists."""
    topics = len(lists.topics)
    judged = np.bincount(lists.topic_of_item, lists.judged(), minlength=topics)
    if not judged.any():
        raise DataError("soboroff: share=judged, share=exact and pool=judged need judgments; give qrels")
    if not judged.all():
        lacking = lists.topics[int(np.flatnonzero(judged == 0)[0])]
        raise DataError(f"soboroff: topic {lacking!r} has no judged doc to take a share of; leave it out of the runs")
    relevant = np.bincount(lists.topic_of_item, lists.relevant(rel), minlength=topics)
    return dict(zip(lists.topics, (relevant / judged).tolist(), strict=True))


def _share(lists: Lists, mean: float | None, sd: float | None, share: str, rel: float) -> Share:
    """The share that is given, or that of the judgments, or the one to expect for the number of runs.

    A mean that is given alone has sd 0.
    """
    if share not in SHARES:
        raise UsageError(f"no share {share!r}; known: {', '.join(SHARES)}")
    if share != "expected":
        if mean is not None or sd is not None:
            raise UsageError(f"share={share} takes the share from the judgments; leave out mean and sd, or share")
        shares = np.array(list(_judged_fractions(lists, rel).values()))
        return _mean_and_sd(shares)
    fewest, most = FITTED
    expected = expected_share(min(max(len(lists.runs), fewest), most))
    if sd is None:
        sd = expected.sd if mean is None else 0.0
    if mean is None:
        mean = expected.mean
    if not 0 <= mean <= 1 or not 0 <= sd <= 1:
        raise UsageError(f"mean and sd are fractions between 0 and 1, not {mean} and {sd}; 5.5 % is 0.055")
    return Share(mean, sd)


def _mean_and_sd(shares: Floats) -> Share:
    """Mean and sample sd (n − 1) of the shares of topics; of one topic the sd is 0."""
    sd = float(shares.std(ddof=1)) if len(shares) > 1 else 0.0
    return Share(float(shares.mean()), sd)


def _fixed(lists: Lists, fractions: Mapping[str, float]) -> Floats:
    lacking = [t for t in lists.topics if t not in fractions]
    if lacking:
        raise DataError(f"no fraction for topic {lacking[0]!r}; give one for every topic of the runs")
    return np.clip([fractions[t] for t in lists.topics], 0, 1)


def _drawn(
    lists: Lists, entries: Ints, starts: Ints, shares: Floats, rng: np.random.Generator, at_least_one: bool
) -> Bools:
    """The items drawn: the share of each topic's entries, without replacement."""
    sizes = np.diff(starts)
    wanted = np.rint(shares * sizes).astype(np.int64)
    if at_least_one:
        wanted = np.maximum(wanted, np.minimum(sizes, 1))
    chosen = np.zeros(lists.items, dtype=bool)
    for start, size, n in zip(starts[:-1], sizes, wanted, strict=True):
        places = rng.choice(size, n, replace=False, shuffle=False)
        chosen[entries[start + places]] = True
    return chosen
