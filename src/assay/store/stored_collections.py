"""Which collections are in the store? Topics and docs with their texts, and the versions of their judgments."""

from __future__ import annotations

import time
from collections.abc import Collection as SomeOf
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data import Topics
from assay.io.docs import Texts, read_docs
from assay.io.topics import topics_of
from assay.measures import parse
from assay.store.database import Database, plain, plain_fields
from assay.store.many_rows import among
from assay.store.schema import collections, docs, qrels, runs, sa, topics

ROWS_AT_ONCE = 5000
"""Rows of texts that one statement inserts."""
_NAMED = collections.c.name == sa.bindparam("name")
SOME_TOPICS = (
    sa.select(topics.c.topic, topics.c.fields)
    .join(collections, collections.c.id == topics.c.collection_id)
    .where(_NAMED, among(topics.c.topic, "topics"))
    .order_by(topics.c.place, topics.c.topic)
)
SOME_DOCS = (
    sa.select(docs.c.doc, docs.c.fields)
    .join(collections, collections.c.id == docs.c.collection_id)
    .where(_NAMED, among(docs.c.doc, "docs"))
)
LOOKUP = sa.select(collections.c.lookup).where(_NAMED)


@dataclass(frozen=True)
class Collection:
    """A collection as it is listed: what it is called, and how much of it is in the store."""

    id: int
    name: str
    title: str
    description: str
    year: int | None
    measure: str
    """The measure that its pages show first."""
    lookup: str
    """The file or dataset that has the texts of docs which are not stored."""
    made: float
    topics: int
    """Topics with a text."""
    docs: int
    """Docs with a text."""
    qrels: int
    """Versions of judgments."""
    runs: int


class Collections:
    """The collections of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(
        self,
        name: str,
        *,
        topics: Any = None,
        docs: Any = None,
        lookup: str | Path = "",
        title: str = "",
        description: str = "",
        year: int | None = None,
        measure: str = "AP",
    ) -> Collection:
        """A new collection; a name that is taken is an error.

        topics: as `assay.io.topics_of` takes them. docs: {doc: {field: text}} or a file that `read_docs` reads whole;
        lookup: a file or `irds:ID` from which the texts of some docs are taken when they are asked for.
        """
        if not name.strip():
            raise UsageError("the name of the collection is empty; give one")
        texts_of_topics = None if topics is None else topics_of(topics)
        texts_of_docs = _docs(docs)
        facts = {
            "name": plain(name, "name"),
            "title": plain(title, "title"),
            "description": plain(description, "description"),
            "year": year,
            "measure": str(parse(measure)),
            "lookup": plain(_lookup(lookup), "lookup"),
            "made": time.time(),
        }
        with self._db.writing() as connection:
            statement = self._db.new(collections).values(facts).on_conflict_do_nothing().returning(collections.c.id)
            own = connection.execute(statement).scalar()
            if own is None:
                raise UsageError(f"there is a collection {name!r} already; choose another name")
            if texts_of_topics is not None:
                _keep_topics(self._db, connection, own, texts_of_topics)
            _keep_docs(self._db, connection, own, texts_of_docs)
        return self[name]

    def __getitem__(self, name: str) -> Collection:
        """The collection of that name; a name that is not there is an error."""
        found = self._chosen(collections.c.name == name)
        if not found:
            with self._db.reading() as connection:
                names = connection.execute(sa.select(collections.c.name)).scalars().all()
            known = did_you_mean(name, names) if names else "; the store has none yet"
            raise UsageError(f"no collection {name!r}{known}")
        return found[0]

    def __contains__(self, name: str) -> bool:
        return bool(self._chosen(collections.c.name == name))

    def listed(self) -> list[Collection]:
        """All collections by name."""
        return self._chosen(sa.true())

    def change(self, name: str, **facts: Any) -> Collection:
        """Set title, description, year, measure or lookup."""
        own = self[name]
        known = ("title", "description", "year", "measure", "lookup")
        for key, value in facts.items():
            if key not in known:
                raise UsageError(f"no fact {key!r} of a collection{did_you_mean(key, known)}")
            if key == "measure":
                facts[key] = str(parse(value))
            elif key != "year":
                facts[key] = plain(_lookup(value), key)
        with self._db.writing() as connection:
            connection.execute(sa.update(collections).where(collections.c.id == own.id).values(facts))
        return self[name]

    def add_topics(self, name: str, texts: Any) -> Collection:
        """More topics with their texts; a topic that is there gets the new text."""
        own = self[name]
        given = topics_of(texts)
        with self._db.writing() as connection:
            _keep_topics(self._db, connection, own.id, given)
        return self[name]

    def add_docs(self, name: str, texts: Any) -> Collection:
        """More docs with their texts; a doc that is there gets the new text."""
        own = self[name]
        given = _docs(texts)
        with self._db.writing() as connection:
            _keep_docs(self._db, connection, own.id, given)
        return self[name]

    def topics(self, name: str, wanted: SomeOf[str] | None = None) -> Topics:
        """The topics of a collection, or these of them, with their texts; none is an empty table."""
        own, _ = self._place(name)
        texts = sa.select(topics.c.topic, topics.c.fields).where(topics.c.collection_id == own)
        if wanted is not None:
            texts = texts.where(topics.c.topic.in_(list(wanted)))
        with self._db.reading() as connection:
            rows = connection.execute(texts.order_by(topics.c.place, topics.c.topic)).all()
        return Topics(tuple(row.topic for row in rows), tuple(row.fields for row in rows))

    def docs(self, name: str, wanted: SomeOf[str] | None = None) -> Texts:
        """{doc: {field: text}} of these docs, or of all that are stored; docs without a text are not in it.

        Texts that the store lacks come from the lookup of the collection, where it has one, and are kept.
        """
        own, lookup = self._place(name)
        if wanted is None:
            return self._stored(own, None)
        found = self._stored(own, list(dict.fromkeys(wanted)))
        lacking = [doc for doc in wanted if doc not in found]
        if lacking and lookup:
            looked_up = _looked_up(lookup, lacking)
            with self._db.writing() as connection:
                _keep_docs(self._db, connection, own, looked_up)
            found |= looked_up
        return {doc: found[doc] for doc in wanted if doc in found}

    def texts(self, name: str, of_topics: SomeOf[str], of_docs: SomeOf[str]) -> tuple[Topics, Texts]:
        """These topics and docs with their texts, as `topics` and `docs` have them, by one look at the store."""
        given = {"name": name, "topics": list(of_topics), "docs": list(of_docs)}
        with self._db.reading() as connection:
            rows = connection.execute(SOME_TOPICS, given).all()
            found = {row.doc: row.fields for row in connection.execute(SOME_DOCS, given)}
            is_lacking = any(doc not in found for doc in of_docs)
            lookup = connection.execute(LOOKUP, given).scalar() if is_lacking else ""
        known = Topics(tuple(row.topic for row in rows), tuple(row.fields for row in rows))
        return known, self.docs(name, of_docs) if lookup else found

    def _place(self, name: str) -> tuple[int, str]:
        """The id of a collection and its lookup, without the counts that take long where there are many docs."""
        wanted = sa.select(collections.c.id, collections.c.lookup).where(collections.c.name == name)
        with self._db.reading() as connection:
            found = connection.execute(wanted).first()
        if found is None:
            own = self[name]  # which says what is wrong
            return own.id, own.lookup
        return found.id, found.lookup

    def _stored(self, own: int, wanted: list[str] | None) -> Texts:
        texts: Texts = {}
        of_collection = sa.select(docs.c.doc, docs.c.fields).where(docs.c.collection_id == own)
        with self._db.reading() as connection:
            if wanted is None:
                rows = connection.execute(of_collection.order_by(docs.c.doc))
                return {row.doc: row.fields for row in rows}
            for some in batches(wanted, 500):
                rows = connection.execute(of_collection.where(docs.c.doc.in_(some)))
                texts |= {row.doc: row.fields for row in rows}
        return texts

    def _chosen(self, condition: Any) -> list[Collection]:
        counted = {"topics": topics, "docs": docs, "qrels": qrels, "runs": runs}
        columns: list[Any] = [collections]
        for name, table in counted.items():
            count = sa.select(sa.func.count()).select_from(table).where(table.c.collection_id == collections.c.id)
            columns.append(count.scalar_subquery().label(name))
        listed = sa.select(*columns).where(condition).order_by(collections.c.name)
        with self._db.reading() as connection:
            rows = connection.execute(listed).mappings().all()
        return [Collection(**row) for row in rows]


def _docs(given: Any) -> Texts:
    """Texts of docs from a file, {doc: text} or {doc: {field: text}}; nothing where nothing is given."""
    if given is None:
        return {}
    if isinstance(given, str | Path):
        return read_docs(given)
    if not isinstance(given, Mapping):
        raise UsageError(f"{type(given).__name__} where docs are expected; give a file or {{doc: {{field: text}}}}")
    return {str(doc): {"text": text} if isinstance(text, str) else dict(text) for doc, text in given.items()}


def _lookup(given: str | Path | None) -> str:
    """A lookup as it is stored: files by their whole path, so that it works from every folder."""
    text = str(given or "")
    if not text or text.startswith("irds:") or not Path(text).exists():
        return text
    return str(Path(text).resolve())


def _looked_up(lookup: str, lacking: list[str]) -> Texts:
    """Texts of docs from the lookup of a collection; one that has none of them gives none."""
    try:
        return read_docs(lookup, docs=lacking)
    except DataError as error:
        if "none of the" in str(error):
            return {}
        raise


def _keep_topics(database: Database, connection: sa.Connection, own: int, given: Topics) -> None:
    rows = []
    for place, (topic, fields) in enumerate(given.to_dict().items()):
        texts = plain_fields(fields, f"topic {topic!r}")
        rows.append({"collection_id": own, "topic": plain(topic, "topic"), "place": place, "fields": texts})
    _keep(database, connection, topics, rows, ("place", "fields"))


def _keep_docs(database: Database, connection: sa.Connection, own: int, given: Texts) -> None:
    rows = []
    for doc, fields in given.items():
        texts = plain_fields(fields, f"doc {doc!r}")
        rows.append({"collection_id": own, "doc": plain(doc, "doc"), "fields": texts})
    _keep(database, connection, docs, rows, ("fields",))


def _keep(
    database: Database, connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]], newer: tuple[str, ...]
) -> None:
    """Insert rows; where the key is there, the new texts take the place of the old."""
    statement = database.new(table)
    replaced = {name: statement.excluded[name] for name in newer}
    keys = [column.name for column in table.primary_key]
    upsert = statement.on_conflict_do_update(index_elements=keys, set_=replaced)
    for some in batches(rows, ROWS_AT_ONCE):
        connection.execute(upsert, some)


def batches(things: Iterable[Any], size: int) -> Iterable[list[Any]]:
    """The things in lists of that size, the last one shorter.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    every = list(things)
    return [every[start : start + size] for start in range(0, len(every), size)]
