"""A whole test collection from a seed: runs of several groups, topics of different difficulty, a judged pool, a crowd.

It is what ships with assay for the demo, the docs and the tests. Same seed, same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
FIRST_TOPIC = 301
FEWEST_DOCS = 12
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
    machine: Labels
    """Labels of three machine judges: one careful, one lenient, and a twin of the lenient one."""

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
    # The first generator plans the collection, then there is one for each topic, and the last two make the labels of
    # people and of machines. The order in which each of them draws is part of the bytes of a seed.
    plan, *of_topics, of_labels, of_judges = generators(seed, topics + 3)
    ease = np.exp(plan.normal(0.0, 0.35, topics))
    relevant_drawn = np.exp(plan.normal(3.2, 0.7, topics))
    relevant = np.clip(relevant_drawn, 3, docs // 4).astype(int)
    systems = _systems(runs_per_group, manual_runs, plan)
    rankings: list[dict[str, dict[str, float]]] = [{} for _ in systems]
    truth: dict[str, dict[str, int]] = {}
    for t, rng in enumerate(of_topics):
        topic = str(FIRST_TOPIC + t)
        grades = _grades(docs, int(relevant[t]), rng)
        ids = _doc_ids(topic, docs, rng)
        truth[topic] = dict(zip(ids, grades.tolist(), strict=True))
        scores = _scores(grades, float(ease[t]), systems, rng)
        for ranking, of_system in zip(rankings, scores, strict=True):
            ranking[topic] = _best(of_system, ids, depth)
    runs = tuple(map(_run, systems, rankings))
    qrels = _pooled(runs, truth, pool_depth)
    return Collection(
        runs=runs,
        qrels=qrels,
        truth=Qrels.from_dict(truth, name="truth"),
        labels=_labels(qrels, workers, of_labels),
        machine=_machine_labels(qrels, of_judges),
    )


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if name == "docs" and not FEWEST_DOCS <= count <= IDS:
            raise UsageError(f"{name}={count}: a collection has from {FEWEST_DOCS} to {IDS} of them")
        if count < 1:
            raise UsageError(f"{name}={count}: a collection has from 1 to any number of them")


def _doc_ids(topic: str, docs: int, rng: np.random.Generator) -> list[str]:
    """The ids of the docs of a topic, in no order."""
    numbers = rng.permutation(IDS)[:docs] + 1000
    return [f"AS{topic}-{number:04d}" for number in numbers]


def _best(scores: Floats, ids: Sequence[str], depth: int) -> dict[str, float]:
    """The docs with the highest scores, best first, with scores as a run has them."""
    best_first = np.argsort(-scores, kind="stable")
    ranking = {}
    for d in best_first[:depth]:
        ranking[ids[d]] = round(float(scores[d]) + 10, 3)
    return ranking


def write_collection(collection: Collection, folder: str | Path) -> None:
    """The files of a collection: runs/, qrels.txt, runs.csv (who made which run), labels.csv.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_collection(simulate(7, topics=2, runs_per_group=1, docs=60, depth=20), folder)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['judges.csv', 'labels.csv', 'qrels.txt', 'runs', 'runs.csv']
    """
    base = Path(folder)
    (base / "runs").mkdir(parents=True, exist_ok=True)
    for run in collection.runs:
        write_run(base / "runs" / f"{run.name}.run", run)
    write_qrels(base / "qrels.txt", collection.qrels)
    rows = []
    for run in collection.runs:
        manual = "yes" if run.info.manual else "no"
        row = (run.name, run.info.group, run.info.year, manual)
        rows.append(row)
    write_sheet(base / "runs.csv", ["run", "group", "year", "manual"], rows)
    write_labels(base / "labels.csv", collection.labels)
    write_labels(base / "judges.csv", collection.machine)


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
            planned = best * (1 - 0.08 * i)
            quality = planned + rng.normal(0, 0.02)
            name = f"{group}{i + 1}"
            systems.append(_System(name, quality, number, manual=False))
    for i in range(manual_runs):
        quality = 1.15 - 0.2 * i
        name = f"hand{i + 1}"
        systems.append(_System(name, quality, len(GROUPS), manual=True))
    return systems


def _run(system: _System, ranking: Mapping[str, Mapping[str, float]]) -> Run:
    groups = [*GROUPS, "hand"]
    info = RunInfo(
        group=groups[system.group],
        year=2026,
        manual=system.manual,
    )
    return Run.from_dict(system.name, ranking, info=info)


def _grades(docs: int, relevant: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The grade of each doc: 1, 2 or 3 for the relevant ones, and 0."""
    # The grades are drawn before the docs that get them.
    grades_of_relevant = rng.choice([1, 2, 3], size=relevant, p=GRADE_SHARES)
    chosen_docs = rng.permutation(docs)[:relevant]
    grades = np.zeros(docs, dtype=np.int64)
    grades[chosen_docs] = grades_of_relevant
    return grades


def _scores(grades: npt.NDArray[np.int64], ease: float, systems: Sequence[_System], rng: np.random.Generator) -> Floats:
    """Scores of every doc in every run."""
    n = len(grades)
    signal = SIGNAL[grades] * ease
    hidden = (rng.random(n) < 0.2) & (grades > 0)
    of_machines = rng.normal(0, 0.7, n)
    of_people = rng.normal(0, 0.7, n)
    of_groups = rng.normal(0, 0.5, (len(GROUPS) + 1, n))
    of_run = rng.normal(0, 0.5, (len(systems), n))
    groups = [system.group for system in systems]
    is_manual = np.array([system.manual for system in systems])[:, None]
    quality = np.array([system.quality for system in systems])[:, None]
    visible = np.where(is_manual | ~hidden, signal, 0.0)
    of_kind = np.where(is_manual, of_people, of_machines)
    noise = of_kind + of_groups[groups] + of_run
    return np.asarray(quality * visible + noise)


def _pooled(runs: tuple[Run, ...], truth: Mapping[str, Mapping[str, int]], depth: int) -> Qrels:
    """Judgments of the docs within the first ranks of the runs that were there in time."""
    pool: dict[str, set[str]] = {topic: set() for topic in truth}
    for run in runs:
        if run.info.group == LATE:
            continue
        for topic in run.topics:
            first_docs = run.ranking(topic)[:depth]
            pool[topic].update(first_docs)
    judged = {}
    for topic, docs in pool.items():
        grades = truth[topic]
        judged[topic] = {doc: grades[doc] for doc in sorted(docs)}
    return Qrels.from_dict(judged)


def _labels(qrels: Qrels, workers: int, rng: np.random.Generator) -> Labels:
    """Crowd labels of 5 topics, 10 workers a doc in tasks of 8: most workers good, some careless, a few spammers."""
    slips = rng.choice([0.12, 0.35, 1.0], size=workers, p=[0.65, 0.25, 0.10])
    pace = np.exp(rng.normal(3.4, 0.3, workers))
    rows: list[tuple[str, str, str, float]] = []
    task: list[str] = []
    place: list[int] = []
    seconds: list[float] = []
    for topic, number, docs in _tasks(qrels):
        for worker in rng.permutation(workers)[:10].tolist():
            name = f"w{worker + 1:02d}"
            for i, (doc, grade) in enumerate(docs):
                label = grade
                if rng.random() < slips[worker]:
                    label = int(rng.integers(4))
                # The first doc of a task takes longer.
                slower = 1.3 if i == 0 else 1.0
                taken = pace[worker] * rng.gamma(4, 0.25) * slower
                rows.append((topic, doc, name, float(label)))
                task.append(f"{topic}-{number}-{name}")
                place.append(i + 1)
                seconds.append(round(float(taken), 1))
    return Labels.from_rows(
        rows,
        task=np.array(task, dtype=object),
        position=np.array(place),
        seconds=np.array(seconds),
    )


def _machine_labels(qrels: Qrels, rng: np.random.Generator) -> Labels:
    """Labels of every judged doc by three machines: careful, lenient, and a twin that repeats the lenient one."""
    grades = qrels.grades.astype(np.float64)
    n = len(grades)
    slips = rng.integers(0, 4, n).astype(np.float64)
    careful = np.where(rng.random(n) < 0.08, slips, grades)
    raised = np.minimum(3.0, grades + (rng.random(n) < 0.35))
    lenient = np.where(rng.random(n) < 0.06, slips, raised)
    twin = np.where(rng.random(n) < 0.01, grades, lenient)
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    docs = qrels.docs.tolist()
    rows: list[tuple[str, str, str, float]] = []
    for name, labels in (("careful", careful), ("lenient", lenient), ("twin", twin)):
        rows += list(zip(topics, docs, [name] * n, labels.tolist(), strict=True))
    return Labels.from_rows(rows)


def _tasks(qrels: Qrels) -> Iterator[tuple[str, int, list[tuple[str, int]]]]:
    """Topic, number and judged docs of each task: 8 docs each of the first 40 of the first 5 topics."""
    by_topic = list(qrels.to_dict().items())
    for topic, judged in by_topic[:5]:
        docs = list(judged.items())[:40]
        for start in range(0, len(docs), 8):
            number = start // 8 + 1
            yield topic, number, docs[start : start + 8]
