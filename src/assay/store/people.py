"""Who may do what? People with a role and a token; the token is shown once and stored as a hash."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UsageError
from assay.core.registry import did_you_mean, one_of
from assay.store.database import Database, plain
from assay.store.many_rows import among
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


OF_TOKENS = sa.select(people.c.token_hash, *(people.c[name] for name in Person.__dataclass_fields__)).where(
    among(people.c.token_hash, "hashes")
)


class People:
    """The people of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._lately: dict[str, tuple[float, Person]] = {}
        """By the hash of the token: when it was looked up, and whose it is."""
        self._used: set[str] = set()
        """Hashes that were asked for since they were looked up; they are looked up again together."""
        self._looking = threading.Lock()

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
        with self._looking:
            known = self.lately_of_token(token)  # somebody may have looked it up while this waited
            if known is not None:
                return known
            hash = token_hash(token)
            asked_at = time.monotonic()
            wanted = [hash, *self._used]
            with self._db.reading() as connection:
                rows = connection.execute(OF_TOKENS, {"hashes": wanted}).mappings().all()
            found = {}
            for row in rows:
                person = Person(**{name: row[name] for name in Person.__dataclass_fields__})
                found[row["token_hash"]] = (asked_at, person)
            still_known = {key: one for key, one in self._lately.items() if one[0] > asked_at - KNOWN_SECONDS}
            for looked_up in wanted:
                still_known.pop(looked_up, None)
            self._lately = still_known | found
            self._used = set()
        return found[hash][1] if hash in found else None

    def lately_of_token(self, token: str) -> Person | None:
        """The person, where the token was looked up within the last second; None where it has to be looked up.

        A change by this process counts at once, one by another process after that second.
        """
        hash = token_hash(token)
        asked_at, person = self._lately.get(hash, (-KNOWN_SECONDS, None))
        if person is not None:
            self._used.add(hash)
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
        with self._looking:  # nobody keeps what was looked up before the change
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
