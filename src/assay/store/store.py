"""Store: what lasts. One object over one database and one folder of files, and the parts of it by name."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType

from assay.core.errors import UsageError
from assay.store.backups import back_up
from assay.store.database import Database
from assay.store.exports import export_store
from assay.store.imports import rebuilt_store
from assay.store.integrity import StoreCheck, check_store
from assay.store.kept_files import KeptFiles
from assay.store.people import People
from assay.store.published_results import PublishedResults
from assay.store.qrels_versions import QrelsVersions
from assay.store.reference_sets import ReferenceSets
from assay.store.schema import HEAD, about, sa
from assay.store.stored_campaigns import JudgingCampaigns
from assay.store.stored_collections import Collections
from assay.store.stored_experiments import CrowdExperiments
from assay.store.stored_runs import StoredRuns
from assay.store.stored_scores import StoredScores
from assay.store.uploads import Uploads

DATABASE = "store.db"
"""The database file in the folder of a store."""
FILES = "files"
"""The folder of the files of runs and judgments beside it."""
LOCK = "server.lock"


class Store:
    """Collections, runs, scores and judgments that last.

    where: a folder (SQLite, made if it is not there), or the URL of a database, `postgresql+psycopg://…`. files: the
    folder of run files; it is remembered, so that a store on PostgreSQL needs it once. first_files: that folder for a
    store that remembers none. A store of an earlier version is
    brought up to this one. Every change is on the disk when the call returns; threads and processes may share a store.

    >>> import tempfile
    >>> from assay.data import Run
    >>> with Store(tempfile.mkdtemp()) as store:
    ...     _ = store.collections.add("pets", topics={"1": "cats"}, measure="P@1")
    ...     _ = store.qrels.add("pets", {"1": {"a": 1, "b": 0}})
    ...     bm25, = store.runs.add("pets", Run.from_lists("bm25", {"1": ["b", "a"]}), team="lab")
    ...     dense, = store.runs.add("pets", Run.from_lists("dense", {"1": ["a", "b"]}), year=2026)
    ...     scores = store.scores.of("pets", "P@1 RR")
    ...     store.scores.certify(dense.hash).score
    1.0
    >>> scores.to_dict()["RR"]
    {'bm25': {'1': 0.5}, 'dense': {'1': 1.0}}
    """

    def __init__(
        self,
        where: str | Path,
        *,
        files: str | Path | None = None,
        first_files: str | Path | None = None,
        make: bool = True,
    ) -> None:
        text = str(where)
        is_url = re.match(r"[a-z][a-z0-9+]*://", text) is not None
        self.folder = None if is_url else Path(text)
        if self.folder is not None:
            _prepare_folder(self.folder, make)
        self.database = Database(text if self.folder is None else f"sqlite:///{self.folder / DATABASE}")
        try:
            self._open(files, first_files, make)
        except BaseException:
            self.close()
            raise

    def _open(self, files: str | Path | None, first_files: str | Path | None, make: bool) -> None:
        revision = self.database.revision()
        if revision is None and not make:
            raise UsageError(f"{self.database.where}: there is no store; make one with: assay store add")
        if revision is not None and revision > HEAD:
            what = f"the store has revision {revision} of the schema, and this version knows {HEAD}"
            raise UsageError(f"{self.database.where}: {what}; install a newer assay")
        if revision != HEAD:
            self.database.upgrade()
        self._remember("id", secrets.token_hex(8))
        self._remember("made", str(time.time()))
        if files is None and self._beside() is None and self.facts().get("files") is None:
            files = first_files
        self.files = KeptFiles(self._files_folder(None if files is None else Path(files)))
        self.files.folder.mkdir(parents=True, exist_ok=True)

    def _files_folder(self, given: Path | None) -> Path:
        """The folder of files: beside an SQLite database; else the one that was given, now or before."""
        beside = self._beside()
        if beside is not None and given is None:
            return beside / FILES
        known = self.facts().get("files")
        if given is None and known is None:
            raise UsageError(f"{self.database.where}: say in which folder its run files are kept: files=FOLDER")
        folder = Path(known or "") if given is None else given.resolve()
        if beside is None and given is not None:
            self._remember("files", str(folder))
        return folder

    def _beside(self) -> Path | None:
        """The folder of the SQLite database; None where a server keeps it."""
        if not self.database.is_sqlite:
            return None
        file = self.database.url.database
        if not file or file == ":memory:":
            raise UsageError("a store in memory does not last; give a folder")
        return Path(file).resolve().parent

    def _remember(self, key: str, value: str) -> None:
        """Write a fact of the store down, unless it is there."""
        if self.facts().get(key) is None:
            with self.database.writing() as connection:
                connection.execute(self.database.new(about).values(key=key, value=value).on_conflict_do_nothing())

    def facts(self) -> dict[str, str]:
        """What the store knows of itself: its id, when it was made, where its files are."""
        with self.database.reading() as connection:
            return {row.key: row.value for row in connection.execute(sa.select(about))}

    @cached_property
    def collections(self) -> Collections:
        """Collections, their topics and docs."""
        return Collections(self.database)

    @cached_property
    def qrels(self) -> QrelsVersions:
        """Versions of the judgments of the collections."""
        return QrelsVersions(self.database, self.files, self.collections)

    @cached_property
    def runs(self) -> StoredRuns:
        """Runs and what is known of them."""
        return StoredRuns(self.database, self.files, self.collections)

    @cached_property
    def scores(self) -> StoredScores:
        """Scores per topic, computed once; certified scores."""
        return StoredScores(self.database, self.collections, self.qrels, self.runs)

    @cached_property
    def references(self) -> ReferenceSets:
        """Named sets of reference runs, and scores standardized by them."""
        return ReferenceSets(self.database, self.collections, self.runs, self.scores)

    @cached_property
    def published(self) -> PublishedResults:
        """Scores that papers report."""
        return PublishedResults(self.database, self.collections, self.runs, self.scores)

    @cached_property
    def people(self) -> People:
        """People, their roles and tokens."""
        return People(self.database)

    @cached_property
    def campaigns(self) -> JudgingCampaigns:
        """Judging campaigns and their judgments."""
        return JudgingCampaigns(self.database, self.collections, self.runs, self.people)

    @cached_property
    def experiments(self) -> CrowdExperiments:
        """Crowd experiments, their tasks and answers."""
        return CrowdExperiments(self.database, self.collections, self.runs)

    @cached_property
    def uploads(self) -> Uploads:
        """Files that people send, checked before they are stored."""
        return Uploads(self.runs, self.qrels)

    def backup(self, folder: str | Path) -> Path:
        """A copy of the store at this moment as a new folder, which is a store itself; people may judge meanwhile."""
        return back_up(self, Path(folder))

    def export(self, folder: str | Path) -> Path:
        """Everything as plain files in a new folder, from which `Store.rebuilt` makes a store with the same answers."""
        return export_store(self, Path(folder))

    @classmethod
    def rebuilt(cls, folder: str | Path, where: str | Path, *, files: str | Path | None = None) -> Store:
        """A new store at `where` from a folder that `export` wrote."""
        return rebuilt_store(Path(folder), where, files)

    def check(self, *, recount: bool = False) -> StoreCheck:
        """Whether the store is whole: files against their hashes, counts against the log, files nobody refers to.

        recount: first count anew what each person has done, where it is written down wrong.
        """
        return check_store(self, recount=recount)

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """Hold the store as the one server that works on it; a second one on an SQLite store is an error.

        Servers on PostgreSQL share a store. Commands may read and write while a server holds it.
        """
        beside = self._beside()
        if beside is None:
            yield
            return
        import fcntl

        handle = os.open(beside / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = os.read(handle, 100).decode(errors="replace").strip()
                what = f"another server works on this store ({holder})"
                raise UsageError(f"{beside}: {what}; stop it, or use PostgreSQL for several") from None
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(handle)  # which lets go of the lock, as the end of the process does

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.database.where!r})"


def _prepare_folder(folder: Path, make: bool) -> None:
    """An error where a folder cannot hold a store."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: a store is a folder, and this is a file; give another name")
    if not make and not (folder / DATABASE).is_file():
        raise UsageError(f"{folder}: there is no store here; make one with: assay store add")
    folder.mkdir(parents=True, exist_ok=True)
