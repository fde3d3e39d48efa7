"""Which judgments has a collection had? Numbered versions that never change, so that what rests on them stays true."""

from __future__ import annotations

import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.data import Qrels
from assay.io import read_qrels, write_qrels
from assay.io.brought import plain_qrels_of
from assay.io.column_names import Named, shared_columns
from assay.io.trec import refuse_blanks
from assay.store.database import Database, only, plain
from assay.store.kept_files import KeptFiles
from assay.store.schema import collections, qrels, sa
from assay.store.stored_collections import Collections

MOST_IN_MEMORY = 16
"""Versions of judgments that stay in memory once they were read."""


@dataclass(frozen=True)
class QrelsVersion:
    """One version of the judgments of a collection."""

    id: int
    collection: str
    version: int
    hash: str
    label: str
    note: str
    topics: int
    pooled: int
    judged: int
    relevant: int
    """Docs of grade 1 or more."""
    made: float


class QrelsVersions:
    """The judgments of a store: for each collection its versions, the first being 1."""

    def __init__(self, database: Database, files: KeptFiles, known: Collections) -> None:
        self._db = database
        self._files = files
        self._collections = known
        self._read: dict[str, Qrels] = {}
        self._reading = threading.Lock()

    def add(
        self, collection: str, judgments: Any, *, label: str = "", note: str = "", columns: Named = None
    ) -> QrelsVersion:
        """A new version of the judgments; the same judgments again are the version that they are already.

        judgments: a file, {topic: {doc: grade}}, a data frame or a Qrels object. columns: names of the columns of a
        table (ours → theirs).
        """
        own = self._collections[collection]
        shared = shared_columns(columns)
        given = plain_qrels_of(judgments, columns=shared)
        if shared is not None:
            shared.refuse_unused()
        hash = self._files.add(canonical_bytes(given))
        with self._db.writing() as connection:
            # Versions are counted: two that come at the same time must not get one number.
            locked = sa.select(collections.c.id).where(collections.c.id == own.id).with_for_update()
            connection.execute(locked)
            of_collection = qrels.c.collection_id == own.id
            there = sa.select(qrels.c.id).where(of_collection, qrels.c.hash == hash)
            if connection.execute(there).first() is None:
                newest = sa.select(sa.func.max(qrels.c.version)).where(of_collection)
                version = (connection.execute(newest).scalar() or 0) + 1
                facts: dict[str, Any] = _facts(given)
                facts |= {"label": plain(label, "label"), "note": plain(note, "note"), "made": time.time()}
                values = {"collection_id": own.id, "version": version, "hash": hash, **facts}
                connection.execute(sa.insert(qrels).values(values))
        return self.version(collection, hash)

    def listed(self, collection: str) -> list[QrelsVersion]:
        """The versions of a collection, the oldest first."""
        own = self._collections[collection]
        return self._chosen(qrels.c.collection_id == own.id)

    def version(self, collection: str, which: int | str | None = None) -> QrelsVersion:
        """A version by its number, by the beginning of its hash or by its label; by default the newest."""
        versions = self.listed(collection)
        if not versions:
            raise UsageError(f"collection {collection!r} has no judgments yet; add a qrels file")
        if which is None:
            return versions[-1]
        numbered = [one for one in versions if str(one.version) == str(which)]
        labelled = [one for one in versions if one.label == which]
        hashed = [one for one in versions if len(str(which)) >= 6 and one.hash.startswith(str(which))]
        found = numbered or labelled[-1:] or hashed
        known = ", ".join(str(one.version) for one in versions)
        missing = f"collection {collection!r} has no version {which!r} of its judgments; known: {known}"
        one: QrelsVersion = only(found, f"version {which!r}", missing)
        return one

    def read(self, collection: str, which: int | str | None = None) -> Qrels:
        """The judgments of a version."""
        return self.read_version(self.version(collection, which))

    def read_version(self, version: QrelsVersion) -> Qrels:
        """The judgments of a version that was looked up already; those read last stay in memory."""
        with self._reading:
            if version.hash not in self._read:
                path = self._files.path(version.hash)
                self._files.read(version.hash)  # says what to do where the file is damaged
                while len(self._read) >= MOST_IN_MEMORY:
                    self._read.pop(next(iter(self._read)))
                self._read[version.hash] = read_qrels(path)
            judgments = self._read[version.hash]
        return replace(judgments, name=version.label or f"{version.collection} qrels {version.version}")

    def _chosen(self, condition: Any) -> list[QrelsVersion]:
        columns = [qrels.c[name] for name in QrelsVersion.__dataclass_fields__ if name != "collection"]
        joined = sa.select(collections.c.name.label("collection"), *columns).join_from(qrels, collections)
        with self._db.reading() as connection:
            rows = connection.execute(joined.where(condition).order_by(qrels.c.version)).mappings().all()
        return [QrelsVersion(**row) for row in rows]


def canonical_bytes(judgments: Qrels) -> bytes:
    """Judgments as they are stored: TREC lines by topic and doc, so that the same judgments have the same hash.

    Ids with blanks, which TREC lines cannot hold, make a table (CSV).

    >>> canonical_bytes(Qrels.from_dict({"1": {"b": 1, "a": 0}}))
    b'1 0 a 0\\n1 0 b 1\\n'
    """
    docs = judgments.docs.tolist()
    order = np.array(sorted(range(len(docs)), key=lambda row: docs[row]), dtype=np.int64)
    by_topic = order[np.argsort(judgments.topic_of_row()[order], kind="stable")]
    ordered = replace(
        judgments,
        docs=judgments.docs.take(by_topic),
        grades=judgments.grades[by_topic],
        probabilities=None if judgments.probabilities is None else judgments.probabilities[by_topic],
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "qrels"
        write_qrels(path, ordered, format="trec" if _fits_trec(ordered) else "csv")
        return path.read_bytes()


def _fits_trec(judgments: Qrels) -> bool:
    try:
        refuse_blanks("", judgments)
    except DataError:
        return False
    return True


def _facts(judgments: Qrels) -> dict[str, Any]:
    judged = judgments.judged()
    return {
        "topics": len(judgments.topics),
        "pooled": len(judgments),
        "judged": int(judged.sum()),
        "relevant": int((judgments.grades >= 1).sum()),
    }
