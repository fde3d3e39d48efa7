"""Measures of the exposure that rankings give to groups of docs, held against what the groups should get.

They are functions of GroupedTopic, not of Grades, and have a registry of their own. The attention of rank r is
v(r) = 1/log₂ max(r, 2) (attention=log) or p^(r−1) (attention=geometric); a doc that is half of a group gives it half of
the attention of its rank. A topic may have several rankings, those of a policy that is drawn from again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.lazy import np
from assay.core.registry import Registry, Within, one_of
from assay.measures.long_tails import sum_over_ranks

FAIRNESS_MEASURES: Registry[Callable[..., float]] = Registry("fairness measure")
"""Every measure of group fairness; a function of one GroupedTopic."""
ATTENTIONS = ("log", "geometric")
COUNTED = ("relevant", "all")
"""Whose attention counts as exposure of a group: that of relevant docs, or of all docs."""
CELLS = 1000
"""Ranks whose attention is summed one by one."""
TARGETS = ("relevant", "population", "both", "equal")
"""What the groups should get: as the relevant docs, as a population, the mean of both, or all groups the same."""


@dataclass(frozen=True, eq=False)
class GroupedTopic:
    """One topic: the rankings and the relevant docs, docs as rows of shares in groups.

    A ranking is an array of docs × groups, best doc first; a row of zeros is a doc that gives exposure to no group.
    grades: those of the ranked docs, 0 where not relevant. relevant, relevant_grades: the relevant docs of the
    judgments. target: one of TARGETS. population: its shares, where the target needs them. unknown: the column of docs
    whose group is not known, of which the population says nothing.

    >>> one = GroupedTopic([np.eye(2)], [np.array([1, 0])], np.eye(2), np.array([1, 1]))
    >>> one.distribution().tolist()
    [0.5, 0.5]
    """

    rankings: Sequence[Floats]
    grades: Sequence[Floats]
    relevant: Floats
    relevant_grades: Floats
    target: str = "relevant"
    population: Floats | None = None
    unknown: int | None = None
    topic: str = ""

    def distribution(self, weights: Floats | None = None) -> Floats:
        """What the groups should get, as shares that sum to 1; weights: of the relevant docs, by default the same."""
        known = np.ones(self.relevant.shape[1], dtype=bool)
        if self.unknown is not None:
            known[self.unknown] = False
        if self.target == "equal":
            return np.asarray(known / known.sum())
        if self.target == "population" and self.population is not None:
            return self.population
        of_docs = np.ones(len(self.relevant)) if weights is None else weights
        wanted = of_docs @ self.relevant
        if wanted.sum() == 0:
            raise DataError(
                f"topic {self.topic!r} has no relevant doc with a group, and so no target; leave the topic out"
            )
        shares = wanted / wanted.sum()
        if self.target == "relevant" or self.population is None:
            return np.asarray(shares)
        # the population says nothing of docs whose group is not known: their share stays what it is
        mass = shares[known].sum()
        mixed = (shares + mass * self.population) / 2
        return np.where(known, mixed, shares)


def attention_of(ranks: int, attention: str, p: float) -> Floats:
    """The attention of ranks 1, 2, …: 1/log₂ max(r, 2), or p^(r−1).

    >>> attention_of(4, "log", 0.5).round(4).tolist(), attention_of(3, "geometric", 0.5).tolist()
    ([1.0, 1.0, 0.6309, 0.5], [1.0, 0.5, 0.25])
    """
    one_of("attention", attention, ATTENTIONS)
    places = np.arange(1, ranks + 1)
    if attention == "log":
        return np.asarray(1 / np.log2(np.maximum(places, 2)))
    return np.asarray(p ** (places - 1.0))


@FAIRNESS_MEASURES.register("AWRF", paper="Sapiezynski, Zeng, Robertson, Mislove & Wilson 2019; TREC Fair 2021, 2022")
def attention_weighted_rank_fairness(
    topic: GroupedTopic,
    *,
    k: Annotated[int, Within(1)] | None = None,
    attention: str = "log",
    p: Annotated[float, Within(0, 1, open=True)] = 0.5,
) -> float:
    """1 − JSD of the groups' shares of the attention and the target; 1 is fair, 1 − ln 2 = .307 the least.

    Shares: Σ_r v(r)·a_r / Σ_r Σ_g v(r)·a_rg over the first k docs, a_r the shares of the doc at rank r in the groups.
    JSD is the Jensen–Shannon divergence in natural logarithms, as in the track. Of several rankings the mean. A ranking
    without a doc of any group scores 0.

    >>> topic = GroupedTopic([np.eye(2)], [np.array([1, 1])], np.eye(2), np.array([1, 1]))
    >>> attention_weighted_rank_fairness(topic)
    1.0
    """
    target = topic.distribution()
    scores = [_awrf(ranking[:k], target, attention, p) for ranking in topic.rankings]
    return float(np.mean(scores)) if scores else 0.0


@FAIRNESS_MEASURES.register("M1", paper="TREC Fair 2021, 2022")
def fair_track_score(
    topic: GroupedTopic,
    *,
    k: Annotated[int, Within(1)] | None = None,
    attention: str = "log",
    p: Annotated[float, Within(0, 1, open=True)] = 0.5,
) -> float:
    """AWRF × nDCG, the score of the track's task on one ranking (k = 1000 in 2021, 500 in 2022).

    nDCG: relevant or not, discounted by 1/log₂ max(r, 2). Of several rankings the mean of the products.

    >>> topic = GroupedTopic([np.eye(2)], [np.array([0, 1])], np.eye(2), np.array([1, 1]))
    >>> fair_track_score(topic)
    0.5
    """
    target = topic.distribution()
    scores = []
    for ranking, grades in zip(topic.rankings, topic.grades, strict=True):
        gains = (grades[:k] > 0) @ attention_of(len(grades[:k]), "log", p)
        ideal = attention_of(min(len(topic.relevant), k or len(topic.relevant)), "log", p).sum()
        scores.append(_awrf(ranking[:k], target, attention, p) * gains / ideal if ideal else 0.0)
    return float(np.mean(scores)) if scores else 0.0


@FAIRNESS_MEASURES.register("EE-L", paper="Diaz, Mitra, Ekstrand, Biega & Carterette 2020", lower_is_better=True)
def expected_exposure_loss(
    topic: GroupedTopic,
    *,
    k: Annotated[int, Within(1)] = 20,
    attention: str = "log",
    p: Annotated[float, Within(0, 1, open=True)] = 0.5,
    docs: str = "relevant",
) -> float:
    """Expected exposure loss ‖ε − ε*‖² = EE-D − 2·EE-R + ‖ε*‖², summed over groups; 0 is fair, lower is better.

    ε: the attention that each group gets, in the mean over the rankings of the topic, from relevant docs in the first k
    ranks (docs=all: from all docs, as in 2021). ε*: what it gets from an ideal policy, which puts relevant docs first,
    better grades before worse and docs of one grade in random order: each relevant doc is worth the mean attention of
    the ranks of its grade; the groups' shares of that times the attention of k ranks, Σ_{r≤k} v(r). k = 50 in TREC Fair
    2021, 20 in 2022.

    >>> topic = GroupedTopic([np.eye(2)], [np.array([1, 1])], np.eye(2), np.array([1, 1]))
    >>> expected_exposure_loss(topic, k=2), expected_exposure_loss(topic, k=1)
    (0.0, 0.5)
    """
    exposure, target = _exposures(topic, k, attention, p, docs)
    difference = exposure - target
    return float(difference @ difference)


@FAIRNESS_MEASURES.register("EE-D", paper="Diaz, Mitra, Ekstrand, Biega & Carterette 2020", lower_is_better=True)
def expected_exposure_disparity(
    topic: GroupedTopic,
    *,
    k: Annotated[int, Within(1)] = 20,
    attention: str = "log",
    p: Annotated[float, Within(0, 1, open=True)] = 0.5,
    docs: str = "relevant",
) -> float:
    """Expected exposure disparity ‖ε‖²: how unequal the groups' exposures are; see EE-L.

    >>> topic = GroupedTopic([np.eye(2)], [np.array([1, 1])], np.eye(2), np.array([1, 1]))
    >>> expected_exposure_disparity(topic, k=2)
    2.0
    """
    exposure, _ = _exposures(topic, k, attention, p, docs)
    return float(exposure @ exposure)


@FAIRNESS_MEASURES.register("EE-R", paper="Diaz, Mitra, Ekstrand, Biega & Carterette 2020")
def expected_exposure_relevance(
    topic: GroupedTopic,
    *,
    k: Annotated[int, Within(1)] = 20,
    attention: str = "log",
    p: Annotated[float, Within(0, 1, open=True)] = 0.5,
    docs: str = "relevant",
) -> float:
    """Expected exposure relevance ε·ε*: how far exposure goes where the ideal policy puts it; higher is better.

    >>> topic = GroupedTopic([np.eye(2)], [np.array([1, 1])], np.eye(2), np.array([1, 1]))
    >>> expected_exposure_relevance(topic, k=2)
    2.0
    """
    exposure, target = _exposures(topic, k, attention, p, docs)
    return float(exposure @ target)


def ideal_exposure(grades: Floats, attention: str, p: float) -> Floats:
    """The attention that each relevant doc gets from the ideal policy: the mean over the ranks of its grade.

    >>> ideal_exposure(np.array([1, 2, 1]), "geometric", 0.5).tolist()
    [0.375, 1.0, 0.375]
    """
    best_first = attention_of(len(grades), attention, p)
    levels, level_of = np.unique(-grades, return_inverse=True)
    of_rank = np.sort(level_of)
    sums = np.bincount(of_rank, weights=best_first, minlength=len(levels))
    means = sums / np.bincount(of_rank, minlength=len(levels))
    return np.asarray(means[level_of])


def _exposures(topic: GroupedTopic, k: int, attention: str, p: float, docs: str) -> tuple[Floats, Floats]:
    """The groups' expected exposures, and those of the ideal policy."""
    one_of("docs", docs, COUNTED)
    weights = ideal_exposure(topic.relevant_grades, attention, p)
    available = _attention_in_all(k, attention, p)
    target = topic.distribution(weights) * available
    total = np.zeros_like(target)
    for ranking, grades in zip(topic.rankings, topic.grades, strict=True):
        of_rank = attention_of(len(ranking[:k]), attention, p)
        if docs == "relevant":
            of_rank = of_rank * (grades[:k] > 0)
        total += of_rank @ ranking[:k]
    return total / max(1, len(topic.rankings)), target


def _attention_in_all(k: int, attention: str, p: float) -> float:
    """The attention of k ranks, of which few need a cell."""
    cells = min(k, CELLS)

    def of_rank(rank: Floats) -> Floats:
        return np.asarray(1 / np.log2(rank) if attention == "log" else p ** (rank - 1))

    return float(attention_of(cells, attention, p).sum()) + sum_over_ranks(of_rank, cells + 1, k)


def _awrf(ranking: Floats, target: Floats, attention: str, p: float) -> float:
    exposure = attention_of(len(ranking), attention, p) @ ranking
    if exposure.sum() == 0:
        return 0.0
    return 1 - jensen_shannon(exposure / exposure.sum(), target)


def jensen_shannon(first: Floats, second: Floats) -> float:
    """The Jensen–Shannon divergence of two distributions in natural logarithms: 0 if they are the same, ln 2 at most.

    >>> round(jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 6)
    0.693147
    """
    from scipy.special import rel_entr

    middle = (first + second) / 2
    halves = rel_entr(first, middle).sum() + rel_entr(second, middle).sum()
    # equal distributions can come out at -1e-17
    return max(0.0, float(halves) / 2)
