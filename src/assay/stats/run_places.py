"""Where does each run stand among the others, and how do groups of runs compare? Ranks, percentiles, distances.

Where it stands: a score matrix, and groups by what is known of the runs → **places**, **groups of runs**. Nothing is
tested here: `compare` says which differences are significant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import IN_WORDS
from assay.data.scores import ScoreMatrix
from assay.rankings.counts import settled, tie_groups


@dataclass(frozen=True, eq=False)
class RunPlaces(Result):
    """Runs by mean, best first, with their place among all runs, and within their group where groups are given."""

    measure: str
    runs: tuple[str, ...]
    means: Floats
    ranks: tuple[int, ...]
    percentiles: Floats
    """Percentage of the other runs that have a smaller mean; runs of equal mean count half."""
    marks: Mapping[str, float]
    """Means that runs are measured against, by name: `best`, `median`, and the best of chosen runs."""
    by: str | None = None
    """What the groups are by, e.g. type."""
    groups: tuple[str | None, ...] = ()
    ranks_in_group: tuple[int | None, ...] = ()
    topics: int = 0
    top: int | None = None
    """Rows that the table shows at most: the best runs."""
    average: str = "mean"
    """What the score of a run over all topics is, e.g. `geometric mean`."""

    def best(self, top: int) -> RunPlaces:
        """The same places, of which only those of the `top` best runs are shown."""
        return replace(self, top=top)

    def table(self) -> Table:
        """One row per run: rank, percentile, mean, and its distance to each mark."""
        columns = {"run": "", "rank": "d", "percentile": ".1f", self.average: ".4f"}
        for name in self.marks:
            columns[f"Δ {name}"] = "+.4f"
        if self.by is not None:
            columns |= {self.by: "", "rank in group": "d", "Δ best of group": "+.4f"}
        best_of_group = self._best_of_group()
        rows = []
        for i, run in enumerate(self.runs[: self.top]):
            row: list[Any] = [run, self.ranks[i], self.percentiles[i], self.means[i]]
            row += [self.means[i] - mark for mark in self.marks.values()]
            if self.by is not None:
                group = self.groups[i]
                behind = None if group is None else self.means[i] - best_of_group[group]
                row += [group, self.ranks_in_group[i], behind]
            rows.append(row)
        some = "" if len(rows) == len(self.runs) else f"{len(rows)} of "
        caption = f"{self.measure}: places of {some}{len(self.runs)} runs, {self.topics} topics"
        notes = [
            f"percentile: percentage of the other runs that have a smaller {self.average}, equal ones counting half",
            f"Δ: the run's {self.average} minus the best one, the median of all runs, and so on; no difference is "
            "tested here",
        ]
        return Table.of(columns, rows, caption=caption, notes=notes)

    def _best_of_group(self) -> dict[str, float]:
        """The best mean of each group: the first one, since runs are sorted by mean."""
        best: dict[str, float] = {}
        for group, mean in zip(self.groups, self.means, strict=False):
            if group is not None:
                best.setdefault(group, float(mean))
        return best


def places(
    matrix: ScoreMatrix,
    *,
    best_of: Mapping[str, Sequence[str]] | None = None,
    groups: Mapping[str, str] | None = None,
    by: str = "group",
) -> RunPlaces:
    """Rank, percentile and distance to the best run, to the median run and to the best of chosen runs.

    best_of: {name: runs}, e.g. {"best automatic": ["bm25", "dense"]}; each adds a distance. groups: {run: group},
    which adds the place within the group; by: what the groups are called in the table.

    >>> m = ScoreMatrix.of([[0.5, 0.7], [0.4, 0.4], [0.1, 0.3]], runs=["new", "old", "manual"])
    >>> found = places(m, best_of={"best automatic": ["old", "manual"]})
    >>> found.percentiles.tolist(), [round(d, 2) for d in found.table().column("Δ best automatic")]
    ([100.0, 50.0, 0.0], [0.2, 0.0, -0.2])
    """
    ordered = matrix.by_average()
    means = ordered.averages()
    better, tied = tie_groups(-settled(means))
    runs = len(means)
    worse = runs - np.asarray(better) - np.asarray(tied)
    beside = np.asarray(tied) - 1
    percentiles = 100 * (worse + beside / 2) / max(runs - 1, 1) if runs > 1 else np.full(runs, 100.0)
    marks = {"best": float(means.max()), "median": float(np.median(means))}
    for name, chosen in (best_of or {}).items():
        known = [run for run in chosen if run in ordered.runs]
        if not known:
            raise UsageError(f"{name}: none of these runs has scores; name others")
        marks[name] = max(float(means[ordered.runs.index(run)]) for run in known)
    of_run = [None if groups is None else groups.get(run) for run in ordered.runs]
    return RunPlaces(
        measure=matrix.measure,
        runs=ordered.runs,
        means=means,
        ranks=tuple(int(count) + 1 for count in better),
        percentiles=percentiles,
        marks=marks,
        by=None if groups is None else by,
        groups=tuple(of_run),
        ranks_in_group=tuple(_ranks_within(of_run, means)),
        topics=len(matrix.topics),
        average=IN_WORDS[matrix.aggregate],
    )


def _ranks_within(groups: Sequence[str | None], means: Floats) -> list[int | None]:
    """The rank of each run among those of its group, from 1; equal means share one."""
    settled_means = settled(means)
    ranks: list[int | None] = []
    for group, mean in zip(groups, settled_means, strict=True):
        if group is None:
            ranks.append(None)
            continue
        of_group = np.array([other == group for other in groups])
        ranks.append(int((settled_means[of_group] > mean).sum()) + 1)
    return ranks


@dataclass(frozen=True, eq=False)
class RunGroups(Result):
    """What groups of runs score: their number, the best, the median and the worst mean, and the best run."""

    by: str
    measures: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    """Runs of each group, the group with the best run by the first measure first."""
    means: Mapping[str, Floats]
    """Means of all runs, by measure, in the order of `runs`."""
    runs: tuple[str, ...]

    def table(self) -> Table:
        """One row per group and measure."""
        columns = {self.by: "", "measure": "", "runs": "d", "best": ".4f", "median": ".4f", "worst": ".4f"}
        columns["best run"] = ""
        rows = []
        for measure in self.measures:
            means = dict(zip(self.runs, self.means[measure], strict=True))
            for group, members in self.groups.items():
                scores = np.array([means[run] for run in members])
                best_run = members[int(scores.argmax())]
                rows.append((group, measure, len(members), scores.max(), np.median(scores), scores.min(), best_run))
        grouped = sum(map(len, self.groups.values()))
        notes = []
        if grouped < len(self.runs):
            notes.append(f"{len(self.runs) - grouped} of {len(self.runs)} runs are in no group")
        return Table.of(columns, rows, caption=f"Runs by {self.by}", notes=notes)


def run_groups(matrices: Sequence[ScoreMatrix], groups: Mapping[str, str], *, by: str = "group") -> RunGroups:
    """The best, median and worst mean of each group of runs, for every measure.

    groups: {run: group}; runs without one are counted in a note. by: what the groups are called.

    >>> m = ScoreMatrix.of([[0.5], [0.4], [0.1]], runs=["a", "b", "c"], measure="AP")
    >>> run_groups([m], {"a": "x", "b": "y", "c": "x"}, by="team").table().column("best run")
    ['a', 'b']
    """
    head = matrices[0]
    members: dict[str, list[str]] = {}
    for run in head.by_average().runs:
        if run in groups:
            members.setdefault(groups[run], []).append(run)
    if not members:
        raise UsageError(f"none of the {len(head.runs)} runs is in a group; check the names of the runs")
    return RunGroups(
        by=by,
        measures=tuple(matrix.measure for matrix in matrices),
        groups={group: tuple(runs) for group, runs in members.items()},
        means={matrix.measure: matrix.select(runs=head.runs).averages() for matrix in matrices},
        runs=head.runs,
    )
