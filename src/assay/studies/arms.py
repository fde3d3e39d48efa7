"""What can be tested as a low-cost method? Arms: a collection and a seed → one number per run, more is better.

Where it stands: runs, judgments → case → **arm** → τ with the full judgments in `method_comparison`. What a collection
has coded and scored once serves all subsets of its runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, TypeVar

import numpy as np

from assay.core.arrays import Floats, Ints, places_within
from assay.core.errors import UsageError
from assay.core.registry import Registry, Within
from assay.crowd.aggregation import aggregate
from assay.data import Labels, Qrels, Run
from assay.data.lists import Lists, collected
from assay.data.scores import ScoreMatrix
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import predicted
from assay.nojudgments.reweight import reweighted_emap
from assay.pooling.journal import Judgment
from assay.pooling.judging import Judging
from assay.rankings.stated_preferences import RETRIEVED
from assay.scoring import evaluate

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Case:
    """What both arms of the test work on: runs, all judgments, and for arms that take them the labels of a crowd.

    >>> Case([Run.from_lists("a", {"1": ["x"]})], Qrels.from_dict({"1": {"x": 1}})).labels is None
    True
    """

    runs: Sequence[Run]
    qrels: Qrels
    labels: Labels | None = None
    whole: Case | None = None
    """The case that these runs are a part of: what it has coded and scored is not coded and scored again."""

    def some(self, places: Ints) -> Case:
        """The case of only these runs."""
        return replace(self, runs=[self.runs[place] for place in places], whole=self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.name for run in self.runs)

    def lists(self, depth: int) -> Lists:
        """The lists on the judged topics that two runs or more answer."""
        return self._kept(("lists", depth), lambda: self._selected(depth))

    def _selected(self, depth: int) -> Lists:
        """The rows of these runs in the lists of all runs; coded anew where they answer fewer topics."""
        if self.whole is not None:
            part = self.whole.lists(depth).select(self.names)
            answers = np.count_nonzero(part.sizes, axis=0)
            if answers.min() > 1:
                return part
        return comparable(self.runs, depth=depth, topics=self.qrels.topics)

    def judged_lists(self, depth: int) -> Lists:
        """The lists on all judged topics, with the judgments."""
        if self.whole is not None:
            return self.whole.judged_lists(depth).select(self.names)
        return self._kept(("judged", depth), lambda: collected(self.runs, self.qrels, depth=depth))

    def scores(self, measure: str) -> ScoreMatrix:
        """The scores of the runs with all judgments."""
        if self.whole is not None:
            return self.whole.scores(measure).select(runs=self.names)
        return self._kept(("scores", measure), lambda: evaluate(self.runs, self.qrels, measure)[0])

    def _kept(self, key: tuple[str, object], make: Callable[[], T]) -> T:
        """What was made before under this key, or is made now."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    @cached_property
    def _made(self) -> dict[tuple[str, object], Any]:
        return {}


Arm = Callable[..., Floats]

ARMS: Registry[Arm] = Registry("arm")
"""What can be tested: a Case and a seed → one number per run, more is better."""


@ARMS.register("predict")
def predict(case: Case, seed: int = 0, *, method: str = "emap", depth: Annotated[int, Within(1)] = 100) -> Floats:
    """A method without judgments, by its name in `assay predict`."""
    return predicted(case.lists(depth), method, seed=seed).averages()


@ARMS.register("reweight")
def reweight(
    case: Case,
    seed: int = 0,
    *,
    rounds: Annotated[int, Within(1)] | None = None,
    depth: Annotated[int, Within(1)] = 100,
    score: str = "emap",
    preferences: str = RETRIEVED,
) -> Floats:
    """EMAP after `rounds` judged docs per topic, ⌊ln(number of runs)⌋ by default, with runs reweighted.

    score=ap is AP on the judged docs alone.
    """
    if score not in ("emap", "ap"):
        raise UsageError(f"reweight(score={score}): the score is emap or ap")
    result = reweighted_emap(case.lists(depth), case.qrels, rounds=rounds, depth=depth, preferences=preferences)
    scores = result.expected if score == "emap" else result.judged_only
    return scores.averages()


@ARMS.register("judge")
def judge(
    case: Case,
    seed: int = 0,
    *,
    order: str = "move-to-front",
    judgments: Annotated[int, Within(1)] = 3,
    depth: Annotated[int, Within(1)] = 100,
) -> Floats:
    """AP after that many judgments per topic in a judging order, by its name in `assay pool`."""
    session = Judging(case.judged_lists(depth), order, depth=depth, seed=seed)
    truth = case.qrels.to_dict()
    for _ in range(judgments):
        asked = session.next(len(case.qrels.topics))
        if not asked:
            break
        for topic, doc in asked:
            grade = truth[topic].get(doc, 0)
            session.tell([Judgment(topic, doc, grade)])
    return _means(case.runs, session.qrels(), "AP")


@ARMS.register("topics")
def topics(case: Case, seed: int = 0, *, count: Annotated[int, Within(1)] = 10, measure: str = "AP") -> Floats:
    """A measure on a random subset of that many topics, fully judged."""
    if count < 1:
        raise UsageError(f"topics(count={count}): at least one topic must be judged")
    matrix = case.scores(measure)
    shuffled = np.random.default_rng(seed).permutation(len(matrix.topics))
    drawn = [matrix.topics[place] for place in shuffled[:count]]
    return matrix.select(topics=drawn).averages()


@ARMS.register("crowd")
def crowd(
    case: Case,
    seed: int = 0,
    *,
    aggregation: str = "majority",
    labels: Annotated[int, Within(1)] | None = None,
    measure: str = "AP",
) -> Floats:
    """A measure on the judgments of a crowd, by an aggregation of `assay crowd`; of each doc only some labels."""
    if case.labels is None:
        raise UsageError("the arm crowd needs the labels of a crowd; give them with the collection")
    taken = case.labels if labels is None else _some_labels(case.labels, labels, seed)
    judgments = aggregate(taken, aggregation).qrels()
    return _means(case.runs, judgments, measure)


def _some_labels(labels: Labels, count: int, seed: int) -> Labels:
    """This many labels of each doc, chosen at random."""
    if count < 1:
        raise UsageError(f"crowd(labels={count}): at least one label of each doc is needed")
    item, _ = labels.items()
    shuffled = np.random.default_rng(seed).permutation(len(labels))
    by_item = shuffled[np.argsort(item[shuffled], kind="stable")]
    place = places_within(np.bincount(item))
    chosen = by_item[place < count]
    return labels.select(np.sort(chosen))


def _means(runs: Sequence[Run], qrels: Qrels, measure: str) -> Floats:
    """The score by one measure over all topics, for each run."""
    (matrix,) = evaluate(runs, qrels, measure)
    return matrix.averages()
