"""Does it replicate? The improvement of a system over its baseline, in an original and in a replicated experiment.

The measures are those of Breuer et al. (SIGIR 2020): effect ratio, relative improvements, RMSE, p, and the order of the
docs; each with an interval, on which the verdict rests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data import Run
from assay.io.brought import run_of
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.measures import Measure
from assay.replication.compared import (
    Quantity,
    change_of_mean,
    delta_ri,
    improvement,
    mean_similarity,
    relative_improvement,
    rmse_of,
)
from assay.replication.doc_order import DEPTH, RBO_P, DocOrder, doc_order
from assay.replication.enough import LEAST_RATIO, OUTCOMES, Kept, kept_share
from assay.replication.experiments import ROLES, WHICH, Experiment, TwoExperiments, two_experiments
from assay.replication.ratios import RATIO_INTERVALS, RESAMPLES, Ratio, ratio_of_means
from assay.scoring import evaluate
from assay.stats.pairwise import alpha_of
from assay.stats.resampling import checked_generator, checked_resamples, checked_share, drawn_in_words, percent
from assay.stats.two_sample import TWO_SAMPLE_TESTS


@dataclass(frozen=True, eq=False)
class Replication(Result):
    """An improvement tried again: the effect ratio first, then all else that the two experiments have to say.

    >>> scores = {"bm25": {"1": 0.3, "2": 0.5, "3": 0.4}, "dense": {"1": 0.4, "2": 0.7, "3": 0.55}}
    >>> found = replicate(scores, scores, baseline="bm25")
    >>> found.outcome, found.record()["rmse_system"]
    ('replicated', 0.0)
    """

    unit = "topic"

    experiments: TwoExperiments
    ratio: Ratio
    quantities: tuple[Quantity, ...]
    """All rows of the table, the effect ratio first."""
    orders: dict[str, DocOrder]
    """Similarity of the docs of the original and the replicated run, by role; empty where runs are not known."""
    kept: Kept
    """Whether enough of the original improvement is left for the word."""
    interval: str
    test: str
    level: float
    resamples: int
    seed: int

    @property
    def outcome(self) -> str:
        """One of OUTCOMES."""
        return self.kept.outcome(self.ratio)

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        two = self.experiments
        first = next(q for q in self.quantities if q.key == "improvement_original")
        what = "the loss of {} against {}" if first.value < 0 else "the improvement of {} over {}"
        who = f"{what.format(two.original.system, two.original.baseline)} ({two.measure}, {self._where()})"
        if not self.ratio.defined:
            return f"cannot be told whether {who} replicates: the original has none, so that there is no effect ratio"
        if self.kept.original_p >= self.kept.alpha:
            return (
                f"cannot be told whether {who} replicates: the original improvement itself is not significantly "
                f"different from 0, {first.shown()}, {p_value(self.kept.original_p)}"
            )
        ratio = f"effect ratio {self.quantities[0].shown()}"
        if not self.ratio.bounded:
            ratio = f"effect ratio {self.quantities[0].shown_value()}, without an interval"
        if self.outcome == OUTCOMES[4]:
            why = "which holds both 0 and 1" if self.ratio.bounded else self.kept.shown()
            return f"cannot be told whether {who} replicates: {ratio}, {why}"
        return f"{self.outcome}: {who}, {ratio}, {self._reason()}"

    def _reason(self) -> str:
        """What was shown of the ratio."""
        if self.outcome == OUTCOMES[3]:
            return "below 1 and not shown to be above 0"
        if self.outcome == OUTCOMES[2]:
            return f"above 0 and {self.kept.shown()}"
        if not self.ratio.bounded:
            return self.kept.shown()
        if self.outcome == OUTCOMES[1]:
            return f"{self.kept.shown()} and below 1"
        return f"{self.kept.shown()} and {'above 1' if self.ratio.low > 1 else 'not shown to be below 1'}"

    def _where(self) -> str:
        two = self.experiments
        if two.paired:
            return f"the same {len(two.original.topics)} topics"
        return f"{len(two.original.topics)} topics, then {len(two.replicated.topics)} others"

    def table(self) -> Table:
        """One row per quantity."""
        columns = {"quantity": "", "of": "", "value": ".4f", "low": ".4f", "high": ".4f", "p": "p"}
        rows = [(q.name, q.of, q.value, q.low, q.high, q.p) for q in self.quantities]
        return Table.of(columns, rows, caption=self.verdict, notes=self._notes())

    def _notes(self) -> list[str]:
        two = self.experiments
        level = percent(self.level)
        drawn = f"percentiles of topics drawn again, {drawn_in_words(self.resamples, self.seed)}"
        by_t = "ratios: Fieller's theorem; ΔRI: t to first order; RMSE: t of its logarithm"
        others = by_t if self.interval == "fieller" else f"ratios, ΔRI and RMSE: {drawn}"
        test = "paired t test" if two.paired else f"two-sample test {self.test}"
        notes = [
            f"{level} intervals; means: t; {others}; where too few values differ the Dirichlet bound, or none",
            f"replicated − original: {test}; effect ratio: replicated improvement / original improvement; "
            "ΔRI: original − replicated relative improvement (Breuer et al. 2020)",
        ]
        undefined = [q.name for q in self.quantities if not np.isfinite(q.value)]
        if undefined:
            notes.append(f"–: no value, what it is divided by is 0 ({', '.join(undefined)})")
        for order in list(self.orders.values())[:1]:
            notes.append(
                f"τ union: rank by rank, docs numbered as the original has them; RBO: EXT at p = {order.p:g}; "
                f"first {order.depth} docs; t intervals over topics, cut to the range"
            )
        return [*notes, two.note] if two.note else notes

    def topic_table(self) -> Table:
        """One row per topic: scores of both experiments, and how alike their docs are; the same topics only."""
        two = self.experiments
        if not two.paired:
            raise UsageError("the experiments are on other topics; only the same topics stand side by side")
        original, replicated = two.original, two.replicated
        columns = {"topic": "", "baseline": ".4f", "replicated baseline": ".4f", "system": ".4f"}
        columns |= {"replicated system": ".4f", "improvement": "+.4f", "replicated improvement": "+.4f"}
        values = [original.baseline_scores, replicated.baseline_scores, original.system_scores]
        values += [replicated.system_scores, original.improvement, replicated.improvement]
        for role, order in self.orders.items():
            columns |= {f"τ {role}": ".4f", f"RBO {role}": ".4f"}
            values += [order.tau, order.rbo]
        rows = [(topic, *row) for topic, *row in zip(original.topics, *values, strict=True)]
        keys = {f"τ {role}": f"tau_{role}" for role in self.orders}
        return Table.of(columns, rows, caption=self.verdict, notes=[], keys=keys)

    def record(self) -> dict[str, Any]:
        """The verdict, every quantity by its key, and the table."""
        two = self.experiments
        facts: dict[str, Any] = {
            "verdict": self.verdict,
            "outcome": self.outcome,
            "measure": two.measure,
            "paired": two.paired,
            "topics": [len(two.original.topics), len(two.replicated.topics)],
            "runs": [_names(two.original), _names(two.replicated)],
            "least_ratio": self.kept.least,
            "p_of_least_ratio": self.kept.p,
            "interval": self.interval,
            "test": "t" if two.paired else self.test,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
        }
        for quantity in self.quantities:
            facts[quantity.key] = quantity.value if np.isfinite(quantity.value) else None
        return {**super().record(), **facts}


def _names(experiment: Experiment) -> dict[str, str]:
    return {"baseline": experiment.baseline, "system": experiment.system}


def replicate(
    original: Any,
    replicated: Any,
    *,
    baseline: str,
    system: str | None = None,
    replicated_baseline: str | None = None,
    replicated_system: str | None = None,
    topics: str | None = None,
    least_ratio: float = LEAST_RATIO,
    interval: str = "fieller",
    test: str = "welch",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Replication:
    """Whether the improvement of a system over a baseline replicates, from the scores of both experiments.

    original, replicated: scores of one measure with the runs of each experiment. system: the other run where there are
    two. Names of replicated runs are those of the original unless given. topics: "same" or "other"; by default the ids
    say it. Same topics are paired; others are two samples, compared by `test`. least_ratio: the share of the original
    improvement that must be exceeded for the word "replicated", by a one-sided t test. interval: of all that is no
    mean, "fieller" (with t for ΔRI and RMSE) or "percentile" (topics drawn again).

    >>> rng = np.random.default_rng(0)
    >>> ease = rng.uniform(0.2, 0.6, 40)
    >>> def tried(gain):
    ...     bm25 = ease + rng.normal(0, 0.02, 40)
    ...     return {"bm25": dict(enumerate(bm25)), "dense": dict(enumerate(bm25 + rng.normal(gain, 0.05, 40)))}
    >>> found = replicate(tried(0.1), tried(0.07), baseline="bm25")
    >>> found.outcome, round(found.ratio.value, 2)
    ('replicated, but smaller', 0.7)
    """
    two = two_experiments(
        original,
        replicated,
        baselines=(baseline, replicated_baseline),
        systems=(system, replicated_system),
        topics=topics,
    )
    return _replication(
        two, {}, least_ratio=least_ratio, interval=interval, test=test, level=level, resamples=resamples, seed=seed
    )


def replicate_runs(
    original: Any,
    replicated: Any,
    qrels: Any,
    *,
    baseline: Any,
    replicated_baseline: Any = None,
    replicated_qrels: Any = None,
    measures: str | Sequence[str | Measure] = "AP",
    topics: str | None = None,
    p: float = RBO_P,
    depth: int = DEPTH,
    columns: Named = None,
    **how: Any,
) -> list[Replication]:
    """The same from runs and judgments, one result for each measure, with the similarity of the docs.

    baseline: the run that both systems are compared with, unless there is a replicated_baseline. replicated_qrels: the
    judgments of another collection. p, depth: of RBO and τ, which are of the same topics only. how: least_ratio,
    interval, test, level, resamples and seed as in `replicate`.

    >>> lists = {"1": ["a", "b", "c"], "2": ["d", "e", "f"], "3": ["g", "h", "i"]}
    >>> better = {"1": ["b", "a", "c"], "2": ["e", "f", "d"], "3": ["g", "i", "h"]}
    >>> qrels = {"1": {"b": 1}, "2": {"e": 1}, "3": {"g": 1}}
    >>> [found] = replicate_runs(better, better, qrels, baseline=lists, measures="RR")
    >>> found.record()["tau_union_system"], found.record()["rmse_system"]
    (1.0, 0.0)
    """
    if replicated_qrels is not None and replicated_baseline is None:
        raise UsageError("judgments of another collection, and no baseline there; give --replicated-baseline")
    shared = shared_columns(columns)
    runs = _two_runs(baseline, original, shared)
    again = _two_runs(baseline if replicated_baseline is None else replicated_baseline, replicated, shared)
    other_qrels = qrels if replicated_qrels is None else replicated_qrels
    first = evaluate(_by_place(WHICH[0], runs), qrels, measures, columns=shared)
    second = evaluate(_by_place(WHICH[1], again), other_qrels, measures, columns=shared)
    refuse_unused(shared, columns)
    baselines, systems = ((f"{WHICH[0]} {role}", f"{WHICH[1]} {role}") for role in ROLES)
    orders: dict[str, DocOrder] = {}
    results = []
    for one, other in zip(first, second, strict=True):
        two = two_experiments(one, other, baselines=baselines, systems=systems, topics=topics)
        if two.paired and not orders:
            for role, run in runs.items():
                orders[role] = doc_order(run, again[role], two.original.topics, p=p, depth=depth)
        results.append(_replication(two.named(runs, again), orders, **how))
    return results


def _by_place(which: str, runs: dict[str, Run]) -> dict[str, Run]:
    """The runs under names that say which they are, also in errors: replicated baseline."""
    return {f"{which} {role}": run for role, run in runs.items()}


def _two_runs(baseline: Any, system: Any, columns: Named) -> dict[str, Run]:
    """The runs of one experiment by role."""
    sources = zip(ROLES, (baseline, system), strict=True)
    return {role: run_of(source, columns=columns, name=role) for role, source in sources}


def _replication(
    two: TwoExperiments,
    orders: dict[str, DocOrder],
    *,
    least_ratio: float = LEAST_RATIO,
    interval: str = "fieller",
    test: str = "welch",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Replication:
    """All quantities of two experiments."""
    one_of("interval", interval, RATIO_INTERVALS)
    TWO_SAMPLE_TESTS.entry(test)
    checked_share(level, "level")
    checked_resamples(resamples)
    checked_generator(seed)
    if not 0 <= least_ratio < math.inf:
        raise UsageError(f"least_ratio must be 0 or more, not {least_ratio}; .5 is half of the original improvement")
    original, replicated = two.original, two.replicated
    drawn: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    how: dict[str, Any] = {**drawn, "interval": interval}
    difference: dict[str, Any] = {**drawn, "paired": two.paired, "test": test}
    of_two = None if two.differences is None else (two.differences, two.differences)
    ratio = ratio_of_means(replicated.improvement, original.improvement, paired=two.paired, limits=of_two, **how)
    kept = kept_share(
        original.improvement, replicated.improvement,
        paired=two.paired, least=least_ratio, alpha=alpha_of(level), limits=two.differences,
    )  # fmt: skip
    both = "system − baseline"
    rows = [
        Quantity("effect_ratio", "effect ratio", both, ratio.value, ratio.low, ratio.high),
        improvement("original", original, level, two.differences),
        improvement("replicated", replicated, level, two.differences),
        change_of_mean(
            "improvement", both, original.improvement, replicated.improvement, limits=two.differences, **difference
        ),
        relative_improvement("original", original, two.limits, **how),
        relative_improvement("replicated", replicated, two.limits, **how),
        delta_ri(original, replicated, paired=two.paired, **how),
    ]
    scores = {
        "baseline": (original.baseline_scores, replicated.baseline_scores),
        "system": (original.system_scores, replicated.system_scores),
    }
    for role, (before, after) in scores.items():
        rows.append(change_of_mean(role, role, before, after, limits=two.limits, **difference))
        if two.paired:
            rows.append(rmse_of(role, before, after, **how))
        if role in orders:
            rows.append(mean_similarity("tau_union", "τ union", role, orders[role].tau, -1.0, level))
            rows.append(mean_similarity("rbo", "RBO", role, orders[role].rbo, 0.0, level))
    return Replication(two, ratio, tuple(rows), orders, kept, interval, test, level, resamples, seed)
