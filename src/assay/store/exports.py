"""How does everything leave a store? As plain files in a folder, which every command reads.

    store.json                          the form of the folder
    people.jsonl, published.csv
    collections/NAME/collection.json    name, title, measure …
    collections/NAME/topics.jsonl, docs.jsonl
    collections/NAME/qrels/1.qrels …    one file per version, listed in qrels.jsonl
    collections/NAME/runs/HASH.run      as they were given, listed in runs.jsonl
    collections/NAME/references.json, certificates.jsonl
    campaigns/NAME/campaign.json, items.jsonl, judgments.jsonl, labels.csv, qrels.txt
    experiments/NAME/experiment.json, tasks.jsonl, assignments.jsonl, submissions.jsonl
    campaigns/NAME/machine_labels.jsonl, machine_seen.jsonl

Names of folders are made of letters and digits of the names; the true ones are inside.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, UsageError
from assay.io import write_labels, write_qrels
from assay.io.docs import write_docs
from assay.io.files import write_whole
from assay.io.sheet import write_sheet
from assay.io.topics import write_topics
from assay.store.experiment_copies import write_experiment
from assay.store.kept_files import UNFINISHED, sync_folder
from assay.store.schema import items, machine_labels, machine_seen, people, qrels, results, runs, sa
from assay.store.stored_runs import FACTS

if TYPE_CHECKING:
    from assay.store.judging_campaign import JudgingCampaign
    from assay.store.store import Store

FORM = 1
"""The form of the folder; another one is refused."""


def export_store(store: Store, target: Path) -> Path:
    """Write a store to a new folder, whole or not at all."""
    if target.exists():
        raise UsageError(f"{target}: there is something already; give a new name for the folder")
    if not target.resolve().parent.is_dir():
        raise UsageError(f"{target}: the folder {str(target.resolve().parent)!r} is not there; make it first")
    aside = target.resolve().with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        aside.mkdir()
        _write_all(store, aside)
        aside.rename(target)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        if isinstance(error, OSError):
            raise DataError(f"{target}: {error.strerror or error}; nothing was written") from error
        raise
    sync_folder(target.resolve().parent)
    return target


def _write_all(store: Store, folder: Path) -> None:
    _write_json(folder / "store.json", {"form": FORM, "id": store.facts()["id"]})
    keys = ("name", "role", "made", "ended")
    _write_lines(folder / "people.jsonl", _records(store.people.listed(), keys))
    if store.published.listed():
        store.published.write(folder / "published.csv")
    for number, collection in enumerate(store.collections.listed(), 1):
        _write_collection(store, collection.name, folder / "collections" / folder_name(number, collection.name))
    for number, campaign in enumerate(store.campaigns.listed(), 1):
        _write_campaign(campaign, folder / "campaigns" / folder_name(number, campaign.name))
    for number, experiment in enumerate(store.experiments.listed(), 1):
        write_experiment(experiment, folder / "experiments" / folder_name(number, experiment.name))


def folder_name(number: int, name: str) -> str:
    """The name of a folder: a number, and what of a name is harmless in a path.

    >>> folder_name(1, "../TREC 8"), folder_name(2, "猫")
    ('1-TREC-8', '2')
    """
    harmless = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:60]
    return f"{number}-{harmless}" if harmless else str(number)


def _write_collection(store: Store, name: str, folder: Path) -> None:
    (folder / "qrels").mkdir(parents=True)
    (folder / "runs").mkdir()
    own = store.collections[name]
    facts = {key: getattr(own, key) for key in ("name", "title", "description", "year", "measure", "lookup", "made")}
    _write_json(folder / "collection.json", facts)
    topics = store.collections.topics(name)
    if len(topics):
        write_topics(folder / "topics.jsonl", topics, format="jsonl")
    docs = store.collections.docs(name)
    if docs:
        write_docs(folder / "docs.jsonl", docs, format="jsonl")
    versions = store.qrels.listed(name)
    for version in versions:
        write_whole(folder / "qrels" / f"{version.version}.qrels", store.files.read(version.hash))
    _write_lines(folder / "qrels.jsonl", _records(versions, ("version", "hash", "label", "note", "made")))
    listed = store.runs.listed(name)
    for run in listed:
        write_whole(folder / "runs" / f"{run.hash}.run", store.files.read(run.hash))
    _write_lines(folder / "runs.jsonl", _records(listed, RUN_KEYS))
    references = [
        {"name": one.name, "note": one.note, "made": one.made, "runs": [run.hash for run in one.runs]}
        for one in store.references.listed(name)
    ]
    _write_json(folder / "references.json", references)
    _write_lines(folder / "certificates.jsonl", _certificates(store, own.id))


RUN_KEYS = ("hash", *FACTS, "owner", "made")
"""What is written of a run beside its file."""


def _certificates(store: Store, collection_id: int) -> list[dict[str, Any]]:
    own = ("address", "measure", "policy", "signature", "score", "made")
    columns = [results.c[name] for name in own]
    wanted = (
        sa.select(runs.c.hash.label("run"), qrels.c.hash.label("qrels"), *columns)
        .join_from(results, runs, runs.c.id == results.c.run_id)
        .join(qrels, qrels.c.id == results.c.qrels_id)
        .where(runs.c.collection_id == collection_id)
        .order_by(results.c.address)
    )
    with store.database.reading() as connection:
        return [dict(row) for row in connection.execute(wanted).mappings()]


def _write_campaign(campaign: JudgingCampaign, folder: Path) -> None:
    folder.mkdir(parents=True)
    facts = {
        "name": campaign.name,
        "collection": campaign.collection,
        "plan": campaign.plan.record(),
        "is_open": campaign.is_open,
        "made": campaign.made,
        "runs": [run.hash for run in campaign.runs()],
    }
    _write_json(folder / "campaign.json", facts)
    columns = [items.c[name] for name in ("place", "topic", "doc", "other", "gold")]
    wanted = sa.select(*columns).where(items.c.campaign_id == campaign.id).order_by(items.c.place)
    with campaign.database.reading() as connection:
        rows = [dict(row) for row in connection.execute(wanted).mappings()]
    _write_lines(folder / "items.jsonl", rows)
    _write_lines(folder / "judgments.jsonl", map(asdict, campaign.history()))
    _write_machine(campaign, folder)
    write_campaign_files(campaign, folder)


def _write_machine(campaign: JudgingCampaign, folder: Path) -> None:
    """What machine judges say, and who has seen it; no file where there is nothing."""
    of_item = (items.c.topic, items.c.doc)
    said = sa.select(*of_item, machine_labels.c.judge, machine_labels.c.label, machine_labels.c.made)
    seen = sa.select(*of_item, people.c.name.label("person"), machine_seen.c.made)
    said = said.join_from(machine_labels, items, items.c.id == machine_labels.c.item_id)
    seen = seen.join_from(machine_seen, items, items.c.id == machine_seen.c.item_id)
    seen = seen.join(people, people.c.id == machine_seen.c.person_id)
    wanted = {
        "machine_labels": said.where(machine_labels.c.campaign_id == campaign.id).order_by(*said.selected_columns[:3]),
        "machine_seen": seen.where(machine_seen.c.campaign_id == campaign.id).order_by(*seen.selected_columns[:3]),
    }
    with campaign.database.reading() as connection:
        for name, rows in wanted.items():
            found = [dict(row) for row in connection.execute(rows).mappings()]
            if found:
                _write_lines(folder / f"{name}.jsonl", found)


def export_campaign(campaign: JudgingCampaign, target: Path) -> list[Path]:
    """The labels and grades of one campaign in a new folder."""
    if target.exists():
        raise UsageError(f"{target}: there is something already; give a new name for the folder")
    target.mkdir()
    written = write_campaign_files(campaign, target)
    if not written:
        target.rmdir()
        raise DataError(f"campaign {campaign.name!r} has no judgment yet; there is nothing to export")
    return written


def write_campaign_files(campaign: JudgingCampaign, folder: Path) -> list[Path]:
    """Labels (or preference pairs) and the grades made of them, as `assay crowd` and `assay score` read them."""
    written = []
    labels = folder / "labels.csv"
    if campaign.plan.compares:
        pairs = campaign.preferences()
        names = pairs.labels.docs
        columns = pairs.labels.to_dict()
        others = [names[code] for code in pairs.other.tolist()]
        rows = zip(columns["topic"], columns["doc"], others, columns["worker"], columns["label"], strict=True)
        write_sheet(labels, ["topic", "doc", "other", "worker", "label"], [list(row) for row in rows])
        written.append(labels)
    elif len(campaign.labels()):
        write_labels(labels, campaign.labels())
        written.append(labels)
    try:
        grades = campaign.qrels()
    except DataError:  # nobody has judged yet
        return written
    write_qrels(folder / "qrels.txt", grades)
    return [*written, folder / "qrels.txt"]


def _records(things: Iterable[Any], keys: Iterable[str]) -> list[dict[str, Any]]:
    """These facts of each thing, as plain data."""
    names = tuple(keys)
    return [{name: getattr(thing, name) for name in names} for thing in things]


def _write_json(path: Path, value: Any) -> None:
    write_whole(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    write_whole(path, "".join(lines))
