"""Tables of runs: a column of run names and whatever else is known of the runs, as organisers publish them."""

from __future__ import annotations

from pathlib import Path

from assay.core.errors import DataError
from assay.core.markup import visible
from assay.data.info import USUAL, RunsInfo, run_column
from assay.io.sheet import read_sheet


def read_info(path: str | Path) -> RunsInfo:
    """What a table says of its runs: CSV, TSV, JSONL or Parquet with a column `run` (or tag, runid, …).

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("run,team,year\\nbm25,lab,2026\\n")
    >>> read_info(path).column("team")
    {'bm25': 'lab'}
    """
    sheet = read_sheet(path)
    at = run_column(sheet.header)
    if at is None:
        known = visible(", ".join(sheet.header))[:200]
        raise DataError(f"{sheet.where}: no column of runs ({', '.join(USUAL['run'])}); the columns are: {known}")
    rows: dict[str, tuple[str, ...]] = {}
    for line, cells in zip(sheet.lines, sheet.rows, strict=True):
        run = cells[at].strip()
        if run in rows:
            raise DataError.at(sheet.where, line, f"run {run!r} is there twice; keep one row")
        rows[run] = tuple(cell.strip() for place, cell in enumerate(cells) if place != at)
    columns = tuple(" ".join(name.split()) for place, name in enumerate(sheet.header) if place != at)
    return RunsInfo(sheet.where, columns, rows)
