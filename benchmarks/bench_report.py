"""The report of 143 runs against scoring them: asked for in at most 5 times the time of scoring."""

from __future__ import annotations

import os
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TIMES = 5.0
DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def rows() -> list[tuple[str, float, float, str]]:
    """Name, ratio asked, ratio seen, note: how many times the report fits into 5 times the time of scoring."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        qrels_file, where = _files(base)
        scored = _timed(lambda: _score(base / "runs", qrels_file))
        made = _timed(lambda: _report(base / "runs", qrels_file, base / "report.html"))
        size = (base / "report.html").stat().st_size / 1e6
    note = f"{where}: scoring {scored:.1f} s, report {made:.1f} s ({made / scored:.1f} times), {size:.1f} MB"
    return [("5 × scoring 143 runs / their report", 1, TIMES * scored / made, note)]


def _files(base: Path) -> tuple[Path, str]:
    """TREC-COVID round 1 where it is there, else a simulated collection of 143 runs."""
    real = DATA / "trec-covid-round1"
    if real.exists():
        with tarfile.open(real / "runs.tar.xz") as archive:
            archive.extractall(base, filter="data")
        return real / "qrels.txt", "TREC-COVID round 1"
    from assay.studies.simulate import simulate, write_collection

    write_collection(simulate(topics=30, runs_per_group=28, manual_runs=3, docs=1500, depth=1000), base)
    return base / "qrels.txt", "simulated"


def _score(runs: Path, qrels_file: Path) -> None:
    from assay.io import read_qrels
    from assay.scoring import evaluate

    evaluate(sorted(runs.iterdir()), read_qrels(qrels_file), ["AP", "nDCG@10"], jobs=os.cpu_count() or 1)


def _report(runs: Path, qrels_file: Path, out: Path) -> None:
    from click.testing import CliRunner

    from assay.cli.report import command

    words = ["--qrels", str(qrels_file), str(runs), "-o", str(out), "--quiet"]
    CliRunner().invoke(command, words, catch_exceptions=False)


def _timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    for name, asked, seen, note in rows():
        print(f"{name}: asked {asked:g}, seen {seen:.1f} ({note})")
