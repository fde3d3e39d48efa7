"""Logs of interleaved lists: a row for each impression with its winner or its clicks, or a row for each doc shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.data.impressions import TIE, Impressions
from assay.io.sheet import Sheet, read_sheet

USERS = ("user", "user_id", "cookie", "session")
IMPRESSIONS = ("impression", "impression_id", "query", "query_id", "qid")
WINNERS = ("winner", "preferred", "outcome")
TEAMS = ("team", "system", "ranker")
CLICKS = ("clicked", "clicks", "click", "credit")
TIES = {"tie", "ties", "none", "draw", "0", ""}
"""How a tie may be written in the column of winners."""
CLICKS_OF = "clicks_"
"""What the name of a column of clicks begins with; the system follows."""


def read_impressions(path: str | Path) -> Impressions:
    """A log of interleaved lists, in one of three forms; a column `user` says who saw each impression.

    winner: a row for each impression, the winner a system or tie. clicks_A, clicks_B …: a row for each impression, the
    clicks credited to each system. impression, team, clicked: a row for each doc that was shown, the team that put it
    into the list (empty for a doc that both would have shown) and its clicks, as team-draft interleaving and
    multileaving log them; the clicks of a team are its credit.
    """
    sheet = read_sheet(path)
    clicks = {cell.strip()[len(CLICKS_OF) :]: at for at, cell in enumerate(sheet.header) if _is_clicks(cell)}
    if sheet.find(*WINNERS) is not None:
        return _from_winners(sheet)
    if clicks:
        return _from_clicks(sheet, clicks)
    if sheet.find(*TEAMS) is not None:
        return _from_teams(sheet)
    columns = ", ".join(sheet.header)
    what = "a column winner, columns clicks_A and clicks_B, or columns impression, team and clicked"
    raise DataError(f"{sheet.where}: a log of impressions has {what}; the columns are: {columns}")


def impressions_of(thing: Any) -> Impressions:
    """Impressions from what a person has: Impressions, a path, or pairs of user and winner."""
    if isinstance(thing, Impressions):
        return thing
    if isinstance(thing, str | Path):
        return read_impressions(thing)
    if isinstance(thing, list | tuple) and all(isinstance(row, list | tuple) and len(row) == 2 for row in thing):
        return Impressions.from_winners([(row[0], str(row[1])) for row in thing])
    raise UsageError(f"{type(thing).__name__} where impressions are expected; give a path or pairs (user, winner)")


def _is_clicks(cell: str) -> bool:
    return cell.strip().lower().startswith(CLICKS_OF) and len(cell.strip()) > len(CLICKS_OF)


def _users(sheet: Sheet) -> list[str | None]:
    """The user of each row; None in all of them where there is no such column."""
    at = sheet.find(*USERS)
    if at is None:
        return [None] * len(sheet.rows)
    users: list[str | None] = []
    for i, row in enumerate(sheet.rows):
        user = row[at].strip()
        if not user:
            raise DataError.at(
                sheet.where, sheet.lines[i], "the user is empty; name all users, or leave the column out"
            )
        users.append(user)
    return users


def _from_winners(sheet: Sheet) -> Impressions:
    at = sheet.place(*WINNERS)
    winners = []
    for row in sheet.rows:
        cell = row[at].strip()
        winners.append(TIE if cell.lower() in TIES else cell)
    return Impressions.from_winners(zip(_users(sheet), winners, strict=True), name=sheet.where)


def _from_clicks(sheet: Sheet, columns: dict[str, int]) -> Impressions:
    users = _users(sheet)
    rows = []
    for i, user in enumerate(users):
        credit = {system: _clicks(sheet, i, at) for system, at in columns.items()}
        rows.append((user, str(sheet.lines[i]), credit))
    return Impressions.from_rows(rows, name=sheet.where)


def _from_teams(sheet: Sheet) -> Impressions:
    impression_at = sheet.place(*IMPRESSIONS)
    team_at = sheet.place(*TEAMS)
    clicks_at = sheet.place(*CLICKS)
    users = _users(sheet)
    user_of: dict[str, str | None] = {}
    credits_of: dict[str, dict[str, float]] = {}
    for i, row in enumerate(sheet.rows):
        impression = row[impression_at].strip()
        if user_of.setdefault(impression, users[i]) != users[i]:
            what = f"impression {impression!r} has two users, {user_of[impression]!r} and {users[i]!r}; it has one"
            raise DataError.at(sheet.where, sheet.lines[i], what)
        credit = credits_of.setdefault(impression, {})
        team = row[team_at].strip()
        clicks = _clicks(sheet, i, clicks_at)
        if team:  # a doc that no team is credited for is part of the list alone
            credit[team] = credit.get(team, 0.0) + clicks
    rows = [(user_of[impression], impression, credit) for impression, credit in credits_of.items()]
    return Impressions.from_rows(rows, name=sheet.where)


def _clicks(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.finite(row, column)
    if value < 0:
        raise DataError.at(sheet.where, sheet.lines[row], f"{value:g} clicks; clicks are 0 or more")
    return value
