"""Which topics should be judged, when not all can be? Chosen from earlier runs or from predicted scores.

The practical end of the matter: a set of topics, and what it may be expected to be worth on runs that nobody has seen,
measured by holding out runs. Where that is no better than random topics, the result says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.engine import Progress, silent
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.extremes import sample
from assay.topics.holdout import QUICK, HoldoutResult, hold_out
from assay.topics.problem import problem
from assay.topics.search import finished, search_subsets


@dataclass(frozen=True, eq=False)
class ChoiceResult(Result):
    """Topics to judge: their value on the runs they were chosen on, and what to expect on others.

    `expected` and `spread` are mean and standard deviation over the splits of the hold-out, `random` what as many
    random topics reach there. `actual` is the value on scores given for checking, if any.
    """

    topics: tuple[str, ...]
    own: float
    expected: float
    spread: float
    random: float
    actual: float | None
    actual_random: float | None
    criterion: str
    test: HoldoutResult

    @property
    def worthwhile(self) -> bool:
        """Whether the hold-out puts the choice ahead of random topics."""
        good = self.test.problem.goodness(np.array([self.expected, self.random]))
        return bool(good[0] > good[1])

    def table(self) -> Table:
        """What the choice is worth, the honest number first."""
        rows: list[tuple[str, float | None]] = [
            ("expected on new runs", self.expected),
            ("  standard deviation over splits", self.spread),
            ("  as many random topics", self.random),
            ("on the runs it was chosen on", self.own),
        ]
        if self.actual is not None:
            rows += [("on the scores given for checking", self.actual), ("  as many random topics", self.actual_random)]
        verdict = "ahead of random topics" if self.worthwhile else "no better than random topics: choose at random"
        notes = [f"judge: {' '.join(self.topics)}", f"on new runs {verdict}", self.test.note()]
        caption = f"{len(self.topics)} of {self.test.problem.n} topics to judge"
        keys = {"value": "what", self.criterion: "value"}
        return Table.of({"value": "", self.criterion: ".4f"}, rows, caption=caption, notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The table, the topics, and its numbers under names that do not change with the data."""
        numbers = {"expected": self.expected, "random": self.random, "own": self.own, "actual": self.actual}
        return {**super().record(), "topics": list(self.topics), "worthwhile": self.worthwhile, **numbers}


def choose_topics(
    history: ScoreMatrix,
    *,
    count: int,
    criterion: str = "tau",
    scale: str = "plain",
    truth: ScoreMatrix | None = None,
    groups: Mapping[str, str] | None = None,
    splits: int = 5,
    search: str = "auto",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> ChoiceResult:
    """The topics to judge, chosen on earlier runs over the same topics, or on a matrix of predicted scores.

    The value on `history` itself flatters the choice; `expected` comes from choosing on half of its runs and testing on
    the other half. With predicted scores even that assumes that predictions rank runs as judgments would: give `truth`,
    scores by judgments of some collection where both exist, to see what the choice is really worth.

    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> choice = choose_topics(m, count=2, splits=2)
    >>> len(choice.topics), choice.own
    (2, 1.0)
    """
    test = hold_out(
        history,
        criterion=criterion,
        scale=scale,
        cardinalities=(count,),
        splits=splits,
        groups=groups,
        search=QUICK,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    ready = problem(history, criterion=criterion, scale=scale)
    result = finished(search_subsets(ready, search=search, sides=("best",), cardinalities=(count,), seed=seed))
    best = result.subsets("best", c=count)[0]
    actual = actual_random = None
    if truth is not None:
        checked = problem(truth, criterion=criterion, scale=scale)
        actual = checked.of_topics(best.topics)
        actual_random = float(sample(checked, repetitions=1000, cardinalities=(count,), seed=seed).average[0])
    spread = float(test.best[:, 0].std(ddof=1)) if splits > 1 else 0.0
    return ChoiceResult(
        topics=best.topics,
        own=best.value,
        expected=float(test.best[:, 0].mean()),
        spread=spread,
        random=float(test.average[:, 0].mean()),
        actual=actual,
        actual_random=actual_random,
        criterion=ready.title,
        test=test,
    )
