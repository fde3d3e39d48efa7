"""Judgments of several people on one topic: preferences between docs, and qrels whose second column names a group.

These are trec_eval's formats `prefs`, `qrels_prefs` and `qrels_jg`. A *group* holds the judgments of one person with
one need. A *subgroup* is a set of docs that this person compared with each other: where a person compared only some
docs with some others, several subgroups say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.core.errors import DataError
from assay.data import Qrels
from assay.io.files import read_text
from assay.io.rows import number, numbered_fields

Levels = Mapping[str, float]
"""Doc → level, within one subgroup: a doc of a higher level is preferred to every doc of a lower one."""
Preferences = Mapping[str, Mapping[str, Mapping[str, Levels]]]
"""Topic → group → subgroup → levels."""

PREFERENCE_LINE = "topic group subgroup doc level"
QRELS_LINE = "topic group doc grade"


def read_preferences(path: str | Path) -> Preferences:
    """Preferences from lines `topic group subgroup doc level`."""
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for line, fields in _fields(path, PREFERENCE_LINE):
        topic, group, subgroup, doc, level = fields
        levels = found.setdefault(topic, {}).setdefault(group, {}).setdefault(subgroup, {})
        _add(levels, doc, level, path, line)
    return found


def read_qrels_as_preferences(path: str | Path) -> Preferences:
    """Preferences from qrels, where the second column names the group and every group is one subgroup."""
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for line, fields in _fields(path, QRELS_LINE):
        topic, group, doc, grade = fields
        levels = found.setdefault(topic, {}).setdefault(group, {}).setdefault("0", {})
        _add(levels, doc, grade, path, line)
    return found


def read_group_qrels(path: str | Path) -> dict[str, Qrels]:
    """Judgments by group, from qrels whose second column names the group. Groups are in the order of their names."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for line, fields in _fields(path, QRELS_LINE):
        topic, group, doc, grade = fields
        judged = found.setdefault(group, {}).setdefault(topic, {})
        _add(judged, doc, grade, path, line)
    by_name = sorted(found, key=str.encode)
    return {group: Qrels.from_dict(_whole(found[group]), name=Path(path).name) for group in by_name}


def _fields(path: str | Path, form: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line, with its number; an error if there are not as many as in the form."""
    wanted = len(form.split())
    empty = True
    for line, fields in numbered_fields(str(path), read_text(path)):
        if len(fields) != wanted:
            raise DataError.at(str(path), line, f'{len(fields)} fields: a line is "{form}"')
        empty = False
        yield line, fields
    if empty:
        raise DataError(f'{path}: there is no judgment; a line is "{form}"')


def _add(levels: dict[str, float], doc: str, text: str, path: str | Path, line: int) -> None:
    """Put the level of a doc among the others; an error if it is no number, or if the doc is there already."""
    level = number(text)
    if level is None or level != level or abs(level) == float("inf"):
        raise DataError.at(str(path), line, f"the level is not a number: {text!r}")
    if doc in levels:
        raise DataError.at(str(path), line, f"doc {doc!r} is twice in one group; keep one of the two lines")
    levels[doc] = level


def _whole(judged: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Grades as whole numbers where all are whole, as qrels usually have them."""
    fractional = any(not grade.is_integer() for grades in judged.values() for grade in grades.values())
    if fractional:
        return {topic: dict(grades) for topic, grades in judged.items()}
    return {topic: {doc: int(grade) for doc, grade in grades.items()} for topic, grades in judged.items()}
