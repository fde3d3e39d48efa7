"""Pages of crowd experiments: the organiser's, and the one that workers open by a link, without an account."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from assay.core.errors import AssayError, UsageError
from assay.crowd.task_costs import CostEstimate
from assay.crowd.task_forms import FORMS
from assay.crowd.task_pages import CONSENT, GUIDELINES, served_page
from assay.io.json_values import json_value
from assay.store import Store
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.database import NotNow
from assay.store.experiment_files import experiment_file
from assay.store.experiment_growth import LABELS, MEASURE, add_tasks
from assay.store.experiment_inputs import chosen_of_texts
from assay.store.experiment_plan import ExperimentPlan
from assay.store.experiment_standing import checkup_of, standing_of
from assay.store.stored_experiments import DEPTH
from assay.web.rendering import Page, address, answered, wants_json
from assay.web.routes.asking import Asked, Asking
from assay.web.routes.typed_numbers import MaybeNumber, MaybeWhole, Number, Whole, refuse_words_for_numbers

router = APIRouter()
ANSWER_BYTES = 1 << 18
"""Bytes of an answer of a worker that are taken at most."""
MOST_ROWS = 30
"""Rows of the long tables of the organiser's page; the files have all."""


class NewExperiment(BaseModel):
    """The form of a new experiment; an empty field is a choice that is not made."""

    what: Literal["estimate", "start"] = "estimate"
    name: str = ""
    collection: str = ""
    pool: str = ""
    depth: MaybeWhole = DEPTH
    gold: str = ""
    form: str = "slider"
    scale: str = ""
    docs: Whole = ExperimentPlan.docs
    gold_docs: Whole = ExperimentPlan.gold_docs
    workers: Whole = ExperimentPlan.workers
    seconds: MaybeNumber = None
    on_docs: MaybeWhole = None
    moved: MaybeWhole = None
    attempts: Whole = ExperimentPlan.attempts
    tasks_per_worker: MaybeWhole = None
    questions: str = ""
    title: str = ExperimentPlan.title
    consent: str = CONSENT
    guidelines: str = GUIDELINES
    pay: Number = ExperimentPlan.pay
    fee: Number = ExperimentPlan.fee
    pay_failed: bool = False
    seconds_per_doc: Number = ExperimentPlan.seconds_per_doc
    failing: Number = ExperimentPlan.failing

    def chosen(self) -> dict[str, Any]:
        """What `store.experiments.add` takes."""
        refuse_words_for_numbers(self)
        return chosen_of_texts(**self.model_dump(exclude={"what", "name", "collection"}))


@router.get("/experiments")
def experiments(asked: Asked) -> Response:
    """All crowd experiments, and the form that makes a new one."""
    asked.must_be("organiser")
    return answered(asked.request, _experiments_page(asked, NewExperiment()))


def _experiments_page(
    asked: Asking, given: NewExperiment, estimate: CostEstimate | None = None, problem: str = ""
) -> Page:
    """The experiments, and the form with what was typed already; problem: what is wrong with it."""
    listed = asked.store.experiments.listed()
    rows = [{"own": one, "standing": standing_of(one), "is_open": one.is_open} for one in listed]
    record: dict[str, Any] = {"experiments": [_experiment_record(one) for one in listed]}
    if estimate is not None:
        record["estimate"] = estimate.record()
    if problem:
        record["error"] = problem
    names = {
        "rows": rows,
        "problem": problem,
        "given": given,
        "estimate": estimate,
        "collections": [one.name for one in asked.store.collections.listed()],
        "forms": FORMS,
    }
    status = 400 if problem else 200
    return Page("crowd_experiments.html", "Crowd experiments", record, names=names, status=status)


def _experiment_record(own: CrowdExperiment) -> dict[str, Any]:
    return {
        "name": own.name,
        "collection": own.collection,
        "open": own.is_open,
        "link": own.link,
        **own.plan.record(),
    }


@router.post("/experiments")
def add_experiment(asked: Asked, given: Annotated[NewExperiment, Form()]) -> Response:
    """A new experiment, or with what=estimate only what it will cost; the form again where something is wrong."""
    asked.must_be("organiser")
    try:
        chosen = given.chosen()
        if given.what == "estimate":
            estimate = asked.store.experiments.estimate(given.collection, **chosen)
            return answered(asked.request, _experiments_page(asked, given, estimate))
        own = asked.store.experiments.add(given.name, given.collection, **chosen)
    except NotNow:
        raise
    except AssayError as error:
        return answered(asked.request, _experiments_page(asked, given, problem=str(error)))
    return RedirectResponse(address("experiment", own.name), status_code=303)


@router.get("/experiment/{name:path}")
def experiment(name: str, asked: Asked) -> Response:
    """The organiser's page: the link for workers, progress, cost and time, how good workers are, and files."""
    asked.must_be("organiser")
    own = asked.found(lambda: asked.store.experiments[name])
    standing = standing_of(own)
    checkup = checkup_of(own, standing)
    checks = {} if checkup is None else checkup.parts(most=MOST_ROWS)
    record: dict[str, Any] = {"experiment": _experiment_record(own), "standing": standing.record()}
    record["checks"] = {part: table.record() for part, table in checks.items()}
    root = str(asked.request.base_url).rstrip("/")
    names = {
        "own": own,
        "standing": standing,
        "more_labels": LABELS,
        "measure": MEASURE,
        "checks": checks,
        "is_open": own.is_open,
        "link_of_workers": root + own.link,
    }
    page = Page("crowd_experiment.html", f"Experiment {own.name}", record, standing.tables(), names)
    return answered(asked.request, page)


@router.post("/experiment/{name:path}")
def change_experiment(
    name: str,
    asked: Asked,
    what: Literal["open", "close", "more"] = Form(),
    labels: int = Form(LABELS, ge=1, le=100_000),
    measure: str = Form(MEASURE),
) -> Response:
    """Give tasks to workers, give no more, or add tasks where the next labels matter."""
    asked.must_be("organiser")
    own = asked.found(lambda: asked.store.experiments[name])
    if what == "close":
        own.close()
    elif what == "open":
        own.reopen()
    else:
        add_tasks(asked.store, own.name, labels=labels, measure=measure)
    return RedirectResponse(address("experiment", own.name), status_code=303)


@router.get("/experiment-file/{name:path}")
def exported(name: str, asked: Asked, what: str = "labels") -> Response:
    """One of the files of an experiment: labels, accepted, rejected, bonus, workers or tasks."""
    asked.must_be("organiser")
    own = asked.found(lambda: asked.store.experiments[name])
    content = experiment_file(own, what)
    named = {"Content-Disposition": f'attachment; filename="{what}.csv"'}
    return PlainTextResponse(content, media_type="text/csv; charset=utf-8", headers=named)


@router.get("/crowd/{name:path}")
def work(name: str, asked: Asked, key: str = "", worker: str = "") -> Response:
    """What a worker sees: a task, or a sentence that says why there is none."""
    own = _of_link(asked.store, name, key)
    if own is None:
        return _said(asked, "This link is not valid", "Please check that the whole link was copied.", status=404)
    if not worker.strip():
        return _said(asked, own.plan.title, "", asks_worker=True, key=key)
    given = own.given(worker)
    if given is None:
        return _said(asked, "There is no task for you now", _why_none(own, worker), codes=own.codes(worker.strip()))
    plan = own.page_plan(given, own.link)
    return JSONResponse(plan) if wants_json(asked.request) else HTMLResponse(served_page(plan))


def _of_link(store: Store, name: str, key: str) -> CrowdExperiment | None:
    """The experiment of a link; None where name or key is another."""
    try:
        own = store.experiments[name]
    except UsageError:
        return None
    return own if own.has_key(key) else None


def _why_none(own: CrowdExperiment, worker: str) -> str:
    if not own.is_open:
        return "The experiment is closed. Thank you for your interest."
    return "Each person does one task of a topic, and others are at work on the rest. You may look again later."


def _said(asked: Asking, heading: str, sentence: str, *, status: int = 200, **names: Any) -> Response:
    """A page for workers that has no task on it."""
    shown = {"heading": heading, "sentence": sentence, "codes": [], "asks_worker": False, "key": "", **names}
    record = {"error" if status >= 400 else "state": sentence or heading, "codes": shown["codes"]}
    return answered(asked.request, Page("crowd_message.html", heading, record, names=shown, status=status))


@router.post("/crowd/{name:path}")
async def take(name: str, request: Request, key: str = "") -> Response:
    """Take an answer of a worker; it is answered when it is on the disk, and sent again it counts once."""
    body = await _bounded(request)
    return await run_in_threadpool(_taken, request.app.state.store, name, key, body)


async def _bounded(request: Request) -> bytes:
    """The body of a request, of a bounded size whatever its headers say."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > ANSWER_BYTES:
            raise HTTPException(413, f"an answer has at most {ANSWER_BYTES >> 10} kB; this is more")
    return bytes(body)


def _taken(store: Store, name: str, key: str, body: bytes) -> Response:
    own = _of_link(store, name, key)
    if own is None:
        raise HTTPException(404, "this link is not valid; open the link of the experiment again")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise HTTPException(400, "the answer is not UTF-8; send it again from the page") from None
    sent = json_value("answer", text)
    if not isinstance(sent, dict) or not isinstance(sent.get("id"), str):
        raise HTTPException(422, "an answer is an object with an id and rows; send it from the page of the task")
    return JSONResponse(asdict(own.answer(sent.get("rows"), id=sent["id"])))
