"""Is one low-cost method better than another? Both on the same random subsets of runs, over several collections.

The test of Carterette & Allan 2007 (§7.2): subsets of k runs, both methods to the same stopping point, the paired τ
with the full judgments compared by a one-sided paired t test, and never one collection alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.rankings import kendall_rows, settled
from assay.studies.arms import ARMS, Case

SIZES = (2, 4, 6, 8, 10)


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


class FullSet(NamedTuple):
    """τ of both arms on all runs of a collection."""

    collection: str
    runs: int
    tau: tuple[float, float]


@dataclass(frozen=True)
class MethodTest(Result):
    """Two arms on several collections."""

    unit = "run"

    arms: tuple[str, str]
    results: tuple[Collected, ...]
    full: tuple[FullSet, ...]
    measure: str
    seed: int

    def table(self) -> Table:
        """One row per collection and number of runs, and one for all runs of the collection, without a test."""
        first, second = self.arms
        full_of = {full.collection: full for full in self.full}
        rows: list[tuple[object, ...]] = []
        for collection, results in groupby(self.results, key=lambda result: result.collection):
            for result in results:
                means = [float(taus.mean()) for taus in result.tau]
                rows.append((collection, result.runs, len(result.tau[0]), *means, means[0] - means[1], result.p))
            full = full_of[collection]
            rows.append((collection, full.runs, 1, *full.tau, full.tau[0] - full.tau[1], None))
        won = {result.collection for result in self.results if result.p < 0.05}
        notes = [
            f"mean τ-b with the ranking by {self.measure} and all judgments; the same random subsets of runs for both, "
            f"and last all runs of the collection; p: one-sided paired t test that {first} is better; seed {self.seed}",
            f"{first} is better (p < .05 for some number of runs) on {len(won)} of {len(full_of)} collections",
        ]
        return Table.of(
            {"collection": "", "runs": "d", "subsets": "d", first: ".3f", second: ".3f", "Δ": "+.3f", "p": "p"},
            rows,
            caption=f"{first} against {second}",
            notes=notes,
            keys={first: "tau_first", second: "tau_second"},
        )


@dataclass(frozen=True)
class MethodTests(Result):
    """One arm against each of several others, on the same subsets."""

    unit = "run"

    tests: tuple[MethodTest, ...]

    def table(self) -> Table:
        """The tables of all tests in one, with the other arm in front."""
        first = self.tests[0].arms[0]
        rows = []
        remarks = []
        for test in self.tests:
            alone = test.table()
            other = test.arms[1]
            rows += [(other, *row) for row in alone.rows]
            how, won = alone.notes
            remarks.append(f"against {other}: {won}")
        columns = {
            "against": "", "collection": "", "runs": "d", "subsets": "d", first: ".3f", "τ": ".3f", "Δ": "+.3f",
            "p": "p",
        }  # fmt: skip
        return Table.of(
            columns,
            rows,
            caption=f"{first} against {len(self.tests)} others",
            notes=[how, *remarks],
            keys={first: "tau_first", "τ": "tau_second"},
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
    found = method_tests(
        first,
        [second],
        collections,
        sizes=sizes,
        subsets=subsets,
        measure=measure,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    return found.tests[0]


def method_tests(
    first: str,
    others: Sequence[str],
    collections: Mapping[str, tuple[Sequence[Run], Qrels] | Case],
    *,
    sizes: Sequence[int] = SIZES,
    subsets: int = 50,
    measure: str = "AP",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> MethodTests:
    """`method_test` of one arm against each of several others; each arm is run once on each subset.

    >>> from assay.studies import simulate
    >>> made = {f"c{i}": simulate(i, topics=4, runs_per_group=1, docs=60, depth=20) for i in (1, 2)}
    >>> cases = {name: (collection.runs, collection.qrels) for name, collection in made.items()}
    >>> found = method_tests("topics(count=2)", ["topics(count=1)", "predict"], cases, sizes=[4], subsets=3)
    >>> [test.arms[1] for test in found.tests]
    ['topics(count=1)', 'predict']
    """
    cases = {name: given if isinstance(given, Case) else Case(*given) for name, given in collections.items()}
    arms = [first, *others]
    _check(arms, cases, sizes)
    tasks: list[_Task] = []
    for number, (name, case) in enumerate(cases.items()):
        tasks += _tasks(number, name, cases, sizes, subsets, seed)
        tasks.append(_Task(name, np.arange(len(case.runs)), seed))
        case.scores(measure)

    def taus(task: _Task) -> list[float]:
        """τ of every arm on one subset of the runs."""
        some = cases[task.name].some(task.chosen)
        true_means = some.scores(measure).averages()
        return [kendall(ARMS.call(arm, some, task.seed), true_means) for arm in arms]

    every_tau = np.array(ordered_map(taus, tasks, jobs=jobs, threads=True, progress=progress))
    # Of each collection the subsets, size after size, and all runs last.
    by_collection = every_tau.reshape(len(cases), len(sizes) * subsets + 1, len(arms))
    tests = []
    for other in range(1, len(arms)):
        results: list[Collected] = []
        full = []
        for (name, case), of_collection in zip(cases.items(), by_collection[:, :, [0, other]], strict=True):
            by_size = of_collection[:-1].reshape(len(sizes), subsets, 2)
            for size, of_size in zip(sizes, by_size, strict=True):
                results.append(Collected(name, size, (of_size[:, 0], of_size[:, 1])))
            of_first, of_second = of_collection[-1].tolist()
            full.append(FullSet(name, len(case.runs), (of_first, of_second)))
        tests.append(MethodTest((first, arms[other]), tuple(results), tuple(full), measure, seed))
    return MethodTests(tuple(tests))


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


def _check(arms: Sequence[str], cases: Mapping[str, Case], sizes: Sequence[int]) -> None:
    if len(cases) < 2:
        raise UsageError("one collection alone proves nothing about a method; give at least two")
    if len(arms) < 2:
        raise UsageError(f"{arms[0]} alone; give another arm to compare it with")
    for arm in arms:
        if arms.count(arm) > 1:
            raise UsageError(f"arm {arm!r} is there twice; compare different methods")
        ARMS.entry(arm)  # a name or parameter that nobody knows is said before anything is computed
    if not sizes or min(sizes) < 2:
        raise UsageError(f"sizes {list(sizes)}: a subset has two runs or more to be ranked")
    for name, case in cases.items():
        if len(case.runs) < max(sizes):
            raise DataError(f"{name}: {len(case.runs)} runs; subsets of {max(sizes)} need more")


def kendall(scores: Floats, truth: Floats) -> float:
    """τ-b of an arm's scores with the truth; 0 where either ties all runs: such an arm says nothing."""
    estimate = settled(scores)[None, :]
    return float(kendall_rows(estimate, settled(truth), undefined=0.0)[0])
