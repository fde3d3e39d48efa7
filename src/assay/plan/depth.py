"""Deep or broad? How many judgments a pair of runs takes at each depth, and what effect size they buy.

Works on runs and judgments: two runs are pooled to depth k, AP is taken to depth k with R counted from what the two
found, and the same money is spent on few topics judged deep or on many judged shallow (Webber 2010, §5.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.ids import coded
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.plan.power import TTest, detectable_effect, paired
from assay.plan.stopping import baseline_pairs

DEPTHS = (2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class DepthTradeoff:
    """Per depth: judgments per topic and pair, and the observed effect size |mean|/sd of every pair.

    `judgments` and `effects` are depths × pairs; an effect is 0 where two runs do not differ at that depth.
    `topics` is the number that the budget pays for, `found` the share of the effects detectable with so many.
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
        quartiles = np.quantile(self.effects, (0.25, 0.5, 0.75), axis=1)
        columns = (self.judgments.mean(axis=1), self.effects.mean(axis=1), *quartiles, self.topics, 100 * self.found)
        rows = zip(self.depths, *columns, strict=True)
        formats = {
            "depth": "d",
            "docs per topic": ".2f",
            "effect": ".3f",
            "25 %": ".3f",
            "median": ".3f",
            "75 %": ".3f",
        }
        formats |= {f"topics for {self.budget}": "d", "% of effects found": ".0f"}
        kind = "a baseline (second quartile) and a run of the top three quartiles" if self.runs > 3 else "runs"
        notes = [
            f"{self.effects.shape[1]} pairs of {kind}, of {self.runs} runs, {self.judged_topics} topics, "
            f"seed {self.seed}. Effect: |mean|/sd of the differences in AP to the depth, R from the two runs.",
            f"Topics: what {self.budget} judgments pay for, with no cost of starting a topic; found with power "
            f"{self.power:g}, {self.test.words()}.",
        ]
        return Table.of(formats, rows, caption="Depth against breadth", notes=notes)


def depth_tradeoff(
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
    """
    ks = np.array(sorted(set(depths)), dtype=np.int64)
    if len(runs) < 2 or len(qrels.topics) < 2:
        raise DataError(f"{len(runs)} runs, {len(qrels.topics)} topics; depth against breadth needs two of each")
    if not len(ks) or ks[0] < 1 or budget < 1:
        raise UsageError(f"depths and the budget must be positive (got {list(depths)} and {budget})")
    test, lists = paired(test), _Lists.of(runs, qrels, int(ks[-1]), rel)
    order = np.argsort(-lists.average_precision(), kind="stable")
    chosen = [(int(order[e]), int(order[b])) for e, b in baseline_pairs(len(runs), pairs, seed=seed)]
    judgments, effects = np.empty((2, len(ks), len(chosen)))
    for i, (a, b) in enumerate(chosen):
        judgments[:, i], effects[:, i] = lists.pair(a, b, ks)
        progress(i + 1, len(chosen))
    topics = np.floor(budget / np.maximum(judgments.mean(axis=1), 1e-9)).astype(np.int64)
    found = np.array([_share_found(e, n, power, test) for e, n in zip(effects, topics, strict=True)])
    size = (budget, len(runs), len(qrels.topics))
    return DepthTradeoff(tuple(ks.tolist()), judgments, effects, topics, found, *size, power, test, seed)


def _share_found(effects: Floats, topics: int, power: float, test: TTest) -> float:
    return float((effects >= detectable_effect(topics, power=power, test=test)).mean()) if topics >= 2 else 0.0


@dataclass(frozen=True, eq=False)
class _Lists:
    """The top docs of every run on every judged topic: a key per (topic, doc), −1 past the end, and relevance."""

    keys: Ints
    hits: Bools
    order: Ints
    relevant: Floats

    @classmethod
    def of(cls, runs: Sequence[Run], qrels: Qrels, depth: int, rel: int) -> _Lists:
        """Runs cut to the depth, on the topics of the judgments; a topic that a run lacks is an empty list."""
        cut = [run.cut(depth) for run in runs]
        codes, vocabulary = coded([*(run.docs for run in cut), qrels.docs])
        width, place = len(vocabulary), {t: i for i, t in enumerate(qrels.topics)}
        judged = qrels.topic_of_row() * width + codes[-1]
        good = np.sort(judged[qrels.grades >= rel])
        keys = np.full((len(runs), len(qrels.topics), depth), -1, dtype=np.int64)
        for r, run in enumerate(cut):
            at = np.array([place.get(t, -1) for t in run.topics], dtype=np.int64)[run.topic_of_row()]
            rank = np.arange(len(run)) - np.repeat(run.bounds[:-1], np.diff(run.bounds))
            known = at >= 0
            keys[r, at[known], rank[known]] = at[known] * width + codes[r][known]
        hits = np.isin(keys, good)
        relevant = np.bincount(good // width, minlength=len(qrels.topics)).astype(np.float64)
        return cls(keys, hits, np.argsort(keys.reshape(len(runs), -1), axis=1, kind="stable"), relevant)

    def average_precision(self) -> Floats:
        """Mean AP of every run to the greatest depth, R from the judgments."""
        gained = _sum_of_precisions(self.hits)[..., -1]
        return np.asarray((gained / np.maximum(self.relevant, 1)).mean(axis=1))

    def pair(self, a: int, b: int, ks: Ints) -> tuple[Floats, Floats]:
        """Mean docs to judge per topic, and the effect size of the difference in AP, at each depth."""
        topics, depth = self.keys.shape[1:]
        joint = self._joint_rank(a, b)
        shared = _cumulated(joint, np.ones(topics * depth), topics, depth)[:, ks - 1]
        common = _cumulated(joint, self.hits[a].ravel(), topics, depth)[:, ks - 1]
        listed = [(self.keys[r] >= 0).cumsum(axis=1)[:, ks - 1] for r in (a, b)]
        found = [self.hits[r].cumsum(axis=1)[:, ks - 1] for r in (a, b)]
        docs, relevant = listed[0] + listed[1] - shared, found[0] + found[1] - common
        first, second = (_sum_of_precisions(self.hits[r])[:, ks - 1] for r in (a, b))
        d = (first - second) / np.maximum(relevant, 1)
        mean, sd = np.abs(d.mean(axis=0)), d.std(axis=0, ddof=1)
        return docs.mean(axis=0), np.where(sd > 1e-12, mean / np.where(sd > 0, sd, 1.0), 0.0)

    def _joint_rank(self, a: int, b: int) -> Ints:
        """For each place of run a, the depth at which both runs have its doc; the greatest depth + 1 if b never has."""
        depth = self.keys.shape[2]
        mine, theirs = self.keys[a].ravel(), self.keys[b].ravel()
        order = self.order[b]
        at = np.minimum(np.searchsorted(theirs, mine, sorter=order), len(theirs) - 1)
        same = (theirs[order[at]] == mine) & (mine >= 0)
        other = order[at] % depth + 1
        own = np.arange(len(mine)) % depth + 1
        return np.where(same, np.maximum(own, other), depth + 1)


def _cumulated(joint: Ints, weight: npt.NDArray[np.generic], topics: int, depth: int) -> Floats:
    """Per topic and depth: the weight of the docs that both runs have by then."""
    cell = np.repeat(np.arange(topics), depth) * (depth + 1) + joint - 1
    counts = np.bincount(cell, weights=weight.astype(np.float64), minlength=topics * (depth + 1))
    return np.asarray(counts.reshape(topics, depth + 1)[:, :depth].cumsum(axis=1))


def _sum_of_precisions(hits: Bools) -> Floats:
    """Σ over the relevant ranks so far of the precision at that rank, at every depth."""
    return np.asarray((hits * hits.cumsum(axis=-1) / np.arange(1, hits.shape[-1] + 1)).cumsum(axis=-1))
