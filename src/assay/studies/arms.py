"""Is one low-cost method better than another? Both on the same random subsets of runs, over several collections.

The test of Carterette & Allan 2007 (§7.2): subsets of k runs, both methods to the same stopping point, the paired τ
with the full judgments compared by a one-sided paired t test, and never one collection alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np

from assay.core.arrays import Floats, Ints, places_within
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.aggregation import aggregate
from assay.data import Labels, Qrels, Run
from assay.data.lists import collected
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import predicted
from assay.nojudgments.reweight import reweighted_emap
from assay.pooling.journal import Judgment
from assay.pooling.judging import Judging
from assay.rankings import kendall_rows, settled
from assay.scoring import evaluate


class Case(NamedTuple):
    """What both arms of the test work on: runs, all judgments, and for arms that take them the labels of a crowd.

    >>> Case([Run.from_lists("a", {"1": ["x"]})], Qrels.from_dict({"1": {"x": 1}})).labels is None
    True
    """

    runs: Sequence[Run]
    qrels: Qrels
    labels: Labels | None = None


Arm = Callable[..., Floats]

ARMS: Registry[Arm] = Registry("arm")
"""What can be tested: a Case and a seed → one number per run, more is better."""

SIZES = (2, 4, 6, 8, 10)


@ARMS.register("predict")
def predict(case: Case, seed: int = 0, *, method: str = "emap", depth: Annotated[int, Within(1)] = 100) -> Floats:
    """A method without judgments, by its name in `assay predict`."""
    kept = [run.cut(depth) for run in _on_topics(case)]
    return predicted(kept, method, seed=seed).averages()


@ARMS.register("reweight")
def reweight(
    case: Case,
    seed: int = 0,
    *,
    rounds: Annotated[int, Within(1)] = 3,
    depth: Annotated[int, Within(1)] = 100,
    score: str = "emap",
) -> Floats:
    """EMAP after `rounds` judged docs per topic with runs reweighted; score=ap is AP on the judged docs alone."""
    if score not in ("emap", "ap"):
        raise UsageError(f"reweight(score={score}): the score is emap or ap")
    lists = comparable(_on_topics(case), depth=depth)
    result = reweighted_emap(lists, case.qrels, rounds=rounds, depth=depth)
    scores = result.expected if score == "emap" else result.judged_only
    return scores.averages()


@ARMS.register("judge")
def judge(
    case: Case,
    seed: int = 0,
    *,
    order: str = "move-to-front",
    judgments: Annotated[int, Within(1)] = 3,
    depth: Annotated[int, Within(1)] = 100,
) -> Floats:
    """AP after that many judgments per topic in a judging order, by its name in `assay pool`."""
    lists = collected(case.runs, case.qrels, depth=depth)
    session = Judging(lists, order, depth=depth, seed=seed)
    truth = case.qrels.to_dict()
    for _ in range(judgments):
        asked = session.next(len(case.qrels.topics))
        if not asked:
            break
        for topic, doc in asked:
            grade = truth[topic].get(doc, 0)
            session.tell([Judgment(topic, doc, grade)])
    return _means(case.runs, session.qrels(), "AP")


@ARMS.register("topics")
def topics(case: Case, seed: int = 0, *, count: Annotated[int, Within(1)] = 10, measure: str = "AP") -> Floats:
    """A measure on a random subset of that many topics, fully judged."""
    if count < 1:
        raise UsageError(f"topics(count={count}): at least one topic must be judged")
    (matrix,) = evaluate(case.runs, case.qrels, measure)
    shuffled = np.random.default_rng(seed).permutation(len(matrix.topics))
    drawn = [matrix.topics[place] for place in shuffled[:count]]
    return matrix.select(topics=drawn).averages()


@ARMS.register("crowd")
def crowd(
    case: Case,
    seed: int = 0,
    *,
    aggregation: str = "majority",
    labels: Annotated[int, Within(1)] | None = None,
    measure: str = "AP",
) -> Floats:
    """A measure on the judgments of a crowd, by an aggregation of `assay crowd`; of each doc only some labels."""
    if case.labels is None:
        raise UsageError("the arm crowd needs the labels of a crowd; give them with the collection")
    taken = case.labels if labels is None else _some_labels(case.labels, labels, seed)
    judgments = aggregate(taken, aggregation).qrels()
    return _means(case.runs, judgments, measure)


def _some_labels(labels: Labels, count: int, seed: int) -> Labels:
    """This many labels of each doc, chosen at random."""
    if count < 1:
        raise UsageError(f"crowd(labels={count}): at least one label of each doc is needed")
    item, _ = labels.items()
    shuffled = np.random.default_rng(seed).permutation(len(labels))
    by_item = shuffled[np.argsort(item[shuffled], kind="stable")]
    place = places_within(np.bincount(item))
    chosen = by_item[place < count]
    return labels.select(np.sort(chosen))


def _means(runs: Sequence[Run], qrels: Qrels, measure: str) -> Floats:
    """The score by one measure over all topics, for each run."""
    (matrix,) = evaluate(runs, qrels, measure)
    return matrix.averages()


@dataclass(frozen=True)
class Collected:
    """What came of one collection and one number of runs."""

    collection: str
    runs: int
    tau: tuple[Floats, Floats]
    """τ with the full judgments on every subset, of the first and of the second arm."""

    @property
    def p(self) -> float:
        """One-sided paired t test that the first arm's τ is higher."""
        from scipy.special import stdtr

        first, second = self.tau
        differences = first - second
        mean = differences.mean()
        standard_error = differences.std(ddof=1) / np.sqrt(len(differences))
        if standard_error == 0:
            return 0.5 if mean == 0 else float(mean < 0)
        t = mean / standard_error
        return float(stdtr(len(differences) - 1, -t))


@dataclass(frozen=True)
class MethodTest(Result):
    """Two arms on several collections."""

    arms: tuple[str, str]
    results: tuple[Collected, ...]
    measure: str
    seed: int

    def table(self) -> Table:
        """One row per collection and number of runs."""
        first, second = self.arms
        rows = []
        for result in self.results:
            taus_of_first, taus_of_second = result.tau
            subsets = len(taus_of_first)
            mean_of_first = taus_of_first.mean()
            mean_of_second = taus_of_second.mean()
            means = (mean_of_first, mean_of_second, mean_of_first - mean_of_second)
            rows.append((result.collection, result.runs, subsets, *means, result.p))
        won = {result.collection for result in self.results if result.p < 0.05}
        every = {result.collection for result in self.results}
        notes = [
            f"mean τ-b with the ranking by {self.measure} and all judgments; the same random subsets of runs for both; "
            f"p: one-sided paired t test that {first} is better; seed {self.seed}",
            f"{first} is better (p < .05 for some number of runs) on {len(won)} of {len(every)} collections",
        ]
        return Table.of(
            {"collection": "", "runs": "d", "subsets": "d", first: ".3f", second: ".3f", "Δ": "+.3f", "p": "p"},
            rows,
            caption=f"{first} against {second}",
            notes=notes,
            keys={first: "tau_first", second: "tau_second"},
        )


def method_test(
    first: str,
    second: str,
    collections: Mapping[str, tuple[Sequence[Run], Qrels] | Case],
    *,
    sizes: Sequence[int] = SIZES,
    subsets: int = 50,
    measure: str = "AP",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> MethodTest:
    """Two arms of ARMS, e.g. `predict(method=emap)`, on random subsets of the runs of at least two collections.

    A collection is runs and judgments, or a Case where an arm needs more. The truth is the ranking by `measure` with
    all judgments; docs that nobody judged count as not relevant, also when an arm asks for them.

    >>> from assay.studies import simulate
    >>> made = {f"c{i}": simulate(i, topics=4, runs_per_group=1, docs=60, depth=20) for i in (1, 2)}
    >>> cases = {name: (collection.runs, collection.qrels) for name, collection in made.items()}
    >>> [r.collection for r in method_test("topics(count=2)", "topics(count=1)", cases, sizes=[4], subsets=3).results]
    ['c1', 'c2']
    """
    cases = {name: Case(*given) for name, given in collections.items()}
    _check(first, second, cases, sizes)
    tasks: list[_Task] = []
    truth = {}
    for number, (name, case) in enumerate(cases.items()):
        tasks += _tasks(number, name, cases, sizes, subsets, seed)
        truth[name] = _means(case.runs, case.qrels, measure)

    def both_taus(task: _Task) -> tuple[float, float]:
        """τ of both arms on one subset of the runs."""
        case = cases[task.name]
        chosen_runs = [case.runs[run] for run in task.chosen]
        few = case._replace(runs=chosen_runs)
        true_means = truth[task.name][task.chosen]
        of_first = kendall(ARMS.call(first, few, task.seed), true_means)
        of_second = kendall(ARMS.call(second, few, task.seed), true_means)
        return of_first, of_second

    every_tau = ordered_map(both_taus, tasks, jobs=jobs, threads=True, progress=progress)
    by_cell = np.array(every_tau).reshape(len(cases) * len(sizes), subsets, 2)
    results = []
    for (name, size), taus in zip(product(cases, sizes), by_cell, strict=True):
        results.append(Collected(name, size, (taus[:, 0], taus[:, 1])))
    return MethodTest((first, second), tuple(results), measure, seed)


class _Task(NamedTuple):
    """One subset of the runs of one collection."""

    name: str
    chosen: Ints
    seed: int


def _tasks(
    number: int, name: str, cases: Mapping[str, Case], sizes: Sequence[int], subsets: int, seed: int
) -> Iterator[_Task]:
    """The subsets of a collection, size after size; they depend on the seed, its number and the size alone."""
    runs = len(cases[name].runs)
    for size in sizes:
        sequence = np.random.SeedSequence([seed, number, size])
        state = int(sequence.generate_state(1)[0])
        for i, rng in enumerate(generators(state, subsets)):
            chosen = rng.permutation(runs)[:size]
            yield _Task(name, chosen, seed + i)


def _check(first: str, second: str, cases: Mapping[str, Case], sizes: Sequence[int]) -> None:
    if len(cases) < 2:
        raise UsageError("one collection alone proves nothing about a method; give at least two")
    if first == second:
        raise UsageError(f"both arms are {first!r}; compare two different methods")
    if not sizes or min(sizes) < 2:
        raise UsageError(f"sizes {list(sizes)}: a subset has two runs or more to be ranked")
    for arm in (first, second):
        ARMS.entry(arm)  # a name or parameter that nobody knows is said before anything is computed
    for name, case in cases.items():
        if len(case.runs) < max(sizes):
            raise DataError(f"{name}: {len(case.runs)} runs; subsets of {max(sizes)} need more")


def kendall(scores: Floats, truth: Floats) -> float:
    """τ-b of an arm's scores with the truth; 0 where either ties all runs: such an arm says nothing."""
    estimate = settled(scores)[None, :]
    return float(kendall_rows(estimate, settled(truth), undefined=0.0)[0])


def _on_topics(case: Case) -> list[Run]:
    """The runs with the topics of the qrels only."""
    wanted = set(case.qrels.topics)
    runs = []
    for run in case.runs:
        if not wanted.issuperset(run.topics):
            kept = {topic: docs for topic, docs in run.to_dict().items() if topic in wanted}
            run = Run.from_dict(run.name, kept, info=run.info)
        runs.append(run)
    return runs
