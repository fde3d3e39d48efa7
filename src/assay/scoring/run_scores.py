"""The scores of one run: read it, join it with the judgments, score it; and of all runs, as matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.aligned import Match, match
from assay.data.grades import Grades
from assay.data.intents import IntentQrels, align_intents
from assay.data.scores import ScoreMatrix, Scores
from assay.io import read_run
from assay.measures import Measure, parse, parse_many
from assay.measures.intent_aware import evaluate_intents
from assay.measures.ties import expected
from assay.scoring.policy import Policy, prepared

CELLS = 1 << 20
"""Ranked grades (topics × depth) that are held at a time: few enough to stay in the cache."""


def parsed(measures: Any) -> list[Measure]:
    """Measures from names, from a text that names several, from objects of ir_measures, or as they are.

    >>> [str(m) for m in parsed("AP nDCG@10")], [str(m) for m in parsed(["AP", "RR"])]
    (['AP', 'nDCG@10'], ['AP', 'RR'])
    """
    if isinstance(measures, str):
        found = parse_many(measures)
        if not found:
            raise UsageError("no measure; give at least one, e.g. 'AP nDCG@10'")
        return found
    if isinstance(measures, Measure) or _is_foreign_measure(measures):
        return [_one_measure(measures)]
    if not isinstance(measures, Iterable):
        raise _no_measure(measures)
    return [measure for one in measures for measure in (parsed(one) if isinstance(one, str) else [_one_measure(one)])]


def _one_measure(one: Any) -> Measure:
    if isinstance(one, Measure):
        return one
    if _is_foreign_measure(one):
        return parse(str(one))
    raise _no_measure(one)


def _is_foreign_measure(one: Any) -> bool:
    """Whether it is a measure of ir_measures, which is written as ours are."""
    return type(one).__module__.partition(".")[0] == "ir_measures"


def _no_measure(one: Any) -> UsageError:
    kind = type(one).__name__
    return UsageError(f"{kind} where measures are expected; give names such as 'nDCG@10', one text or a list of them")


def ordered_run(run: Run | str | Path, policy: Policy, threads: int) -> Run:
    """A run, read where it is a file, with its docs in the order of the policy."""
    if not isinstance(run, Run):
        run = read_run(run, ranks=policy.ties == "rank", threads=threads)
    if (run.ties, run.compat) == (policy.ties, policy.compat):
        return run
    return run.ordered(policy.ties, compat=policy.compat)


def joined_run(run: Run | str | Path, qrels: Qrels, policy: Policy, threads: int) -> Match:
    """A run or run file joined with the judgments."""
    return match(ordered_run(run, policy, threads), qrels, threads=threads)


@dataclass(frozen=True, eq=False)
class RunScores:
    """The scores of one run: measures × topics of the qrels."""

    name: str
    values: Floats
    missing: Bools
    ties: tuple[str, ...]


def blocks_of_topics(joined: Match) -> Iterator[slice]:
    """Slices of the topics of the qrels, each with few enough grades to stay in the cache."""
    depth = int(np.diff(joined.run.bounds).max(initial=1))
    return chunks(len(joined.qrels.topics), CELLS // max(1, depth))


def scores_of(
    joined: Match, measures: Sequence[Measure], policy: Policy, lengths: Mapping[str, float] | None
) -> RunScores:
    """The scores of one run, a block of topics at a time."""
    parts = [
        _score_block(joined.grades(topics=block, lengths=lengths), measures, policy)
        for block in blocks_of_topics(joined)
    ]
    values = np.concatenate([v for v, _ in parts], axis=1) if parts else np.zeros((len(measures), 0))
    # Where one block of topics has ties and another has none, what was done with them is the longer description.
    ties = tuple(max(column, key=len) for column in zip(*(how for _, how in parts), strict=True))
    return RunScores(joined.run.name, values, joined.topic_in_run < 0, ties or (policy.ties,) * len(measures))


def intent_scores_of(run: Run, qrels: IntentQrels, measures: Sequence[Measure], policy: Policy) -> RunScores:
    """The scores of one run by judgments of intents."""
    if policy.ties == "average" or policy.unjudged != "0":
        raise UsageError("with judgments by intent there are no expected scores over ties and no bounds")
    g = align_intents(run, qrels)
    g = g if policy.depth is None else replace(g, places=g.places.cut(policy.depth))
    g = g.condensed() if policy.condensed else g
    values = np.array([evaluate_intents(m, g) for m in measures]).reshape(len(measures), -1)
    absent = np.array([t not in set(run.topics) for t in qrels.topics])
    return RunScores(run.name, values, absent, (policy.ties,) * len(measures))


def _score_block(g: Grades, measures: Sequence[Measure], policy: Policy) -> tuple[Floats, list[str]]:
    seen = prepared(g, policy)
    if policy.ties == "average":
        found = [expected(m, seen, seed=policy.seed) for m in measures]
        return np.array([s for s, _ in found]).reshape(len(measures), -1), [how for _, how in found]
    values = np.array([m(seen) for m in measures]).reshape(len(measures), -1)
    return values, [policy.ties] * len(measures)


def score_matrices(
    scored: Sequence[RunScores],
    qrels: Qrels | IntentQrels,
    measures: Sequence[Measure],
    policy: Policy,
    names: Sequence[str],
) -> Scores:
    """One matrix per measure, with the topics that the policy keeps."""
    keep = _kept_topics(scored, qrels, policy, names)
    topics = tuple(t for t, kept in zip(qrels.topics, keep, strict=True) if kept)
    out = []
    for i, measure in enumerate(measures):
        values = np.array([s.values[i][keep] for s in scored]).reshape(len(scored), len(topics))
        how = max((s.ties[i] for s in scored), key=len, default=policy.ties)
        out.append(ScoreMatrix(tuple(names), topics, values, str(measure), policy.signature(measure, how)))
    return Scores(tuple(out), tuple(m.aggregate for m in measures))


def _kept_topics(
    scored: Sequence[RunScores], qrels: Qrels | IntentQrels, policy: Policy, names: Sequence[str]
) -> Bools:
    absent = np.array([s.missing for s in scored]).reshape(len(scored), len(qrels.topics))
    for s, missing in zip(scored, absent, strict=True):
        if missing.all():
            raise DataError(f"run {s.name!r} has none of the {len(qrels.topics)} topics of {qrels.name}")
    if policy.missing == "error" and absent.any():
        run, topic = np.argwhere(absent)[0]
        raise DataError(
            f"run {names[run]!r} has no docs for topic {qrels.topics[topic]!r}; missing='zero' counts it as 0"
        )
    return np.asarray(~absent.any(axis=0) if policy.missing == "drop" else np.ones(len(qrels.topics), dtype=bool))


def distinct_names(names: Sequence[str], sources: Sequence[Run | str | Path]) -> list[str]:
    """Names of runs; where several files carry one tag, their file names, and where these are the same, their paths."""
    files = [None if isinstance(s, Run) else str(s) for s in sources]
    out = [
        Path(file).name if file is not None and names.count(name) > 1 else name
        for name, file in zip(names, files, strict=True)
    ]
    twice = next((n for n in out if out.count(n) > 1), None)
    if twice is None:
        return out
    paths = [file for file in files if file is not None]
    if len(set(paths)) == len(sources):
        return paths
    raise DataError(f"two runs are called {twice!r}; every run needs a name of its own")
