"""Which groups does each doc belong to? Soft memberships by attribute, e.g. gender: half A, half B."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids, coded
from assay.core.registry import did_you_mean, one_of

ATTRIBUTE = "group"
"""What the attribute is called where there is only one and nobody names it."""
UNKNOWN = "unknown"
"""The group of docs of which no group is known, where they have one of their own."""
ON_UNKNOWN = ("error", "group", "skip")
"""What is done with docs without a group: refused, put into a group of their own, or given no exposure."""
SUM_TOLERANCE = 1e-6
"""How far the shares of a doc may be from 1: files have rounded numbers."""
MOST_GROUPS = 100_000
"""Groups that attributes together may have."""

Row = tuple[str, str, str, float | None]
"""Doc, attribute, group, and the share of the doc that belongs to the group; None for equal shares."""


@dataclass(frozen=True, eq=False)
class GroupShares:
    """Groups of one attribute, or of several together, and how each doc is divided among them: docs × groups.

    A doc of which no group is known has a row of zeros, or stands in a group of its own, the last.
    """

    attribute: str
    groups: tuple[str, ...]
    docs: Ids
    shares: Floats
    unknown: Floats
    """The shares of a doc that is not among the docs: all in the last group, or zeros."""

    def of(self, docs: Ids) -> Floats:
        """The shares of these docs: docs × groups; zeros, or the group of its own, for a doc without a group."""
        (own, wanted), every = coded([self.docs, docs])
        row_of = np.full(len(every), len(own))
        row_of[own] = np.arange(len(own))
        with_unknown = np.vstack([self.shares, self.unknown])
        return np.asarray(with_unknown[row_of[wanted]])


@dataclass(frozen=True, eq=False, repr=False)
class DocGroups:
    """The groups of docs, by attribute.

    >>> found = DocGroups.from_dict({"a": "north", "b": {"north": 0.5, "south": 0.5}})
    >>> found
    DocGroups(2 docs, group: north, south)
    >>> found.by().shares.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    docs: Ids
    groups: Mapping[str, tuple[str, ...]]
    """{attribute: its groups}."""
    shares: Mapping[str, Floats]
    """{attribute: docs × groups}, rows that sum to 1 or are 0."""
    name: str = "groups"

    def __repr__(self) -> str:
        parts = [f"{attribute}: {', '.join(groups)}" for attribute, groups in self.groups.items()]
        return f"DocGroups({len(self.docs)} docs, {'; '.join(parts)})"

    @classmethod
    def from_dict(cls, groups: Mapping[str, Any], *, attribute: str = ATTRIBUTE) -> DocGroups:
        """Groups of one attribute from {doc: group}, {doc: [groups]} for equal shares, or {doc: {group: share}}."""
        rows: list[Row] = []
        for doc, own in groups.items():
            if isinstance(own, Mapping):
                rows += [(str(doc), attribute, str(group), share) for group, share in own.items()]
            else:
                several = [own] if isinstance(own, str | int) else list(own)
                rows += [(str(doc), attribute, str(group), None) for group in several]
        return cls.from_rows(rows)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], *, name: str = "groups") -> DocGroups:
        """Groups from (doc, attribute, group, share); a share of None divides the doc equally among its groups."""
        listed = list(rows)
        if not listed:
            raise DataError(f"{name}: no doc has a group; give rows of doc and group")
        docs = list(dict.fromkeys(row[0] for row in listed))
        place = {doc: at for at, doc in enumerate(docs)}
        groups: dict[str, dict[str, int]] = {}
        for _, attribute, group, _ in listed:
            known = groups.setdefault(attribute, {})
            known.setdefault(group, len(known))
        shares = {attribute: np.zeros((len(docs), len(own))) for attribute, own in groups.items()}
        seen: set[tuple[str, str, str]] = set()
        for doc, attribute, group, share in listed:
            if (doc, attribute, group) in seen:
                raise DataError(f"{name}: doc {doc!r} has group {group!r} of {attribute!r} twice; give it once")
            seen.add((doc, attribute, group))
            given = 1.0 if share is None else float(share)
            if not 0 <= given <= 1:
                raise DataError(f"{name}: doc {doc!r} belongs to {group!r} with share {given:g}; shares are 0 to 1")
            shares[attribute][place[doc], groups[attribute][group]] = given
        divided = {row[1] for row in listed if row[3] is None}
        for attribute, values in shares.items():
            _sum_to_one(values, docs, attribute, name, equal=attribute in divided)
        names = {attribute: tuple(own) for attribute, own in groups.items()}
        return cls(Ids.of(docs), names, shares, name)

    def by(self, attributes: Sequence[str] = (), *, unknown: str = "error") -> GroupShares:
        """The groups of one attribute, or of several together: a doc that is half A and all X is half A·X.

        attributes: by default all. unknown: with "group" a doc without a group of an attribute is in one of its own,
        called unknown; otherwise it has a group in all of them, or none.
        """
        one_of("unknown", unknown, ON_UNKNOWN)
        chosen = list(attributes) or list(self.groups)
        for attribute in chosen:
            if attribute not in self.groups:
                raise UsageError(f"no attribute {attribute!r} in {self.name}{did_you_mean(attribute, self.groups)}")
        names, shares = self._groups_of(chosen[0], unknown)
        for attribute in chosen[1:]:
            others, other_shares = self._groups_of(attribute, unknown)
            if len(names) * len(others) > MOST_GROUPS:
                raise UsageError(f"{' × '.join(chosen)}: more than {MOST_GROUPS:,} groups; take fewer attributes")
            names = [f"{first}·{second}" for first in names for second in others]
            product = shares[:, :, None] * other_shares[:, None, :]
            shares = product.reshape(len(shares), -1)
        of_unknown = np.zeros(len(names))
        if unknown == "group":
            of_unknown[-1] = 1
        return GroupShares(" × ".join(chosen), tuple(names), self.docs, shares, of_unknown)

    def _groups_of(self, attribute: str, unknown: str) -> tuple[list[str], Floats]:
        """The groups of an attribute and the shares in them; with the group of docs that have none as the last."""
        names = list(self.groups[attribute])
        shares = self.shares[attribute]
        if unknown != "group":
            return names, shares
        if UNKNOWN in names:
            raise UsageError(f"{attribute!r} has a group called {UNKNOWN!r} already; rename it")
        without = shares.sum(axis=1) == 0
        return [*names, UNKNOWN], np.column_stack([shares, without])


def _sum_to_one(values: Floats, docs: Sequence[str], attribute: str, name: str, *, equal: bool) -> None:
    """Shares that sum to 1 in every row that has any, made so where they are equal; an error for other sums."""
    sums = values.sum(axis=1)
    there = sums > 0
    if not equal:
        wrong = np.flatnonzero(there & (np.abs(sums - 1) > SUM_TOLERANCE))
        if len(wrong):
            at = int(wrong[0])
            what = f"the shares of doc {docs[at]!r} in the groups of {attribute!r} sum to {sums[at]:g}"
            raise DataError(f"{name}: {what}; they must sum to 1")
    values[there] /= sums[there, None]
