"""What did users prefer? Impressions of interleaved lists: who saw them, and how much credit each system got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean

TIE = "tie"
"""What stands in the place of the winner where neither system won."""

Row = tuple[str | None, str, Mapping[str, float]]
"""User or None, impression, and the credit of each system that took part."""


@dataclass(frozen=True, eq=False, repr=False)
class Impressions:
    """Interleaved lists that were shown, in the order of the log: credit of each system, nan where it had no part.

    >>> seen = Impressions.from_winners([("ann", "new"), ("ann", "tie"), ("bob", "old"), ("bob", "new")])
    >>> seen
    Impressions(4 impressions of 2 users, new and old)
    >>> seen.outcomes("new", "old").tolist()
    [1.0, 0.0, -1.0, 1.0]
    """

    systems: tuple[str, ...]
    users: tuple[str, ...]
    user_of: Ints
    """The number of the user of each impression."""
    credit: Floats
    """impressions × systems."""
    has_users: bool = True
    """Whether the log names users; without names every impression counts as one of a user of its own."""
    has_winners: bool = False
    """Whether the log has winners and ties, so that no credit is a tie rather than a list without clicks."""
    name: str = "impressions"

    def __repr__(self) -> str:
        systems = " and ".join(self.systems) if len(self.systems) == 2 else f"{len(self.systems)} systems"
        return f"Impressions({len(self.credit)} impressions of {len(self.users)} users, {systems})"

    @classmethod
    def from_winners(cls, rows: Iterable[tuple[str | None, str]], *, name: str = "impressions") -> Impressions:
        """Impressions from (user, winner), the winner one of two systems or "tie"; user: None where nobody knows."""
        listed = list(rows)
        systems = sorted({winner for _, winner in listed} - {TIE})
        if len(systems) != 2:
            shown = ", ".join(systems[:5]) or "none"
            raise DataError(f"{name}: {len(systems)} systems win ({shown}); interleaving compares two, the others tie")
        made = []
        for number, (user, winner) in enumerate(listed):
            made.append((user, str(number), {system: float(system == winner) for system in systems}))
        return replace(cls.from_rows(made, name=name), has_winners=True)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], *, name: str = "impressions") -> Impressions:
        """Impressions from (user, impression, {system: credit}); a credit is the clicks that a system gets."""
        listed = list(rows)
        if not listed:
            raise DataError(f"{name}: no impression; a log has a row for each")
        systems = sorted({system for _, _, credit in listed for system in credit})
        if len(systems) < 2:
            raise DataError(f"{name}: {len(systems)} system; interleaving compares two or more")
        place = {system: at for at, system in enumerate(systems)}
        credits_of = np.full((len(listed), len(systems)), np.nan)
        user_of: list[str] = []
        named = [user is not None for user, _, _ in listed]
        if any(named) and not all(named):
            _, impression, _ = listed[named.index(False)]
            raise DataError(f"{name}: impression {impression!r} has no user, and others have; name all or none")
        for at, (user, impression, credit) in enumerate(listed):
            user_of.append(impression if user is None else user)
            for system, value in credit.items():
                credits_of[at, place[system]] = value
        names, codes = np.unique(np.array(user_of), return_inverse=True)
        return cls(tuple(systems), tuple(names.tolist()), codes, credits_of, all(named), name=name)

    def first(self, count: int) -> Impressions:
        """The first impressions of the log."""
        return self._kept(np.arange(len(self.credit)) < count)

    def shared(self, system: str, baseline: str) -> Impressions:
        """The impressions in which both systems took part."""
        return self._kept(self.together(system, baseline))

    def together(self, system: str, baseline: str) -> Bools:
        """The impressions in which both systems took part."""
        return np.asarray(np.isfinite(self._column(system)) & np.isfinite(self._column(baseline)))

    def outcomes(self, system: str, baseline: str) -> Floats:
        """+1 where the system got more credit, 0 for a tie, −1 where the baseline got more; of shared impressions."""
        both = self.together(system, baseline)
        return np.asarray(np.sign(self._column(system)[both] - self._column(baseline)[both]))

    def without_clicks(self) -> Bools:
        """The impressions in which no system got any credit."""
        return np.asarray(np.nansum(self.credit, axis=1) == 0)

    def clicked(self) -> Impressions:
        """The impressions in which a system got credit."""
        kept = ~self.without_clicks()
        if not kept.any():
            raise DataError(f"{self.name}: no impression has a click that was credited; nothing can be compared")
        return self._kept(kept)

    def _kept(self, kept: Bools) -> Impressions:
        """Some impressions, and their users."""
        users, user_of = np.unique(self.user_of[kept], return_inverse=True)
        names = tuple(self.users[at] for at in users)
        return replace(self, users=names, user_of=user_of, credit=self.credit[kept])

    def _column(self, system: str) -> Floats:
        if system not in self.systems:
            raise UsageError(f"no system {system!r} in {self.name}{did_you_mean(system, self.systems)}")
        return np.asarray(self.credit[:, self.systems.index(system)])


def pair_of(systems: Sequence[str], baseline: str | None, name: str) -> tuple[str, str]:
    """The system and the baseline where there are two; baseline: by default the second by name."""
    if len(systems) != 2:
        raise UsageError(f"{name}: {len(systems)} systems; name two with --system and --baseline, or ask for pairs")
    first, second = systems
    if baseline is None or baseline == second:
        return first, second
    if baseline != first:
        raise UsageError(f"no system {baseline!r} in {name}{did_you_mean(baseline, systems)}")
    return second, first
