"""How does a folder become a store again? What `exports` wrote is read back, to the same answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, UsageError
from assay.store.experiment_copies import read_experiment
from assay.store.exports import FORM
from assay.store.judging_plan import JudgingPlan
from assay.store.judgment_log import standing
from assay.store.schema import (
    TABLES,
    answers,
    campaign_runs,
    campaigns,
    collections,
    items,
    judgments,
    machine_labels,
    machine_seen,
    people,
    qrels,
    reference_sets,
    results,
    runs,
    sa,
)
from assay.store.stored_collections import batches
from assay.store.stored_runs import FACTS
from assay.store.tallies import Tallies, counted_again

if TYPE_CHECKING:
    from assay.store.store import Store


def rebuilt_store(folder: Path, where: str | Path, files: str | Path | None) -> Store:
    """A new store from a folder; a store that holds something already is refused."""
    from assay.store.store import Store

    about = _json(folder / "store.json")
    if about.get("form") != FORM:
        raise DataError(f"{folder / 'store.json'}: form {about.get('form')!r} is not known; this version reads {FORM}")
    store = Store(where, files=files)
    if store.collections.listed() or store.people.listed():
        store.close()
        raise UsageError(f"{store.database.where}: the store is not empty; import into a new one")
    try:
        _people(store, folder / "people.jsonl")
        if (folder / "published.csv").exists():
            store.published.add(folder / "published.csv")
        for path in _numbered(folder / "collections"):
            _collection(store, path)
        for path in _numbered(folder / "campaigns"):
            _campaign(store, path)
        for path in _numbered(folder / "experiments"):
            read_experiment(store, path)
    except BaseException:
        _empty(store)
        store.close()
        raise
    return store


def _empty(store: Store) -> None:
    """Take everything out again: an import is whole or not at all."""
    with store.database.writing() as connection:
        for table in reversed(TABLES.sorted_tables):
            if table.name != "about":
                connection.execute(sa.delete(table))
    for hash in list(store.files.hashes()):
        store.files.path(hash).unlink()


def _numbered(folder: Path) -> list[Path]:
    """The folders within a folder, in the order of the numbers that their names begin with."""
    found = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    return sorted(found, key=lambda path: (int("0" + path.name.partition("-")[0]), path.name))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        raise DataError(f"{path}: the file is not there; is this a folder that `assay store export` wrote?") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}); export the store again") from None


def _lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines. A line ends at a line feed only: texts may hold other ends of lines."""
    if not path.exists():
        raise DataError(f"{path}: the file is not there; export the store again")
    rows = []
    for number, line in enumerate(path.read_bytes().decode().split("\n")[:-1], 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise DataError.at(str(path), number, f"not JSON ({error}); export the store again") from None
    return rows


def _people(store: Store, path: Path) -> None:
    for row in _lines(path):
        person = store.people.without_token(row["name"], row["role"])
        _set(store, people, person.id, {"made": row["made"], "ended": row["ended"]})


def _texts(path: Path, key: str) -> dict[str, dict[str, str]] | None:
    """{id: {field: text}} of a file of topics or docs; None where there is none."""
    if not path.exists():
        return None
    texts = {}
    for row in _lines(path):
        id = row.pop(key)
        texts[id] = {name: text for name, text in row.items() if text}
    return texts


def _collection(store: Store, folder: Path) -> None:
    facts = _json(folder / "collection.json")
    made = facts.pop("made")
    name = facts["name"]
    own = store.collections.add(
        **facts,
        topics=_texts(folder / "topics.jsonl", "topic"),
        docs=_texts(folder / "docs.jsonl", "doc"),
    )
    _set(store, collections, own.id, {"made": made})
    _qrels(store, name, folder)
    for row in _lines(folder / "runs.jsonl"):
        said = {key: row[key] for key in FACTS if row[key] is not None}
        (run,) = store.runs.add(name, folder / "runs" / f"{row['hash']}.run", owner=row["owner"], **said)
        if run.hash != row["hash"]:
            raise DataError(f"{folder}: run {row['tag']!r} has another content than its hash; export the store again")
        kept = {key: row[key] for key in ("year", "manual")}
        _set(store, runs, run.id, {"made": row["made"], **kept})
    for one in _json(folder / "references.json"):
        made_set = store.references.add(name, one["name"], one["runs"], note=one["note"])
        _set(store, reference_sets, made_set.id, {"made": one["made"]})
    for row in _lines(folder / "certificates.jsonl"):
        values = {key: row[key] for key in ("address", "measure", "policy", "signature", "score", "made")}
        values["run_id"] = store.runs[row["run"]].id
        values["qrels_id"] = store.qrels.version(name, row["qrels"]).id
        with store.database.writing() as connection:
            connection.execute(sa.insert(results).values(values))


def _qrels(store: Store, name: str, folder: Path) -> None:
    for row in _lines(folder / "qrels.jsonl"):
        path = folder / "qrels" / f"{row['version']}.qrels"
        added = store.qrels.add(name, path, label=row["label"], note=row["note"])
        if (added.hash, added.version) != (row["hash"], row["version"]):
            raise DataError(f"{path}: the content is not that of its hash; export the store again")
        _set(store, qrels, added.id, {"made": row["made"]})


def _set(store: Store, table: sa.Table, id: int, values: Mapping[str, Any]) -> None:
    with store.database.writing() as connection:
        connection.execute(sa.update(table).where(table.c.id == id).values(dict(values)))


def _campaign(store: Store, folder: Path) -> None:
    facts = _json(folder / "campaign.json")
    plan = JudgingPlan.of(facts["plan"])
    own = store.collections[facts["collection"]]
    members = [store.runs[hash].id for hash in facts["runs"]]
    named = {person.name: person.id for person in store.people.listed()}
    log = _lines(folder / "judgments.jsonl")
    with store.database.writing() as connection:
        values = {"name": facts["name"], "collection_id": own.id, "plan": plan.record()}
        values |= {"is_open": facts["is_open"], "made": facts["made"]}
        campaign = connection.execute(sa.insert(campaigns).values(values).returning(campaigns.c.id)).scalar_one()
        if members:
            rows = [{"campaign_id": campaign, "run_id": run} for run in members]
            connection.execute(sa.insert(campaign_runs), rows)
        every = [{"campaign_id": campaign, "answers": 0, **row} for row in _lines(folder / "items.jsonl")]
        for some in batches(every, 2000):
            connection.execute(sa.insert(items), some)
        wanted = sa.select(items.c.id, items.c.topic, items.c.doc, items.c.other)
        stored = connection.execute(wanted.where(items.c.campaign_id == campaign))
        item_of = {(row.topic, row.doc, row.other): row.id for row in stored}
        for row in log:
            row["item_id"] = item_of[row.pop("topic"), row.pop("doc"), row.pop("other")]
            row["person_id"] = named[row.pop("person")]
            del row["item"], row["number"]  # numbers are given anew, in the same order
            row.pop("stands", None)  # which follows from the log
            connection.execute(sa.insert(judgments).values(campaign_id=campaign, **row))
        _play(connection, campaign)
        kept = counted_again(connection, campaign, plan.labels)
        Tallies(store.database, campaign, plan).add(connection, kept.items())
        for table, name in ((machine_labels, "machine_labels"), (machine_seen, "machine_seen")):
            path = folder / f"{name}.jsonl"
            for row in _lines(path) if path.exists() else []:  # earlier exports have none
                row["item_id"] = item_of[row.pop("topic"), row.pop("doc"), ""]
                if "person" in row:
                    row["person_id"] = named[row.pop("person")]
                connection.execute(sa.insert(table).values(campaign_id=campaign, **row))


def _play(connection: sa.Connection, campaign: int) -> None:
    """How the judgments stand after all of the log."""
    own = sa.select(judgments).where(judgments.c.campaign_id == campaign)
    ordered = own.order_by(judgments.c.item_id, judgments.c.person_id, judgments.c.number)
    counts: dict[int, int] = {}
    for (item, person), rows in groupby(
        connection.execute(ordered).all(), key=lambda row: (row.item_id, row.person_id)
    ):
        stack = standing(list(rows))
        if not stack:
            continue
        counted = stack[0].counted
        latest = stack[-1]
        values = {"item_id": item, "person_id": person, "campaign_id": campaign, "judgment": latest.number}
        connection.execute(sa.insert(answers).values(**values, label=latest.label, counted=counted))
        counts[item] = counts.get(item, 0) + counted
    for item, count in counts.items():
        connection.execute(sa.update(items).where(items.c.id == item).values(answers=count))
