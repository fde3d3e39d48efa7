"""Runs larger than memory: lines per second and peak memory as a run grows, from files, streams and parts.

Peak memory is the kernel's own count: the high-water mark of the largest process (ru_maxrss), or the sum over all
processes at one time, where what they share counts once (Pss), whichever is more. The files are made here, in a
temporary folder that is removed: 100 million lines take 9 GB of disk in all their forms.
ASSAY_SCALE_LINES makes the largest run smaller.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Row = tuple[str, float, float, str]
DEPTH = 1000
BLOCK = 100
"""Topics of a block of lines, which is made once and written again and again with other topics."""
LINES = int(float(os.environ.get("ASSAY_SCALE_LINES", "1e8")))
SMALL = 7_000_000
"""Lines of the run that the largest one is measured against."""
TOPICS_COMPARED = LINES // 10
PARTS = 64
JUDGED = 20
GB = 1e9
FIRST_TOPIC = 10_000_000
MEASURES = "AP nDCG@10 P@10 RR"


def rows() -> list[Row]:
    """Growth, the forms of the largest run, and what is done with the scores of ten million topics."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("ASSAY_SCALE_FOLDER")) as folder:
        base = Path(folder)
        lines = _Lines(np.random.default_rng(0))
        tenth, grown = _growth(base, lines)
        return [grown, *_forms(base, lines, tenth), _compared(base), *_standardized_and_reported(base)]


@dataclass(frozen=True)
class Taken:
    """What a command took."""

    seconds: float
    peak: float
    """GB, of all its processes."""

    def per_second(self, lines: int) -> float:
        """Lines per second."""
        return lines / self.seconds


def taken(command: Sequence[str], *, stdin: Path | None = None) -> Taken:
    """Run a command to its end, watching the memory of its processes."""
    source = None if stdin is None else open(stdin, "rb")  # noqa: SIM115
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL)
    held = [0]
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(0.03):
            held.append(sum(_share(pid) for pid in _tree(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    is_over.set()
    watcher.join()
    if source is not None:
        source.close()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    largest = max(usage.ru_maxrss, *held)
    return Taken(seconds, largest * 1024 / GB)


def _tree(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for one in found:
        try:
            children = Path(f"/proc/{one}/task/{one}/children").read_text().split()
        except OSError:
            continue
        found += map(int, children)
    return found


def _share(pid: int) -> int:
    """The memory of a process in kB, what it shares with others divided among them; 0 if it is gone."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    shares = [line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:")]
    return int(shares[0]) if shares else 0


class _Lines:
    """A block of lines of one width, of which only the topics change: a large file is made as fast as it is written."""

    def __init__(self, rng: np.random.Generator) -> None:
        count = BLOCK * DEPTH
        docs = np.concatenate([rng.choice(8_000_000, DEPTH, replace=False) for _ in range(BLOCK)])
        scores = np.sort(rng.gamma(2.0, 8.0, (BLOCK, DEPTH)), axis=1)[:, ::-1].ravel()
        ranks = np.tile(np.arange(1, DEPTH + 1), BLOCK)
        self.docs = docs + 1_000_000
        self.scores = np.round(np.minimum(scores, 999.0) + 0.1, 6)
        text = "".join(
            f"{0:08} Q0 d{doc} {rank} {score:.6f} bm25\n"
            for doc, rank, score in zip(self.docs.tolist(), ranks.tolist(), self.scores.tolist(), strict=True)
        )
        self.text = np.frombuffer(text.encode(), dtype=np.uint8).copy()
        ends = np.flatnonzero(self.text == ord("\n")) + 1
        self.starts = np.concatenate([[0], ends[:-1]])
        self.judged = self.docs.reshape(BLOCK, DEPTH)[:, 7 :: DEPTH // JUDGED]
        self.grades = rng.integers(0, 4, self.judged.shape)
        self.topic_of_line = np.repeat(np.arange(BLOCK), DEPTH)
        assert len(self.starts) == count

    def block(self, first_topic: int) -> bytes:
        """The lines of a block of topics from this one on."""
        topics = self.topic_of_line + first_topic
        for place in range(8):
            digit = topics // 10 ** (7 - place) % 10
            self.text[self.starts + place] = digit + ord("0")
        return self.text.tobytes()

    def write(self, base: Path, lines: int) -> tuple[str, str]:
        """A run of that many lines and its judgments."""
        run = base / f"run{lines}"
        with open(run, "wb") as file:
            for block in range(lines // (BLOCK * DEPTH)):
                file.write(self.block(FIRST_TOPIC + block * BLOCK))
            file.flush()
            os.fsync(file.fileno())
        return str(run), self.write_qrels(base, lines)

    def write_qrels(self, base: Path, lines: int) -> str:
        """The judgments of a run of that many lines."""
        path = base / f"qrels{lines}"
        with open(path, "w") as file:
            for topic in range(lines // DEPTH):
                place = topic % BLOCK
                judged = zip(self.judged[place].tolist(), self.grades[place].tolist(), strict=True)
                file.writelines(f"{FIRST_TOPIC + topic} 0 d{doc} {grade}\n" for doc, grade in judged)
        return str(path)

    def write_table(self, base: Path, parts: str) -> str:
        """The parts as one Parquet file."""
        import polars

        path = base / "run.parquet"
        table = polars.scan_parquet(f"{parts}/run=bm25/*.parquet", hive_partitioning=False)
        table.sink_parquet(path, row_group_size=1 << 20, maintain_order=True)
        return str(path)

    def write_parts(self, base: Path, lines: int) -> str:
        """The run as Parquet in parts, as clusters write it: run=bm25/part-00000.parquet."""
        import polars

        folder = base / "parts" / "run=bm25"
        folder.mkdir(parents=True)
        blocks = np.array_split(np.arange(lines // (BLOCK * DEPTH)), min(PARTS, lines // (BLOCK * DEPTH)))
        docs = ("d" + polars.Series(self.docs).cast(polars.String)).rename("doc")
        for number, own in enumerate(blocks):
            frames = []
            for block in own.tolist():
                topics = polars.Series("topic", self.topic_of_line + FIRST_TOPIC + block * BLOCK).cast(polars.String)
                frames.append(polars.DataFrame([topics, docs, polars.Series("score", self.scores)]))
            polars.concat(frames).write_parquet(folder / f"part-{number:05}.parquet")
        return str(base / "parts")


def _score(run: str, qrels: str) -> list[str]:
    return [sys.executable, "-m", "assay.cli.main", "score", "--qrels", qrels, run, "-m", MEASURES]


def _growth(base: Path, lines: _Lines) -> tuple[Taken, Row]:
    """What 10 % of the largest run takes, and how that grew from 1 %."""
    sizes = [LINES // 100, LINES // 10]
    times = {}
    for size in sizes:
        run, qrels = lines.write(base, size)
        times[size] = taken(_score(run, qrels))
        Path(run).unlink()
    ten, start = times[sizes[1]], times[sizes[0]]
    note = ", ".join(f"{size:,} lines {t.seconds:.1f} s {t.peak:.2f} GB" for size, t in times.items())
    linear = 10 * start.seconds / ten.seconds
    return ten, ("growth from 1 to 10 %: linear is 1 or more", 0.9, linear, note)


def _forms(base: Path, lines: _Lines, tenth: Taken) -> list[Row]:
    """The largest run as one file, compressed, from standard input and as parts, against the small run."""
    small_run, small_qrels = lines.write(base, SMALL)
    run, qrels = lines.write(base, LINES)
    packed = f"{run}.zst"
    _pack(run, packed)
    parts = lines.write_parts(base, LINES)
    table = lines.write_table(base, parts)
    found = []
    forms = {
        "one file": (run, None),
        "one .zst file": (packed, None),
        "standard input": ("-", Path(run)),
        f"{PARTS} Parquet parts": (parts, None),
        "one Parquet file": (table, None),
    }
    for name, (source, stdin) in forms.items():
        before = taken(_score(small_run, small_qrels))
        done = taken(_score(source, qrels), stdin=stdin)
        after = taken(_score(small_run, small_qrels))
        small_speed = SMALL / ((before.seconds + after.seconds) / 2)
        speed = done.per_second(LINES) / small_speed
        what = f"{LINES:,} lines, {name}"
        note = f"{done.seconds:.0f} s; {done.per_second(LINES) / 1e6:.2f} against {small_speed / 1e6:.2f} M lines/s"
        found.append((f"{what}: lines/s against {SMALL:,} lines", 0.8, speed, note))
        found.append((f"{what}: peak below 1 GB (times below)", 1.0, 1 / done.peak, f"{done.peak:.2f} GB"))
        if source == run:
            linear = 10 * tenth.seconds / done.seconds
            found.append(("growth from 10 to 100 %: linear is 1 or more", 0.9, linear, note))
    for path in (run, packed, table, small_run):
        Path(path).unlink()
    return found


def _pack(run: str, packed: str) -> None:
    import zstandard

    with open(run, "rb") as source, open(packed, "wb") as target:
        zstandard.ZstdCompressor(level=1).copy_stream(source, target)


def _written_scores(folder: Path, runs: Sequence[str], measures: Sequence[str]) -> str:
    """A folder of scores on ten million topics, as `assay score -o` writes it."""
    from assay.io.topic_scores import write_description, write_part

    rng = np.random.default_rng(1)
    folder.mkdir()
    size = 1 << 20
    parts = -(-TOPICS_COMPARED // size)
    shared = rng.random(TOPICS_COMPARED)
    for run in runs:
        scores = [np.clip(shared + rng.normal(0, 0.1, TOPICS_COMPARED), 0, 1).round(4) for _ in measures]
        for part in range(parts):
            of_part = np.array([row[part * size : (part + 1) * size] for row in scores])
            count = of_part.shape[1]
            topics = [f"q{part * size + i}" for i in range(count)]
            write_part(folder, run, part, topics, np.zeros(count, dtype=bool), measures, of_part)
    write_description(folder, runs=runs, measures=measures, signatures=measures, topics=TOPICS_COMPARED, parts=parts)
    return str(folder)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "assay.cli.main", *words]


def _compared(base: Path) -> Row:
    """Two runs on ten million topics, from their per-topic Parquet."""
    folder = _written_scores(base / "scores", ["one", "two"], ["AP"])
    command = _command("compare", folder, "--baseline", "one", "--test")
    peaks = {test: taken([*command, test]) for test in ("t", "wilcoxon", "sign")}
    highest = max(done.peak for done in peaks.values())
    note = ", ".join(f"{test} {done.seconds:.0f} s {done.peak:.2f} GB" for test, done in peaks.items())
    return (f"compare on {TOPICS_COMPARED:,} topics below 2 GB (times below)", 1.0, 2 / highest, note)


def _standardized_and_reported(base: Path) -> list[Row]:
    """Three runs by two measures on ten million topics: factors, standardized scores and a report, against compare."""
    folder = _written_scores(base / "three", ["one", "two", "three"], ["AP", "RR"])
    factors = str(base / "factors.parquet")
    page = base / "report.html"
    commands = {
        "standardize fit": _command("standardize", "fit", folder, "--save", factors),
        "standardize apply": _command("standardize", "apply", folder, "--save", str(base / "own")),
        "standardize apply --factors": _command(
            "standardize", "apply", folder, "--factors", factors, "--save", str(base / "by factors")
        ),
        "report": _command("report", folder, "-o", str(page)),
    }
    compared = taken(_command("compare", folder))
    found: list[Row] = []
    for name, command in commands.items():
        done = taken(command)
        what = f"{name}, {TOPICS_COMPARED:,} topics, 3 runs, 2 measures"
        note = f"{done.seconds:.0f} s, {done.peak:.2f} GB; compare {compared.seconds:.0f} s, {compared.peak:.2f} GB"
        found.append((f"{what}: below 2 GB (times below)", 1.0, 2 / done.peak, note))
        found.append((f"{what}: time of compare against its own", 0.25, compared.seconds / done.seconds, note))
    megabytes = page.stat().st_size / 1e6
    found.append(("report: a page below 5 MB (times below)", 1.0, 5 / megabytes, f"{megabytes:.2f} MB"))
    return found


if __name__ == "__main__":
    for row in rows():
        print(row)
