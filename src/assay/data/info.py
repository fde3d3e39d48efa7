"""RunsInfo: what is known of runs beside their docs, one row per run: team, year, type, whatever a file says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean

USUAL = {
    "run": ("run", "tag", "runid", "run_id", "runtag", "run_tag", "name"),
    "team": ("team", "group", "participant", "site", "organisation", "organization"),
    "type": ("type", "runtype", "run_type"),
    "year": ("year",),
    "query": ("query", "topicformat", "topic_format", "querytype", "query_type", "fields"),
}
"""Names under which files have the usual columns, the usual name first."""


@dataclass(frozen=True, eq=False)
class RunsInfo:
    """Columns of texts, as their file names them, with a text for each run; empty where a file says nothing.

    A column answers to its own name and to the usual one: a column `group` is found as `team`.

    >>> info = RunsInfo("runs.csv", ("group", "year"), {"bm25": ("lab", "2026"), "dense": ("lab", "")})
    >>> info.column("team"), info.column("year")["dense"]
    ({'bm25': 'lab', 'dense': 'lab'}, '')
    """

    where: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    def __contains__(self, column: str) -> bool:
        return self._place(column) is not None

    def column(self, name: str) -> dict[str, str]:
        """{run: text} of one column; a column that is not there is an error."""
        at = self._place(name)
        if at is None:
            raise UsageError(f"{self.where}: no column {name!r}{did_you_mean(name, self.columns)}")
        return {run: texts[at] for run, texts in self.rows.items()}

    def of_runs(self, name: str, runs: Sequence[str]) -> list[str | None]:
        """One column for these runs, None where nothing is said; a file that has none of the runs is an error."""
        if not any(run in self.rows for run in runs):
            raise DataError(
                f"{self.where}: none of the {len(runs)} runs is in this file; its runs are {_some(list(self.rows))}"
            )
        texts = self.column(name)
        return [texts.get(run) or None for run in runs]

    def groups(self, name: str, runs: Sequence[str]) -> dict[str, list[str]]:
        """{text: runs} of one column, in the order of the runs; runs of which nothing is said are in no group.

        >>> RunsInfo("runs.csv", ("team",), {"a": ("x",), "b": ("y",), "c": ("x",)}).groups("team", ["a", "b", "c"])
        {'x': ['a', 'c'], 'y': ['b']}
        """
        groups: dict[str, list[str]] = {}
        for run, text in zip(runs, self.of_runs(name, runs), strict=True):
            if text is not None:
                groups.setdefault(text, []).append(run)
        return groups

    def matching(self, condition: str, runs: Sequence[str]) -> list[str]:
        """Those of the runs that meet a condition on a column: `type=manual`, or `type!=manual`; none is an error.

        A run of which the table says nothing meets no condition on that column.

        >>> info = RunsInfo("runs.csv", ("runtype",), {"a": ("manual",), "b": ("automatic",)})
        >>> info.matching("type=manual", ["a", "b", "c"]), info.matching("type!=manual", ["a", "b", "c"])
        (['a'], ['b'])
        """
        column, equals, text = condition.partition("=")
        is_other = column.endswith("!")
        name = column.removesuffix("!").strip()
        wanted = text.strip()
        if not (equals and name and wanted):
            raise UsageError(f"{condition!r}: write COLUMN=TEXT or COLUMN!=TEXT, e.g. type=manual")
        groups = self.groups(name, runs)
        if wanted not in groups:
            raise UsageError(f"{self.where}: no run with {name}={wanted}; {name} is one of: {_some(sorted(groups))}")
        kept = {run for text, members in groups.items() for run in members if (text == wanted) is not is_other}
        if not kept:
            raise UsageError(f"{self.where}: no run is left by {condition}; all of them have that {name}")
        return [run for run in runs if run in kept]

    def meeting(self, conditions: Iterable[str], runs: Sequence[str]) -> list[str]:
        """Those of the runs that meet every one of the conditions, in their order; none is an error.

        >>> rows = {"a": ("manual", "x"), "b": ("automatic", "x"), "c": ("automatic", "y")}
        >>> RunsInfo("runs.csv", ("type", "team"), rows).meeting(["type=automatic", "team=x"], ["a", "b", "c"])
        ['b']
        """
        asked = list(conditions)
        kept = list(runs)
        for condition in asked:
            of_condition = set(self.matching(condition, runs))
            kept = [run for run in kept if run in of_condition]
        if not kept:
            raise UsageError(f"{self.where}: no run meets all of {', '.join(asked)}; leave one of them out")
        return kept

    def _place(self, name: str) -> int | None:
        lowered = [column.strip().lower() for column in self.columns]
        wanted = name.strip().lower()
        same = [other for names in USUAL.values() if wanted in names for other in names]
        return next((lowered.index(known) for known in (wanted, *same) if known in lowered), None)


def _some(names: Sequence[str], most: int = 10) -> str:
    """The first names of a list, for a message."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def group_of_runs(groups: Mapping[str, Sequence[str]], runs: Sequence[str]) -> tuple[str | None, ...]:
    """The group of each run, None where it is in none.

    A group without runs, a run that is not among `runs` and one that is in two groups are errors.

    >>> group_of_runs({"manual": ["b"], "automatic": ["a"]}, ["a", "b", "c"])
    ('automatic', 'manual', None)
    """
    group_of: dict[str, str] = {}
    for group, members in groups.items():
        if not members:
            raise UsageError(f"group {group!r} has no run; leave it out")
        for run in members:
            if run not in runs:
                raise UsageError(f"group {group!r}: run {run!r} is not among the runs; leave it out")
            if run in group_of:
                raise UsageError(f"run {run!r} is in the groups {group_of[run]!r} and {group!r}; name it in one")
            group_of[run] = group
    return tuple(group_of.get(run) for run in runs)


def run_column(header: Iterable[str]) -> int | None:
    """The place of the column of run names in a header; None if there is none.

    >>> run_column(["team", "RunID"])
    1
    """
    lowered = [name.strip().lower() for name in header]
    return next((lowered.index(name) for name in USUAL["run"] if name in lowered), None)
