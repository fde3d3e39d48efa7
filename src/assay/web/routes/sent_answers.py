"""What the page of an assessor sends: an answer, recorded before it is acknowledged, with the next docs on demand."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import Field, TypeAdapter, ValidationError

from assay.store.judgment_log import Answer
from assay.store.next_items import MOST_ASKED
from assay.web.rendering import Page, answered, wants_json
from assay.web.routes.asking import Asked, asking
from assay.web.routes.judging_pages import Kind, item_records

Next = Annotated[int, Query(ge=0, le=MOST_ASKED)]


@dataclass(frozen=True)
class SentAnswer:
    """What the page of an assessor sends. `id` is made by the page: sent again, it counts once."""

    id: Annotated[str, Field(min_length=8, max_length=100)]
    kind: Kind
    item: int | None = None
    label: float | str | None = None
    reason: str = ""
    seconds: float | None = None
    takes_back: str | None = None


@dataclass(frozen=True)
class _Choices:
    """The query of the address."""

    next: Annotated[int, Field(ge=0, le=MOST_ASKED)] = 0
    topic: str = ""


_SENT = TypeAdapter(SentAnswer)
_CHOICES = TypeAdapter(_Choices)


class AnswerRoute(APIRoute):
    """A route that checks an answer by itself: all that FastAPI does for any route takes longer than to record one.

    The address, its parameters and its body are declared by `answer` and described in the schema like those of others.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What a request is answered with."""

        async def handle(request: Request) -> Response:
            given = _checked("body", _SENT.validate_json, await _json_body(request))
            choices = _checked("query", _CHOICES.validate_python, dict(request.query_params))
            name: str = request.path_params["name"]
            return await answer(name, await asking(request), given, choices.next, choices.topic)

        return handle


router = APIRouter(route_class=AnswerRoute)


@router.post("/judge/{name:path}")
async def answer(
    name: str, asked: Asked, given: Annotated[SentAnswer, Body()], next: Next = 0, topic: str = ""
) -> Response:
    """Record an answer; it is answered when it is on the disk. next: with the next docs of the person, and counts."""
    person = asked.must_be("assessor")
    own = asked.found(lambda: asked.store.campaigns[name])
    said = await own.answer_soon(person, Answer(**vars(given)), n=next, topic=topic or None)
    record: dict[str, Any] = dict(vars(said.recorded))
    if said.following is not None:
        record["items"] = await run_in_threadpool(item_records, asked.store, own, said.items)
        record["progress"] = asdict(said.following.counts)
    if wants_json(asked.request):
        return JSONResponse(record)
    return answered(asked.request, Page("error.html", "Recorded", record, names={"sentence": "Recorded."}))


async def _json_body(request: Request) -> bytes:
    """The body of a request that says it is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        told = f"content type {kind!r}; send application/json"
        raise RequestValidationError([{"loc": ("body", "answer"), "msg": told, "type": "content_type"}])
    return await request.body()


def _checked(part: Literal["body", "query"], validate: Callable[[Any], Any], given: Any) -> Any:
    """What a part of the request says; what is wrong with it is said as for every other address."""
    try:
        return validate(given)
    except ValidationError as error:
        wrong = [{**one, "loc": (part, *one["loc"])} for one in error.errors()]
        raise RequestValidationError(wrong) from None
