"""Deep or broad? How many judgments a pair of runs takes at each depth, and what effect size they buy.

Works on runs and judgments: two runs are pooled to depth k, AP is taken to depth k with R counted from the docs of the
two, and the same money is spent on few topics judged deep or on many judged shallow (Webber 2010, §5.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.ids import coded
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.measures.ranks import running_precision_sums
from assay.plan.powers import paired
from assay.plan.stopping import NO_SPREAD, baseline_pairs
from assay.stats.t_power import TTest, detectable_effect

DEPTHS = (2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class DepthTradeoff(Result):
    """Per depth: judgments per topic and pair, and the observed effect size |mean|/sd of every pair.

    `judgments` and `effects` are depths × pairs; an effect is 0 where two runs score the same at that depth.
    `topics` is the number that the budget pays for, `found` the share of the effects detectable with that many.
    """

    unit = "topic"

    depths: tuple[int, ...]
    judgments: Floats
    effects: Floats
    topics: Ints
    found: Floats
    budget: int
    runs: int
    judged_topics: int
    power: float
    test: TTest
    seed: int
    start_up: float = 0.0
    """What a topic costs before its first judgment, in judgments."""

    def table(self) -> Table:
        """One row per depth."""
        lower, median, upper = np.quantile(self.effects, (0.25, 0.5, 0.75), axis=1)
        paid_topics = f"topics for {self.budget}"
        formats = {
            "depth": "d",
            "docs per topic": ".2f",
            "effect": ".3f",
            "25 %": ".3f",
            "median": ".3f",
            "75 %": ".3f",
            paid_topics: "d",
            "% of effects found": ".0f",
        }
        rows = zip(
            self.depths,
            self.judgments.mean(axis=1),
            self.effects.mean(axis=1),
            lower,
            median,
            upper,
            self.topics,
            100 * self.found,
            strict=True,
        )
        keys = {
            "25 %": "effect_q1",
            "median": "effect_median",
            "75 %": "effect_q3",
            paid_topics: "topics",
            "% of effects found": "percent_found",
        }
        return Table.of(
            formats,
            rows,
            caption="Depth against breadth",
            notes=self._notes(),
            keys=keys,
        )

    def _notes(self) -> list[str]:
        kind = "runs"
        if self.runs > 3:
            kind = "a baseline (second quartile) and a run of the top three quartiles"
        pairs = self.effects.shape[1]
        start = "with no cost of starting a topic"
        if self.start_up:
            start = f"where starting a topic costs as much as {self.start_up:g} judgments"
        return [
            f"{pairs} pairs of {kind}, of {self.runs} runs, {self.judged_topics} topics, "
            f"seed {self.seed}. Effect: |mean|/sd of the differences in AP to the depth, R from the two runs.",
            f"Topics: what {self.budget} judgments pay for, {start}; found with power {self.power:g}, "
            f"{self.test.words()}.",
        ]

    def record(self) -> dict[str, Any]:
        """The rows, with the budget, the power and the test."""
        settings = {
            "budget": self.budget,
            "start_up": self.start_up,
            "power": self.power,
            "test": self.test.words(),
            "seed": self.seed,
        }
        return settings | super().record()


def depth(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    depths: Sequence[int] = DEPTHS,
    budget: int = 5000,
    start_up: float = 0.0,
    pairs: int = 1000,
    rel: float = 1,
    power: float = 0.8,
    test: TTest | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> DepthTradeoff:
    """Judgments per topic and observed effect size of pairs of runs pooled to each depth.

    docs(k) = |top k of one ∪ top k of the other|; AP@k divides by the relevant docs that the two found to depth k, and
    is 0 where they found none. start_up: what writing a topic and getting ready to judge it costs, in judgments; it
    favours deeper judging. Runs are ordered by AP at the greatest depth. Topics are those of the judgments.
    Memory: runs × topics × greatest depth, 17 bytes each. Webber 2010, §5.4, Figs. 5.11 and 5.12.

    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}, "2": {"a": 0, "c": 1}})
    >>> one = Run.from_lists("one", {"1": ["a", "b"], "2": ["c", "a"]})
    >>> two = Run.from_lists("two", {"1": ["b", "a"], "2": ["c", "d"]})
    >>> depth([one, two], qrels, depths=(1, 2), budget=10).table().column("docs_per_topic")
    [1.5, 2.5]
    """
    topic_count = len(qrels.topics)
    if len(runs) < 2 or topic_count < 2:
        raise DataError(f"{len(runs)} runs, {topic_count} topics; depth against breadth needs two of each")
    ks = sorted({int(k) for k in depths})
    if not ks or ks[0] < 1 or budget < 1:
        raise UsageError(f"depths and the budget must be positive (got {list(depths)} and {budget})")
    if not 0 <= start_up < np.inf:
        raise UsageError(f"start_up: the cost of starting a topic is 0 judgments or more (got {start_up:g})")
    planned = paired(test)
    lists = _Lists.of(runs, qrels, ks[-1], rel)
    chosen = _chosen_pairs(lists, pairs, seed)
    judgments = np.empty((len(ks), len(chosen)))
    effects = np.empty((len(ks), len(chosen)))
    for i, (run, baseline) in enumerate(chosen):
        judgments[:, i], effects[:, i] = lists.pair(run, baseline, ks)
        progress(i + 1, len(chosen))
    cost_of_topic = np.maximum(judgments.mean(axis=1) + start_up, 1e-9)
    topics = np.floor(budget / cost_of_topic).astype(np.int64)
    shares = []
    for of_depth, affordable in zip(effects, topics, strict=True):
        shares.append(_share_found(of_depth, affordable, power, planned))
    return DepthTradeoff(
        depths=tuple(ks),
        judgments=judgments,
        effects=effects,
        topics=topics,
        found=np.array(shares),
        budget=budget,
        runs=len(runs),
        judged_topics=topic_count,
        power=power,
        test=planned,
        seed=seed,
        start_up=start_up,
    )


def _chosen_pairs(lists: _Lists, pairs: int, seed: int) -> list[tuple[int, int]]:
    """Random pairs of a run and a baseline, chosen by their ranks in AP."""
    ap = lists.average_precision()
    best_first = np.argsort(-ap, kind="stable").tolist()
    ranks = baseline_pairs(len(best_first), pairs, seed=seed)
    return [(best_first[run], best_first[baseline]) for run, baseline in ranks]


def _share_found(effects: Floats, topics: int, power: float, test: TTest) -> float:
    """Share of the effects that the topics find; a single topic finds nothing."""
    if topics < 2:
        return 0.0
    least = detectable_effect(topics, power=power, test=test)
    return float((effects >= least).mean())


@dataclass(frozen=True, eq=False)
class _Lists:
    """The top docs of every run on every judged topic: a key per (topic, doc), −1 past the end, and relevance.

    `keys` and `hits` are runs × topics × depth; `order` sorts the keys of each run; `relevant` counts relevant docs per
    topic.
    """

    keys: Ints
    hits: Bools
    order: Ints
    relevant: Floats

    @classmethod
    def of(cls, runs: Sequence[Run], qrels: Qrels, depth: int, rel: float) -> _Lists:
        """Runs cut to the depth, on the topics of the judgments; a topic that a run lacks is an empty list."""
        cut = [run.cut(depth) for run in runs]
        docs = [run.docs for run in cut]
        codes, vocabulary = coded([*docs, qrels.docs])
        width = len(vocabulary)  # the key of a doc on a topic is topic · width + doc
        judged = qrels.topic_of_row() * width + codes[-1]
        relevant_keys = np.sort(judged[qrels.grades >= rel])
        topics = len(qrels.topics)
        keys = np.full((len(runs), topics, depth), -1, dtype=np.int64)
        for r, run in enumerate(cut):
            topic, rank = _topic_and_rank(run, qrels.topics)
            known = topic >= 0
            key = topic * width + codes[r]
            keys[r, topic[known], rank[known]] = key[known]
        relevant = np.bincount(relevant_keys // width, minlength=topics)
        keys_of_run = keys.reshape(len(runs), -1)
        return cls(
            keys=keys,
            hits=np.isin(keys, relevant_keys),
            order=np.argsort(keys_of_run, axis=1, kind="stable"),
            relevant=relevant.astype(np.float64),
        )

    def average_precision(self) -> Floats:
        """Mean AP of every run to the greatest depth, R from the judgments."""
        gained = running_precision_sums(self.hits)[..., -1]
        ap = gained / np.maximum(self.relevant, 1)
        return np.asarray(ap.mean(axis=1))

    def pair(self, a: int, b: int, depths: Sequence[int]) -> tuple[Floats, Floats]:
        """Mean docs to judge per topic, and the effect size of the difference in AP, at each depth."""
        topics, deepest = self.keys.shape[1:]
        at_depths = np.array(depths) - 1
        joint = self._joint_rank(a, b)
        each_once = np.ones(topics * deepest)
        every_shared = _cumulated(joint, each_once, topics, deepest)
        every_shared_relevant = _cumulated(joint, self.hits[a].ravel(), topics, deepest)
        shared = every_shared[:, at_depths]
        shared_relevant = every_shared_relevant[:, at_depths]
        docs_of_a = self._listed(a, at_depths)
        docs_of_b = self._listed(b, at_depths)
        docs = docs_of_a + docs_of_b - shared
        relevant_of_a = self._relevant_listed(a, at_depths)
        relevant_of_b = self._relevant_listed(b, at_depths)
        relevant = relevant_of_a + relevant_of_b - shared_relevant
        gained_by_a = running_precision_sums(self.hits[a])[:, at_depths]
        gained_by_b = running_precision_sums(self.hits[b])[:, at_depths]
        differences = (gained_by_a - gained_by_b) / np.maximum(relevant, 1)
        return docs.mean(axis=0), _effect(differences)

    def _listed(self, run: int, at_depths: Ints) -> Ints:
        """Docs of a run by each depth, per topic."""
        listed = self.keys[run] >= 0
        return listed.cumsum(axis=1)[:, at_depths]

    def _relevant_listed(self, run: int, at_depths: Ints) -> Ints:
        """Relevant docs of a run by each depth, per topic."""
        relevant = self.hits[run]
        return relevant.cumsum(axis=1)[:, at_depths]

    def _joint_rank(self, a: int, b: int) -> Ints:
        """For each place of run a, the depth at which both runs have its doc; the greatest depth + 1 if b never has."""
        depth = self.keys.shape[2]
        keys_a = self.keys[a].ravel()
        keys_b = self.keys[b].ravel()
        order = self.order[b]
        nearest = np.searchsorted(keys_b, keys_a, sorter=order)
        within = np.minimum(nearest, len(keys_b) - 1)
        place = order[within]
        same_key = keys_b[place] == keys_a
        both_have_it = same_key & (keys_a >= 0)
        rank_a = np.arange(len(keys_a)) % depth + 1
        rank_b = place % depth + 1
        deeper_rank = np.maximum(rank_a, rank_b)
        return np.where(both_have_it, deeper_rank, depth + 1)


def _topic_and_rank(run: Run, topics: Sequence[str]) -> tuple[Ints, Ints]:
    """Of every row of a run: the place of its topic among these, −1 where it is not one, and its rank from 0."""
    place_of = {topic: place for place, topic in enumerate(topics)}
    places = [place_of.get(topic, -1) for topic in run.topics]
    place_of_topic = np.array(places, dtype=np.int64)
    topic_of_row = run.topic_of_row()
    return place_of_topic[topic_of_row], run.place_of_row()


def _effect(differences: Floats) -> Floats:
    """|mean|/sd over the topics, at each depth; 0 where all topics have the same difference."""
    mean = np.abs(differences.mean(axis=0))
    sd = differences.std(axis=0, ddof=1)
    varies = sd > NO_SPREAD
    divisor = np.where(varies, sd, 1.0)
    return np.where(varies, mean / divisor, 0.0)


def _cumulated(joint: Ints, weight: npt.NDArray[np.generic], topics: int, depth: int) -> Floats:
    """Per topic and depth: the weight of the docs that both runs have by then."""
    width = depth + 1  # one more than the depth: the last column takes what both never have
    topic = np.repeat(np.arange(topics), depth)
    cell = topic * width + joint - 1
    sums = np.bincount(cell, weights=weight.astype(np.float64), minlength=topics * width)
    of_rank = sums.reshape(topics, width)[:, :depth]
    return np.asarray(of_rank.cumsum(axis=1))
