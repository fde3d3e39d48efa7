"""What to do next, when topics are judged in steps? A planner that stops on power and never on significance.

An Experiment fixes the difference worth finding before the first topic; every look at the scores so far updates σ and
says how many more topics to judge, until power is reached and the one significance test may be made. Kept in a file
between looks (Webber 2010, §5.3.3 to 5.3.4). The price of looking is simulated in `stopping.py`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.io.files import read_bytes, write_whole
from assay.plan.powers import paired
from assay.stats.effect import checked_rows
from assay.stats.t_power import TTest, between, detectable_effect, positive, topics_needed, whole
from assay.stats.two_runs import Comparison, compare_two


@dataclass(frozen=True)
class Look:
    """One look at the scores so far: topics, sd of the differences, and the difference that is detectable with them."""

    topics: int
    sigma: float
    detectable: float


@dataclass(frozen=True)
class Experiment(Result):
    """What was fixed before the first topic, and every look since.

    `sigma` is the best guess, not a cautious one, from experience or a trial whose topics may be used again; None
    where there is none: then `minimum` topics are judged first. `step` is the number of topics added between looks;
    None adds as many as the σ seen so far asks for, which keeps the looks few.

    >>> Experiment(delta=0.05, sigma=0.13).initial
    56
    """

    unit = "topic"

    delta: float
    sigma: float | None = None
    power: float = 0.8
    test: TTest = field(default_factory=TTest)
    minimum: int = 30
    step: int | None = None
    looks: tuple[Look, ...] = ()

    def __post_init__(self) -> None:
        paired(self.test)
        positive("delta", self.delta)
        between("power", self.power)
        if self.sigma is not None:
            positive("sigma", self.sigma)
        if self.minimum < 2:
            raise UsageError(f"minimum: a standard deviation needs at least two topics (got {self.minimum})")
        if self.step is not None and self.step < 1:
            raise UsageError(f"step: at least one topic is added between looks (got {self.step})")

    @property
    def initial(self) -> int:
        """Topics to judge before the first look."""
        if self.sigma is None:
            return self.minimum
        return max(self.minimum, self._topics(self.sigma))

    @property
    def reached(self) -> bool:
        """Whether power was reached at the last look."""
        return bool(self.looks) and self.looks[-1].detectable <= self.delta

    @property
    def wanted(self) -> int:
        """Topics there should be before the next look, or now if power is reached."""
        if not self.looks:
            return self.initial
        last = self.looks[-1]
        if self.reached:
            return last.topics
        if self.step:
            return last.topics + self.step
        return max(last.topics + 1, self._topics(last.sigma))

    def _topics(self, sigma: float) -> int:
        """The topics that δ takes if this is σ."""
        effect = self.delta / sigma
        topics = topics_needed(effect, power=self.power, test=self.test)
        return whole(topics)

    def look(self, differences: npt.ArrayLike) -> Experiment:
        """The experiment after one more look at the differences per topic so far.

        The same topics again are the same look; fewer topics than at the last look are an error, and so are topics
        after power was reached: the test was due then. Below the initial number of topics nothing is looked at.
        """
        so_far = np.asarray(differences, dtype=np.float64)
        topics = len(so_far)
        last = self.looks[-1].topics if self.looks else 0
        if topics < last:
            raise DataError(f"{topics} topics, but the last look had {last}; give all scores so far")
        if self.reached and topics > last:
            raise DataError(f"power was reached with {last} topics; test on those, {topics - last} more came too late")
        least = self.minimum if self.looks else self.initial
        if topics == last or topics < least:
            return self
        sigma = float(so_far.std(ddof=1))
        effect = detectable_effect(topics, power=self.power, test=self.test)
        look = Look(topics, sigma, sigma * effect)
        return replace(self, looks=(*self.looks, look))

    def advice(self, topics: int) -> str:
        """What to do next, in one sentence, with `topics` scored so far."""
        if self.reached:
            return f"Power is reached: judge no more topics, test now on these {topics}, and report the looks."
        missing = self.wanted - topics
        return f"Judge {missing} more topics (to {self.wanted}), score both runs, and look again. Do not test yet."

    def table(self) -> Table:
        """One row per look."""
        rows = []
        for number, look in enumerate(self.looks, 1):
            reached = look.detectable <= self.delta
            rows.append((number, look.topics, look.sigma, look.detectable, reached))
        return Table.of(
            {"look": "d", "topics": "d", "σ": ".4f", "detectable δ": ".4f", "power reached": ""},
            rows,
            caption="Looks at the scores so far",
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        guess = "no σ was guessed"
        if self.sigma is not None:
            guess = f"σ was guessed as {self.sigma:g}"
        fixed = f"δ = {self.delta:g} and power {self.power:g} were fixed at the start, {guess}"
        looks = f"{self.initial} topics at first, looks so far: {len(self.looks)}"
        return [
            f"{fixed}; {looks}; {self.test.words()}.",
            "Stopping on power makes p slightly too small (by about a tenth): say so, even after a single look.",
        ]


@dataclass(frozen=True)
class Step(Result):
    """An experiment after its latest look, what to do next, and the one test if it is due."""

    unit = "topic"

    experiment: Experiment
    topics: int
    advice: str
    comparison: Comparison | None

    def table(self) -> Table:
        """The looks, with the advice first among the notes, and the verdict of the one test if it is due."""
        table = self.experiment.table()
        notes = [self.advice]
        if self.comparison is not None:  # the plan fixed the number of topics: no verdict asks for more
            notes.append(self.comparison.evidence.sentence())
        notes += table.notes
        return replace(table, notes=tuple(notes))

    def tables(self) -> list[Table]:
        """The looks, and the one test if it is due."""
        tables = [self.table()]
        if self.comparison is not None:
            tables.append(self.comparison.table())
        return tables

    def record(self) -> dict[str, Any]:
        """The advice, and the verdict of the one test or None, and the looks."""
        verdict = None
        if self.comparison is not None:
            verdict = self.comparison.evidence.sentence()
        step = {"advice": self.advice, "verdict": verdict, "topics": self.topics}
        return step | super().record()


def next_step(experiment: Experiment, scores: ScoreMatrix | None = None) -> Step:
    """The hybrid workflow: look at the scores of the two runs so far, say what to do, and test once power is reached.

    `scores` has the two runs under comparison, better one expected first; None before the first topic.
    Webber 2010, §5.3.4.

    >>> next_step(Experiment(delta=0.05, sigma=0.13)).advice
    'Judge 56 more topics (to 56), score both runs, and look again. Do not test yet.'
    """
    if scores is None:
        advice = experiment.advice(0)
        return Step(experiment, 0, advice, None)
    if len(scores.runs) != 2:
        raise DataError(f"{scores.measure}: {len(scores.runs)} runs; a planned experiment compares two, name them")
    needs_means(scores, "the plan of an experiment")
    values = checked_rows(scores.values, least=1)
    topics = len(scores.topics)
    after = experiment.look(values[0] - values[1])
    comparison = None
    if after.reached:
        comparison = _the_test(after.test, scores)
    return Step(
        experiment=after,
        topics=topics,
        advice=after.advice(topics),
        comparison=comparison,
    )


def _the_test(test: TTest, scores: ScoreMatrix) -> Comparison:
    """The one test of the experiment, as it was planned: its sides, and intervals of level 1 − α."""
    alternative = "two-sided" if test.sides == 2 else "greater"
    first, second = scores.runs
    return compare_two(
        *scores.values,
        names=(first, second),
        alternative=alternative,
        level=1 - test.alpha,
    )


def write_experiment(path: str | Path, experiment: Experiment) -> None:
    """The experiment as JSON, so that the next look knows of the earlier ones."""
    record = asdict(experiment)
    text = json.dumps(record, indent=2, ensure_ascii=False)
    write_whole(path, text + "\n", again=True)


def read_experiment(path: str | Path) -> Experiment:
    """An experiment from its file."""
    try:
        record: Any = json.loads(read_bytes(path))
        looks = [Look(**look) for look in record.pop("looks", [])]
        test = TTest(**record.pop("test", {}))
        return Experiment(**record, test=test, looks=tuple(looks))
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not the file of a planned experiment ({error}); start a new one") from None
