"""How does a score follow from a sample of judged docs and machine grades of all? Sums and nDCG, with their errors.

Each doc has a pseudo-grade ĝ = f + [sampled]·(g − f)/π, f the machine's and g the human grade: right on average however
bad the machine is. A measure that adds up gains takes pseudo-grades as grades. nDCG divides by an ideal list that is
made of estimated counts of each grade: a ratio, right to first order, whose error follows from what each sampled doc
moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry
from assay.data.grades import UNJUDGED, Grades, gain_of
from assay.judges.calibration import calibrated
from assay.judges.labelled_pairs import Labelled
from assay.judges.listed import ListedPairs
from assay.measures import Measure, parse
from assay.scoring.policy import prepared
from assay.stats.bounded import shows_little

CELLS = 1 << 21
LEAST = 1.0
"""Estimated counts of relevant docs, and ideal DCGs, are not taken below this where a score is divided by them."""
LEAST_DEGREES = 2.0
DEEP = 20
"""Ranks over which what one doc adds is averaged, for a measure without a cutoff."""
ADDS_UP = ("DCG", "DCGjk", "P", "RBP", "SDCG", "INSQ", "CWLP", "CWLRBP", "tRBP")
"""Measures that are sums over ranks which no other judgment enters."""

Expansion = Callable[["SampledDocs", Measure], tuple[Floats, Floats, float]]
EXPANSIONS: Registry[Expansion] = Registry("expansion")
"""How a measure is estimated: scores, runs × topics; what each sampled doc moves, runs × docs; what one may."""


@dataclass(frozen=True, eq=False)
class SampledDocs:
    """Lists of pooled docs, the machine's grade of each, and which docs people judged with which probability."""

    lists: ListedPairs
    base: Floats
    sampled: Ints
    probability: Floats
    counted: bool = True
    """Whether machine labels may fill in the counts of grades; not where people stand alone."""

    @property
    def pairs(self) -> Labelled:
        """The pooled docs."""
        return self.lists.pairs

    @property
    def topic(self) -> Ints:
        """The topic of each sampled doc."""
        return self.pairs.topic[self.sampled]

    def pseudo(self, base: Floats, human: Floats) -> Floats:
        """ĝ of every doc, from grades (or anything else) of all by the machine, and of the sampled by people."""
        grades = base.copy()
        grades[self.sampled] += (human - base[self.sampled]) / self.probability
        return grades

    def by_topic(self, values: Floats) -> Floats:
        """Sums over the sampled docs of each topic, along the last axis."""
        topics = len(self.pairs.topics)
        inside = np.zeros((len(self.sampled), topics))
        inside[np.arange(len(self.sampled)), self.topic] = 1.0
        return values @ inside


def expansion_of(measure: Measure) -> str:
    """How a measure is estimated from sampled docs; an error where it cannot be."""
    if measure.condensed:
        raise UsageError(f"{measure}: condensed lists depend on who was sampled; take {measure.name} without the mark")
    if measure.name in ADDS_UP:
        return "sum"
    if measure.name in EXPANSIONS:
        return measure.name
    known = ", ".join([*ADDS_UP, *(entry.name for entry in EXPANSIONS if entry.name != "sum")])
    raise UsageError(f"no estimate of {measure} from sampled docs; known: {known}")


@EXPANSIONS.register("sum")
def of_sums(docs: SampledDocs, measure: Measure) -> tuple[Floats, Floats, float]:
    """Measures that add up gains: the score under the machine's grades, moved by each sampled doc by change/π."""
    lists = docs.lists
    pairs = lists.pairs
    scores = lists.scores(docs.base, pairs.scale, measure, "base").values
    changes = np.zeros((len(lists.runs), len(docs.sampled)))
    per_doc = len(lists.runs) * lists.at.shape[2]
    for part in chunks(len(docs.sampled), max(1, CELLS // max(1, per_doc))):
        rows = docs.sampled[part]
        changes[:, part] = _with_one_grade(docs, measure, rows) - scores[:, pairs.topic[rows]]
    return scores + docs.by_topic(changes / docs.probability), changes, _typical(docs, measure)


def _typical(docs: SampledDocs, measure: Measure) -> float:
    """The root mean square, over the ranks, of what one doc of the highest grade that people gave adds to a score."""
    pairs = docs.pairs
    high = float(pairs.human[docs.sampled].max(initial=0.0)) or pairs.scale.high
    depth = min(docs.lists.at.shape[2], measure.k or DEEP)
    ranks = np.full((depth, depth), UNJUDGED, dtype=np.float64)
    np.fill_diagonal(ranks, high)
    names = tuple(str(rank) for rank in range(depth))
    table = Grades(names, ranks, np.full(depth, depth), np.zeros((depth, 1)), top=pairs.scale.high)
    added = measure(prepared(table, docs.lists.policy))
    return float(np.sqrt((added**2).mean()))


def _with_one_grade(docs: SampledDocs, measure: Measure, rows: Ints) -> Floats:
    """runs × docs: the score of the doc's topic if that doc alone had its human grade."""
    lists = docs.lists
    pairs = lists.pairs
    topic = pairs.topic[rows]
    known = np.append(docs.base, [UNJUDGED, UNJUDGED])
    at = lists.at[:, topic]  # runs × docs × ranks
    ranked = np.where(at == rows[None, :, None], pairs.human[rows][None, :, None], known[at])
    runs = len(lists.runs)
    table = Grades(
        topics=tuple(pairs.topics[t] for t in topic.tolist()) * runs,
        ranked=ranked.reshape(runs * len(rows), -1),
        retrieved=lists.retrieved[:, topic].reshape(-1),
        ideal=np.zeros((runs * len(rows), 1)),  # sums look at no ideal list
        top=pairs.scale.high,
    )
    rules = replace(lists.policy, top=None if lists.policy.binary is not None else pairs.scale.high)
    return measure(prepared(table, rules)).reshape(runs, len(rows))


@EXPANSIONS.register("nDCG")
def of_ndcg(docs: SampledDocs, measure: Measure) -> tuple[Floats, Floats, float]:
    """DCG over the DCG of an ideal list with as many docs of each grade as are estimated to be in the pool."""
    given = dict(measure.parameters)
    gain = str(given.get("gain", "grade"))
    plain = parse("DCG")
    dcg, moved, typical = of_sums(docs, replace(plain, parameters=measure.parameters))
    ideal, ideal_moved = _ideal(docs, gain, given.get("k"))
    known = np.maximum(ideal, LEAST)
    scores = dcg / known
    topic = docs.topic
    # Where the least value stands in for the ideal, no doc moves it.
    moves = np.where(ideal[topic] > LEAST, ideal_moved, 0.0)
    return scores, (moved - scores[:, topic] * moves) / known[topic], typical * float((1 / known).mean())


def _ideal(docs: SampledDocs, gain: str, k: int | None) -> tuple[Floats, Floats]:
    """The ideal DCG of each topic, and by how much each sampled doc moves it."""
    pairs = docs.pairs
    sizes = np.diff(pairs.bounds)
    longest = int(sizes.max(initial=1)) if k is None else k
    discount = 1 / np.log2(np.arange(2, longest + 2))
    sums = np.append(0.0, np.cumsum(discount))
    levels = np.unique(pairs.human[docs.sampled])
    gains = gain_of(levels, gain)
    ideal = np.zeros(len(pairs.topics))
    moved = np.zeros(len(docs.sampled))
    for i in range(1, len(levels)):
        step = float(gains[i] - gains[i - 1])
        count, change = _count(docs, levels[i])
        within = np.clip(count, 0, np.minimum(sizes, longest))
        ideal += step * np.interp(within, np.arange(longest + 1), sums)
        slope = _slope(within, _spread(docs, change), sums, np.minimum(sizes, longest))
        moved += step * slope[docs.topic] * change
    # The lowest grade that occurs may have a gain of its own.
    lowest = float(gains[0]) if len(gains) else 0.0
    return ideal + lowest * sums[np.minimum(sizes, longest)], moved


def _spread(docs: SampledDocs, change: Floats) -> Floats:
    """The standard error of an estimated count in each topic."""
    variance = (1 - docs.probability) * (change / docs.probability) ** 2
    return np.sqrt(np.bincount(docs.topic, variance, minlength=len(docs.pairs.topics)))


def _slope(count: Floats, spread: Floats, sums: Floats, most: Ints) -> Floats:
    """By how much the ideal DCG grows per doc, on average within a standard error of the count.

    At 0 and at the cutoff it grows no more, so that the slope at the count itself would be too steep.
    """
    half = np.maximum(spread, 0.5)
    low = np.clip(count - half, 0, most)
    high = np.clip(count + half, 0, most)
    ranks = np.arange(len(sums))
    return (np.interp(high, ranks, sums) - np.interp(low, ranks, sums)) / (2 * half)


def _count(docs: SampledDocs, grade: float) -> tuple[Floats, Floats]:
    """The docs of at least that grade in each topic, estimated, and what each sampled doc adds beyond the machine."""
    pairs = docs.pairs
    people = (pairs.human >= grade).astype(np.float64)
    chance = np.zeros(len(pairs))
    if docs.counted:
        of_people = np.where(pairs.by_people, people, np.nan)
        weights = np.ones(len(pairs))
        weights[docs.sampled] = 1 / docs.probability
        found = calibrated(pairs.machine[0], of_people, pairs.topic, weights=weights)
        chance = np.where(np.isnan(found), 0.0, found)
    pseudo = docs.pseudo(chance, people[docs.sampled])
    total = np.bincount(pairs.topic, pseudo, minlength=len(pairs.topics))
    seen = np.bincount(docs.topic, people[docs.sampled], minlength=len(pairs.topics))
    return np.maximum(total, seen), people[docs.sampled] - chance[docs.sampled]


def relevant_known(docs: SampledDocs) -> tuple[float, float]:
    """Relevant docs among the sampled ones per topic, and the mean relative error of their estimated number."""
    levels = np.unique(docs.pairs.human[docs.sampled])
    levels = levels[levels > 0]
    if not len(levels):
        return 0.0, np.inf
    count, change = _count(docs, levels[0])
    seen = int((docs.pairs.human[docs.sampled] > 0).sum())
    return seen / len(docs.pairs.topics), float((_spread(docs, change) / np.maximum(count, LEAST)).mean())


@dataclass(frozen=True, eq=False)
class Design:
    """How the docs were drawn: the topic and the probability of every sampled doc."""

    topics: int
    topic: Ints
    probability: Floats

    def estimate(self, of_topic: Floats, changes: Floats, typical: float, kind: str) -> tuple[Floats, Floats, Floats]:
        """The mean over topics, its standard error, and degrees of freedom.

        Fixed topics, docs are the units: Σ_S (1 − π)(change/π)², the variance of independent draws, which draws of a
        fixed size stay below; and once more for a doc on which the machine is wrong by the whole scale, since one that
        never erred in the sample may err elsewhere. Degrees of freedom (Σv)²/Σv² over these terms, at least 2: no error
        in the sample leaves t·√v₀ = 4.3 such docs, where Clopper and Pearson leave 3.7. Random topics, which are the
        units: the variance of the estimates over them, which holds that of the draws already.
        """
        value = of_topic.mean(axis=1)
        if kind == "random":
            if self.topics < 2:
                raise DataError("1 topic; an interval over topics needs at least two")
            degrees = np.where(shows_little(of_topic), 0.0, self.topics - 1.0)
            return value, of_topic.std(axis=1, ddof=1) / np.sqrt(self.topics), degrees
        one_more = np.full((len(changes), 1), (typical / self.probability.mean()) ** 2 * (1 - self.probability.mean()))
        terms = np.append((changes / self.probability) ** 2 * (1 - self.probability), one_more, axis=1)
        variance, squares = terms.sum(axis=1), (terms**2).sum(axis=1)
        degrees = np.divide(variance**2, squares, out=np.ones(len(variance)), where=squares > 0)
        return value, np.sqrt(variance) / self.topics, np.maximum(degrees, LEAST_DEGREES)
