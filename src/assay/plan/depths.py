"""Deep or broad? How many judgments a pair of runs takes at each depth, and what effect size they buy.

Works on runs and judgments: two runs are pooled to depth k, AP is taken to depth k with R counted from what the two
found, and the same money is spent on few topics judged deep or on many judged shallow (Webber 2010, §5.4).
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
from assay.plan.powers import TTest, detectable_effect, paired
from assay.plan.stopping import NO_SPREAD, baseline_pairs

DEPTHS = (2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class DepthTradeoff(Result):
    """Per depth: judgments per topic and pair, and the observed effect size |mean|/sd of every pair.

    `judgments` and `effects` are depths × pairs; an effect is 0 where two runs score the same at that depth.
    `topics` is the number that the budget pays for, `found` the share of the effects detectable with that many.
    """

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

    def table(self) -> Table:
        """One row per depth."""
        lower, median, upper = np.quantile(self.effects, (0.25, 0.5, 0.75), axis=1)
        columns: dict[str, tuple[str, Any]] = {
            "depth": ("d", self.depths),
            "docs per topic": (".2f", self.judgments.mean(axis=1)),
            "effect": (".3f", self.effects.mean(axis=1)),
            "25 %": (".3f", lower),
            "median": (".3f", median),
            "75 %": (".3f", upper),
            f"topics for {self.budget}": ("d", self.topics),
            "% of effects found": (".0f", 100 * self.found),
        }
        keys = {"25 %": "effect_q1", "median": "effect_median", "75 %": "effect_q3"}
        keys |= {f"topics for {self.budget}": "topics", "% of effects found": "percent_found"}
        formats = {heading: form for heading, (form, _) in columns.items()}
        rows = zip(*(values for _, values in columns.values()), strict=True)
        return Table.of(formats, rows, caption="Depth against breadth", notes=self._notes(), keys=keys)

    def _notes(self) -> list[str]:
        kind = "a baseline (second quartile) and a run of the top three quartiles" if self.runs > 3 else "runs"
        return [
            f"{self.effects.shape[1]} pairs of {kind}, of {self.runs} runs, {self.judged_topics} topics, "
            f"seed {self.seed}. Effect: |mean|/sd of the differences in AP to the depth, R from the two runs.",
            f"Topics: what {self.budget} judgments pay for, with no cost of starting a topic; found with power "
            f"{self.power:g}, {self.test.words()}.",
        ]

    def record(self) -> dict[str, Any]:
        """The rows, with the budget, the power and the test."""
        settings = {"budget": self.budget, "power": self.power, "test": self.test.words(), "seed": self.seed}
        return settings | super().record()


def depth(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    depths: Sequence[int] = DEPTHS,
    budget: int = 5000,
    pairs: int = 1000,
    rel: int = 1,
    power: float = 0.8,
    test: TTest | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> DepthTradeoff:
    """Judgments per topic and observed effect size of pairs of runs pooled to each depth.

    docs(k) = |top k of one ∪ top k of the other|; AP@k divides by the relevant docs that the two found to depth k, and
    is 0 where they found none. Runs are ordered by AP at the greatest depth. Topics are those of the judgments.
    Memory: runs × topics × greatest depth, 17 bytes each. Webber 2010, §5.4, Figs. 5.11 and 5.12.

    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}, "2": {"a": 0, "c": 1}})
    >>> one = Run.from_lists("one", {"1": ["a", "b"], "2": ["c", "a"]})
    >>> two = Run.from_lists("two", {"1": ["b", "a"], "2": ["c", "d"]})
    >>> depth([one, two], qrels, depths=(1, 2), budget=10).table().column("docs_per_topic")
    [1.5, 2.5]
    """
    ks = np.array(sorted(set(depths)), dtype=np.int64)
    if len(runs) < 2 or len(qrels.topics) < 2:
        raise DataError(f"{len(runs)} runs, {len(qrels.topics)} topics; depth against breadth needs two of each")
    if not len(ks) or ks[0] < 1 or budget < 1:
        raise UsageError(f"depths and the budget must be positive (got {list(depths)} and {budget})")
    planned = paired(test)
    lists = _Lists.of(runs, qrels, int(ks[-1]), rel)
    best_first = np.argsort(-lists.average_precision(), kind="stable")
    chosen = baseline_pairs(len(runs), pairs, seed=seed)
    judgments = np.empty((len(ks), len(chosen)))
    effects = np.empty((len(ks), len(chosen)))
    for i, (better, baseline) in enumerate(chosen):
        judgments[:, i], effects[:, i] = lists.pair(int(best_first[better]), int(best_first[baseline]), ks)
        progress(i + 1, len(chosen))
    docs_per_topic = np.maximum(judgments.mean(axis=1), 1e-9)
    topics = np.floor(budget / docs_per_topic).astype(np.int64)
    found = np.array([_share_found(e, n, power, planned) for e, n in zip(effects, topics, strict=True)])
    return DepthTradeoff(
        depths=tuple(ks.tolist()),
        judgments=judgments,
        effects=effects,
        topics=topics,
        found=found,
        budget=budget,
        runs=len(runs),
        judged_topics=len(qrels.topics),
        power=power,
        test=planned,
        seed=seed,
    )


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
    def of(cls, runs: Sequence[Run], qrels: Qrels, depth: int, rel: int) -> _Lists:
        """Runs cut to the depth, on the topics of the judgments; a topic that a run lacks is an empty list."""
        cut = [run.cut(depth) for run in runs]
        codes, vocabulary = coded([*(run.docs for run in cut), qrels.docs])
        width = len(vocabulary)
        place = {topic: i for i, topic in enumerate(qrels.topics)}
        judged = qrels.topic_of_row() * width + codes[-1]
        relevant_keys = np.sort(judged[qrels.grades >= rel])
        keys = np.full((len(runs), len(qrels.topics), depth), -1, dtype=np.int64)
        for r, run in enumerate(cut):
            topic_places = np.array([place.get(topic, -1) for topic in run.topics], dtype=np.int64)
            topic = topic_places[run.topic_of_row()]
            first_row = np.repeat(run.bounds[:-1], np.diff(run.bounds))
            rank = np.arange(len(run)) - first_row
            known = topic >= 0
            keys[r, topic[known], rank[known]] = topic[known] * width + codes[r][known]
        hits = np.isin(keys, relevant_keys)
        relevant = np.bincount(relevant_keys // width, minlength=len(qrels.topics)).astype(np.float64)
        order = np.argsort(keys.reshape(len(runs), -1), axis=1, kind="stable")
        return cls(keys, hits, order, relevant)

    def average_precision(self) -> Floats:
        """Mean AP of every run to the greatest depth, R from the judgments."""
        gained = _sum_of_precisions(self.hits)[..., -1]
        return np.asarray((gained / np.maximum(self.relevant, 1)).mean(axis=1))

    def pair(self, a: int, b: int, ks: Ints) -> tuple[Floats, Floats]:
        """Mean docs to judge per topic, and the effect size of the difference in AP, at each depth."""
        topics, depth = self.keys.shape[1:]
        joint = self._joint_rank(a, b)
        at_depths = ks - 1
        shared = _cumulated(joint, np.ones(topics * depth), topics, depth)[:, at_depths]
        shared_relevant = _cumulated(joint, self.hits[a].ravel(), topics, depth)[:, at_depths]
        docs = self._listed(a, at_depths) + self._listed(b, at_depths) - shared
        relevant = self._found(a, at_depths) + self._found(b, at_depths) - shared_relevant
        gained_a = _sum_of_precisions(self.hits[a])[:, at_depths]
        gained_b = _sum_of_precisions(self.hits[b])[:, at_depths]
        differences = (gained_a - gained_b) / np.maximum(relevant, 1)
        return docs.mean(axis=0), _effect(differences)

    def _listed(self, run: int, at_depths: Ints) -> Ints:
        """Docs of a run by each depth, per topic."""
        return (self.keys[run] >= 0).cumsum(axis=1)[:, at_depths]

    def _found(self, run: int, at_depths: Ints) -> Ints:
        """Relevant docs of a run by each depth, per topic."""
        return self.hits[run].cumsum(axis=1)[:, at_depths]

    def _joint_rank(self, a: int, b: int) -> Ints:
        """For each place of run a, the depth at which both runs have its doc; the greatest depth + 1 if b never has."""
        depth = self.keys.shape[2]
        mine = self.keys[a].ravel()
        theirs = self.keys[b].ravel()
        order = self.order[b]
        nearest = np.searchsorted(theirs, mine, sorter=order)
        place = order[np.minimum(nearest, len(theirs) - 1)]
        both_have_it = (theirs[place] == mine) & (mine >= 0)
        their_rank = place % depth + 1
        my_rank = np.arange(len(mine)) % depth + 1
        return np.where(both_have_it, np.maximum(my_rank, their_rank), depth + 1)


def _effect(differences: Floats) -> Floats:
    """|mean|/sd over the topics, at each depth; 0 where all topics have the same difference."""
    mean = np.abs(differences.mean(axis=0))
    sd = differences.std(axis=0, ddof=1)
    varies = sd > NO_SPREAD
    return np.where(varies, mean / np.where(varies, sd, 1.0), 0.0)


def _cumulated(joint: Ints, weight: npt.NDArray[np.generic], topics: int, depth: int) -> Floats:
    """Per topic and depth: the weight of the docs that both runs have by then."""
    topic = np.repeat(np.arange(topics), depth)
    cell = topic * (depth + 1) + joint - 1
    counts = np.bincount(cell, weights=weight.astype(np.float64), minlength=topics * (depth + 1))
    return np.asarray(counts.reshape(topics, depth + 1)[:, :depth].cumsum(axis=1))


def _sum_of_precisions(hits: Bools) -> Floats:
    """Σ over the relevant ranks so far of the precision at that rank, at every depth."""
    ranks = np.arange(1, hits.shape[-1] + 1)
    precision_at_hits = hits * hits.cumsum(axis=-1) / ranks
    return np.asarray(precision_at_hits.cumsum(axis=-1))
