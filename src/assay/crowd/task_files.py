"""Tasks and pools of docs as files: tables, qrels and plain lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from assay.core.errors import DataError
from assay.crowd.tasks import TaskRow, Tasks
from assay.io.column_names import Named, column_places, listed
from assay.io.content import Content
from assay.io.samples import Sample, sample_of
from assay.io.sheet import decoded, read_sheet, sheet_in, write_sheet


def write_tasks(path: str | Path, tasks: Tasks) -> None:
    """The tasks as a table: task, topic, position, doc, gold (empty where the doc is not gold), and other for pairs."""
    header = ["task", "topic", "position", "doc", "gold"]
    rows = [[row.task, row.topic, row.position, row.doc, row.gold] for row in tasks.rows]
    if tasks.are_pairs:
        header.append("other")
        for cells, row in zip(rows, tasks.rows, strict=True):
            cells.append(row.other)
    write_sheet(path, header, rows)


def read_tasks(path: str | Path) -> Tasks:
    """The tasks of a table that `write_tasks` wrote."""
    sheet = read_sheet(path)
    places = {name: sheet.place(name) for name in ("task", "topic", "position", "doc", "gold")}
    other = sheet.header.index("other") if "other" in sheet.header else None
    rows = []
    for line, cells in zip(sheet.lines, sheet.rows, strict=True):
        gold = cells[places["gold"]].strip()
        try:
            position = int(cells[places["position"]])
            expected = float(gold) if gold else None
        except ValueError:
            raise DataError.at(
                sheet.where, line, "position and gold of a task are numbers; write the table again"
            ) from None
        second = "" if other is None else cells[other]
        row = TaskRow(cells[places["task"]], cells[places["topic"]], position, cells[places["doc"]], expected, second)
        rows.append(row)
    if not rows:
        raise DataError(f"{sheet.where}: no tasks; make them with `assay crowd tasks`")
    sizes = Counter(row.task for row in rows)
    gold_sizes = Counter(row.task for row in rows if row.gold is not None)
    workers = Counter((row.topic, row.doc, row.other) for row in rows if row.gold is None)
    least = min(workers.values(), default=0)
    return Tasks(tuple(rows), max(sizes.values()), max(gold_sizes.values(), default=0), least, 0)


def read_pool(path: str | Path, *, columns: Named = None) -> dict[str, list[str]]:
    """Docs to judge per topic: a table with the columns topic and doc, or lines of a qrels or a run file."""
    return pool_in(Content.of(path), columns=columns)


def pool_in(content: Content, *, columns: Named = None) -> dict[str, list[str]]:
    """Docs to judge per topic, of the content of a file."""
    sample = sample_of(content)
    pool: dict[str, list[str]] = {}
    is_text = sample.syntax in ("lines", "empty", "sgml")
    pairs = _from_lines(content) if is_text else _from_table(content, sample, columns)
    for topic, doc in pairs:
        pool.setdefault(topic, []).append(doc)
    return pool


def _from_table(content: Content, sample: Sample, columns: Named) -> Iterator[tuple[str, str]]:
    """(topic, doc) of a table with these two columns."""
    sheet = sheet_in(content, sample)
    places = column_places(sheet.header, ("topic", "doc"), columns, "pools", sheet.where)
    for ours in ("topic", "doc"):
        if ours not in places:
            raise DataError(f"{sheet.where}: no column {ours!r}; the columns are: {listed(sheet.header)}")
    for row in sheet.rows:
        yield row[places["topic"]], row[places["doc"]]


def _from_lines(content: Content) -> Iterator[tuple[str, str]]:
    """(topic, doc) of lines with two fields, or with four or more of which the third is the doc."""
    where = content.where
    text = decoded(where, content.bytes())
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) in (1, 3):
            raise DataError.at(where, number, f"{len(fields)} fields; a pool line is 'topic doc' or a qrels line")
        doc = fields[1] if len(fields) == 2 else fields[2]
        yield fields[0], doc
