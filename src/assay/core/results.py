"""Result: what every computation ends in. A table for people, a record for programs, a figure for the eye."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.core.tables import Table
    from assay.report import Figure


UNITS = ("topic", "conversation", "user", "collection", "doc", "worker", "run", "year")
"""What may be sampled, and so what an interval, a p or a probability counts."""


class Result:
    """The base of all results: frozen dataclasses that say how they are shown.

    A result defines `table()`, or `tables()` where it is shown as several, the main one first. `record()` is the same
    as plain data under ASCII keys that do not change from version to version; `figure()` is its picture. A result that
    claims anything beyond its data declares the unit that was sampled: `unit = "topic"` in the class, or a property or
    a field of that name where it depends on the data.
    """

    @property
    def unit(self) -> str | None:
        """What was sampled, one of UNITS: what intervals and p count. None where nothing is claimed beyond the data."""
        return None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A dataclass would show all its arrays; at a prompt people want what print(result.table().text()) shows.
        if "__repr__" not in cls.__dict__ and cls.__repr__ is Result.__repr__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def table(self) -> Table:
        """The main table."""
        return self.tables()[0]

    def tables(self) -> list[Table]:
        """All tables, the main one first."""
        return [self.table()]

    def record(self) -> dict[str, Any]:
        """Plain data: the kind of result, its unit if it has one, and the records of its tables."""
        kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()
        unit = {"unit": self.unit} if self.unit else {}
        main, *others = (table.record() for table in self.tables())
        return {"result": kind, **unit, **main, **({"more": others} if others else {})}

    def scalars(self) -> dict[str, Any]:
        """What the record says beside its tables: the kind of result and whatever scalars it adds."""
        of_tables = {"rows", "columns", "caption", "notes", "more"}
        return {key: value for key, value in self.record().items() if key not in of_tables}

    def figure(self, **options: Any) -> Figure:
        """The picture of the result, drawn by the function that `assay.report` has registered for it."""
        from importlib import import_module

        # Results come before the report in the order of layers; the picture is looked up only when somebody asks.
        drawn: Figure = import_module("assay.report").figure(self, **options)
        return drawn

    def __repr__(self) -> str:
        return "\n\n".join(repr(table) for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables())


def json_text(tables: Sequence[Table], of: Any = None) -> str:
    """The records of the tables, each with the facts of its result, as JSON: one object, or a list of them.

    of: the result that the tables are of, or one for each table, or nothing that has facts.
    """
    facts = facts_of(of, len(tables))
    records = [{**known, **table.record()} for known, table in zip(facts, tables, strict=True)]
    whole = records[0] if len(records) == 1 else records
    return json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False)


def facts_of(of: Any, tables: int) -> list[dict[str, Any]]:
    """What the results say beside their tables (verdict, correction, signatures …), one record for each table.

    One result with several tables says it with the first; what has no results says nothing.
    """
    results = list(of) if isinstance(of, list | tuple) else [of]
    if not all(isinstance(result, Result) for result in results) or len(results) not in (1, tables):
        return [{}] * tables
    known = [result.scalars() for result in results]
    return [*known, *({} for _ in range(tables - len(known)))]
