"""evaluate: runs × judgments × measures → one ScoreMatrix per measure.

Where the flow stands: it walks files → tables → grades → **scores**. A run is read and aligned once for all measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run
from assay.data.aligned import match
from assay.data.grades import Grades
from assay.data.intents import IntentQrels, align_intents
from assay.data.scores import ScoreMatrix
from assay.io import read_run
from assay.measures import Measure, parse
from assay.measures.diversity import evaluate_intents
from assay.measures.ties import expected
from assay.version import __version__

MISSING = ("zero", "drop", "error")
CELLS = 1 << 20
"""Ranked grades (topics × depth) that are held at a time: few enough to stay in the cache."""


@dataclass(frozen=True)
class Policy:
    """Every choice that a score rests on beside its measure; printed in its signature."""

    ties: str = "docid"
    missing: str = "zero"
    compat: str | None = None
    condensed: bool = False
    depth: int | None = None
    unjudged: str = "0"
    """`0`: not relevant; `top`: as if all had the top grade, the other end of what judging them could show."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise UsageError(f"missing={self.missing!r} is not one of {', '.join(MISSING)}")
        if self.compat not in (None, "trec_eval-9", "trec_eval-10"):
            raise UsageError(f"compat={self.compat!r} is not one of trec_eval-9, trec_eval-10")
        if self.depth is not None and self.depth < 1:
            raise UsageError(f"depth={self.depth} is not at least 1")

    def signature(self, measure: Measure, ties: str | None = None) -> str:
        """What a score rests on, e.g. `nDCG@10|gain:grade|ties:docid|missing:zero|unjudged:0|assay:0.1`."""
        gain = dict(measure.parameters).get("gain", measure.entry.parameters.get("gain"))
        parts = [
            str(measure.in_full()),
            f"gain:{gain}" if gain else "",
            f"ties:{ties or self.ties}",
            f"missing:{self.missing}",
            "unjudged:removed" if self.condensed or measure.condensed else f"unjudged:{self.unjudged}",
            f"depth:{self.depth}" if self.depth else "",
            f"compat:{self.compat}" if self.compat else "",
            f"assay:{'.'.join(__version__.split('.')[:2])}",
        ]
        return "|".join(p for p in parts if p)


def evaluate(
    runs: Iterable[Run | str | Path],
    qrels: Qrels | IntentQrels,
    measures: str | Measure | Sequence[str | Measure],
    *,
    policy: Policy | None = None,
    lengths: Mapping[str, float] | None = None,
    jobs: int = 1,
    progress: Progress = silent,
    **choices: Any,
) -> list[ScoreMatrix]:
    """Scores of runs (or run files) on the topics of the qrels, one matrix per measure.

    The choices of a Policy may be given by name: ties="average", missing="drop", compat="trec_eval-9", depth=100 ….
    A topic that a run lacks scores 0 and counts (missing="zero"); "drop" leaves out topics that any run lacks,
    "error" refuses. With judgments by intent the measures of diversity and the forms D-X, D#-X, DIN-X, X-IA can be had,
    and a plain measure sees each doc's best grade over the intents. lengths: words of every doc, for
    measures of time. Files are read by `jobs` threads.

    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}})
    >>> matrix, = evaluate([Run.from_lists("r", {"1": ["b", "a"]})], qrels, "RR")
    >>> matrix.values.tolist(), matrix.signature
    ([[0.5]], 'RR|ties:docid|missing:zero|unjudged:0|assay:0.1')
    """
    named = [measures] if isinstance(measures, str | Measure) else list(measures)
    wanted = [parse(m) if isinstance(m, str) else m for m in named]
    rules = _policy(policy, choices)
    todo = list(runs)
    threads = jobs if len(todo) == 1 else 1
    scored = ordered_map(
        lambda run: score(run, qrels, wanted, policy=rules, lengths=lengths, threads=threads),
        todo,
        jobs=jobs,
        forks=True,
        progress=progress,
    )
    return _matrices(scored, qrels, wanted, rules, [r if isinstance(r, Run) else str(r) for r in todo])


def _policy(policy: Policy | None, choices: dict[str, Any]) -> Policy:
    known = [f.name for f in fields(Policy)]
    for name in choices:
        if name not in known:
            raise UsageError(f"no choice {name!r}{did_you_mean(name, known)}")
    return replace(policy or Policy(), **choices)


@dataclass(frozen=True, eq=False)
class RunScores:
    """The scores of one run: measures × topics of the qrels."""

    name: str
    values: Floats
    missing: npt.NDArray[np.bool_]
    ties: tuple[str, ...]


def score(
    run: Run | str | Path,
    qrels: Qrels | IntentQrels,
    measures: Sequence[Measure],
    *,
    policy: Policy,
    lengths: Mapping[str, float] | None = None,
    threads: int = 1,
) -> RunScores:
    """The scores of one run or run file."""
    if not isinstance(run, Run):
        run = read_run(run, ranks=policy.ties == "rank", threads=threads, mapped=True)
    if (run.ties, run.compat) != (policy.ties, policy.compat):
        run = run.ordered(policy.ties, compat=policy.compat)
    if isinstance(qrels, IntentQrels):
        return _score_intents(run, qrels, measures, policy)
    joined = match(run, qrels, threads=threads)
    depth = int(np.diff(run.bounds).max(initial=1))
    parts = [
        _score_block(joined.grades(topics=block, lengths=lengths), measures, policy)
        for block in chunks(len(qrels.topics), CELLS // max(1, depth))
    ]
    values = np.concatenate([v for v, _ in parts], axis=1) if parts else np.zeros((len(measures), 0))
    how = tuple(max(column, key=len) for column in zip(*(h for _, h in parts), strict=True))
    return RunScores(run.name, values, joined.topic_in_run < 0, how or (policy.ties,) * len(measures))


def _score_intents(run: Run, qrels: IntentQrels, measures: Sequence[Measure], policy: Policy) -> RunScores:
    if policy.ties == "average" or policy.unjudged != "0":
        raise UsageError("with judgments by intent there are no expected scores over ties and no bounds")
    g = align_intents(run, qrels)
    g = g if policy.depth is None else replace(g, places=g.places.cut(policy.depth))
    g = g.condensed() if policy.condensed else g
    values = np.array([evaluate_intents(m, g) for m in measures]).reshape(len(measures), -1)
    absent = np.array([t not in set(run.topics) for t in qrels.topics])
    return RunScores(run.name, values, absent, (policy.ties,) * len(measures))


def prepared(g: Grades, policy: Policy) -> Grades:
    """Grades as the policy wants them: cut, condensed, or with the unjudged docs supposed to be of the top grade."""
    g = g if policy.depth is None else g.cut(policy.depth)
    g = g.condensed() if policy.condensed else g
    return g.supposing(g.top) if policy.unjudged == "top" else g


def _score_block(g: Grades, measures: Sequence[Measure], policy: Policy) -> tuple[Floats, list[str]]:
    seen = prepared(g, policy)
    if policy.ties == "average":
        found = [expected(m, seen, seed=policy.seed) for m in measures]
        return np.array([s for s, _ in found]).reshape(len(measures), -1), [how for _, how in found]
    values = np.array([m(seen) for m in measures]).reshape(len(measures), -1)
    return values, [policy.ties] * len(measures)


def _matrices(
    scored: Sequence[RunScores],
    qrels: Qrels | IntentQrels,
    measures: Sequence[Measure],
    policy: Policy,
    sources: Sequence[Run | str],
) -> list[ScoreMatrix]:
    names = _distinct([s.name for s in scored], sources)
    keep = _kept_topics(scored, qrels, policy, names)
    topics = tuple(t for t, kept in zip(qrels.topics, keep, strict=True) if kept)
    out = []
    for i, measure in enumerate(measures):
        values = np.array([s.values[i][keep] for s in scored]).reshape(len(scored), len(topics))
        how = max((s.ties[i] for s in scored), key=len, default=policy.ties)
        out.append(ScoreMatrix(tuple(names), topics, values, str(measure), policy.signature(measure, how)))
    return out


def _kept_topics(
    scored: Sequence[RunScores], qrels: Qrels | IntentQrels, policy: Policy, names: Sequence[str]
) -> npt.NDArray[np.bool_]:
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


def _distinct(names: Sequence[str], sources: Sequence[Run | str]) -> list[str]:
    """Names of runs; where several files carry one tag, their file names."""
    out = [
        Path(source).name if isinstance(source, str) and names.count(name) > 1 else name
        for name, source in zip(names, sources, strict=True)
    ]
    twice = next((n for n in out if out.count(n) > 1), None)
    if twice is None:
        return out
    if all(isinstance(s, str) for s in sources) and len(set(map(str, sources))) == len(sources):
        return [str(s) for s in sources]
    raise DataError(f"two runs are called {twice!r}; every run needs a name of its own")


def bounds(
    runs: Iterable[Run | str | Path], qrels: Qrels, measures: Sequence[str | Measure], *, policy: Policy, jobs: int = 1
) -> list[tuple[ScoreMatrix, ScoreMatrix]]:
    """Per measure the scores with all unjudged docs not relevant, and with all of them at the top grade."""
    todo = list(runs)
    low = evaluate(todo, qrels, list(measures), policy=replace(policy, unjudged="0"), jobs=jobs)
    high = evaluate(todo, qrels, list(measures), policy=replace(policy, unjudged="top"), jobs=jobs)
    return list(zip(low, high, strict=True))
