"""What do measures lose where judgments are missing? Scores by ever smaller random parts of the judgments.

Where it stands: runs, judgments, measures → parts of the judgments → **rankings and discriminative power by part**.
Buckley & Voorhees 2004; Sakai & Kando 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.averages import averages_of
from assay.data.lists import Lists, collected
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import refuse_other_averages
from assay.measures import Measure
from assay.pooling.rescoring import check_judged, rescored
from assay.rankings import kendall_tau_b, settled
from assay.scoring.run_scores import parsed
from assay.stats import all_pairs

SHARES = (1.0, 0.9, 0.7, 0.5, 0.3, 0.2, 0.1)
POOLED = -1
"""The grade of a doc whose judgment is left out: in the pool and not judged, which is what infAP looks for."""
MEASURES = ("AP", "AP'", "bpref", "infAP", "nDCG", "nDCG'", "Q", "Q'", "RBP")


@dataclass(frozen=True, eq=False)
class Incompleteness(Result):
    """What each measure says by parts of the judgments: arrays of measures × shares × draws."""

    measures: tuple[str, ...]
    shares: tuple[float, ...]
    tau: Floats
    """τ-b of the ranking of the runs with that by all judgments and the same measure; NaN where all runs tie."""
    power: Floats
    """Share of the pairs of runs that are significantly different."""
    averages: Floats
    """The mean score of all runs."""
    runs: int
    topics: int
    rel: float
    test: str
    alpha: float
    seed: int

    def table(self) -> Table:
        """One row per measure and share of the judgments, means over the draws."""
        columns = {"measure": "", "judged %": ".0f", "τ": ".3f", "sd of τ": ".3f"}
        significant = f"% with p < {self.alpha:g}"
        columns |= {significant: ".1f", "mean score": ".4f"}
        rows = []
        for m, measure in enumerate(self.measures):
            for s, share in enumerate(self.shares):
                tau = self.tau[m, s]
                defined = tau[np.isfinite(tau)]
                mean = defined.mean() if len(defined) else None
                spread = defined.std(ddof=1) if len(defined) > 1 else None
                power = 100 * self.power[m, s].mean()
                rows.append((measure, 100 * share, mean, spread, power, self.averages[m, s].mean()))
        keys = {"judged %": "judged_percent", "τ": "tau", "sd of τ": "tau_sd", significant: "significant_percent"}
        keys["mean score"] = "mean"
        return Table.of(columns, rows, caption="Scores by parts of the judgments", notes=self._notes(), keys=keys)

    def record(self) -> dict[str, Any]:
        """The rows, and how they were made."""
        settings = {"runs": self.runs, "n": self.topics, "test": self.test, "alpha": self.alpha, "seed": self.seed}
        return settings | super().record()

    def _notes(self) -> list[str]:
        draws = self.tau.shape[2]
        notes = [
            f"{self.runs} runs, {self.topics} topics; of each topic the same share of the relevant docs (grade "
            f"{self.rel:g} or more) and of the other judged docs is kept, at least one relevant; {draws} draws, seed "
            f"{self.seed}",
            "τ: τ-b of the ranking of the runs with that of the same measure by all judgments",
            f"% with p < {self.alpha:g}: pairs of runs that the {self.test} test tells apart, not corrected",
        ]
        if np.isnan(self.tau).any():
            notes.append("draws in which a measure gives all runs the same score have no τ and are left out of it")
        return notes


def incompleteness(
    runs: Sequence[Run] | Lists,
    qrels: Qrels | None = None,
    measures: str | Sequence[str | Measure] = MEASURES,
    *,
    shares: Sequence[float] | None = None,
    draws: int = 5,
    rel: float = 1,
    test: str = "t",
    alpha: float = 0.05,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Incompleteness:
    """τ with the full judgments and discriminative power of each measure, by random parts of the judgments.

    shares: parts of the judged docs of each topic, 1 for all, by default SHARES; relevant docs and others are drawn
    apart, so that their proportion stays. All measures see the same parts. rel: the lowest relevant grade, also of
    measures that name none. test: one of the tests of pairs, or of all pairs at once.

    >>> from assay.studies import simulate
    >>> small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> found = incompleteness(small.runs, small.qrels, ["AP", "bpref"], shares=[1, 0.5], draws=2)
    >>> found.tau.shape, found.tau[:, 0].tolist()
    ((2, 2, 2), [[1.0, 1.0], [1.0, 1.0]])
    """
    lists = runs if isinstance(runs, Lists) else collected(runs, qrels)
    check_judged(lists)
    wanted = [measure if rel == 1 else measure.with_rel(rel) for measure in parsed(measures)]
    for measure in wanted:
        refuse_other_averages(str(measure), measure.aggregate, "a study of incomplete judgments")
    shares = SHARES if shares is None else shares
    _check(lists, shares, draws)
    study = _Study(lists, tuple(wanted), float(rel), test, alpha)
    full = np.array([settled(study.scores(measure, None).mean(axis=1)) for measure in wanted])
    tasks = []
    for place, rng in enumerate(generators(seed, len(shares) * draws)):
        tasks.append((float(shares[place // draws]), rng, full))
    found = np.array(ordered_map(study, tasks, jobs=jobs, progress=progress))
    by_part = found.reshape(len(shares), draws, len(wanted), 3)
    tau, power, averages = by_part.transpose(3, 2, 0, 1)
    return Incompleteness(
        measures=tuple(str(measure) for measure in wanted),
        shares=tuple(float(share) for share in shares),
        tau=tau,
        power=power,
        averages=averages,
        runs=len(lists.runs),
        topics=len(lists.topics),
        rel=float(rel),
        test=test,
        alpha=alpha,
        seed=seed,
    )


def _check(lists: Lists, shares: Sequence[float], draws: int) -> None:
    if len(lists.runs) < 2:
        raise UsageError(f"{len(lists.runs)} run; a ranking needs at least two")
    if not shares or not all(0 < share <= 1 for share in shares):
        raise UsageError(f"shares {list(shares)}: parts of the judgments lie above 0 and up to 1, e.g. 1, .5, .1")
    if draws < 1:
        raise UsageError("draws: at least 1 part of the judgments of each size is needed")


@dataclass(frozen=True, eq=False)
class _Study:
    """What one process needs for one part of the judgments."""

    lists: Lists
    measures: tuple[Measure, ...]
    rel: float
    test: str
    alpha: float

    def __call__(self, task: tuple[float, np.random.Generator, Floats]) -> Floats:
        """τ, share of significant pairs, mean score: measures × 3."""
        share, rng, full = task
        kept = None if share == 1 else kept_judgments(self.lists, share, self.rel, rng)
        rows = []
        for measure, full_scores in zip(self.measures, full, strict=True):
            scores = self.scores(measure, kept)
            means = averages_of(scores)
            tested = all_pairs(ScoreMatrix.of(scores), self.test, interval=None, level=1 - self.alpha)
            rows.append((_tau(settled(means), full_scores), tested.share(self.alpha), means.mean()))
        return np.array(rows)

    def scores(self, measure: Measure, kept: Bools | None) -> Floats:
        """Scores of the runs, runs × topics, by the judgments that are kept; by all where None is given."""
        grades = self.lists.grades
        if kept is not None:
            lost = (grades >= 0) & ~kept
            grades = np.where(lost, POOLED, grades)
        return rescored(self.lists, measure, grades=grades)


def kept_judgments(lists: Lists, share: float, rel: float, rng: np.random.Generator) -> Bools:
    """Which items keep their judgment: of each topic the share of its relevant and of its other judged docs.

    Half a doc is rounded up or down at random; a topic keeps at least one relevant doc.

    >>> from assay.data import Qrels, Run
    >>> judged = Qrels.from_dict({"1": {"a": 1, "b": 1, "c": 0, "d": 0}})
    >>> lists = collected([Run.from_lists("r", {"1": ["a", "b", "c", "d"]})], judged)
    >>> int(kept_judgments(lists, 0.5, 1, np.random.default_rng(0)).sum())
    2
    """
    is_judged = lists.grades >= 0
    is_relevant = is_judged & (lists.grades >= rel)
    shuffled = rng.permutation(lists.items)
    kept = np.zeros(lists.items, dtype=bool)
    for chosen, least in ((is_relevant, 1), (is_judged & ~is_relevant, 0)):
        places = shuffled[chosen[shuffled]]
        topic = lists.topic_of_item[places]
        by_topic = np.argsort(topic, kind="stable")
        sizes = np.bincount(topic, minlength=len(lists.topics))
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        rank_in_topic = np.arange(len(places)) - np.repeat(first, sizes)
        exact = share * sizes
        count = np.floor(exact + rng.random(len(sizes))).astype(np.int64)
        count = np.maximum(count, np.minimum(least, sizes))
        taken = rank_in_topic < np.repeat(count, sizes)
        kept[places[by_topic][taken]] = True
    return kept


def _tau(scores: Floats, full: Floats) -> float:
    """τ-b of two rankings, NaN where one of them ties all runs."""
    if np.ptp(scores) == 0 or np.ptp(full) == 0:
        return float("nan")
    return float(kendall_tau_b(scores, full))
