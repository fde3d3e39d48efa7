"""Which runs are in the store? Each once, under the hash of its content, with what is known of it."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.data import Run, RunInfo
from assay.data.info import RunsInfo
from assay.io import read_run, read_runs, write_run
from assay.io.files import read_bytes
from assay.io.trec import refuse_blanks
from assay.store.database import Database, only, plain
from assay.store.kept_files import KeptFiles
from assay.store.schema import collections, people, runs, sa
from assay.store.stored_collections import Collections

if TYPE_CHECKING:
    from assay.store.people import Person

VISIBILITIES = ("public", "link", "private")
"""Listed for everybody; shown to who has the address; shown to its owner and to organisers only."""
KINDS = {None: "", True: "manual", False: "automatic"}
"""Whether a person had a hand in a run, in words."""
RUN_KINDS = ("automatic", "manual")
FACTS = ("tag", "team", "year", "date", "manual", "query_type", "paper", "code", "note", "visibility")
"""What can be said of a run and changed later."""
SHORT = 12
"""Characters of a hash that are shown."""


@dataclass(frozen=True)
class StoredRun:
    """A run of the store, without its docs.

    >>> StoredRun(1, "5d33b8f4d20a1e", "pets", "bm25", manual=False).kind
    'automatic'
    """

    id: int
    hash: str
    collection: str
    tag: str
    team: str = ""
    year: int | None = None
    date: str = ""
    manual: bool | None = None
    """Whether a person had a hand in it; None where nobody said."""
    query_type: str = ""
    paper: str = ""
    code: str = ""
    note: str = ""
    visibility: str = "public"
    owner: str | None = None
    topics: int = 0
    docs: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the `ir_metadata` header of the file says."""
    made: float = 0.0

    @property
    def short(self) -> str:
        """The beginning of the hash, as pages show it."""
        return self.hash[:SHORT]

    @property
    def kind(self) -> str:
        """automatic, manual, or empty where nobody said."""
        return KINDS[self.manual]

    def visible_to(self, person: Person | None) -> bool:
        """Whether a person may see it who has its address; None is somebody without an account."""
        if self.visibility != "private":
            return True
        return person is not None and (person.role == "organiser" or person.name == self.owner)


class StoredRuns:
    """The runs of a store."""

    def __init__(self, database: Database, files: KeptFiles, known: Collections) -> None:
        self._db = database
        self._files = files
        self._collections = known

    def add(self, collection: str, run: Any, *, owner: str | None = None, **facts: Any) -> list[StoredRun]:
        """Runs of a file (one, or several of a table), or a Run object; what is there already stays as it is.

        facts: tag, team, year, date, manual, query_type, paper, code, note, visibility ("public" by default); what is
        not given is taken from the `ir_metadata` header of the file, where it has one.
        """
        own = self._collections[collection]
        said = _checked_facts(facts)
        stored = []
        for content, one in contents_of(run):
            stored.append(self._add(own.id, content, one, owner, said))
        return stored

    def _add(self, collection_id: int, content: bytes, run: Run, owner: str | None, said: dict[str, Any]) -> StoredRun:
        values: dict[str, Any] = {"tag": plain(run.name, "tag"), "visibility": VISIBILITIES[0]}
        values |= facts_of(run.info)
        values |= said
        values |= {"topics": len(run.topics), "docs": len(run), "metadata": _plain_metadata(run.info)}
        values["hash"] = self._files.add(content)
        with self._db.writing() as connection:
            if owner is not None:
                values["owner_id"] = connection.execute(sa.select(people.c.id).where(people.c.name == owner)).scalar()
            added = self._db.new(runs).values(collection_id=collection_id, made=time.time(), **values)
            connection.execute(added.on_conflict_do_nothing())
        known = self[values["hash"]]
        if self._collections[known.collection].id != collection_id:
            where = f"collection {known.collection!r} under the tag {known.tag!r}"
            raise DataError(f"run {run.name!r}: the same run is in {where}; a run belongs to one collection")
        return known

    def __getitem__(self, hash: str) -> StoredRun:
        """The run of that hash, or of its beginning (6 characters or more)."""
        text = str(hash)
        is_beginning = len(text) >= 6 and text.isalnum()
        found = self._chosen(runs.c.hash.startswith(text)) if is_beginning else []
        one: StoredRun = only(found, f"run {text!r}", f"no run {text!r}; give 6 or more characters of its hash")
        return one

    def find(self, collection: str, name: str) -> StoredRun:
        """A run by its tag, by the name that tables give it, or by its hash."""
        listed = self.listed(collection)
        named = [run for run, shown in zip(listed, names_of(listed), strict=True) if name in (run.tag, shown)]
        hashed = [run for run in listed if len(name) >= 6 and run.hash.startswith(name)]
        missing = f"no run {name!r} in {collection!r}{did_you_mean(name, [run.tag for run in listed])}"
        one: StoredRun = only(named or hashed, f"tag {name!r}", missing)
        return one

    def listed(
        self,
        collection: str | None = None,
        *,
        seen_by: Person | str | None = None,
        team: str | None = None,
        year: int | None = None,
        kind: str | None = None,
        query_type: str | None = None,
    ) -> list[StoredRun]:
        """Runs by tag, of one collection or of all.

        seen_by: a person, whose own private runs are among them; "public" for somebody without an account; None, for
        who owns the store, lists all. kind: automatic or manual.
        """
        conditions: list[Any] = [sa.true()]
        if collection is not None:
            conditions.append(runs.c.collection_id == self._collections[collection].id)
        if team is not None:
            conditions.append(runs.c.team == team)
        if year is not None:
            conditions.append(runs.c.year == year)
        if query_type is not None:
            conditions.append(runs.c.query_type == query_type)
        if kind is not None:
            conditions.append(runs.c.manual == (one_of("kind of run", kind, RUN_KINDS) == "manual"))
        if isinstance(seen_by, str):
            one_of("seen_by", seen_by, ("public",))
            conditions.append(runs.c.visibility == "public")
        elif seen_by is not None and seen_by.role != "organiser":
            conditions.append((runs.c.visibility == "public") | (people.c.name == seen_by.name))
        return self._chosen(*conditions)

    def change(self, hash: str, **facts: Any) -> StoredRun:
        """Correct what is said of a run; its content cannot be changed."""
        known = self[hash]
        said = _checked_facts(facts)
        if said:
            with self._db.writing() as connection:
                connection.execute(sa.update(runs).where(runs.c.id == known.id).values(said))
        return self[hash]

    def file_of(self, known: StoredRun) -> Path:
        """The file of a run, compressed, which every command reads."""
        path = self._files.path(known.hash)
        if not path.is_file():
            raise DataError(f"run {known.tag!r}: {path} is not there; restore it from a backup")
        return path

    def content(self, hash: str) -> bytes:
        """The run file as it was given, decompressed; its SHA-256 is the hash."""
        return self._files.read(self[hash].hash)

    def read(self, hash: str) -> Run:
        """The run itself, under its tag."""
        known = self[hash]
        return self.read_stored(known)

    def read_stored(self, known: StoredRun) -> Run:
        """The run of an entry that was looked up already."""
        run = read_run(self.file_of(known))
        info = replace(run.info, group=known.team or None, year=known.year, manual=known.manual)
        return replace(run, name=known.tag, info=info)

    def info(self, listed: Sequence[StoredRun]) -> RunsInfo:
        """What is known of runs as the table that leaderboards take, under the names of `names_of`."""
        columns = ("team", "year", "type", "query", "paper")
        rows = {}
        for run, name in zip(listed, names_of(listed), strict=True):
            year = "" if run.year is None else str(run.year)
            rows[name] = (run.team, year, run.kind, run.query_type, run.paper)
        return RunsInfo("store", columns, rows)

    def _chosen(self, *conditions: Any) -> list[StoredRun]:
        own = [runs.c[name] for name in StoredRun.__dataclass_fields__ if name not in ("collection", "owner")]
        named = (collections.c.name.label("collection"), people.c.name.label("owner"))
        joined = sa.select(*named, *own).join_from(runs, collections).outerjoin(people, people.c.id == runs.c.owner_id)
        with self._db.reading() as connection:
            rows = connection.execute(joined.where(*conditions).order_by(runs.c.tag, runs.c.id)).mappings().all()
        return [StoredRun(**row) for row in rows]


def names_of(listed: Sequence[StoredRun]) -> list[str]:
    """What tables call the runs: the tag, and where two runs have one tag also the beginning of the hash.

    >>> runs = [StoredRun(1, "aaaaaa11", "c", "bm25"), StoredRun(2, "bbbbbb22", "c", "bm25")]
    >>> names_of(runs), names_of(runs[:1])
    (['bm25 (aaaaaa)', 'bm25 (bbbbbb)'], ['bm25'])
    """
    tags = Counter(run.tag for run in listed)
    return [run.tag if tags[run.tag] == 1 else f"{run.tag} ({run.hash[:6]})" for run in listed]


def contents_of(run: Any) -> list[tuple[bytes, Run]]:
    """The bytes by which each given run is stored, and the run: a file as it is, several of a table as TREC runs."""
    if isinstance(run, Run):
        return [(_written(run), run)]
    if not isinstance(run, str | Path):
        raise UsageError(f"{type(run).__name__} where a run is expected; give a file or a Run object")
    found = read_runs(run)
    if len(found) == 1:
        return [(read_bytes(run), found[0])]
    return [(_written(one), one) for one in found]


def _written(run: Run) -> bytes:
    """A run as a TREC file, or as a table (CSV) where its ids have blanks."""
    try:
        refuse_blanks("", run)
        format = "trec"
    except DataError:
        format = "csv"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        write_run(path, run, format=format)
        return path.read_bytes()


def facts_of(info: RunInfo) -> dict[str, Any]:
    """What the header of a run file says, under our names; only what it says.

    >>> facts_of(RunInfo(metadata={"team": "lab", "automatic": "true", "year": "2021"}))
    {'team': 'lab', 'year': 2021, 'manual': False}
    """
    said = {key.lower(): str(value) for key, value in info.metadata.items()}
    facts: dict[str, Any] = {}
    names = {"team": "team", "doi": "paper", "publication": "paper", "repository": "code", "date": "date"}
    for theirs, ours in names.items():
        if said.get(theirs):
            facts[ours] = plain(said[theirs], ours)
    if said.get("year", "").isdigit():
        facts["year"] = int(said["year"])
    if said.get("automatic", "").lower() in ("true", "false"):
        facts["manual"] = said["automatic"].lower() == "false"
    if info.group:
        facts["team"] = info.group
    if info.year is not None:
        facts["year"] = info.year
    if info.manual is not None:
        facts["manual"] = info.manual
    return facts


def _plain_metadata(info: RunInfo) -> dict[str, Any]:
    """A header as the database holds it; zero bytes, which it cannot hold, are left out."""
    return {str(key).replace("\x00", ""): str(value).replace("\x00", "") for key, value in info.metadata.items()}


def _checked_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a person says of a run, checked; None is nothing said."""
    checked: dict[str, Any] = {}
    for name, value in facts.items():
        if name not in FACTS:
            raise UsageError(f"no fact {name!r} of a run{did_you_mean(name, FACTS)}")
        if value is None:
            continue
        if name == "year":
            checked[name] = _year(value)
        elif name == "manual":
            if not isinstance(value, bool):
                raise UsageError(f"manual={value!r} is not True or False")
            checked[name] = value
        elif name == "visibility":
            checked[name] = one_of("visibility", value, VISIBILITIES)
        else:
            checked[name] = plain(str(value), name)
    return checked


def _year(value: Any) -> int:
    try:
        year = int(value)
    except (TypeError, ValueError):
        raise UsageError(f"year {value!r} is not a whole number") from None
    if not 1900 <= year <= 2200:
        raise UsageError(f"year {year} is not between 1900 and 2200")
    return year
