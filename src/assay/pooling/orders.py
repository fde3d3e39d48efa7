"""What to judge next? The protocol of all judging orders, their registry, and the orders that give every doc a score.

Where it stands: lists of one topic → **order** ⇄ judgments. An order is a function of the lists, the seed and the
judgments so far, in their order: asking twice gives the same docs, and the same judgments again give the same state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, Protocol

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import Registry, Within
from assay.data.lists import TopicLists
from assay.pooling.pools import take, to_twelve_digits


class Order(Protocol):
    """Decides what to judge next on one topic. Docs are numbers of the topic's lists."""

    lists: TopicLists

    def next(self, n: int = 1) -> Ints:
        """The docs to judge next, best first, as if nothing were judged in between; fewer when the pool runs out."""
        ...

    def tell(self, doc: int, relevant: bool) -> None:
        """A doc has been judged."""
        ...

    def value(self) -> float:
        """How promising the next doc is, to compare topics; −inf when the whole pool is judged."""
        ...


ORDERS: Registry[Callable[..., Order]] = Registry("judging order")
"""Every judging order; each takes the lists of one topic and a seed."""


class Scored(ABC):
    """An order in which the unjudged doc of the highest score comes next, ties by doc id, ascending."""

    def __init__(self, lists: TopicLists) -> None:
        self.lists = lists
        self.known = np.zeros(len(lists.docs), dtype=bool)

    @abstractmethod
    def scores(self) -> Floats:
        """The score of every doc."""

    def learn(self, doc: int, relevant: bool) -> None:  # noqa: B027 (most orders learn nothing more)
        """What a judgment changes."""

    def next(self, n: int = 1) -> Ints:
        scores = self._unjudged_scores()
        left = int((~self.known).sum())
        if n == 1 and left:
            best = scores.argmax()
            return np.array([best])
        best_first = np.argsort(-scores, kind="stable")
        return best_first[: min(n, left)]

    def tell(self, doc: int, relevant: bool) -> None:
        if not self.known[doc]:
            self.known[doc] = True
            self.learn(doc, relevant)

    def value(self) -> float:
        return float(self._unjudged_scores().max(initial=-np.inf))

    def _unjudged_scores(self) -> Floats:
        """The score of every doc, −inf where it is judged."""
        return np.where(self.known, -np.inf, self.scores())


class Fixed(Scored):
    """An order that no judgment changes."""

    def __init__(self, lists: TopicLists, scores: Floats) -> None:
        super().__init__(lists)
        self._scores = scores

    def scores(self) -> Floats:
        return self._scores


@ORDERS.register("depth", paper="Spärck Jones & van Rijsbergen 1975")
def depth(lists: TopicLists, seed: int = 0) -> Order:
    """The first doc of every run, then the second of every run, …: what a pool of rising depth judges."""
    docs, _ = take(lists)
    scores = np.zeros(len(lists.docs))
    scores[docs] = -np.arange(len(docs), dtype=np.float64)
    return Fixed(lists, scores)


class Hedge(Scored):
    """See `hedge`; log weights are kept, so that none vanishes."""

    def __init__(self, lists: TopicLists, beta: float) -> None:
        super().__init__(lists)
        self.log_beta = float(np.log(beta))
        self.missing_value = past_the_end(lists)
        # Above what a run gives a doc that it lacks: a run that outweighs all others leaves them the docs it lacks.
        above_missing = precision_share(lists) - self.missing_value[:, None]
        self.excess = np.where(lists.ranks > 0, above_missing, 0.0)
        self.log_weights = np.zeros(len(lists.runs))

    def weights(self) -> Floats:
        """The weights of the runs; their sum is 1."""
        shifted = np.exp(self.log_weights - self.log_weights.max(initial=-np.inf))
        return np.asarray(shifted / shifted.sum())

    def scores(self) -> Floats:
        return to_twelve_digits(self.weights() @ self.excess)

    def learn(self, doc: int, relevant: bool) -> None:
        value = self.excess[:, doc] + self.missing_value
        loss = -0.5 * value if relevant else 0.5 * value
        self.log_weights = self.log_weights + self.log_beta * loss


@ORDERS.register("hedge", paper="Aslam, Pavlu & Savell 2003")
def hedge(lists: TopicLists, seed: int = 0, *, beta: Annotated[float, Within(0, 1, open=True)] = 0.1) -> Order:
    """The doc that the weighted runs value most; a run loses weight, by β^loss, for nonrelevant docs it ranks high.

    Value of a doc to a run: ln(Z / rank), Z the number of pooled docs, about its share of the run's total precision;
    a doc that the run lacks has the mean of ln(Z / i) over the ranks i past the run's end. Loss: ± half of the value.
    """
    return Hedge(lists, beta)


def precision_share(lists: TopicLists) -> Floats:
    """ln(Z / rank), runs × docs; for docs that a run lacks the mean over the ranks past its end."""
    ranks = np.maximum(lists.ranks, 1)
    values = np.log(len(lists.docs) / ranks)
    missing_value = past_the_end(lists)[:, None]
    return np.where(lists.ranks > 0, values, missing_value)


def past_the_end(lists: TopicLists) -> Floats:
    """The mean of ln(Z / i) over the ranks past each run's end, 0 where it has every doc."""
    z = len(lists.docs)
    ranks = np.arange(1.0, z + 1)
    values = np.log(z / ranks)
    sum_from_here = np.cumsum(values[::-1])[::-1]
    sum_after = np.append(sum_from_here, 0.0)  # after n ranks, for n from 0 to Z
    ranks_after = np.maximum(1, z - lists.sizes)
    return np.asarray(sum_after[lists.sizes] / ranks_after)


class Residual(Scored):
    """See `residual`."""

    def __init__(self, lists: TopicLists, p: float, urgency: Callable[[Floats, Floats], Floats]) -> None:
        super().__init__(lists)
        rbp_weight = (1 - p) * p ** (lists.ranks - 1.0)
        self.weight = np.where(lists.ranks > 0, rbp_weight, 0.0)
        self.urgency = urgency
        self.base = np.zeros(len(lists.runs))
        self.tail = p ** lists.sizes.astype(np.float64)

    def scores(self) -> Floats:
        # What is left is added up anew: 1 − Σ would keep no digit of it when almost all is judged.
        residual = self.weight @ ~self.known + self.tail
        run_weights = self.urgency(self.base, residual)
        return to_twelve_digits(run_weights @ self.weight)

    def learn(self, doc: int, relevant: bool) -> None:
        self.base = self.base + relevant * self.weight[:, doc]


AIMS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "minimise": lambda base, residual: np.ones_like(base),
    "equalise": lambda base, residual: residual,
    "top": lambda base, residual: residual * (base + residual / 2) ** 3,
}
"""What a run's weights count for, from its RBP base and residual: methods A, B and C of the paper."""


@ORDERS.register("residual", paper="Moffat, Webber & Zobel 2007")
def residual(
    lists: TopicLists, seed: int = 0, *, p: Annotated[float, Within(0, 1, open=True)] = 0.8, aim: str = "top"
) -> Order:
    """The doc with the greatest RBP weight over all runs: (1 − p)·p^(rank − 1), times what each run's residual counts.

    aim="minimise" the sum of the weights (a fixed order), "equalise" each times the run's residual, "top" also times
    (base + residual / 2)³, which favours the runs that look best.
    """
    if aim not in AIMS:
        raise UsageError(f"residual(aim={aim}): no such aim; known: {', '.join(AIMS)}")
    return Residual(lists, p, AIMS[aim])


def order_of(text: str, lists: TopicLists, *, seed: int = 0) -> Order:
    """The order that a text such as `hedge(beta=0.2)` names, on the lists of one topic.

    >>> from assay.data import Run
    >>> from assay.data.lists import collected
    >>> seen = collected([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]).topic(0)
    >>> order = order_of("hedge", seen)
    >>> order.tell(int(order.next()[0]), True)
    >>> seen.docs.take(order.next()).tolist()
    ['x']
    """
    order: Order = ORDERS.call(text, lists, seed)
    return order
