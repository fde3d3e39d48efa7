"""How is a store copied while people judge? All tables as they are at one moment, then the files that they name."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import UsageError
from assay.store.kept_files import UNFINISHED, KeptFiles, sync_folder, write_durably
from assay.store.schema import TABLES, qrels, runs, sa

if TYPE_CHECKING:
    from assay.store.store import Store

ROWS_AT_ONCE = 5000


def back_up(store: Store, target: Path) -> Path:
    """A copy of a store as a new folder, which is a store itself; whole or not at all.

    The copy is on SQLite, whatever the store is on: what it holds is what the store held when the copy began.
    """
    from assay.store.store import FILES, Store

    if target.exists():
        raise UsageError(f"{target}: there is something already; give a new name for the backup")
    if not target.resolve().parent.is_dir():
        raise UsageError(f"{target}: the folder {str(target.resolve().parent)!r} is not there; make it first")
    aside = target.resolve().with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        with Store(aside) as copy:
            hashes = _copy_tables(store, copy)
        for hash in hashes:
            _copy_file(store.files, KeptFiles(aside / FILES), hash)
        aside.rename(target)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    sync_folder(target.resolve().parent)
    return target


def _copy_tables(store: Store, copy: Store) -> list[str]:
    """Copy every row of every table; the hashes of the files that are needed."""
    with store.database.snapshot() as source, copy.database.writing() as target:
        for table in TABLES.sorted_tables:
            target.execute(sa.delete(table))  # a new store knows its own id already
            rows = source.execution_options(stream_results=True).execute(sa.select(table)).mappings()
            for some in rows.partitions(ROWS_AT_ONCE):
                target.execute(sa.insert(table), [dict(row) for row in some])
        hashes = [*source.execute(sa.select(runs.c.hash)).scalars(), *source.execute(sa.select(qrels.c.hash)).scalars()]
    return list(dict.fromkeys(hashes))


def _copy_file(source: KeptFiles, target: KeptFiles, hash: str) -> None:
    path = target.path(hash)
    path.parent.mkdir(parents=True, exist_ok=True)
    source.read(hash)  # a file that is damaged is not carried on
    write_durably(path, source.path(hash).read_bytes())
