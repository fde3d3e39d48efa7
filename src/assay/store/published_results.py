"""What do papers report? Published scores in and out of the store, joined to pairs, beside the runs that are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.data import ScoreMatrix
from assay.data.published import PublishedScore
from assay.io.published import read_published
from assay.io.sheet import write_sheet
from assay.measures import parse
from assay.store.database import Database, plain
from assay.store.schema import published, sa
from assay.store.stored_collections import Collections, batches
from assay.store.stored_runs import StoredRuns
from assay.store.stored_scores import StoredScores
from assay.studies.survey import Survey, survey

COLUMNS = tuple(field.name for field in fields(PublishedScore))
"""The columns of a file of published scores."""


class PublishedResults:
    """The published scores of a store."""

    def __init__(self, database: Database, known: Collections, stored: StoredRuns, scores: StoredScores) -> None:
        self._db = database
        self._collections = known
        self._runs = stored
        self._scores = scores

    def add(self, given: str | Path | Sequence[PublishedScore]) -> int:
        """Scores of a file that `assay study survey` reads, or as they are; how many were not there yet.

        The same score of the same paper is kept once.
        """
        listed = read_published(given) if isinstance(given, str | Path) else list(given)
        new = 0
        with self._db.writing() as connection:
            known = set(map(_key, self._rows(connection, None)))
            rows = []
            for score in listed:
                if _key(score) not in known:
                    known.add(_key(score))
                    rows.append(_row(score))
            for some in batches(rows, 2000):
                connection.execute(sa.insert(published), some)
            new = len(rows)
        return new

    def listed(self, collection: str | None = None) -> list[PublishedScore]:
        """All published scores, or those on one collection, in the order in which they came."""
        with self._db.reading() as connection:
            return self._rows(connection, collection)

    def write(self, path: str | Path, collection: str | None = None) -> int:
        """A file (CSV, TSV, JSONL, Parquet) of published scores that `add` reads; how many there are."""
        listed = self.listed(collection)
        write_sheet(path, list(COLUMNS), [_cells(score) for score in listed])
        return len(listed)

    def remove(self, *, paper: str, collection: str | None = None) -> int:
        """Take the scores of a paper out, on one collection or on all; how many there were."""
        condition = published.c.paper == paper
        if collection is not None:
            condition = condition & (published.c.collection == collection)
        with self._db.writing() as connection:
            removed = connection.execute(sa.delete(published).where(condition)).rowcount
        if not removed:
            raise UsageError(f"no published score of the paper {paper!r}")
        return removed

    def survey(self, collections: Sequence[str] | None = None, *, split: float | None = None) -> Survey:
        """Strongest baseline and best improved score of each paper, beside the public runs that the store has.

        A pair is joined within its collection and query type only. collections: only these.
        """
        scores = self.listed()
        if collections is not None:
            scores = [score for score in scores if score.collection in collections]
        if not any(score.kind != "run" and not score.excluded for score in scores):
            raise DataError("there is no published baseline or improved score; add a file of published results")
        return survey(scores, tracks=self._tracks(scores), split=split)

    def _tracks(self, scores: Sequence[PublishedScore]) -> dict[str, list[ScoreMatrix]]:
        """The scores of the public runs of each collection, in the measures that papers report and assay knows."""
        measures: dict[str, set[str]] = {}
        for score in scores:
            if score.kind != "run" and not score.excluded:
                measures.setdefault(score.collection, set()).add(score.measure)
        tracks: dict[str, list[ScoreMatrix]] = {}
        for collection in self._collections.listed():
            reported = [text for text in measures.get(collection.name, ()) if _is_known(text)]
            runs = self._runs.listed(collection.name, seen_by="public") if collection.qrels else []
            # MAP and AP are one measure, whose runs count once
            asked = {str(parse(text)) for text in reported}
            if asked and runs:
                tracks[collection.name] = [
                    self._scores.matrix(collection.name, measure, runs=runs) for measure in sorted(asked)
                ]
        return tracks

    def _rows(self, connection: sa.Connection, collection: str | None) -> list[PublishedScore]:
        wanted = sa.select(*(published.c[name] for name in COLUMNS)).order_by(published.c.id)
        if collection is not None:
            wanted = wanted.where(published.c.collection == collection)
        return [PublishedScore(**row) for row in connection.execute(wanted).mappings()]


def _is_known(measure: str) -> bool:
    try:
        return bool(parse(measure))
    except UsageError:  # papers may report what nobody scores here
        return False


def _row(score: PublishedScore) -> dict[str, Any]:
    """A score as the database holds it."""
    row = asdict(score)
    for name, value in row.items():
        if isinstance(value, str):
            row[name] = plain(value, name)
    return row


def _cells(score: PublishedScore) -> list[Any]:
    """A score as a row of a file: yes and no for the claim, nothing where nothing is said."""
    row = asdict(score)
    row["significant"] = {None: "", True: "yes", False: "no"}[score.significant]
    row["year"] = "" if score.year is None else f"{score.year:g}"
    return [row[name] for name in COLUMNS]


def _key(score: PublishedScore) -> tuple[Any, ...]:
    return tuple(asdict(score).values())
