"""evaluate: runs × judgments × measures → one ScoreMatrix per measure.

Where the flow stands: it walks files → tables → grades → **scores**. A run is read and joined with the judgments once,
for all measures; `Aligned` keeps what was joined for everything else that a command asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, chunks, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run
from assay.data.aligned import Match, match
from assay.data.grades import Grades
from assay.data.intents import IntentQrels, align_intents
from assay.data.runs import TIES
from assay.data.scores import ScoreMatrix, Scores
from assay.io import read_run
from assay.measures import Measure, parse
from assay.measures.diversity import evaluate_intents
from assay.measures.ties import expected
from assay.version import __version__

MISSING = ("zero", "drop", "error")
COMPAT = ("trec_eval-9", "trec_eval-10")
UNJUDGED_AS = ("0", "top")
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
    top: float | None = None
    """The top grade of the scale; by default the largest grade of the judgments."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise UsageError(f"no tie policy {self.ties!r}; known: {', '.join(TIES)}")
        if self.missing not in MISSING:
            raise UsageError(f"missing={self.missing!r} is not one of {', '.join(MISSING)}")
        if self.compat not in (None, *COMPAT):
            raise UsageError(f"compat={self.compat!r} is not one of {', '.join(COMPAT)}")
        if self.unjudged not in UNJUDGED_AS:
            raise UsageError(f"unjudged={self.unjudged!r} is not one of {', '.join(UNJUDGED_AS)}")
        if self.depth is not None and self.depth < 1:
            raise UsageError(f"depth={self.depth} is not at least 1")
        if self.top is not None and not 0 < self.top < np.inf:
            raise UsageError(f"top={self.top} is not a grade above 0")

    def on(self, qrels: Qrels | IntentQrels) -> Policy:
        """The same choices with the top grade of these judgments, where none was chosen."""
        largest = qrels.top_grade()
        if self.top is not None and self.top < largest:
            raise UsageError(f"top={self.top:g} is below the grade {largest:g} of {qrels.name}; the top is the largest")
        return replace(self, top=largest if self.top is None else self.top)

    def signature(self, measure: Measure, ties: str | None = None) -> str:
        """What a score rests on, e.g. `nDCG@10|gain:grade|ties:docid|missing:zero|unjudged:0|assay:0.1`."""
        given = dict(measure.parameters)
        gain = given.get("gain", measure.entry.parameters.get("gain"))
        uses_top = measure.entry.facts.get("uses_top") and given.get("top") is None
        parts = [
            str(measure.in_full()),
            f"gain:{gain}" if gain else "",
            f"top:{self.top:g}" if self.top is not None and (uses_top or self.unjudged == "top") else "",
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
) -> Scores:
    """Scores of runs (or run files) on the topics of the qrels: one matrix per measure, by place or by name.

    The choices of a Policy may be given by name: ties="average", missing="drop", compat="trec_eval-9", depth=100 ….
    A topic that a run lacks scores 0 and counts (missing="zero"); "drop" leaves out topics that any run lacks,
    "error" refuses. With judgments by intent the measures of diversity and the forms D-X, D#-X, DIN-X, X-IA can be had,
    and a plain measure sees each doc's best grade over the intents. lengths: words of every doc, for
    measures of time. Files are read by `jobs` threads; a file is dropped as soon as it is scored.

    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}})
    >>> matrix, = evaluate([Run.from_lists("r", {"1": ["b", "a"]})], qrels, "RR")
    >>> matrix.values.tolist(), matrix.signature
    ([[0.5]], 'RR|ties:docid|missing:zero|unjudged:0|assay:0.1')
    """
    wanted = parsed(measures)
    rules = chosen_policy(policy, choices).on(qrels)
    todo = list(runs)
    threads = jobs if len(todo) == 1 else 1

    def scored(run: Run | str | Path) -> RunScores:
        if isinstance(qrels, IntentQrels):
            return _score_intents(_ordered(run, rules, threads), qrels, wanted, rules)
        return _scores_of(_joined(run, qrels, rules, threads), wanted, rules, lengths)

    found = ordered_map(scored, todo, jobs=jobs, forks=True, progress=progress)
    names = distinct_names([s.name for s in found], todo)
    return _matrices(found, qrels, wanted, rules, names)


def parsed(measures: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    """Measures from names, or as they are."""
    named = [measures] if isinstance(measures, str | Measure) else list(measures)
    return [parse(m) if isinstance(m, str) else m for m in named]


def chosen_policy(policy: Policy | None, choices: Mapping[str, Any]) -> Policy:
    """A policy with some choices given by name."""
    known = [f.name for f in fields(Policy)]
    for name in choices:
        if name not in known:
            raise UsageError(f"no choice {name!r}{did_you_mean(name, known)}")
    return replace(policy or Policy(), **choices)


@dataclass(frozen=True, eq=False)
class Aligned:
    """Runs joined with judgments under a policy: each is read once and joined once, whatever is asked for after that.

    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}})
    >>> aligned = Aligned.of([Run.from_lists("r", {"1": ["b", "a"]})], qrels)
    >>> aligned.scores("RR")[0].values.tolist(), aligned.grades("r").ranked.tolist()
    ([[0.5]], [[0, 1]])
    """

    qrels: Qrels
    policy: Policy
    matches: tuple[Match, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        runs: Iterable[Run | str | Path],
        qrels: Qrels,
        *,
        policy: Policy | None = None,
        jobs: int = 1,
        progress: Progress = silent,
        **choices: Any,
    ) -> Aligned:
        """The alignment of runs or run files; files are read by `jobs` threads."""
        todo = list(runs)
        rules = chosen_policy(policy, choices).on(qrels)
        threads = jobs if len(todo) == 1 else 1
        matches = ordered_map(
            lambda run: _joined(run, qrels, rules, threads), todo, jobs=jobs, threads=True, progress=progress
        )
        names = distinct_names([m.run.name for m in matches], todo)
        return cls(qrels, rules, tuple(matches), tuple(names))

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs in the order of the policy, each under the name that scores have."""
        return tuple(replace(m.run, name=name) for m, name in zip(self.matches, self.names, strict=True))

    def grades(self, run: str) -> Grades:
        """The grades of one run, as the policy wants them."""
        if run not in self.names:
            raise UsageError(f"no run {run!r}{did_you_mean(run, self.names)}")
        joined = self.matches[self.names.index(run)]
        return prepared(joined.grades(), self.policy)

    def scores(
        self,
        measures: str | Measure | Sequence[str | Measure],
        *,
        lengths: Mapping[str, float] | None = None,
        jobs: int = 1,
    ) -> Scores:
        """The scores of all runs, one matrix per measure."""
        wanted = parsed(measures)
        found = ordered_map(
            lambda joined: _scores_of(joined, wanted, self.policy, lengths), self.matches, jobs=jobs, forks=True
        )
        return _matrices(found, self.qrels, wanted, self.policy, self.names)

    def under(self, **choices: Any) -> Aligned:
        """The same under another policy; the join is kept where the docs stay in their order."""
        rules = chosen_policy(self.policy, choices).on(self.qrels)
        if (rules.ties, rules.compat) == (self.policy.ties, self.policy.compat):
            return replace(self, policy=rules)
        return replace(self, policy=rules, matches=tuple(_joined(m.run, self.qrels, rules, 1) for m in self.matches))


def _ordered(run: Run | str | Path, policy: Policy, threads: int) -> Run:
    """A run, read where it is a file, with its docs in the order of the policy."""
    if not isinstance(run, Run):
        run = read_run(run, ranks=policy.ties == "rank", threads=threads)
    if (run.ties, run.compat) == (policy.ties, policy.compat):
        return run
    return run.ordered(policy.ties, compat=policy.compat)


def _joined(run: Run | str | Path, qrels: Qrels, policy: Policy, threads: int) -> Match:
    """A run or run file joined with the judgments."""
    return match(_ordered(run, policy, threads), qrels, threads=threads)


@dataclass(frozen=True, eq=False)
class RunScores:
    """The scores of one run: measures × topics of the qrels."""

    name: str
    values: Floats
    missing: Bools
    ties: tuple[str, ...]


def _scores_of(
    joined: Match, measures: Sequence[Measure], policy: Policy, lengths: Mapping[str, float] | None
) -> RunScores:
    """The scores of one run, a block of topics at a time."""
    depth = int(np.diff(joined.run.bounds).max(initial=1))
    parts = [
        _score_block(joined.grades(topics=block, lengths=lengths), measures, policy)
        for block in chunks(len(joined.qrels.topics), CELLS // max(1, depth))
    ]
    values = np.concatenate([v for v, _ in parts], axis=1) if parts else np.zeros((len(measures), 0))
    # Where one block of topics has ties and another has none, what was done with them is the longer description.
    ties = tuple(max(column, key=len) for column in zip(*(how for _, how in parts), strict=True))
    return RunScores(joined.run.name, values, joined.topic_in_run < 0, ties or (policy.ties,) * len(measures))


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
    g = g if policy.top is None else replace(g, top=policy.top)
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
    names: Sequence[str],
) -> Scores:
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


def bounds(
    runs: Iterable[Run | str | Path], qrels: Qrels, measures: Sequence[str | Measure], *, policy: Policy, jobs: int = 1
) -> list[tuple[ScoreMatrix, ScoreMatrix]]:
    """Per measure the scores with all unjudged docs not relevant, and with all of them at the top grade."""
    todo = list(runs)
    low = evaluate(todo, qrels, list(measures), policy=replace(policy, unjudged="0"), jobs=jobs)
    high = evaluate(todo, qrels, list(measures), policy=replace(policy, unjudged="top"), jobs=jobs)
    return list(zip(low, high, strict=True))
