"""Does every claim hold? `make coverage` measures what is not stored yet and writes docs/explanation/what-holds.md.

make coverage                         everything that is missing
make coverage ROWS=stats,board        the rows of coverage/rows_stats.py and coverage/rows_board.py
make coverage ONLY="paired t"         the rows whose name contains this
make coverage ARGS="--share .1"       a tenth of the repeats; --jobs 2, --again, --budget, --check, --page
"""

from __future__ import annotations

import argparse
import math
import sys
import traceback

from cells import Cell, measured
from claims import Row, chosen, loaded
from holds import PAGE, page
from kept import add, is_fresh, kept, missing, put_in_order


def main() -> int:
    """Measure, store, write the page; 1 if a claim fails that no output names."""
    asked = _asked()
    rows = chosen(asked.rows, asked.only)
    if asked.budget:
        return _budget(rows)
    if asked.check:
        return _check(rows)
    broken = [row for row in rows if not asked.page and not _is_done(row, asked)]
    put_in_order(loaded().values())
    PAGE.write_text(page(list(loaded().values()), kept()))
    return max(_check(rows, whole=False), int(bool(broken)))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", default="", help="files of rows, comma-separated")
    parser.add_argument("--only", default="", help="a part of the names of rows")
    parser.add_argument("--share", type=float, default=1.0, help="share of the repeats")
    parser.add_argument("--jobs", type=int, default=1, help="processes; results are the same")
    parser.add_argument("--again", action="store_true", help="measure what is stored too")
    parser.add_argument("--budget", action="store_true", help="only print CPU seconds of each row")
    parser.add_argument("--check", action="store_true", help="only say what is missing or fails")
    parser.add_argument("--page", action="store_true", help="only write the page")
    return parser.parse_args()


def _is_done(row: Row, asked: argparse.Namespace) -> bool:
    """Measure what is missing of a row; False if its call does not work any more, which must not stop the others."""
    repeats = max(1, math.ceil(row.repeats * asked.share))
    todo = row.cells if asked.again else missing(row, kept(), repeats)
    if todo:
        print(f"{row.name} ({len(todo)} cells of {repeats:,}, about {row.ms * repeats * len(todo) / 1000:.0f} s)")
    try:
        for cell in measured(row, todo, repeats, asked.jobs):
            add(cell)
            print(f"  {_said(row, cell)}", flush=True)
    except Exception:
        print(f"BROKEN: {row.name}: {traceback.format_exc(limit=-2)}")
        return False
    return True


def _said(row: Row, cell: Cell) -> str:
    """One cell in one line."""
    deviation = cell.deviation(row.nominal)
    limit = cell.limit(row)
    mark = "" if not cell.fails(row) else f"  << above {row.nominal:g}" + (f", as said: {limit.says}" if limit else "")
    each = 1000 * cell.tally.seconds / cell.tally.repeats
    made = "" if cell.tally.made == cell.tally.repeats else f", claimed in {cell.tally.made} of {cell.tally.repeats}"
    return f"{cell.world:<24} n {cell.n:>4}  error {cell.error:.4f} ± {deviation:.4f}{made}  ({each:.2f} ms){mark}"


def _budget(rows: list[Row]) -> int:
    for row in rows:
        print(f"{row.seconds:>7.0f} s  {row.ms:>7.2f} ms × {row.repeats:>5,} × {len(row.cells):>3} cells  {row.name}")
    print(f"{sum(row.seconds for row in rows) / 60:>7.1f} minutes of CPU in all")
    return 0


def _check(rows: list[Row], whole: bool = True) -> int:
    """Print what fails, and with `whole` what is missing; 1 if there is any."""
    found = kept()
    bad = 0
    for row in rows:
        for world, n in row.cells:
            cell = found.get((row.name, world, n))
            if not is_fresh(row, cell, row.repeats if whole else 1):
                bad += whole
                if whole:
                    print(f"not measured: {row.name}: {world}, n {n}")
            elif cell is not None and cell.fails(row) and cell.limit(row) is None:
                bad += 1
                print(f"FAILS: {row.name}: {_said(row, cell)}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
