"""Who is asking, and may they? Tokens, roles, the origin of forms, and the host that a request names."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from fastapi import HTTPException, Request

from assay.store import Person, Store

COOKIE = "assay"
"""The cookie that holds the token of who has logged in."""
LOCAL = "local"
"""The name of who works on the machine of the store, where no tokens are asked for."""
ATTEMPTS, WINDOW = 10, 60.0
"""Failed logins from one address that are answered within this many seconds."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
RIGHTS = {"organiser": 3, "assessor": 2, "reader": 1}


@dataclass
class Access:
    """How a server knows people: by tokens, or, on the loopback only, everybody is the person at the machine."""

    store: Store
    tokens: bool
    hosts: frozenset[str] = frozenset()
    """Names under which a server without tokens answers; another one is a page that misuses the browser."""
    failures: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def at_the_machine(self) -> Person:
        """Who works on the machine of the store."""
        return self.store.people.without_token(LOCAL)

    def person(self, request: Request) -> Person | None:
        """Who asks: by the token of the header or the cookie; the person at the machine where no tokens are used."""
        if not self.tokens:
            return self.at_the_machine
        token = _token(request)
        return self.store.people.of_token(token) if token else None

    def known_person(self, request: Request) -> Person | None:
        """Who asks, if that is known without asking the database."""
        if not self.tokens:
            return vars(self).get("at_the_machine")
        token = _token(request)
        return self.store.people.lately_of_token(token) if token else None

    def refuse_other_hosts(self, request: Request) -> None:
        """Without tokens a request must name this machine: a page elsewhere can point its own name at it."""
        if self.tokens:
            return
        host = (urlsplit(f"//{request.headers.get('host', '')}").hostname or "").lower()
        if host not in self.hosts:
            raise HTTPException(421, f"this server does not answer for the host {host!r}; open it by 127.0.0.1")

    def refuse_too_many(self, request: Request) -> None:
        """An error after many failed logins from one address."""
        with self._lock:
            failed = self._recent(request)
        if len(failed) >= ATTEMPTS:
            raise HTTPException(429, f"too many failed logins; try again in {WINDOW:.0f} seconds")

    def failed(self, request: Request) -> None:
        """Count a failed login."""
        with self._lock:
            self._recent(request).append(time.monotonic())

    def _recent(self, request: Request) -> deque[float]:
        failed = self.failures[request.client.host if request.client else ""]
        while failed and failed[0] < time.monotonic() - WINDOW:
            failed.popleft()
        return failed


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        token = request.cookies.get(COOKIE, "")
    return token.strip()


def refuse_foreign_forms(request: Request) -> None:
    """What changes anything must come from our own pages, or from a program that is no browser.

    Browsers name the origin of a form; those that do not name it say whether it is another site's.
    """
    if request.method in SAFE or "authorization" in request.headers:
        return
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site")
    is_own = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not is_own or (origin is None and site not in (None, "same-origin", "none")):
        raise HTTPException(403, "the form was sent by a page of another site; nothing was changed")


def may(person: Person | None, role: str) -> bool:
    """Whether a person has a role, or one that may do more."""
    return person is not None and RIGHTS[person.role] >= RIGHTS[role]


def refuse_without(person: Person | None, role: str) -> Person:
    """The person, who has the role or a higher one; else an error."""
    if person is None:
        raise HTTPException(401, "log in with your token first")
    if not may(person, role):
        raise HTTPException(403, f"{person.name} is {_article(person.role)}; this is for {role}s")
    return person


def _article(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def own_hosts(host: str) -> frozenset[str]:
    """Names of this machine that a server on the loopback answers to."""
    return frozenset({"localhost", "127.0.0.1", "::1", host.strip("[]").lower()})
