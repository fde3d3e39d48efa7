"""Looking at runs and judgments: bad lines, ranks, ties, grades, topics; and reading that drops bad lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from assay.check.finding import SHOWN, Finding, Findings, ties_table
from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import AssayError, DataError
from assay.core.ids import Ids
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.aligned import Match, match
from assay.data.grades import Grades
from assay.io import irds, read_qrels, read_run, rows
from assay.io.brought import plain_qrels_of, qrels_file, runs_of
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.io.content import Content
from assay.io.readers import TREC_LINES
from assay.io.recognition import WrongKind, looked_at
from assay.io.rows import QRELS, RUN, Problem, Reading, Row, read_rows
from assay.io.swapped import refuse_swapped
from assay.measures import Measure, parse
from assay.scoring import Policy

MOST_DROPPED = 10
"""Dropped lines of a file that are named; the rest are counted."""


def check(
    runs: Any,
    qrels: Any = None,
    *,
    binary: bool | float = False,
    columns: Named = None,
    progress: Progress = silent,
) -> Findings:
    """What is odd in runs and judgments, of files with line numbers.

    Both are paths or anything else that `assay.evaluate` takes: dicts, data frames, our own types.
    columns: our column → that of the tables which have it.
    With judgments also topics that runs lack, the share of unjudged docs, and how far ties could move the scores;
    binary: the scores on binary judgments, as in `assay.evaluate`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".run") as file:
    ...     _ = file.write("1 Q0 a 1 2.0 bm25\\n1 Q0 b 2 NA bm25\\n")
    ...     file.flush()
    ...     [(finding.line, finding.what.partition(";")[0]) for finding in check([file.name]).found]
    [(2, "score is not a number: 'NA'")]
    """
    shared = shared_columns(columns)
    found, judgments = _checked_qrels(qrels, shared)
    if judgments is not None:
        judgments = Policy(binary=binary).judgments(judgments)
    sources = runs_of(runs, columns=shared)
    refuse_unused(shared, columns)
    refuse_swapped(runs, sources, qrels, judgments)
    ties: list[Table] = []
    for i, source in enumerate(sources):
        if isinstance(source, Run):
            found += _odd_in(source.name, source, judgments)
        else:
            found += check_run(source, judgments)
        if judgments is not None:
            ties += _ties_of(source, judgments)
        progress(i + 1, len(sources))
    rows = [row for table in ties for row in table.rows]
    return Findings(tuple(found), ties_table(rows, None if judgments is None else judgments.binary_from))


def _checked_qrels(qrels: Any, columns: Named) -> tuple[list[Finding], Qrels | None]:
    """What is odd in judgments, and the judgments where they can be read."""
    if qrels is None:
        return [], None
    if columns or not isinstance(qrels, str | Path):
        judgments = plain_qrels_of(qrels, columns=columns)
        return _of_judgments(judgments.name, _judgments(judgments)), judgments
    found = check_qrels(qrels_file(qrels))
    is_bad = any(f.level == "error" for f in found)
    return found, None if is_bad else read_qrels(qrels)


def _ties_of(source: Run | str | Path, qrels: Qrels) -> list[Table]:
    """How far ties could move the scores of a run; nothing where its file cannot be read or it has no ties."""
    try:
        run = source if isinstance(source, Run) else read_run_leniently(source)[0]
    except AssayError:
        return []
    if not run.tied().any() or not set(run.topics) & set(qrels.topics):
        return []
    return [tie_sensitivity(match(run.ordered("average"), qrels).grades(), run.name)]


def _trec_text(path: str | Path, kind: str) -> bytes | None:
    """The text of a run or of judgments whose lines are those of TREC; None if the file is of another format."""
    if irds.is_irds(path):
        return None
    content = Content.of(path)
    format = looked_at(content).as_kind(content, kind)
    return content.bytes() if format in TREC_LINES else None


def read_run_leniently(path: str | Path, *, columns: Named = None) -> tuple[Run, list[Problem]]:
    """A TREC run without its bad lines, and the lines that were dropped; of other formats no line is dropped."""
    text = _trec_text(path, "run")
    if text is None:
        return read_run(path, columns=columns), []
    reading = read_rows(text, RUN)
    if not reading.rows:
        raise DataError(f'{path}: no line is a run line, "{RUN.form}"')
    return _run_of(reading, Path(path).name), reading.problems


def read_runs_leniently(paths: Sequence[str | Path], *, columns: Named = None) -> tuple[list[Run], list[str]]:
    """TREC runs without their bad lines; and in words the first lines dropped of each file, and how many they are."""
    runs = []
    remarks = []
    for path in paths:
        run, dropped = read_run_leniently(path, columns=columns)
        remarks += [f"{path}:{problem.line}: dropped: {problem.what}" for problem in dropped[:MOST_DROPPED]]
        if dropped:
            remarks.append(f"{path}: {len(dropped)} lines dropped in all")
        runs.append(run)
    return runs, remarks


def check_run(path: str | Path, qrels: Qrels | None = None) -> list[Finding]:
    """What is odd in a TREC run, alone and beside judgments; in a table, which bad row is the first."""
    return _findings_of(str(path), lambda: _odd_in_file(path, qrels))


def _odd_in_file(path: str | Path, qrels: Qrels | None) -> list[Finding]:
    where = str(path)
    text = _trec_text(path, "run")
    if text is None:
        return _odd_in(where, read_run(path), qrels)
    reading = read_rows(text, RUN)
    found = list(_problems(where, reading))
    if not reading.rows:
        return [*found, Finding(where, None, "error", f'no line is a run line, "{RUN.form}"', "no run")]
    found += _odd_scores(where, reading.rows)
    found += _rank_order(where, reading.rows)
    run = _run_of(reading, Path(path).name)
    found += _odd_in(where, run, qrels)
    return found


def check_qrels(path: str | Path) -> list[Finding]:
    """What is odd in TREC judgments; in a table, which bad row is the first."""
    return _findings_of(str(path), lambda: _odd_in_judgments(path))


def _odd_in_judgments(path: str | Path) -> list[Finding]:
    where = str(path)
    text = _trec_text(path, "qrels")
    if text is None:
        return _of_judgments(where, _judgments(read_qrels(path)))
    reading = read_rows(text, QRELS)
    if not reading.rows and not reading.problems:
        return [Finding(where, None, "error", f'there is no judgment; a qrels line is "{QRELS.form}"', "no judgments")]
    grades = [(row.topic, float(row.fields[3])) for row in reading.rows]
    found = list(_problems(where, reading))
    found += _of_judgments(where, grades)
    return found


def _of_judgments(where: str, graded: Sequence[tuple[str, float]]) -> list[Finding]:
    """Docs that are pooled and not judged, odd grades, and topics without a relevant doc."""
    found = []
    counts = Counter(grade for _, grade in graded)
    pooled = sum(count for grade, count in counts.items() if grade < 0)
    if pooled:
        what = f"{pooled} negative grades: pooled but not judged"
        found.append(Finding(where, None, "remark", what, "pooled, not judged", pooled))
    if _is_odd_scale(counts):
        spread = ", ".join(f"{grade:g}: {n}" for grade, n in sorted(counts.items())[:12])
        what = f"odd grades ({spread}); is the scale as you think?"
        found.append(Finding(where, None, "remark", what, "odd grades"))
    best: dict[str, float] = {}
    for topic, grade in graded:
        best[topic] = max(best.get(topic, grade), grade)
    empty = [topic for topic, grade in best.items() if grade < 1]
    if empty:
        what = f"{len(empty)} topics without a relevant doc{_names(empty)}"
        found.append(Finding(where, None, "remark", what, "topics without a relevant doc", len(empty)))
    return found


def _is_odd_scale(counts: Mapping[float, int]) -> bool:
    """Whether whole grades leave out one below the highest, or whether that is above 10."""
    highest = max(counts, default=0)
    if highest > 10:
        return True
    if any(grade != int(grade) for grade in counts):  # a scale of fractions has no steps to leave out
        return False
    return any(grade not in counts for grade in range(1, int(highest)))


def tie_sensitivity(g: Grades, run: str, measures: Sequence[str | Measure] = ("AP", "nDCG@10", "P@10", "RR")) -> Table:
    """How far each measure's mean could move by the order of tied docs: worst against best order.

    g: the grades of the run, of an alignment that knows which docs are tied (ties="average").
    """
    # An unjudged doc has the least 32-bit number for a grade, which has no negative of 32 bits.
    grade = g.ranked.astype(np.float64)
    worst = g.with_order(_within_ties(g, grade))
    best = g.with_order(_within_ties(g, -grade))
    rows = []
    for name in measures:
        measure = parse(name) if isinstance(name, str) else name
        lowest = measure(worst).mean()
        highest = measure(best).mean()
        rows.append((run, str(measure), measure(g).mean(), lowest, highest, highest - lowest))
    return ties_table(rows)


def _within_ties(g: Grades, key: Floats) -> Ints:
    """The order of the ranks of each topic in which tied docs go by ascending key, then as they stand."""
    block = g.blocks()
    rank = np.broadcast_to(np.arange(g.depth), block.shape)
    return np.lexsort((rank, key, block))


def _findings_of(where: str, look: Callable[[], Sequence[Finding]]) -> list[Finding]:
    """What a look at a file finds, or the error that keeps it from being read."""
    try:
        return list(look())
    except WrongKind:  # nothing is odd in the file: it is another one
        raise
    except DataError as error:
        line, _, what = str(error).removeprefix(f"{where}:").partition(": ")
        if line.isdigit():
            return [Finding(where, int(line), "error", what, "bad lines")]
        return [Finding(where, None, "error", str(error).removeprefix(f"{where}: "), "unreadable")]


def _judgments(qrels: Qrels) -> list[tuple[str, float]]:
    topics = (qrels.topics[t] for t in qrels.topic_of_row().tolist())
    return list(zip(topics, qrels.grades.tolist(), strict=True))


def _odd_in(where: str, run: Run, qrels: Qrels | None) -> list[Finding]:
    joined = None if qrels is None else match(run, qrels)
    return odd_in_order(where, run, joined)


def odd_in_order(where: str, run: Run, joined: Match | None) -> list[Finding]:
    """What is odd in a run that was read, and joined where there are judgments: ties, and what the judgments lack."""
    found = list(_ties(where, run))
    if joined is not None:
        found += _against(where, joined)
    return found


def _problems(where: str, reading: Reading) -> Iterator[Finding]:
    for p in reading.problems[:SHOWN]:
        yield Finding(where, p.line, "error", p.what, "bad lines")
    more = len(reading.problems) - SHOWN
    if more > 0:
        yield Finding(where, None, "error", f"{more} more bad lines", "bad lines", more)


def _odd_scores(where: str, lines: Sequence[Row]) -> Iterator[Finding]:
    odd = [r for r in lines if math.isinf(float(r.fields[4]))]
    yield from _some(where, odd, "infinite score", lambda r: f"infinite score {r.fields[4]!r}")


def _rank_order(where: str, lines: Sequence[Row]) -> Iterator[Finding]:
    """Ranks that are not numbers, that do not rise by one, and ranks that contradict the scores."""
    unsorted = []
    conflicts = []
    for _, group in groupby(lines, key=lambda row: row.topic):
        before: Row | None = None
        for row in group:
            rank = rows.number(row.fields[3])
            last = None if before is None else rows.number(before.fields[3])
            if rank is None or (last is not None and rank != last + 1):
                unsorted.append(row)
            elif before is not None and float(row.fields[4]) > float(before.fields[4]):
                conflicts.append(row)
            before = row

    def skipped(row: Row) -> str:
        return f"rank {row.fields[3]!r} does not follow the line before"

    def risen(row: Row) -> str:
        return f"rank {row.fields[3]} has a higher score ({row.fields[4]}) than the rank before; the score decides"

    yield from _some(where, unsorted, "rank out of order", skipped)
    yield from _some(where, conflicts, "rank against score", risen)


def _some(where: str, found: Sequence[Row], kind: str, say: Callable[[Row], str]) -> Iterator[Finding]:
    for row in found[:SHOWN]:
        yield Finding(where, row.line, "remark", say(row), kind)
    more = len(found) - SHOWN
    if more > 0:
        yield Finding(where, None, "remark", f"{more} more lines: {kind}", kind, more)


def _ties(where: str, run: Run) -> Iterator[Finding]:
    tied = run.tied()
    if tied.any():
        follows = np.append(tied[1:], False)
        docs, topics = int((tied | follows).sum()), len(set(run.topic_of_row()[tied].tolist()))
        what = f"{docs} docs are tied with another, in {topics} topics; they are ordered by doc id, descending"
        yield Finding(where, None, "remark", what, "ties", docs)


def _against(where: str, joined: Match) -> Iterator[Finding]:
    run = joined.run
    qrels = joined.qrels
    in_run = set(run.topics)
    judged = set(qrels.topics)
    absent = [topic for topic in qrels.topics if topic not in in_run]
    extra = [topic for topic in run.topics if topic not in judged]
    if len(absent) == len(qrels.topics):
        what = f"none of the topics of {qrels.name} is in this run{_names(extra)}"
        yield Finding(where, None, "error", what, "no judged topic")
        return
    if absent:
        what = f"{len(absent)} topics of {qrels.name} are missing, they score 0{_names(absent)}"
        yield Finding(where, None, "remark", what, "missing topics", len(absent))
    if extra:
        what = f"{len(extra)} topics have no judgments and are left out{_names(extra)}"
        yield Finding(where, None, "remark", what, "topics without judgments", len(extra))
    g = joined.grades()
    unjudged = {}
    for k in (5, 10, 20, 100):
        seen = g.inside(k)
        unjudged[k] = float(100 * (seen & ~g.judged(k)).sum() / max(1, seen.sum()))
    shares = ", ".join(f"{share:.1f} % of the top {k}" for k, share in unjudged.items())
    yield Finding(where, None, "remark", f"unjudged docs: {shares}", "unjudged docs", unjudged[10])


def _run_of(reading: Reading, name: str) -> Run:
    topics: dict[str, list[Row]] = {}
    for row in reading.rows:
        topics.setdefault(row.topic, []).append(row)
    ordered = [row for group in topics.values() for row in group]
    return Run.from_rows(
        reading.rows[-1].fields[5] or name,
        tuple(topics),
        np.cumsum([0, *map(len, topics.values())]),
        Ids.of(row.doc for row in ordered),
        np.array([float(row.fields[4]) for row in ordered]),
    )


def _names(topics: Sequence[str]) -> str:
    return f" ({', '.join(topics[:5])}{', …' if len(topics) > 5 else ''})"
