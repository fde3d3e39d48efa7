"""Uploads: files are checked first, line by line, and stored only when the checks pass or the person says so."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import RedirectResponse, Response

from assay.core.errors import AssayError, DataError, UsageError
from assay.store.database import NotNow
from assay.store.uploads import CheckedUpload, Limits, shown_name, unpacked
from assay.web.rendering import Page, address, answered
from assay.web.routes.asking import Asked, Asking
from assay.web.routes.run_forms import Said, SaidOfRun

router = APIRouter()
MOST_FILES = 50
MOST_FINDINGS = 40
NOTHING_SAID = SaidOfRun()


@router.get("/upload")
def upload_form(asked: Asked, collection: str = "") -> Response:
    """The form that takes runs."""
    asked.must_be("assessor")
    return answered(asked.request, _form(asked, collection))


def _form(
    asked: Asking,
    chosen: str,
    said: SaidOfRun = NOTHING_SAID,
    problems: Sequence[str] = (),
    findings: Sequence[str] = (),
) -> Page:
    """The form with what was typed already, and what is wrong."""
    names = {
        "collections": [one.name for one in asked.store.collections.listed()],
        "chosen": chosen,
        "said": said,
        "problems": problems,
        "findings": findings,
    }
    record = {"collections": names["collections"], "problems": list(problems), "findings": list(findings)}
    return Page("upload.html", "Upload runs", record, names=names, status=400 if problems else 200)


@router.post("/upload")
def upload(
    asked: Asked,
    file: Annotated[list[UploadFile], File()],
    said: Said,
    collection: str = Form(""),
    anyway: str = Form(""),
) -> Response:
    """Check the files; store them all, or say what is wrong and store none."""
    person = asked.must_be("assessor")
    asked.found(lambda: asked.store.collections[collection])
    if not 1 <= len(file) <= MOST_FILES:
        raise UsageError(f"{len(file)} files; send 1 to {MOST_FILES} at a time")
    checked, problems = _checked(asked, file, collection)
    despite = bool(anyway)
    if problems or (not despite and any(not one.ok for one in checked)):
        listed = problems or ["The checks found errors; nothing was stored."]
        return answered(asked.request, _form(asked, collection, said, listed, _findings(checked)))
    given = {name: value for name, value in said.facts().items() if value not in ("", None)}
    stored = []
    try:
        for one in checked:
            stored += asked.store.uploads.keep_run(one, collection, despite=despite, owner=person.name, **given)
    except NotNow:
        raise
    except AssayError as error:
        return answered(asked.request, _form(asked, collection, said, [str(error)], _findings(checked)))
    if len(stored) == 1:
        return RedirectResponse(address("run", stored[0].short), status_code=303)
    return RedirectResponse(address("collection", collection), status_code=303)


def _checked(asked: Asking, sent: Sequence[UploadFile], collection: str) -> tuple[list[CheckedUpload], list[str]]:
    """Every file as it was checked, and for those that cannot be read why."""
    checked = []
    problems = []
    for one in sent:
        try:
            checked.append(asked.store.uploads.check(one.file, one.filename or "", collection=collection))
        except DataError as error:
            problems.append(str(error))
    return checked, problems


def _findings(checked: Sequence[CheckedUpload]) -> list[str]:
    """What the checks found, errors first, with the place of each."""
    found = [finding for one in checked for finding in one.findings.found]
    found.sort(key=lambda finding: finding.level != "error")
    return [f"{finding.place()}: {finding.what}" for finding in found[:MOST_FINDINGS]]


@router.post("/collections")
def add_collection(
    asked: Asked,
    name: str = Form(""),
    title: str = Form(""),
    measure: str = Form("nDCG@10"),
    qrels: UploadFile | None = None,
    topics: UploadFile | None = None,
    docs: UploadFile | None = None,
) -> Response:
    """A new collection, with judgments, topics and texts where they are sent."""
    asked.must_be("organiser")
    with received(topics) as topic_file, received(docs) as doc_file:
        judgments = None
        if qrels is not None and qrels.filename:
            judgments = asked.store.uploads.check(qrels.file, qrels.filename, kind="qrels")
            if not judgments.ok:
                found = "; ".join(_findings([judgments])[:3])
                raise UsageError(f"the judgments have errors, nothing was stored: {found}")
        asked.store.collections.add(name, title=title, measure=measure, topics=topic_file, docs=doc_file)
        if judgments is not None:
            asked.store.uploads.keep_qrels(judgments, name)
    return RedirectResponse(address("collection", name), status_code=303)


@contextmanager
def received(sent: UploadFile | None) -> Iterator[Path | None]:
    """What was sent as a file, within limits; None where nothing was."""
    if sent is None or not sent.filename:
        yield None
        return
    ending = Path(shown_name(sent.filename)).suffix[:10]
    with tempfile.TemporaryDirectory(prefix="assay-upload-") as folder:
        path = Path(folder) / f"upload{ending if ending.isascii() else ''}"
        with open(path, "wb") as file:
            for part in unpacked(sent.file, shown_name(sent.filename), Limits(line=1_000_000)):
                file.write(part)
        yield path
