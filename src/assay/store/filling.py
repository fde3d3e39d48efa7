"""How does a store get its first collection? From a person's own files, or the simulated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.engine import Progress, silent
from assay.core.registry import one_of
from assay.io import read_qrels
from assay.io.brought import Source, plain_qrels_of, run_list
from assay.io.column_names import Named, SharedColumns, shared_columns
from assay.io.files import file_stem
from assay.io.run_files import run_files
from assay.store.judging_campaign import JudgingCampaign
from assay.store.stored_collections import Collection
from assay.store.stored_runs import RUN_KINDS, StoredRun

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
    columns: Named = None,
    progress: Progress = silent,
) -> Collection:
    """A collection of a person's own files, or more files for one that is there; what is there already stays.

    name: by default that of the qrels file. docs: their texts are looked up in the file when they are asked for.
    columns: names of columns of the tables of judgments and of runs (ours → theirs).
    """
    called = name or _named(Path(qrels))
    shared = shared_columns(columns)
    judgments = plain_qrels_of(qrels, columns=shared)
    sources = _run_sources(runs, shared)
    if shared is not None:
        shared.refuse_unused()
    if called not in store.collections:
        store.collections.add(called, measure=measure, topics=topics, lookup=docs or "")
    elif topics is not None:
        store.collections.add_topics(called, topics)
    store.qrels.add(called, judgments)
    _add_sources(store, called, sources, {}, progress)
    return store.collections[called]


def add_runs(
    store: Store,
    collection: str,
    runs: Sequence[str | Path],
    *,
    kind: str | None = None,
    columns: Named = None,
    progress: Progress = silent,
    **facts: Any,
) -> list[StoredRun]:
    """Runs of files and folders; kind: automatic or manual, facts: as `store.runs.add` takes them.

    columns: names of columns of tables (ours → theirs); the runs are then stored as TREC runs instead of as they came.
    """
    if kind is not None:
        facts["manual"] = one_of("kind of run", kind, RUN_KINDS) == "manual"
    shared = shared_columns(columns)
    sources = _run_sources(runs, shared)
    if shared is not None:
        shared.refuse_unused()
    return _add_sources(store, collection, sources, facts, progress)


def _run_sources(runs: Sequence[str | Path], columns: SharedColumns | None) -> list[Source]:
    """The files; where columns are named the runs in them, because what is stored is read without these names."""
    files: list[Source] = [*run_files([Path(run) for run in runs])]
    return files if columns is None else [*run_list(files, columns=columns)]


def _add_sources(
    store: Store, collection: str, sources: Sequence[Source], facts: Mapping[str, Any], progress: Progress
) -> list[StoredRun]:
    added = []
    for done, source in enumerate(sources, 1):
        added += store.runs.add(collection, source, **facts)
        progress(done, len(sources))
    return added


def add_campaign(
    store: Store,
    name: str,
    collection: str,
    *,
    runs: Sequence[str] = (),
    docs: str | Path | None = None,
    gold: str | Path | None = None,
    guidelines: str | Path | None = None,
    **choices: Any,
) -> JudgingCampaign:
    """A campaign whose docs, gold docs and guidelines are files; a choice that is None or empty is not made.

    docs, gold: judgments of any format; of docs the grades are not looked at, of gold they are the known labels.
    """
    made = {choice: value for choice, value in choices.items() if value not in (None, ())}
    if guidelines is not None:
        made["guidelines"] = Path(guidelines).read_text("utf-8")
    if docs is not None:
        made["docs"] = _pairs(docs)
    if gold is not None:
        made["gold"] = _pairs(gold)
    return store.campaigns.add(name, collection, runs=runs or None, **made)


def _pairs(path: str | Path) -> dict[tuple[str, str], float]:
    """{(topic, doc): grade} of a file of judgments, in its order."""
    judged = read_qrels(path).to_dict()
    return {(topic, doc): grade for topic, docs in judged.items() for doc, grade in docs.items()}


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
