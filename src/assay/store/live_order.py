"""Which docs would the order of a campaign judge next, given all that the store holds? `Judging` behind a store.

Every process has the session in memory and brings it up to date from the log before it is asked; the store alone says
what was judged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from assay.data import Run
from assay.pooling.journal import Judgment
from assay.pooling.judging import Judging
from assay.store.judging_plan import JudgingPlan
from assay.store.schema import answers, items, judgments, sa

OVERLAP = 500
"""Numbers of the log that are looked at again: on a server a lower number may be committed after a higher one."""


class LiveOrder:
    """The judging session of a campaign, brought up to date from its log."""

    def __init__(self, campaign_id: int, plan: JudgingPlan, runs: Callable[[], Sequence[Run]]) -> None:
        self._id = campaign_id
        self._plan = plan
        self._runs = runs
        self._lock = threading.RLock()
        self._session: Judging | None = None
        self._fresh: Judging | None = None
        self._items_of: dict[tuple[str, str], list[int]] = {}
        self._pair_of: dict[int, tuple[str, str]] = {}
        self._latest = 0
        self._seen: dict[int, int] = {}
        """The latest numbers of the log that the session knows, and their items."""
        self._again: set[int] = set()
        """Items whose judgments are to be looked at again."""

    def next_items(self, connection: sa.Connection, n: int, topic: str | None = None) -> list[int]:
        """The next n items of the order, best first; fewer only where there are no more that nobody has judged yet.

        Docs of the order need not be items: gold docs are asked in turns of their own, and on preference scales a doc
        may be the first of several pairs, or of none.
        """
        with self._lock:
            session = self.session(connection)
            docs = n
            while True:
                pairs = self._next_docs(session, docs, topic)
                found = [item for pair in pairs for item in self._items_of.get(pair, ())]
                if len(found) >= n or len(pairs) < docs:
                    return found[:n]
                docs *= 2

    def _next_docs(self, session: Judging, n: int, topic: str | None) -> list[tuple[str, str]]:
        """The next n docs of the order, whether or not they are items of the campaign."""
        if topic is None:
            return session.next(n)
        if topic not in session.topics:
            return []
        order = session.orders[session.topics.index(topic)]
        return [(topic, doc) for doc in order.lists.docs.take(order.next(n)).tolist()]

    def prepare(self) -> None:
        """Read the runs and make the session, which may take a while, before a transaction waits for it."""
        with self._lock:
            if self._session is None and self._fresh is None:
                self._fresh = self._plan.session(self._runs())

    def forget_latest(self) -> None:
        """Look at the end of the log again: what a transaction read that was not kept may never have happened."""
        with self._lock:
            self._again |= set(self._seen.values())
            self._seen = {}
            self._latest = max(0, self._latest - OVERLAP)

    def session(self, connection: sa.Connection) -> Judging:
        """The session with all judgments of the store."""
        with self._lock:
            if self._session is None:
                self._session = self._fresh or self._plan.session(self._runs())
                self._fresh = None
                self._number_items(connection)
            self._catch_up(connection, self._session)
            return self._session

    def _number_items(self, connection: sa.Connection) -> None:
        rows = connection.execute(
            sa.select(items.c.id, items.c.topic, items.c.doc)
            .where(items.c.campaign_id == self._id, items.c.gold.is_(None))
            .order_by(items.c.place)
        )
        for row in rows:
            self._items_of.setdefault((row.topic, row.doc), []).append(row.id)
            self._pair_of[row.id] = (row.topic, row.doc)

    def _catch_up(self, connection: sa.Connection, session: Judging) -> None:
        """Tell the session what is new in the log."""
        newer = sa.select(judgments.c.number, judgments.c.item_id, judgments.c.kind).where(
            judgments.c.campaign_id == self._id, judgments.c.number > self._latest - OVERLAP
        )
        rows = connection.execute(newer.order_by(judgments.c.number)).all()
        unseen = [row for row in rows if row.number not in self._seen]
        if not unseen and not self._again:
            return
        touched = [row.item_id for row in unseen if row.kind != "skip"]
        touched += sorted(self._again)
        docs = dict.fromkeys(self._pair_of[item] for item in touched if item in self._pair_of)
        for (topic, doc), relevant in self._relevance(connection, list(docs)).items():
            self._tell(session, topic, doc, relevant)
        self._again = set()
        if rows:
            self._latest = max(self._latest, rows[-1].number)
        self._seen = {row.number: row.item_id for row in rows if row.number > self._latest - OVERLAP}

    def _relevance(
        self, connection: sa.Connection, docs: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], bool | None]:
        """Whether more than half of the labels of each doc say relevant; None where one of its items has no label."""
        touched = [item for doc in docs for item in self._items_of[doc]]
        labels: dict[int, list[float]] = {item: [] for item in touched}
        for start in range(0, len(touched), 500):
            some = touched[start : start + 500]
            counted = sa.select(answers.c.item_id, answers.c.label).where(
                answers.c.item_id.in_(some), answers.c.label.is_not(None), answers.c.counted
            )
            for row in connection.execute(counted):
                labels[row.item_id].append(row.label)
        relevance: dict[tuple[str, str], bool | None] = {}
        for doc in docs:
            given = [labels[item] for item in self._items_of[doc]]
            every = [label for of_item in given for label in of_item]
            relevant = sum(label >= self._plan.relevant_from for label in every)
            relevance[doc] = 2 * relevant > len(every) if all(given) else None
        return relevance

    def _tell(self, session: Judging, topic: str, doc: str, relevant: bool | None) -> None:
        judged = session.judgments[session.topics.index(topic)]
        if relevant is None:
            if doc in judged:
                session.forget(topic, doc)
        elif judged.get(doc) != int(relevant):
            session.tell([Judgment(topic, doc, int(relevant))])
