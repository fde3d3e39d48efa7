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
    """Share of the trials in which the adjusted mean was nearer to the truth than the unadjusted one."""
    recipe: str

    def table(self) -> Table:
        """One row per width and estimator, as in Webber's Tables 6.1 to 6.3."""
        rows: list[tuple[object, ...]] = []
        for i, width in enumerate(self.widths):
            rows.append((width, "common topics only", None, *self.sampled[i]))
            rows.append((width, "unadjusted", self.raw[i], *self.unadjusted[i]))
            rows.append((width, "adjusted from topics", None, *self.adjusted[i]))
            rows.append((width, "adjusted from systems", self.systems[i], *[None] * len(self.common)))
        formats = {"width": "d", "estimator": "", "0": ".4f"} | {str(n): ".4f" for n in self.common}
        return Table.of(formats, rows, caption="Mean absolute error by common topics", notes=[self.recipe])


def adjustment_accuracy(
    lists: Lists,
    measure: str = "tRBP@10",
    *,
    depth: int = 10,
    widths: Sequence[int] = (2, 4, 10, 20, 40),
    common: Sequence[int] = (10, 20),
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
        raise UsageError(f"{max(common)} common topics of {len(lists.topics)}; there are not so many")
    task = _Trial(lists, measure, depth, tuple(common), topic_samples, unjudged)
    todo = [
        (width, rng)
        for width, rng in zip(np.repeat(widths, samples), generators(seed, len(widths) * samples), strict=True)
    ]
    errors = ordered_map(task, todo, jobs=jobs, progress=progress)
    shape = (len(widths), samples)
    raw, systems = (np.array([e[i] for e in errors]).reshape(shape) for i in (0, 1))
    tables = [np.array([e[i] for e in errors]).reshape(*shape, len(common), topic_samples) for i in (2, 3, 4)]
    sampled, plain, better = (np.abs(t).mean(axis=(1, 3)) for t in tables)
    recipe = (
        f"{measure}, pool depth {depth}, {len(lists.runs)} runs, {len(lists.topics)} topics, unjudged {unjudged}; "
        f"{samples} draws of runs × {topic_samples} of topics, seed {seed}"
    )
    return Accuracy(
        tuple(widths), tuple(common), np.abs(raw).mean(axis=1), np.abs(systems).mean(axis=1), systems.mean(axis=1),
        sampled, plain, better, (np.abs(tables[2]) < np.abs(raw)[:, :, None, None]).mean(axis=(1, 3)), recipe,
    )  # fmt: skip


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
        chosen = rng.choice(len(self.lists.runs), size=width + 1, replace=False)
        drawn = self.lists.select([self.lists.runs[s] for s in chosen])
        _, has = contributors(drawn, self.depth)
        count = np.asarray(has.sum(axis=0))
        # The last run drawn is the new one: truth with all pooled, score with only the others pooled.
        true = self._score(drawn, count > 0, range(width + 1))
        new = self._score(drawn, count > has[-1], [width])[0]
        bias = true[-1] - new
        # Each pooled run is left out in turn while the new one is in, so that the width stays.
        judged = np.asarray(has[:-1].any(axis=0))
        left = [self._score(drawn, judged & (count > has[s]), [s])[0].mean() for s in range(width)]
        whole = self._score(drawn, judged, range(width)).mean(axis=1)
        gap = float(new.mean() + np.mean(whole - left) - true[-1].mean())
        return Errors(-float(bias.mean()), gap, *self._by_topics(true[-1], bias, rng))

    def _score(self, drawn: Lists, judged: Bools, runs: Sequence[int]) -> Floats:
        given = np.maximum(drawn.grades, 0)
        grades = np.where(judged, given, UNJUDGED)
        return rescored(drawn, self.measure, grades=grades, runs=list(runs), unjudged=self.unjudged)

    def _by_topics(self, true: Floats, bias: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Errors with n common topics: n × topic samples each."""
        topics = len(true)
        order = rng.permuted(np.tile(np.arange(topics), (self.topic_samples, 1)), axis=1)
        sums = [(true[order[:, :n]].mean(axis=1), bias[order[:, :n]].sum(axis=1)) for n in self.common]
        sampled = np.array([mean - true.mean() for mean, _ in sums])
        unadjusted = np.array([-(bias.sum() - known) / topics for _, known in sums])
        adjusted = np.array([known / n - bias.mean() for n, (_, known) in zip(self.common, sums, strict=True)])
        return sampled, unadjusted, adjusted
