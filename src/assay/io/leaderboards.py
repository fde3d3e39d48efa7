"""Scores as lines: what trec_eval prints, `measure topic value`, and the leaderboards of TREC's AutoJudge.

A leaderboard has lines `run measure topic value` (called `tot` there) or `run topic measure value` (`ir_measures`). The
topic `all` stands for the mean over topics, which is left out: it is computed anew from the topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.errors import DataError
from assay.data.scores import ScoreMatrix
from assay.io.content import Content
from assay.io.files import file_stem, write_whole
from assay.io.rows import number
from assay.io.sheet import Sheet, decoded

HEADER = ["run", "topic", "measure", "score"]
ORDERS = {
    "trec_eval": ("measure", "topic", "score"),
    "tot": ("run", "measure", "topic", "score"),
    "ir_measures": HEADER,
}
"""The columns of each format."""
ALL = "all"
FORMS = {name: "`" + " ".join(order).replace("score", "value") + "`" for name, order in ORDERS.items()}
COUNTS = frozenset({"runid", "num_q"})
"""Lines of trec_eval that hold no score of a topic."""


def sheet_of_lines(content: Content, format: str) -> Sheet:
    """The lines as tidy rows; those of the topic `all` are left out."""
    where = content.where
    rows = []
    lines = []
    format = _settled(content, format)
    order = ORDERS[format]
    for line, text in enumerate(decoded(where, content.bytes()).splitlines(), 1):
        fields = text.split()
        if not fields or fields[0].startswith("#") or (format == "trec_eval" and fields[0] in COUNTS):
            continue
        if len(fields) != len(order):
            raise DataError.at(where, line, f"{len(fields)} fields; a line is {FORMS[format]}")
        cells = dict(zip(order, fields, strict=True))
        if cells["topic"] != ALL:
            rows.append([cells.get(column, file_stem(where) or "run") for column in HEADER])
            lines.append(line)
    if not rows:
        raise DataError(f"{where}: there is no score of a topic, only means; write those of the topics too (-q)")
    return Sheet(where, list(HEADER), rows, lines)


def _settled(content: Content, format: str) -> str:
    """Which of the two formats of a leaderboard it is; an error where the lines do not say."""
    if format == "trec_eval":
        return format
    fields = [line.split() for line in decoded(content.where, content.bytes()).splitlines()]
    lines = [line for line in fields if len(line) == len(HEADER) and not line[0].startswith("#")]
    second = {line[1] for line in lines}
    third = {line[2] for line in lines}
    if (ALL in third) != (ALL in second):
        return "tot" if ALL in third else "ir_measures"
    second_are_numbers = all(number(name) is not None for name in second)
    third_are_numbers = all(number(name) is not None for name in third)
    if second_are_numbers != third_are_numbers:
        return "ir_measures" if second_are_numbers else "tot"
    what = "it cannot be seen whether the second or the third word of a line is the measure"
    raise DataError(f"{content.where}: {what}; write a table with the columns run, topic, measure and score")


def write_lines(path: str | Path, matrices: Sequence[ScoreMatrix], format: str) -> None:
    """Scores as lines; the format of trec_eval holds one run, which the file is named for."""
    order = ORDERS[format]
    runs = list(dict.fromkeys(run for matrix in matrices for run in matrix.runs))
    if format == "trec_eval" and len(runs) != 1:
        raise DataError(f"{path}: there are {len(runs)} runs, and the format of trec_eval holds one; write .csv")
    lines = []
    for matrix in matrices:
        for run, scores in zip(matrix.runs, matrix.values.tolist(), strict=True):
            for topic, score in zip(matrix.topics, scores, strict=True):
                cells = {"run": run, "topic": topic, "measure": matrix.measure, "score": repr(score)}
                words = [cells[column] for column in order]
                unfit = next((word for word in words if not word or word.split() != [word]), None)
                if unfit is not None:
                    raise DataError(f"{path}: {unfit!r} has white space, which separates words here; write .csv")
                lines.append("\t".join(words) + "\n")
    write_whole(path, "".join(lines))
