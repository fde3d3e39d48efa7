"""Runs and judgments as nested JSON, {topic: {doc: number}}, and as JSONL with a topic on each line; ranx writes such.

A run may also be {topic: [doc, …]}, best first, and a file may hold several runs, {run: {topic: {doc: score}}}. A line
of JSONL is {topic: {…}}, or names its topic and its docs: {"qid": "1", "docs": {…}}, where the docs (or `hits`,
`results`, `ranking`) are {doc: number}, a list of ids, or a list of objects with a doc and a score or a grade.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import DataError
from assay.data import Qrels, Run
from assay.io.column_names import USUAL, column_places
from assay.io.content import Content
from assay.io.files import file_stem, write_whole
from assay.io.json_values import json_lines
from assay.io.recognition import LISTS
from assay.io.rows import LARGEST_GRADE
from assay.io.samples import Sample
from assay.io.sheet import decoded

RUN_FORM = "a run is {topic: {doc: score}} or {topic: [doc, …]}"
QRELS_FORM = "judgments are {topic: {doc: grade}}"


def is_nested(sample: Sample) -> bool:
    """Whether JSON is nested by topic, and not a table of rows."""
    if sample.syntax == "json":
        return isinstance(sample.value, dict)
    if sample.syntax != "jsonl" or not sample.objects:
        return False
    first = sample.objects[0]
    names = {name.strip().lower() for name in first}
    is_one_topic = len(first) == 1 and isinstance(next(iter(first.values())), dict | list)
    return is_one_topic or (not names.isdisjoint(LISTS) and not names.isdisjoint(USUAL["topic"]))


def runs_in(content: Content, sample: Sample) -> list[Run]:
    """The runs of a file, called as it says or, where it holds one without a name, as the file."""
    where = content.where
    nested = _by_topic(content, sample, "score")
    if not nested:
        raise DataError(f"{where}: there is no topic; {RUN_FORM}")
    name = file_stem(where) or "run"
    if not _holds_runs(nested):
        return [_run(where, name, nested)]
    runs = []
    for key, value in nested.items():
        if not isinstance(value, dict):
            raise DataError(f"{where}: run {key!r} holds {_short(value)}; {RUN_FORM}")
        runs.append(_run(f"{where}: run {key!r}", key, value))
    return runs


def qrels_in(content: Content, sample: Sample) -> Qrels:
    """The judgments of a file."""
    where = content.where
    nested = _by_topic(content, sample, "grade")
    if not nested:
        raise DataError(f"{where}: there is no judgment; {QRELS_FORM}")
    for topic, docs in nested.items():
        if not isinstance(docs, dict):
            raise DataError(f"{where}: topic {topic!r} holds {_short(docs)}; {QRELS_FORM}")
        _refuse_other_values(where, topic, docs, "grade")
    return Qrels.from_dict(nested, name=Path(where).name)


def _by_topic(content: Content, sample: Sample, value: str) -> dict[str, Any]:
    """{topic: docs}, or {run: {topic: docs}} as it stands in the file."""
    if sample.syntax == "json":
        nested: dict[str, Any] = sample.value
        return nested
    by_topic: dict[str, Any] = {}
    where = content.where
    for line, record in json_lines(where, decoded(where, content.bytes())):
        topic, docs = _topic_and_docs(where, line, record, value)
        if topic in by_topic:
            raise DataError.at(where, line, f"topic {topic!r} is there twice; a topic has one line")
        by_topic[topic] = docs
    return by_topic


def _topic_and_docs(where: str, line: int, record: Mapping[str, Any], value: str) -> tuple[str, Any]:
    """What a line of JSONL says."""
    if len(record) == 1:
        [(topic, docs)] = record.items()
        return topic, docs
    names = list(record)
    topic_at = column_places(names, ("topic",), None, "runs", f"{where}:{line}").get("topic")
    lists = [name for name in names if name.strip().lower() in LISTS]
    if topic_at is None or len(lists) != 1:
        what = f'a line is {{topic: {{doc: {value}}}}} or {{"qid": …, "docs": …}}; this one has {", ".join(names)}'
        raise DataError.at(where, line, what)
    topic = record[names[topic_at]]
    if not isinstance(topic, str | int) or isinstance(topic, bool) or topic == "":
        raise DataError.at(where, line, f"the topic is {_short(topic)}; write a text or a whole number")
    return str(topic), _docs(where, line, record[lists[0]], value)


def _docs(where: str, line: int, docs: Any, value: str) -> Any:
    """A list of objects as {doc: value}; anything else as it is."""
    if not isinstance(docs, list) or not docs or not isinstance(docs[0], dict):
        return docs
    found: dict[str, Any] = {}
    for hit in docs:
        names = list(hit) if isinstance(hit, dict) else []
        places = column_places(names, ("doc", value), None, "hits", f"{where}:{line}")
        if not {"doc", value} <= set(places):
            raise DataError.at(where, line, f"a doc is {_short(hit)}; write its id and its {value}")
        doc = hit[names[places["doc"]]]
        if not isinstance(doc, str | int) or isinstance(doc, bool) or str(doc) in found:
            what = "is there twice" if isinstance(doc, str | int) else "is no id"
            raise DataError.at(where, line, f"doc {doc!r} {what}; every doc has one id and one place")
        found[str(doc)] = hit[names[places[value]]]
    return found


def _holds_runs(nested: Mapping[str, Any]) -> bool:
    """Whether there is a level of runs above the topics."""
    inner = next(iter(nested.values()))
    if not isinstance(inner, dict) or not inner:
        return False
    return isinstance(next(iter(inner.values())), dict | list)


def _run(where: str, name: str, nested: Mapping[str, Any]) -> Run:
    if not nested:
        raise DataError(f"{where}: there is no topic; {RUN_FORM}")
    are_lists = {isinstance(docs, list) for docs in nested.values()}
    for topic, docs in nested.items():
        if isinstance(docs, list):
            _refuse_other_ids(where, topic, docs)
        elif isinstance(docs, dict):
            _refuse_other_values(where, topic, docs, "score")
        else:
            raise DataError(f"{where}: topic {topic!r} holds {_short(docs)}; {RUN_FORM}")
    if are_lists == {True, False}:
        raise DataError(f"{where}: some topics have scores and others have not; give scores to all or to none")
    return Run.from_lists(name, nested) if are_lists == {True} else Run.from_dict(name, nested)


def _refuse_other_ids(where: str, topic: str, docs: list[Any]) -> None:
    seen: set[str] = set()
    for doc in docs:
        if not isinstance(doc, str | int) or isinstance(doc, bool):
            raise DataError(f"{where}: topic {topic!r}: a doc is {_short(doc)}; write ids, best first")
        if str(doc) in seen:
            raise DataError(f"{where}: topic {topic!r}, doc {doc!r} is there twice; keep one")
        seen.add(str(doc))


def _refuse_other_values(where: str, topic: str, docs: Mapping[str, Any], value: str) -> None:
    """An error for a value that is no number, with the topic and the doc that it stands under."""
    for doc, number in docs.items():
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or number != number:
            raise DataError(f"{where}: topic {topic!r}, doc {doc!r}: the {value} is not a number: {_short(number)}")
        if value == "grade" and not abs(number) <= LARGEST_GRADE:
            what = f"the grade is {_short(number)}; grades go up to {LARGEST_GRADE}"
            raise DataError(f"{where}: topic {topic!r}, doc {doc!r}: {what}")
        if isinstance(number, int) and abs(number) > sys.float_info.max:
            raise DataError(f"{where}: topic {topic!r}, doc {doc!r}: the {value} is too large for a 64-bit float")


def write_nested(path: str | Path, table: Run | Qrels, *, lines: bool = False) -> None:
    """A run or judgments as {topic: {doc: number}}; with `lines`, a topic on each line. A run's name is left out."""
    if isinstance(table, Qrels) and table.probabilities is not None:
        what = "the judgments are sampled, and nested JSON has no probabilities"
        raise DataError(f"{path}: {what}; write a TREC file or a table (.csv, .jsonl, .parquet)")
    parts = [_as_json(path, {topic: docs}) for topic, docs in table.to_dict().items()]
    if lines:
        write_whole(path, "".join(part + "\n" for part in parts))
    else:
        write_whole(path, _as_one(parts))


def write_several(path: str | Path, runs: Sequence[Run]) -> None:
    """Runs as {run: {topic: {doc: score}}}."""
    write_whole(path, _as_one([_as_json(path, {run.name: run.to_dict()}) for run in runs]))


def _as_json(path: str | Path, value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise DataError(f"{path}: JSON has no infinite numbers; write a TREC file or .csv") from None


def _as_one(parts: Sequence[str]) -> str:
    """Objects as one, a line for each."""
    return "{" + ",\n ".join(part[1:-1] for part in parts) + "}\n"


def _short(value: Any) -> str:
    """A JSON value as it is shown in a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
