"""evaluate: runs × judgments × measures → one ScoreMatrix per measure.

Where the flow stands: it walks files → tables → grades → **scores**. A run is read and joined with the judgments once,
for all measures; `Aligned` keeps what was joined for everything else that a command asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.engine import Progress, ordered_map, silent, thread_map
from assay.core.engines.chosen import engine_for
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run
from assay.data.aligned import Match
from assay.data.grades import Grades
from assay.data.intents import IntentQrels
from assay.data.scores import Scores
from assay.io.addresses import address_of
from assay.io.brought import Source, plain_qrels_of, qrels_of, runs_of
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.io.files import STANDARD_INPUT
from assay.io.large_files import LargeFile, sources_of
from assay.io.recognition import WrongKind
from assay.io.run_files import distinct_names
from assay.io.swapped import refuse_swapped
from assay.measures import Measure
from assay.scoring.policy import Policy, chosen_policy, prepared, refuse_unscorable
from assay.scoring.run_scores import (
    RunScores,
    intent_scores_of,
    joined_run,
    ordered_run,
    parsed,
    score_matrices,
    scores_of,
)  # fmt: skip
from assay.scoring.streamed_runs import scores_of_source


def evaluate(
    runs: Any,
    qrels: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    policy: Policy | None = None,
    lengths: Mapping[str, float] | None = None,
    columns: Named = None,
    jobs: int = 1,
    engine: Any = None,
    progress: Progress = silent,
    **choices: Any,
) -> Scores:
    """Scores of runs on the topics of the qrels: one matrix per measure, by place or by name.

    runs: {run: {topic: {doc: score}}}, paths, folders, data frames, Run objects or a list of these (`assay.io.runs_of`
    says more); qrels: {topic: {doc: grade}}, a path, a data frame or a Qrels object (`assay.io.qrels_of`).
    measures: one or several, as a list or as one text, "AP nDCG@10".
    The choices of a Policy may be given by name: ties="average", missing="drop", compat="trec_eval-9", depth=100 ….
    binary=True scores grades of at least 1 as 1 and all below as 0, binary=2 those of at least 2.
    A topic that a run lacks scores 0 and counts (missing="zero"); "drop" leaves out topics that any run lacks,
    "error" refuses. With judgments by intent the measures of diversity and the forms D-X, D#-X, DIN-X, X-IA can be had,
    and a plain measure sees each doc's best grade over the intents. lengths: words of every doc, for
    measures of time. columns: our column → that of the tables which have it, e.g. {"topic": "question"}.
    Runs are read and scored by `jobs` processes, or by the engine: "dask", "spark", a Dask client or a Spark session
    (`assay.engine` says more). A file is dropped as soon as it is scored.

    >>> matrix, = evaluate({"r": {"1": {"b": 2.5, "a": 1.5}}}, {"1": {"a": 1, "b": 0}}, "RR")
    >>> matrix.values.tolist(), matrix.signature
    ([[0.5]], 'RR|ties:docid|missing:zero|unjudged:0|assay:0.1')
    """
    wanted = parsed(measures)
    chosen = chosen_policy(policy, choices)
    shared = shared_columns(columns)
    given = _judgments(qrels, runs, shared)
    judgments = chosen.judgments(given)
    rules = chosen.on(judgments)
    is_held = isinstance(judgments, IntentQrels) or rules.ties == "average"
    brought = runs_of if is_held else sources_of
    todo: list[Run | str | Path | LargeFile] = [
        Path(source) if isinstance(source, str) and address_of(source) is None else source
        for source in brought(runs, columns=shared, ranks=rules.ties == "rank")
    ]
    refuse_unused(shared, columns)
    refuse_swapped(runs, todo, qrels, given)
    refuse_unscorable(wanted, rules, judgments)
    threads = jobs if len(todo) == 1 else 1

    def scored(run: Run | str | Path | LargeFile) -> list[RunScores]:
        if isinstance(judgments, IntentQrels):
            assert not isinstance(run, LargeFile)
            return [intent_scores_of(ordered_run(run, rules, threads), judgments, wanted, rules)]
        return scores_of_source(run, judgments, wanted, rules, lengths, columns=shared, jobs=threads)

    try:
        with engine_for(engine, jobs):
            by_source = _of_sources(scored, todo, jobs, progress)
    except WrongKind as error:
        raise error.with_help([qrels]) from None
    found: list[RunScores] = []
    sources: list[Source] = []
    for source, of_source in zip(todo, by_source, strict=True):
        found += of_source
        sources += [source.path if isinstance(source, LargeFile) else source] * len(of_source)
    names = distinct_names([scores.name for scores in found], sources)
    return score_matrices(found, judgments, wanted, rules, names)


def _of_sources(
    score: Callable[[Run | str | Path | LargeFile], list[RunScores]],
    sources: Sequence[Run | str | Path | LargeFile],
    jobs: int,
    progress: Progress,
) -> list[list[RunScores]]:
    """The scores of each source, by the engine; of standard input here, since no other process has it."""
    here = [isinstance(source, Path) and str(source) == STANDARD_INPUT for source in sources]
    sent = [source for source, is_here in zip(sources, here, strict=True) if not is_here]
    of_here = iter([score(source) for source, is_here in zip(sources, here, strict=True) if is_here])
    of_sent = iter(ordered_map(score, sent, jobs=jobs, forks=True, progress=progress))
    return [next(of_here if is_here else of_sent) for is_here in here]


def _judgments(qrels: Any, runs: Any, columns: Named) -> Qrels | IntentQrels:
    """The judgments; where they are a run, and one of the runs is judgments, the error says so."""
    try:
        return qrels_of(qrels, columns=columns)
    except WrongKind as error:
        others = runs if isinstance(runs, list | tuple) else [runs]
        raise error.with_help(others) from None


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
        runs: Any,
        qrels: Any,
        *,
        policy: Policy | None = None,
        columns: Named = None,
        jobs: int = 1,
        progress: Progress = silent,
        **choices: Any,
    ) -> Aligned:
        """The alignment of runs with judgments, both as `evaluate` takes them; files are read by `jobs` threads."""
        chosen = chosen_policy(policy, choices)
        shared = shared_columns(columns)
        given = plain_qrels_of(qrels, columns=shared)
        judgments = chosen.judgments(given)
        rules = chosen.on(judgments)
        todo = runs_of(runs, columns=shared, ranks=rules.ties == "rank")
        refuse_unused(shared, columns)
        refuse_swapped(runs, todo, qrels, given)
        threads = jobs if len(todo) == 1 else 1

        def joined(run: Run | str | Path) -> Match:
            return joined_run(run, judgments, rules, threads)

        matches = thread_map(joined, todo, threads=jobs, progress=progress)
        names = distinct_names([match.run.name for match in matches], todo)
        return cls(judgments, rules, tuple(matches), tuple(names))

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs in the order of the policy, each under the name that scores have."""
        named = []
        for match, name in zip(self.matches, self.names, strict=True):
            named.append(replace(match.run, name=name))
        return tuple(named)

    def grades(self, run: str) -> Grades:
        """The grades of one run, as the policy wants them."""
        return prepared(self.matches[self._place(run)].grades(), self.policy)

    def scores(
        self,
        measures: str | Measure | Sequence[str | Measure],
        *,
        lengths: Mapping[str, float] | None = None,
        jobs: int = 1,
    ) -> Scores:
        """The scores of all runs, one matrix per measure."""
        wanted = parsed(measures)
        refuse_unscorable(wanted, self.policy, self.qrels)

        def scored(joined: Match) -> RunScores:
            return scores_of(joined, wanted, self.policy, lengths)

        found = ordered_map(scored, self.matches, jobs=jobs, forks=True)
        return score_matrices(found, self.qrels, wanted, self.policy, self.names)

    def select(self, runs: Sequence[str]) -> Aligned:
        """Only these runs, in this order."""
        places = [self._place(run) for run in runs]
        return replace(
            self,
            matches=tuple(self.matches[i] for i in places),
            names=tuple(self.names[i] for i in places),
        )

    def _place(self, run: str) -> int:
        if run not in self.names:
            raise UsageError(f"no run {run!r}{did_you_mean(run, self.names)}")
        return self.names.index(run)

    def under(self, **choices: Any) -> Aligned:
        """The same under another policy; the join is kept where the docs stay in their order."""
        old = self.policy
        chosen = chosen_policy(old, choices)
        if chosen.binary != old.binary:
            raise UsageError("grades and binary judgments are joined apart; align the runs again with binary=…")
        rules = chosen.on(self.qrels)
        if (rules.ties, rules.compat) == (old.ties, old.compat):
            return replace(self, policy=rules)
        by_doc_id = {"docid", "average"}
        if {rules.ties, old.ties} == by_doc_id and rules.compat == old.compat:
            # Expected scores over ties start from the order by doc id: the docs stay where they are.
            matches = [replace(match, run=replace(match.run, ties=rules.ties)) for match in self.matches]
        else:
            matches = [joined_run(match.run, self.qrels, rules, 1) for match in self.matches]
        return replace(self, policy=rules, matches=tuple(matches))
