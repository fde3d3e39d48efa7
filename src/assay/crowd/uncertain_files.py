"""Uncertain judgments in and out: a table with a row per doc and, where there is one, the posterior of its level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.crowd.uncertain import BASES, COLUMNS, RAW, Uncertain
from assay.io.rows import LARGEST_GRADE
from assay.io.sheet import Sheet, read_sheet, write_sheet

NUMBERS = ("grade", "low", "high", "probability", "sd", "labels")
MAY_BE_EMPTY = ("probability", "sd")
CALIBRATION = "calibration"


def write_uncertain(path: str | Path, judgments: Uncertain) -> None:
    """The judgments as a table of COLUMNS and, where there is a posterior, how it is calibrated and p(level).

    >>> from tempfile import TemporaryDirectory
    >>> judged = Uncertain.of_posterior("demo", [("1", "a")], [[0.2, 0.8]], levels=[0, 1], labels=[5])
    >>> with TemporaryDirectory() as folder:
    ...     write_uncertain(Path(folder) / "judged.csv", judged)
    ...     print((Path(folder) / "judged.csv").read_text().splitlines()[0])
    topic,doc,grade,low,high,probability,sd,labels,basis,calibration,p(0),p(1)
    """
    header = list(COLUMNS)
    rows = [list(judgments.row(i)) for i in range(len(judgments))]
    if judgments.posterior is not None:
        header += [CALIBRATION, *(f"p({level:g})" for level in judgments.levels)]
        for row, shares in zip(rows, judgments.posterior.tolist(), strict=True):
            row += [judgments.calibration, *shares]
    write_sheet(path, header, map(_cells, rows))


def _cells(row: list[Any]) -> list[Any]:
    """The row with empty cells for NaN, the one value that differs from itself."""
    return [None if value != value else value for value in row]


def read_uncertain(path: str | Path) -> Uncertain:
    """Judgments as `write_uncertain` wrote them; rows of a topic may stand anywhere in the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "judged.csv"
    ...     _ = path.write_text("topic,doc,grade,low,high,probability,sd,labels\\n1,a,1,0,1,,0.4,3\\n")
    ...     judged = read_uncertain(path)
    >>> judged.qrels().to_dict()
    {'1': {'a': 1}}
    """
    sheet = _by_topic(read_sheet(path))
    place = {name: sheet.place(name) for name in COLUMNS if name != "basis"}
    number = {name: _column(sheet, place[name]) for name in NUMBERS}
    grade, low, high = number["grade"], number["low"], number["high"]
    wrong = np.flatnonzero((low > grade) | (grade > high))
    if len(wrong):
        row = wrong[0]
        what = f"the grade {grade[row]:g} is not between low {low[row]:g} and high {high[row]:g}"
        raise DataError.at(sheet.where, sheet.lines[row], what)
    shares = [i for i, name in enumerate(sheet.header) if name.startswith("p(")]
    if shares:
        levels = np.array([_level(sheet, i) for i in shares])
        posterior = np.column_stack([_column(sheet, i) for i in shares])
        estimate = posterior @ levels
    else:
        levels, posterior, estimate = np.unique([low, high]), None, grade
        bare = np.flatnonzero(np.isnan(number["sd"]))
        if len(bare):
            raise DataError.at(sheet.where, sheet.lines[bare[0]], "sd is empty, and there is no posterior p(level)")
    return Uncertain(
        method=Path(path).name,
        items=tuple((row[place["topic"]], row[place["doc"]]) for row in sheet.rows),
        grade=grade,
        low=low,
        high=high,
        probability=number["probability"],
        sd=np.nan_to_num(number["sd"], nan=0.0),
        labels=np.round(number["labels"].clip(0, 2**53)).astype(np.int64),
        estimate=estimate,
        levels=levels,
        posterior=posterior,
        basis=_basis(sheet),
        calibration=_calibration(sheet),
    )


def _calibration(sheet: Sheet) -> str:
    """How the posterior was calibrated; a file that does not say has it as a method made it."""
    column = sheet.find(CALIBRATION)
    names = {RAW} if column is None else {row[column].strip() for row in sheet.rows}
    if len(names) > 1:
        raise DataError(
            f"{sheet.where}: probabilities of several calibrations: {', '.join(sorted(names))}; write each apart"
        )
    return min(names, default=RAW) or RAW


def _basis(sheet: Sheet) -> tuple[str, ...]:
    """What the uncertainty of each doc rests on; a file that does not say is taken to rest on labels."""
    column = sheet.find("basis")
    if column is None:
        return ()
    names = [row[column].strip() for row in sheet.rows]
    for line, name in zip(sheet.lines, names, strict=True):
        if name not in BASES:
            raise DataError.at(sheet.where, line, f"basis {name!r} is none of: {', '.join(BASES)}")
    return tuple(names)


def _by_topic(sheet: Sheet) -> Sheet:
    """The rows of each topic together, topics in the order in which they come."""
    topic = sheet.place("topic")
    rank: dict[str, int] = {}
    for row in sheet.rows:
        rank.setdefault(row[topic], len(rank))
    ranks = [rank[row[topic]] for row in sheet.rows]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    rows = [sheet.rows[i] for i in order]
    lines = [sheet.lines[i] for i in order]
    return Sheet(sheet.where, sheet.header, rows, lines)


def _level(sheet: Sheet, column: int) -> float:
    """The level of a column p(level)."""
    name = sheet.header[column]
    try:
        return float(name.removeprefix("p(").removesuffix(")"))
    except ValueError:
        raise DataError(f"{sheet.where}: the column {name!r} is no p(level), such as p(1)") from None


def _column(sheet: Sheet, column: int) -> Floats:
    """A column as numbers; only probability and sd may be empty."""
    may_be_empty = sheet.header[column] in MAY_BE_EMPTY
    values = []
    for i, row in enumerate(sheet.rows):
        empty = may_be_empty and not row[column].strip()
        values.append(np.nan if empty else sheet.finite(i, column, largest=LARGEST_GRADE))
    return np.array(values)
