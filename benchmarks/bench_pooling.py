"""Judging orders on a topic of 3,000 pooled docs: time from a judgment to the next doc, against the 10 ms asked.

`rows()` gives (what, ratio asked, ratio seen, note): the ratio is 10 ms over the slowest of many judgments, 1 is
just met. The last row compares with plain loops. Times are the processor's, so that a busy machine does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from assay.data import Run
from assay.data.lists import TopicLists, collected
from assay.pooling.judging import ORDERS, order_of
from assay.pooling.orders import precision_share

RUNS, DEPTH, DOCS, JUDGMENTS = 143, 100, 4000, 100
LIMIT = 0.010


def rows() -> list[tuple[str, float, float, str]]:
    """One row per order, then Hedge's scores against plain loops."""
    topic = big_topic()
    out = []
    for name in ORDERS.names():
        slowest, mean = _times(name, topic)
        note = f"{len(topic.docs)} docs, {RUNS} runs: mean {1e3 * mean:.2f} ms, slowest {1e3 * slowest:.2f} ms"
        out.append((f"next doc after a judgment, {name}", 1.0, LIMIT / slowest, note))
    out.append(("hedge: scores against plain loops", 20.0, *_hedge_against_loops(topic)))
    return out


def big_topic() -> TopicLists:
    """143 runs of 100 docs, alike at the top, that pool about 3,000 docs."""
    rng = np.random.default_rng(0)
    appeal = rng.gumbel(size=DOCS)
    rankings = [np.argsort(-(2.2 * appeal + 3 * rng.gumbel(size=DOCS)))[:DEPTH] for _ in range(RUNS)]
    runs = [Run.from_lists(f"r{s}", {"1": [f"d{d:05d}" for d in r]}) for s, r in enumerate(rankings)]
    return collected(runs).topic(0)


def _times(name: str, topic: TopicLists) -> tuple[float, float]:
    """The slowest and the mean time to take in a judgment and name the next doc."""
    rng = np.random.default_rng(1)
    order = order_of(name, topic)
    doc, spent = int(order.next()[0]), []
    for _ in range(JUDGMENTS):
        relevant = bool(rng.random() < 0.3)
        start = time.process_time()
        order.tell(doc, relevant)
        doc = int(order.next()[0])
        spent.append(time.process_time() - start)
    return max(spent), float(np.mean(spent))


def _hedge_against_loops(topic: TopicLists) -> tuple[float, str]:
    """One decision of Hedge against the same sums in Python, on a tenth of the docs, times ten."""
    order = order_of("hedge", topic)
    ours = _best(lambda: order.next())
    gain, part = precision_share(topic).tolist(), len(topic.docs) // 10

    def loops() -> int:
        scores = [sum(row[d] for row in gain) / len(gain) for d in range(part)]
        return max(range(part), key=scores.__getitem__)

    theirs = 10 * _best(loops)
    return theirs / ours, f"{1e3 * ours:.2f} ms against {1e3 * theirs:.1f} ms"


def _best(work: Callable[[], object], repeats: int = 5) -> float:
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


if __name__ == "__main__":
    for what, asked, seen, note in rows():
        print(f"{what:48s} asked {asked:6.1f}  seen {seen:8.1f}  {note}")
