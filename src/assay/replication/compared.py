"""What is said of two experiments beside the effect ratio? Improvements, RMSE, changes of means, order of docs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.tables import shown
from assay.replication.experiments import Experiment
from assay.replication.ratios import Limits, drawn_means, is_nothing, percentiles, quotients, ratio_of_means
from assay.stats.bounded import bounded_ends, p_two_sided, shows_little
from assay.stats.effect import mean_interval, rounded
from assay.stats.two_runs import compare_two
from assay.stats.two_sample import compare_topic_sets

NONE = float("nan")


@dataclass(frozen=True)
class Quantity:
    """One number of a replication with its interval, and p where it is a test; NaN where it has no value."""

    key: str
    """Its name for programs, e.g. rmse_system."""
    name: str
    of: str
    value: float
    low: float
    high: float
    p: float | None = None

    def shown_value(self) -> str:
        """The number alone."""
        return _short(self.value)

    def shown(self) -> str:
        """The number with its interval, as in a sentence."""
        value, low, high = (_short(number) for number in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


def _short(number: float) -> str:
    """Three decimals, without the 0 before the point."""
    text = shown(number, ".3f")
    return text.replace("0.", ".", 1) if text.removeprefix("−").startswith("0.") else text


def improvement(which: str, experiment: Experiment, level: float, limits: Limits | None = None) -> Quantity:
    """The mean of system − baseline in one experiment, with the paired t test; limits: of an improvement.

    Where few topics differ the Dirichlet bound within the limits, and without them no interval and no p.
    """
    tested = compare_two(experiment.system_scores, experiment.baseline_scores, level=level)
    ends: tuple[float, float, float | None] = tested.low, tested.high, tested.p
    if shows_little(experiment.improvement)[0]:
        ends = _of_few_values(experiment.improvement, level, limits)
    name = f"improvement, {which}"
    return Quantity(f"improvement_{which}", name, "system − baseline", tested.mean_difference, *ends)


def _of_few_values(values: Floats, level: float, limits: Limits | None) -> tuple[float, float, float | None]:
    """Both ends and p of a mean, by bounds that need no variation; none without limits."""
    if limits is None:
        return NONE, NONE, None
    low, high = bounded_ends(values, level, limits)
    return float(low[0]), float(high[0]), p_two_sided(values, 0.0, limits)


def change_of_mean(
    key: str,
    of: str,
    before: Floats,
    after: Floats,
    *,
    paired: bool,
    test: str,
    level: float,
    resamples: int,
    seed: int,
    limits: Limits | None = None,
) -> Quantity:
    """Replicated − original mean, by the paired t test on the same topics or a two-sample test on others.

    limits: of a score that is compared. Where few topics differ the Dirichlet bound within the limits, of two samples
    the bounds of both means; without limits neither interval nor p.
    """
    if paired:
        tested = compare_two(after, before, level=level)
    else:
        tested = compare_topic_sets(after, before, test, level=level, limits=limits, resamples=resamples, seed=seed)
    ends: tuple[float, float, float | None] = tested.low, tested.high, tested.p
    if tested.little and paired:
        of_differences = None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])
        ends = _of_few_values(rounded(after - before), level, of_differences)
    elif tested.little and limits is None:
        ends = NONE, NONE, None
    return Quantity(f"change_{key}", "replicated − original", of, tested.mean_difference, *ends)


def relative_improvement(
    which: str,
    experiment: Experiment,
    limits: Limits | None = None,
    *,
    interval: str,
    level: float,
    resamples: int,
    seed: int,
) -> Quantity:
    """RI: the mean improvement over the mean of the baseline; no value where the baseline scores 0 everywhere."""
    of_both = None if limits is None else ((limits[0] - limits[1], limits[1] - limits[0]), limits)
    ratio = ratio_of_means(
        experiment.improvement,
        experiment.baseline_scores,
        limits=of_both,
        paired=True,
        interval=interval,
        level=level,
        resamples=resamples,
        seed=seed,
    )
    name = f"relative improvement, {which}"
    return Quantity(f"ri_{which}", name, "system − baseline", ratio.value, ratio.low, ratio.high)


def delta_ri(
    original: Experiment,
    replicated: Experiment,
    *,
    paired: bool,
    interval: str,
    level: float,
    resamples: int,
    seed: int,
) -> Quantity:
    """ΔRI: the original relative improvement less the replicated one.

    Its interval is by t on what each topic does to a relative improvement, to first order (a_i − b_i·ā/b̄)/b̄; or by
    percentiles of topics drawn again. There is none where too few topics differ.
    """
    value = low = high = NONE
    if not (is_nothing(original.baseline_scores) or is_nothing(replicated.baseline_scores)):
        value = _relative(original) - _relative(replicated)
        if interval == "percentile":
            draws = _drawn_delta_ri(original, replicated, paired, resamples, seed)
            low, high = percentiles(draws, level)
        else:
            by_topic = (_on_topics(original), _on_topics(replicated))
            compared = compare_two if paired else compare_topic_sets
            rows = [by_topic[0] - by_topic[1]] if paired else by_topic
            if not any(shows_little(row)[0] for row in rows):
                tested = compared(*by_topic, level=level)
                low = value + tested.low
                high = value + tested.high
    return Quantity("delta_ri", "ΔRI", "system − baseline", value, low, high)


def _relative(experiment: Experiment) -> float:
    """Mean of the system over mean of the baseline."""
    return float(experiment.system_scores.mean() / experiment.baseline_scores.mean())


def _on_topics(experiment: Experiment) -> Floats:
    """What each topic does to the relative improvement, to first order; the mean is 0."""
    baseline = experiment.baseline_scores
    return np.asarray((experiment.system_scores - _relative(experiment) * baseline) / baseline.mean())


def _drawn_delta_ri(original: Experiment, replicated: Experiment, paired: bool, resamples: int, seed: int) -> Floats:
    """ΔRI on topics that are drawn again; NaN where a baseline scores 0 on all of them."""
    systems = (original.system_scores, replicated.system_scores)
    baselines = (original.baseline_scores, replicated.baseline_scores)
    of_systems, of_baselines = drawn_means([systems, baselines], paired=paired, resamples=resamples, seed=seed)
    first = quotients(of_systems[0], of_baselines[0])
    second = quotients(of_systems[1], of_baselines[1])
    return first - second


def rmse_of(
    role: str, before: Floats, after: Floats, *, interval: str, level: float, resamples: int, seed: int
) -> Quantity:
    """√ of the mean squared change over topics; t interval of its logarithm, or percentiles of topics drawn again.

    On the scale of logarithms the mean of squares is nearer to normal, and the ends stay above 0. There is no interval
    where too few topics differ.
    """
    squares = (after - before) ** 2
    mean = float(squares.mean())
    if shows_little(rounded(squares))[0]:
        return Quantity(f"rmse_{role}", "RMSE", role, float(np.sqrt(mean)), NONE, NONE)
    if interval == "percentile":
        ends = mean_interval(squares, "percentile", level=level, resamples=resamples, seed=seed)
        low, high = float(ends.low[0]), float(ends.high[0])
    else:
        ends = mean_interval(squares / mean, level=level)
        half = (float(ends.high[0]) - float(ends.low[0])) / 2
        low, high = mean * float(np.exp(-half)), mean * float(np.exp(half))
    return Quantity(f"rmse_{role}", "RMSE", role, *(float(np.sqrt(square)) for square in (mean, low, high)))


def mean_similarity(key: str, name: str, role: str, values: Floats, least: float, level: float) -> Quantity:
    """The mean over the topics that have a value, with a t interval cut to the range of the similarity."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return Quantity(f"{key}_{role}", name, role, NONE, NONE, NONE)
    value = float(defined.mean())
    low = high = NONE
    if shows_little(defined)[0]:
        low, high = (float(end[0]) for end in bounded_ends(defined, level, (least, 1.0)))
    elif len(defined) > 1:
        ends = mean_interval(defined, level=level)
        low = max(least, float(ends.low[0]))
        high = min(1.0, float(ends.high[0]))
    return Quantity(f"{key}_{role}", name, role, value, low, high)
