"""The workbench as an application: every address, who may open it, and what is answered when something is wrong."""

from __future__ import annotations

import errno

from fastapi import FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.core.errors import AssayError
from assay.store import Store
from assay.store.database import NoRoom, NotNow
from assay.version import __version__
from assay.web.access import SAFE, Access, refuse_foreign_forms
from assay.web.live_pages import LivePages
from assay.web.made_pages import MadePages
from assay.web.rendering import HEADERS, Page, answered
from assay.web.routes import ROUTERS
from assay.web.static_files import MAKERS, content_of, type_of

OPEN_PATHS = ("/login", "/static/", "/crowd/")
"""What is answered without a token: the form that takes one, what it looks like, and tasks, whose links have a key."""
UPLOAD_BYTES = 512 << 20
"""Bytes of a request that are taken at most."""
SAFE_HEADERS = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS.items())
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
NOT_KEPT = (b"cache-control", b"private, no-cache")
FULL = "the disk of the server is full, so nothing was written; it will work again when there is room"


def workbench(
    store: Store, *, tokens: bool = True, hosts: frozenset[str] = frozenset(), upload_bytes: int = UPLOAD_BYTES
) -> FastAPI:
    """The application over a store.

    tokens: whether people log in; without, everybody is the organiser at the machine and only `hosts` are answered.
    """
    app = FastAPI(title="assay", version=__version__, docs_url=None, redoc_url=None)
    app.state.store = store
    app.state.access = Access(store, tokens, hosts)
    app.state.upload_bytes = upload_bytes
    app.state.made_pages = MadePages()
    app.state.live_pages = LivePages()
    for router in ROUTERS:
        app.include_router(router)
    _add_static(app)
    app.add_middleware(Guard)
    app.add_exception_handler(AnyHTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(AssayError, _refused)
    app.add_exception_handler(OSError, _no_room)
    app.add_exception_handler(Exception, _failed)
    return app


class Guard:
    """Every request: known host, own origin, bounded size, a person who may be here; safe headers on the way out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        sent = _with_headers(send, scope["path"])
        try:
            await _refuse_strangers(request)
        except (HTTPException, AssayError) as error:
            refused = await _refused(request, error)
            await refused(scope, receive, sent)
            return
        await self._app(scope, _bounded(request, receive), sent)


async def _refuse_strangers(request: Request) -> None:
    """An error for a request that must not be answered; who asks is in the state of one that may be."""
    access: Access = request.app.state.access
    access.refuse_other_hosts(request)
    refuse_foreign_forms(request)
    _refuse_too_large(request)
    known = access.known_person(request)
    request.state.person = known or await run_in_threadpool(access.person, request)
    is_open = request.scope["path"].startswith(OPEN_PATHS)
    if request.state.person is None and not is_open:
        raise HTTPException(401, "log in with your token first")


def _with_headers(send: Send, path: str) -> Send:
    """What is sent, with the headers that every answer has unless it has its own."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            added = SAFE_HEADERS if path.startswith("/static/") else (*SAFE_HEADERS, NOT_KEPT)
            message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in given)]
        await send(message)

    return with_headers


def _bounded(request: Request, receive: Receive) -> Receive:
    """What is received; a request that does not say how long it is may not grow beyond the limit."""
    if request.method in SAFE or "content-length" in request.headers:
        return receive
    most = request.app.state.upload_bytes
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise _too_large(most)
        return message

    return counted


def _refuse_too_large(request: Request) -> None:
    length = request.headers.get("content-length", "0")
    most = request.app.state.upload_bytes
    if not length.isdigit() or int(length) > most:
        raise _too_large(most)


def _too_large(most: int) -> HTTPException:
    return HTTPException(413, f"the request is larger than the {most >> 20} MB that this server takes")


async def _refused(request: Request, error: Exception) -> Response:
    """What went wrong, in one sentence, as a page or as JSON."""
    status, sentence = _in_words(error)
    is_page = "text/html" in request.headers.get("accept", "") and request.method in ("GET", "HEAD")
    if status == 401 and is_page and request.app.state.access.tokens:
        return RedirectResponse(f"/login?next={_quoted(request)}", status_code=303)
    if not hasattr(request.state, "person"):
        request.state.person = None
    page = Page(
        "error.html", "Not possible", {"error": sentence, "status": status}, names={"sentence": sentence}, status=status
    )
    return answered(_without_format(request), page)


async def _no_room(request: Request, error: Exception) -> Response:
    """A disk that is full is said as such; any other trouble of the machine is a fault like others."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return await _refused(request, error)
    raise error


async def _failed(request: Request, error: Exception) -> Response:
    """A fault of ours: said as such, and left to the log of the server."""
    what = "the server could not answer; its log says why"
    request.state.person = getattr(request.state, "person", None)
    page = Page("error.html", "Not possible", {"error": what, "status": 500}, names={"sentence": what}, status=500)
    response = answered(_without_format(request), page)
    response.headers.update(HEADERS)
    return response


def _in_words(error: Exception) -> tuple[int, str]:
    if isinstance(error, AnyHTTPException):
        known = {404: "there is no such page", 405: "this address does not take that kind of request"}
        plain = error.detail in ("Not Found", "Method Not Allowed")
        return error.status_code, known.get(error.status_code, str(error.detail)) if plain else str(error.detail)
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return 422, f"{where}: {first['msg']}"
    if isinstance(error, NoRoom) or (isinstance(error, OSError) and error.errno in NO_ROOM):
        return 507, FULL
    if isinstance(error, NotNow):
        return 503, "the database of the server does not answer, so nothing was written; try again in a moment"
    return 400, str(error)


def _quoted(request: Request) -> str:
    from urllib.parse import quote

    return quote(str(request.url.path) + (f"?{request.url.query}" if request.url.query else ""), safe="")


def _without_format(request: Request) -> Request:
    """The request as one for a page or for JSON: an error is no table."""
    from urllib.parse import urlencode

    kept = [(key, value) for key, value in request.query_params.multi_items() if key != "format"]
    if request.query_params.get("format") == "json":
        kept.append(("format", "json"))
    scope = {**request.scope, "query_string": urlencode(kept).encode()}
    return Request(scope, request.receive)


def _add_static(app: FastAPI) -> None:
    """Style, scripts and the chart library, from this server alone."""

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name not in MAKERS:
            raise HTTPException(404)
        kept = {"Cache-Control": "public, max-age=3600"}
        return PlainTextResponse(content_of(name), media_type=type_of(name), headers=kept)
