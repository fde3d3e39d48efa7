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
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import averages_of
from assay.data.grades import UNJUDGED
from assay.data.lists import Lists
from assay.data.tested_means import refuse_other_averages
from assay.measures import parse
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
    pooled: Sequence[str] | None = None,
    new: Sequence[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Accuracy:
    """Draw `width` pooled runs and one more, estimate the latter's pooled mean score; the mean absolute errors.

    The pool is the first `depth` docs of the drawn runs. For each number of common topics, `topic_samples` draws of
    them. Unadjusted: true scores on the common topics, unpooled ones elsewhere; common topics only: the mean of the
    true scores there; adjusted: Algorithm 6.2, and for no common topics Algorithm 6.1.

    pooled, new: names of the runs that pools are drawn from and of those that the estimated run is drawn from, by
    default all for both. Manual runs against pools of automatic ones show what adjusting is worth for a run that is
    unlike the pooled ones (Webber 2010, Tables 6.1 right, 6.4 and 6.5).
    """
    refuse_other_averages(measure, parse(measure).aggregate, "an adjustment")
    if not widths or not common or min(*widths, samples, topic_samples, *common) < 1:
        raise UsageError("widths, numbers of common topics and samples are at least 1")
    check_judged(lists)
    if max(common) > len(lists.topics):
        raise UsageError(f"{max(common)} common topics of {len(lists.topics)}; give fewer")
    draw = _draw_of(lists, widths, pooled, new)
    trial = _Trial(lists, draw, measure, depth, tuple(common), topic_samples, unjudged)
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
        f"{measure}, pool depth {depth}, {draw}, {len(lists.topics)} topics, unjudged {unjudged}; "
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


@dataclass(frozen=True)
class _Draw:
    """Places of the runs that may be pooled and of those that may be estimated; None where any run may be either."""

    runs: int
    pooled: tuple[int, ...] | None = None
    new: tuple[int, ...] | None = None

    def __str__(self) -> str:
        if self.pooled is None or self.new is None:
            return f"{self.runs} runs"
        return f"{len(self.new)} new runs against pools of {len(self.pooled)}"

    def __call__(self, width: int, rng: np.random.Generator) -> list[int]:
        """Places of `width` runs for the pool and, last, of the run to be estimated."""
        if self.pooled is None or self.new is None:
            return [int(place) for place in rng.choice(self.runs, size=width + 1, replace=False)]
        estimated = int(rng.choice(self.new))
        others = [place for place in self.pooled if place != estimated]
        in_pool = rng.choice(others, size=width, replace=False)
        return [*in_pool.tolist(), estimated]


def _draw_of(lists: Lists, widths: Sequence[int], pooled: Sequence[str] | None, new: Sequence[str] | None) -> _Draw:
    """How runs are drawn; an error where a pool of the largest width would leave none to estimate."""
    draw = _Draw(len(lists.runs))
    candidates = len(lists.runs)
    if pooled is not None or new is not None:
        pooled_places = _places(lists, pooled)
        new_places = _places(lists, new)
        draw = _Draw(len(lists.runs), pooled_places, new_places)
        # A run that may be either is never in the pool of its own trial.
        both = set(pooled_places) & set(new_places)
        candidates = len(pooled_places) + (0 if both else 1)
    if max(widths) >= candidates:
        raise UsageError(f"a width of {max(widths)} of {candidates} runs; one run must remain to be estimated")
    return draw


def _places(lists: Lists, names: Sequence[str] | None) -> tuple[int, ...]:
    """Places of the runs of these names; of all runs without names."""
    if names is None:
        return tuple(range(len(lists.runs)))
    for name in names:
        if name not in lists.runs:
            raise UsageError(f"no run {name!r}{did_you_mean(name, lists.runs)}")
    if not names:
        raise UsageError("no run is named; name at least one, or leave the names out")
    return tuple(lists.runs.index(name) for name in names)


def best_runs(lists: Lists, measure: str, best: int, *, among: Sequence[str] | None = None) -> list[str]:
    """The names of the best runs by mean score, of all or among these; asking for more than there are is an error."""
    places = list(_places(lists, among))
    if best > len(places):
        raise UsageError(f"the {best} best of {len(places)} runs; ask for fewer")
    averages = averages_of(rescored(lists, measure, runs=places), parse(measure).aggregate)
    order = np.argsort(-averages, kind="stable")[:best]
    return [lists.runs[places[i]] for i in order]


@dataclass(frozen=True, eq=False)
class UnpooledBias(Result):
    """Signed errors of the mean score of a run outside the pool (unpooled − pooled): widths × draws of runs."""

    measure: str
    widths: tuple[int, ...]
    errors: dict[str, Floats]
    """By how unjudged docs count."""
    recipe: str

    def table(self) -> Table:
        """One row per width and treatment of unjudged docs: mean and quartiles, as in Webber's Fig. 6.2."""
        rows = []
        for i, width in enumerate(self.widths):
            for unjudged, errors in self.errors.items():
                quartiles = np.quantile(errors[i], [0.25, 0.5, 0.75])
                rows.append((width, unjudged, errors[i].mean(), *quartiles, np.abs(errors[i]).mean()))
        formats = {"width": "d", "unjudged": ""}
        formats |= dict.fromkeys(("bias", "first quartile", "median", "third quartile"), "+.4f")
        formats["mean error"] = ".4f"
        note = "bias: mean of unpooled − pooled mean score; below 0 the pool is unfair to the run"
        caption = f"{self.measure} of a run outside the pool"
        return Table.of(formats, rows, caption=caption, notes=[note, self.recipe])


def unpooled_bias(
    lists: Lists,
    measure: str = "tRBP@10",
    *,
    depth: int = 10,
    widths: Sequence[int] = (2, 4, 10),
    samples: int = 100,
    pooled: Sequence[str] | None = None,
    new: Sequence[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> UnpooledBias:
    """What a run's mean score loses or gains outside pools of several widths, unjudged docs not relevant or taken out.

    Draws as in `adjustment_accuracy`. Unjudged docs that count as not relevant can only lose; condensed lists mostly
    gain (Webber 2010, Section 6.1.2 and Fig. 6.2).

    >>> from assay.data.lists import collected
    >>> from assay.studies import simulate
    >>> made = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> found = unpooled_bias(collected(made.runs, made.qrels), "P@5", depth=5, widths=[2], samples=5)
    >>> bool((found.errors["nonrelevant"] <= 0).all())
    True
    """
    refuse_other_averages(measure, parse(measure).aggregate, "the bias of a pool")
    if not widths or min(*widths, samples) < 1:
        raise UsageError("widths and samples are at least 1")
    check_judged(lists)
    draw = _draw_of(lists, widths, pooled, new)
    width_of_trial = np.repeat(widths, samples).tolist()
    errors = {}
    for place, unjudged in enumerate(("nonrelevant", "condensed")):
        # The same runs are drawn for both treatments.
        rngs = generators(seed, len(width_of_trial))
        trial = _Unpooled(_Trial(lists, draw, measure, depth, (), 0, unjudged))
        tasks = list(zip(width_of_trial, rngs, strict=True))
        signed = ordered_map(trial, tasks, jobs=jobs)
        errors[unjudged] = np.array(signed).reshape(len(widths), samples)
        progress(place + 1, 2)
    recipe = f"pool depth {depth}, {draw}, {len(lists.topics)} topics; {samples} draws of runs, seed {seed}"
    return UnpooledBias(measure, tuple(widths), errors, recipe)


@dataclass(frozen=True, eq=False)
class _Unpooled:
    """The signed error of the unpooled mean in one draw of runs."""

    trial: _Trial

    def __call__(self, todo: tuple[int, np.random.Generator]) -> float:
        drawn, has = self.trial.drawn(*todo)
        true, unpooled = self.trial.of_new(drawn, has)
        return float((unpooled - true).mean())


@dataclass(frozen=True, eq=False)
class _Trial:
    """What one process needs for one draw of runs."""

    lists: Lists
    draw: _Draw
    measure: str
    depth: int
    common: tuple[int, ...]
    topic_samples: int
    unjudged: str

    def __call__(self, todo: tuple[int, np.random.Generator]) -> Errors:
        width, rng = todo
        drawn, has = self.drawn(width, rng)
        true, unpooled = self.of_new(drawn, has)
        bias = true - unpooled
        holders = np.asarray(has.sum(axis=0))
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

    def drawn(self, width: int, rng: np.random.Generator) -> tuple[Lists, Bools]:
        """The lists of the runs drawn, the new one last, and which items each has down to the pool's depth."""
        names = [self.lists.runs[place] for place in self.draw(width, rng)]
        drawn = self.lists.select(names)
        _, has = contributors(drawn, self.depth)
        return drawn, has

    def of_new(self, drawn: Lists, has: Bools) -> tuple[Floats, Floats]:
        """Scores of the last run by topic: the truth with all runs pooled, and with only the others pooled."""
        new = len(has) - 1
        holders = np.asarray(has.sum(axis=0))
        true = self._score(drawn, holders > 0, [new])[0]
        unpooled = self._score(drawn, holders > has[-1], [new])[0]
        return true, unpooled

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
