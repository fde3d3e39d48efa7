"""Who leads on a collection, and where does each run stand? The leaderboard of a store with all that surrounds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats import compare
from assay.stats.leaderboard import Leaderboard
from assay.stats.run_places import RunPlaces, places
from assay.store.context import context_lines
from assay.store.qrels_versions import QrelsVersion
from assay.store.stored_collections import Collection
from assay.store.stored_runs import StoredRun, names_of
from assay.store.stored_scores import LOOKED_AT

if TYPE_CHECKING:
    from assay.store.people import Person
    from assay.store.store import Store

LEVEL = 0.05
"""Differences are called significant at this α on every board."""


@dataclass(frozen=True)
class BoardChoices:
    """What a board shows and how it tests: the whole state of the page, as its address has it."""

    measure: str = ""
    """The measure; empty for the collection's own."""
    qrels: str = ""
    """The version of the judgments; empty for the newest."""
    test: str = "t"
    correction: str = "auto"
    """max-t for the t test and Holm for others, or another."""
    baseline: str = ""
    """The tag or hash of a run; empty for the best."""
    type: str = ""
    """Only automatic or only manual runs."""
    team: str = ""
    year: str = ""
    query: str = ""
    reference: str = ""
    """The reference set by which scores are standardized as well."""


@dataclass(frozen=True)
class BoardRow:
    """One run of a board."""

    run: StoredRun
    name: str
    rank: int
    percentile: float
    mean: float
    low: float | None
    high: float | None
    letters: str
    delta: float | None
    p: float | None
    to_best: float
    unjudged: float | None
    missing: int
    standardized: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class CollectionBoard(Result):
    """The runs of a collection by their mean, best first, with the marks of the track beside them.

    `leaderboard` has the tests; None where there is a single run.
    """

    unit = "topic"

    collection: Collection
    version: QrelsVersion
    choices: BoardChoices
    matrix: ScoreMatrix
    rows: tuple[BoardRow, ...]
    leaderboard: Leaderboard | None
    marks: Mapping[str, float]
    """Means of the track that a score is read against, of all runs that the person may see, filtered or not."""
    of_track: int
    """How many runs those are."""

    def table(self) -> Table:
        """One row per run."""
        has_letters = any(row.letters for row in self.rows)
        has_standardized = any(row.standardized for row in self.rows)
        columns = {"run": "", "rank": "d", "team": "", "type": "", "year": "d", "mean": ".4f", "low": ".4f"}
        columns |= {"high": ".4f"} | ({"letters": ""} if has_letters else {})
        columns |= {"Δ": "+.4f", "p": "p", "to best": "+.4f", "percentile": ".1f"}
        columns |= {"unjudged %": ".1f", "missing topics": "d", "hash": ""}
        if has_standardized:
            columns |= {"standardized": ".4f", "standardized low": ".4f", "standardized high": ".4f"}
        rows = []
        for row in self.rows:
            cells: list[Any] = [row.name, row.rank, row.run.team, row.run.kind, row.run.year, row.mean, row.low]
            cells += [row.high, *([row.letters] if has_letters else [])]
            unjudged = None if row.unjudged is None else 100 * row.unjudged
            cells += [row.delta, row.p, row.to_best, row.percentile, unjudged, row.missing, row.run.hash]
            if has_standardized:
                cells += row.standardized or (None, None, None)
            rows.append(cells)
        caption = f"{self.collection.name}: {self.matrix.measure}, {len(rows)} runs, {len(self.matrix.topics)} topics"
        return Table.of(columns, rows, caption=caption, notes=self.notes(), keys={"p": "p_corrected"})

    def notes(self) -> list[str]:
        """How the numbers were made."""
        notes = [] if self.leaderboard is None else self.leaderboard.notes()
        notes = [note for note in notes if self.leaderboard is None or note != self.leaderboard.verdict]
        return [
            *notes,
            f"unjudged: docs without a judgment among the first {LOOKED_AT} of each topic",
            "percentile: percentage of the other runs that have a smaller mean, equal means counting half",
        ]

    def record(self) -> dict[str, Any]:
        """The table with the settings, the marks of the track and the verdict."""
        verdict = None if self.leaderboard is None else self.leaderboard.verdict
        settings = {
            "collection": self.collection.name,
            "qrels": {"version": self.version.version, "hash": self.version.hash},
            "measure": self.matrix.measure,
            "signature": self.matrix.signature,
            "verdict": verdict,
            "marks": [{"name": name, "mean": mean} for name, mean in self.marks.items()],
            "runs_of_track": self.of_track,
        }
        return settings | super().record()


def board(
    store: Store, collection: str, choices: BoardChoices | None = None, *, person: Person | None = None
) -> CollectionBoard:
    """The leaderboard of a collection as the choices want it; person: whose private runs are among the runs.

    Without a person it is what everybody sees.
    """
    chosen = choices or BoardChoices()
    own = store.collections[collection]
    version = store.qrels.version(collection, chosen.qrels or None)
    track = store.runs.listed(collection, seen_by=person or "public")
    if not track:
        raise UsageError(f"collection {collection!r} has no runs yet; upload one")
    measure = chosen.measure or own.measure
    of_track = store.scores.matrix(collection, measure, qrels=version.hash, runs=track)
    listed = filtered(track, chosen)
    if not listed:
        raise UsageError(f"no run of {collection!r} is {_in_words(chosen)}; widen the filter")
    names = dict(zip(names_of(track), track, strict=True))
    names = {name: run for name, run in names.items() if run in listed}
    matrix = of_track.select(runs=list(names))
    tested = _tested(matrix, names, chosen)
    places_of_track = places(of_track)
    rows = _rows(store, version, matrix, names, tested, places_of_track)
    if chosen.reference:
        rows = _standardized(store, rows, chosen.reference, matrix, version)
    marks = context_lines(of_track, track)
    return CollectionBoard(own, version, chosen, matrix, tuple(rows), tested, marks, len(track))


def filtered(runs: Sequence[StoredRun], choices: BoardChoices) -> list[StoredRun]:
    """The runs that the filters of a board keep."""
    kept = []
    for run in runs:
        year = "" if run.year is None else str(run.year)
        fits = (
            choices.type in ("", run.kind)
            and choices.team in ("", run.team)
            and choices.year in ("", year)
            and choices.query in ("", run.query_type)
        )
        if fits:
            kept.append(run)
    return kept


def _in_words(choices: BoardChoices) -> str:
    filters = {"type": choices.type, "team": choices.team, "year": choices.year, "query": choices.query}
    return ", ".join(f"of {name} {value!r}" for name, value in filters.items() if value)


def _tested(matrix: ScoreMatrix, names: Mapping[str, StoredRun], choices: BoardChoices) -> Leaderboard | None:
    if len(matrix.runs) < 2:
        return None
    return compare(
        matrix,
        baseline=_named(choices.baseline, names) if choices.baseline else None,
        test=choices.test,
        correction=choices.correction,
        alpha=LEVEL,
    )


def _named(baseline: str, names: Mapping[str, StoredRun]) -> str:
    """The name in the table of a run that is given by its tag, its name or its hash."""
    for name, run in names.items():
        if baseline in (name, run.tag, run.hash) or (len(baseline) >= 6 and run.hash.startswith(baseline)):
            return name
    raise UsageError(f"the baseline {baseline!r} is none of the runs on this board; choose one of them")


def _rows(
    store: Store,
    version: QrelsVersion,
    matrix: ScoreMatrix,
    names: Mapping[str, StoredRun],
    tested: Leaderboard | None,
    found: RunPlaces,
) -> list[BoardRow]:
    """One row per run, best first."""
    matched = store.scores.matched(version.collection, qrels=version.hash, runs=list(names.values()))
    beside = {match.run.hash: match for match in matched}
    percentiles = dict(zip(found.runs, found.percentiles.tolist(), strict=True))
    ordered = matrix.by_average()
    of_test = {} if tested is None else {row["run"]: row for row in tested.table().record()["rows"]}
    ranks = dict(zip(ordered.runs, places(matrix).ranks, strict=True))
    best = float(ordered.averages()[0])
    rows = []
    for name, mean in zip(ordered.runs, ordered.averages().tolist(), strict=True):
        run = names[name]
        test = of_test.get(name, {})
        match = beside[run.hash]
        row = BoardRow(
            run=run,
            name=name,
            rank=ranks[name],
            percentile=percentiles[name],
            mean=mean,
            low=test.get("low"),
            high=test.get("high"),
            letters=test.get("letters") or "",
            delta=test.get("delta"),
            p=test.get("p_corrected"),
            to_best=mean - best,
            unjudged=match.unjudged_share,
            missing=len(match.missing),
        )
        rows.append(row)
    return rows


def _standardized(
    store: Store, rows: Sequence[BoardRow], reference: str, matrix: ScoreMatrix, version: QrelsVersion
) -> list[BoardRow]:
    """The rows with their standardized means, and the range that other reference runs would leave them."""
    found = store.references.standardized(
        version.collection, reference, matrix.measure, runs=[row.run for row in rows], qrels=version.hash
    )
    values = zip(found.means.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [replace(row, standardized=of_run) for row, of_run in zip(rows, values, strict=True)]
