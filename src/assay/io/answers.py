"""Answers in words: what assessors matched in them, reference texts and nuggets, and the answers themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import DataError
from assay.io.sheet import Sheet, read_sheet

YES = {"1": True, "yes": True, "true": True, "vital": True, "0": False, "no": False, "false": False, "okay": False}
"""What a cell of a column of yes and no may hold."""


@dataclass(frozen=True)
class MatchedNugget:
    """A nugget of the key and one answer: whether it is vital, how many called it so, and whether the answer has it."""

    vital: bool
    votes: float
    matched: bool
    length: int
    """Characters of the whole answer, white space left out."""


Matches = Mapping[str, Mapping[str, list[MatchedNugget]]]
"""{run: {topic: nuggets}}."""


def read_matches(path: str | Path) -> Matches:
    """What assessors found: a table with the columns run, topic, nugget, vital, matched and length, perhaps votes.

    A row for each nugget of the key, for every run and topic; length is that of the answer and the same in all its
    rows. Without votes a vital nugget has one and an okay nugget none.
    """
    sheet = read_sheet(path)
    places = {name: sheet.place(name) for name in ("run", "topic", "nugget", "vital", "matched", "length")}
    votes_at = sheet.find("votes")
    found: dict[str, dict[str, list[MatchedNugget]]] = {}
    seen: set[tuple[str, str, str]] = set()
    for i, row in enumerate(sheet.rows):
        run, topic, nugget = (row[places[name]].strip() for name in ("run", "topic", "nugget"))
        if (run, topic, nugget) in seen:
            what = f"nugget {nugget!r} of topic {topic!r} is there twice for run {run!r}; it counts once"
            raise DataError.at(sheet.where, sheet.lines[i], what)
        seen.add((run, topic, nugget))
        vital = _yes(sheet, i, places["vital"])
        votes = float(vital) if votes_at is None else sheet.finite(i, votes_at)
        length = int(sheet.finite(i, places["length"]))
        nuggets = found.setdefault(run, {}).setdefault(topic, [])
        if nuggets and nuggets[0].length != length:
            what = f"the answer of run {run!r} to topic {topic!r} has two lengths, {nuggets[0].length} and {length}"
            raise DataError.at(sheet.where, sheet.lines[i], f"{what}; an answer has one")
        nuggets.append(MatchedNugget(vital, votes, _yes(sheet, i, places["matched"]), length))
    return found


def read_texts(path: str | Path) -> dict[str, list[tuple[str, bool]]]:
    """Texts by topic: a table with the columns topic and text, and perhaps vital (yes or no); several rows of a topic
    are several texts. Without the column every text is vital.
    """
    sheet = read_sheet(path)
    topic_at = sheet.place("topic")
    text_at = sheet.place("text")
    vital_at = sheet.find("vital")
    texts: dict[str, list[tuple[str, bool]]] = {}
    for i, row in enumerate(sheet.rows):
        vital = True if vital_at is None else _yes(sheet, i, vital_at)
        texts.setdefault(row[topic_at].strip(), []).append((row[text_at], vital))
    return texts


def _yes(sheet: Sheet, row: int, column: int) -> bool:
    cell = sheet.rows[row][column].strip().lower()
    if cell not in YES:
        what = f"column {sheet.header[column]!r} is {cell!r}; write yes or no"
        raise DataError.at(sheet.where, sheet.lines[row], what)
    return YES[cell]
