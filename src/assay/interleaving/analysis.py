"""How much more often is a system preferred than another, and is it real? Δ, intervals by user, and three tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import generator
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.impressions import Impressions, pair_of
from assay.io.impressions import impressions_of
from assay.stats.multiple import corrected
from assay.stats.resampling import checked_resamples, checked_share, drawn_in_words, percent
from assay.stats.verdicts import signed

INTERVALS = ("normal", "bootstrap")
"""How the interval is made: cluster-robust by t over users, or by drawing users again."""
NO_CLICKS = ("drop", "tie")
"""What an impression without a credited click is: left out, or a tie."""
DRAWN_AT_ONCE = 2_000_000
"""Users that are drawn in one block."""


@dataclass(frozen=True, eq=False)
class Preference:
    """A system against a baseline over impressions: counts, Δ with its interval, and p-values.

    delta: (wins + ½ ties)/n − ½. p: by t over users, None where users do not vary. p_sign: exact sign test of wins and
    losses as if impressions were independent. p_users: the exact sign test of users, each by what it prefers in all.
    """

    system: str
    baseline: str
    wins: int
    losses: int
    ties: int
    users: int
    delta: float
    error: float
    low: float
    high: float
    p: float | None
    p_sign: float
    p_users: float

    @property
    def n(self) -> int:
        """Impressions that count."""
        return self.wins + self.losses + self.ties


@dataclass(frozen=True, eq=False)
class Interleaved(Result):
    """Pairs of systems, each compared over the impressions that they share.

    >>> from assay.interleaving import interleave
    >>> log = [("ann", "new"), ("ann", "new"), ("bob", "old"), ("bob", "new"), ("cy", "new"), ("cy", "tie")]
    >>> found = interleave(log, baseline="old")
    >>> found.preferences[0].delta, found.preferences[0].wins, round(found.preferences[0].p_sign, 4)
    (0.25, 4, 0.375)
    """

    preferences: tuple[Preference, ...]
    has_users: bool
    interval: str
    level: float
    resamples: int
    seed: int
    dropped: int
    """Impressions without clicks that were left out."""
    corrected_p: tuple[float | None, ...] = ()
    """p after Holm's correction, where there are several pairs."""
    said: tuple[str, ...] = ()
    """What else a reader must know, such as the plan that was followed."""

    @property
    def verdict(self) -> str:
        """The finding in one sentence: of the only pair, or how many pairs are significant."""
        alpha = 1 - self.level
        if len(self.preferences) > 1:
            significant = sum(p is not None and p < alpha for p in self.corrected_p)
            return f"{significant} of {len(self.preferences)} pairs are significantly different (Holm, α = {alpha:.3g})"
        one = self.preferences[0]
        low, high = signed(one.low, 4), signed(one.high, 4)
        bounds = f"Δ = {signed(one.delta, 4)} [{low}, {high}]"
        counts = f"{one.n:,} impressions of {one.users:,} users"
        if one.p is None or one.p >= alpha:
            p = "" if one.p is None else f", {p_value(one.p)}"
            return f"{one.system} and {one.baseline} are not significantly different: {bounds}{p}, {counts}"
        better, worse = (one.system, one.baseline) if one.delta > 0 else (one.baseline, one.system)
        return f"{better} is preferred to {worse}: {bounds}, {p_value(one.p)}, {counts}"

    def table(self) -> Table:
        """One row per pair: counts, Δ with its interval, and the tests."""
        columns = {
            "system": "", "baseline": "", "impressions": "d", "users": "d", "wins": "d", "losses": "d", "ties": "d",
            "Δ": "+.4f", "low": "+.4f", "high": "+.4f", "p": "p",
        }  # fmt: skip
        several = len(self.preferences) > 1
        columns |= {"p corrected": "p"} if several else {}
        columns |= {"p sign test": "p", "p sign test of users": "p"}
        rows: list[Sequence[Any]] = []
        for at, one in enumerate(self.preferences):
            row: list[Any] = [one.system, one.baseline, one.n, one.users, one.wins, one.losses, one.ties]
            row += [one.delta, one.low, one.high, one.p, *([self.corrected_p[at]] if several else [])]
            rows.append([*row, one.p_sign, one.p_users])
        return Table.of(columns, rows, caption="Interleaving", notes=self._notes())

    def _notes(self) -> list[str]:
        level = percent(self.level)
        by = "users drawn again, " + drawn_in_words(self.resamples, self.seed)
        how = "cluster-robust by user, t with users − 1 df" if self.interval == "normal" else by
        notes = [
            f"Δ: (wins + ties/2)/impressions − 1/2; low, high: {level} interval, {how}",
            "p: Δ = 0 by t over users; sign test: exact, impressions taken as independent; of users: exact, each user "
            "counts once",
        ]
        if not self.has_users:
            notes.append("the log names no users: every impression counts as one of a user of its own")
        if self.dropped:
            notes.append(f"{self.dropped:,} impressions without a credited click are left out")
        return [*notes, *self.said]

    def record(self) -> dict[str, Any]:
        """The table with the verdict and how it was made."""
        facts = {"verdict": self.verdict, "interval": self.interval, "level": self.level, "dropped": self.dropped}
        return {**super().record(), **facts, "resamples": self.resamples, "seed": self.seed}


def interleave(
    log: Any,
    *,
    system: str | None = None,
    baseline: str | None = None,
    interval: str = "normal",
    no_clicks: str = "drop",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interleaved:
    """How much more often users prefer a system to the baseline in interleaved lists, with an interval by user.

    log: Impressions, their file, or pairs (user, winner), the winner a system or "tie". system, baseline: needed where
    there are more than two; of two the baseline is by default the second by name. no_clicks: impressions in which no
    system got a click are left out ("drop") or ties.

    >>> log = [(f"u{i % 40}", "new" if i % 3 else "old") for i in range(400)]
    >>> interleave(log).verdict
    'new is preferred to old: Δ = +.1650 [+.1496, +.1804], p < .0001, 400 impressions of 40 users'
    """
    seen, dropped = _counted(log, no_clicks)
    if system is None:
        pair = pair_of(seen.systems, baseline, seen.name)
    elif baseline is None:
        raise UsageError(f"system {system!r} against which? name the baseline as well")
    else:
        pair = system, baseline
    one = _preference(seen, *pair, interval=interval, level=level, resamples=resamples, seed=seed)
    return Interleaved((one,), seen.has_users, interval, level, resamples, seed, dropped)


def interleave_pairs(
    log: Any,
    *,
    interval: str = "normal",
    no_clicks: str = "drop",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interleaved:
    """Every pair of the systems of a multileaved log, over the impressions that show both; p corrected by Holm.

    >>> from assay.data import Impressions
    >>> rows = [(f"u{i}", str(i), {"a": i % 2, "b": 1, "c": 0}) for i in range(20)]
    >>> interleave_pairs(Impressions.from_rows(rows)).table().column("delta")
    [-0.25, 0.25, 0.5]
    """
    seen, dropped = _counted(log, no_clicks)
    how: dict[str, Any] = {"interval": interval, "level": level, "resamples": resamples, "seed": seed}
    found = [_preference(seen, first, second, **how) for first, second in combinations(seen.systems, 2)]
    # users who never differ leave no test by t: their pair takes the exact one of users
    tested = [one.p_users if one.p is None else one.p for one in found]
    after = tuple(corrected(tested, "holm").tolist())
    return Interleaved(tuple(found), seen.has_users, interval, level, resamples, seed, dropped, after)


def _counted(log: Any, no_clicks: str) -> tuple[Impressions, int]:
    """The impressions that count, and how many without clicks were left out."""
    one_of("no_clicks", no_clicks, NO_CLICKS)
    seen = impressions_of(log)
    if seen.has_winners or no_clicks == "tie":
        return seen, 0
    clicked = seen.clicked()
    return clicked, len(seen.credit) - len(clicked.credit)


def _preference(
    seen: Impressions, system: str, baseline: str, *, interval: str, level: float, resamples: int, seed: int
) -> Preference:
    one_of("interval", interval, INTERVALS)
    checked_share(level, "level")
    checked_resamples(resamples)
    if system == baseline:
        raise UsageError(f"{system!r} is compared with itself; name two systems")
    outcomes = seen.outcomes(system, baseline)
    if not len(outcomes):
        raise DataError(f"{seen.name}: no impression shows both {system!r} and {baseline!r}; nothing can be compared")
    users, user_of = np.unique(seen.user_of[seen.together(system, baseline)], return_inverse=True)
    if len(users) < 2:
        raise DataError(f"{seen.name}: 1 user; an interval by user needs at least two")
    counts = np.bincount(user_of).astype(np.float64)
    sums = np.bincount(user_of, weights=outcomes).astype(np.float64)
    delta = float(outcomes.mean()) / 2
    error = cluster_error(sums, counts) / 2
    low, high = _ends(sums, counts, delta, error, interval, level, resamples, seed)
    wins = int((outcomes > 0).sum())
    losses = int((outcomes < 0).sum())
    return Preference(
        system=system,
        baseline=baseline,
        wins=wins,
        losses=losses,
        ties=len(outcomes) - wins - losses,
        users=len(users),
        delta=delta,
        error=error,
        low=low,
        high=high,
        p=_t_p(delta, error, len(users)),
        p_sign=sign_p(wins, losses),
        p_users=sign_p(int((sums > 0).sum()), int((sums < 0).sum())),
    )


def cluster_error(sums: Floats, counts: Floats) -> float:
    """The cluster-robust standard error of a mean over all observations, from the sum and count of each user.

    √(G/(G − 1) Σ_u (sum_u − mean·count_u)²) / n for G users and n observations.

    >>> cluster_error(np.array([2.0, 0.0]), np.array([2.0, 2.0]))
    0.5
    """
    users = len(sums)
    n = counts.sum()
    mean = sums.sum() / n
    residuals = sums - mean * counts
    return float(np.sqrt(users / (users - 1) * (residuals @ residuals)) / n)


def sign_p(wins: int, losses: int) -> float:
    """The exact two-sided sign test: a binomial with chance ½, ties left out; 1 where nothing is left.

    >>> round(sign_p(8, 2), 6)
    0.109375
    """
    from scipy.stats import binom

    n = wins + losses
    return min(1.0, 2 * float(binom.cdf(min(wins, losses), n, 0.5))) if n else 1.0


def _t_p(delta: float, error: float, users: int) -> float | None:
    """p of Δ = 0 by t over users; None where the users do not vary."""
    from scipy.stats import t

    if error <= 1e-12 * max(1.0, abs(delta)):
        return None
    return float(2 * t.sf(abs(delta) / error, users - 1))


def _ends(
    sums: Floats, counts: Floats, delta: float, error: float, interval: str, level: float, resamples: int, seed: int
) -> tuple[float, float]:
    """The ends of the interval, cut to what Δ can be."""
    if interval == "normal":
        from scipy.stats import t

        half = float(t.ppf((1 + level) / 2, len(sums) - 1)) * error
        low, high = delta - half, delta + half
    else:
        drawn = _drawn_deltas(sums, counts, resamples, seed)
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return max(-0.5, low), min(0.5, high)


def _drawn_deltas(sums: Floats, counts: Floats, resamples: int, seed: int) -> Floats:
    """Δ of samples of as many users, drawn with replacement with all their impressions."""
    rng = generator(seed)
    users = len(sums)
    at_once = max(1, DRAWN_AT_ONCE // users)
    parts = []
    for first in range(0, resamples, at_once):
        size = min(at_once, resamples - first)
        drawn = rng.integers(users, size=(size, users))
        parts.append(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
    return np.concatenate(parts) / 2
