"""NTCIR files: judgments `topic doc L<grade>`, NTCIREVAL's files of one topic (.rel, .res, .lab), and answers' nuggets.

A grade is written L0, L1, … or 0, 1, …. Blank lines and lines that begin with # are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import DataError
from assay.data import Qrels, Run
from assay.io.files import read_bytes
from assay.io.rows import LARGEST_GRADE
from assay.io.sheet import decoded


def read_rel(path: str | Path, *, topic: str | None = None) -> Qrels:
    """Judgments from lines `topic doc L<grade>`, or `doc L<grade>` of the one topic that a .rel file is about.

    The topic of the second form is the file's name up to its first dot unless given. A doc judged twice is an error.
    """
    where, judged = str(path), dict[str, dict[str, int]]()
    for line, fields in lines_of(path):
        if len(fields) not in (2, 3):
            what = f"{len(fields)} fields; a line is `topic doc L<grade>`, or `doc L<grade>` in a file of one topic"
            raise DataError.at(where, line, what)
        of = judged.setdefault(fields[0] if len(fields) == 3 else topic or _stem(path), {})
        if fields[-2] in of:
            raise DataError.at(where, line, f"doc {fields[-2]!r} is judged twice; a doc has one grade per topic")
        of[fields[-2]] = grade_of(where, line, fields[-1])
    return Qrels.from_dict(judged, name=where)


def read_res(path: str | Path, *, topic: str | None = None) -> Run:
    """A ranking of one topic: a doc per line, best first (.res), with or without its label after it (.lab).

    The topic is the file's name up to its first dot unless given. A doc that stands twice is an error.
    """
    where, docs = str(path), dict[str, int]()
    for line, fields in lines_of(path):
        if len(fields) > 2:
            raise DataError.at(where, line, f"{len(fields)} fields; a line is `doc` or `doc L<grade>`")
        if len(fields) == 2:
            grade_of(where, line, fields[1])
        if fields[0] in docs:
            raise DataError.at(where, line, f"doc {fields[0]!r} stands in line {docs[fields[0]]} too")
        docs[fields[0]] = line
    name = topic or _stem(path)
    return Run.from_lists(name, {name: list(docs)})


@dataclass(frozen=True)
class Units:
    """The units (nuggets) of a topic with weights and the lengths of their vital strings; those an output matches.

    matched maps a unit's place to its offset: the characters read until it is conveyed. length is the output's.

    >>> Units([3, 1, 3], [10, 5, 5], matched={0: 100, 1: 50}, length=500).matched
    {0: 100, 1: 50}
    """

    weights: Sequence[float]
    lengths: Sequence[int]
    matched: Mapping[int, float]
    length: int

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.lengths):
            raise DataError(
                f"{len(self.weights)} weights for {len(self.lengths)} vital strings; a unit has one of each"
            )
        strange = [i for i in self.matched if not 0 <= i < len(self.weights)]
        if strange:
            raise DataError(f"matched unit number {strange[0]} is not among the {len(self.weights)} units of the topic")


def read_units(nuggets: str | Path, answers: str | Path) -> dict[str, Units]:
    """The units of each topic of a one-click file, with what an answer file matches.

    nuggets: lines `topic unit weight length`. answers: a line `topic syslen= length` for each topic, and lines
    `topic unit offset` for what was matched. A unit matched twice, or one that is not listed, is an error.
    """
    listed: dict[str, dict[str, tuple[float, int]]] = {}
    for line, fields in lines_of(nuggets):
        if len(fields) != 4:
            raise DataError.at(str(nuggets), line, f"{len(fields)} fields; a line is `topic unit weight length`")
        weight, length = (_number(str(nuggets), line, f) for f in fields[2:])
        listed.setdefault(fields[0], {})[fields[1]] = (weight, int(length))
    lengths, matched = _answers(answers, listed)
    return {
        t: Units(
            [w for w, _ in units.values()],
            [n for _, n in units.values()],
            {place: offset for place, u in enumerate(units) if (offset := matched.get((t, u))) is not None},
            lengths.get(t, 0),
        )
        for t, units in listed.items()
    }


def _answers(
    path: str | Path, listed: dict[str, dict[str, tuple[float, int]]]
) -> tuple[dict[str, int], dict[tuple[str, str], float]]:
    """Length of the answer of each topic, and offset of each matched unit."""
    lengths: dict[str, int] = {}
    matched: dict[tuple[str, str], float] = {}
    for line, fields in lines_of(path):
        if len(fields) != 3:
            raise DataError.at(str(path), line, f"{len(fields)} fields; a line is `topic unit offset`")
        topic, unit, value = fields
        if unit == "syslen=":
            lengths[topic] = int(_number(str(path), line, value))
        elif unit not in listed.get(topic, {}):
            raise DataError.at(str(path), line, f"unit {unit!r} is not among those of topic {topic!r}")
        elif (topic, unit) in matched:
            raise DataError.at(str(path), line, f"unit {unit!r} is matched twice; it counts once")
        else:
            matched[topic, unit] = _number(str(path), line, value)
    return lengths, matched


def lines_of(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line that holds any; comments are passed over."""
    for number, line in enumerate(decoded(str(path), read_bytes(path)).splitlines(), 1):
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            yield number, fields


def grade_of(where: str, line: int, text: str) -> int:
    """The grade that L3 or 3 stands for.

    >>> grade_of("x.rel", 1, "L3"), grade_of("x.rel", 1, "-1")
    (3, -1)
    """
    found = re.fullmatch(r"L?([+-]?\d+)", text)
    if not found:
        raise DataError.at(where, line, f"grade is not a whole number: {text!r}; write L0, L1, … or 0, 1, …")
    grade = int(found[1]) if len(found[1]) <= 20 else LARGEST_GRADE + 1
    if abs(grade) > LARGEST_GRADE:
        raise DataError.at(where, line, f"grade is too large: {text[:60]!r}; grades go up to {LARGEST_GRADE}")
    return grade


def _number(where: str, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DataError.at(where, line, f"not a number: {text!r}") from None


def _stem(path: str | Path) -> str:
    return Path(path).name.partition(".")[0]
