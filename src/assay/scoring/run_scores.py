"""The scores of one run: read it, join it with the judgments, score it; and of all runs, as matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
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
        from assay.measures.translation import of_ir_measures

        return parse(of_ir_measures(str(one)))
    raise _no_measure(one)


def _is_foreign_measure(one: Any) -> bool:
    """Whether it is a measure of ir_measures."""
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
    longest_list = int(joined.run.sizes.max(initial=1))
    topics_at_a_time = CELLS // max(1, longest_list)
    return chunks(len(joined.qrels.topics), topics_at_a_time)


def scores_of(
    joined: Match, measures: Sequence[Measure], policy: Policy, lengths: Mapping[str, float] | None
) -> RunScores:
    """The scores of one run, a block of topics at a time."""
    values = [np.zeros((len(measures), 0))]
    ties = [policy.ties] * len(measures)
    for block in blocks_of_topics(joined):
        grades = joined.grades(topics=block, lengths=lengths)
        scores, how = _score_block(grades, measures, policy)
        values.append(scores)
        # Where one block has ties and another has none, what was done with them is the longer description.
        ties = [max(known, here, key=len) for known, here in zip(ties, how, strict=True)]
    all_topics = np.concatenate(values, axis=1)
    missing = joined.topic_in_run < 0
    return RunScores(joined.run.name, all_topics, missing, tuple(ties))


def _score_block(grades: Grades, measures: Sequence[Measure], policy: Policy) -> tuple[Floats, list[str]]:
    """The scores of some topics, measures × topics, and for each measure what was done with ties."""
    seen = prepared(grades, policy)
    scores = []
    ties = []
    for measure in measures:
        if policy.ties == "average":
            of_measure, how = expected(measure, seen, seed=policy.seed)
        else:
            of_measure, how = measure(seen), policy.ties
        scores.append(of_measure)
        ties.append(how)
    return np.array(scores).reshape(len(measures), len(grades.topics)), ties


def intent_scores_of(run: Run, qrels: IntentQrels, measures: Sequence[Measure], policy: Policy) -> RunScores:
    """The scores of one run by judgments of intents."""
    if policy.ties == "average" or policy.unjudged != "0":
        raise UsageError("with judgments by intent there are no expected scores over ties and no bounds")
    grades = align_intents(run, qrels)
    if policy.depth is not None:
        first_ranks = grades.places.cut(policy.depth)
        grades = replace(grades, places=first_ranks)
    if policy.condensed:
        grades = grades.condensed()
    scores = [evaluate_intents(measure, grades) for measure in measures]
    values = np.array(scores).reshape(len(measures), len(qrels.topics))
    answered = set(run.topics)
    missing = np.array([topic not in answered for topic in qrels.topics])
    return RunScores(run.name, values, missing, (policy.ties,) * len(measures))


def score_matrices(
    scored: Sequence[RunScores],
    qrels: Qrels | IntentQrels,
    measures: Sequence[Measure],
    policy: Policy,
    names: Sequence[str],
) -> Scores:
    """One matrix per measure, with the topics that the policy keeps."""
    keep = _kept_topics(scored, qrels, policy, names)
    topics = tuple(compress(qrels.topics, keep))
    shape = (len(scored), len(topics))
    highest = float(qrels.grades.max(initial=0))
    matrices = []
    for i, measure in enumerate(measures):
        values = np.array([scores.values[i][keep] for scores in scored]).reshape(shape)
        # Where one run has ties and another has none, what was done with them is the longer description.
        how = max((scores.ties[i] for scores in scored), key=len, default=policy.ties)
        signature = policy.signature(measure, how)
        matrix = ScoreMatrix(tuple(names), topics, values, str(measure), signature, _lost(measure, highest, policy))
        matrices.append(matrix)
    return Scores(tuple(matrices), _cautions(measures, qrels))


def _cautions(measures: Sequence[Measure], qrels: Qrels | IntentQrels) -> tuple[str, ...]:
    """How far estimates from sampled judgments are off; nothing where the judgments are no sample."""
    if isinstance(qrels, IntentQrels) or (qrels.probabilities is None and not (qrels.grades < 0).any()):
        return ()
    cautions = {measure.name: measure.entry.facts.get("caution") for measure in measures}
    return tuple(f"{name}: {caution}" for name, caution in cautions.items() if caution)


def _lost(measure: Measure, highest: float, policy: Policy) -> tuple[float, float] | None:
    """The highest grade and the lowest that the measure counts, where it counts none of the grades."""
    if policy.binary is not None:
        return None if highest > 0 else (0.0, policy.binary)
    lowest = dict(measure.parameters).get("rel", measure.entry.parameters.get("rel"))
    if lowest is None or measure.form not in ("", "IA"):
        return None
    return (highest, lowest) if 0 < highest < lowest else None


def _kept_topics(
    scored: Sequence[RunScores], qrels: Qrels | IntentQrels, policy: Policy, names: Sequence[str]
) -> Bools:
    """Which topics count: all of the qrels, or with missing="drop" those that every run has."""
    topics = len(qrels.topics)
    absent = np.array([scores.missing for scores in scored]).reshape(len(scored), topics)
    for scores, missing in zip(scored, absent, strict=True):
        if missing.all():
            raise DataError(f"run {scores.name!r} has none of the {topics} topics of {qrels.name}")
    if policy.missing == "error" and absent.any():
        run, topic = np.argwhere(absent)[0]
        raise DataError(
            f"run {names[run]!r} has no docs for topic {qrels.topics[topic]!r}; missing='zero' counts it as 0"
        )
    if policy.missing == "drop":
        return np.asarray(~absent.any(axis=0))
    return np.ones(topics, dtype=bool)
