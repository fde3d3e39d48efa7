"""What is compared? Baseline and system of an original and of a replicated experiment, on the same topics or others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.data import Run
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix, same_scores
from assay.data.tested_means import needs_means
from assay.io.brought import score_matrix_of
from assay.replication.ratios import Limits
from assay.stats.effect import rounded
from assay.stats.limits import possible_scores

TOPICS = ("same", "other")
"""Whether topics of one id are one topic: the same topics, scored twice, or those of another collection."""
WHICH = ("original", "replicated")
ROLES = ("baseline", "system")


@dataclass(frozen=True, eq=False)
class Experiment:
    """The scores of a baseline and of a system on the topics of one experiment."""

    baseline: str
    system: str
    topics: tuple[str, ...]
    values: Floats
    """2 × topics, the baseline first."""

    @property
    def baseline_scores(self) -> Floats:
        """Of the baseline, topic by topic."""
        return np.asarray(self.values[0])

    @property
    def system_scores(self) -> Floats:
        """Of the system, topic by topic."""
        return np.asarray(self.values[1])

    @property
    def improvement(self) -> Floats:
        """System minus baseline, topic by topic."""
        return rounded(self.values[1] - self.values[0])

    def on(self, topics: tuple[str, ...]) -> Experiment:
        """The same experiment on these topics, in this order."""
        place = {topic: at for at, topic in enumerate(self.topics)}
        places = [place[topic] for topic in topics]
        return replace(self, topics=topics, values=self.values[:, places])


@dataclass(frozen=True, eq=False)
class TwoExperiments:
    """An original and a replicated experiment; paired where their topics are the same and in one order."""

    original: Experiment
    replicated: Experiment
    paired: bool
    measure: str
    note: str = ""
    limits: Limits | None = None
    """The least and largest score, where these are known."""

    @property
    def differences(self) -> Limits | None:
        """The least and largest improvement."""
        return None if self.limits is None else (self.limits[0] - self.limits[1], self.limits[1] - self.limits[0])

    def named(self, original: Mapping[str, Run], replicated: Mapping[str, Run]) -> TwoExperiments:
        """The same experiments under the names of their runs, which are given by role."""
        both = []
        for experiment, runs in ((self.original, original), (self.replicated, replicated)):
            names = [runs[role].name for role in ROLES]
            if names[0] == names[1]:  # files of one tag: the role says which is which
                names = [f"{name} ({role})" for name, role in zip(names, ROLES, strict=True)]
            both.append(replace(experiment, baseline=names[0], system=names[1]))
        return replace(self, original=both[0], replicated=both[1])


def two_experiments(
    original: Any,
    replicated: Any,
    *,
    baselines: tuple[str, str | None],
    systems: tuple[str | None, str | None],
    topics: str | None = None,
) -> TwoExperiments:
    """Both experiments from scores of one measure.

    The name of a replicated run is that of the original unless another is given. topics: one of TOPICS; by default the
    ids decide, and where only some are in both, a person has to.
    """
    first = score_matrix_of(original)
    second = score_matrix_of(replicated)
    same_scores(first, second)
    for matrix in (first, second):
        needs_means(matrix, "an effect ratio")
    one = _experiment(first, WHICH[0], baselines[0], systems[0])
    baseline = _name_there(second, baselines[1], one.baseline, "baseline")
    system = _name_there(second, systems[1], one.system, "system", but=baseline)
    other = _experiment(second, WHICH[1], baseline, system)
    two = matched(one, other, first.measure, topics)
    limits = {possible_scores(matrix) for matrix in (first, second)}
    known = limits.pop() if len(limits) == 1 else None
    return replace(two, limits=known if known is not None and np.isfinite(known).all() else None)


def same_measures(
    original: Sequence[ScoreMatrix], replicated: Sequence[ScoreMatrix]
) -> list[tuple[ScoreMatrix, ScoreMatrix]]:
    """The scores of each measure that both experiments have; one of each alone are a pair whatever they are called.

    Where a pair is not of one measure, `two_experiments` says so.
    """
    if len(original) == 1 and len(replicated) == 1:
        return [(original[0], replicated[0])]
    by_name = {canonical(matrix.measure): matrix for matrix in replicated}
    pairs = []
    for matrix in original:
        other = by_name.get(canonical(matrix.measure))
        if other is not None:
            pairs.append((matrix, other))
    if not pairs:
        first = ", ".join(matrix.measure for matrix in original)
        second = ", ".join(matrix.measure for matrix in replicated)
        raise UsageError(f"no measure is in both: original {first}; replicated {second}; score both alike")
    return pairs


def _experiment(matrix: ScoreMatrix, which: str, baseline: str, system: str | None) -> Experiment:
    """The two runs of a matrix; the system is the other run where there are only two."""
    if baseline not in matrix.runs:
        near = did_you_mean(baseline, matrix.runs)
        raise UsageError(f"{which}: no run {baseline!r}, the baseline{near}")
    others = [run for run in matrix.runs if run != baseline]
    if system is None and len(others) != 1:
        some = ", ".join(others[:4]) or "none"
        raise UsageError(f"{which}: {len(others)} runs beside the baseline ({some}); name one with --system")
    chosen = others[0] if system is None else system
    if chosen == baseline:
        raise UsageError(f"{which}: {chosen!r} is the baseline and the system; name another with --system")
    if chosen not in matrix.runs:
        raise UsageError(f"{which}: no run {chosen!r}, the system{did_you_mean(chosen, matrix.runs)}")
    rows = matrix.select(runs=[baseline, chosen])
    if len(rows.topics) < 2:
        count = f"{len(rows.topics)} topic" + ("" if len(rows.topics) == 1 else "s")
        raise DataError(f"{which}: {count}; an interval needs two or more")
    return Experiment(baseline, chosen, rows.topics, rows.values)


def _name_there(matrix: ScoreMatrix, given: str | None, usual: str, what: str, but: str = "") -> str:
    """The name of a run in the replicated experiment: the one given, that of the original, or the only one left."""
    if given is not None or usual in matrix.runs:
        return given or usual
    others = [run for run in matrix.runs if run != but]
    if what == "system" and len(others) == 1:
        return others[0]
    near = did_you_mean(usual, matrix.runs)
    raise UsageError(f"replicated: no run {usual!r}, the {what}{near}; name it with --replicated-{what}")


def matched(original: Experiment, replicated: Experiment, measure: str, topics: str | None = None) -> TwoExperiments:
    """The two experiments on the topics on which they are compared: those in both where they are the same topics."""
    if topics is not None:
        one_of("topics", topics, TOPICS)
    inside = set(replicated.topics)
    shared = tuple(topic for topic in original.topics if topic in inside)
    size = max(len(original.topics), len(replicated.topics))
    if topics == "other" or (topics is None and not shared):
        note = f"{len(shared)} topic ids are in both, and count as different topics" if shared else ""
        return TwoExperiments(original, replicated, False, measure, note)
    if topics is None and len(shared) < size:
        raise UsageError(
            f"{len(shared)} of {size} topic ids are in both experiments; compare these alone with --topic-ids same, or "
            "say with --topic-ids other that they are different topics"
        )
    if len(shared) < 2:
        raise DataError(f"{len(shared)} topics are in both experiments; paired measures need two or more")
    left = len(set(original.topics) | inside) - len(shared)
    note = f"{left} topics that only one experiment has are left out" if left else ""
    return TwoExperiments(original.on(shared), replicated.on(shared), True, measure, note)
