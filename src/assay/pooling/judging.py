"""What to judge next over all topics? A session: one order per topic, the docs to judge, the judgments told.

Where it stands: lists → **session** ⇄ a person or a qrels file → judgments. Told the same judgments again in the same
order, a session stands where it stood: a journal of judgments is all that is needed to resume.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from assay.core.arrays import Bools
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data import Qrels
from assay.data.lists import TopicLists
from assay.pooling import bandits, doc_strengths, mtc  # noqa: F401  (they register their orders)
from assay.pooling.doc_strengths import Reweighting
from assay.pooling.journal import Judgment
from assay.pooling.mtc import Confidence, MinimalTest, confidence
from assay.pooling.orders import ORDERS, Order, order_of
from assay.pooling.voters import Collected, lists_of, voters

__all__ = ["ORDERS", "SPREADS", "Judging", "order_of", "topic_orders"]

SPREADS = ("local", "global")


class Judging:
    """Judging all topics by one order; runs are given as to `pool`.

    spread="local" gives every topic the same number of judgments, one each in turn; "global" judges where the order
    promises most. A grade of at least `rel` is relevant. With by="group" the runs of a group vote together.

    >>> from assay.data import Run
    >>> session = Judging([Run.from_lists("a", {"1": ["x", "y"], "2": ["z"]})], "hedge")
    >>> session.next(2)
    [('1', 'x'), ('2', 'z')]
    >>> session.tell([Judgment("1", "x", 1)])
    >>> session.next(), session.qrels().to_dict()
    ([('2', 'z')], {'1': {'x': 1}})
    """

    def __init__(
        self,
        runs: Collected,
        order: str = "move-to-front",
        *,
        depth: int | None = 100,
        rel: float = 1,
        seed: int = 0,
        spread: str = "local",
        by: str = "run",
    ) -> None:
        if spread not in SPREADS:
            raise UsageError(f"no spread {spread!r}; known: {', '.join(SPREADS)}")
        ORDERS.parse(order)  # a name that does not exist is an error also where there is no topic
        lists = lists_of(runs)
        self.topics, self.rel, self.spread = lists.topics, rel, spread
        self._seen = [voters(lists, t, by=by, depth=depth) for t in range(len(lists.topics))]
        self._order, self._seed = order, seed
        self.orders = topic_orders(self._seen, order, seed=seed)
        self.judgments: list[dict[str, int]] = [{} for _ in self.topics]

    def next(self, n: int = 1) -> list[tuple[str, str]]:
        """The next n (topic, doc) to judge, as if nothing were told in between; fewer when the pools run out."""
        if n < 1:
            raise UsageError(f"{n} docs to judge; ask for at least 1")
        offers: list[list[str]] = [[] for _ in self.topics]
        out: list[tuple[str, str]] = []
        for t in self._turns(n):
            if not offers[t]:
                order = self.orders[t]
                offers[t] = order.lists.docs.take(order.next(n)).tolist()[::-1]
            if offers[t]:
                out.append((self.topics[t], offers[t].pop()))
        return out[:n]

    def _turns(self, n: int) -> list[int]:
        """Topics in the order in which they give a doc, a topic as often as it may."""
        left = np.array([len(o.lists.docs) for o in self.orders]) - [len(j) for j in self.judgments]
        turn = np.repeat(np.arange(len(left)), np.minimum(left, n))
        again = np.concatenate([np.zeros(0, np.int64), *(np.arange(min(k, n)) for k in left)])
        done = np.array([len(j) for j in self.judgments])[turn]
        if self.spread == "local":
            return [int(t) for t in turn[np.lexsort((turn, done + again))][:n]]
        value = np.array([o.value() if k else -np.inf for o, k in zip(self.orders, left, strict=True)])[turn]
        return [int(t) for t in turn[np.lexsort((turn, done, -value, again))][:n]]

    def tell(self, judgments: Iterable[Judgment]) -> None:
        """Judgments have been made. A doc judged again is corrected; a doc outside the pool is an error."""
        for j in judgments:
            t = self._topic(j.topic)
            doc = self.orders[t].lists.number(j.doc)
            corrected = self.judgments[t].get(j.doc, j.grade) != j.grade
            self.judgments[t][j.doc] = j.grade
            if corrected:
                self._retell()
            else:
                self.orders[t].tell(doc, j.grade >= self.rel)

    def qrels(self) -> Qrels:
        """All that has been judged."""
        return Qrels.from_dict({t: j for t, j in zip(self.topics, self.judgments, strict=True) if j}, name="judged")

    def judged(self) -> int:
        """How many docs have been judged."""
        return sum(map(len, self.judgments))

    def confidence(self) -> Confidence:
        """For the order mtc: how sure it is which run is above which."""
        return confidence(self.orders)

    def focus(self, undecided: Bools) -> None:
        """For the order mtc: choose docs by their effect on these pairs of runs only."""
        for order in self.orders:
            if isinstance(order, MinimalTest):
                order.undecided = undecided

    def _topic(self, name: str) -> int:
        try:
            return self.topics.index(name)
        except ValueError:
            raise DataError(f"no topic {name!r} in the runs{did_you_mean(name, self.topics[:20])}") from None

    def _retell(self) -> None:
        """A correction: begin anew and tell everything as it is now."""
        self.orders = topic_orders(self._seen, self._order, seed=self._seed)
        for order, judged in zip(self.orders, self.judgments, strict=True):
            for doc, grade in judged.items():
                order.tell(order.lists.number(doc), grade >= self.rel)


def topic_orders(seen: Sequence[TopicLists], order: str, *, seed: int = 0) -> list[Order]:
    """The same order on the lists of every topic; orders that weigh runs over all topics are tied to one another."""
    orders = [order_of(order, lists, seed=seed) for lists in seen]
    together = [o for o in orders if isinstance(o, Reweighting)]
    for one in together[1:]:
        one.share(together[0])
    return orders
