"""Runs and judgments as tables: CSV, TSV, JSON, JSONL, Parquet and Arrow with topic, doc and score or grade.

Plain tables are taken by column (`frames`); any other is read row by row (`sheet`), where an error names its line. A
run may have ranks instead of scores: then the docs are in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, NotCut
from assay.core.groups import natural_order
from assay.core.ids import Ids
from assay.data import Qrels, Run
from assay.data.order import short_keys
from assay.data.topic_rows import bounds_of
from assay.io.column_names import OF_QRELS, OF_RUNS, Named, column_places, listed, may_name_docs, names_runs
from assay.io.columns import Columns
from assay.io.content import Content
from assay.io.frames import Frame, read_frame
from assay.io.ranked import scores_of_ranks, shared_rank
from assay.io.recognition import refuse_other_table
from assay.io.rows import LARGEST_GRADE, LARGEST_RANK
from assay.io.samples import Sample
from assay.io.sheet import Sheet, sheet_in, sheet_of_columns, write_sheet
from assay.io.trec import coded_topics, grouped_qrels

Places = Mapping[str, int]
PLAIN_QRELS = tuple(column for column in OF_QRELS if column != "intent")


def runs_in(
    content: Content, sample: Sample, columns: Named = None, *, same: Collection[str] | None = None
) -> list[Run]:
    """The runs of a table: one for each name in its column `run`, or one that is called as the file.

    same: those of our columns that all pieces of a large table must have, and no others.
    """
    name = Path(content.where).name.partition(".")[0]
    frame = read_frame(content, sample)
    if frame is not None:
        places = run_places(frame.names, columns, content.where)
        _refuse_other_columns(places, same, content.where)
        runs = runs_by_column(frame, places, columns, name)
        if runs is not None:
            return runs
    sheet = sheet_in(content, sample)
    places = run_places(sheet.header, columns, sheet.where)
    _refuse_other_columns(places, same, content.where)
    return _runs_by_row(sheet, places, columns, name)


def _refuse_other_columns(places: Places, same: Collection[str] | None, where: str) -> None:
    odd = sorted(set(same) ^ set(places)) if same is not None else []
    if odd:
        what = f"some lines have a {odd[0]} and others have none, and the file is too large to be read whole"
        raise NotCut(f"{where}: {what}; give every line the same fields")


def run_places(header: Sequence[str], columns: Named, where: str) -> Places:
    """Where the columns of runs stand in a table; one that is missing is an error.

    >>> run_places(["qid", "docno", "score"], None, "bm25.csv")
    {'topic': 0, 'doc': 1, 'score': 2}
    """
    return _places(header, OF_RUNS, columns, "run", where)


def qrels_places(header: Sequence[str], columns: Named, where: str) -> Places:
    """Where the columns of judgments stand in a table; one that is missing is an error."""
    return _places(header, PLAIN_QRELS, columns, "qrels", where)


def runs_of_rows(where: str, table: Columns, places: Places, columns: Named, *, first: int) -> list[Run]:
    """The runs of some rows of a large table, the first of which has that number in the file."""
    name = Path(where).name.partition(".")[0]
    if not any(column.missing is not None for column in table.columns):
        runs = runs_by_column(Frame(table), places, columns, name)
        if runs is not None:
            return runs
    return _runs_by_row(sheet_of_columns(where, table, first=first), places, columns, name)


def qrels_in(content: Content, sample: Sample, columns: Named = None) -> Qrels:
    """Judgments from a table, with a column `probability` sampled ones."""
    name = Path(content.where).name
    frame = read_frame(content, sample)
    if frame is not None:
        places = qrels_places(frame.names, columns, content.where)
        qrels = qrels_by_column(frame, places, name)
        if qrels is not None:
            return qrels
    sheet = sheet_in(content, sample)
    places = qrels_places(sheet.header, columns, sheet.where)
    return _qrels_by_row(sheet, places, name)


def _places(header: Sequence[str], wanted: Sequence[str], columns: Named, kind: str, where: str) -> Places:
    """Where the columns stand; an error if one is missing that is needed, or if the table is of another kind."""
    what = "runs" if kind == "run" else "judgments"
    places = column_places(header, wanted, columns, what, where)
    is_ordered = "score" in places or "rank" in places
    needed = ["topic", "doc", *(["score"] if kind == "run" and not is_ordered else [])]
    needed += ["grade"] if kind == "qrels" else []
    for ours in needed:
        if ours not in places:
            refuse_other_table(header, [], kind, where, columns)
            how = f"say which holds it with --column {ours}=... (columns={{{ours!r}: ...}})"
            raise DataError(f"{where}: no column {ours!r}; the columns are: {listed(header)}; {how}")
    if kind == "qrels":
        refuse_other_table(header, [], kind, where, columns)
    return places


def judged_rows(
    where: str, table: Columns, places: Places, *, first: int
) -> tuple[Ids, Ids, Floats, Floats | None] | None:
    """Topics, docs, grades and perhaps probabilities of some rows of a large table, the first of that number.

    A row that is wrong is an error; None where all are right and some cells are neither texts nor numbers.
    """
    columns = None
    if not any(column.missing is not None for column in table.columns):
        columns = _judged_columns(Frame(table), places)
    if columns is None:
        _qrels_by_row(sheet_of_columns(where, table, first=first), places, where)
    return columns


def write_run(path: str | Path, run: Run, *, format: str | None = None) -> None:
    """A run as a table, ranks from 1."""
    write_runs(path, [run], format=format)


def write_runs(path: str | Path, runs: Sequence[Run], *, format: str | None = None) -> None:
    """Runs as one table, each under its name."""
    rows: list[tuple[object, ...]] = []
    for run in runs:
        topics = [run.topics[t] for t in run.topic_of_row().tolist()]
        first_rows = np.repeat(run.bounds[:-1], np.diff(run.bounds))
        ranks = np.arange(len(run)) - first_rows + 1
        tags = [run.name] * len(run)
        rows += zip(topics, run.docs.tolist(), ranks.tolist(), run.scores.tolist(), tags, strict=True)
    write_sheet(path, ["topic", "doc", "rank", "score", "run"], rows, format=format)


def write_qrels(path: str | Path, qrels: Qrels, *, format: str | None = None) -> None:
    """Judgments as a table; sampled ones with their probability."""
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    header = ["topic", "doc", "grade"]
    columns: list[Sequence[object]] = [topics, qrels.docs.tolist(), qrels.grades.tolist()]
    if qrels.probabilities is not None:
        header.append("probability")
        columns.append(qrels.probabilities.tolist())
    write_sheet(path, header, zip(*columns, strict=True), format=format)


def runs_by_column(frame: Frame, places: Places, columns: Named, name_of_file: str) -> list[Run] | None:
    """The runs of a plain table; None where anything is not as it should be."""
    topics = frame.ids(places["topic"])
    docs = frame.ids(places["doc"])
    if topics is None or docs is None:
        return None
    ranks = frame.wholes(places["rank"], largest=LARGEST_RANK) if "rank" in places else None
    scores = frame.numbers(places["score"]) if "score" in places else None
    if ("rank" in places and ranks is None) or ("score" in places and scores is None):
        return None
    whole = None
    if "run" not in places or may_name_docs(frame.names, places["run"], columns):
        whole = _run_of_rows(name_of_file, np.arange(len(docs)), topics, docs, scores, ranks)
    if "run" not in places:
        return None if whole is None else [whole]
    tags = frame.ids(places["run"])
    if tags is None:
        return None
    names, run_of_row = coded_topics(tags)
    if whole is not None and len(names) > 1:  # no doc is twice in a topic: these are names of docs
        return [whole]
    runs = []
    for name in dict.fromkeys(tags.take(tags.changes()).tolist()):
        rows = np.flatnonzero(run_of_row == names.index(name))
        made = _run_of_rows(name, rows, topics, docs, scores, ranks)
        if made is None:
            return None
        runs.append(made)
    return runs


def _run_of_rows(
    name: str, rows: Ints, topics: Ids, docs: Ids, scores: Floats | None, ranks: Ints | None
) -> Run | None:
    """The run of some rows of a table; None if a doc is twice in a topic, or two docs have one rank and no score."""
    is_whole = len(rows) == len(docs)
    own_topics = topics if is_whole else topics.take(rows)
    own_docs = docs if is_whole else docs.take(rows)
    own_ranks = ranks if ranks is None or is_whole else ranks[rows]
    if scores is None:
        assert own_ranks is not None
        _, topic = coded_topics(own_topics)
        if shared_rank(topic, own_ranks) is not None:
            return None
        own_scores = scores_of_ranks(topic, own_ranks)
    else:
        own_scores = scores if is_whole else scores[rows]
    starts = own_topics.changes()
    bounds = np.append(starts, len(rows))
    names = tuple(own_topics.take(starts).tolist())
    keys = short_keys(own_docs.hashes())  # made once: they find docs that are twice here, and those that are judged
    run = Run(name, names, bounds, own_docs, own_scores, own_ranks, keys=keys).together()
    return None if run.duplicate() is not None else run.ordered(own=True)


def qrels_by_column(frame: Frame, places: Places, name: str) -> Qrels | None:
    """The judgments of a plain table; None where anything is not as it should be."""
    columns = _judged_columns(frame, places)
    return None if columns is None else grouped_qrels(*columns, name=name)


def _judged_columns(frame: Frame, places: Places) -> tuple[Ids, Ids, Floats, Floats | None] | None:
    """Topics, docs, grades and perhaps probabilities; None where anything is not as it should be."""
    topics = frame.ids(places["topic"])
    docs = frame.ids(places["doc"])
    grades = frame.numbers(places["grade"])
    if topics is None or docs is None or grades is None or (np.abs(grades) > LARGEST_GRADE).any():
        return None
    probabilities = None
    if "probability" in places:
        probabilities = frame.numbers(places["probability"])
        if probabilities is None or ((probabilities <= 0) | (probabilities > 1)).any():
            return None
    return topics, docs, grades, probabilities


def _runs_by_row(sheet: Sheet, places: Places, columns: Named, name_of_file: str) -> list[Run]:
    """The runs of a table, row by row; an error names the line."""
    names = [name_of_file] * len(sheet.rows)
    if "run" in places:
        tags = [row[places["run"]] for row in sheet.rows]
        pairs = ((row[places["topic"]], row[places["doc"]]) for row in sheet.rows)
        names = tags if names_runs(sheet.header, places["run"], columns, tags, pairs) else names
    by_run: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        by_run.setdefault(name, []).append(row)
    if not by_run:
        raise DataError(f"{sheet.where}: there is a header but no row")
    return [_run_by_row(sheet, places, name, rows) for name, rows in by_run.items()]


def _run_by_row(sheet: Sheet, places: Places, name: str, own: Sequence[int]) -> Run:
    groups = _rows_by_topic(sheet, places["topic"], places["doc"], own)
    rows = [row for group in groups.values() for row in group]
    ranks = None
    if "rank" in places:
        ranks = np.array([_rank(sheet, row, places["rank"]) for row in rows])
    if "score" in places:
        scores = np.array([_score(sheet, row, places["score"]) for row in rows])
    else:
        assert ranks is not None
        topic = np.repeat(np.arange(len(groups)), [len(group) for group in groups.values()])
        _refuse_shared_rank(sheet, rows, topic, ranks, list(groups))
        scores = scores_of_ranks(topic, ranks)
    docs = Ids.of(sheet.rows[row][places["doc"]] for row in rows)
    return Run.from_rows(name, tuple(groups), _bounds(groups.values()), docs, scores, ranks=ranks)


def _refuse_shared_rank(sheet: Sheet, rows: Sequence[int], topic: Ints, ranks: Ints, topics: Sequence[str]) -> None:
    shared = shared_rank(topic, ranks)
    if shared is not None:
        what = f"two docs of topic {topics[topic[shared]]!r} have rank {ranks[shared]}, and there are no scores"
        raise DataError.at(sheet.where, sheet.lines[rows[shared]], f"{what}; every doc needs a rank of its own")


def _qrels_by_row(sheet: Sheet, places: Places, name: str) -> Qrels:
    """The judgments of a table, row by row; an error names the line."""
    groups = _rows_by_topic(sheet, places["topic"], places["doc"], range(len(sheet.rows)))
    topics = natural_order(groups)
    rows = [row for topic in topics for row in groups[topic]]
    probabilities: Floats | None = None
    if "probability" in places:
        probabilities = np.array([_probability(sheet, row, places["probability"]) for row in rows])
    return Qrels(
        tuple(topics),
        _bounds([groups[topic] for topic in topics]),
        Ids.of(sheet.rows[row][places["doc"]] for row in rows),
        np.array([sheet.finite(row, places["grade"], largest=LARGEST_GRADE) for row in rows]),
        probabilities,
        name=name,
    )


def _rows_by_topic(sheet: Sheet, topic_at: int, doc_at: int, rows: Sequence[int]) -> dict[str, list[int]]:
    """The rows of each topic; a doc twice in a topic is an error with its line."""
    groups: dict[str, list[int]] = {}
    seen: dict[tuple[str, str], int] = {}
    for i in rows:
        cells = sheet.rows[i]
        topic, doc = cells[topic_at], cells[doc_at]
        if not topic or not doc:
            raise DataError.at(sheet.where, sheet.lines[i], "the topic or the doc is empty; every row needs both")
        first = seen.setdefault((topic, doc), i)
        if first != i:
            what = f"doc {doc!r} is twice in topic {topic!r} (first on line {sheet.lines[first]})"
            raise DataError.at(sheet.where, sheet.lines[i], f"{what}; keep one of the two lines")
        groups.setdefault(topic, []).append(i)
    if not groups:
        raise DataError(f"{sheet.where}: there is a header but no row")
    return groups


def _bounds(groups: Iterable[Sequence[int]]) -> Ints:
    """Where the rows of each group begin, and where the last group ends."""
    return bounds_of([len(group) for group in groups])


def _score(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.number(row, column)
    if np.isnan(value):
        raise DataError.at(sheet.where, sheet.lines[row], f"score is not a number: {sheet.rows[row][column]!r}")
    return value


def _rank(sheet: Sheet, row: int, column: int) -> int:
    value = sheet.number(row, column)
    if not abs(value) <= LARGEST_RANK or value != np.floor(value):
        raise DataError.at(sheet.where, sheet.lines[row], f"rank is not a whole number: {sheet.rows[row][column]!r}")
    return int(value)


def _probability(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.number(row, column)
    if not 0 < value <= 1:
        what = f"probability is not in (0, 1]: {sheet.rows[row][column]!r}"
        raise DataError.at(sheet.where, sheet.lines[row], what)
    return value
