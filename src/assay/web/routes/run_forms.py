"""What a form says of a run: the same fields where runs are uploaded and where they are corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Form


@dataclass(frozen=True)
class SaidOfRun:
    """The fields of a form about a run, as they were typed."""

    team: Annotated[str, Form()] = ""
    year: Annotated[str, Form()] = ""
    type: Annotated[str, Form()] = ""
    query_type: Annotated[str, Form()] = ""
    paper: Annotated[str, Form()] = ""
    code: Annotated[str, Form()] = ""
    note: Annotated[str, Form()] = ""
    visibility: Annotated[str, Form()] = "public"

    def facts(self) -> dict[str, Any]:
        """As `store.runs` takes them; what was left empty is None or an empty text."""
        manual = {"automatic": False, "manual": True}.get(self.type)
        said: dict[str, Any] = {"team": self.team, "query_type": self.query_type, "paper": self.paper}
        said |= {"code": self.code, "note": self.note, "year": self.year or None, "manual": manual}
        return said | {"visibility": self.visibility}


Said = Annotated[SaidOfRun, Depends()]
