"""A short part of the coverage bench: one cell of each row with few repeats and a generous limit."""

from __future__ import annotations

import math

import pytest

from cells import Task, tallied
from claims import Row, loaded

MILLISECONDS = 150
"""About this much is spent on each row."""
FEWEST, MOST = 2, 60
DEVIATIONS = 5
OPEN = {
    "τ of two rankings lies in its interval": "τ of noisy means is nearer to 0 than that of the true ones",
}
"""Rows that fail in this cell, and why they still do."""


def cell_of(row: Row) -> tuple[str, int]:
    """The first world, at the size nearest to 25; the other cells are for the whole bench."""
    cells = row.cells
    world = cells[0][0]
    return world, min((n for name, n in cells if name == world), key=lambda n: abs(n - 25))


@pytest.mark.parametrize("row", loaded().values(), ids=lambda row: row.name)
def test_a_claim_is_not_wrong_far_more_often_than_it_says(row: Row) -> None:
    world, n = cell_of(row)
    repeats = max(FEWEST, min(MOST, int(MILLISECONDS / row.ms)))
    found = tallied(Task(row.name, world, n, 0, repeats))
    assert found is not None, "simulated worlds need no data"
    if not found.made:
        return
    allowed = row.nominal + DEVIATIONS * math.sqrt(row.nominal * (1 - row.nominal) / found.made)
    limits = [limit.at_most for limit in row.limits if limit.covers(world, n, 0.0)]
    fine = found.wrong / found.made <= max(allowed, *limits, 1.5 / found.made)
    assert fine or row.name in OPEN, f"{world}, n = {n}: wrong in {found.wrong:g} of {found.made}"


def test_rows_that_are_open_exist() -> None:
    assert set(OPEN) <= set(loaded())
