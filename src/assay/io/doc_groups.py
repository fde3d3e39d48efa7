"""Files of doc groups: a table with doc and group, perhaps attribute and share; and shares of a population."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.data.doc_groups import ATTRIBUTE, SUM_TOLERANCE, DocGroups
from assay.io.column_names import USUAL
from assay.io.sheet import Sheet, read_sheet

SHARES = ("share", "weight", "membership", "probability")
GROUPS = ("group", "value")
ATTRIBUTES = ("attribute", "dimension")


def read_doc_groups(path: str | Path) -> DocGroups:
    """The groups of docs: a table with the columns doc and group, perhaps attribute and share, a row for each group.

    Without shares a doc of several groups belongs to each equally; with shares those of a doc in the groups of an
    attribute sum to 1. A row with an empty group says that the group is not known.
    """
    sheet = read_sheet(path)
    doc_at = sheet.place(*USUAL["doc"])
    group_at = sheet.place(*GROUPS)
    attribute_at = sheet.find(*ATTRIBUTES)
    share_at = sheet.find(*SHARES)
    rows = []
    for i, row in enumerate(sheet.rows):
        doc = row[doc_at].strip()
        group = row[group_at].strip()
        if not doc:
            raise DataError.at(sheet.where, sheet.lines[i], "the doc is empty; name it")
        if not group:
            continue
        attribute = ATTRIBUTE if attribute_at is None else row[attribute_at].strip()
        share = None if share_at is None else sheet.finite(i, share_at)
        rows.append((doc, attribute, group, share))
    return DocGroups.from_rows(rows, name=sheet.where)


def read_population(path: str | Path) -> dict[str, float]:
    """{group: share of the population}: a table with the columns group and share, shares that sum to 1."""
    sheet = read_sheet(path)
    group_at = sheet.place(*GROUPS)
    share_at = sheet.place(*SHARES)
    shares: dict[str, float] = {}
    for i, row in enumerate(sheet.rows):
        group = row[group_at].strip()
        if group in shares:
            raise DataError.at(sheet.where, sheet.lines[i], f"group {group!r} is there twice; give it once")
        shares[group] = _share(sheet, i, share_at)
    return checked_population(shares, sheet.where)


def checked_population(shares: dict[str, float], where: str) -> dict[str, float]:
    """The shares, if they sum to 1."""
    total = sum(shares.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise DataError(f"{where}: the shares of the population sum to {total:g}; they must sum to 1")
    return shares


def _share(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.finite(row, column)
    if value < 0:
        raise DataError.at(sheet.where, sheet.lines[row], f"the share is {value:g}; shares are 0 or more")
    return value


def doc_groups_of(thing: Any) -> DocGroups:
    """Groups of docs from what a person has: DocGroups, a path, or {doc: group}, {doc: {group: share}}."""
    if isinstance(thing, DocGroups):
        return thing
    if isinstance(thing, str | Path):
        return read_doc_groups(thing)
    if isinstance(thing, dict):
        return DocGroups.from_dict(thing)
    what = type(thing).__name__
    raise UsageError(f"{what} where groups are expected; give a path, {{doc: group}} or {{doc: {{group: share}}}}")
