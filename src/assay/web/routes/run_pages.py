"""Pages of a run: what it scores and where it stands, its file, and scores at addresses that stay."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from assay.core.errors import UsageError
from assay.store import Person
from assay.store.run_facts import run_facts
from assay.store.stored_runs import StoredRun
from assay.store.stored_scores import Certificate
from assay.web.access import may
from assay.web.rendering import Page, address, answered
from assay.web.routes.asking import Asked, Asking

router = APIRouter()


@router.get("/run/{hash}")
def run(hash: str, asked: Asked, measure: str = "", baseline: str = "", qrels: str = "") -> Response:
    """A run: every topic against the best, the median and a baseline; what is unjudged; what is known of it."""
    own = asked.run(hash)
    against = asked.run(baseline) if baseline else None
    if not asked.store.qrels.listed(own.collection):
        names = {"own": own, "facts": None, "certificate": None, **_shown(asked, own)}
        return answered(asked.request, Page("run.html", own.tag, run_record(own), names=names))
    facts = run_facts(
        asked.store, own, measure=measure or None, baseline=against, qrels=qrels or None, person=asked.person
    )
    certificate = asked.store.scores.certify(own.hash, facts.measure, qrels=facts.version.hash)
    record = run_record(own) | {"facts": facts.record(), "certificate": certificate_record(certificate)}
    names = {
        **_shown(asked, own),
        "own": own,
        "facts": facts,
        "certificate": certificate,
        "figure": facts.figure(),
        "others": asked.store.runs.listed(own.collection, seen_by=asked.person or "public"),
        "versions": [one.version for one in asked.store.qrels.listed(own.collection)],
        "measure": facts.measure,
        "topic_link": lambda topic: address("topic", own.collection, topic=topic, run=own.short),
    }
    return answered(asked.request, Page("run.html", own.tag, record, facts.tables(), names))


def _shown(asked: Asking, own: StoredRun) -> dict[str, Any]:
    """What the page says of the run itself, and whether the person may correct it."""
    metadata = json.dumps(own.metadata, indent=2, ensure_ascii=False, default=str)
    return {"metadata": metadata, "may_change": _may_change(asked.person, own)}


def _may_change(person: Person | None, own: StoredRun) -> bool:
    """Its owner and organisers may correct what is said of a run."""
    return may(person, "organiser") or (may(person, "assessor") and person is not None and person.name == own.owner)


def run_record(own: StoredRun) -> dict[str, Any]:
    """What is known of a run, for the JSON of its page."""
    return {key: value for key, value in asdict(own).items() if key != "id"} | {"type": own.kind}


@router.get("/run/{hash}/file")
def run_file(hash: str, asked: Asked) -> Response:
    """The run as it was given; its SHA-256 is the hash in its address."""
    own = asked.run(hash)
    named = f'attachment; filename="{own.short}.run"'
    return Response(asked.store.runs.content(own.hash), media_type="text/plain", headers={"Content-Disposition": named})


@router.post("/run/{hash}")
def change_run(
    hash: str,
    asked: Asked,
    team: str = Form(""),
    year: str = Form(""),
    type: str = Form(""),
    query_type: str = Form(""),
    paper: str = Form(""),
    code: str = Form(""),
    note: str = Form(""),
    visibility: str = Form("public"),
) -> Response:
    """Correct what is said of a run; its owner and organisers may."""
    own = asked.run(hash)
    if not _may_change(asked.must_be("assessor"), own):
        raise UsageError(f"run {own.tag!r} belongs to somebody else; its owner or an organiser can change this")
    said = {"team": team, "query_type": query_type, "paper": paper, "code": code, "note": note}
    manual = {"automatic": False, "manual": True}.get(type)
    asked.store.runs.change(own.hash, **said, year=year or None, manual=manual, visibility=visibility)
    return RedirectResponse(address("run", own.short), status_code=303)


@router.get("/score/{where}")
def score(where: str, asked: Asked) -> Response:
    """A certified score at its permanent address, with all that it rests on."""
    certificate = asked.found(lambda: asked.store.scores.certificate(where))
    own = asked.run(certificate.run.hash)
    record = certificate_record(certificate) | {"run": run_record(own)}
    title = f"{certificate.measure} of {own.tag}"
    names: dict[str, Any] = {"own": own, "certificate": certificate}
    return answered(asked.request, Page("score.html", title, record, names=names))


def certificate_record(certificate: Certificate) -> dict[str, Any]:
    """A certified score as JSON."""
    return {
        "address": address("score", certificate.address),
        "run_hash": certificate.run.hash,
        "qrels_hash": certificate.qrels.hash,
        "measure": certificate.measure,
        "signature": certificate.signature,
        "score": certificate.score,
        "bibtex": certificate.bibtex(),
    }


