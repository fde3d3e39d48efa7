"""Pages where people judge: campaigns, the assessor's page, and the organiser's page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel

from assay.core.errors import AssayError, DataError, UsageError
from assay.core.results import Result
from assay.io.docs import text_of
from assay.store import Person, Store
from assay.store.campaign_board import BoardSoFar
from assay.store.campaign_files import FILES, campaign_file
from assay.store.database import NotNow
from assay.store.judging_campaign import Given, JudgingCampaign
from assay.store.judgment_log import Answer, new_id
from assay.store.next_items import Asked as Item
from assay.version import __version__
from assay.web.highlights import highlighted
from assay.web.live_pages import LivePages
from assay.web.rendering import Page, address, answered
from assay.web.routes.asking import Asked, Asking
from assay.web.routes.typed_numbers import MaybeNumber, MaybeWhole, Number, Whole, refuse_words_for_numbers

router = APIRouter()
AHEAD = 10
"""Docs that the page of an assessor has ready."""
LOOK_BACK = 50
FOLLOWS = "assay-follows"
"""The header of a page that asks whether anything has changed since it was loaded."""


class NewCampaign(BaseModel):
    """The form of a new campaign; an empty field is a choice that is not made. gold: lines of topic, doc and label."""

    name: str = ""
    collection: str = ""
    order: str = "hedge"
    depth: Whole = 20
    scale: str = "S4"
    labels: Whole = 1
    rel: MaybeNumber = None
    guidelines: str = ""
    budget: MaybeWhole = None
    price: Number = 0.0
    protocol: str = "none"
    gold: str = ""

    def chosen(self) -> dict[str, Any]:
        """What `store.campaigns.add` takes."""
        refuse_words_for_numbers(self)
        return {**self.model_dump(exclude={"name", "collection"}), "gold": _gold(self.gold)}


@router.get("/campaigns")
def campaigns(asked: Asked) -> Response:
    """All campaigns, and the form that makes a new one."""
    return answered(asked.request, _campaigns_page(asked, NewCampaign()))


def _campaigns_page(asked: Asking, given: NewCampaign, problem: str = "") -> Page:
    """The campaigns, and the form with what was typed already; problem: what is wrong with it."""
    from assay.crowd.protocol import PROTOCOLS
    from assay.pooling.orders import ORDERS

    person = asked.must_be("reader")
    listed = asked.store.campaigns.listed()
    rows = []
    for campaign in listed:
        rows.append({"campaign": campaign, "counts": campaign.counts(person), "is_open": campaign.is_open})
    record: dict[str, Any] = {"campaigns": [_campaign_record(campaign) for campaign in listed]}
    if problem:
        record["error"] = problem
    names = {
        "rows": rows,
        "problem": problem,
        "given": given,
        "collections": [one.name for one in asked.store.collections.listed()],
        "orders": [entry.name for entry in ORDERS],
        "protocols": list(PROTOCOLS),
    }
    return Page("campaigns.html", "Judging", record, names=names, status=400 if problem else 200)


def _campaign_record(campaign: JudgingCampaign) -> dict[str, Any]:
    return {
        "name": campaign.name,
        "collection": campaign.collection,
        "open": campaign.is_open,
        **campaign.plan.record(),
    }


@router.post("/campaigns")
def add_campaign(asked: Asked, given: Annotated[NewCampaign, Form()]) -> Response:
    """A new campaign on the runs of a collection; the form again where something is wrong."""
    asked.must_be("organiser")
    try:
        campaign = asked.store.campaigns.add(given.name, given.collection, **given.chosen())
    except NotNow:
        raise
    except AssayError as error:
        return answered(asked.request, _campaigns_page(asked, given, str(error)))
    return RedirectResponse(address("campaign", campaign.name), status_code=303)


def _gold(text: str) -> dict[tuple[str, ...], float]:
    known: dict[tuple[str, ...], float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if len(words) not in (3, 4):
            raise UsageError(f"gold, line {number}: {len(words)} words; a line is topic, doc and label")
        try:
            label = float(words[-1])
        except ValueError:
            raise UsageError(f"gold, line {number}: {words[-1]!r} is no number") from None
        doc = tuple(words[:-1])
        if doc in known:
            raise UsageError(f"gold, line {number}: {' '.join(doc)} has a label already; give each doc once")
        known[doc] = label
    return known


@router.get("/campaign/{name:path}")
def campaign(name: str, asked: Asked, measure: str = "AP") -> Response:
    """The organiser's page, as things stand: progress, agreement, leaderboard, what comes next, whether to stop."""
    asked.must_be("organiser")
    own = asked.found(lambda: asked.store.campaigns[name])
    pages: LivePages = asked.request.app.state.live_pages
    follows = FOLLOWS in asked.request.headers
    live = pages.page((own.id, measure), own.state(), lambda: campaign_page(own, measure), follows=follows)
    tag = f'"{live.tag}-{__version__}"'
    if follows and asked.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    response = answered(asked.request, live.page)
    response.headers["ETag"] = tag
    return response


def campaign_page(own: JudgingCampaign, measure: str) -> Page:
    """What an organiser sees of a campaign."""
    progress = own.progress()
    agreement = own.agreement()
    quality = own.quality()
    checked = own.checked()
    board, why_no_board = _board(own, measure) if progress.answers else (None, "Nothing is judged yet.")
    upcoming = own.upcoming()
    stop = own.stop_now() if own.runs() and not own.plan.compares else None
    parts: dict[str, Result | None] = {"progress": progress, "agreement": agreement, "quality": quality}
    parts |= {"checks": checked}
    parts |= {"board": board, "upcoming": upcoming, "stop": stop, "machine": own.machine.comparison()}
    record: dict[str, Any] = {"campaign": _campaign_record(own)}
    record |= {key: None if part is None else part.record() for key, part in parts.items()}
    tables = [part.table() for part in (board, progress) if part is not None]
    names = {"own": own, "measure": measure, "is_open": own.is_open, "why_no_board": why_no_board, **parts}
    return Page("campaign.html", f"Campaign {own.name}", record, tables, names)


def _board(own: JudgingCampaign, measure: str) -> tuple[BoardSoFar | None, str]:
    """The leaderboard so far; None, and why, where the campaign is such that there is none."""
    if not own.runs() or own.plan.compares:
        return None, "There are no runs to compare."
    try:
        return own.leaderboard(measure), ""
    except NotNow:
        raise
    except DataError as error:
        return None, f"No leaderboard: {error}."


@router.post("/campaign/{name:path}")
def change_campaign(name: str, asked: Asked, what: Literal["open", "close"] = Form()) -> Response:
    """Open a campaign or close it."""
    asked.must_be("organiser")
    own = asked.found(lambda: asked.store.campaigns[name])
    if what == "close":
        own.close()
    else:
        own.reopen()
    return RedirectResponse(address("campaign", own.name), status_code=303)


@router.get("/labels/{name:path}")
def exported(name: str, asked: Asked, what: Literal["labels", "first", "qrels", "history"] = "labels") -> Response:
    """Labels that `assay crowd` reads, judgments that `assay score` reads, or the whole log."""
    asked.must_be("organiser")
    own = asked.found(lambda: asked.store.campaigns[name])
    named = {"Content-Disposition": f'attachment; filename="{FILES[what]}"'}
    return PlainTextResponse(campaign_file(own, what), media_type="text/plain; charset=utf-8", headers=named)


@router.get("/judge/{name:path}")
def judge(name: str, asked: Asked, topic: str = "", item: int | None = None) -> Response:
    """The assessor's page: the next doc, or an earlier one to look at again."""
    person = asked.must_be("assessor")
    own = asked.found(lambda: asked.store.campaigns[name])
    earlier = own.given(person, LOOK_BACK)
    waiting = own.next(person, AHEAD, topic=topic or None)
    items = waiting if item is None else [_earlier(earlier, item), *waiting]
    docs = item_records(asked.store, own, items)
    record = {
        "campaign": own.name,
        "guidelines": own.plan.guidelines,
        "scale": scale_record(own),
        "has_machine_labels": bool(own.machine.judges()),
        "items": docs,
        "given": [_given_record(one) for one in earlier],
        "progress": progress_record(own, person),
    }
    names = {"own": own, "record": record, "topic": topic, "current": docs[0] if docs else None, "new_id": new_id}
    return answered(asked.request, Page("judge.html", f"Judge {own.name}", record, names=names))


def _earlier(given: Sequence[Given], number: int) -> Item:
    """The item of an earlier judgment, to be looked at again."""
    for one in given:
        if one.item == number:
            return Item(one.item, one.topic, one.doc, one.other)
    raise UsageError(f"item {number} is none of your last {LOOK_BACK} judgments here")


def item_records(store: Store, own: JudgingCampaign, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Items with the texts that the store has: the query, and each doc with the words of the query marked."""
    wanted = [doc for item in items for doc in (item.doc, item.other) if doc]
    topics, found = store.collections.texts(own.collection, {item.topic for item in items}, wanted)
    fields = topics.to_dict()
    queries = topics.queries()
    texts = {doc: text_of(known) for doc, known in found.items()}
    records = []
    for item in items:
        query = queries.get(item.topic, "")
        docs = []
        for doc in filter(None, (item.doc, item.other)):
            docs.append({"doc": doc, "text": highlighted(texts.get(doc, ""), query), "has_text": doc in texts})
        described = {name: text for name, text in fields.get(item.topic, {}).items() if text and text != query}
        record = {"item": item.item, "topic": item.topic, "query": query, "fields": described, "docs": docs}
        records.append(record)
    return records


def scale_record(own: JudgingCampaign) -> dict[str, Any]:
    """What the page needs to ask for a label: its kind, its ends (None where it has no upper end) and its words."""
    scale = own.plan.scale_of_labels
    high = scale.high if math.isfinite(scale.high) else None
    return {"name": scale.name, "kind": scale.kind, "low": scale.low, "high": high, "names": list(scale.titles())}


def _given_record(given: Any) -> dict[str, Any]:
    keys = ("id", "item", "topic", "doc", "other", "kind", "label", "reason", "takes_back")
    return {key: getattr(given, key) for key in keys}


def progress_record(own: JudgingCampaign, person: Person) -> dict[str, Any]:
    """How far the campaign is, in all and by topic, and the person."""
    by_topic = [{"topic": one.topic, "docs": one.items, "done": one.done} for one in own.topic_progress()]
    return {**asdict(own.counts(person)), "topics": by_topic}


Kind = Literal["label", "unjudgeable", "skip", "undo"]


@router.post("/judged/{name:path}")
def answer_by_form(
    name: str,
    asked: Asked,
    topic: str = "",
    item: int = Form(),
    id: str = Form(),
    label: str = Form(""),
    reason: str = Form(""),
    what: Annotated[Kind, Form()] = "label",
    back: Annotated[Literal["judge", "second"], Form()] = "judge",
) -> Response:
    """The same from a form, for a browser without scripts; then the next doc, or the next second look."""
    person = asked.must_be("assessor")
    own = asked.found(lambda: asked.store.campaigns[name])
    own.answer(person, Answer(id, what, item, label or None, reason))
    waiting = own.machine.queue(person) if back == "second" else []
    following = waiting[0].item if waiting else None
    return RedirectResponse(address(back, own.name, item=following, topic=topic), status_code=303)
