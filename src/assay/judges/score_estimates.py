"""What would people score these runs, if only scores are at hand: theirs on few topics, a machine's on many more?

It is `topic_estimates` for whatever has no judgments of docs: answers by their nuggets, by their citations, or anything
else that ends in a score for each run and topic.
"""

from __future__ import annotations

import numpy as np

from assay.core.errors import DataError
from assay.data import ScoreMatrix
from assay.data.scores import same_scores
from assay.data.tested_means import needs_means
from assay.judges.topic_estimates import TopicEstimates, contrasted, contrasts, limits_of, treated_alike
from assay.judges.topic_estimators import DEFAULT, estimated


def estimate_scores(
    human: ScoreMatrix,
    machine: ScoreMatrix,
    *,
    judge: str = "the machine",
    baseline: str | None = None,
    method: str = DEFAULT,
    level: float = 0.95,
    normal: bool = False,
) -> TopicEstimates:
    """Mean scores as people would give them, from their scores on few topics and those of a machine on many more.

    human: runs × the n topics that people assessed. machine: the same runs on these and N other topics. Both are of one
    measure. judge: what the machine is called; baseline, method, level, normal: as in `estimate`.
    The human topics must be drawn as the others are: at random from the same ones.

    >>> names = ["1", "2", "3", "4", "5", "6", "7"]
    >>> people = ScoreMatrix.of([[0.2, 0.4, 0.5, 0.1]], runs=["mine"], topics=names[:4], measure="V_strict")
    >>> gpt = ScoreMatrix.of([[0.3, 0.5, 0.6, 0.2, 0.4, 0.2, 0.7]], runs=["mine"], topics=names, measure="V_strict")
    >>> found = estimate_scores(people, gpt)
    >>> found.human_topics, found.machine_topics, found.human_only.value.round(2).tolist()
    (('1', '2', '3', '4'), ('5', '6', '7'), [0.3])
    """
    same_scores(human, machine)
    needs_means(human, "an estimate from human and machine scores")
    _refuse_other_runs(human, machine)
    both = [topic for topic in human.topics if topic in machine.topics]
    others = [topic for topic in machine.topics if topic not in human.topics]
    for topics, who in ((both, "people and the machine"), (others, "the machine only")):
        if len(topics) < 2:
            raise DataError(f"{len(topics)} topics have scores by {who}; combining needs at least two")
    rows = contrasted(human.runs, baseline)
    of_people = human.select(topics=both).values
    of_machine = machine.select(runs=human.runs, topics=[*both, *others]).values
    on_human = of_machine[:, : len(both)]
    on_others = of_machine[:, len(both) :]
    y, f, u = (contrasts(values, rows, baseline) for values in (of_people, on_human, on_others))
    checks = treated_alike(on_human, on_others)
    limits = limits_of(human, machine, baseline)
    left_out = len(human.topics) - len(both)
    if left_out:
        checks.append(f"{left_out} human topics without machine scores are left out")
    return TopicEstimates(
        measure=human.measure,
        judge=judge,
        method=method,
        runs=tuple(human.runs[i] for i in rows[0].tolist()),
        baseline=baseline,
        found=estimated(y, f, u, method, large=normal, limits=limits),
        human_only=estimated(y, f, u, "classical", large=normal, limits=limits),
        machine_only=np.concatenate([f, u], axis=1).mean(axis=1),
        level=level,
        normal=normal,
        human_topics=tuple(both),
        machine_topics=tuple(others),
        checks=tuple(checks),
    )


def _refuse_other_runs(human: ScoreMatrix, machine: ScoreMatrix) -> None:
    """An error unless both have the same runs."""
    for first, second, who in ((human, machine, "people"), (machine, human, "the machine")):
        only = sorted({*first.runs} - {*second.runs})
        if only:
            raise DataError(f"run {only[0]!r} has scores by {who} only; give scores of the same runs by both")
