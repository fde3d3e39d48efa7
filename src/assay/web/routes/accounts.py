"""Logging in by a token, and the people of the store."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from assay.store.people import ROLES
from assay.web.access import COOKIE, Access
from assay.web.rendering import Page, answered
from assay.web.routes.asking import Asked, Asking

router = APIRouter()
REMEMBERED = 30 * 24 * 3600
"""Seconds for which a browser keeps the token."""


@router.get("/login")
def login_form(asked: Asked, next: str = "/") -> Response:
    """The form that takes a token."""
    page = Page(
        "login.html", "Log in", {"login": "POST a token to this address"}, names={"next": _inside(next), "sentence": ""}
    )
    return answered(asked.request, page)


@router.post("/login")
def login(asked: Asked, token: str = Form(""), next: str = Form("/")) -> Response:
    """Take a token and keep it in the browser; after many wrong ones, wait."""
    access: Access = asked.request.app.state.access
    access.refuse_too_many(asked.request)
    person = asked.store.people.of_token(token.strip()) if token.strip() else None
    if person is None:
        access.failed(asked.request)
        sentence = "This token is not known; ask the organiser for a new one."
        names = {"next": _inside(next), "sentence": sentence}
        page = Page("login.html", "Log in", {"error": sentence}, names=names, status=401)
        return answered(asked.request, page)
    response = RedirectResponse(_inside(next), status_code=303)
    is_secure = asked.request.url.scheme == "https"
    response.set_cookie(
        COOKIE, token.strip(), max_age=REMEMBERED, httponly=True, samesite="lax", secure=is_secure, path="/"
    )
    return response


@router.post("/logout")
def logout() -> Response:
    """Forget the token in this browser."""
    response = RedirectResponse("/login", status_code=303)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get("/people")
def people(asked: Asked) -> Response:
    """Who may use this store."""
    asked.must_be("organiser")
    return answered(asked.request, _people_page(asked))


@router.post("/people")
def add_person(asked: Asked, name: str = Form(""), role: str = Form("assessor")) -> Response:
    """Add a person, and show the token this once."""
    asked.must_be("organiser")
    person, token = asked.store.people.add(name, role)
    return answered(asked.request, _people_page(asked, person.name, token))


@router.post("/people/{name:path}")
def change_person(name: str, asked: Asked, what: str = Form("")) -> Response:
    """Give a person a new token, shown this once, or shut the person out."""
    asked.must_be("organiser")
    asked.found(lambda: asked.store.people[name])
    if what == "end":
        asked.store.people.end(name)
        return answered(asked.request, _people_page(asked))
    return answered(asked.request, _people_page(asked, name, asked.store.people.new_token(name)))


def _people_page(asked: Asking, name: str = "", token: str = "") -> Page:
    listed = asked.store.people.listed()
    record = {"people": [asdict(person) for person in listed]} | ({"name": name, "token": token} if token else {})
    names = {"listed": listed, "roles": ROLES, "new_name": name, "token": token}
    return Page("people.html", "People", record, names=names)


def _inside(where: str) -> str:
    """An address of ours to go on to; another site's is not followed.

    >>> _inside("/run/abc"), _inside("//elsewhere.example/"), _inside("https://elsewhere.example")
    ('/run/abc', '/', '/')
    """
    is_own = where.startswith("/") and not where.startswith(("//", "/\\")) and "\\" not in where
    return where if is_own and where.isprintable() else "/"
