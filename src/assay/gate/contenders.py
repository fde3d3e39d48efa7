"""Which two runs are compared? Scores of a new run and of its baseline on the same topics, from whatever holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import AssayError, UsageError
from assay.data import Run
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix, joined
from assay.data.tested_means import needs_means
from assay.gate.alarms import Alarm, JudgedRule, JudgedShares, alarms_of, has_no_topic, same_scores_remark
from assay.io.brought import plain_qrels_of, runs_of, scores_of
from assay.io.column_names import Named
from assay.io.swapped import refuse_swapped
from assay.measures import parse
from assay.scoring.evaluation import Aligned
from assay.scoring.run_scores import parsed

MEASURE = "nDCG@10"
"""The measure of runs where none is named."""
ROWS = ("new", "baseline")
"""Which row of a matrix is which."""


@dataclass(frozen=True, eq=False)
class Contenders:
    """A matrix for each measure, the new run first; the names of both runs, and what is odd about them."""

    matrices: list[ScoreMatrix]
    names: tuple[str, str]
    alarms: tuple[Alarm, ...]
    judged: JudgedShares | None = None

    def __post_init__(self) -> None:
        _refuse_lower_is_better(self.matrices)
        for matrix in self.matrices:
            needs_means(matrix, "a gate")

    @classmethod
    def of_scores(cls, new: Any, baseline: Any, measures: Any, columns: Named = None) -> Contenders:
        """From the scores of one run each."""
        of_new = _of_one_run(scores_of(new, columns=columns), ROWS[0])
        of_baseline = _of_one_run(scores_of(baseline, columns=columns), ROWS[1])
        names = _told_apart((of_new[0].runs[0], of_baseline[0].runs[0]), (new, baseline))
        parts = [replace(matrix, runs=ROWS[:1]) for matrix in of_new]
        parts += [replace(matrix, runs=ROWS[1:]) for matrix in of_baseline]
        matrices = joined(parts)
        if measures is not None:
            matrices = _chosen(matrices, measures)
        for matrix in matrices:
            if matrix.runs != ROWS:
                others = of_baseline if matrix.runs == ROWS[:1] else of_new
                known = ", ".join(other.measure for other in others)
                raise UsageError(f"{matrix.measure}: only the {matrix.runs[0]} run has such scores, the other: {known}")
        return cls(matrices, names, _same_scores(matrices, names))

    @classmethod
    def of_runs(
        cls, new: Any, baseline: Any, qrels: Any, measures: Any, rule: JudgedRule, columns: Named = None
    ) -> Contenders:
        """From one run each and the judgments."""
        wanted = list(dict.fromkeys(parsed(MEASURE if measures is None else measures)))
        if not wanted:
            raise _no_measure()
        judgments = plain_qrels_of(qrels, columns=columns)
        sources = (_one_run(new, ROWS[0], columns), _one_run(baseline, ROWS[1], columns))
        for thing, source in zip((new, baseline), sources, strict=True):
            refuse_swapped(thing, [source], qrels, judgments)
        of_new, of_baseline = (Aligned.of(source, judgments) for source in sources)
        [match] = of_new.matches
        [against] = of_baseline.matches
        names = _told_apart((match.run.name, against.run.name), sources)
        alarms = alarms_of(match, against, names, rule)
        scores = of_baseline.scores(wanted)
        new_scores = None if has_no_topic(match) else of_new.scores(wanted)
        matrices = []
        for i, matrix in enumerate(scores):
            baseline_row = matrix.values[0]
            # a topic that a run lacks scores 0, also where it lacks all of them
            new_row = np.zeros_like(baseline_row) if new_scores is None else new_scores[i].values[0]
            matrices.append(replace(matrix, runs=ROWS, values=np.array([new_row, baseline_row])))
        if not alarms:
            alarms = _same_scores(matrices, names)
        return cls(matrices, names, alarms, JudgedShares.of(match, against, rule.k))


def _refuse_lower_is_better(matrices: Sequence[ScoreMatrix]) -> None:
    for matrix in matrices:
        try:
            measure = parse(matrix.measure)
        except AssayError:  # a name of a score table that is no measure of ours
            continue
        if measure.entry.facts.get("lower_is_better"):
            raise UsageError(f"{matrix.measure}: lower is better, so that a drop is no loss; take another measure")


def _of_one_run(matrices: list[ScoreMatrix], which: str) -> list[ScoreMatrix]:
    runs = {run for matrix in matrices for run in matrix.runs}
    if len(runs) != 1:
        some = ", ".join(sorted(runs)[:5])
        raise UsageError(f"{which}: a gate needs the scores of one run, and there are {len(runs)} ({some}); choose one")
    return matrices


def _chosen(matrices: Sequence[ScoreMatrix], measures: Any) -> list[ScoreMatrix]:
    """The matrices of these measures, in their order."""
    names = measures.replace(",", " ").split() if isinstance(measures, str) else [str(one) for one in measures]
    wanted = list(dict.fromkeys(canonical(name) for name in names))
    if not wanted:
        raise _no_measure()
    by_name = {canonical(matrix.measure): matrix for matrix in matrices}
    for name in wanted:
        if name not in by_name:
            raise UsageError(f"no measure {name!r} in these scores; they have: {', '.join(by_name)}")
    return [by_name[name] for name in wanted]


def _no_measure() -> UsageError:
    return UsageError(f"no measure; give at least one, e.g. {MEASURE!r}")


def _same_scores(matrices: Sequence[ScoreMatrix], names: tuple[str, str]) -> tuple[Alarm, ...]:
    is_same = all(np.array_equal(matrix.values[0], matrix.values[1]) for matrix in matrices)
    return (same_scores_remark(names),) if is_same else ()


def _one_run(thing: Any, which: str, columns: Named) -> Run | str | Path:
    sources = runs_of(thing, columns=columns, name=which)
    if len(sources) != 1:
        raise UsageError(f"{which}: a gate needs one run, and there are {len(sources)}; choose one")
    return sources[0]


def _told_apart(names: tuple[str, str], sources: tuple[Any, Any]) -> tuple[str, str]:
    """Names of the two runs; where they are the same, their paths, or which is which."""
    if names[0] != names[1]:
        return names
    files = [_file_of(source) for source in sources]
    if files[0] and files[1] and files[0] != files[1]:
        return files[0], files[1]
    return f"{names[0]} (new)", f"{names[1]} (baseline)"


def _file_of(source: Any) -> str | None:
    """The file of a run or of scores, where it is known."""
    if isinstance(source, Run):
        return source.file
    return str(source) if isinstance(source, str | Path) else None
