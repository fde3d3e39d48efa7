"""What was measured before? One line of JSON for each cell in results.jsonl, which is committed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from cells import Cell, Tally
from claims import HERE, Row

KEPT = HERE / "results.jsonl"
Key = tuple[str, str, int]


def kept(path: Path = KEPT) -> dict[Key, Cell]:
    """Every stored cell; the last line of a cell counts, and a line that was cut off is none."""
    found: dict[Key, Cell] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            own = json.loads(line)
        except ValueError:
            continue
        seconds = own["ms"] * own["repeats"] / 1000
        tally = Tally(own["repeats"], own["made"], own["wrong"], own.get("squares", own["wrong"]), seconds)
        found[own["claim"], own["world"], own["n"]] = Cell(own["claim"], own["world"], own["n"], own["declared"], tally)
    return found


def line_of(cell: Cell) -> str:
    """The line of a cell."""
    repeats, made, wrong, squares, seconds = cell.tally
    own = {"claim": cell.row, "world": cell.world, "n": cell.n, "repeats": repeats, "made": made}
    own |= {"wrong": round(wrong, 9)} | ({"squares": round(squares, 9)} if abs(squares - wrong) > 1e-9 else {})
    return json.dumps(own | {"ms": round(1000 * seconds / repeats, 2), "declared": cell.declared}, ensure_ascii=False)


def add(cell: Cell, path: Path = KEPT) -> None:
    """Write a cell at the end of the file, so that an interrupt loses one cell at most."""
    with path.open("a") as file:
        file.write(line_of(cell) + "\n")


def put_in_order(rows: Iterable[Row], path: Path = KEPT) -> None:
    """One line for each cell that is declared, in the order of the declarations; others are forgotten."""
    found = kept(path)
    keys = [(row.name, world, n) for row in rows for world, n in row.cells]
    lines = [line_of(found[key]) for key in keys if key in found]
    beside = path.with_suffix(".new")
    beside.write_text("".join(f"{line}\n" for line in lines))
    beside.replace(path)


def missing(row: Row, found: dict[Key, Cell], repeats: int) -> list[tuple[str, int]]:
    """The cells of a row that were not measured as it is declared now, or not so often."""
    return [(world, n) for world, n in row.cells if not is_fresh(row, found.get((row.name, world, n)), repeats)]


def is_fresh(row: Row, cell: Cell | None, repeats: int) -> bool:
    """Whether a stored cell is of the row as it is declared."""
    return cell is not None and cell.declared == row.declared and cell.tally.repeats >= repeats
