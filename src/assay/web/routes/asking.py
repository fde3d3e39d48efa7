"""What every page needs: the store, the person who asks, and names that are not there as a page that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, HTTPException, Request

from assay.core.errors import UsageError
from assay.store import Person, Store
from assay.store.stored_runs import StoredRun
from assay.web.access import refuse_without

T = TypeVar("T")


@dataclass(frozen=True)
class Asking:
    """A request with what it is answered from."""

    request: Request
    store: Store
    person: Person | None

    def found(self, look_up: Callable[[], T]) -> T:
        """What is looked up by a name in the address; a page that says so where it is not there."""
        try:
            return look_up()
        except UsageError as error:
            raise HTTPException(404, str(error)) from None

    def run(self, hash: str) -> StoredRun:
        """The run of an address, if the person may see it."""
        run = self.found(lambda: self.store.runs[hash])
        if not run.visible_to(self.person):
            raise HTTPException(404, f"no run {hash!r}; give 6 or more characters of its hash")
        return run

    def must_be(self, role: str) -> Person:
        """The person, who has at least this role."""
        return refuse_without(self.person, role)


async def asking(request: Request) -> Asking:
    """The request, the store and who asks."""  # async, because a plain function would cost a thread per request
    return Asking(request, request.app.state.store, request.state.person)


Asked = Annotated[Asking, Depends(asking)]
