"""How much better is a system than the baseline, on collections like these and on a new one? Random effects.

Each collection has a mean paired difference and its error; the true differences vary between collections with variance
τ². The mean of the differences comes with an interval, and a new collection with a prediction interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.board.common_set import CommonSet, common_set
from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.standard.factors import FORM
from assay.stats.resampling import checked_share, percent

if TYPE_CHECKING:
    from assay.board.ranked_systems import Board

INTERVALS = ("hartung-knapp", "normal")
"""How the interval of the mean difference is made: by t with the spread that is seen, or by the normal distribution."""

MANY = 10
"""Collections up to which the interval does not quite hold what it says."""
COVERED = {"hartung-knapp": ".92–.95", "normal": ".71–.96", "prediction": ".87–1.00"}
"""How often 95 % intervals from few collections held the truth, with equal and with unequal errors (tests/board)."""

LEAST_SHARE = 1e-100
"""A variance below this share of the largest is that of no error at all: its weight would be without bounds."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """The random-effects mean of rows of differences with their variances; arrays of one number per row.

    A row whose variances have a 0 (a collection where two systems have the same scores) has no weights: all nan.
    """

    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    tau2: Floats
    """τ², the variance of the true differences between collections (DerSimonian & Laird 1986)."""
    i2: Floats
    """Share of the spread between collections that is not chance."""
    q: Floats
    predicted_low: Floats
    predicted_high: Floats
    weights: Floats
    """Share of each collection in the mean, rows × collections."""


def pooled_effects(
    effects: Floats, variances: Floats, *, interval: str = "hartung-knapp", level: float = 0.95
) -> Pooled:
    """DerSimonian–Laird means of each row, with an interval and a prediction interval.

    w = 1/v; Q = Σ w (d − d̄_w)²; τ² = max(0, (Q − (k−1)) / (Σw − Σw²/Σw)); w* = 1/(v + τ²); μ = Σ w*d / Σ w*.
    Normal: μ ± z / √Σw*. Hartung–Knapp: se² = Σ w*(d − μ)² / ((k−1) Σw*), with t of k−1 degrees of freedom (Hartung &
    Knapp 2001). A new collection: μ ± t(k−2) √(τ² + 1/Σw*) (Higgins, Thompson & Spiegelhalter 2009); from 3 on.

    >>> found = pooled_effects(np.array([[0.1, 0.3, 0.35]]), np.array([[0.01, 0.01, 0.02]]))
    >>> found.mean.round(4).tolist(), found.tau2.round(4).tolist()
    ([0.235], [0.0056])
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    one_of("interval", interval, INTERVALS)
    k = effects.shape[1]
    largest = variances.max(axis=1, keepdims=True)
    usable = np.asarray((variances > LEAST_SHARE * largest).all(axis=1))
    # In units of the largest error nothing overflows when it is squared.
    unit = np.sqrt(np.where(usable, largest[:, 0], np.nan))
    v = variances / unit[:, None] ** 2
    effects = effects / unit[:, None]
    q, tau2 = _between(effects, v)
    random = 1 / (v + tau2[:, None])
    sum_random = random.sum(axis=1)
    mean = (random * effects).sum(axis=1) / sum_random
    of_mean = 1 / sum_random
    upper = (1 + level) / 2
    if interval == "normal":
        error = np.sqrt(of_mean)
        beyond = ndtri(upper)
        p = 2 * ndtr(-np.abs(mean) / error)
    else:
        spread = (random * (effects - mean[:, None]) ** 2).sum(axis=1) / (k - 1)
        error = np.sqrt(spread * of_mean)
        beyond = stdtrit(k - 1, upper)
        with np.errstate(divide="ignore"):  # differences that are the same on all collections have no error
            p = 2 * stdtr(k - 1, -np.abs(mean) / error)
    half = beyond * error
    new = stdtrit(k - 2, upper) * np.sqrt(tau2 + of_mean) if k > 2 else np.full(len(mean), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        i2 = np.where(q > 0, np.maximum(0.0, (q - (k - 1)) / q), 0.0)
    return Pooled(
        mean=mean * unit,
        low=(mean - half) * unit,
        high=(mean + half) * unit,
        p=p,
        tau2=tau2 * unit**2,
        i2=np.where(usable, i2, np.nan),
        q=q,
        predicted_low=(mean - new) * unit,
        predicted_high=(mean + new) * unit,
        weights=random / sum_random[:, None],
    )


def _between(effects: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Q and τ² of each row (DerSimonian & Laird 1986); a τ² below 0 is 0."""
    k = effects.shape[1]
    w = 1 / v
    total = w.sum(axis=1)
    fixed = (w * effects).sum(axis=1) / total
    q = (w * (effects - fixed[:, None]) ** 2).sum(axis=1)
    # Σw − Σw²/Σw without subtracting: one weight may be all there is, up to rounding.
    of_others = w @ (1 - np.eye(k))
    spare = (w * of_others).sum(axis=1) / total
    excess = (q - (k - 1)) / spare
    return q, np.maximum(0.0, excess)


@dataclass(frozen=True, eq=False)
class RandomEffects(Result):
    """Each system against the baseline over all collections: the mean difference, τ², and a new collection."""

    unit = "collection"

    data: CommonSet
    baseline: str
    systems: tuple[str, ...]
    effects: Floats
    """Mean differences, systems × collections."""
    errors: Floats
    """Their standard errors."""
    pooled: Pooled
    interval: str
    level: float
    scores: str
    """What the differences are of, e.g. cdf(AP)."""
    system: str | None = None
    """With it the table shows this system on every collection."""
    picked: bool = False
    """Whether the system was picked by the same scores, so that its lead looks larger than it is."""
    top: int | None = None

    def of(self, system: str) -> RandomEffects:
        """The same effects, of which the table and the picture show one system on every collection."""
        self._row(system)
        return replace(self, system=system)

    def best(self, top: int) -> RandomEffects:
        """The same effects, of which only the `top` best systems are shown."""
        return replace(self, top=top)

    def _row(self, system: str) -> int:
        if system not in self.systems:
            near = did_you_mean(system, self.systems)
            raise UsageError(f"no system {system!r} beside the baseline {self.baseline!r}{near}")
        return self.systems.index(system)

    def table(self) -> Table:
        """One row per system, greatest mean difference first; or one per collection where a system is chosen."""
        return self._of_systems() if self.system is None else self._of_collections(self.system)

    def _of_systems(self) -> Table:
        columns = {"system": "", "difference": "+.4f", "low": "+.4f", "high": "+.4f", "p": "p", "τ": ".4f"}
        columns |= {"I²": ".0%", "new low": "+.4f", "new high": "+.4f"}
        pooled = self.pooled
        rows = []
        for at in self.order()[: self.top]:
            row = [self.systems[at], pooled.mean[at], pooled.low[at], pooled.high[at], pooled.p[at]]
            row += [np.sqrt(pooled.tau2[at]), pooled.i2[at], pooled.predicted_low[at], pooled.predicted_high[at]]
            rows.append(row)
        some = "" if len(rows) == len(self.systems) else f"{len(rows)} of "
        caption = f"{self.scores}: {some}{len(self.systems)} systems minus {self.baseline}, {self._where()}"
        keys = {"τ": "tau", "I²": "i_squared", "new low": "predicted_low", "new high": "predicted_high"}
        return Table.of(columns, rows, caption=caption, notes=self._notes(), keys=keys)

    def order(self) -> list[int]:
        """Places of the systems, greatest mean difference first; those without one last."""
        means = np.where(np.isfinite(self.pooled.mean), self.pooled.mean, -np.inf)
        places: list[int] = np.argsort(-means, kind="stable").tolist()
        return places

    def _of_collections(self, system: str) -> Table:
        columns = {
            "collection": "",
            "topics": "d",
            "difference": "+.4f",
            "low": "+.4f",
            "high": "+.4f",
            "weight": ".0%",
        }
        at = self._row(system)
        rows: list[list[Any]] = []
        for c, (name, low, high) in enumerate(zip(self.data.collections, *self.ends(system), strict=True)):
            weight = self.pooled.weights[at, c]
            rows.append([name, self.data.topics[c], self.effects[at, c], low, high, weight])
        pooled = self.pooled
        rows.append(["mean of all", None, pooled.mean[at], pooled.low[at], pooled.high[at], None])
        rows.append(
            ["a new collection", None, pooled.mean[at], pooled.predicted_low[at], pooled.predicted_high[at], None]
        )
        caption = f"{self.scores}: {system} minus {self.baseline}, {self._where()}"
        tau = f"τ = {np.sqrt(pooled.tau2[at]):.4f}, I² = {pooled.i2[at]:.0%}, p = {pooled.p[at]:.4f}"
        notes = [f"collections: {percent(self.level)} interval of the paired t test", tau, *self._notes()]
        if self.picked:
            notes.append(
                f"{system} was picked by these scores, so p and intervals are too favourable; the board tests all pairs"
            )
        return Table.of(columns, rows, caption=caption, notes=notes)

    def ends(self, system: str) -> tuple[Floats, Floats]:
        """The interval of the difference on each collection, by the paired t test."""
        from scipy.special import stdtrit

        at = self._row(system)
        freedom = np.array(self.data.topics) - 1
        half = stdtrit(freedom, (1 + self.level) / 2) * self.errors[at]
        return self.effects[at] - half, self.effects[at] + half

    def _where(self) -> str:
        return f"{len(self.data.collections)} collections"

    def _notes(self) -> list[str]:
        k = len(self.data.collections)
        level = percent(self.level)
        hartung_knapp = self.interval == "hartung-knapp"
        how = f"t with {k - 1} df (Hartung–Knapp)" if hartung_knapp else "normal distribution"
        held = COVERED if self.level == 0.95 else {}
        notes = [
            f"difference: random-effects mean over collections, weights 1/(v + τ²); low, high: {level} by {how}",
            "τ: sd of the true differences between collections (DerSimonian–Laird); I²: share of the spread between "
            "collections that is not chance",
        ]
        if held and k <= MANY:
            notes[0] += f", which held {held[self.interval]} in simulations of 2 to {MANY} collections"
        if self.system is None and len(self.systems) > 1:
            notes.append(
                f"each system by itself: neither p nor intervals are corrected for {len(self.systems)} systems"
            )
        if k > 2:
            new = f"new low, new high: {level} prediction interval, what to expect on a new collection"
            notes.append(f"{new}; it held {held['prediction']}" if held and k <= MANY else new)
        else:
            notes.append("a prediction interval needs three collections")
        undefined = int(np.isnan(self.pooled.mean).sum())
        if undefined:
            notes.append(
                f"{undefined} systems score as the baseline on every topic of a collection: no weights, no mean"
            )
        return [*notes, *self.data.notes()]


def random_effects(
    collections: Mapping[str, Any],
    baseline: str,
    *,
    standardized: bool = False,
    form: str = FORM,
    interval: str = "hartung-knapp",
    common: str = "systems",
    level: float = 0.95,
) -> RandomEffects:
    """Every system minus the baseline over many collections: mean difference, τ², and what a new collection may bring.

    collections: {collection: scores per topic}. standardized: differences of standardized scores, so that collections
    with a wide spread of scores do not count as more different. interval: "hartung-knapp" or "normal".

    >>> import numpy as np
    >>> from assay.data import ScoreMatrix
    >>> rng = np.random.default_rng(0)
    >>> quality = np.array([[0.5], [0.4]])
    >>> made = {name: ScoreMatrix.of(quality + rng.normal(0, 0.1, (2, 30))) for name in "abcde"}
    >>> found = random_effects(made, "run2")
    >>> found.table().column("difference")
    [0.1063...]
    """
    one_of("interval", interval, INTERVALS)
    checked_share(level, "level")
    data = common_set(collections, common=common, form=form)
    if baseline not in data.systems:
        raise UsageError(f"no system {baseline!r} on all collections{did_you_mean(baseline, data.systems)}")
    short = [name for name, topics in zip(data.collections, data.topics, strict=True) if topics < 2]
    if short:
        raise DataError(f"{short[0]}: one score per system; random effects need scores on two topics or more")
    at = data.systems.index(baseline)
    others = [place for place in range(len(data.systems)) if place != at]
    effects = []
    errors = []
    for scores in data.standardized if standardized else data.scores:
        differences = scores[others] - scores[at]
        effects.append(differences.mean(axis=1))
        errors.append(differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1]))
    means = np.stack(effects, axis=1)
    sds = np.stack(errors, axis=1)
    return RandomEffects(
        data=data,
        baseline=baseline,
        systems=tuple(data.systems[place] for place in others),
        effects=means,
        errors=sds,
        pooled=pooled_effects(means, sds**2, interval=interval, level=level),
        interval=interval,
        level=level,
        scores=f"{form}({data.measure})" if standardized else data.measure,
    )


def leader_effects(collections: Mapping[str, Any], made: Board, baseline: str | None = None) -> RandomEffects:
    """The leader of a board minus the baseline on every collection; baseline: by default the second of the board."""
    systems = [made.data.systems[at] for at in made.leading.order]
    if baseline is None:
        baseline = systems[1]
    effects = random_effects(collections, baseline, level=made.level)
    others = [system for system in systems if system != baseline]
    return replace(effects.of(others[0]), picked=True)
