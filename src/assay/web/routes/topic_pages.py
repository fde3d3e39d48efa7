"""Pages of a topic: the lists of runs side by side, with texts, grades and what is unjudged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from assay.core.errors import UsageError
from assay.store import Person, Store
from assay.store.boards import board
from assay.store.run_sets import lists_of_topic
from assay.store.stored_collections import Collection
from assay.store.stored_runs import StoredRun
from assay.web.rendering import Page, answered
from assay.web.routes.asking import Asked

router = APIRouter()
MOST_LISTS, MOST_DEPTH = 4, 100


@router.get("/topic/{name:path}")
def topic(
    name: str,
    asked: Asked,
    topic: str,
    run: Annotated[list[str] | None, Query()] = None,
    depth: int = 10,
    qrels: str = "",
) -> Response:
    """A topic: the lists of the chosen runs, or of the two best, side by side."""
    own = asked.found(lambda: asked.store.collections[name])
    chosen = [asked.run(hash) for hash in run or []]
    page = topic_page(asked.store, asked.person, own, topic, chosen, depth=depth, qrels=qrels)
    return answered(asked.request, page)


def topic_page(
    store: Store,
    person: Person | None,
    own: Collection,
    topic: str,
    runs: Sequence[StoredRun] = (),
    *,
    depth: int = 10,
    qrels: str = "",
) -> Page:
    """The page of a topic; without runs, of the two best ones."""
    listed = store.runs.listed(own.name, seen_by=person or "public")
    if not listed:
        raise UsageError(f"collection {own.name!r} has no runs yet; upload one")
    chosen = list(runs) or [row.run for row in board(store, own.name, person=person).rows[:2]]
    if len(chosen) > MOST_LISTS or not 1 <= depth <= MOST_DEPTH:
        raise UsageError(f"{len(chosen)} runs to depth {depth}; at most {MOST_LISTS} runs to depth {MOST_DEPTH}")
    view = lists_of_topic(store, own.name, topic, chosen, depth=depth, qrels=qrels or None)
    names = {
        "own": own,
        "view": view,
        "runs": chosen,
        "topics": store.qrels.read(own.name, qrels or None).topics,
        "top": max([1.0, *(doc.grade or 0 for docs in view.lists for doc in docs)]),
        "listed": listed,
        "depth": depth,
    }
    return Page("topic.html", view.title, view.record(), view.tables(), names)
