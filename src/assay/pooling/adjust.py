"""What would a new run have scored, had it been in the pool? Scores adjusted for the judgments that are missing.

Where it stands: leave-one-out scores → **adjustment** → an estimated mean. Two ways: from what the pooled systems
lose when left out (Webber's Algorithm 6.1), or from what the new run itself loses on topics judged for it as well
(Algorithm 6.2). Only the mean is corrected: scores of single topics are not fit for a significance test afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.lists import Lists
from assay.data.tested_means import refuse_other_averages
from assay.measures import parse
from assay.pooling.bias import unique_items
from assay.pooling.rescoring import check_judged, rescored, without
from assay.pooling.voters import Collected, contributors, lists_of


@dataclass(frozen=True, eq=False)
class Adjustment(Result):
    """A mean score without its pooling bias, as far as that is known."""

    run: str
    method: str
    unpooled: float
    """Mean score of the new run, its own docs unjudged."""
    amount: float
    """a: the mean of the biases."""
    biases: Floats
    """β: pooled minus unpooled score, one per system or per common topic."""
    variance: float | None
    """Variance of the adjusted mean; None with a single system or common topic."""
    topics: int
    sampled: float | None = None
    """From topics: the mean pooled score on the common topics alone."""
    sampled_variance: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """Pooled runs, or the common topics."""
        return "run" if self.method == "systems" else "topic"

    @property
    def adjusted(self) -> float:
        """The estimate: unpooled mean plus adjustment."""
        return self.unpooled + self.amount

    @property
    def helps(self) -> float | None:
        """How sure it is that the adjusted mean is nearer to the truth than the unadjusted one.

        It is nearer when the true adjustment A has the sign of a and |A| > |a|/2: P(T < |a| / (2·standard error)) with
        one degree of freedom less than there are biases. None where the variance or the adjustment is missing.
        """
        if self.variance is None or self.amount == 0:
            return None
        if self.variance == 0:
            return 1.0
        from scipy.special import stdtr

        return float(stdtr(len(self.biases) - 1, abs(self.amount) / (2 * np.sqrt(self.variance))))

    @property
    def advice(self) -> str:
        """Adjust where the squared error expected with adjustment is the smaller one: variance < a² − variance."""
        if self.amount == 0:
            return "nothing to adjust"
        if self.variance is None:
            return "too few biases to say"
        return "adjust" if 2 * self.variance < self.amount**2 else "do not adjust"

    def table(self) -> Table:
        """One row: unadjusted, adjusted, how sure; from topics also the alternative, the common topics alone."""
        columns: dict[str, tuple[str, object]] = {
            "run": ("", self.run),
            "from": ("", self.method),
            "n": ("d", len(self.biases)),
            "unpooled": (".4f", self.unpooled),
            "a": ("+.4f", self.amount),
            "adjusted": (".4f", self.adjusted),
            "error": (".4f", _root(self.variance)),
            "P(helps)": (".3f", self.helps),
            "advice": ("", self.advice),
        }
        if self.sampled is not None:
            columns["alone"] = (".4f", self.sampled)
            columns["error alone"] = (".4f", _root(self.sampled_variance))
        return Table.of(
            {name: format for name, (format, _) in columns.items()},
            [[value for _, value in columns.values()]],
            caption="Adjustment for pooling bias",
            notes=self.notes,
            keys={"a": "adjustment", "P(helps)": "p_helps"},
        )


def _root(variance: float | None) -> float | None:
    return None if variance is None else float(np.sqrt(variance))


def from_systems(pooled: npt.ArrayLike, unpooled: npt.ArrayLike, new: npt.ArrayLike, *, run: str = "new") -> Adjustment:
    """Algorithm 6.1: the new run is taken to lose what the pooled systems lose when they are left out.

    pooled and unpooled: systems × topics, with and without the docs that only that system found (and not the new
    run); new: the new run's scores. a = mean over systems of β = mean pooled − mean unpooled. Variance: the new run's
    own bias is one more draw from the same population, σ_β²·(1 + 1/systems). Fails where the new run is unlike the
    pooled ones.

    >>> round(from_systems([[0.4, 0.2], [0.3, 0.5]], [[0.3, 0.2], [0.2, 0.4]], [0.2, 0.4]).adjusted, 6)
    0.375
    """
    inside = _array(pooled, 2)
    outside = _array(unpooled, 2)
    own = _array(new, 1)
    if inside.shape != outside.shape or inside.shape[1] != len(own):
        raise DataError(
            f"pooled scores {inside.shape}, unpooled {outside.shape}, new run {own.shape}: give all on the same topics"
        )
    biases = inside.mean(axis=1) - outside.mean(axis=1)
    variance = float(biases.var(ddof=1) * (1 + 1 / len(biases))) if len(biases) > 1 else None
    return Adjustment(
        run=run,
        method="systems",
        unpooled=float(own.mean()),
        amount=float(biases.mean()),
        biases=biases,
        variance=variance,
        topics=len(own),
    )


def from_topics(
    unpooled: npt.ArrayLike, pooled: npt.ArrayLike, *, common: Sequence[int] | Ints, run: str = "new"
) -> Adjustment:
    """Algorithm 6.2: what the new run loses on the common topics, it is taken to lose on all.

    unpooled: its scores on all N topics without the docs that only it found; pooled: its scores on the n common
    topics with them; common: their places among the N. a = mean of β = pooled − unpooled over the common topics;
    estimate = mean unpooled + a. Variance (N − n)/N · σ_a²/n, σ_a² estimated by the variance of β (Webber 2010, Eq.
    6.2–6.6). The pooled scores alone have (N − n)/N · σ_t²/n (Eq. 6.7): better only where scores vary less than
    biases do.

    >>> round(from_topics([0.28, 0.18, 0.15, 0.21, 0.31, 0.37], [0.36, 0.28], common=[0, 1]).adjusted, 6)
    0.34
    """
    every = _array(unpooled, 1)
    known = _array(pooled, 1)
    at = np.asarray(common, dtype=np.int64)
    distinct = len(np.unique(at)) == len(at)
    if len(known) != len(at) or not distinct or at.max() >= len(every) or at.min() < 0:
        raise DataError(
            f"{len(known)} pooled scores on {len(at)} common topics of {len(every)}; give each common topic once"
        )
    biases = known - every[at]
    # (N − n) / N · 1 / n: the variance of a mean of n of N topics drawn without replacement, for variance 1.
    share = (len(every) - len(known)) / len(every) / len(known)
    several = len(known) > 1
    return Adjustment(
        run=run,
        method="topics",
        unpooled=float(every.mean()),
        amount=float(biases.mean()),
        biases=biases,
        variance=share * float(biases.var(ddof=1)) if several else None,
        topics=len(every),
        sampled=float(known.mean()),
        sampled_variance=share * float(known.var(ddof=1)) if several else None,
    )


def adjusted(
    runs: Collected,
    run: str,
    *,
    qrels: Qrels | None = None,
    groups: Mapping[str, str] | None = None,
    measure: str = "tRBP@10",
    depth: int = 10,
    common: Sequence[str] | None = None,
    unjudged: str = "nonrelevant",
    by: str = "run",
) -> Adjustment:
    """The adjusted mean of a run that was not pooled; the other runs are the pooled systems.

    With common topics (judged to `depth` for the new run as well) from topics, else from systems. by="group" leaves
    each pooled system out with its group. `unjudged` is how docs without judgment count, see `rescored`.

    >>> from assay.studies import simulate
    >>> small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> result = adjusted(small.runs, small.runs[0].name, qrels=small.qrels, measure="P@5", depth=5)
    >>> round(result.unpooled, 4), round(result.amount, 4)
    (0.7667, 0.1583)
    """
    refuse_other_averages(measure, parse(measure).aggregate, "an adjustment")
    lists = lists_of(runs, qrels, groups=groups)
    if run not in lists.runs:
        raise UsageError(f"no run {run!r}{did_you_mean(run, lists.runs)}")
    new = lists.runs.index(run)
    others = [s for s in range(len(lists.runs)) if s != new]
    if not others:
        raise DataError(f"run {run!r} is alone; give the pooled runs as well")
    check_judged(lists)
    if common is None:
        result = _by_systems(lists, new, others, measure, depth, unjudged, by)
    else:
        result = _by_topics(lists, new, measure, depth, unjudged, common)
    recipe = (
        f"{measure}, pool depth {depth}, {len(others)} pooled systems, {len(lists.topics)} topics, unjudged {unjudged}"
    )
    return replace(result, notes=(recipe, *result.notes))


def _by_systems(
    lists: Lists, new: int, others: list[int], measure: str, depth: int, unjudged: str, by: str
) -> Adjustment:
    """The new run takes the place of the system that leaves, so that the pool keeps its width.

    What the new run alone brought is hidden, whether somebody judged it or not: it was not pooled.
    """
    contributor_names, has = contributors(lists, depth, by=by)
    names = lists.runs if by == "run" else lists.groups
    if by == "group" and names.count(names[new]) > 1:
        raise DataError(f"group {names[new]!r} of the new run has pooled runs; leave them out or adjust by run")
    brought_alone = unique_items(has)
    rows = [contributor_names.index(name) for name in names]
    own = brought_alone[rows[new]]
    known = without(lists.grades, own)
    pooled = rescored(lists, measure, grades=known, unjudged=unjudged)
    left_out = np.zeros((len(others), len(lists.topics)))
    for i, system in enumerate(others):
        grades = without(known, brought_alone[rows[system]])
        left_out[i] = rescored(lists, measure, grades=grades, runs=[system], unjudged=unjudged)[0]
    result = from_systems(pooled[others], left_out, pooled[new], run=lists.runs[new])
    return replace(result, notes=_hidden_note(lists, new, own & lists.judged(), measure, unjudged))


def _hidden_note(lists: Lists, new: int, judged: Bools, measure: str, unjudged: str) -> tuple[str, ...]:
    """What to say of docs that only the new run has and that are judged all the same."""
    if not judged.any():
        return ()
    score = float(rescored(lists, measure, runs=[new], unjudged=unjudged).mean())
    return (
        f"{int(judged.sum())} docs that only the new run has are judged: was it not pooled? They are hidden here, to "
        f"estimate; with them its mean is {score:.4f}, and needs no adjustment if its docs are all judged",
    )


def _by_topics(lists: Lists, new: int, measure: str, depth: int, unjudged: str, common: Sequence[str]) -> Adjustment:
    if not common:
        raise UsageError("no common topics; name at least one, better ten or more")
    for topic in common:
        if topic not in lists.topics:
            raise UsageError(f"no topic {topic!r}{did_you_mean(topic, lists.topics[:20])}")
    places = [lists.topics.index(t) for t in dict.fromkeys(common)]
    _, has = contributors(lists, depth)
    without_own = without(lists.grades, unique_items(has)[new])
    pooled = rescored(lists, measure, runs=[new], unjudged=unjudged)[0]
    unpooled = rescored(lists, measure, runs=[new], grades=without_own, unjudged=unjudged)[0]
    result = from_topics(unpooled, pooled[places], common=places, run=lists.runs[new])
    codes = lists.codes[new][places, :depth]
    items = codes[codes >= 0]
    missing = int((lists.grades[items] < 0).sum())
    notes = ["alone: the mean of the common topics alone"]
    if missing:
        notes.append(f"{missing} docs of the new run on the common topics are not judged; judge them first")
    return replace(result, notes=tuple(notes))


def _array(values: npt.ArrayLike, dimensions: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions or not array.size or not np.isfinite(array).all():
        raise DataError(f"scores need {dimensions} dimensions and finite numbers, at least one; got {array.shape}")
    return array
