"""How does a store get its first collection? From a person's own files, or the simulated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.engine import Progress, silent
from assay.io.files import file_stem
from assay.io.run_files import run_files
from assay.store.stored_collections import Collection

if TYPE_CHECKING:
    from assay.store.store import Store

SIMULATED = "demo"
"""The name of the simulated collection."""


def add_files(
    store: Store,
    qrels: str | Path,
    runs: Sequence[str | Path],
    *,
    name: str = "",
    topics: str | Path | None = None,
    docs: str | Path | None = None,
    measure: str = "nDCG@10",
    progress: Progress = silent,
) -> Collection:
    """A collection of a person's own files, or more files for one that is there; what is there already stays.

    name: by default that of the qrels file. docs: their texts are looked up in the file when they are asked for.
    """
    called = name or _named(Path(qrels))
    if called not in store.collections:
        store.collections.add(called, measure=measure, topics=topics, lookup=docs or "")
    elif topics is not None:
        store.collections.add_topics(called, topics)
    store.qrels.add(called, qrels)
    files = run_files([Path(run) for run in runs])
    for done, file in enumerate(files, 1):
        store.runs.add(called, file)
        progress(done, len(files))
    return store.collections[called]


def add_simulated(store: Store, *, seed: int = 0) -> Collection:
    """The simulated collection, with what is known of its runs and short made-up texts."""
    from assay.studies import simulate

    if SIMULATED in store.collections:
        return store.collections[SIMULATED]
    made = simulate(seed)
    store.collections.add(
        SIMULATED,
        title="A simulated collection",
        description="Made from a seed, so that every page has something to show; add your own with assay store add.",
        measure="nDCG@10",
        topics={topic: f"simulated topic {topic}" for topic in made.qrels.topics},
    )
    store.qrels.add(SIMULATED, made.qrels)
    for run in made.runs:
        store.runs.add(SIMULATED, run, **_said(run.info.manual, run.name))
    return store.collections[SIMULATED]


def _said(manual: bool | None, name: str) -> Mapping[str, Any]:
    team = name.rstrip("0123456789")
    return {"team": team, "manual": bool(manual)}


def _named(qrels: Path) -> str:
    """The name of the judgments, or of their folder where the file is called qrels, as many are."""
    stem = file_stem(qrels).removesuffix(".qrels")
    folder = qrels.resolve().parent.name
    return folder if stem in ("", "qrels") and folder else stem
