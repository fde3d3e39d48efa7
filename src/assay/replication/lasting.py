"""Does it last? The same systems over a series of collections: scores, standardized scores, drops and the order.

A mean may fall because the topics became harder. Standardized scores are relative to the same systems on every
collection, so that a change of theirs is one against the other systems (see `assay.standard`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.board.common_set import COMMON, checked
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.rankings import settled
from assay.replication.compared import Quantity, change_of_mean, delta_ri
from assay.replication.enough import LEAST_RATIO, kept_share
from assay.replication.experiments import Experiment
from assay.replication.ratios import RESAMPLES, UNDEFINED, Limits, Ratio, ratio_of_means
from assay.similarity.systems import Correlation, compare_rankings
from assay.standard import standardize
from assay.standard.factors import FORM
from assay.stats.limits import possible_differences, possible_scores
from assay.stats.multiple import corrected
from assay.stats.pairwise import alpha_of
from assay.stats.resampling import checked_share, drawn_in_words, percent

LEAST_SYSTEMS = 2


@dataclass(frozen=True)
class Later:
    """One system on a later collection, against itself on the first."""

    system: str
    collection: str
    drop: Ratio
    """(first − later)/first of the means: what LongEval calls relative drop or result delta; positive is a loss."""
    change: Quantity
    """Of the standardized mean, later − first."""
    corrected_p: float
    effect: Ratio | None = None
    """The improvement over the baseline, later over first: the effect ratio."""
    delta_ri: Quantity | None = None
    outcome: str | None = None
    """Whether the improvement is still there, as `replicate` words it."""

    def effects(self) -> tuple[Ratio, Quantity]:
        """Effect ratio and ΔRI; an error where there is no baseline."""
        if self.effect is None or self.delta_ri is None:
            raise UsageError("effects are over a baseline; name it")
        return self.effect, self.delta_ri


@dataclass(frozen=True, eq=False)
class ScoreSeries(Result):
    """Systems over collections in the order of time; all changes are against the first collection.

    >>> first = ScoreMatrix.of([[0.5, 0.6, 0.7], [0.4, 0.5, 0.5]], topics=["1", "2", "3"])
    >>> later = ScoreMatrix.of([[0.3, 0.4, 0.4], [0.5, 0.6, 0.5]], topics=["4", "5", "6"])
    >>> found = score_series({"2023": first, "2024": later}, resamples=100)
    >>> found.ranks.tolist(), found.order[0].value
    ([[1, 2], [2, 1]], -1.0)
    """

    unit = "topic"

    systems: tuple[str, ...]
    collections: tuple[str, ...]
    measure: str
    topics: tuple[int, ...]
    means: Floats
    """systems × collections."""
    standardized: Floats
    later: tuple[Later, ...]
    """Each system on each collection after the first, system by system."""
    order: tuple[Correlation, ...]
    """τ of the order on each collection after the first with that on the first."""
    shared_topics: tuple[int, ...]
    """Topic ids of each collection after the first that the first has too."""
    left_out: str
    """What was left out because cells are missing, in words."""
    baseline: str | None
    form: str
    level: float
    resamples: int
    seed: int
    top: int | None = None

    @property
    def ranks(self) -> Ints:
        """systems × collections, 1 is best; equal means share the better rank."""
        means = settled(self.means)
        better = means[None, :, :] > means[:, None, :]
        return np.asarray(1 + better.sum(axis=1))

    def best(self, top: int) -> ScoreSeries:
        """The same series, of which only the `top` best systems of the first collection are shown."""
        return replace(self, top=top)

    def significant(self, collection: str) -> tuple[int, int]:
        """How many systems rose and fell on a collection against the others, by the corrected p."""
        alpha = 1 - self.level
        moved = [one for one in self.later if one.collection == collection and one.corrected_p < alpha]
        risen = sum(one.change.value > 0 for one in moved)
        return risen, len(moved) - risen

    @property
    def verdict(self) -> str:
        """What became of the systems on the last collection, in one sentence."""
        first, last = self.collections[0], self.collections[-1]
        risen, fallen = self.significant(last)
        still = len(self.systems) - risen - fallen
        tau = self.order[-1]
        order = "the order has no τ" if tau.value is None else f"τ of the order {_between(tau)}"
        leader = int(np.argmin(self.ranks[:, 0]))
        place = self.ranks[leader, -1]
        return (
            f"from {first} to {last}, relative to each other, {fallen} of {len(self.systems)} systems fell, {risen} "
            f"rose and {still} did not change significantly; {order}; {self.systems[leader]}, first on {first}, has "
            f"rank {place} on {last}"
        )

    def shown(self) -> list[int]:
        """Places of the systems that tables show, best on the first collection first."""
        places: list[int] = np.argsort(self.ranks[:, 0], kind="stable").tolist()
        return places[: self.top]

    def table(self) -> Table:
        """One row per system and collection; with a baseline the effects instead of the means."""
        return self.scores_table() if self.baseline is None else self.effects_table()

    def scores_table(self) -> Table:
        """Mean, rank, relative drop, standardized mean and its change, of every system on every collection."""
        columns = {"system": "", "collection": "", "mean": ".4f", "rank": "d"}
        columns |= {"drop": "+.4f", "drop low": "+.4f", "drop high": "+.4f"}
        columns |= {"standardized": ".4f", "change": "+.4f", "low": "+.4f", "high": "+.4f", "p corrected": "p"}
        ranks = self.ranks
        rows: list[list[Any]] = []
        for at in self.shown():
            first = [self.systems[at], self.collections[0], self.means[at, 0], ranks[at, 0]]
            rows.append([*first, None, None, None, self.standardized[at, 0], None, None, None, None])
            for c, one in enumerate(self.of(at), start=1):
                row = [one.system, one.collection, self.means[at, c], ranks[at, c]]
                row += [one.drop.value, one.drop.low, one.drop.high, self.standardized[at, c]]
                rows.append([*row, one.change.value, one.change.low, one.change.high, one.corrected_p])
        keys = {"low": "change_low", "high": "change_high"}
        return Table.of(columns, rows, caption=self.verdict, notes=self._notes(), keys=keys)

    def effects_table(self) -> Table:
        """Effect ratio and ΔRI of every system against the baseline, each collection against the first."""
        columns = {"system": "", "collection": "", "improvement": "+.4f", "effect ratio": ".4f", "low": ".4f"}
        columns |= {"high": ".4f", "ΔRI": "+.4f", "ΔRI low": "+.4f", "ΔRI high": "+.4f", "outcome": ""}
        base = self.means[self.systems.index(str(self.baseline))]
        rows: list[list[Any]] = []
        for at in self.shown():
            if self.systems[at] == self.baseline:
                continue
            gains = self.means[at] - base
            rows.append([self.systems[at], self.collections[0], gains[0], *[None] * 7])
            for c, one in enumerate(self.of(at), start=1):
                effect, ri = one.effects()
                ends = [effect.value, effect.low, effect.high, ri.value, ri.low, ri.high]
                rows.append([one.system, one.collection, gains[c], *ends, one.outcome])
        keys = {"ΔRI": "delta_ri", "ΔRI low": "delta_ri_low", "ΔRI high": "delta_ri_high"}
        notes = [
            f"effect ratio: improvement over {self.baseline} there / on {self.collections[0]}, {percent(self.level)} "
            "interval by Fieller's theorem; – where the first improvement is not significantly different from 0",
            f"outcome: replicated needs a ratio above {LEAST_RATIO:g} (one-sided t test); each row by itself, not "
            "corrected for their number",
            *self._notes()[-1:],
        ]
        return Table.of(columns, rows, caption=self.verdict, notes=notes, keys=keys)

    def order_table(self) -> Table:
        """Kendall's τ of the order on every later collection with that on the first, and who rose and fell."""
        columns = {"collection": "", "topics": "d", "τ": ".4f", "low": ".4f", "high": ".4f", "rose": "d", "fell": "d"}
        rows = []
        for c, tau in enumerate(self.order, start=1):
            risen, fallen = self.significant(self.collections[c])
            rows.append([self.collections[c], self.topics[c], tau.value, tau.low, tau.high, risen, fallen])
        notes = [
            f"τ-b with the order of {len(self.systems)} systems on {self.collections[0]}; {percent(self.level)} "
            f"percentiles of topics drawn again, {drawn_in_words(self.resamples, self.seed)}",
            f"rose, fell: standardized means that changed significantly, Holm over {len(self.later)} tests",
        ]
        return Table.of(columns, rows, caption=self.verdict, notes=notes, keys={"τ": "tau"})

    def of(self, system: int) -> tuple[Later, ...]:
        """One system on the collections after the first."""
        count = len(self.collections) - 1
        return self.later[system * count : (system + 1) * count]

    def tables(self) -> list[Table]:
        """Systems on collections, then the order."""
        return [self.table(), self.order_table()]

    def _notes(self) -> list[str]:
        level = percent(self.level)
        notes = [
            f"drop: (first − here)/first of the means, positive is a loss; {level} by Fieller's theorem; – where the "
            "first mean is not significantly above 0",
            f"standardized: {self.form} relative to these {len(self.systems)} systems on each topic, so that a change "
            f"is one against them; {level} t interval, p corrected by Holm over {len(self.later)} tests",
        ]
        if self.left_out:
            notes.append(self.left_out)
        counts = ", ".join(map(str, self.topics))
        return [*notes, f"{counts} topics; {'; '.join(self._pairing())}"]

    def _pairing(self) -> list[str]:
        """How the later collections are compared with the first: with the same topics, or as two samples."""
        same, partly = [], []
        for name, topics, shared in zip(self.collections[1:], self.topics[1:], self.shared_topics, strict=True):
            if shared == topics == self.topics[0]:
                same.append(name)
            elif shared:
                partly.append(f"{shared} topic ids of {name} are in the first too, and count as different topics")
        if len(same) == len(self.shared_topics):
            return ["paired with the same topics of the first"]
        paired = [f"paired with the same topics of the first: {', '.join(same)}"] if same else []
        return [*paired, "two samples where the topics are others", *partly]

    def record(self) -> dict[str, Any]:
        """The verdict, the settings, and the tables."""
        facts = {
            "verdict": self.verdict,
            "measure": self.measure,
            "baseline": self.baseline,
            "form": self.form,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "collection_names": list(self.collections),
        }
        return {**super().record(), **facts}


def _between(tau: Correlation) -> str:
    if tau.low is None or tau.high is None:
        return f"{tau.value:.2f}"
    return f"{tau.value:.2f} [{tau.low:.2f}, {tau.high:.2f}]"


def score_series(
    collections: Mapping[str, Any],
    *,
    baseline: str | None = None,
    common: str = "systems",
    form: str = FORM,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ScoreSeries:
    """The same systems over collections in the order of time: do scores, improvements and the order last?

    collections: {collection: scores}; a run of one name is one system. baseline: also the effect ratio and ΔRI of every
    other system. common: where cells are missing, keep the "systems" that are on all collections or the "collections"
    that have all systems. form: of the standardized scores. Collections with the same topic ids are paired, others are
    two samples.

    >>> rng = np.random.default_rng(0)
    >>> quality = np.array([[0.5], [0.4], [0.3]])
    >>> years = {y: ScoreMatrix.of(quality + rng.normal(0, 0.1, (3, 30)), topics=range(y, y + 30)) for y in (100, 200)}
    >>> found = score_series(years)
    >>> found.order[0].value, found.significant("200")
    (1.0, (0, 0))
    """
    one_of("common", common, COMMON)
    checked_share(level, "level")
    matrices = checked(collections, "a series")
    parts, left_out = _on_common_systems(matrices, common)
    systems = next(iter(parts.values())).runs
    if baseline is not None and baseline not in systems:
        raise UsageError(f"no system {baseline!r} on all collections{did_you_mean(baseline, systems)}")
    how: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    standard = {name: standardize(part, form=form) for name, part in parts.items()}
    later = []
    for system in systems:
        later += _later(system, parts, standard, baseline, how)
    p = corrected([one.change.p or 0.0 for one in later])
    first, *others = parts.values()
    order = [compare_rankings(first, part, measures=["tau-b"], **how).correlations[0] for part in others]
    return ScoreSeries(
        systems=systems,
        collections=tuple(parts),
        measure=first.measure,
        topics=tuple(len(part.topics) for part in parts.values()),
        means=np.stack([part.averages() for part in parts.values()], axis=1),
        standardized=np.stack([part.averages() for part in standard.values()], axis=1),
        later=tuple(replace(one, corrected_p=float(value)) for one, value in zip(later, p, strict=True)),
        order=tuple(order),
        shared_topics=tuple(len(set(part.topics) & set(first.topics)) for part in others),
        left_out=left_out,
        baseline=baseline,
        form=form,
        **how,
    )


def _on_common_systems(matrices: Mapping[str, ScoreMatrix], common: str) -> tuple[dict[str, ScoreMatrix], str]:
    """The collections on the systems that all have, with topics of one set in one order; and what is left out."""
    every_system = list(dict.fromkeys(run for matrix in matrices.values() for run in matrix.runs))
    kept = dict(matrices)
    if common == "collections":
        kept = {name: matrix for name, matrix in matrices.items() if len(matrix.runs) == len(every_system)}
    systems = [run for run in every_system if all(run in matrix.runs for matrix in kept.values())]
    if len(systems) < LEAST_SYSTEMS or len(kept) < 2:
        what = f"{len(systems)} systems are on all {len(kept)} collections"
        raise DataError(f"{what}; a series needs two of both")
    first = next(iter(kept.values()))
    parts = {}
    for name, matrix in kept.items():
        if len(matrix.topics) < 2:
            raise DataError(f"{name}: one score per system; a series needs scores on two topics or more")
        topics = first.topics if set(matrix.topics) == set(first.topics) else matrix.topics
        parts[name] = matrix.select(runs=systems, topics=topics)
    without = len(every_system) - len(systems)
    note = f"{without} systems that are not on all collections are left out" if without else ""
    dropped = [name for name in matrices if name not in kept]
    if dropped:
        note = f"left out are the collections that lack a system ({', '.join(dropped)})"
    return parts, note


def _later(
    system: str,
    parts: Mapping[str, ScoreMatrix],
    standard: Mapping[str, ScoreMatrix],
    baseline: str | None,
    how: dict[str, Any],
) -> list[Later]:
    """One system on each later collection against the first."""
    (first_name, first), *others = parts.items()
    found = []
    for name, part in others:
        paired = part.topics == first.topics
        kept = ratio_of_means(
            part.of_run(system), first.of_run(system), paired=paired, level=how["level"], limits=_limits(first, part)
        )
        before = standard[first_name].of_run(system)
        after = standard[name].of_run(system)
        change = change_of_mean("standardized", system, before, after, paired=paired, test="welch", **how)
        one = Later(system, name, kept.below_one(), change, float("nan"))
        if baseline is not None:
            one = replace(one, **_effects(system, baseline, first, part, paired, how))
        found.append(one)
    return found


def _limits(first: ScoreMatrix, part: ScoreMatrix) -> tuple[Limits, Limits] | None:
    """The least and largest score on both collections, where these are known."""
    before, after = possible_scores(first), possible_scores(part)
    if before is None or after is None or not np.isfinite([before, after]).all():
        return None
    return after, before


def _effects(
    system: str, baseline: str, first: ScoreMatrix, part: ScoreMatrix, paired: bool, how: dict[str, Any]
) -> dict[str, Any]:
    """Effect ratio, ΔRI and outcome of a system over the baseline; the baseline has no ratio against itself."""
    before, after = (
        Experiment(baseline, system, matrix.topics, np.stack([matrix.of_run(baseline), matrix.of_run(system)]))
        for matrix in (first, part)
    )
    ri = delta_ri(before, after, paired=paired, interval="fieller", **how)
    if system == baseline:
        return {"effect": UNDEFINED, "delta_ri": ri}
    level, limits = how["level"], possible_differences(first)
    of_two = None if limits is None else (limits, limits)
    effect = ratio_of_means(after.improvement, before.improvement, paired=paired, level=level, limits=of_two)
    kept = kept_share(before.improvement, after.improvement, paired=paired, alpha=alpha_of(level), limits=limits)
    return {"effect": effect, "delta_ri": ri, "outcome": kept.outcome(effect)}
