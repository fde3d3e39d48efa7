"""NTCIR files: judgments `topic doc L<grade>`, runs, NTCIREVAL's files of one topic (.rel, .res, .lab), and nuggets.

A grade is written L0, L1, … or 0, 1, …. Blank lines and lines that begin with # are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.core.errors import DataError
from assay.data import Qrels, Run
from assay.data.answer_units import Units
from assay.io import trec
from assay.io.content import Content
from assay.io.files import write_whole
from assay.io.rows import LARGEST_GRADE, numbered_fields
from assay.io.trec import refuse_blanks, refuse_fractions


def read_rel(path: str | Path, *, topic: str | None = None) -> Qrels:
    """Judgments from lines `topic doc L<grade>`, or `doc L<grade>` of the one topic that a .rel file is about.

    The topic of the second form is the file's name up to its first dot unless given. A doc judged twice is an error.
    """
    return qrels_in(Content.of(path), topic=topic)


def qrels_in(content: Content, *, topic: str | None = None) -> Qrels:
    """As `read_rel`, of content that is read already."""
    where, judged = content.where, dict[str, dict[str, int]]()
    for line, fields in numbered_fields(where, content.bytes()):
        if len(fields) not in (2, 3):
            what = f"{len(fields)} fields; a line is `topic doc L<grade>`, or `doc L<grade>` in a file of one topic"
            raise DataError.at(where, line, what)
        of = judged.setdefault(fields[0] if len(fields) == 3 else topic or _stem(where), {})
        if fields[-2] in of:
            raise DataError.at(where, line, f"doc {fields[-2]!r} is judged twice; a doc has one grade per topic")
        of[fields[-2]] = grade_of(where, line, fields[-1])
    if not judged:
        raise DataError(f"{where}: there is no judgment; a line is `topic doc L<grade>`")
    return Qrels.from_dict(judged, name=Path(where).name)


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as lines `topic doc L<grade>`."""
    refuse_blanks(path, qrels)
    refuse_fractions(path, qrels, "NTCIR")
    if int(qrels.grades.min(initial=0)) < 0:
        what = f"a grade is {int(qrels.grades.min())}, and NTCIR's begin with L0"
        raise DataError(f"{path}: {what}; write a TREC file or a table (.csv, .jsonl, .parquet)")
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    cells = zip(topics, qrels.docs.tolist(), qrels.grades.tolist(), strict=True)
    write_whole(path, "".join(f"{topic} {doc} L{grade}\n" for topic, doc, grade in cells))


def run_in(content: Content, *, ranks: bool = False) -> Run:
    """A run as it is sent to NTCIR: TREC's lines after a line <SYSDESC> … </SYSDESC>, which is kept as metadata."""
    first, line_end, rest = content.bytes().partition(b"\n")
    as_comment = b"#" + first[1:] + line_end + rest  # lines keep their numbers
    run = trec.run_in(Content.of_bytes(content.where, as_comment), ranks=ranks)
    described = re.sub(r"(?i)</?sysdesc>", "", first.decode(errors="replace")).strip()
    info = replace(run.info, metadata={**run.info.metadata, "SYSDESC": described})
    return replace(run, info=info)


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


LARGEST = 1e12
"""The largest weight, length or offset of a unit."""


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
    content = Content.of(path)
    return numbered_fields(content.where, content.bytes())


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
    """A weight, a length or an offset: a number from 0 to LARGEST."""
    try:
        value = float(text)
    except ValueError:
        raise DataError.at(where, line, f"not a number: {text!r}") from None
    if not 0 <= value <= LARGEST:
        raise DataError.at(
            where, line, f"{text!r} is not a weight, length or offset; give a number from 0 to {LARGEST:g}"
        )
    return value


def _stem(path: str | Path) -> str:
    return Path(path).name.partition(".")[0]
