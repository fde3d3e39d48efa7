"""Which run is best, without judgments? The runs ranked by every method and by their combination, with cautions.

Where the flow stands: lists → predictions → combination (→ accuracy, where there are judgments) → **one result**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.keys import key_of
from assay.core.registry import parse_call
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Run
from assay.data.averages import average_title
from assay.data.lists import Lists
from assay.data.scores import ScoreMatrix
from assay.nojudgments.against_truth import Accuracies, Accuracy, accuracy, correlations, level_scores, matched
from assay.nojudgments.basis import comparable
from assay.nojudgments.cautions import cautions, outliers
from assay.nojudgments.combine import combined, combined_means
from assay.nojudgments.difficulty import Difficulty, TopicEase, difficulty, topic_ease
from assay.nojudgments.inject import MIXTURES, injected
from assay.nojudgments.learn import Collection, Lessons, applied, fitted_model
from assay.nojudgments.method_agreement import MethodAgreement, method_agreement
from assay.nojudgments.predictors import METHODS, predictions, short_name
from assay.nojudgments.regressors import MODELS
from assay.nojudgments.trained import TrainedModel
from assay.rankings import settled

LEFT_OUT = ("wu-crestani-v4",)
"""Methods that the combination leaves out unless they are all there is: too weak everywhere (Roitero 2020, §7.5.2)."""

NAMES_OF_LEVELS = {"runs": "mean {}", "topics": "mean {} of topics", "cells": "{} of runs on topics"}
"""What is predicted at each level."""

FEW = 6
"""At most this many methods have a column each in a table for people; for more it shows the spread of their ranks."""


@dataclass(frozen=True, eq=False)
class Combination:
    """What the methods say together: by topic, and as one score per run."""

    name: str
    by_topic: ScoreMatrix
    """The mean of the scaled predictions (of one method its own scores), or what was learnt; with the judged topics if
    there are any."""
    fused: tuple[ScoreMatrix, ...] = ()
    """The predictions that are fused by their means; none where the means of `by_topic` are the combination."""
    judged: ScoreMatrix | None = None
    """The true scores that took the place of predicted ones."""
    model: TrainedModel | None = None
    """The model that combined the predictions, where one did."""

    def averages(self, topics: Sequence[str] | None = None) -> Floats:
        """One score per run, over all topics or over some."""
        chosen = self.by_topic.topics if topics is None else topics
        if self.fused:
            on_chosen = [prediction.select(topics=chosen) for prediction in self.fused]
            return combined_means(on_chosen, self.name)
        return self.by_topic.select(topics=chosen).averages()


@dataclass(frozen=True, eq=False)
class RunRanking(Result):
    """Predicted scores of the runs by several methods and their combination; more is better everywhere."""

    runs: tuple[str, ...]
    manual: tuple[bool, ...]
    outlying: tuple[bool, ...]
    predictions: tuple[ScoreMatrix, ...]
    combination: Combination
    truth: ScoreMatrix | None
    accuracies: tuple[Accuracy, ...]
    notes: tuple[str, ...]
    remark: str = ""
    """How the runs were chosen, where not all that were given are used."""

    def with_remark(self, remark: str) -> RunRanking:
        """The same ranking, with a remark on its runs in every table."""
        return replace(self, remark=remark, notes=(*self.notes, remark))

    @cached_property
    def combined(self) -> Floats:
        """The score of each run by the combination."""
        return self.combination.averages()

    def kinds(self) -> list[str]:
        """`manual`, `outlying` or nothing, for each run."""
        kinds = []
        for manual, outlying in zip(self.manual, self.outlying, strict=True):
            if manual:
                kinds.append("manual")
            elif outlying:
                kinds.append("outlying")
            else:
                kinds.append("")
        return kinds

    def table(self, *, wide: bool = False) -> Table:
        """One row per run, the best by the combination first: its score, its ranks by the methods, and the truth.

        Up to six methods, or with `wide`, have a column each; else there are the median, the best and the worst rank.
        """
        columns: dict[str, tuple[str, Sequence[object] | Floats | Ints]] = {
            "rank": ("d", places(self.combined)),
            "run": ("", self.runs),
            "kind": ("", self.kinds()),
            "combined": (".4f", self.combined),
        }
        keys = {}
        ranks = np.array([places(p.averages()) for p in self.predictions])
        if len(ranks) <= FEW or wide:
            for prediction, own_ranks in zip(self.predictions, ranks, strict=True):
                heading = short_name(prediction.measure)
                columns[heading] = ("d", own_ranks)
                keys[heading] = key_of(prediction.measure)
        else:
            columns["median rank"] = (".1f", np.median(ranks, axis=0))
            columns["best"] = ("d", ranks.min(axis=0))
            columns["worst"] = ("d", ranks.max(axis=0))
        judged = self.combination.judged
        if judged is not None:
            columns[f"judged {judged.measure}"] = (".4f", judged.averages())
            keys[f"judged {judged.measure}"] = "judged_mean"
        if self.truth is not None:
            columns["true rank"] = ("d", places(self.truth.averages()))
            heading = average_title(self.truth.measure, self.truth.aggregate)
            columns[heading] = (".4f", self.truth.averages())
            keys[heading] = "true_mean"
        formats = {name: format for name, (format, _) in columns.items()}
        values_of_columns = [values for _, values in columns.values()]
        rows = list(zip(*values_of_columns, strict=True))
        best_first = np.argsort(-self.combined, kind="stable")
        how = "with some judged topics" if judged else "without judgments"
        return Table.of(
            formats,
            [rows[i] for i in best_first],
            caption=f"Runs ranked {how}",
            notes=self.notes,
            keys=keys,
        )

    def by_topic(self) -> ScoreMatrix:
        """What the methods say together of every run on every topic."""
        return self.combination.by_topic

    def matrices(self) -> list[ScoreMatrix]:
        """All predicted scores by topic: those of each method, and of their combination where it is not one of them."""
        together = self.by_topic()
        if len(self.combination.fused) > 1:
            together = combined(self.combination.fused, self.combination.name)
        if any(together is prediction for prediction in self.predictions):
            return list(self.predictions)
        return [*self.predictions, together]

    def model(self) -> TrainedModel:
        """The model that combined the predictions; an error where none did."""
        if self.combination.model is None:
            raise UsageError("no model was trained; give earlier collections")
        return self.combination.model

    def true_scores(self) -> ScoreMatrix:
        """The true scores; an error where there are none."""
        if self.truth is None:
            raise DataError("there are no true scores to compare with; give qrels")
        return self.truth

    def accuracy(self, level: str = "runs") -> Accuracies:
        """How well each method and the combination agree with the true scores.

        level: of the `runs` (means over topics), the `topics` (means over runs) or the `cells`, each run on each topic.
        """
        truth = self.true_scores()
        true_scores = level_scores(truth, level)
        own_scores = [level_scores(matched(one, truth)[0], level) for one in self.predictions]
        if level == "runs":
            own_scores.append(self.combination.averages(truth.topics))
        else:
            together, _ = matched(self.by_topic(), truth)
            own_scores.append(level_scores(together, level))
        return Accuracies(
            results=_accuracies(self.predictions, self.combination, truth, level),
            truth=NAMES_OF_LEVELS[level].format(truth.measure),
            signature=truth.signature,
            scores=tuple(own_scores),
            true=true_scores,
            remark=self.remark,
        )

    def agreement(self, level: str = "runs", correlation: str = "pearson") -> MethodAgreement:
        """How far the methods agree with each other, whatever the truth."""
        return method_agreement(self.predictions, level=level, correlation=correlation)

    def difficulty(self, *, geometric: bool = False, by: str = "predicted") -> Difficulty | TopicEase:
        """Which topics are hard by the combination; with true scores also how well that was predicted."""
        if self.truth is None:
            return topic_ease(self.by_topic(), geometric=geometric)
        return difficulty(self.by_topic(), self.truth, geometric=geometric, by=by)


def ranked(
    lists: Lists | Sequence[Run],
    methods: Sequence[str] | None = None,
    *,
    combine: str = "average",
    lessons: Lessons | None = None,
    judged: ScoreMatrix | None = None,
    mix: str = "weighted",
    truth: ScoreMatrix | None = None,
    scale: str = "none",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> RunRanking:
    """Runs ranked by the methods (all by default) and their combination; with true scores also the accuracy of each.

    combine: one of FUSIONS or, with lessons from earlier collections, one of MODELS. judged: true scores of some
    topics, which take the place of the predicted ones in the combination; mix: what those become beside them, one of
    MIXTURES.

    >>> runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in [("a", "xyz"), ("b", "xyw"), ("c", "qrs")]]
    >>> ranked(runs, ["wu-crestani", "aslam-savell"]).combined.tolist()
    [1.0, 1.0, 0.0]
    """
    coded = lists if isinstance(lists, Lists) else comparable(lists)
    every_prediction = predictions(coded, methods, scale=scale, seed=seed, jobs=jobs, progress=progress)
    names = [prediction.measure for prediction in every_prediction]
    _refuse_twice(names)
    names_to_combine = taken(names)
    to_combine = [prediction for prediction in every_prediction if prediction.measure in names_to_combine]
    combination = _combination(to_combine, combine, lessons, seed)
    remarks = []
    if judged is not None:
        combination, remark = _with_judged(combination, judged, mix)
        remarks.append(remark)
    manual = tuple(bool(info.manual) for info in coded.infos)
    outlying = tuple(outliers(coded).tolist())
    real = None
    accuracies: tuple[Accuracy, ...] = ()
    if truth is not None:
        real = _true_scores(every_prediction[0], truth)
        accuracies = _accuracies(every_prediction, combination, real)
    recipe = _recipe(coded, every_prediction, to_combine, combination, seed)
    return RunRanking(
        runs=coded.runs,
        manual=manual,
        outlying=outlying,
        predictions=tuple(every_prediction),
        combination=combination,
        truth=real,
        accuracies=accuracies,
        notes=(recipe, *remarks, *cautions(coded, manual, outlying)),
    )


def _refuse_twice(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"method {name!r} is there twice; name each once")


def _combination(fused: list[ScoreMatrix], combine: str, lessons: Lessons | None, seed: int) -> Combination:
    """The predictions fused, or combined by a model trained on earlier collections."""
    name, _ = parse_call(combine)
    is_model = name in MODELS
    if is_model and lessons is None:
        raise UsageError(f"{combine} learns from earlier collections, and there are none; give them, or take average")
    if lessons is None:
        # One method is as it is: scaling would change how much its scores weigh beside true ones.
        by_topic = fused[0] if len(fused) == 1 else combined(fused, "average")
        return Combination(combine, by_topic, tuple(fused))
    if lessons.saved is not None:
        return _by_model(lessons.saved, fused, lessons.year)
    if not is_model:
        raise UsageError(
            f"earlier collections train a model, and {combine!r} is none; known: {', '.join(MODELS.names())}"
        )
    target = Collection("these runs", lessons.year, tuple(fused))
    model = fitted_model(target, lessons.earlier, combine, nearest=lessons.nearest, seed=seed)
    return _by_model(model, fused, lessons.year)


def _by_model(model: TrainedModel, fused: Sequence[ScoreMatrix], year: int) -> Combination:
    """What a model makes of the predictions."""
    by_topic = applied(model, Collection("these runs", year, tuple(fused)))
    return Combination(model.model, by_topic, model=model)


def _with_judged(combination: Combination, judged: ScoreMatrix, mix: str) -> tuple[Combination, str]:
    """The combination with the true scores of the judged topics in it, and a remark about that."""
    judged_topics = set(judged.topics)
    topics = [topic for topic in combination.by_topic.topics if topic in judged_topics]
    if not topics:
        raise DataError(f"no topic of the runs is judged ({judged.measure}); judge some, or leave the judgments out")
    mixed = injected(combination.by_topic, judged, topics, mix=mix)
    entry = MIXTURES.entry(mix)
    remark = (
        f"True {judged.measure} on {len(topics)} of {len(mixed.topics)} topics, predictions elsewhere, {entry.name}: "
        f"{entry.summary}"
    )
    if entry.name != "weighted":
        remark += (
            " The judged topics alone often rank better than such a mixture; `weighted` hardly ever loses to them."
        )
    true_scores = judged.select(runs=mixed.runs, topics=topics)
    name = f"{combination.name}, {len(topics)} topics judged"
    return Combination(name, mixed, judged=true_scores), remark


def _true_scores(predicted: ScoreMatrix, truth: ScoreMatrix) -> ScoreMatrix:
    """The true scores of the predicted runs, on the topics that both have."""
    _, real = matched(predicted, truth)
    for run in predicted.runs:
        if run not in real.runs:
            raise DataError(f"{truth.measure}: no true scores of run {run!r}; score all runs")
    return real


def _accuracies(
    every_prediction: Sequence[ScoreMatrix], combination: Combination, real: ScoreMatrix, level: str = "runs"
) -> tuple[Accuracy, ...]:
    """The accuracy of each method and of the combination, on the topics with true scores."""
    of_methods = [accuracy(prediction, real, level=level) for prediction in every_prediction]
    name = f"combined ({combination.name})"
    if level != "runs":
        together = accuracy(combination.by_topic, real, level=level)
        return (*of_methods, replace(together, method=name))
    scores = combination.averages(real.topics)
    of_combination = Accuracy(
        method=name,
        level="runs",
        n=len(scores),
        values=correlations(real.averages(), scores),
        delta=None,
    )
    return (*of_methods, of_combination)


def places(scores: Floats) -> Ints:
    """The rank of each score, 1 the highest; equal scores share the best rank.

    >>> places(np.array([0.5, 0.9, 0.5])).tolist()
    [2, 1, 2]
    """
    values = settled(scores)
    higher = values[None, :] > values[:, None]
    return np.asarray(1 + higher.sum(axis=1))


def taken(methods: Sequence[str]) -> list[str]:
    """The methods that the combination takes.

    >>> taken(["emap", "wu-crestani-v4"]), taken(["wu-crestani-v4"])
    (['emap'], ['wu-crestani-v4'])
    """
    strong = []
    for method in methods:
        entry = METHODS.entry(method)
        if entry.name not in LEFT_OUT:
            strong.append(method)
    return strong or list(methods)


def _recipe(
    lists: Lists,
    every_prediction: Sequence[ScoreMatrix],
    combined_ones: Sequence[ScoreMatrix],
    combination: Combination,
    seed: int,
) -> str:
    size = f"{len(lists.runs)} runs, {len(lists.topics)} topics"
    if not combination.judged:
        size += ", no judgments used"
    if combination.fused:
        how = f"{combination.name} of the means"
    else:
        how, _, _ = combination.by_topic.signature.partition("|")
    how += f" of {len(combined_ones)} methods"
    left_out = [one.measure for one in every_prediction if one not in combined_ones]
    if left_out:
        how += f" (without {', '.join(left_out)})"
    return f"{size}; combined: {how}; ranks: by each method alone; seed {seed}"
