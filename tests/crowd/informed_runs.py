"""A world in which runs know more than the labels: 40 topics of 50 docs, hard docs, workers who are too sure.

True P@5 is .710 and .516, and the most probable grades say .48 and .39: labels that are right on average cannot see
why a run ranks a doc high.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from assay.core.arrays import Bools, Floats, Ints
from assay.core.ids import Ids
from assay.crowd.uncertain import Uncertain
from assay.data import Qrels, Run

TOPICS, DOCS, K = 40, 50, 5
TRUE_DIFFERENCE = 0.194
"""Mean over 2,000 worlds; Monte Carlo error .001."""
ITEMS = [(str(topic), str(doc)) for topic in range(TOPICS) for doc in range(DOCS)]


@dataclass(frozen=True)
class World:
    """Topics × docs: relevant or not, the right posterior and the one that the crowd has; and two rankings."""

    relevant: Floats
    calibrated: Floats
    raw: Floats
    rankings: tuple[Ints, Ints]

    def top(self, gains: Floats) -> Floats:
        """The difference of P@5 on each topic under these gains."""
        first, second = (np.take_along_axis(gains, ranking[:, :K], 1).mean(axis=1) for ranking in self.rankings)
        return first - second

    def runs(self) -> list[Run]:
        """The rankings as runs a and b."""
        found = []
        for name, ranking in zip("ab", self.rankings, strict=True):
            lists = {str(topic): [str(doc) for doc in docs] for topic, docs in enumerate(ranking.tolist())}
            found.append(Run.from_lists(name, lists))
        return found

    def judged(self, p: Floats) -> Uncertain:
        """Judgments with these probabilities of being relevant."""
        flat = p.ravel()
        shares = np.column_stack([1 - flat, flat])
        return Uncertain.of_posterior("world", ITEMS, shares, levels=[0, 1], labels=[5] * len(ITEMS))

    def gold(self, drawn: Bools, probability: Floats | None) -> Qrels:
        """People's grades of the drawn docs; the others stand there as not judged."""
        bounds = np.arange(0, TOPICS * DOCS + 1, DOCS)
        grades = np.where(drawn, self.relevant, -1).ravel().astype(np.int64)
        chance = None if probability is None else probability.ravel()
        return Qrels(tuple(map(str, range(TOPICS))), bounds, Ids.of([doc for _, doc in ITEMS]), grades, chance)


def world(rng: np.random.Generator) -> World:
    """Relevance by topic, evidence of labels, and two runs that see the relevance by themselves."""
    base = rng.normal(-1.4, 0.6, TOPICS)[:, None]
    shape = (TOPICS, DOCS)
    relevant = (rng.random(shape) < expit(base)).astype(np.float64)
    seen = 1.8 * relevant + rng.normal(size=shape)
    log_odds = base + 1.8 * seen - 1.8**2 / 2
    rankings = [np.argsort(-(skill * relevant + 0.2 * seen + rng.normal(size=shape)), axis=1) for skill in (1.25, 0.6)]
    return World(relevant, expit(log_odds), expit(1.6 * log_odds), (rankings[0], rankings[1]))


def uniform(rng: np.random.Generator, gold: int) -> tuple[Bools, Floats]:
    """So many gold docs of every topic, drawn at random; and with which probability."""
    drawn = rng.random((TOPICS, DOCS)).argsort(axis=1) < gold
    return drawn, np.full(drawn.shape, gold / DOCS)


def mostly_at_the_top(rng: np.random.Generator, gold: int, rankings: tuple[Ints, Ints]) -> tuple[Bools, Floats]:
    """Docs among the first 5 of a run ten times as probably as others."""
    weight = np.ones((TOPICS, DOCS))
    for ranking in rankings:
        np.put_along_axis(weight, ranking[:, :K], 10.0, axis=1)
    probability = np.minimum(1.0, gold * weight / weight.sum(axis=1, keepdims=True))
    return rng.random(weight.shape) < probability, probability
