"""Measures of preferences: how many of the pairs "this doc rather than that one" does a ranking fulfil?

The 14 `prefs_*` measures of trec_eval (Buckley; after Carterette, Bennett, Chickering & Dumais 2008). Judgments come in
groups, one per person and need. A preference A > B is fulfilled where A is ranked above B, or where A is retrieved and
B is not. Where neither is retrieved it is not fulfilled; the forms `_imp` leave such pairs out, and the forms `_ret`
count only pairs of which both docs are retrieved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError
from assay.core.lazy import np
from assay.core.registry import Registry

if TYPE_CHECKING:
    import numpy.typing as npt

PAPER = "Carterette, Bennett, Chickering & Dumais 2008; trec_eval (Buckley)"
Levels = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Group:
    """The preferences of one group on one topic.

    Docs are numbered: first those that the run has retrieved, in the order of their ranks, then all others.
    """

    wins: Bools
    """wins[a, b]: doc a is preferred to doc b."""
    levels: Floats
    """The level of each doc; NaN for a doc that this group has not judged. Level 0 is not relevant."""
    retrieved: int
    """How many of the docs the run has retrieved."""
    complete: bool
    """Whether all docs were compared with each other: there is one subgroup only."""

    @cached_property
    def counts(self) -> Counts:
        """How many preferences there are, and how many the ranking fulfils."""
        return Counts.of(self.wins, self.retrieved)


@dataclass(frozen=True)
class Counts:
    """Preferences of a group: fulfilled and possible, by how many of the two docs are retrieved."""

    fulfilled_both: int
    possible_both: int
    fulfilled_one: int
    possible_one: int
    possible_none: int

    @classmethod
    def of(cls, wins: Bools, retrieved: int) -> Counts:
        """Count them in a matrix of wins, whose first docs are retrieved and stand in the order of their ranks."""
        both = wins[:retrieved, :retrieved]
        only_better = int(wins[:retrieved, retrieved:].sum())
        only_worse = int(wins[retrieved:, :retrieved].sum())
        return cls(
            fulfilled_both=int(np.triu(both, 1).sum()),
            possible_both=int(both.sum()),
            fulfilled_one=only_better,
            possible_one=only_better + only_worse,
            possible_none=int(wins[retrieved:, retrieved:].sum()),
        )

    def share(self, pairs: str) -> tuple[int, int]:
        """Fulfilled and possible preferences of the `ret` pairs, of `imp` (those and the implied ones), or of all."""
        if pairs == "ret":
            return self.fulfilled_both, self.possible_both
        fulfilled = self.fulfilled_both + self.fulfilled_one
        possible = self.possible_both + self.possible_one
        return fulfilled, possible if pairs == "imp" else possible + self.possible_none


PREFERENCES: Registry[Callable[[Sequence[Group]], float]] = Registry("measure of preferences")
"""Measures of the groups of one topic; facts: paper, whole (a count, summed over the topics)."""

preference_measure = PREFERENCES.register


def groups_of_topic(groups: Mapping[str, Mapping[str, Levels]], ranking: Sequence[str]) -> list[Group]:
    """The preferences of a topic's groups, in the order of their names, with docs numbered as a ranking has them."""
    judged = {doc for subgroups in groups.values() for levels in subgroups.values() for doc in levels}
    found = [doc for doc in ranking if doc in judged]
    rest = sorted(judged.difference(found), key=str.encode)
    number = {doc: i for i, doc in enumerate([*found, *rest])}
    by_name = sorted(groups, key=str.encode)
    return [_group(name, groups[name], number, len(found)) for name in by_name]


def _group(name: str, subgroups: Mapping[str, Levels], number: Mapping[str, int], retrieved: int) -> Group:
    wins = np.zeros((len(number), len(number)), dtype=bool)
    levels = np.full(len(number), np.nan)
    for subgroup in sorted(subgroups, key=str.encode):
        docs = np.array([number[doc] for doc in subgroups[subgroup]])
        given = np.array(list(subgroups[subgroup].values()))
        known = ~np.isnan(levels[docs])
        if ((levels[docs] == 0) != (given == 0))[known].any():
            raise DataError(f"group {name!r}: a doc has level 0 in one subgroup and another level in another")
        levels[docs] = given
        wins[np.ix_(docs, docs)] |= given[:, None] > given[None, :]
    complete = len(subgroups) == 1
    if not complete:
        wins = _transitive(wins)
        if (wins & wins.T).any():
            raise DataError(
                f"group {name!r}: two docs are each preferred to the other; give each opinion its own group"
            )
    return Group(wins, levels, retrieved, complete)


def _transitive(wins: Bools) -> Bools:
    """Wins, with those that follow from others: A > B and B > C make A > C."""
    while True:
        through = wins.astype(np.float32)
        more = wins | (through @ through > 0)
        if (more == wins).all():
            return wins
        wins = more


@preference_measure("prefs_num_prefs_poss", paper=PAPER, whole=True)
def possible(groups: Sequence[Group]) -> float:
    """Preferences that were judged, over all groups."""
    return float(sum(g.counts.share("all")[1] for g in groups))


@preference_measure("prefs_num_prefs_ful", paper=PAPER, whole=True)
def fulfilled(groups: Sequence[Group]) -> float:
    """Preferences that the ranking fulfils, the implied ones among them: A retrieved, B not."""
    return float(sum(g.counts.share("all")[0] for g in groups))


@preference_measure("prefs_num_prefs_ful_ret", paper=PAPER, whole=True)
def fulfilled_retrieved(groups: Sequence[Group]) -> float:
    """Preferences between retrieved docs that the ranking fulfils."""
    return float(sum(g.counts.share("ret")[0] for g in groups))


@preference_measure("prefs_simp", paper=PAPER)
def simple(groups: Sequence[Group]) -> float:
    """Share of all preferences, over all groups, that the ranking fulfils."""
    return _over_all(groups, "all")


@preference_measure("prefs_pair", paper=PAPER)
def pair(groups: Sequence[Group]) -> float:
    """Mean over the pairs of docs of the share of their preferences that the ranking fulfils.

    A pair on which three groups agree with the ranking and two do not counts 3/5, however many groups judged it.
    """
    return _over_pairs(groups, "all")


@preference_measure("prefs_avgjg", paper=PAPER)
def by_group(groups: Sequence[Group]) -> float:
    """Mean over the groups of the share of their preferences that the ranking fulfils: every person counts the same."""
    return _over_groups(groups, "all")


@preference_measure("prefs_avgjg_Rnonrel", paper=PAPER)
def by_group_with_few_nonrelevant(groups: Sequence[Group]) -> float:
    """prefs_avgjg with as many docs of level 0 as relevant ones (R) in each group.

    Where a group has fewer, R·(R − N) fulfilled preferences are added; where it has more, only the first R of them in
    rank order count. It is akin to bpref. As in trec_eval, a group whose docs all were compared with each other then
    also counts the pairs of docs of level 0, and a topic with a group without any preference scores 0.
    """
    return _with_few_nonrelevant(groups, only_retrieved=False)


@preference_measure("prefs_simp_ret", paper=PAPER)
def simple_retrieved(groups: Sequence[Group]) -> float:
    """prefs_simp over the preferences between retrieved docs."""
    return _over_all(groups, "ret")


@preference_measure("prefs_pair_ret", paper=PAPER)
def pair_retrieved(groups: Sequence[Group]) -> float:
    """prefs_pair over the pairs of retrieved docs."""
    return _over_pairs(groups, "ret")


@preference_measure("prefs_avgjg_ret", paper=PAPER)
def by_group_retrieved(groups: Sequence[Group]) -> float:
    """prefs_avgjg over the preferences between retrieved docs."""
    return _over_groups(groups, "ret")


@preference_measure("prefs_avgjg_Rnonrel_ret", paper=PAPER)
def by_group_with_few_nonrelevant_retrieved(groups: Sequence[Group]) -> float:
    """prefs_avgjg_Rnonrel over the preferences between retrieved docs, R and N being retrieved docs too."""
    return _with_few_nonrelevant(groups, only_retrieved=True)


@preference_measure("prefs_simp_imp", paper=PAPER)
def simple_implied(groups: Sequence[Group]) -> float:
    """prefs_simp without the pairs of which neither doc is retrieved."""
    return _over_all(groups, "imp")


@preference_measure("prefs_pair_imp", paper=PAPER)
def pair_implied(groups: Sequence[Group]) -> float:
    """prefs_pair without the pairs of which neither doc is retrieved."""
    return _over_pairs(groups, "imp")


@preference_measure("prefs_avgjg_imp", paper=PAPER)
def by_group_implied(groups: Sequence[Group]) -> float:
    """prefs_avgjg without the pairs of which neither doc is retrieved."""
    return _over_groups(groups, "imp")


def _over_all(groups: Sequence[Group], pairs: str) -> float:
    shares = [g.counts.share(pairs) for g in groups]
    total = sum(possible for _, possible in shares)
    return sum(fulfilled for fulfilled, _ in shares) / total if total else 0.0


def _over_groups(groups: Sequence[Group], pairs: str) -> float:
    """A group without preferences of this kind adds 0 and counts."""
    shares = [g.counts.share(pairs) for g in groups]
    return sum(fulfilled / possible for fulfilled, possible in shares if possible) / len(groups)


def _over_pairs(groups: Sequence[Group], pairs: str) -> float:
    retrieved = groups[0].retrieved
    votes = np.sum([g.wins for g in groups], axis=0, dtype=np.int64)
    # Docs are numbered by rank: the doc with the smaller number is above the other, and votes for it are fulfilled.
    above = np.triu(votes, 1)
    below = np.triu(votes.T, 1)
    judged = (above + below) > 0
    shares = np.zeros(votes.shape)
    np.divide(above, above + below, out=shares, where=judged)
    fulfilled = shares[:retrieved, :retrieved][judged[:retrieved, :retrieved]]
    count = len(fulfilled)
    if pairs != "ret":
        fulfilled = np.concatenate([fulfilled, shares[:retrieved, retrieved:][judged[:retrieved, retrieved:]]])
        count = len(fulfilled)
    if pairs == "all":
        count += int(judged[retrieved:, retrieved:].sum())
    # Added one after the other, as trec_eval does, so that even the last digit rounds as it does there.
    return float(fulfilled.cumsum()[-1]) / count if len(fulfilled) else 0.0


def _with_few_nonrelevant(groups: Sequence[Group], *, only_retrieved: bool) -> float:
    total = 0.0
    for group in groups:
        fulfilled, possible = _balanced(group, only_retrieved)
        if not possible:
            return 0.0
        total += fulfilled / possible
    return total / len(groups)


def _balanced(group: Group, only_retrieved: bool) -> tuple[int, int]:
    """Fulfilled and possible preferences of a group that has as many docs of level 0 as relevant ones."""
    seen = slice(group.retrieved if only_retrieved else None)
    relevant = int((group.levels[seen] > 0).sum())
    nonrelevant = int((group.levels[seen] <= 0 if group.complete else group.levels[seen] == 0).sum())
    if relevant < nonrelevant:
        few = _few_of_classes if group.complete else _few_of_pairs
        return few(group, relevant, only_retrieved)
    fulfilled, possible = group.counts.share("ret" if only_retrieved else "all")
    missing = relevant - nonrelevant
    fulfilled += int((group.levels[: group.retrieved] > 0).sum()) * missing
    possible += int((group.levels > 0).sum()) * missing
    return fulfilled, possible


def _few_of_classes(group: Group, relevant: int, only_retrieved: bool) -> tuple[int, int]:
    """Where all docs were compared: the wins among all but the lowest class, and all docs against its first docs."""
    depth = group.retrieved if only_retrieved else len(group.levels)
    lowest = np.nanmin(group.levels)
    docs = np.flatnonzero(~np.isnan(group.levels[:depth]))
    better = np.flatnonzero(group.levels[:depth] > lowest)
    first = np.flatnonzero(group.levels[:depth] == lowest)[:relevant]
    among_better = Counts.of(group.wins[np.ix_(better, better)], int((better < group.retrieved).sum()))
    fulfilled, possible = among_better.share("all")
    above = (docs[:, None] < first[None, :]) & (docs[:, None] < group.retrieved)
    return fulfilled + int(above.sum()), possible + above.size


def _few_of_pairs(group: Group, relevant: int, only_retrieved: bool) -> tuple[int, int]:
    """Where some docs were not compared: the wins without the docs of level 0 past the first ones."""
    depth = group.retrieved if only_retrieved else len(group.levels)
    # trec_eval keeps as many as there are relevant docs, retrieved or not, also where only retrieved docs count.
    allowed = int((group.levels > 0).sum()) if only_retrieved else relevant
    nonrelevant: Ints = np.flatnonzero(group.levels[:depth] == 0)
    kept: npt.NDArray[np.intp] = np.setdiff1d(np.arange(depth), nonrelevant[allowed:])
    counts = Counts.of(group.wins[np.ix_(kept, kept)], int((kept < group.retrieved).sum()))
    return counts.share("ret" if only_retrieved else "all")
