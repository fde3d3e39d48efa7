"""What would people score these runs, if they judged few topics and a machine judged many more?

Where the flow stands: human topics, machine topics → scores under both → **estimates with intervals that hold**.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import AssayError, DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.io.column_names import Named
from assay.judges.labelled_pairs import Labelled, Scales, labelled
from assay.judges.listed import listed, one_measure
from assay.judges.topic_estimators import DEFAULT, Estimated, estimated
from assay.measures import Measure, parse
from assay.scoring import Policy
from assay.stats.limits import possible_scores
from assay.stats.multiple import corrected
from assay.stats.pair_tests import pairs_with

UNLIKE = 2.0
"""Human topics and others are unlike if a judge labelled this many times as many docs on the ones as on the others."""
ASSUMES = "assumes that the human topics are drawn from the same topics as the others"


@dataclass(frozen=True, eq=False)
class TopicEstimates(Result):
    """Mean scores of runs, or differences from a baseline, as people would give them, with intervals.

    `human_only` and `machine_only` stand beside: what the human topics alone say, and what the machine alone would.
    """

    unit = "topic"

    measure: str
    judge: str
    method: str
    runs: tuple[str, ...]
    baseline: str | None
    found: Estimated
    human_only: Estimated
    machine_only: Floats
    level: float
    normal: bool
    human_topics: tuple[str, ...]
    machine_topics: tuple[str, ...]
    checks: tuple[str, ...]

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Low and high ends of the estimates."""
        return self.found.interval(self.level, normal=self.normal)

    def worth(self) -> Floats:
        """How many human-only topics one human topic is worth with this judge: the ratio of the variances."""
        error = self.found.error
        alone = self.human_only.error
        return np.divide(alone**2, error**2, out=np.ones(len(error)), where=error > 0)

    def table(self) -> Table:
        """One row for each run: the estimate with its interval, beside those of people alone and the machine alone."""
        low, high = self.interval
        alone_low, alone_high = self.human_only.interval(self.level, normal=self.normal)
        sign = "+" if self.baseline is not None else ""
        number = f"{sign}.4f"
        columns = {
            "run": "", "estimate": number, "low": number, "high": number, "width": ".4f", "human only": number,
            "human low": number, "human high": number, "human width": ".4f", "machine only": number, "λ": ".3f",
        }  # fmt: skip
        if self.baseline is not None:
            columns |= {"p": "p", "p corrected": "p"}
        p = self.found.p(normal=self.normal)
        known = np.isfinite(p)
        after = p.copy()
        after[known] = corrected(p[known], "holm")
        rows = []
        for i in np.argsort(-self.found.value, kind="stable").tolist():
            row: tuple[Any, ...] = (
                self.runs[i], self.found.value[i], low[i], high[i], high[i] - low[i], self.human_only.value[i],
                alone_low[i], alone_high[i], alone_high[i] - alone_low[i], self.machine_only[i], self.found.weight[i],
            )  # fmt: skip
            rows.append((*row, p[i], after[i]) if self.baseline is not None else row)
        what = "differences from " + self.baseline if self.baseline is not None else "means"
        caption = f"{self.measure}: {what} as people would score, with the labels of {self.judge}"
        return Table.of(columns, rows, caption=caption, notes=self._notes())

    def _notes(self) -> list[str]:
        law = "normal" if self.normal else f"t with {self.found.degrees} degrees of freedom"
        notes = [
            f"{self.method} λ; {len(self.human_topics)} topics with human and machine labels, "
            f"{len(self.machine_topics)} with machine labels only",
            f"{100 * self.level:g} % intervals, {law}; one human topic is worth {np.median(self.worth()):.2f} "
            "human-only topics (median over the rows)",
            "machine only: the mean under the machine's labels, which no interval makes right",
            ASSUMES,
        ]
        if self.baseline is not None:
            notes.append(f"p of no difference, corrected by holm over {len(self.runs)} tests")
        alone = self.human_only.remarks()
        return [*notes, *self.found.remarks(), *(f"human only, {said}" for said in alone), *self.checks]

    def record(self) -> dict[str, Any]:
        """The rows, with the method and the numbers of topics."""
        facts = {
            "judge": self.judge, "measure": self.measure, "method": self.method, "level": self.level,
            "human_topics": len(self.human_topics), "machine_topics": len(self.machine_topics),
        }  # fmt: skip
        return {**super().record(), **facts}


def estimate(
    human: Any,
    machine: Any,
    runs: Any,
    *,
    measure: str | Measure = "nDCG@10",
    judge: str | None = None,
    baseline: str | None = None,
    method: str = DEFAULT,
    level: float = 0.95,
    normal: bool = False,
    scale: Scales = None,
    policy: Policy | None = None,
    columns: Named = None,
    jobs: int = 1,
) -> TopicEstimates:
    """Mean scores as people would give them, from few topics that people judged and more that a machine judged.

    human: judgments of n topics. machine: labels of these and of N other topics. With a baseline: differences from it.
    judge: which one, where the labels are of several. method: one of ESTIMATORS; the default, cross-fitted, is the one
    whose intervals cover on real topics. normal: the formulas for very
    many topics, with quantiles of the normal distribution instead of t.
    The human topics must be drawn as the others are: at random from the same ones.

    >>> human = {str(t): {"a": t % 2, "b": 1} for t in range(5)}
    >>> machine = {str(t): {"a": {"gpt": (t + 1) % 2}, "b": {"gpt": 1}} for t in range(12)}
    >>> runs = {"r": {str(t): {"a": 2.0, "b": 1.0} for t in range(12)}}
    >>> found = estimate(human, machine, runs, measure="P@1")
    >>> len(found.human_topics), len(found.machine_topics), found.human_only.value.tolist()
    (5, 7, [0.4])
    """
    pairs = labelled(human, machine, scale=scale, columns=columns)
    one = pairs.of_judges([chosen_judge(pairs, judge)])
    lists = listed(runs, one, policy=policy, columns=columns, jobs=jobs)
    by_people, by_machine = split_topics(one)
    wanted = one_measure(measure)
    of_people = lists.human(wanted).values[:, by_people]
    of_machine = lists.machine(wanted, 0)
    rows = contrasted(lists.runs, baseline)
    names = lists.runs if baseline is None else tuple(lists.runs[i] for i in rows[0].tolist())
    y, f, u = (
        contrasts(values, rows, baseline)
        for values in (of_people, of_machine.values[:, by_people], of_machine.values[:, by_machine])
    )
    everything = np.concatenate([f, u], axis=1)
    limits = limits_of(lists.human(wanted), of_machine, baseline)
    return TopicEstimates(
        measure=str(wanted),
        judge=one.judges[0],
        method=method,
        runs=names,
        baseline=baseline,
        found=estimated(y, f, u, method, large=normal, limits=limits),
        human_only=estimated(y, f, u, "classical", large=normal, limits=limits),
        machine_only=everything.mean(axis=1),
        level=level,
        normal=normal,
        human_topics=tuple(one.topics[t] for t in by_people.tolist()),
        machine_topics=tuple(one.topics[t] for t in by_machine.tolist()),
        checks=tuple(_checks(one, of_machine, by_people, by_machine)),
    )


def chosen_judge(pairs: Labelled, judge: str | None) -> str:
    """The judge that is asked for, or the only one."""
    if judge is None and len(pairs.judges) > 1:
        raise UsageError(f"the labels are of {len(pairs.judges)} judges ({', '.join(pairs.judges)}); name one")
    if judge is not None and judge not in pairs.judges:
        raise UsageError(f"no judge {judge!r}{did_you_mean(judge, pairs.judges)}")
    return judge or pairs.judges[0]


def split_topics(pairs: Labelled) -> tuple[Ints, Ints]:
    """The topics with human and machine labels, and those with machine labels only; an error without two of each."""
    topics = len(pairs.topics)
    human = np.bincount(pairs.topic[pairs.by_people], minlength=topics) > 0
    machine = np.bincount(pairs.topic[pairs.by_machine.any(axis=0)], minlength=topics) > 0
    both = np.flatnonzero(human & machine)
    only_machine = np.flatnonzero(machine & ~human)
    if len(both) < 2:
        raise DataError(f"{len(both)} topics have human and machine labels; an estimate over topics needs at least two")
    if len(only_machine) < 2:
        raise DataError(
            f"{len(only_machine)} topics have machine labels only; combining needs at least two: people judged all "
            "the topics already, or the machine none but theirs"
        )
    return both, only_machine


def contrasted(runs: tuple[str, ...], baseline: str | None) -> tuple[Ints, Ints]:
    """The places of the runs that are estimated and of what each is compared with: itself without a baseline."""
    if baseline is None:
        every = np.arange(len(runs))
        return every, every
    first, second = pairs_with(runs, baseline)
    if not len(first):
        raise DataError("one run alone cannot be compared with a baseline; give at least two")
    return first, second


def contrasts(values: Floats, rows: tuple[Ints, Ints], baseline: str | None) -> Floats:
    """The scores of each run, or their differences from the baseline."""
    first, second = rows
    return values if baseline is None else values[first] - values[second]


def limits_of(human: ScoreMatrix, machine: ScoreMatrix, baseline: str | None) -> tuple[float, float] | None:
    """The least and largest score that the measure allows, or difference from a baseline; None where there are none.

    A name that is no measure of runs is taken to be a share if all its scores lie between 0 and 1.
    """
    low, high = 0.0, 1.0
    for matrix in (human, machine):
        limits = possible_scores(matrix) or _as_a_share(matrix)
        if limits is None or not np.isfinite(limits).all():
            return None
        low, high = min(low, limits[0]), max(high, limits[1])
    return (low, high) if baseline is None else (low - high, high - low)


def _as_a_share(matrix: ScoreMatrix) -> tuple[float, float] | None:
    """0 and 1 for the scores of an unknown measure between them."""
    try:
        parse(matrix.measure)
    except AssayError:
        inside = bool(((matrix.values >= 0) & (matrix.values <= 1)).all())
        return (0.0, 1.0) if inside else None
    return None


def treated_alike(on_human: Floats, on_others: Floats) -> list[str]:
    """Whether the machine treats human topics and others alike, from its scores (runs × topics) on both."""
    from scipy.stats import ttest_ind

    first = on_human.mean(axis=0)
    second = on_others.mean(axis=0)
    said = f"machine scores average {first.mean():.4f} on the human topics and {second.mean():.4f} on the others"
    varies = first.var() + second.var() > 0
    same = float(first.mean() == second.mean())
    p = float(ttest_ind(first, second, equal_var=False).pvalue) if varies else same
    said += f" (Welch's t test, p = {p:.3f})"
    checks = [said]
    if p < 0.05:
        checks.append("warning: the human topics do not look like the others, so that the intervals need not hold")
    return checks


def _checks(pairs: Labelled, machine: ScoreMatrix, by_people: Ints, by_machine: Ints) -> list[str]:
    """What can be seen of the assumption: whether the machine treats human topics and others alike."""
    checks = treated_alike(machine.values[:, by_people], machine.values[:, by_machine])
    labels = np.bincount(pairs.topic[pairs.by_machine[0]], minlength=len(pairs.topics))
    ratio = labels[by_people].mean() / max(1e-9, labels[by_machine].mean())
    if not 1 / UNLIKE < ratio < UNLIKE:
        checks.append(
            f"warning: the machine labelled {labels[by_people].mean():.0f} docs per human topic and "
            f"{labels[by_machine].mean():.0f} per other topic; label the same pool on both"
        )
    by_any_person = np.unique(pairs.topic[pairs.by_people])
    left_out = len(np.setdiff1d(by_any_person, by_people))
    if left_out:
        checks.append(f"{left_out} human topics without machine labels are left out")
    return checks
