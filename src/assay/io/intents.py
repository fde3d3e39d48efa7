"""Diversity files: judgments `topic intent doc grade` of ndeval and NTCIR; probabilities and types of intents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import DataError, UsageError
from assay.data.intents import IntentQrels
from assay.io import irds
from assay.io.column_names import column_places, listed
from assay.io.content import Content
from assay.io.files import write_whole
from assay.io.ntcir import grade_of, lines_of
from assay.io.recognition import looked_at
from assay.io.rows import numbered_fields
from assay.io.samples import Sample
from assay.io.sheet import sheet_in

TYPES = {"inf": False, "informational": False, "nav": True, "navigational": True}


@dataclass(frozen=True)
class IntentFile:
    """P(intent | topic), and which (topic, intent) are navigational."""

    probabilities: dict[tuple[str, str], float]
    navigational: frozenset[tuple[str, str]]


def read_intent_qrels(path: str | Path, *, intents: str | Path | None = None) -> IntentQrels:
    """Judgments by intent, with the probabilities and types of the intents if their file is given.

    A line is `topic intent doc grade`, the grade 0, 1, … (ndeval) or L0, L1, … (NTCIR); a table has these columns.
    Intent 0 with grade 0 marks a judged doc that is relevant to no intent. Without a file of intents they are equally
    likely and informational; with one, an intent that it does not name has probability 0.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "web.dqrels"
    >>> _ = path.write_text("1 1 a 2\\n1 2 b 1\\n")
    >>> read_intent_qrels(path).grades.tolist()
    [[2, 0], [0, 1]]
    """
    if irds.is_irds(path):
        if intents is not None:
            raise UsageError(
                f"{intents}: a file of intents goes with a file of judgments, not with {path}; leave it out"
            )
        return irds.intent_judgments(path)
    known = None if intents is None else read_intents(intents)
    where = str(path)
    return IntentQrels.from_rows(
        intent_rows(path),
        probabilities=None if known is None else known.probabilities,
        navigational=() if known is None else known.navigational,
        name=where,
    )


def intent_rows(path: str | Path) -> Iterator[tuple[str, str, str, int]]:
    """(topic, intent, doc, grade) of each line, or of each row of a table; plain judgments and others are an error."""
    content = Content.of(path)
    looked = looked_at(content)
    looked.as_kind(content, "intents")
    is_table = looked.sample.syntax not in ("lines", "empty", "sgml")
    rows = _rows_of_table(content, looked.sample) if is_table else numbered_fields(content.where, content.bytes())
    where, seen = content.where, set[tuple[str, str, str]]()
    for line, fields in rows:
        if len(fields) != 4:
            raise DataError.at(where, line, f"{len(fields)} fields; a line is `topic intent doc grade`")
        topic, intent, doc, grade = fields
        if (topic, intent, doc) in seen:
            raise DataError.at(where, line, f"doc {doc!r} is judged twice for intent {intent!r} of topic {topic!r}")
        seen.add((topic, intent, doc))
        yield topic, intent, doc, grade_of(where, line, grade)


def _rows_of_table(content: Content, sample: Sample) -> Iterator[tuple[int, list[str]]]:
    """The four cells of each row of a table, with its line."""
    sheet = sheet_in(content, sample)
    wanted = ("topic", "intent", "doc", "grade")
    places = column_places(sheet.header, wanted, None, "judgments by intent", sheet.where)
    for ours in wanted:
        if ours not in places:
            raise DataError(f"{sheet.where}: no column {ours!r}; the columns are: {listed(sheet.header)}")
    for line, row in zip(sheet.lines, sheet.rows, strict=True):
        yield line, [row[places[ours]].strip() for ours in wanted]


def read_intents(path: str | Path) -> IntentFile:
    """Probabilities of intents, and their types if there are: lines `topic intent probability [inf|nav]`.

    The probabilities of a topic may sum to less than 1, for intents that were left out, but not to more.
    """
    where, probabilities, navigational = str(path), dict[tuple[str, str], float](), set[tuple[str, str]]()
    for line, fields in lines_of(path):
        if len(fields) not in (3, 4):
            raise DataError.at(where, line, f"{len(fields)} fields; a line is `topic intent probability [inf|nav]`")
        pair = (fields[0], fields[1])
        if pair in probabilities:
            raise DataError.at(where, line, f"intent {pair[1]!r} of topic {pair[0]!r} is there twice")
        probabilities[pair] = _probability(where, line, fields[2])
        if len(fields) == 4 and _is_navigational(where, line, fields[3]):
            navigational.add(pair)
    _check_sums(where, probabilities)
    return IntentFile(probabilities, frozenset(navigational))


def write_intent_qrels(path: str | Path, rows: Iterable[tuple[str, str, str, int]]) -> None:
    """Judgments (topic, intent, doc, grade) in the form of ndeval."""
    write_whole(path, "".join(f"{topic} {intent} {doc} {grade}\n" for topic, intent, doc, grade in rows))


def _probability(where: str, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise DataError.at(where, line, f"probability is not in [0, 1]: {text!r}")
    return value


def _is_navigational(where: str, line: int, text: str) -> bool:
    if text.lower() not in TYPES:
        raise DataError.at(where, line, f"no type of intent {text!r}; write inf or nav")
    return TYPES[text.lower()]


def _check_sums(where: str, probabilities: dict[tuple[str, str], float]) -> None:
    totals: dict[str, float] = {}
    for (topic, _), p in probabilities.items():
        totals[topic] = totals.get(topic, 0.0) + p
    for topic, total in totals.items():
        # Files print four digits, whose rounding adds up over the intents.
        if total > 1.01:
            raise DataError(f"{where}: the probabilities of topic {topic!r} sum to {total:.4f}; they may not exceed 1")
