"""Who may do what? People with a role and a token; the token is shown once and stored as a hash."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UsageError
from assay.core.registry import did_you_mean, one_of
from assay.store.database import Database, plain
from assay.store.schema import people, sa

ROLES = ("organiser", "assessor", "reader")
"""Does everything; judges and uploads runs; reads what is public."""

KNOWN_SECONDS = 1.0
"""How long a token that was looked up is known."""


@dataclass(frozen=True)
class Person:
    """Somebody who may use the store.

    >>> Person(1, "ann", "assessor", made=0.0).role
    'assessor'
    """

    id: int
    name: str
    role: str
    made: float
    ended: float | None = None
    """When the person was shut out; None while the token holds."""


class People:
    """The people of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._lately: dict[str, tuple[float, Person]] = {}

    def add(self, name: str, role: str = "assessor") -> tuple[Person, str]:
        """A new person and the token, which nobody can read again later."""
        one_of("role", role, ROLES)
        if not name.strip():
            raise UsageError("the name of the person is empty; give one")
        token = secrets.token_urlsafe(32)
        values = {"name": plain(name, "name"), "role": role, "token_hash": token_hash(token), "made": time.time()}
        with self._db.writing() as connection:
            statement = self._db.new(people).values(values).on_conflict_do_nothing().returning(people.c.id)
            if connection.execute(statement).scalar() is None:
                raise UsageError(f"there is a person {name!r} already; choose another name, or give a new token")
        return self[name], token

    def without_token(self, name: str, role: str = "organiser") -> Person:
        """The person of that name, added if need be, without a token: who works on the machine of the store."""
        values = {"name": plain(name, "name"), "role": one_of("role", role, ROLES), "made": time.time()}
        with self._db.writing() as connection:
            connection.execute(self._db.new(people).values(values).on_conflict_do_nothing())
        return self[name]

    def new_token(self, name: str) -> str:
        """Another token for a person; the old one no longer holds."""
        person = self[name]
        token = secrets.token_urlsafe(32)
        self._set(person, token_hash=token_hash(token), ended=None)
        return token

    def end(self, name: str) -> Person:
        """Shut a person out; what the person judged stays."""
        person = self[name]
        self._set(person, token_hash=None, ended=time.time())
        return self[name]

    def change_role(self, name: str, role: str) -> Person:
        """Give a person another role."""
        self._set(self[name], role=one_of("role", role, ROLES))
        return self[name]

    def of_token(self, token: str) -> Person | None:
        """The person whose token it is; None for any other text."""
        known = self.lately_of_token(token)
        if known is not None:
            return known
        hash = token_hash(token)
        found = self._chosen(people.c.token_hash == hash)
        if not found:
            return None
        self._lately[hash] = (time.monotonic(), found[0])
        return found[0]

    def lately_of_token(self, token: str) -> Person | None:
        """The person, where the token was looked up within the last second; None where it has to be looked up.

        A change by this process counts at once, one by another process after that second.
        """
        asked_at, person = self._lately.get(token_hash(token), (-KNOWN_SECONDS, None))
        return person if time.monotonic() - asked_at < KNOWN_SECONDS else None

    def __getitem__(self, name: str) -> Person:
        found = self._chosen(people.c.name == name)
        if not found:
            names = [person.name for person in self.listed()]
            known = did_you_mean(name, names) if names else "; there is nobody yet"
            raise UsageError(f"no person {name!r}{known}")
        return found[0]

    def listed(self) -> list[Person]:
        """Everybody, by name."""
        return self._chosen(sa.true())

    def has_organiser(self) -> bool:
        """Whether an organiser has a token that holds."""
        has_token = people.c.token_hash.is_not(None)
        return bool(self._chosen(has_token & (people.c.role == "organiser")))

    def _set(self, person: Person, **values: Any) -> None:
        with self._db.writing() as connection:
            connection.execute(sa.update(people).where(people.c.id == person.id).values(values))
        self._lately = {}

    def _chosen(self, condition: Any) -> list[Person]:
        columns = [people.c[name] for name in Person.__dataclass_fields__]
        with self._db.reading() as connection:
            rows = connection.execute(sa.select(*columns).where(condition).order_by(people.c.name)).mappings().all()
        return [Person(**row) for row in rows]


def token_hash(token: str) -> str:
    """What is stored of a token. Tokens are 256 random bits, so that a plain hash cannot be guessed back.

    >>> token_hash("secret")[:8]
    '2bb80d53'
    """
    return hashlib.sha256(token.encode()).hexdigest()
