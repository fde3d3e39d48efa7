"""score_parts: the scores of runs that lie in parts, and their means, whatever the number of parts.

A map over parts: each is read, scored by the one scoring path, and its scores of topics are written; what comes back is
an exact sum for each run and measure. With judgments in one file the parts may be any whole topics; with judgments
that are split by the same rule nothing is held but the parts in flight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.averages import from_means, on_scale_of_means
from assay.io import read_qrels
from assay.io.files import write_whole
from assay.io.readers import read_runs
from assay.io.topic_scores import MEANS_FILE, write_description, write_part
from assay.measures import Measure
from assay.parts.gathering import gathered_scores
from assay.parts.layout import (
    SPLIT_FILE,
    Split,
    check_finished,
    check_target,
    check_topics,
    is_parts_folder,
    made_whole,
    whole_parts,
    whole_runs,
)
from assay.parts.merging import ExactSum
from assay.scoring.part_scores import PartScores, score_part, with_top_of
from assay.scoring.policy import Policy, chosen_policy
from assay.scoring.run_scores import parsed
from assay.scoring.streamed_runs import empty_run

TOPICS_OF_A_FILE = 1 << 20
"""Topics of a file of scores, where the judgments are held whole."""
Sums = dict[str, list[ExactSum]]


@dataclass(frozen=True, eq=False)
class ScoredParts(Result):
    """The means of runs that were scored by parts: for each run one number per measure, and the exact sums of them.

    >>> scored = ScoredParts(("bm25",), ("AP",), ("AP",), ("mean",), 2, {"bm25": [ExactSum.of([0.5, 0.25])]})
    >>> scored.averages("bm25")
    [0.375]
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    signatures: tuple[str, ...]
    aggregates: tuple[str, ...]
    topics: int
    sums: Mapping[str, Sequence[ExactSum]]
    """Of each run, by measure; on the scale of logs for geometric means."""
    folder: str | None = None
    """Where the scores of the topics are."""

    def averages(self, run: str) -> list[float]:
        """The scores of a run over all topics, one for each measure."""
        found = []
        for how, exact in zip(self.aggregates, self.sums[run], strict=True):
            if how == "sum":
                found.append(exact.total)
            else:
                found.append(float(from_means(np.array([exact.mean]), how)[0]))
        return found

    def table(self) -> Table:
        """One row per run, best first on the first measure; one column per measure."""
        averages = {run: self.averages(run) for run in self.runs}
        best_first = sorted(self.runs, key=lambda run: -averages[run][0])
        every = [(run, *averages[run]) for run in best_first]
        formats = {"run": ""}
        for place, (measure, how) in enumerate(zip(self.measures, self.aggregates, strict=True)):
            counts = how == "sum" and all(row[place].is_integer() for row in averages.values())
            formats[measure] = ".0f" if counts else ".4f"
        notes = [f"{self.topics} topics; {signature}" for signature in self.signatures]
        return Table.of(formats, every, notes=["", *notes])

    def record(self) -> dict[str, Any]:
        """The means of all runs, with their signatures."""
        named = dict(zip(self.measures, self.signatures, strict=True))
        means = [{"run": run, **dict(zip(self.measures, self.averages(run), strict=True))} for run in self.runs]
        return super().record() | {"topics": self.topics, "signatures": named, "runs": means, "folder": self.folder}


def score_parts(
    folder: str | Path,
    qrels: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    to: str | Path | None = None,
    policy: Policy | None = None,
    jobs: int = 1,
    progress: Progress = silent,
    **choices: Any,
) -> ScoredParts:
    """The scores of runs in parts: their means, and with `to` the scores of every topic as Parquet in that folder.

    folder: one folder run=NAME for each run, with files part-…, of any format of runs (also Parquet as clusters write
    it), or files part-… of runs that a column `run` or a tag names. A part has whole topics.
    qrels: judgments as `assay.evaluate` takes them, or the folder `qrels` that `assay split` wrote beside
    the runs: then memory holds the parts in flight and nothing else. to: a folder that is new or empty.

    Means are sums without rounding: the same bits for any number of parts, in any order of completion.
    The parts are scored by `jobs` processes.

    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> (here / "run=bm25").mkdir()
    >>> _ = (here / "run=bm25" / "part-0.run").write_text("1 Q0 a 1 2.5 bm25\\n")
    >>> _ = (here / "run=bm25" / "part-1.run").write_text("2 Q0 b 1 1.5 bm25\\n")
    >>> score_parts(here, {"1": {"a": 1}, "2": {"c": 1}}, "RR").averages("bm25")
    [0.5]
    """
    source = Path(folder)
    if not is_parts_folder(source):
        raise DataError(f"{folder}: this is no folder of parts; they are called run=NAME/part-00000 and so on")
    check_finished(source)
    wanted = parsed(measures)
    _refuse_medians(wanted)
    rules = chosen_policy(policy, choices)
    if rules.ties == "average":
        raise UsageError("ties='average' may draw orders of tied docs, which depend on all topics; take another")
    target = None if to is None else Path(to)
    if target is None:
        return _scored(source, qrels, wanted, rules, None, jobs, progress)
    check_target(target)
    with made_whole(target) as made:
        scored = _scored(source, qrels, wanted, rules, made, jobs, progress)
        write_whole(made / MEANS_FILE, scored.table().csv() + "\n")
    return replace(scored, folder=str(to))


def _scored(
    source: Path, qrels: Any, measures: list[Measure], policy: Policy, to: Path | None, jobs: int, progress: Progress
) -> ScoredParts:
    if isinstance(qrels, str | Path) and Path(qrels).is_dir():
        return _split_scored(source, Path(qrels), measures, policy, to, jobs, progress)
    return _whole_qrels_scored(source, qrels, measures, policy, to, jobs, progress)


def _refuse_medians(measures: Sequence[Measure]) -> None:
    for measure in measures:
        if measure.aggregate == "median":
            raise UsageError(f"{measure}: a median needs all topics at once and no parts; score the runs whole")


def _on_scale(values: Floats, measures: Sequence[Measure]) -> list[ExactSum]:
    """The exact sum of each measure (rows) on the scale on which its average is a mean."""
    pairs = zip(values, measures, strict=True)
    return [ExactSum.of(on_scale_of_means(row, measure.aggregate)) for row, measure in pairs]


def _whole_qrels_scored(
    source: Path, qrels: Any, measures: list[Measure], policy: Policy, to: Path | None, jobs: int, progress: Progress
) -> ScoredParts:
    """Judgments held whole: the scores are gathered by topic, so that every run has the same topics in one order."""
    gathered = gathered_scores(source, qrels, measures, policy, jobs=jobs, progress=progress)
    scores = gathered.scores
    sums: Sums = {}
    count = len(scores.topics)
    starts = range(0, max(count, 1), TOPICS_OF_A_FILE)
    for row, run in enumerate(scores.runs):
        values = np.array([matrix.values[row] for matrix in scores])
        sums[run] = _on_scale(values, measures)
        if to is None:
            continue
        for part, start in enumerate(starts):
            block = slice(start, start + TOPICS_OF_A_FILE)
            topics = scores.topics[block]
            missing = gathered.missing[row][block]
            write_part(to, run, part, topics, missing, scores.measures, values[:, block])
    return _described(tuple(scores.runs), measures, gathered.signatures, count, sums, to, len(starts))


def _described(
    runs: tuple[str, ...],
    measures: Sequence[Measure],
    signatures: Sequence[str],
    topics: int,
    sums: Sums,
    to: Path | None,
    parts: int,
) -> ScoredParts:
    names = tuple(str(measure) for measure in measures)
    if to is not None:
        write_description(to, runs=runs, measures=names, signatures=signatures, topics=topics, parts=parts)
    aggregates = tuple(measure.aggregate for measure in measures)
    return ScoredParts(runs, names, tuple(signatures), aggregates, topics, sums)


@dataclass(frozen=True)
class _Task:
    """One part of every run, with its judgments."""

    number: int
    qrels: Path
    runs: Mapping[str, Path]


@dataclass(frozen=True)
class _Done:
    topics: int
    answered: Mapping[str, int]
    """Topics that each run has docs for."""
    signatures: tuple[str, ...]
    sums: Sums


def _split_scored(
    source: Path, qrels: Path, measures: list[Measure], policy: Policy, to: Path | None, jobs: int, progress: Progress
) -> ScoredParts:
    """Runs and judgments that were split by one rule: each part by itself."""
    split = Split.read(source)
    if split is None or split.top_grade is None:
        what = f"{qrels}: judgments in parts go with runs that assay split divided with them"
        raise DataError(f"{what}, and {source / SPLIT_FILE} does not say so; give the judgments as one file")
    judged = whole_parts(qrels, split.parts)
    runs = whole_runs(source, split)
    tasks = []
    for number in range(split.parts):
        of_part = {run: parts[number] for run, parts in runs.items()}
        tasks.append(_Task(number, judged[number], of_part))
    rules = with_top_of(policy, split.top_grade)
    score = partial(_score_task, measures=measures, policy=rules, parts=split.parts, to=to)
    done = ordered_map(score, tasks, jobs=jobs, progress=progress)
    return _merged(done, tuple(runs), measures, to, split.parts, qrels)


def _merged(
    done: Sequence[_Done], runs: tuple[str, ...], measures: list[Measure], to: Path | None, parts: int, qrels: Path
) -> ScoredParts:
    sums: Sums = {run: [ExactSum()] * len(measures) for run in runs}
    for part in done:
        for run, of_part in part.sums.items():
            sums[run] = [known + new for known, new in zip(sums[run], of_part, strict=True)]
    for run in runs:
        if not any(part.answered[run] for part in done):
            raise DataError(f"run {run!r} has none of the topics of {qrels}; are they of the same collection?")
    topics = sum(part.topics for part in done)
    signatures = next((part.signatures for part in done if part.signatures), ())
    return _described(runs, measures, signatures, topics, sums, to, parts)


def _score_task(task: _Task, *, measures: list[Measure], policy: Policy, parts: int, to: Path | None) -> _Done:
    """Score one part of every run, and write the scores of its topics."""
    if not task.qrels.stat().st_size:
        _write_empty_part(task, measures, to)
        return _Done(0, dict.fromkeys(task.runs, 0), (), {run: [ExactSum()] * len(measures) for run in task.runs})
    qrels = read_qrels(task.qrels)
    check_topics(task.qrels, qrels.topics, task.number, parts)
    scored = {run: _scored_run(run, path, qrels, task, measures, policy, parts) for run, path in task.runs.items()}
    keep = np.ones(len(qrels.topics), dtype=bool)
    if policy.missing == "drop":
        absent = np.array([scores.missing for scores in scored.values()])
        keep = np.logical_not(absent.any(axis=0))
    topics = [topic for topic, kept in zip(qrels.topics, keep.tolist(), strict=True) if kept]
    sums: Sums = {}
    answered = {}
    signatures: tuple[str, ...] = ()
    for run, scores in scored.items():
        values = scores.values[:, keep]
        sums[run] = _on_scale(values, measures)
        answered[run] = int((~scores.missing).sum())
        signatures = scores.signatures
        if to is not None:
            write_part(to, run, task.number, topics, scores.missing[keep], scores.measures, values)
    return _Done(len(topics), answered, signatures, sums)


def _write_empty_part(task: _Task, measures: Sequence[Measure], to: Path | None) -> None:
    """A part without judgments has no topic that counts; an empty file keeps the numbers of the parts."""
    nothing = np.zeros((len(measures), 0))
    names = [str(measure) for measure in measures]
    for run in task.runs:
        if to is not None:
            write_part(to, run, task.number, [], np.zeros(0, dtype=bool), names, nothing)


def _scored_run(
    name: str, path: Path, qrels: Qrels, task: _Task, measures: list[Measure], policy: Policy, parts: int
) -> PartScores:
    run: Run = empty_run(name)
    if path.stat().st_size:
        runs = read_runs(path, ranks=policy.ties == "rank")
        if len(runs) != 1:
            raise DataError(f"{path}: there are {len(runs)} runs in a part of run {name!r}; split the runs again")
        run = runs[0]
    check_topics(path, run.topics, task.number, parts)
    return score_part(run, qrels, measures, policy)
