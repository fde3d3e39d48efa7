"""A whole test collection from a seed: runs of several groups, topics of different difficulty, a judged pool, a crowd.

It is what ships with assay for the demo, the docs and the tests. Same seed, same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import generators
from assay.data import Labels, Qrels, Run, RunInfo
from assay.io.labels import write_labels
from assay.io.sheet import write_sheet
from assay.io.trec import write_qrels, write_run

GROUPS: Mapping[str, float] = {"atlas": 1.25, "borea": 1.1, "cygnus": 1.0, "dorado": 0.9, "eridan": 0.75}
"""Teams, and how well their systems tell relevant docs from others."""
LATE = list(GROUPS)[-1]
"""The group whose runs came too late for the pool."""
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
    """
    plan, *parts = generators(seed, topics + 2)
    ease = np.exp(plan.normal(0.0, 0.35, topics))
    relevant = np.clip(np.exp(plan.normal(3.2, 0.7, topics)), 3, docs // 4).astype(int)
    names, qualities, group_of, manual = _systems(runs_per_group, manual_runs, plan)
    rankings: list[dict[str, dict[str, float]]] = [{} for _ in names]
    truth: dict[str, dict[str, int]] = {}
    for t in range(topics):
        topic, rng = str(301 + t), parts[t]
        grades = _grades(docs, int(relevant[t]), rng)
        ids = [f"AS{301 + t}-{n:04d}" for n in rng.permutation(9000)[:docs] + 1000]
        truth[topic] = dict(zip(ids, grades.tolist(), strict=True))
        scores = _scores(grades, float(ease[t]), qualities, group_of, manual, rng)
        for ranking, row in zip(rankings, scores, strict=True):
            best = np.argsort(-row, kind="stable")[:depth]
            ranking[topic] = {ids[d]: round(float(row[d]) + 10, 3) for d in best}
    groups = [*GROUPS, "hand"]
    runs = tuple(
        Run.from_dict(n, r, info=RunInfo(group=groups[g], year=2026, manual=bool(m)))
        for n, r, g, m in zip(names, rankings, group_of, manual, strict=True)
    )
    qrels = _pooled(runs, truth, pool_depth)
    return Collection(runs, qrels, Qrels.from_dict(truth, name="truth"), _labels(qrels, workers, parts[-1]))


def write_collection(collection: Collection, folder: str | Path) -> None:
    """The files of a collection: runs/, qrels.txt, runs.csv (who made which run), labels.csv."""
    base = Path(folder)
    (base / "runs").mkdir(parents=True, exist_ok=True)
    for run in collection.runs:
        write_run(base / "runs" / f"{run.name}.run", run)
    write_qrels(base / "qrels.txt", collection.qrels)
    info = [(r.name, r.info.group, r.info.year, "yes" if r.info.manual else "no") for r in collection.runs]
    write_sheet(base / "runs.csv", ["run", "group", "year", "manual"], info)
    write_labels(base / "labels.csv", collection.labels)


def _systems(
    per_group: int, manual_runs: int, rng: np.random.Generator
) -> tuple[list[str], Floats, list[int], list[bool]]:
    """Names, qualities, group numbers and whether manual, of all systems."""
    names, qualities, group_of, manual = [], [], [], []
    for g, (group, quality) in enumerate(GROUPS.items()):
        for i in range(per_group):
            names.append(f"{group}{i + 1}")
            qualities.append(quality * (1 - 0.08 * i) + rng.normal(0, 0.02))
            group_of.append(g)
            manual.append(False)
    for i in range(manual_runs):
        names.append(f"hand{i + 1}")
        qualities.append(1.15 - 0.2 * i)
        group_of.append(len(GROUPS))
        manual.append(True)
    return names, np.array(qualities), group_of, manual


def _grades(docs: int, relevant: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    grades = np.zeros(docs, dtype=np.int64)
    grades[rng.permutation(docs)[:relevant]] = rng.choice([1, 2, 3], size=relevant, p=GRADE_SHARES)
    return grades


def _scores(
    grades: npt.NDArray[np.int64], ease: float, qualities: Floats, group_of: list[int], manual: list[bool],
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Scores of every doc in every run."""
    n, signal = len(grades), SIGNAL[grades] * ease
    hidden = (rng.random(n) < 0.2) & (grades > 0)
    common, by_people = rng.normal(0, 0.7, n), rng.normal(0, 0.7, n)
    own_group = rng.normal(0, 0.5, (len(GROUPS) + 1, n))
    by_hand = np.array(manual)[:, None]
    seen = np.where(by_hand | ~hidden, signal, 0.0)
    noise = np.where(by_hand, by_people, common) + own_group[group_of] + rng.normal(0, 0.5, (len(qualities), n))
    return qualities[:, None] * seen + noise


def _pooled(runs: tuple[Run, ...], truth: Mapping[str, Mapping[str, int]], depth: int) -> Qrels:
    """Judgments of the docs within the first ranks of the runs that were there in time."""
    pool: dict[str, set[str]] = {t: set() for t in truth}
    for run in runs:
        if run.info.group != LATE:
            for topic in run.topics:
                pool[topic].update(run.ranking(topic)[:depth])
    return Qrels.from_dict({t: {d: truth[t][d] for d in sorted(pool[t])} for t in truth})


def _labels(qrels: Qrels, workers: int, rng: np.random.Generator) -> Labels:
    """Crowd labels of 5 topics, 10 workers a doc in tasks of 8: most workers good, some careless, a few spammers."""
    slips = rng.choice([0.12, 0.35, 1.0], size=workers, p=[0.65, 0.25, 0.10])
    pace = np.exp(rng.normal(3.4, 0.3, workers))
    rows, extra = [], []
    for topic, judged in list(qrels.to_dict().items())[:5]:
        docs = list(judged)[:40]
        for start in range(0, len(docs), 8):
            for worker in rng.permutation(workers)[:10].tolist():
                for position, doc in enumerate(docs[start : start + 8]):
                    wrong = rng.random() < slips[worker]
                    label = int(rng.integers(4)) if wrong else judged[doc]
                    seconds = round(float(pace[worker] * rng.gamma(4, 0.25) * (1.3 if position == 0 else 1.0)), 1)
                    rows.append((topic, doc, f"w{worker + 1:02d}", float(label)))
                    extra.append((f"{topic}-{start // 8 + 1}-w{worker + 1:02d}", position + 1, seconds))
    task, position_, seconds_ = zip(*extra, strict=True)
    return Labels.from_rows(
        rows, task=np.array(task, dtype=object), position=np.array(position_), seconds=np.array(seconds_)
    )
