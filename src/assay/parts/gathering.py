"""Parts of any whole topics, with the judgments held whole: scores of each part go to the places of their topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Ints
from assay.core.engine import Progress, ordered_map, silent
from assay.core.errors import DataError, NotCut
from assay.core.memory import release_freed_memory
from assay.data import Qrels, Run
from assay.data.scores import Scores
from assay.io.brought import plain_qrels_of
from assay.io.large_files import LargeFile, Piece, large_file
from assay.io.line_forms import WordLines
from assay.io.readers import read_runs
from assay.measures import Measure
from assay.parts.layout import Split, loose_parts, parts_of_run, run_folders, whole_runs
from assay.scoring.policy import Policy, refuse_unscorable
from assay.scoring.run_scores import RunScores, score_matrices
from assay.scoring.streamed_runs import Gathered, PieceScores, scored_piece


@dataclass(frozen=True)
class PartFile:
    """A part, and the run that its folder names; None where the file names its runs."""

    path: Path
    run: str | None


@dataclass(frozen=True, eq=False)
class GatheredScores:
    """Scores of runs, and which topics each run lacks: runs × topics."""

    scores: Scores
    missing: Bools

    @property
    def signatures(self) -> list[str]:
        """What the scores of each measure rest on."""
        return [matrix.signature for matrix in self.scores]


def gathered_scores(
    folder: Path, qrels: Any, measures: list[Measure], policy: Policy, *, jobs: int = 1, progress: Progress = silent
) -> GatheredScores:
    """The scores of all runs of a folder of parts on the topics of the judgments; a topic in two parts is an error."""
    judgments = policy.judgments(plain_qrels_of(qrels))
    rules = policy.on(judgments)
    refuse_unscorable(measures, rules, judgments)
    files = part_files(folder)
    score = partial(_scored_file, qrels=judgments, measures=measures, policy=rules)
    by_run: dict[str, Gathered] = {}
    part_of_topic: dict[str, Ints] = {}
    for number, found in enumerate(ordered_map(score, files, jobs=jobs, forks=True, progress=progress)):
        for scored in found:
            if scored.run not in by_run:
                by_run[scored.run] = Gathered(judgments, measures, rules)
                part_of_topic[scored.run] = np.full(len(judgments.topics), -1, dtype=np.int64)
            homes = part_of_topic[scored.run]
            _refuse_overlap(scored, homes, files, number, judgments)
            homes[scored.topics] = number
            by_run[scored.run].add(scored, str(files[number].path))
    names = sorted(by_run)
    runs = [by_run[name].whole(None) for name in names]
    _refuse_strangers(runs, judgments, folder)
    return _with_missing(runs, judgments, measures, rules, names)


def part_files(folder: Path) -> list[PartFile]:
    """The parts of a folder: of the folders run=NAME, or the files part-… themselves.

    Of runs that `assay split` divided all parts are there, or it is an error.
    """
    split = Split.read(folder)
    if split is not None:
        by_run = whole_runs(folder, split)
        return [PartFile(file, run) for run, parts in by_run.items() for file in parts.values()]
    folders = run_folders(folder)
    if not folders:
        return [PartFile(file, None) for file in loose_parts(folder)]
    return [PartFile(file, run) for run, own in folders.items() for file in parts_of_run(own)]


def _scored_file(file: PartFile, *, qrels: Qrels, measures: Sequence[Measure], policy: Policy) -> list[PieceScores]:
    """The scores of every run of a part: in pieces where it is large and its topics are together, else whole."""
    if not file.path.stat().st_size:  # a part that no topic belongs to
        return []
    score = partial(scored_piece, qrels=qrels, measures=measures, policy=policy)
    large = large_file(file.path)
    found = None if large is None else _scored_in_pieces(large, score)
    if found is None:
        found = score(HeldPart(str(file.path)))
        release_freed_memory()  # pieces are small, and the next one needs as much
    names = {scored.run for scored in found}
    if file.run is None:
        return found
    if len(names) > 1:
        raise DataError(f"{file.path}: there are {len(names)} runs in a part of run {file.run!r}; give each its folder")
    return [replace(scored, run=file.run) for scored in found]


@dataclass(frozen=True)
class HeldPart:
    """A part that is read whole."""

    path: str
    is_of_one_run: bool = False

    def runs(self, *, ranks: bool = False, threads: int = 1) -> list[Run]:
        """Its runs."""
        return read_runs(self.path, ranks=ranks, threads=threads)


def _scored_in_pieces(large: LargeFile, score: Callable[[Piece], list[PieceScores]]) -> list[PieceScores] | None:
    """The scores of the pieces of a part; None where a topic is in two of them, or where it cannot be cut."""
    found: list[PieceScores] = []
    seen: dict[str, set[int]] = {}
    try:
        for piece in large.pieces():
            for scored in score(piece):
                topics = scored.topics.tolist()
                of_run = seen.setdefault("" if piece.is_of_one_run else scored.run, set())
                if not of_run.isdisjoint(topics):
                    return None
                of_run.update(topics)
                found.append(scored)
    except NotCut:
        return None
    if found and isinstance(large.form, WordLines):  # called by its last line, as where it is read whole
        found = [replace(scored, run=found[-1].run) for scored in found]
    return found


def _refuse_overlap(scored: PieceScores, homes: Ints, files: Sequence[PartFile], number: int, qrels: Qrels) -> None:
    """An error where a topic of a run is in two parts, which names both."""
    twice = scored.topics[homes[scored.topics] >= 0]
    if len(twice):
        topic = int(twice[0])
        other = files[int(homes[topic])].path.name
        what = f"topic {qrels.topics[topic]!r} of run {scored.run!r} is also in {other}"
        raise DataError(
            f"{files[number].path}: {what}; a topic is in one part, and a part is there once: see assay split"
        )


def _refuse_strangers(runs: Sequence[RunScores], qrels: Qrels, folder: Path) -> None:
    for run in runs:
        if run.missing.all():
            what = f"the parts of run {run.name!r} have none of the {len(qrels.topics)} topics of {qrels.name}"
            raise DataError(f"{folder}: {what}; are they of the same collection?")


def _with_missing(
    runs: list[RunScores], qrels: Qrels, measures: list[Measure], policy: Policy, names: Sequence[str]
) -> GatheredScores:
    scores = score_matrices(runs, qrels, measures, policy, names)
    missing = np.array([run.missing for run in runs])
    if policy.missing == "drop":
        missing = missing[:, ~missing.any(axis=0)]
    return GatheredScores(scores, missing)
