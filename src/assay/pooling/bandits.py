"""What to judge next, when every run is an arm that gives its next unjudged doc: move-to-front and the bandits.

Where it stands: an order as in `orders`. Draws depend on the seed, the topic and the number of judgments alone, so
that a resumed session continues as it would have.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from typing import Annotated

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.data.lists import TopicLists
from assay.pooling.orders import ORDERS, Order


class Arms(ABC):
    """An order that picks a run, then that run's first unjudged doc."""

    def __init__(self, lists: TopicLists, seed: int) -> None:
        self.lists = lists
        self.seed = seed
        self.known = np.zeros(len(lists.docs), dtype=bool)
        # Place of the first doc of each run that is not yet judged.
        self.heads = np.zeros(len(lists.runs), dtype=np.int64)
        self.judged = 0

    @abstractmethod
    def values(self, draw: int) -> Floats:
        """How promising each run is; `draw` counts the docs already taken since the last judgment."""

    def learn(self, doc: int, relevant: bool) -> None:  # noqa: B027 (most orders learn nothing more)
        """What a judgment changes; the doc is not yet known."""

    def next(self, n: int = 1) -> Ints:
        known = self.known.copy()
        heads = self.heads.copy()
        taken: list[int] = []
        while len(taken) < n:
            run = self.pulled(heads, len(taken))
            if run < 0:
                break
            doc = int(self.lists.ranked[run, heads[run]])
            taken.append(doc)
            known[doc] = True
            self._skip(known, heads)
        return np.array(taken, dtype=np.int64)

    def pulled(self, heads: Ints, draw: int = 0) -> int:
        """The most promising run that still has docs, the first of equals; −1 when none has."""
        has_docs = heads < self.lists.sizes
        if not has_docs.any():
            return -1
        values = np.where(has_docs, self.values(draw), -np.inf)
        return int(values.argmax())

    def tell(self, doc: int, relevant: bool) -> None:
        if self.known[doc]:
            return
        self.learn(doc, relevant)
        self.judged += 1
        self.known[doc] = True
        self._skip(self.known, self.heads)

    def value(self) -> float:
        run = self.pulled(self.heads)
        if run < 0:
            return float("-inf")
        return float(self.values(0)[run])

    def _skip(self, known: Bools, heads: Ints) -> None:
        """Move each run's head past the docs that are known."""
        while True:
            runs = np.flatnonzero(heads < self.lists.sizes)
            head_docs = self.lists.ranked[runs, heads[runs]]
            at_known_doc = runs[known[head_docs]]
            if not len(at_known_doc):
                return
            heads[at_known_doc] += 1

    def _rng(self, draw: int) -> np.random.Generator:
        topic = zlib.crc32(self.lists.topic.encode())
        return np.random.default_rng([abs(self.seed), topic, self.judged, draw])


class MoveToFront(Arms):
    """See `move_to_front`."""

    def __init__(self, lists: TopicLists, seed: int, known_count: bool, drop: float) -> None:
        super().__init__(lists, seed)
        self.known_count = known_count
        self.drop = drop
        self.priority = np.zeros(len(lists.runs))
        self.relevant = np.zeros(len(lists.docs), dtype=bool)

    def values(self, draw: int) -> Floats:
        return self.priority

    def learn(self, doc: int, relevant: bool) -> None:
        self.relevant[doc] = relevant
        run = self.pulled(self.heads)
        if run >= 0 and self.lists.ranked[run, self.heads[run]] == doc:
            self._move(run, relevant)
            self.heads[run] += 1

    def _move(self, run: int, relevant: bool) -> None:
        if relevant:
            self.priority[run] = 0.0
        else:
            self.priority[run] -= self.drop

    def _skip(self, known: Bools, heads: Ints) -> None:
        """Docs known through another run move the priority of the run at the front, without cost."""
        if not self.known_count or known is not self.known:
            super()._skip(known, heads)
            return
        run = self.pulled(heads)
        while run >= 0:
            doc = self.lists.ranked[run, heads[run]]
            if not known[doc]:
                break
            self._move(run, bool(self.relevant[doc]))
            heads[run] += 1
            run = self.pulled(heads)


@ORDERS.register("move-to-front", paper="Cormack, Palmer & Clarke 1998")
def move_to_front(
    lists: TopicLists, seed: int = 0, *, known: str = "count", drop: Annotated[float, Within(0, open=True)] = 1.0
) -> Order:
    """The next doc of the run at the front: a relevant doc puts its run there, another one moves it back by `drop`.

    known="count": a doc already judged through another run moves the priority as well, without cost, as in the paper;
    known="skip": it is passed over. Runs of equal priority in their order.
    """
    if known not in ("count", "skip"):
        raise UsageError(f"move-to-front(known={known}): known is 'count' or 'skip'")
    return MoveToFront(lists, seed, known == "count", drop)


class Bandit(Arms):
    """Counts of relevant and of judged docs per run; the subclasses turn them into values.

    Old judgments fade by `rate`: 1 keeps all, 0 only the last.
    """

    def __init__(self, lists: TopicLists, seed: int, rate: float, credit: str) -> None:
        super().__init__(lists, seed)
        if credit not in ("all", "pulled"):
            raise UsageError(
                f"credit={credit}: a judgment counts for 'all' runs that have the doc or for the 'pulled' one"
            )
        self.rate = rate
        self.credit = credit
        self.hits = np.zeros(len(lists.runs))
        self.plays = np.zeros(len(lists.runs))

    def learn(self, doc: int, relevant: bool) -> None:
        runs = self._credited(doc)
        self.hits[runs] *= self.rate
        self.hits[runs] += relevant
        self.plays[runs] *= self.rate
        self.plays[runs] += 1

    def _credited(self, doc: int) -> Ints:
        """The runs for which a judgment counts; for a doc that was not asked for, all that have it."""
        if self.credit == "pulled":
            run = self.pulled(self.heads)
            if run >= 0 and self.lists.ranked[run, self.heads[run]] == doc:
                return np.array([run])
        return np.flatnonzero(self.lists.ranks[:, doc])


class MaxMean(Bandit):
    """Takes from the run with the highest mean of what it gave."""

    def values(self, draw: int) -> Floats:
        return (self.hits + 1) / (self.plays + 2)


@ORDERS.register("max-mean", paper="Losada, Parapar & Barreiro 2016, 2017")
def max_mean(
    lists: TopicLists, seed: int = 0, *, rate: Annotated[float, Within(0, 1)] = 1.0, credit: str = "all"
) -> Order:
    """The run with the highest mean of Beta(1 + relevant, 1 + not relevant); rate=0 is the non-stationary form."""
    return MaxMean(lists, seed, rate, credit)


class Thompson(Bandit):
    """Takes from the run with the highest draw from what is believed of its mean."""

    def values(self, draw: int) -> Floats:
        # Rounding of faded counts may leave a little less than nothing.
        misses = np.maximum(0.0, self.plays - self.hits)
        return self._rng(draw).beta(1 + self.hits, 1 + misses)


@ORDERS.register("thompson", paper="Losada, Parapar & Barreiro 2016, 2017; Granmo 2010")
def thompson(
    lists: TopicLists, seed: int = 0, *, rate: Annotated[float, Within(0, 1)] = 1.0, credit: str = "all"
) -> Order:
    """The run with the highest draw from Beta(1 + relevant, 1 + not relevant); rate=0 is the non-stationary form."""
    return Thompson(lists, seed, rate, credit)


class UpperConfidence(Bandit):
    """Takes from the run with the highest upper bound of its mean."""

    def values(self, draw: int) -> Floats:
        # A run without plays is divided by almost nothing; its bound is replaced in the last line.
        plays = np.maximum(self.plays, 1e-300)
        mean = self.hits / plays
        log_share = np.log(max(self.judged, 1)) / plays
        variance_bound = mean * (1 - mean) + np.sqrt(2 * log_share)
        tuned = np.minimum(0.25, variance_bound)
        upper_bound = mean + np.sqrt(log_share * tuned)
        return np.where(self.plays > 0, upper_bound, np.finfo(float).max)


@ORDERS.register("ucb", paper="Auer, Cesa-Bianchi & Fischer 2002; Losada, Parapar & Barreiro 2017")
def ucb(lists: TopicLists, seed: int = 0, *, rate: Annotated[float, Within(0, 1)] = 1.0, credit: str = "all") -> Order:
    """UCB1-Tuned: mean + √(ln n / n_s · min(1/4, variance + √(2 ln n / n_s))); runs without a judged doc come first."""
    return UpperConfidence(lists, seed, rate, credit)


class EpsilonGreedy(Bandit):
    """Takes from the best run, and now and then from any."""

    def __init__(self, lists: TopicLists, seed: int, rate: float, credit: str, c: float, d: float) -> None:
        super().__init__(lists, seed, rate, credit)
        self.c = c
        self.d = d

    def values(self, draw: int) -> Floats:
        rng = self._rng(draw)
        runs = len(self.lists.runs)
        epsilon = min(1.0, self.c * runs / (self.d**2 * max(1, self.judged)))
        if rng.random() < epsilon:
            return rng.random(runs)
        mean = self.hits / np.maximum(self.plays, 1e-300)
        return np.where(self.plays > 0, mean, 0.5)


@ORDERS.register("epsilon-greedy", paper="Auer, Cesa-Bianchi & Fischer 2002; Losada, Parapar & Barreiro 2017")
def epsilon_greedy(
    lists: TopicLists,
    seed: int = 0,
    *,
    rate: Annotated[float, Within(0, 1)] = 1.0,
    credit: str = "all",
    c: Annotated[float, Within(0)] = 0.01,
    d: Annotated[float, Within(0, open=True)] = 0.1,
) -> Order:
    """A random run with probability min(1, c·runs / (d²·n)) after n judgments, else the run with the highest mean."""
    return EpsilonGreedy(lists, seed, rate, credit, c, d)


class RandomRun(Arms):
    """Takes from a random run."""

    def values(self, draw: int) -> Floats:
        return self._rng(draw).random(len(self.lists.runs))


@ORDERS.register("random", paper="Losada, Parapar & Barreiro 2017")
def random_run(lists: TopicLists, seed: int = 0) -> Order:
    """A random run each time: what learning has to beat."""
    return RandomRun(lists, seed)
