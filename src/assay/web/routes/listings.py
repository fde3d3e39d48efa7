"""Pages of the collections: all of them, and one with its leaderboard and its judgments."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from assay.store import Person, Store
from assay.store.boards import BoardChoices, CollectionBoard, board
from assay.store.stored_collections import Collection
from assay.web.made_pages import MadePages
from assay.web.rendering import Page, answered
from assay.web.routes.asking import Asked

router = APIRouter()
MEASURES = ("nDCG@10", "AP", "P@10", "RR", "nDCG", "RBP(p=.8)", "Recall@100", "ERR@20", "Bpref", "Judged@10")
"""Measures that the form offers; any other can be typed."""
FIRST = 40
"""Runs that the picture of a leaderboard shows."""


@router.get("/")
def collections(asked: Asked) -> Response:
    """All collections."""
    return answered(asked.request, collections_page(asked.store))


def collections_page(store: Store) -> Page:
    """The page of all collections."""
    listed = store.collections.listed()
    record = {"collections": [_collection_record(one) for one in listed]}
    return Page("collections.html", "Collections", record, names={"listed": listed})


def _collection_record(one: Collection) -> dict[str, Any]:
    hidden = {"id", "lookup"}
    return {key: value for key, value in asdict(one).items() if key not in hidden}


@router.get("/collection/{name:path}")
def collection(name: str, asked: Asked, choices: Annotated[BoardChoices, Depends()]) -> Response:
    """A collection: what it holds, and who leads on it."""
    own = asked.found(lambda: asked.store.collections[name])
    made: MadePages = asked.request.app.state.made_pages
    rests_on = _rests_on(asked.store, asked.person, own, choices)
    page = made.page(rests_on, lambda: collection_page(asked.store, asked.person, own, choices))
    return answered(asked.request, page)


def _rests_on(store: Store, person: Person | None, own: Collection, choices: BoardChoices) -> Hashable:
    """All that the page of a collection shows: what is said of it, topics, judgments, runs, reference sets, choices."""
    judgments = tuple(version.hash for version in store.qrels.listed(own.name))
    runs = store.runs.listed(own.name, seen_by=person or "public")
    said = tuple((r.hash, r.tag, r.team, r.year, r.manual, r.query_type, r.visibility) for r in runs)
    references = tuple(store.references.names(own.name))
    queries = tuple(store.collections.topics(own.name).queries().items())
    return own, queries, judgments, said, references, choices


def collection_page(store: Store, person: Person | None, own: Collection, choices: BoardChoices) -> Page:
    """The page of a collection, with or without judgments and runs."""
    versions = store.qrels.listed(own.name)
    if not versions:
        reason = "This collection has no judgments yet, so nothing can be scored."
        return _page(own, choices, names={"board": None, "facts": None, "reason": reason})
    version = store.qrels.version(own.name, choices.qrels or None)
    names = _judged(store, own, choices) | {"judgments": version, "versions": [one.version for one in versions]}
    runs = store.runs.listed(own.name, seen_by=person or "public")
    names |= {
        "types": sorted({run.kind for run in runs if run.kind}),
        "teams": sorted({run.team for run in runs if run.team}),
        "years": sorted({str(run.year) for run in runs if run.year}),
        "queries": sorted({run.query_type for run in runs if run.query_type}),
    }
    names["references"] = store.references.names(own.name)
    if not runs:
        names |= {"board": None, "reason": "This collection has no runs yet; upload one."}
        return _page(own, choices, names=names)
    found = board(store, own.name, choices, person=person)
    return _page(own, choices, found, names | _of_board(found))


def _page(
    own: Collection, choices: BoardChoices, found: CollectionBoard | None = None, names: dict[str, Any] | None = None
) -> Page:
    record = {"collection": _collection_record(own), "choices": asdict(choices)}
    known = names or {}
    tables = []
    if known.get("facts"):
        record["judgments"] = known["facts"].record()
    if found is not None:
        record["board"] = found.record()
        tables = [found.table()]
    return Page("collection.html", own.title or own.name, record, tables, {"own": own, "choices": choices, **known})


def _judged(store: Store, own: Collection, choices: BoardChoices) -> dict[str, Any]:
    """What is known of the judgments: counts per topic, and the queries beside them."""
    from assay.pooling.collection_facts import describe

    facts = describe(store.qrels.read(own.name, choices.qrels or None))
    queries = store.collections.topics(own.name).queries()
    rows = []
    for topic, judged, relevant in zip(facts.topics, facts.judged, facts.relevant, strict=True):
        rows.append({"topic": topic, "query": queries.get(topic, ""), "judged": judged, "relevant": relevant})
    grades = ", ".join(f"{grade:g}" for grade in facts.grades[:12])
    return {"facts": facts, "topic_rows": rows, "grades": grades, "facts_figure": facts.figure()}


def _of_board(found: CollectionBoard) -> dict[str, Any]:
    from assay.stats.joint_tests import corrections_to_choose
    from assay.stats.paired import TESTS

    rows = found.rows
    return {
        "board": found,
        "figure": None if found.leaderboard is None else found.leaderboard.figure(top=FIRST),
        "measures": MEASURES,
        "tests": [entry.name for entry in TESTS],
        "corrections": corrections_to_choose(),
        "has_team": any(row.run.team for row in rows),
        "has_type": any(row.run.kind for row in rows),
        "has_letters": any(row.letters for row in rows),
        "has_standardized": any(row.standardized for row in rows),
    }
