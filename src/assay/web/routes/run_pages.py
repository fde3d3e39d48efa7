"""Pages of a run: what it scores and where it stands, its file, and scores at addresses that stay."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from assay.core.errors import UsageError
from assay.store import Person, Store
from assay.store.run_facts import run_facts
from assay.store.stored_runs import StoredRun
from assay.store.stored_scores import Certificate
from assay.web.access import may
from assay.web.rendering import Page, address, answered
from assay.web.routes.asking import Asked
from assay.web.routes.run_forms import Said

router = APIRouter()


@router.get("/run/{hash}")
def run(hash: str, asked: Asked, measure: str = "", baseline: str = "", qrels: str = "") -> Response:
    """A run: every topic against the best, the median and a baseline; what is unjudged; what is known of it."""
    own = asked.run(hash)
    against = asked.run(baseline) if baseline else None
    page = run_page(asked.store, asked.person, own, measure=measure, baseline=against, qrels=qrels)
    return answered(asked.request, page)


def run_page(
    store: Store,
    person: Person | None,
    own: StoredRun,
    *,
    measure: str = "",
    baseline: StoredRun | None = None,
    qrels: str = "",
) -> Page:
    """The page of a run, scored where its collection has judgments."""
    names: dict[str, Any] = {
        "own": own,
        "metadata": json.dumps(own.metadata, indent=2, ensure_ascii=False, default=str),
        "may_change": _may_change(person, own),
        "facts": None,
        "certificate": None,
    }
    versions = store.qrels.listed(own.collection)
    if not versions:
        return Page("run.html", own.tag, run_record(own), names=names)
    facts = run_facts(store, own, measure=measure or None, baseline=baseline, qrels=qrels or None, person=person)
    certificate = store.scores.certify(own.hash, facts.measure, qrels=facts.version.hash)
    record = run_record(own) | {"facts": facts.record(), "certificate": certificate_record(certificate)}
    names |= {
        "facts": facts,
        "certificate": certificate,
        "figure": facts.figure(),
        "others": store.runs.listed(own.collection, seen_by=person or "public"),
        "versions": [one.version for one in versions],
        "measure": facts.measure,
        "topic_link": lambda topic: address("topic", own.collection, topic=topic, run=own.short),
    }
    return Page("run.html", own.tag, record, facts.tables(), names)


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
def change_run(hash: str, asked: Asked, said: Said) -> Response:
    """Correct what is said of a run; its owner and organisers may."""
    own = asked.run(hash)
    if not _may_change(asked.must_be("assessor"), own):
        raise UsageError(f"run {own.tag!r} belongs to somebody else; its owner or an organiser can change this")
    asked.store.runs.change(own.hash, **said.facts())
    return RedirectResponse(address("run", own.short), status_code=303)


@router.get("/score/{where}")
def score(where: str, asked: Asked) -> Response:
    """A certified score at its permanent address, with all that it rests on."""
    certificate = asked.found(lambda: asked.store.scores.certificate(where))
    asked.run(certificate.run.hash)  # whoever may not see the run may not see its score
    return answered(asked.request, score_page(certificate))


def score_page(certificate: Certificate) -> Page:
    """The page of a certified score."""
    own = certificate.run
    record = certificate_record(certificate) | {"run": run_record(own)}
    title = f"{certificate.measure} of {own.tag}"
    return Page("score.html", title, record, names={"own": own, "certificate": certificate})


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
