"""Machine labels in the browser: organisers add them, and who has judged a doc may see them and look again."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import RedirectResponse, Response

from assay.core.errors import UsageError
from assay.store import Person
from assay.store.judging_campaign import Given, JudgingCampaign
from assay.store.judgment_log import new_id
from assay.store.next_items import Asked as Item
from assay.web.rendering import Page, address, answered
from assay.web.routes.asking import Asked
from assay.web.routes.judging_pages import item_records, scale_record
from assay.web.routes.upload_pages import received

router = APIRouter()
LISTED = 100
"""Disagreements that a page lists."""


@router.post("/machine/{name:path}")
def add_machine_labels(name: str, asked: Asked, labels: UploadFile) -> Response:
    """Add a file of machine labels to a campaign."""
    asked.must_be("organiser")
    own = asked.found(lambda: asked.store.campaigns[name])
    with received(labels) as file:
        if file is None:
            raise UsageError("no file was sent; choose a file of machine labels")
        own.machine.add(file)
    return RedirectResponse(address("campaign", own.name) + "#machine", status_code=303)


@router.get("/second/{name:path}")
def second_looks(name: str, asked: Asked, item: int | None = None) -> Response:
    """The judgments of a person that machine judges disagree with, and one of them to look at again."""
    person = asked.must_be("assessor")
    own = asked.found(lambda: asked.store.campaigns[name])
    waiting = own.machine.queue(person)
    # A list of the docs says that a judge disagrees, not what it says: that is shown on demand, and written down.
    listed = [{"item": one.item, "topic": one.topic, "doc": one.doc, "label": one.label} for one in waiting[:LISTED]]
    chosen = None if item is None else _chosen(asked, own, person, item)
    record = {"campaign": own.name, "scale": scale_record(own), "waiting": len(waiting), "docs": listed, "doc": chosen}
    names = {"own": own, "record": record, "new_id": new_id}
    return answered(asked.request, Page("second.html", f"Second looks in {own.name}", record, names=names))


def _chosen(asked: Asked, own: JudgingCampaign, person: Person, number: int) -> dict[str, Any]:
    """An item that the person has judged, what the person says of it, and what was shown of the machine labels."""
    given = _judged(own, person, number)
    (shown,) = item_records(asked.store, own, [Item(given.item, given.topic, given.doc, given.other)])
    said = {"label": given.label, "kind": given.kind, "reason": given.reason, "second_look": given.second_look}
    return {**shown, "given": said, "machine": own.machine.seen(person, number)}


def _judged(own: JudgingCampaign, person: Person, number: int) -> Given:
    given = own.given_of(person, number)
    if given is None:
        raise UsageError("judge the doc first; what machine judges say of it is shown afterwards")
    return given


@router.post("/second/{name:path}")
def show_machine_labels(name: str, asked: Asked, item: Annotated[int, Form()]) -> Response:
    """Show what machine judges say of a doc that the person has judged; that it was seen is written down."""
    person = asked.must_be("assessor")
    own = asked.found(lambda: asked.store.campaigns[name])
    own.machine.show(person, item)
    return RedirectResponse(address("second", own.name, item=item), status_code=303)
