"""How much can a run gain by asking the judge itself? Each run's first docs reranked by the judge's own labels.

If the gain under the judge is larger than the gain under people, a run that uses the judge wins more than it is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.judges.listed import ListedPairs
from assay.judges.topic_means import Limits, gap_limits, mean_ends
from assay.measures import Measure
from assay.rankings import settled
from assay.stats.effect import differences

K = 20


@dataclass(frozen=True)
class GainOfGaming:
    """What runs gain on average by reranking with one judge's labels, under that judge and under people."""

    judge: str
    machine: float
    machine_low: float
    machine_high: float
    human: float
    human_low: float
    human_high: float
    places_machine: float
    places_human: float
    most_places: int
    most_run: str

    @property
    def real(self) -> float | None:
        """Of the gain under the judge, the part that people see too."""
        return self.human / self.machine if self.machine > 0 else None


@dataclass(frozen=True, eq=False)
class Circularity(Result):
    """What reranking by each judge gains under the judge and under people."""

    unit = "topic"

    measure: str
    k: int
    runs: int
    topics: int
    level: float
    gains: tuple[GainOfGaming, ...]

    def of(self, judge: str) -> GainOfGaming:
        """The gains of one judge."""
        return next(gain for gain in self.gains if gain.judge == judge)

    def table(self) -> Table:
        """One row for each judge."""
        columns = {
            "judge": "", "gain under judge": "+.4f", "judge low": "+.4f", "judge high": "+.4f",
            "gain under humans": "+.4f", "human low": "+.4f", "human high": "+.4f", "real part": ".3f",
            "places under judge": "+.1f", "places under humans": "+.1f", "most places": "+d", "run": "",
        }  # fmt: skip
        rows = [
            (gain.judge, gain.machine, gain.machine_low, gain.machine_high, gain.human, gain.human_low, gain.human_high,
             gain.real, gain.places_machine, gain.places_human, gain.most_places, gain.most_run)
            for gain in self.gains
        ]  # fmt: skip
        notes = [
            f"the first {self.k} docs of each run reranked by the judge's labels, ties as they were; means over "
            f"{self.runs} runs, {100 * self.level:g} % intervals over {self.topics} topics (bounds "
            "where few differ, else t)",
            "places: how many a run wins if it alone is reranked, on average; most places: the run that wins most "
            "under the judge",
        ]
        return Table.of(columns, rows, caption=f"{self.measure}: what a run gains by asking the judge", notes=notes)


def circularity(
    lists: ListedPairs,
    measure: Measure,
    human: ScoreMatrix,
    machine: tuple[ScoreMatrix, ...],
    *,
    k: int = K,
    level: float = 0.95,
) -> Circularity:
    """Every run's first k docs reranked by each judge, and scored by the judge and by people."""
    pairs = lists.pairs
    gains = []
    for j, judge in enumerate(pairs.judges):
        at = lists.reranked(pairs.machine[j], k)
        by_judge = lists.scores(pairs.machine[j], pairs.scales[j], measure, judge, at)
        by_people = lists.scores(pairs.human, pairs.scale, measure, "human", at)
        gains.append(_gain(judge, machine[j], by_judge, human, by_people, level))
    return Circularity(human.measure, k, len(human.runs), human.shape[1], level, tuple(gains))


def _gain(
    judge: str,
    machine: ScoreMatrix,
    machine_after: ScoreMatrix,
    human: ScoreMatrix,
    human_after: ScoreMatrix,
    level: float,
) -> GainOfGaming:
    limits = gap_limits(human, machine)
    under_judge, judge_ends = _mean_gain(machine, machine_after, level, limits)
    under_people, people_ends = _mean_gain(human, human_after, level, limits)
    places = places_won(machine.averages(), machine_after.averages())
    most = int(np.argmax(places))
    return GainOfGaming(
        judge, under_judge, *judge_ends, under_people, *people_ends,
        places_machine=float(places.mean()),
        places_human=float(places_won(human.averages(), human_after.averages()).mean()),
        most_places=int(places[most]),
        most_run=machine.runs[most],
    )  # fmt: skip


def _mean_gain(
    before: ScoreMatrix, after: ScoreMatrix, level: float, limits: Limits
) -> tuple[float, tuple[float, float]]:
    """The mean gain over the runs, and its interval over the topics."""
    of_topic = differences(after.values, before.values).mean(axis=0)
    low, high = mean_ends(of_topic, level, limits)
    return float(of_topic.mean()), (float(low[0]), float(high[0]))


def places_won(before: Floats, after: Floats) -> Floats:
    """How many places each run would win if its mean alone were the one after; the others stay.

    >>> places_won(np.array([0.3, 0.2, 0.1]), np.array([0.3, 0.2, 0.25])).tolist()
    [0, 0, 1]
    """
    means = settled(np.concatenate([before, after]))
    old = means[: len(before)]
    new = means[len(before) :]
    above_before = (old[None, :] > old[:, None]).sum(axis=1)
    is_other = ~np.eye(len(old), dtype=bool)
    above_after = ((old[None, :] > new[:, None]) & is_other).sum(axis=1)
    return np.asarray(above_before - above_after)
