"""How much more often is a system preferred than another, and is it real? Δ with intervals over users, and tests.

The unit is the user. Each user counts once by default, since one busy user else makes most of the log; the mean of
impressions has an error that is robust to users of uneven size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within, one_of
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.impressions import Impressions, pair_of
from assay.data.topic_rows import counted
from assay.interleaving.looks import always_p, always_radius
from assay.io.impressions import impressions_of
from assay.stats.clustered import BOUND, ClusterClaim, claim_of
from assay.stats.multiple import corrected
from assay.stats.resampling import checked_share, percent
from assay.stats.sentences import signed

NO_CLICKS = ("drop", "tie")
"""What an impression without a credited click is: left out, or a tie."""
LIMITS = (-0.5, 0.5)
"""What Δ of a user can be."""
MOST_OF_THE_LOG = 0.5
"""A user with a larger share of the impressions is named in the sentence."""
FEWEST_AT_ONCE = 30
"""Users that must have been seen before the interval that always holds is shown."""

Method = Callable[..., ClusterClaim]
METHODS: Registry[Method] = Registry("method")
"""Of what Δ is the mean, and when one may look."""


@METHODS.register("users", words="mean of users")
def mean_of_users(sums: Floats, counts: Floats, level: float) -> ClusterClaim:
    """The mean of the users' own Δ, each user counting once: s/√G, t with G − 1 degrees of freedom."""
    return claim_of(sums, counts, LIMITS, level)


@METHODS.register("impressions", words="mean of impressions")
def mean_of_impressions(sums: Floats, counts: Floats, level: float) -> ClusterClaim:
    """The mean of all impressions: cluster-robust error CR2 by user, with Satterthwaite's degrees of freedom."""
    return claim_of(sums, counts, LIMITS, level, by_item=True)


@METHODS.register("always", words="mean of users, at any time")
def mean_at_any_time(
    sums: Floats, counts: Floats, level: float, *, users: Annotated[int, Within(2)] = 500
) -> ClusterClaim:
    """The mean of the users so far, with an interval that holds at all times at once: look every day.

    From 30 users on. users: the planned number of users, near which the interval is tightest. Users count in the order
    in which they first came. Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024.
    """
    if len(sums) < FEWEST_AT_ONCE:
        raise DataError(f"{len(sums)} users; looking at any time takes at least {FEWEST_AT_ONCE}")
    claim = claim_of(sums, counts, LIMITS, level)
    if claim.method == BOUND:
        return replace(claim, low=np.nan, high=np.nan, p=np.nan, method="no interval, nearly all users are alike")
    alpha = 1 - level
    half = always_radius(len(sums), users, alpha) * claim.error * np.sqrt(len(sums))
    p = always_p(claim.value / claim.error, len(sums), users, alpha)
    low, high = max(LIMITS[0], claim.value - half), min(LIMITS[1], claim.value + half)
    return replace(claim, low=low, high=high, p=p, method="confidence sequence over users")


@dataclass(frozen=True, eq=False)
class Preference:
    """A system against a baseline over impressions: counts, Δ with its interval, and p-values.

    delta: (wins + ½ ties)/n − ½ of each user, or of all impressions. p_users: the exact sign test of users, each by
    what it prefers in all. low, high and p are None if nearly all users are alike and no bound is known.
    """

    system: str
    baseline: str
    wins: int
    losses: int
    ties: int
    users: int
    delta: float
    error: float
    low: float | None
    high: float | None
    p: float | None
    p_users: float
    method: str
    """How the interval was made."""
    largest: float
    """The share of the impressions that the user with most of them has."""

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
    >>> found.preferences[0].delta, found.preferences[0].wins, found.preferences[0].p_users
    (0.25, 4, 0.5)
    """

    unit = "user"

    preferences: tuple[Preference, ...]
    has_users: bool
    method: str
    level: float
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
        bounds = f"Δ = {signed(one.delta, 4)}"
        if one.low is not None and one.high is not None:
            bounds += f" [{signed(one.low, 4)}, {signed(one.high, 4)}]"
        if one.p is not None:
            bounds += f", {p_value(one.p)}"
        words = METHODS.entry(self.method).facts["words"]
        said = f"{bounds} ({words}: {counted(one.users, 'user')}, {counted(one.n, 'impression')}; {one.method})"
        if one.largest > MOST_OF_THE_LOG:
            said += f"; one user makes {100 * one.largest:.0f} % of the log"
        if one.p is None or one.p >= alpha:
            return f"{one.system} and {one.baseline} are not significantly different: {said}"
        better, worse = (one.system, one.baseline) if one.delta > 0 else (one.baseline, one.system)
        return f"{better} is preferred to {worse}: {said}"

    def table(self) -> Table:
        """One row per pair: counts, Δ with its interval, and the tests."""
        columns = {
            "system": "", "baseline": "", "impressions": "d", "users": "d", "wins": "d", "losses": "d", "ties": "d",
            "Δ": "+.4f", "low": "+.4f", "high": "+.4f", "p": "p",
        }  # fmt: skip
        several = len(self.preferences) > 1
        columns |= {"p corrected": "p"} if several else {}
        columns |= {"p sign test of users": "p", "largest user": ".3f"}
        rows: list[Sequence[Any]] = []
        for at, one in enumerate(self.preferences):
            row: list[Any] = [one.system, one.baseline, one.n, one.users, one.wins, one.losses, one.ties]
            row += [one.delta, one.low, one.high, one.p, *([self.corrected_p[at]] if several else [])]
            rows.append([*row, one.p_users, one.largest])
        return Table.of(columns, rows, caption="Interleaving", notes=self._notes())

    def _notes(self) -> list[str]:
        words = METHODS.entry(self.method).facts["words"]
        how = ", ".join(dict.fromkeys(one.method for one in self.preferences))
        notes = [
            f"Δ: (wins + ties/2)/impressions − 1/2, {words}",
            f"low, high: {percent(self.level)} interval over users; p: of Δ = 0 ({how})",
            "sign test of users: exact, each user counts once; largest user: its share of the impressions",
        ]
        if not self.has_users:
            notes.append("the log names no users: every impression counts as one of a user of its own")
        if self.dropped:
            notes.append(f"{counted(self.dropped, 'impression')} without a credited click left out")
        return [*notes, *self.said]

    def record(self) -> dict[str, Any]:
        """The table with the verdict and how it was made."""
        facts = {"verdict": self.verdict, "method": self.method, "level": self.level, "dropped": self.dropped}
        return {**super().record(), **facts}


def interleave(
    log: Any,
    *,
    system: str | None = None,
    baseline: str | None = None,
    method: str = "users",
    no_clicks: str = "drop",
    level: float = 0.95,
) -> Interleaved:
    """How much more often users prefer a system to the baseline in interleaved lists, with an interval by user.

    log: Impressions, their file, or pairs (user, winner), the winner a system or "tie". system, baseline: needed where
    there are more than two; of two the baseline is by default the second by name. method: one of METHODS, "users",
    "impressions", or "always(users=500)" for who looks at any time and plans with 500 users. no_clicks: impressions in
    which no system got a click are left out ("drop") or ties.

    >>> log = [(f"u{i % 40}", "new" if i % 3 else "old") for i in range(400)]
    >>> interleave(log).verdict
    'new is preferred to old: Δ = +.1650 [+.1496, +.1804], p < .0001 (mean of users: 40 users, 400 impressions; t with 39 degrees of freedom)'
    """  # noqa: E501
    seen, dropped = _counted(log, no_clicks)
    if system is None:
        pair = pair_of(seen.systems, baseline, seen.name)
    elif baseline is None:
        raise UsageError(f"system {system!r} against which? name the baseline as well")
    else:
        pair = system, baseline
    one = _preference(seen, *pair, method=method, level=level)
    return Interleaved((one,), seen.has_users, method, level, dropped)


def interleave_pairs(
    log: Any,
    *,
    method: str = "users",
    no_clicks: str = "drop",
    level: float = 0.95,
) -> Interleaved:
    """Every pair of the systems of a multileaved log, over the impressions that show both; p corrected by Holm.

    >>> from assay.data import Impressions
    >>> rows = [(f"u{i}", str(i), {"a": i % 2, "b": 1, "c": 0}) for i in range(20)]
    >>> interleave_pairs(Impressions.from_rows(rows)).table().column("delta")
    [-0.25, 0.25, 0.5]
    """
    seen, dropped = _counted(log, no_clicks)
    found = [_preference(seen, *pair, method=method, level=level) for pair in combinations(seen.systems, 2)]
    # users who are nearly all alike may leave no p: their pair takes the exact one of users
    tested = [one.p_users if one.p is None else one.p for one in found]
    after = tuple(corrected(tested, "holm").tolist())
    return Interleaved(tuple(found), seen.has_users, method, level, dropped, after)


def _counted(log: Any, no_clicks: str) -> tuple[Impressions, int]:
    """The impressions that count, and how many without clicks were left out."""
    one_of("no_clicks", no_clicks, NO_CLICKS)
    seen = impressions_of(log)
    if seen.has_winners or no_clicks == "tie":
        return seen, 0
    clicked = seen.clicked()
    return clicked, len(seen.credit) - len(clicked.credit)


def _preference(seen: Impressions, system: str, baseline: str, *, method: str, level: float) -> Preference:
    checked_share(level, "level")
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
    claim: ClusterClaim = METHODS.call(method, sums / 2, counts, level)
    low, high, p = (value if np.isfinite(value) else None for value in (claim.low, claim.high, claim.p))
    wins = int((outcomes > 0).sum())
    losses = int((outcomes < 0).sum())
    return Preference(
        system=system,
        baseline=baseline,
        wins=wins,
        losses=losses,
        ties=len(outcomes) - wins - losses,
        users=len(users),
        delta=claim.value,
        error=claim.error,
        low=None if low is None else max(LIMITS[0], low),
        high=None if high is None else min(LIMITS[1], high),
        p=p,
        p_users=sign_p(int((sums > 0).sum()), int((sums < 0).sum())),
        method=claim.method,
        largest=claim.largest,
    )


def sign_p(wins: int, losses: int) -> float:
    """The exact two-sided sign test: a binomial with chance ½, ties left out; 1 where nothing is left.

    >>> round(sign_p(8, 2), 6)
    0.109375
    """
    from scipy.stats import binom

    n = wins + losses
    return min(1.0, 2 * float(binom.cdf(min(wins, losses), n, 0.5))) if n else 1.0
