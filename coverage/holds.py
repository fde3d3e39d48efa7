"""The page docs/explanation/what-holds.md: each claim, what it promises, what came out, where it fails by design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby

from cells import TOLERANCE, Cell
from claims import Row
from kept import Key
from worlds import ROOT

PAGE = ROOT / "docs" / "explanation" / "what-holds.md"
HEADING = """# What holds: every claim, tried

{finding}

Every interval, p, rank, verdict and probability that assay prints is tried here on data whose truth is known: scores
that are simulated, and real scores of TREC whose runs were exchanged within topics, or whose topics were drawn again.
An error is what the sentence in the output says that it is not: an interval that leaves out the truth, "better" where
nothing is, a *pass* of a change that is just too bad, a set of best runs without the best.

How to read a cell: `.049` means that the claim was wrong in 4.9 % of the repeats. A cell **fails** if it is more than
{tolerance} Monte Carlo standard deviations above what is promised, and again in a second measurement with four times as
many repeats. *Italic* numbers fail by design, and the output says so: the reason stands in the last column. **Bold**
numbers fail. A dash means that nothing is claimed there: assay refuses, and says why. A dot means that the cell is not
measured yet.

Worlds: *normal*, *skewed* (exponential), *0/1* (a topic is solved or not), *sparse* (most topics have equal scores) and
*uneven* (a quarter of the runs is three times as noisy). "A third better": a third of the runs has a higher true mean,
and errors are counted among the rest. "Permuted" and "redrawn" are real scores.

`make coverage` makes this page again from `coverage/rows_*.py`; it was measured with assay {version}.
"""


def page(rows: list[Row], found: Mapping[Key, Cell]) -> str:
    """The whole page."""
    from assay.version import __version__

    own = {row.name: {key[1:]: cell for key, cell in found.items() if key[0] == row.name} for row in rows}
    finding = _finding(rows, own)
    parts = [HEADING.format(finding=finding, tolerance=TOLERANCE, version=__version__)]
    for title, of_area in groupby(rows, key=lambda row: row.area):
        parts.append(f"## {title}\n")
        parts.append("| claim | promises | came out | fails by design |\n|---|---|---|---|")
        parts += [_line(row, own[row.name]) for row in of_area]
        parts.append("")
    return "\n".join(parts)


def _finding(rows: list[Row], own: Mapping[str, Mapping[tuple[str, int], Cell]]) -> str:
    """The finding: how many claims hold, in how many cells."""
    cells = [(row, cell) for row in rows for cell in own[row.name].values()]
    measured = [row for row in rows if own[row.name]]
    bad = {row.name for row, cell in cells if cell.fails(row) and cell.limit(row) is None}
    limited = {row.name for row, cell in cells if cell.fails(row) and cell.limit(row) is not None} - bad
    holding = f"**{len(measured) - len(bad)} of {len(measured)} claims hold**"
    said = f"{holding} in the {len(cells):,} cells that were measured"
    said += f"; {len(limited)} of them have limits that the output names. "
    if bad:
        said += f"{len(bad)} fail: " + "; ".join(sorted(bad)) + ". "
    left = len(rows) - len(measured)
    return said + (f"{left} are not measured yet." if left else "")


def _line(row: Row, cells: Mapping[tuple[str, int], Cell]) -> str:
    """One claim."""
    calls = ", ".join(f"`{call.removeprefix('assay.')}`" for call in row.calls)
    promises = f"{row.promises} (error ≤ {short(row.nominal)}); unit: {row.unit}"
    return f"| {row.name}<br>{calls} | {promises} | {_came_out(row, cells)} | {_limits(row)} |"


def _came_out(row: Row, cells: Mapping[tuple[str, int], Cell]) -> str:
    """A line for each world with the error at every size, and the Monte Carlo error of them."""
    lines = []
    for worlds, sizes in ((row.worlds, row.sizes), (row.real, row.real_sizes)):
        if not worlds:
            continue
        head = "/".join(str(n) for n in sizes)
        lines.append(f"n = {head}:")
        lines += [f"{world} {' '.join(_number(row, cells.get((world, n))) for n in sizes)}" for world in worlds]
    deviations = [cell.deviation(row.nominal) for cell in cells.values() if cell.tally.made]
    if deviations:
        lines.append(f"± {short(max(deviations))}")
    return "<br>".join(lines)


def _number(row: Row, cell: Cell | None) -> str:
    if cell is None:
        return "·"
    if math.isnan(cell.error):
        return "–"
    if not cell.fails(row):
        return short(cell.error)
    mark = "**" if cell.limit(row) is None else "*"
    return f"{mark}{short(cell.error)}{mark}"


def _limits(row: Row) -> str:
    return "<br>".join(f"{limit.says} (up to {short(limit.at_most)})" for limit in row.limits)


def short(share: float) -> str:
    """A share with three decimals and no zero before them.

    >>> short(0.0493), short(1.0)
    ('.049', '1.000')
    """
    text = f"{share:.3f}"
    return text[1:] if text.startswith("0") else text
