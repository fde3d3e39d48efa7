"""A run larger than memory: its pieces are scored one by one, and the scores brought to the topics of the judgments.

Held at a time are the judgments, the scores and a few pieces. A topic has the same bits in a piece as in the whole run,
and a piece that comes late goes to the same place: the result is that of the run read whole.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks, ordered_stream
from assay.core.errors import NotCut
from assay.core.ids import Ids
from assay.data import Qrels, Run
from assay.io.column_names import Named
from assay.io.content import HEAD, Content
from assay.io.files import STANDARD_INPUT, standard_input
from assay.io.large_files import LARGE_COMPRESSED, LargeFile, Piece, large_file, piece_size
from assay.io.readers import only_run, read_runs, refuse_several, runs_in
from assay.measures import Measure
from assay.scoring.policy import Policy
from assay.scoring.run_scores import RunScores, joined_run, ordered_run, scores_of

Opened = Run | str | Path | LargeFile | Iterable[Piece]
TOPICS_AT_ONCE = 1 << 16
"""Topics that are scored at a time where a run has nothing for them."""


@dataclass(frozen=True, eq=False)
class PieceScores:
    """The scores of a piece, measures × those of its topics that are judged, which are given by their numbers."""

    run: str
    topics: Ints
    values: Floats
    ties: tuple[str, ...]


def scores_of_source(
    run: Run | str | Path | LargeFile,
    qrels: Qrels,
    measures: Sequence[Measure],
    policy: Policy,
    lengths: Mapping[str, float] | None = None,
    *,
    columns: Named = None,
    jobs: int = 1,
) -> list[RunScores]:
    """The scores of a run, or of all runs of a large table; what is too large to be held is scored in pieces.

    Orders of tied docs that are drawn at random depend on all topics: with ties="average" a run is read whole.
    """
    source = _opened(run, policy, jobs)
    if isinstance(source, Run | str | Path):
        return [scores_of(joined_run(source, qrels, policy, jobs), measures, policy, lengths)]
    try:
        pieces = source.pieces() if isinstance(source, LargeFile) else source
        scored = scores_of_pieces(pieces, qrels, measures, policy, lengths, jobs=jobs)
    except NotCut:
        if not isinstance(source, LargeFile) or not source.can_be_held:
            raise
        held = read_runs(source.path, ranks=policy.ties == "rank", threads=jobs, columns=columns)
        scored = [scores_of(joined_run(one, qrels, policy, jobs), measures, policy, lengths) for one in held]
    if isinstance(run, str | Path):  # a file of one run, as far as its beginning and its end tell
        refuse_several([one.name for one in scored], run)
    return scored


def _opened(run: Run | str | Path | LargeFile, policy: Policy, threads: int) -> Opened:
    """A run as it is, or what its pieces are had from."""
    if isinstance(run, Run | LargeFile) or policy.ties == "average":
        return run
    if str(run) == STANDARD_INPUT:
        return _standard_input(policy, threads)
    return large_file(run) or run


def _standard_input(policy: Policy, threads: int) -> Run | Iterable[Piece]:
    """Standard input: the run, or its pieces if there is too much of it."""
    from assay.io.decompression import ByteStream
    from assay.io.line_forms import form_of
    from assay.io.topic_cuts import pieces_of_stream

    stream = ByteStream(STANDARD_INPUT, standard_input())
    begun = stream.read(LARGE_COMPRESSED)
    form = form_of(STANDARD_INPUT, begun[:HEAD]) if len(begun) == LARGE_COMPRESSED else None
    if form is not None:
        return pieces_of_stream(STANDARD_INPUT, stream, piece_size(form), begun, form)
    content = Content.of_bytes(STANDARD_INPUT, begun + stream.read(sys.maxsize))
    return only_run(runs_in(content, ranks=policy.ties == "rank", threads=threads), STANDARD_INPUT)


def scores_of_pieces(
    pieces: Iterable[Piece],
    qrels: Qrels,
    measures: Sequence[Measure],
    policy: Policy,
    lengths: Mapping[str, float] | None = None,
    *,
    jobs: int = 1,
) -> list[RunScores]:
    """The scores of runs that come in pieces of whole topics, on all topics of the judgments."""
    score = partial(scored_piece, qrels=qrels, measures=measures, policy=policy, lengths=lengths)
    by_run: dict[str, Gathered] = {}

    def add(found: Sequence[PieceScores], piece: Piece) -> None:
        for scored in found:
            of_run = "" if piece.is_of_one_run else scored.run
            if of_run not in by_run:
                by_run[of_run] = Gathered(qrels, measures, policy)
            by_run[of_run].add(scored, piece.path)

    if isinstance(pieces, list):
        stream = ordered_stream(score, pieces, jobs=jobs, forks=True)
        for found, piece in zip(stream, pieces, strict=True):
            add(found, piece)
    else:
        for found, piece in _of_stream(score, pieces, jobs):
            add(found, piece)
    return [gathered.whole(lengths) for gathered in by_run.values()]


def _of_stream(
    score: Callable[[Piece], list[PieceScores]], pieces: Iterable[Piece], jobs: int
) -> Iterator[tuple[list[PieceScores], Piece]]:
    """The scores of the pieces of a stream, in order; what comes next is read while each job scores one."""
    from concurrent.futures import Future, ThreadPoolExecutor

    begun: deque[tuple[Future[list[PieceScores]], Piece]] = deque()
    with ThreadPoolExecutor(jobs) as pool:
        for piece in pieces:
            begun.append((pool.submit(score, piece), piece))
            if len(begun) > jobs:
                future, first = begun.popleft()
                yield future.result(), first
        for future, piece in begun:
            yield future.result(), piece


def scored_piece(
    piece: Piece,
    *,
    qrels: Qrels,
    measures: Sequence[Measure],
    policy: Policy,
    lengths: Mapping[str, float] | None = None,
    threads: int = 1,
) -> list[PieceScores]:
    """The scores of each run of a piece."""
    found = []
    for run in piece.runs(ranks=policy.ties == "rank", threads=threads):
        own = np.sort(qrels.numbers_of(run.topics))
        joined = joined_run(run, qrels.only(own), policy, threads)
        scored = scores_of(joined, measures, policy, lengths)
        found.append(PieceScores(run.name, own, scored.values, scored.ties))
    return found


class Gathered:
    """The scores of the pieces so far, at the places of their topics."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure], policy: Policy) -> None:
        self.qrels = qrels
        self.measures = measures
        self.policy = policy
        self.name = ""
        self.values = np.zeros((len(measures), len(qrels.topics)))
        self.is_scored = np.zeros(len(qrels.topics), dtype=bool)
        self.ties = [policy.ties] * len(measures)

    def add(self, scored: PieceScores, path: str) -> None:
        """Put the scores of a piece to their topics; a topic that has some already is an error."""
        twice = scored.topics[self.is_scored[scored.topics]]
        if len(twice):
            topic = self.qrels.topics[int(twice[0])]
            raise NotCut(
                f"{path}: the lines of topic {topic!r} are not together, and the file is too large to be sorted in "
                "memory; bring them together with `assay split`, or sort the file by topic"
            )
        self.values[:, scored.topics] = scored.values
        self.is_scored[scored.topics] = True
        self.name = scored.run or self.name
        self.ties = [max(known, here, key=len) for known, here in zip(self.ties, scored.ties, strict=True)]

    def whole(self, lengths: Mapping[str, float] | None) -> RunScores:
        """All scores; a topic that no piece has is scored as an empty list."""
        missing = np.flatnonzero(~self.is_scored)
        nothing = empty_run(self.name)
        for block in chunks(len(missing), TOPICS_AT_ONCE):
            topics = missing[block]
            ordered = ordered_run(nothing, self.policy, 1)
            joined = joined_run(ordered, self.qrels.only(topics), self.policy, 1)
            self.values[:, topics] = scores_of(joined, self.measures, self.policy, lengths).values
        return RunScores(self.name, self.values, ~self.is_scored, tuple(self.ties))


def empty_run(name: str) -> Run:
    """A run without a topic.

    >>> empty_run("bm25")
    Run('bm25', 0 topics, 0 docs)
    """
    no_ranks = np.zeros(0, dtype=np.int64)
    return Run(name, (), np.zeros(1, dtype=np.int64), Ids.of([]), np.zeros(0), no_ranks)
