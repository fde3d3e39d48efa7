"""Which topics belong together? Groups from topic ids, and one score for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.io.brought import score_matrix_of

SEPARATORS = ("/", "_", "-", ".", ":")
"""What may stand between a group and its member; the first that is in every id is taken unless one is given."""
PER_GROUP = {"mean": np.add, "worst": np.minimum, "best": np.maximum}
"""How the scores of a group become one: their mean, the lowest or the highest."""


@dataclass(frozen=True, eq=False)
class TopicGroups(Result):
    """Groups of topics, in the order in which they come, and which topic is in which.

    >>> groups = topic_groups(["31_1", "31_2", "32_1"])
    >>> groups.names, groups.sizes.tolist()
    (('31', '32'), [2, 1])
    """

    names: tuple[str, ...]
    members: tuple[str, ...]
    """The name of each topic within its group."""
    places: Ints
    """The group of each topic."""
    separator: str

    @property
    def sizes(self) -> Ints:
        """Topics of each group."""
        return np.bincount(self.places, minlength=len(self.names))

    def table(self) -> Table:
        """One row per group: how many topics it has, and their names within it."""
        rows = []
        for place, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            own = [member for member, at in zip(self.members, self.places, strict=True) if at == place]
            rows.append([name, size, " ".join(own)])
        return Table.of({"group": "", "topics": "d", "members": ""}, rows, caption=f"{len(rows)} groups of topics")

    def in_words(self, group: str, member: str) -> str:
        """How many there are, e.g. "20 conversations of 4 to 9 turns"."""
        least, most = int(self.sizes.min()), int(self.sizes.max())
        each = f"{most} {member}s" if least == most else f"{least} to {most} {member}s"
        return f"{len(self.names)} {group}s of {each.removesuffix('s') if most == 1 else each}"

    def means(self, values: Floats) -> Floats:
        """rows × groups: the mean of the topics of each group."""
        return np.asarray(self.reduced(values, np.add) / self.sizes)

    def reduced(self, values: Floats, operation: np.ufunc) -> Floats:
        """rows × groups: the topics of each group added up, or whatever the operation does with two of them."""
        order = np.argsort(self.places, kind="stable")
        starts = np.cumsum(self.sizes) - self.sizes
        return np.asarray(operation.reduceat(values[:, order], starts, axis=1))


def topic_groups(topics: Sequence[str | int], separator: str | None = None) -> TopicGroups:
    """Groups of topic ids such as `7/2`: what stands before the last separator is the group, what follows the member.

    separator: by default the first of SEPARATORS that every id has.

    >>> topic_groups(["9-1_1", "9-1_2"]).names
    ('9-1',)
    """
    ids = [str(topic) for topic in topics]
    if not ids:
        raise DataError("no topics; groups need at least one")
    chosen = _separator(ids) if separator is None else separator
    if not chosen:
        raise UsageError("the separator is empty; give the character between group and member, e.g. '/'")
    names: dict[str, int] = {}
    places = []
    members = []
    for topic in ids:
        group, found, member = topic.rpartition(chosen)
        if not (group and found and member):
            raise DataError(
                f"topic {topic!r} is not of the form group{chosen}member; give the separator with --separator"
            )
        places.append(names.setdefault(group, len(names)))
        members.append(member)
    return TopicGroups(tuple(names), tuple(members), np.array(places), chosen)


def _separator(ids: Sequence[str]) -> str:
    """The first of SEPARATORS that every id has."""
    for mark in SEPARATORS:
        if all(mark in topic for topic in ids):
            return mark
    some = ", ".join(ids[:3])
    raise DataError(
        f"topics such as {some} have no separator in common ({' '.join(SEPARATORS)}); name one with --separator"
    )


def by_group(scores: Any, *, per: str = "mean", separator: str | None = None) -> ScoreMatrix:
    """One score for each run and group: the mean of its topics, the worst or the best.

    With groups of one topic each, the scores stay as they are.

    >>> turns = ScoreMatrix.of([[0.2, 0.4, 0.9]], runs=["a"], topics=["31_1", "31_2", "32_1"], measure="AP")
    >>> by_group(turns, per="worst").to_dict()
    {'a': {'31': 0.2, '32': 0.9}}
    """
    one_of("per", per, PER_GROUP)
    matrix = needs_means(score_matrix_of(scores), "a score for each group")
    groups = topic_groups(matrix.topics, separator)
    values = groups.reduced(matrix.values, PER_GROUP[per])
    if per == "mean":
        values = values / groups.sizes
    signature = f"{matrix.signature}|per:{per}"
    name = matrix.measure if per == "mean" else f"{per}({matrix.measure})"
    return replace(matrix, topics=groups.names, values=values, measure=name, signature=signature)
