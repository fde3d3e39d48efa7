"""How fast does a judging order pay? Relevant docs found, agreement with the full judgments, bias, by judgments spent.

Where it stands: lists with judgments → every order judged by the qrels → **curves**. Each topic gets the same number of
judgments, as in a session with spread="local".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.averages import averages_of
from assay.data.grades import UNJUDGED
from assay.data.lists import Lists, TopicLists
from assay.measures import parse
from assay.pooling.judging import topic_orders
from assay.pooling.rescoring import check_judged, rescored, with_relevance
from assay.pooling.voters import Collected, lists_of, voters
from assay.rankings import kendall_tau_a, settled

LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Curve:
    """One order at each budget: arrays budgets × repetitions."""

    order: str
    judged: Floats
    relevant: Floats
    tau: Floats
    bias: Floats
    rms: Floats


@dataclass(frozen=True, eq=False)
class Curves(Result):
    """Curves of several orders over the same budgets (docs per topic)."""

    budgets: tuple[int, ...]
    curves: tuple[Curve, ...]
    measure: str
    relevant: int
    recipe: str

    def curve(self, order: str) -> Curve:
        """The curve of one order."""
        for one in self.curves:
            if one.order == order:
                return one
        raise UsageError(f"no curve of {order!r}; there are: {', '.join(c.order for c in self.curves)}")

    def table(self) -> Table:
        """One row per order and budget: means over the repetitions; of several also the sd of share and τ."""
        several = self.curves[0].tau.shape[1] > 1
        total = max(1, self.relevant)
        rows = []
        for curve in self.curves:
            for i, budget in enumerate(self.budgets):
                relevant = curve.relevant[i]
                tau = curve.tau[i]
                row: list[object] = [curve.order, budget, curve.judged[i].mean()]
                row += [relevant.mean(), relevant.mean() / total]
                if several:
                    row.append(relevant.std(ddof=1) / total)
                row.append(tau.mean())
                if several:
                    row.append(tau.std(ddof=1))
                row += [curve.bias[i].mean(), curve.rms[i].mean()]
                rows.append(row)
        formats = {"order": "", "per topic": "d", "judged": ".0f", "relevant": ".1f", "share": ".3f"}
        if several:
            formats["its sd"] = ".3f"
        formats["τ-a"] = ".3f"
        if several:
            formats["sd of τ-a"] = ".3f"
        formats |= {"bias": "+.4f", "RMS": ".4f"}
        keys = {"its sd": "share_sd", "τ-a": "tau_a", "sd of τ-a": "tau_a_sd", "RMS": "rms"}
        return Table.of(formats, rows, caption=f"Judging orders, {self.measure}", notes=[self.recipe], keys=keys)

    def areas(self) -> dict[str, float]:
        """For each order the area under its curve of the share of relevant docs found, over the budgets 0 … last."""
        budgets = np.array([0, *self.budgets], dtype=np.float64)
        total = max(1, self.relevant)
        areas = {}
        for curve in self.curves:
            shares = curve.relevant.mean(axis=1) / total
            from_zero = np.append(0.0, shares)
            area = np.trapezoid(from_zero, budgets) / budgets[-1]
            areas[curve.order] = float(area)
        return areas


def curves(
    runs: Collected,
    orders: Sequence[str],
    *,
    qrels: Qrels | None = None,
    measure: str = "AP",
    depth: int | None = 100,
    budgets: Sequence[int] | None = None,
    repetitions: int = 1,
    rel: float | None = None,
    judged_only: bool = True,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Curves:
    """Judge by each order, with the qrels as the judge, and look at each budget of docs per topic.

    relevant: relevant docs found; τ-a: Kendall's, between the runs' mean scores with the judgments so far and with
    all; bias and RMS: mean and root mean square of (score so far − score with all) over the runs. judged_only takes
    docs that nobody judged out of the lists first; else they count as not relevant when their turn comes. rel: the
    lowest relevant grade, by default that of the measure. Repetition 0 has the runs in their order, the others in a
    random one, which changes ties, and another seed.

    >>> from assay.studies import simulate
    >>> small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> curves(small.runs, ["depth"], qrels=small.qrels, depth=10, budgets=[5, 10]).table().column("relevant")
    [25.0, 52.0]
    """
    measure, lowest = with_relevance(measure, rel)
    lists = lists_of(runs, qrels)
    _checked(lists, orders, budgets, repetitions)
    pools = [len(topic_lists.docs) for topic_lists in _lists_of_topics(lists, depth, judged_only)]
    largest = max(pools)
    if largest == 0:
        raise DataError("no doc in the first ranks of the runs is judged; judge some first, or pool deeper")
    marks = tuple(sorted({min(budget, largest) for budget in (budgets or spaced(largest))}))
    full_scores = averages_of(rescored(lists, measure), parse(measure).aggregate)
    task = _Task(lists, measure, depth, judged_only, lowest, marks, full_scores, seed)
    todo = list(product(orders, range(repetitions)))
    points = ordered_map(task, todo, jobs=jobs, progress=progress)

    by_order = np.array(points).reshape(len(orders), repetitions, len(marks), 5)
    made = []
    for order, values in zip(orders, by_order, strict=True):
        judged, relevant, tau, bias, rms = values.transpose(2, 1, 0)
        made.append(Curve(order, judged, relevant, tau, bias, rms))
    without_judgment = "taken out" if judged_only else "count as not relevant"
    recipe = (
        f"{len(lists.runs)} runs, {len(lists.topics)} topics, depth {depth or 'whole'}, relevant: grade ≥ {lowest:g}, "
        f"{repetitions} repetitions, seed {seed}; docs without judgment {without_judgment}"
    )
    return Curves(marks, tuple(made), measure, int(lists.relevant(lowest).sum()), recipe)


def _lists_of_topics(lists: Lists, depth: int | None, judged_only: bool) -> list[TopicLists]:
    return [voters(lists, t, depth=depth, judged_only=judged_only) for t in range(len(lists.topics))]


def spaced(largest: int, points: int = 12) -> list[int]:
    """Budgets from 1 to the largest, each larger by about the same factor.

    >>> spaced(100, 5)
    [1, 3, 10, 32, 100]
    """
    budgets = np.geomspace(1, max(1, largest), points)
    return sorted({round(budget) for budget in budgets.tolist()})


@dataclass(frozen=True, eq=False)
class _Task:
    """What one process needs to simulate one order once."""

    lists: Lists
    measure: str
    depth: int | None
    judged_only: bool
    rel: float
    budgets: tuple[int, ...]
    full_scores: Floats
    """Mean scores of the runs with all judgments."""
    seed: int

    def __call__(self, todo: tuple[str, int]) -> list[tuple[float, ...]]:
        order, repetition = todo
        when = self._when(order, repetition)
        return [self._point(when, budget) for budget in self.budgets]

    def _when(self, order: str, repetition: int) -> Ints:
        """For each item the place at which it is judged within its topic, from 1."""
        rng = generators(self.seed, repetition + 1)[repetition]
        order_of_runs = rng.permutation(np.arange(len(self.lists.runs)))
        shuffled = self.lists
        if repetition:
            # All runs are there, so the items stay.
            shuffled = self.lists.select([self.lists.runs[s] for s in order_of_runs])
        topic_lists = _lists_of_topics(shuffled, self.depth, self.judged_only)
        relevant = self.lists.relevant(self.rel)
        running = topic_orders(topic_lists, order, seed=self.seed + repetition)
        when = np.full(len(relevant), LARGEST)
        for place in range(1, self.budgets[-1] + 1):
            for one in running:
                for doc in one.next().tolist():
                    item = one.lists.items[doc]
                    when[item] = place
                    one.tell(doc, bool(relevant[item]))
        return when

    def _point(self, when: Ints, budget: int) -> tuple[float, ...]:
        """What `Curve` holds of one budget: judged, relevant, τ-a, bias, RMS."""
        judged = when <= budget
        relevant = judged & self.lists.relevant(self.rel)
        grades = np.where(judged, np.maximum(self.lists.grades, 0), UNJUDGED)
        by_topic = rescored(self.lists, self.measure, grades=grades)
        scores = averages_of(by_topic, parse(self.measure).aggregate)
        error = scores - self.full_scores
        rms = np.sqrt((error**2).mean())
        return (
            float(judged.sum()),
            float(relevant.sum()),
            tau(scores, self.full_scores),
            float(error.mean()),
            float(rms),
        )


def tau(a: Floats, b: Floats) -> float:
    """Kendall's τ-a, of means; one run alone has 1: nothing can stand in another order.

    >>> tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.3333333333333333
    """
    if len(a) < 2:
        return 1.0
    return kendall_tau_a(settled(a), settled(b))


def _checked(lists: Lists, orders: Sequence[str], budgets: Sequence[int] | None, repetitions: int) -> None:
    check_judged(lists)
    if not orders or repetitions < 1:
        raise UsageError("give at least one order and one repetition")
    if len(set(orders)) < len(orders):
        raise UsageError("an order is there twice; name each once")
    if budgets is not None and (not budgets or min(budgets) < 1):
        raise UsageError("budgets are docs per topic, each at least 1")
