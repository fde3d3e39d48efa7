"""Is one low-cost method better than another? Both on the same random subsets of runs, over several collections.

The test of Carterette & Allan 2007 (§7.2): subsets of k runs, both methods to the same stopping point, the paired τ
with the full judgments compared by a one-sided paired t test, and never one collection alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.data import Qrels, Run
from assay.engine import Progress, generators, ordered_map, silent
from assay.errors import DataError, UsageError
from assay.lists import collected
from assay.nojudgments.basis import comparable
from assay.nojudgments.methods import predicted
from assay.nojudgments.reweight import reweighted_emap
from assay.pooling.journal import Judgment
from assay.pooling.judging import Judging
from assay.registry import Registry
from assay.scoring import evaluate
from assay.similarity.correlation import kendall_tau_b
from assay.studies.matrices import Floats
from assay.tables import Table

Arm = Callable[..., Floats]

ARMS: Registry[Arm] = Registry("arm")
"""What can be tested: (runs, qrels) → one number per run, more is better."""

SIZES = (2, 4, 6, 8, 10)


@ARMS.register("predict")
def predict(runs: Sequence[Run], qrels: Qrels, *, seed: int = 0, method: str = "emap", depth: int = 100) -> Floats:
    """A method without judgments, by its name in `assay predict`."""
    kept = [run.cut(depth) for run in _on_topics(runs, qrels)]
    return predicted(kept, method, seed=seed).means()


@ARMS.register("reweight")
def reweight(
    runs: Sequence[Run], qrels: Qrels, *, seed: int = 0, rounds: int = 3, depth: int = 100, score: str = "emap"
) -> Floats:
    """EMAP after `rounds` judged docs per topic with runs reweighted; score=ap is AP on the judged docs alone."""
    found = reweighted_emap(comparable(_on_topics(runs, qrels), depth=depth), qrels, rounds=rounds, depth=depth)
    return (found.expected if score == "emap" else found.judged_only).means()


@ARMS.register("judge")
def judge(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    seed: int = 0,
    order: str = "move-to-front",
    judgments: int = 3,
    depth: int = 100,
) -> Floats:
    """AP after that many judgments per topic in a judging order, by its name in `assay pool`."""
    work = Judging(collected(runs, qrels, depth=depth), order, depth=depth, seed=seed)
    truth = qrels.to_dict()
    for _ in range(judgments):
        asked = work.next(len(qrels.topics))
        if not asked:
            break
        work.tell([Judgment(t, d, truth[t].get(d, 0)) for t, d in asked])
    return evaluate(runs, work.qrels(), "AP")[0].means()


@ARMS.register("topics")
def topics(runs: Sequence[Run], qrels: Qrels, *, seed: int = 0, count: int = 10, measure: str = "AP") -> Floats:
    """A measure on a random subset of that many topics, fully judged."""
    matrix = evaluate(runs, qrels, measure)[0]
    chosen = np.random.default_rng(seed).permutation(len(matrix.topics))[:count]
    return np.asarray(matrix.values[:, chosen].mean(axis=1))


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

        d = self.tau[0] - self.tau[1]
        spread = d.std(ddof=1) / np.sqrt(len(d))
        if spread == 0:
            return 0.5 if d.mean() == 0 else float(d.mean() < 0)
        return float(stdtr(len(d) - 1, -d.mean() / spread))


@dataclass(frozen=True)
class MethodTest:
    """Two arms on several collections."""

    arms: tuple[str, str]
    results: tuple[Collected, ...]
    measure: str
    seed: int

    def table(self) -> Table:
        """One row per collection and number of runs."""
        rows = [
            (
                r.collection,
                r.runs,
                len(r.tau[0]),
                r.tau[0].mean(),
                r.tau[1].mean(),
                r.tau[0].mean() - r.tau[1].mean(),
                r.p,
            )
            for r in self.results
        ]
        formats = {
            "collection": "", "runs": "d", "subsets": "d", self.arms[0]: ".3f", self.arms[1]: ".3f", "Δ": "+.3f",
            "p": "p",
        }  # fmt: skip
        won = {r.collection for r in self.results if r.p < 0.05}
        every = {r.collection for r in self.results}
        notes = [
            f"mean τ-b with the ranking by {self.measure} and all judgments; the same random subsets of runs for both; "
            f"p: one-sided paired t test that {self.arms[0]} is better; seed {self.seed}",
            f"{self.arms[0]} is better (p < .05 for some number of runs) on {len(won)} of {len(every)} collections",
        ]
        return Table.of(formats, rows, caption=f"{self.arms[0]} against {self.arms[1]}", notes=notes)


def method_test(
    first: str,
    second: str,
    collections: Mapping[str, tuple[Sequence[Run], Qrels]],
    *,
    sizes: Sequence[int] = SIZES,
    subsets: int = 50,
    measure: str = "AP",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> MethodTest:
    """Two arms of ARMS, e.g. `predict(method=emap)`, on random subsets of the runs of at least two collections."""
    if len(collections) < 2:
        raise UsageError("one collection alone proves nothing about a method; give at least two")
    if first == second:
        raise UsageError(f"both arms are {first!r}; compare two different methods")
    arms = [ARMS.parse(first), ARMS.parse(second)]
    tasks = []
    for number, (name, (runs, qrels)) in enumerate(collections.items()):
        if len(runs) < max(sizes):
            raise DataError(f"{name}: {len(runs)} runs; subsets of {max(sizes)} need more")
        truth = evaluate(runs, qrels, measure)[0].means()
        for size in sizes:
            rngs = generators(int(np.random.SeedSequence([seed, number, size]).generate_state(1)[0]), subsets)
            tasks += [
                (name, size, rng.permutation(len(runs))[:size], runs, qrels, truth, i) for i, rng in enumerate(rngs)
            ]

    def one(task: tuple[str, int, np.ndarray, Sequence[Run], Qrels, Floats, int]) -> tuple[float, float]:
        _, _, chosen, runs, qrels, truth, i = task
        few = [runs[c] for c in chosen]
        a, b = (kendall(entry.function(few, qrels, seed=seed + i, **given), truth[chosen]) for entry, given in arms)
        return a, b

    found = ordered_map(one, tasks, jobs=jobs, threads=True, progress=progress)
    results = []
    for name in collections:
        for size in sizes:
            taus = np.array([f for f, t in zip(found, tasks, strict=True) if (t[0], t[1]) == (name, size)])
            results.append(Collected(name, size, (taus[:, 0], taus[:, 1])))
    return MethodTest((first, second), tuple(results), measure, seed)


def kendall(scores: Floats, truth: Floats) -> float:
    """τ-b; 0 where an arm or the truth ties all runs, which says nothing."""
    if np.ptp(scores) == 0 or np.ptp(truth) == 0:
        return 0.0
    return kendall_tau_b(truth, scores)


def _on_topics(runs: Sequence[Run], qrels: Qrels) -> list[Run]:
    """The runs with the topics of the qrels only."""
    wanted = set(qrels.topics)
    return [run if wanted.issuperset(run.topics) else _without_other_topics(run, wanted) for run in runs]


def _without_other_topics(run: Run, wanted: set[str]) -> Run:
    kept = {t: docs for t, docs in run.to_dict().items() if t in wanted}
    return Run.from_dict(run.name, kept, info=run.info)
