"""Which docs of a pool are judged if only a random sample can be? Sampled pools, with the probability of every doc.

Where it stands: lists → pool → **sample** → judgments from which infAP, xinfAP and statAP estimate scores. The fifth
column of a qrels file holds the probabilities; docs of the pool that were not drawn stand in it with grade −1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.core.arrays import Bools, Floats, Ints, places_within
from assay.core.engine import generators
from assay.core.errors import UsageError
from assay.core.ids import Ids
from assay.core.registry import Registry, Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.lists import Lists, TopicLists
from assay.pooling.pools import depth as depth_pool
from assay.pooling.voters import POOLED, Collected, lists_of, voters

Draw = tuple[Ints, Floats, Bools]
"""The pooled docs of a topic, their inclusion probabilities, and which of them were drawn."""

SAMPLES: Registry[Callable[..., Draw]] = Registry("sample")
"""Sampling designs; each takes the lists of one topic and a generator."""


@dataclass(frozen=True, eq=False)
class Sample(Result):
    """A sampled pool: every pooled doc, its inclusion probability in (0, 1], and whether it is to be judged."""

    method: str
    seed: int
    topics: tuple[str, ...]
    topic: Ints
    items: Ints
    docs: Ids
    probabilities: Floats
    chosen: Bools

    def __len__(self) -> int:
        return len(self.items)

    def drawn(self) -> int:
        """How many docs the lot chose."""
        return int(self.chosen.sum())

    def qrels(self, lists: Lists | None = None, *, unjudged: int = POOLED) -> Qrels:
        """The pool as judgments with probabilities: the chosen docs with their grade in the lists, the others −1.

        A chosen doc that the lists have no judgment of gets `unjudged`. Without lists every grade is −1.
        """
        grades = np.full(len(self), POOLED, dtype=np.int64)
        if lists is not None:
            known = lists.grades[self.items]
            if_chosen = np.where(known >= 0, known, unjudged)
            chosen_grades = np.where(self.chosen, if_chosen, POOLED)
            grades = chosen_grades.astype(np.int64)
        topic_numbers = np.arange(len(self.topics) + 1)
        bounds = np.searchsorted(self.topic, topic_numbers)
        return Qrels(self.topics, bounds, self.docs, grades, self.probabilities, name="sample")

    def table(self) -> Table:
        """One row per doc that is to be judged."""
        chosen = np.flatnonzero(self.chosen)
        topics = [self.topics[t] for t in self.topic[chosen].tolist()]
        docs = self.docs.take(chosen).tolist()
        probabilities = self.probabilities[chosen]
        note = f"{self.drawn()} docs drawn of {len(self)} pooled; sample {self.method}, seed {self.seed}"
        return Table.of(
            {"topic": "", "doc": "", "probability": ".5f"},
            list(zip(topics, docs, probabilities, strict=True)),
            caption="Docs to judge",
            notes=[note],
        )


def sample(runs: Collected, method: str = "uniform(share=0.1)", *, seed: int = 0) -> Sample:
    """A sampled pool of every topic. The draw of a topic depends on the seed and the topic's number alone.

    >>> from assay.data import Run
    >>> drawn = sample([Run.from_lists("a", {"1": list("uvwxyz")})], "uniform(share=0.5)")
    >>> len(drawn), int(drawn.chosen.sum()), drawn.probabilities.tolist()
    (6, 3, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """
    lists = lists_of(runs)
    topics = [np.zeros(0, dtype=np.int64)]
    items = [np.zeros(0, dtype=np.int64)]
    probabilities = [np.zeros(0)]
    chosen = [np.zeros(0, dtype=bool)]
    for t, rng in enumerate(generators(seed, len(lists.topics))):
        topic_lists = voters(lists, t)
        docs, topic_probabilities, topic_chosen = SAMPLES.call(method, topic_lists, rng)
        topics.append(np.full(len(docs), t))
        items.append(topic_lists.items[docs])
        probabilities.append(topic_probabilities)
        chosen.append(topic_chosen)
    pooled = np.concatenate(items)
    return Sample(
        method=method,
        seed=seed,
        topics=lists.topics,
        topic=np.concatenate(topics),
        items=pooled,
        docs=lists.docs.take(pooled),
        probabilities=np.concatenate(probabilities),
        chosen=np.concatenate(chosen),
    )


@SAMPLES.register("uniform", paper="Yilmaz & Aslam 2006")
def uniform(
    lists: TopicLists,
    rng: np.random.Generator,
    *,
    share: Annotated[float, Within(0, 1)] = 0.1,
    n: Annotated[int, Within(1)] | None = None,
    k: Annotated[int, Within(1)] = 100,
) -> Draw:
    """n docs (or a share) of the pool of depth k, each as likely as the other: what infAP needs."""
    docs, _ = depth_pool(lists, k=k)
    if n is None:
        n = _count(len(docs), share)
    wanted = min(n, len(docs))
    one_stratum = np.zeros(len(docs), dtype=np.int64)
    return _drawn(docs, one_stratum, np.array([wanted]), rng)


@SAMPLES.register("stratified", paper="Yilmaz, Kanoulas & Aslam 2008")
def stratified(lists: TopicLists, rng: np.random.Generator, *, depths: str = "10/100", rates: str = "1/0.1") -> Draw:
    """Strata by best rank (to each of the depths), each sampled at its rate: what xinfAP and infNDCG need.

    At least one doc of every stratum is drawn, so that none of it is hidden for good.
    """
    ends = _numbers(depths)
    shares = _numbers(rates)
    rising = sorted(set(ends)) == ends
    shares_are_valid = all(0 < share <= 1 for share in shares)
    if len(ends) != len(shares) or not rising or not shares_are_valid:
        raise UsageError(
            f"stratified(depths={depths}, rates={rates}): give as many rates in (0, 1] as rising depths, separated by /"
        )
    docs, _ = depth_pool(lists, k=int(ends[-1]))
    best_ranks = lists.best_ranks()[docs]
    stratum = np.searchsorted(np.array(ends), best_ranks)
    sizes = np.bincount(stratum, minlength=len(ends)).tolist()
    wanted = [_count(size, share) for size, share in zip(sizes, shares, strict=True)]
    return _drawn(docs, stratum, np.array(wanted), rng)


@SAMPLES.register("statap", paper="Aslam, Pavlu & Yilmaz 2006; Pavlu & Aslam 2007")
def stat_ap(
    lists: TopicLists,
    rng: np.random.Generator,
    *,
    n: Annotated[int, Within(1)] = 50,
    k: Annotated[int, Within(1)] = 100,
) -> Draw:
    """n draws with unequal probabilities, docs at the top of many runs more often: what statAP needs.

    The prior of rank r in a list of Z docs is W(r) = (1 + 1/r + … + 1/Z) / 2Z; a doc's prior is the mean over the
    runs. Docs, heaviest first, fall into buckets of n. Buckets are drawn n times with replacement by their mass P; a
    bucket drawn j times gives j of its docs. π = n·P / size of the bucket, which is P for a full one; a short last
    bucket joins the one before it. A pool of at most n docs is judged whole.
    """
    docs, _ = depth_pool(lists, k=k)
    prior = rank_prior(lists)[docs]
    heaviest_first = np.argsort(-np.round(prior, 15), kind="stable")
    docs = docs[heaviest_first]
    if len(docs) <= n:
        return docs, np.ones(len(docs)), np.ones(len(docs), dtype=bool)
    total = max(prior.sum(), np.finfo(float).tiny)
    mass_of_doc = prior[heaviest_first] / total
    last_bucket = len(docs) // n - 1
    bucket = np.minimum(np.arange(len(docs)) // n, last_bucket)
    mass = np.bincount(bucket, weights=mass_of_doc)
    size = np.bincount(bucket)
    draws = rng.multinomial(n, mass / mass.sum())
    _, _, chosen = _drawn(docs, bucket, draws, rng)
    inclusion = n * mass / size
    return docs, inclusion[bucket], chosen


def rank_prior(lists: TopicLists) -> Floats:
    """Mean over the runs of W(r) = (1 + 1/r + 1/(r+1) + … + 1/Z) / 2Z; the W of a list sum to 1.

    Runs without docs do not count.
    """
    # An empty list is treated as one of length 1; it has no docs that could take the weight.
    z = np.maximum(lists.sizes, 1)[:, None]
    ranks = np.arange(1, z.max() + 1)
    harmonic = np.append(0.0, np.cumsum(1.0 / ranks))
    above = harmonic[ranks - 1]
    weights = (1 + harmonic[z] - above) / (2 * z)  # runs × ranks
    run, place, doc = lists.cells
    total = np.bincount(doc, weights=weights[run, place], minlength=len(lists.docs))
    runs_with_docs = int((lists.sizes > 0).sum())
    return np.asarray(total / max(1, runs_with_docs))


def _drawn(docs: Ints, stratum: Ints, wanted: Ints, rng: np.random.Generator) -> Draw:
    """This many docs of each stratum, uniformly without replacement."""
    # Docs are shuffled within their stratum; the first ones are drawn.
    random = rng.random(len(docs))
    shuffled = np.lexsort((random, stratum))
    sizes = np.bincount(stratum, minlength=len(wanted))
    place = np.empty(len(docs), dtype=np.int64)
    place[shuffled] = places_within(sizes)
    probability = wanted / np.maximum(sizes, 1)
    return docs, probability[stratum], place < wanted[stratum]


def _count(size: int, share: float) -> int:
    """A share of a number of docs, rounded, at least one where there is any."""
    if share == 0:
        raise UsageError("a share of 0 draws nothing; give more")
    return min(size, max(1, round(share * size)))


def _numbers(text: str | float) -> list[float]:
    try:
        return [float(part) for part in str(text).split("/")]
    except ValueError:
        raise UsageError(f"{text!r} is not a list of numbers separated by /") from None
