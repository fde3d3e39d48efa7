"""What does an organiser choose for a campaign? Which docs, in which order, on which scale, how often, who judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from assay.agreement.scales import Scale, scale_of
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.crowd import aggregation  # noqa: F401  (it registers all of them)
from assay.crowd.protocol import PROTOCOLS, Protocol, protocol_of
from assay.crowd.vote import AGGREGATIONS
from assay.data import Run
from assay.pooling.judging import SPREADS, Judging
from assay.pooling.orders import ORDERS
from assay.pooling.pools import pool

ORDER = "hedge"
AWAY_SECONDS = 900.0
"""How long a doc is kept for somebody who was asked, before it may go to others."""
MOST_LABELS = 2**31 - 1
"""The answers of a doc are counted in a column of 32 bits."""
USUAL = {"categories": "majority", "interval": "mean", "ratio": "geometric", "preference": "bradley-terry"}
"""How the labels of a doc become one grade, by the kind of scale."""
Item = tuple[str, str, str]
"""Topic, doc, and on preference scales the other doc, else an empty text."""


@dataclass(frozen=True)
class JudgingPlan:
    """All that an organiser chooses, beside the runs; a campaign keeps it as it is.

    order: a judging order that learns from every judgment. pool: instead of it a pool that is fixed beforehand. Both
    are names of `assay.pooling` with their parameters. scale: S2, S4, S100, magnitude, preference, or words from the
    lowest to the highest, `no<maybe<yes`. labels: how many people judge each doc. rel: the label from which on a doc is
    relevant, for orders that learn. gold_every: one doc of this many is a gold doc. seconds: at least this many on each
    doc; protocol: checks of a named protocol. budget: labels in all; price: of one. judges: who may judge; empty for
    every assessor. away: seconds after which a doc that somebody was asked may go to another.

    >>> JudgingPlan(scale="no<maybe<yes", labels=2).scale_of_labels.names
    ('no', 'maybe', 'yes')
    """

    order: str | None = ORDER
    pool: str | None = None
    depth: int | None = 100
    spread: str = "local"
    seed: int = 0
    scale: str = "S4"
    rel: float | None = None
    labels: int = 1
    guidelines: str = ""
    gold_every: int = 10
    seconds: float | None = None
    protocol: str = "none"
    aggregation: str | None = None
    budget: int | None = None
    price: float = 0.0
    judges: tuple[str, ...] = ()
    away: float = AWAY_SECONDS
    partners: int = 2
    """On preference scales: with how many docs of the pool each doc is compared."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", tuple(self.judges))
        self._check_docs()
        self._check_numbers()
        one_of("protocol", self.protocol, PROTOCOLS)
        scale = self.scale_of_labels
        if self.order is not None and scale.kind in ("ratio", "preference") and self.rel is None:
            what = f"order {self.order} learns which docs are relevant, and labels on the scale {scale.name} do not say"
            raise UsageError(f"{what}; give rel, or a pool instead of an order")
        if scale.kind == "categories" and any(np.diff(scale.levels) != 1):
            raise UsageError(f"the levels of a campaign are whole numbers one apart, not {scale.described()}")
        kind = AGGREGATIONS.entry(self.aggregated_by).facts["kind"]
        if (kind == "preferences") != (scale.kind == "preference"):
            raise UsageError(f"aggregation {self.aggregated_by} does not go with the scale {scale.name}")

    def _check_docs(self) -> None:
        if self.order is not None and self.pool is not None:
            raise UsageError(f"order {self.order} and pool {self.pool}: a campaign has one of the two; leave one out")
        if self.order is not None:
            ORDERS.entry(self.order)
        one_of("spread", self.spread, SPREADS)

    def _check_numbers(self) -> None:
        least = {"labels": 1, "gold_every": 2, "partners": 1, "depth": 1, "budget": 1, "seed": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if value is None and name in ("depth", "budget"):
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < low:
                raise UsageError(f"{name} is {value!r}; give a whole number of at least {low}")
        if self.labels > MOST_LABELS:
            raise UsageError(f"labels is {self.labels}; give a whole number of at most {MOST_LABELS}")
        for name in ("away", "price", "seconds", "rel"):
            value = getattr(self, name)
            if value is None and name in ("seconds", "rel"):
                continue
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
            if not is_number or value < 0:
                raise UsageError(f"{name} is {value!r}; give a number of at least 0")

    @cached_property
    def scale_of_labels(self) -> Scale:
        """The scale of the labels."""
        return scale_of(self.scale)

    @property
    def compares(self) -> bool:
        """Whether two docs are judged side by side."""
        return self.scale_of_labels.kind == "preference"

    @property
    def unit(self) -> str:
        """What is judged, in words."""
        return f"{self.one_unit}s"

    @property
    def one_unit(self) -> str:
        """One of what is judged, in words."""
        return "pair" if self.compares else "doc"

    @property
    def relevant_from(self) -> float:
        """The label from which on a doc is relevant: as chosen, else the second level or the middle of numbers."""
        return self.scale_of_labels.relevant_from if self.rel is None else self.rel

    @property
    def aggregated_by(self) -> str:
        """How the labels of a doc become one grade."""
        return self.aggregation or USUAL[self.scale_of_labels.kind]

    def checks(self) -> Protocol:
        """What the labels of each person are held against."""
        return protocol_of(self.protocol, seconds=self.seconds)

    def label_of(self, label: Any) -> float:
        """A label as a number of the scale; words of the scale are taken too.

        >>> JudgingPlan(scale="no<yes").label_of("yes"), JudgingPlan(scale="S100").label_of(55)
        (1.0, 55.0)
        """
        scale = self.scale_of_labels
        words = scale.words()
        if isinstance(label, str) and label.strip() in words:
            return words[label.strip()]
        try:
            value = float(label)
        except (TypeError, ValueError):
            raise UsageError(f"label {label!r} is not on the scale {scale.described()}") from None
        if not _is_on(self.scale, value):
            raise UsageError(f"label {label!r} is not on the scale {scale.described()}")
        return value

    def record(self) -> dict[str, Any]:
        """The plan as plain data."""
        return asdict(self) | {"judges": list(self.judges)}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> JudgingPlan:
        """A plan from plain data; a choice that does not exist is an error."""
        known = [field.name for field in fields(cls)]
        for name in record:
            if name not in known:
                raise UsageError(f"no choice {name!r} of a campaign{did_you_mean(name, known)}")
        given = dict(record)
        if given.get("pool") is not None and "order" not in given:
            given["order"] = None
        return cls(**given)

    def session(self, runs: Sequence[Run]) -> Judging:
        """The judging session of the order, which knows relevant (1) and not relevant (0)."""
        if self.order is None:
            raise UsageError("the docs of this campaign are in a fixed order; there is no session")
        return Judging(runs, self.order, depth=self.depth, seed=self.seed, spread=self.spread)

    def docs_of(self, runs: Sequence[Run]) -> list[tuple[str, str]]:
        """The docs to judge, topic by topic, in the order of the pool or of the first docs of the order."""
        if self.order is not None:
            session = self.session(runs)
            pairs = []
            for topic, order in zip(session.topics, session.orders, strict=True):
                every = order.lists.docs.take(order.next(len(order.lists.docs))).tolist()
                pairs += [(topic, doc) for doc in every]
            return pairs
        pooled = pool(runs, self.pool or "depth(k=100)", depth=self.depth, budget=None)
        names = [pooled.topics[t] for t in pooled.topic.tolist()]
        return list(zip(names, pooled.docs.tolist(), strict=True))

    def items_of(self, docs: Sequence[tuple[str, str]]) -> list[Item]:
        """What is judged: each doc, or on preference scales each doc beside the next ones of its topic."""
        if not self.compares:
            return [(topic, doc, "") for topic, doc in docs]
        by_topic: dict[str, list[str]] = {}
        for topic, doc in docs:
            by_topic.setdefault(topic, []).append(doc)
        pairs = []
        for topic, own in by_topic.items():
            for step in range(1, self.partners + 1):
                pairs += [(topic, one, other) for one, other in zip(own, own[step:], strict=False)]
        return pairs


@lru_cache(maxsize=1000)
def _is_on(scale: str, value: float) -> bool:
    """Whether a number is on a scale; it is asked for every judgment, and the numbers are few."""
    return bool(np.isfinite(value)) and not scale_of(scale).outside(np.array([value]))[0]


def checked_items(given: Iterable[Sequence[str]], plan: JudgingPlan) -> list[Item]:
    """Items that a person gives: (topic, doc), or on preference scales (topic, doc, other); each once.

    >>> checked_items([("1", "a"), ("1", "b")], JudgingPlan(order=None))
    [('1', 'a', ''), ('1', 'b', '')]
    """
    pairs = plan.compares
    width = 3 if pairs else 2
    checked: list[Item] = []
    for item in given:
        if isinstance(item, str) or len(item) != width:
            form = "(topic, doc, other doc)" if pairs else "(topic, doc)"
            raise UsageError(f"{item!r} where {form} is expected on the scale {plan.scale}")
        topic, doc, *rest = (str(part) for part in item)
        other = rest[0] if rest else ""
        if doc == other:
            raise DataError(f"doc {doc!r} of topic {topic!r} is compared with itself")
        checked.append((topic, doc, other))
    for one, following in pairwise(sorted(checked)):
        if one == following:
            raise DataError(f"doc {one[1]!r} of topic {one[0]!r} is there twice; every doc is judged once")
    return checked
