"""What to judge next over all topics? A session: one order per topic, the docs to judge, the judgments made.

Where it stands: lists → **session** ⇄ a person or a qrels file → judgments. The same judgments in the same order bring
a session to the same state: a journal of judgments is all that is needed to resume.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from assay.core.arrays import Bools, places_within
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.data import Qrels
from assay.data.lists import TopicLists
from assay.io.column_names import Named
from assay.pooling import bandits  # noqa: F401  (it registers its orders)
from assay.pooling.journal import Judgment
from assay.pooling.label_variance import LabelVariance
from assay.pooling.mtc import Confidence, MinimalTest, confidence
from assay.pooling.orders import ORDERS, Order, order_of
from assay.pooling.run_weights import Reweighting
from assay.pooling.voters import Collected, lists_of, voters

__all__ = ["ORDERS", "SPREADS", "Judging", "order_of", "topic_orders"]

SPREADS = ("local", "global")


class Judging:
    """Judging all topics by one order; runs are given as to `pool`.

    spread="local" gives every topic the same number of judgments, one each in turn; "global" judges where the order
    expects most. A grade of at least `rel` is relevant. With by="group" the runs of a group vote together.
    machine: {topic: {doc: label}} of a machine judge, for orders that look at labels.
    columns: our column → that of the tables which have it.

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
        machine: Mapping[str, Mapping[str, float]] | None = None,
        columns: Named = None,
    ) -> None:
        one_of("spread", spread, SPREADS)
        ORDERS.entry(order)  # a name that does not exist is an error also where there is no topic
        lists = lists_of(runs, columns=columns)
        self.topics = lists.topics
        self.rel = rel
        self.spread = spread
        self._lists = [voters(lists, t, by=by, depth=depth) for t in range(len(lists.topics))]
        self._order = order
        self._seed = seed
        self._machine = machine
        if machine is not None and ORDERS.entry(order).facts.get("needs") != "labels":
            raise UsageError(f"order {order} does not look at machine labels; leave them out, or take label-variance")
        self.recipe = f"order {order}, depth {depth}, spread {spread}, seed {seed}"
        self.orders = self._fresh_orders()
        self.judgments: list[dict[str, int]] = [{} for _ in self.topics]

    def next(self, n: int = 1) -> list[tuple[str, str]]:
        """The next n (topic, doc) to judge, as if nothing were judged in between; fewer when the pools run out."""
        if n < 1:
            raise UsageError(f"{n} docs to judge; ask for at least 1")
        offers: list[list[str]] = [[] for _ in self.topics]
        out: list[tuple[str, str]] = []
        for t in self._turns(n):
            if not offers[t]:
                order = self.orders[t]
                best_first = order.lists.docs.take(order.next(n)).tolist()
                offers[t] = best_first[::-1]
            if offers[t]:
                best = offers[t].pop()
                out.append((self.topics[t], best))
        return out

    def _turns(self, n: int) -> list[int]:
        """The topics that give the next n docs, in order; a topic comes at most as often as it has docs left."""
        judged = np.array([len(judgments) for judgments in self.judgments], dtype=np.int64)
        pooled = np.array([len(order.lists.docs) for order in self.orders], dtype=np.int64)
        left = pooled - judged
        turns_of_topic = np.minimum(left, n)
        topic = np.repeat(np.arange(len(left)), turns_of_topic)
        turn = places_within(turns_of_topic)
        done = judged[topic]
        if self.spread == "local":
            first_to_last = np.lexsort((topic, done + turn))
        else:
            values = np.full(len(left), -np.inf)
            for t in np.flatnonzero(left):
                values[t] = self.orders[t].value()
            first_to_last = np.lexsort((topic, done, -values[topic], turn))
        in_turn: list[int] = topic[first_to_last][:n].tolist()
        return in_turn

    def tell(self, judgments: Iterable[Judgment]) -> None:
        """Judgments have been made. A doc judged again is corrected; a doc outside the pool is an error."""
        for judgment in judgments:
            t = self._topic(judgment.topic)
            doc = self.orders[t].lists.number(judgment.doc)
            grade = judgment.grade
            corrected = self.judgments[t].get(judgment.doc, grade) != grade
            self.judgments[t][judgment.doc] = grade
            if corrected:
                self._restart()
            else:
                self.orders[t].tell(doc, grade >= self.rel)

    def forget(self, topic: str, doc: str) -> None:
        """A judgment was taken back: the doc is asked again. One that is not judged is an error.

        >>> from assay.data import Run
        >>> session = Judging([Run.from_lists("a", {"1": ["x", "y"]})], "depth")
        >>> session.tell([Judgment("1", "x", 1)])
        >>> session.forget("1", "x")
        >>> session.next()
        [('1', 'x')]
        """
        judged = self.judgments[self._topic(topic)]
        if doc not in judged:
            raise DataError(f"doc {doc!r} of topic {topic!r} is not judged; there is nothing to forget")
        del judged[doc]
        self._restart()

    def qrels(self) -> Qrels:
        """All that has been judged."""
        judged = {}
        for topic, judgments in zip(self.topics, self.judgments, strict=True):
            if judgments:
                judged[topic] = judgments
        return Qrels.from_dict(judged, name="judged")

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

    def _fresh_orders(self) -> list[Order]:
        """An order for every topic that knows the machine's labels and no judgment."""
        orders = topic_orders(self._lists, self._order, seed=self._seed)
        if self._machine is None:
            return orders
        top = max((label for labels in self._machine.values() for label in labels.values()), default=1.0)
        for topic, order in zip(self.topics, orders, strict=True):
            if isinstance(order, LabelVariance):
                order.given(self._machine.get(topic, {}), max(1.0, top))
        return orders

    def _restart(self) -> None:
        """After a correction: fresh orders that learn all judgments as they are now."""
        self.orders = self._fresh_orders()
        for order, judgments in zip(self.orders, self.judgments, strict=True):
            for doc_id, grade in judgments.items():
                doc = order.lists.number(doc_id)
                order.tell(doc, grade >= self.rel)


def topic_orders(every_list: Sequence[TopicLists], order: str, *, seed: int = 0) -> list[Order]:
    """The same order on the lists of every topic; orders that weigh runs over all topics share their weights."""
    orders = [order_of(order, lists, seed=seed) for lists in every_list]
    sharing = [one for one in orders if isinstance(one, Reweighting)]
    for one in sharing[1:]:
        one.share(sharing[0])
    return orders
