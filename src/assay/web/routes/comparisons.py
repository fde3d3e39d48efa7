"""Pages that compare: runs of one collection; systems over collections; what papers reported over the years."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from assay.core.errors import AssayError, UsageError
from assay.store import Person, Store
from assay.store.across import across, systems_over_collections
from assay.store.run_sets import compared_runs
from assay.store.stored_runs import StoredRun
from assay.store.years import over_the_years
from assay.web.made_pages import MadePages
from assay.web.rendering import Page, address, answered
from assay.web.routes.asking import Asked

router = APIRouter()


@router.get("/compare")
def compare(
    asked: Asked,
    run: Annotated[list[str] | None, Query()] = None,
    measure: str = "",
    test: str = "t",
    correction: str = "auto",
    qrels: str = "",
) -> Response:
    """Two runs or more, the first of them as the baseline: verdict, differences, topics by difference."""
    chosen = [asked.run(hash) for hash in run or []]
    if len(chosen) < 2:
        raise UsageError(f"{len(chosen)} run chosen; a comparison needs at least two")
    found = compared_runs(
        asked.store, chosen, measure=measure or None, test=test, correction=correction, qrels=qrels or None
    )
    names = {
        "found": found,
        "runs": chosen,
        "figures": found.figures(),
        "measure": found.leaderboard.matrix.measure,
        "test": test,
        "correction": correction,
        "tests": found.tests(),
        "corrections": found.corrections(),
        "topic_link": lambda topic: _topic_address(chosen, topic),
    }
    title = " and ".join(own.tag for own in chosen[:3])
    page = Page("compare.html", f"Compare {title}", found.record(), [found.leaderboard.table(), found.table()], names)
    return answered(asked.request, page)


@router.get("/across")
def across_collections(asked: Asked, measure: str = "") -> Response:
    """Systems over collections, standardized; cells without a run stay empty."""
    made: MadePages = asked.request.app.state.made_pages
    rests_on = _all_collections(asked.store, asked.person, measure)
    page = made.page(rests_on, lambda: across_page(asked.store, asked.person, measure))
    return answered(asked.request, page)


def _all_collections(store: Store, person: Person | None, measure: str) -> Hashable:
    """All that the page of systems over collections shows: collections, the newest judgments, runs, the measure."""
    collections = tuple(store.collections.listed())
    reader = person or "public"
    judgments = []
    runs = []
    for one in collections:
        judgments += [version.hash for version in store.qrels.listed(one.name)]
        runs += [(run.hash, run.tag) for run in store.runs.listed(one.name, seen_by=reader)]
    return "across", collections, tuple(judgments), tuple(runs), measure


def across_page(store: Store, person: Person | None, measure: str = "") -> Page:
    """The page of systems over collections."""
    found = across(store, measure=measure, person=person)
    names = {"found": found, "measure": measure, "drawn": None, "reason": "", "figures": []}
    record = found.record()
    tables = [found.table()]
    try:
        drawn = systems_over_collections(store, measure=measure, person=person)
    except AssayError as error:  # one collection, or no system on all of them: the table above says what there is
        names["reason"] = str(error)
    else:
        names |= {"drawn": drawn, "figures": drawn.figures()}
        record |= drawn.record()
        tables += drawn.tables()
    return Page("across.html", "Across collections", record, tables, names)


@router.get("/years")
def years(asked: Asked, collection: str = "") -> Response:
    """What papers reported over the years: pairs, weak baselines, whether gains add up, use of collections."""
    return answered(asked.request, years_page(asked.store, collection))


def years_page(store: Store, collection: str = "") -> Page:
    """The page of published results; one that says how to add some where there are none."""
    if not store.published.listed():
        return Page("years.html", "Over the years", {"published": 0}, names={"found": None})
    found = over_the_years(store, collection)
    names = {"found": found, "figure": found.survey.figure(collection=found.collection)}
    return Page("years.html", "Over the years", found.record(), found.tables(), names)


def _topic_address(chosen: Sequence[StoredRun], topic: str) -> str:
    """The page of a topic with the first two of the chosen runs side by side."""
    lists = "".join(f"&run={run.short}" for run in chosen[:2])
    return address("topic", chosen[0].collection, topic=topic) + lists
