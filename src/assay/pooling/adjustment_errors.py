"""How good is an adjusted score? Webber's Algorithm 6.3: pools of random runs, one more run left out and estimated.

Where it stands: lists with judgments → **study of the adjustments** in `adjust`. Docs that nobody judged count as
judged and not relevant, so that unjudged means only: left out of the pool of this trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, generators, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.grades import UNJUDGED
from assay.data.lists import Lists
from assay.pooling.rescoring import check_judged, rescored
from assay.pooling.voters import contributors


class Errors(NamedTuple):
    """Signed errors of one trial (estimate − truth): without common topics, and per number of common topics."""

    raw: float
    systems: float
    sampled: Floats
    unadjusted: Floats
    adjusted: Floats


@dataclass(frozen=True, eq=False)
class Accuracy(Result):
    """Mean absolute errors of the estimators of a run's pooled mean score: arrays widths × numbers of common topics."""

    widths: tuple[int, ...]
    common: tuple[int, ...]
    raw: Floats
    """Unadjusted, per width."""
    systems: Floats
    """Adjusted from systems, per width."""
    systems_bias: Floats
    """Mean signed error of the same."""
    sampled: Floats
    unadjusted: Floats
    adjusted: Floats
    helps: Floats
    """Share of the trials in which the adjusted mean was nearer to the truth than the one without common topics."""
    recipe: str

    def table(self) -> Table:
        """One row per width and estimator, as in Webber's Tables 6.1 to 6.3."""
        no_errors = [None] * len(self.common)
        rows: list[tuple[object, ...]] = []
        for i, width in enumerate(self.widths):
            rows.append((width, "common topics only", None, *self.sampled[i]))
            rows.append((width, "unadjusted", self.raw[i], *self.unadjusted[i]))
            rows.append((width, "adjusted from topics", None, *self.adjusted[i]))
            rows.append((width, "adjusted from systems", self.systems[i], *no_errors))
        formats = {"width": "d", "estimator": ""}
        keys = {}
        for common_topics in (0, *self.common):
            name = str(common_topics)
            formats[name] = ".4f"
            keys[name] = f"error_{common_topics}"
        return Table.of(
            formats,
            rows,
            caption="Mean absolute error by common topics",
            notes=[self.recipe],
            keys=keys,
        )


def adjustment_accuracy(
    lists: Lists,
    measure: str = "tRBP@10",
    *,
    depth: int = 10,
    widths: Sequence[int] = (2, 4, 10),
    common: Sequence[int] = (10,),
    samples: int = 100,
    topic_samples: int = 200,
    unjudged: str = "nonrelevant",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Accuracy:
    """Draw `width` pooled runs and one more, estimate the latter's pooled mean score; the mean absolute errors.

    The pool is the first `depth` docs of the drawn runs. For each number of common topics, `topic_samples` draws of
    them. Unadjusted: true scores on the common topics, unpooled ones elsewhere; common topics only: the mean of the
    true scores there; adjusted: Algorithm 6.2, and for no common topics Algorithm 6.1.
    """
    if not widths or not common or min(*widths, samples, topic_samples, *common) < 1:
        raise UsageError("widths, numbers of common topics and samples are at least 1")
    check_judged(lists)
    if max(widths) >= len(lists.runs):
        raise UsageError(f"a width of {max(widths)} of {len(lists.runs)} runs; one run must remain to be estimated")
    if max(common) > len(lists.topics):
        raise UsageError(f"{max(common)} common topics of {len(lists.topics)}; give fewer")
    trial = _Trial(lists, measure, depth, tuple(common), topic_samples, unjudged)
    width_of_trial = np.repeat(widths, samples).tolist()
    rngs = generators(seed, len(width_of_trial))
    errors = ordered_map(trial, list(zip(width_of_trial, rngs, strict=True)), jobs=jobs, progress=progress)

    # One row per trial becomes widths × samples × …
    by_run = (len(widths), samples)
    by_topics = (*by_run, len(common), topic_samples)
    raw = np.array([error.raw for error in errors]).reshape(by_run)
    systems = np.array([error.systems for error in errors]).reshape(by_run)
    sampled = np.array([error.sampled for error in errors]).reshape(by_topics)
    unadjusted = np.array([error.unadjusted for error in errors]).reshape(by_topics)
    adjusted = np.array([error.adjusted for error in errors]).reshape(by_topics)
    raw_size = np.abs(raw)[:, :, None, None]
    nearer = np.abs(adjusted) < raw_size
    recipe = (
        f"{measure}, pool depth {depth}, {len(lists.runs)} runs, {len(lists.topics)} topics, unjudged {unjudged}; "
        f"{samples} draws of runs × {topic_samples} of topics, seed {seed}"
    )
    return Accuracy(
        widths=tuple(widths),
        common=tuple(common),
        raw=np.abs(raw).mean(axis=1),
        systems=np.abs(systems).mean(axis=1),
        systems_bias=systems.mean(axis=1),
        sampled=np.abs(sampled).mean(axis=(1, 3)),
        unadjusted=np.abs(unadjusted).mean(axis=(1, 3)),
        adjusted=np.abs(adjusted).mean(axis=(1, 3)),
        helps=nearer.mean(axis=(1, 3)),
        recipe=recipe,
    )


@dataclass(frozen=True, eq=False)
class _Trial:
    """What one process needs for one draw of runs."""

    lists: Lists
    measure: str
    depth: int
    common: tuple[int, ...]
    topic_samples: int
    unjudged: str

    def __call__(self, todo: tuple[int, np.random.Generator]) -> Errors:
        width, rng = todo
        numbers = rng.choice(len(self.lists.runs), size=width + 1, replace=False)
        names = [self.lists.runs[number] for number in numbers]
        drawn = self.lists.select(names)
        _, has = contributors(drawn, self.depth)
        holders = np.asarray(has.sum(axis=0))
        # The last run drawn is the new one: truth with all pooled, score with only the others pooled.
        true = self._score(drawn, holders > 0, [width])[0]
        unpooled = self._score(drawn, holders > has[-1], [width])[0]
        bias = true - unpooled
        # Each pooled run is left out in turn while the new one is in, so that the width stays.
        judged = np.asarray(has[:-1].any(axis=0))
        pooled = self._score(drawn, judged, range(width)).mean(axis=1)
        left_out = np.empty(width)
        for s in range(width):
            others_have = holders > has[s]
            left_out[s] = self._score(drawn, judged & others_have, [s])[0].mean()
        estimate = unpooled.mean() + np.mean(pooled - left_out)
        sampled, unadjusted, adjusted = self._by_topics(true, bias, rng)
        return Errors(
            raw=-float(bias.mean()),
            systems=float(estimate - true.mean()),
            sampled=sampled,
            unadjusted=unadjusted,
            adjusted=adjusted,
        )

    def _score(self, drawn: Lists, judged: Bools, runs: Sequence[int]) -> Floats:
        given = np.maximum(drawn.grades, 0)
        grades = np.where(judged, given, UNJUDGED)
        return rescored(drawn, self.measure, grades=grades, runs=list(runs), unjudged=self.unjudged)

    def _by_topics(self, true: Floats, bias: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Errors with n common topics: n × topic samples each."""
        topics = len(true)
        in_order = np.tile(np.arange(topics), (self.topic_samples, 1))
        shuffled = rng.permuted(in_order, axis=1)
        sampled, unadjusted, adjusted = np.empty((3, len(self.common), self.topic_samples))
        for i, n in enumerate(self.common):
            common = shuffled[:, :n]
            mean_there = true[common].mean(axis=1)
            bias_there = bias[common].sum(axis=1)
            bias_elsewhere = bias.sum() - bias_there
            sampled[i] = mean_there - true.mean()
            unadjusted[i] = -bias_elsewhere / topics
            adjusted[i] = bias_there / n - bias.mean()
        return sampled, unadjusted, adjusted
