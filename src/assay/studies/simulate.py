"""A whole test collection from a seed: runs of several groups, topics of different difficulty, a judged pool, a crowd.

It is what ships with assay for the demo, the docs and the tests. Same seed, same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import generators
from assay.core.errors import UsageError
from assay.data import Labels, Qrels, Run, RunInfo
from assay.io.labels import write_labels
from assay.io.sheet import write_sheet
from assay.io.trec import write_qrels, write_run

GROUPS: Mapping[str, float] = {"atlas": 1.25, "borea": 1.1, "cygnus": 1.0, "dorado": 0.9, "eridan": 0.75}
"""Teams, and how well their systems tell relevant docs from others."""
LATE = list(GROUPS)[-1]
"""The group whose runs came too late for the pool."""
IDS = 9000
"""Doc ids to choose from on a topic."""
GRADE_SHARES = (0.6, 0.3, 0.1)
"""Of the relevant docs: grades 1, 2, 3."""
SIGNAL = np.array([0.0, 1.3, 2.0, 2.8])
"""What a doc of each grade adds to its score."""


@dataclass(frozen=True)
class Collection:
    """Runs with their judgments: the pooled ones that a track would have, and the truth that nobody has."""

    runs: tuple[Run, ...]
    qrels: Qrels
    truth: Qrels
    labels: Labels

    @property
    def pool_runs(self) -> tuple[Run, ...]:
        """The runs from which the judged docs were pooled: all but those of the last group, which came too late."""
        return tuple(run for run in self.runs if run.info.group != LATE)


def simulate(
    seed: int = 0,
    *,
    topics: int = 50,
    runs_per_group: int = 3,
    manual_runs: int = 2,
    docs: int = 600,
    depth: int = 100,
    pool_depth: int = 20,
    workers: int = 60,
) -> Collection:
    """A collection of len(GROUPS)·runs_per_group automatic and some manual runs.

    A doc's score in a run is quality · ease(topic) · signal(grade) + noise, part of it common to all automatic runs,
    part to the runs of a group, part the run's own. One relevant doc in five is hidden from automatic runs: only manual
    runs see what it is worth. Judged are the docs within the first `pool_depth` of any run but those of the last group,
    which came too late for the pool. Crowd workers label a part of the judged docs.

    >>> collection = simulate(7, topics=2, runs_per_group=1, docs=60, depth=20)
    >>> [run.name for run in collection.runs][:3], len(collection.qrels.topics)
    (['atlas1', 'borea1', 'cygnus1'], 2)
    """
    _check(topics=topics, runs_per_group=runs_per_group, docs=docs, depth=depth, pool_depth=pool_depth, workers=workers)
    plan, *parts = generators(seed, topics + 2)
    ease = np.exp(plan.normal(0.0, 0.35, topics))
    relevant = np.clip(np.exp(plan.normal(3.2, 0.7, topics)), 3, docs // 4).astype(int)
    systems = _systems(runs_per_group, manual_runs, plan)
    rankings: list[dict[str, dict[str, float]]] = [{} for _ in systems]
    truth: dict[str, dict[str, int]] = {}
    for t in range(topics):
        rng = parts[t]
        topic = str(301 + t)
        grades = _grades(docs, int(relevant[t]), rng)
        ids = [f"AS{topic}-{number:04d}" for number in rng.permutation(IDS)[:docs] + 1000]
        truth[topic] = dict(zip(ids, grades.tolist(), strict=True))
        scores = _scores(grades, float(ease[t]), systems, rng)
        for ranking, row in zip(rankings, scores, strict=True):
            best = np.argsort(-row, kind="stable")[:depth]
            ranking[topic] = {ids[d]: round(float(row[d]) + 10, 3) for d in best}
    runs = tuple(_run(system, ranking) for system, ranking in zip(systems, rankings, strict=True))
    qrels = _pooled(runs, truth, pool_depth)
    labels = _labels(qrels, workers, parts[-1])
    return Collection(runs, qrels, Qrels.from_dict(truth, name="truth"), labels)


def _check(**counts: int) -> None:
    for name, count in counts.items():
        least, most = (12, IDS) if name == "docs" else (1, None)
        if count < least or (most is not None and count > most):
            raise UsageError(f"{name}={count}: a collection has from {least} to {most or 'any number'} of them")


def write_collection(collection: Collection, folder: str | Path) -> None:
    """The files of a collection: runs/, qrels.txt, runs.csv (who made which run), labels.csv.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_collection(simulate(7, topics=2, runs_per_group=1, docs=60, depth=20), folder)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['labels.csv', 'qrels.txt', 'runs', 'runs.csv']
    """
    base = Path(folder)
    (base / "runs").mkdir(parents=True, exist_ok=True)
    for run in collection.runs:
        write_run(base / "runs" / f"{run.name}.run", run)
    write_qrels(base / "qrels.txt", collection.qrels)
    info = [(r.name, r.info.group, r.info.year, "yes" if r.info.manual else "no") for r in collection.runs]
    write_sheet(base / "runs.csv", ["run", "group", "year", "manual"], info)
    write_labels(base / "labels.csv", collection.labels)


class _System(NamedTuple):
    """What makes a run: its name, how well it tells relevant docs from others, its group, and whether by hand."""

    name: str
    quality: float
    group: int
    manual: bool


def _systems(per_group: int, manual_runs: int, rng: np.random.Generator) -> list[_System]:
    """All systems: those of the groups, each a little worse than the one before, then those made by hand."""
    systems = []
    for number, (group, best) in enumerate(GROUPS.items()):
        for i in range(per_group):
            quality = best * (1 - 0.08 * i) + rng.normal(0, 0.02)
            systems.append(_System(f"{group}{i + 1}", quality, number, manual=False))
    for i in range(manual_runs):
        systems.append(_System(f"hand{i + 1}", 1.15 - 0.2 * i, len(GROUPS), manual=True))
    return systems


def _run(system: _System, ranking: Mapping[str, Mapping[str, float]]) -> Run:
    group = [*GROUPS, "hand"][system.group]
    return Run.from_dict(system.name, ranking, info=RunInfo(group=group, year=2026, manual=system.manual))


def _grades(docs: int, relevant: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    grades = np.zeros(docs, dtype=np.int64)
    grades[rng.permutation(docs)[:relevant]] = rng.choice([1, 2, 3], size=relevant, p=GRADE_SHARES)
    return grades


def _scores(grades: npt.NDArray[np.int64], ease: float, systems: Sequence[_System], rng: np.random.Generator) -> Floats:
    """Scores of every doc in every run."""
    n = len(grades)
    signal = SIGNAL[grades] * ease
    hidden = (rng.random(n) < 0.2) & (grades > 0)
    of_machines = rng.normal(0, 0.7, n)
    of_people = rng.normal(0, 0.7, n)
    of_group = rng.normal(0, 0.5, (len(GROUPS) + 1, n))[[system.group for system in systems]]
    of_run = rng.normal(0, 0.5, (len(systems), n))
    by_hand = np.array([system.manual for system in systems])[:, None]
    quality = np.array([system.quality for system in systems])[:, None]
    seen = np.where(by_hand | ~hidden, signal, 0.0)
    noise = np.where(by_hand, of_people, of_machines) + of_group + of_run
    return np.asarray(quality * seen + noise)


def _pooled(runs: tuple[Run, ...], truth: Mapping[str, Mapping[str, int]], depth: int) -> Qrels:
    """Judgments of the docs within the first ranks of the runs that were there in time."""
    pool: dict[str, set[str]] = {t: set() for t in truth}
    for run in runs:
        if run.info.group != LATE:
            for topic in run.topics:
                pool[topic].update(run.ranking(topic)[:depth])
    judged = {topic: {doc: truth[topic][doc] for doc in sorted(docs)} for topic, docs in pool.items()}
    return Qrels.from_dict(judged)


def _labels(qrels: Qrels, workers: int, rng: np.random.Generator) -> Labels:
    """Crowd labels of 5 topics, 10 workers a doc in tasks of 8: most workers good, some careless, a few spammers."""
    slips = rng.choice([0.12, 0.35, 1.0], size=workers, p=[0.65, 0.25, 0.10])
    pace = np.exp(rng.normal(3.4, 0.3, workers))
    rows: list[tuple[str, str, str, float]] = []
    task: list[str] = []
    place: list[int] = []
    seconds: list[float] = []
    for topic, judged in list(qrels.to_dict().items())[:5]:
        docs = list(judged)[:40]
        for start in range(0, len(docs), 8):
            for worker in rng.permutation(workers)[:10].tolist():
                name = f"w{worker + 1:02d}"
                for i, doc in enumerate(docs[start : start + 8]):
                    wrong = rng.random() < slips[worker]
                    label = int(rng.integers(4)) if wrong else judged[doc]
                    slower = 1.3 if i == 0 else 1.0
                    rows.append((topic, doc, name, float(label)))
                    task.append(f"{topic}-{start // 8 + 1}-{name}")
                    place.append(i + 1)
                    seconds.append(round(float(pace[worker] * rng.gamma(4, 0.25) * slower), 1))
    return Labels.from_rows(
        rows, task=np.array(task, dtype=object), position=np.array(place), seconds=np.array(seconds)
    )
