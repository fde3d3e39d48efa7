"""Files in, scores out: whole processes, from start to printed result, files in the page cache.

Rows against trec_eval's own C code (`trec_eval_in_c`) are CPU seconds of one core each: ours with the start of Python,
theirs without. Reading has a floor: to copy the file and to find its line ends and blanks, which a row names.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
Row = tuple[str, float, float, str]
C_OF_ONE = "map,ndcg_cut.10,P.10,recip_rank"
C_OF_MANY = "map,ndcg_cut.10,P.5,bpref,recip_rank"
TRACKS = {"trec-covid-round1": 5.0, "trec-dl-2019-passage": 2.0, "trec-dl-2021-passage": 1.0}
"""Tracks, and how many times faster than trec_eval in C is asked. The start of Python counts where runs are few."""

PYTREC_EVAL = """
import sys, pytrec_eval
def read(path, doc, value, kind):
    out = {}
    with open(path) as file:
        for line in file:
            parts = line.split()
            out.setdefault(parts[0], {})[parts[doc]] = kind(parts[value])
    return out
qrels = read(sys.argv[1], 2, 3, int)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(sys.argv[2].split(",")))
for path in sys.argv[3:]:
    found = evaluator.evaluate(read(path, 2, 4, float))
    names = list(next(iter(found.values())))
    print(path[-12:], *(sum(t[n] for t in found.values()) / len(qrels) for n in names))
"""
IR_MEASURES = """
import sys, ir_measures
from ir_measures import AP, nDCG, P, RR
qrels = ir_measures.read_trec_qrels(sys.argv[1])
print(ir_measures.calc_aggregate([AP, nDCG @ 10, P @ 10, RR], qrels, ir_measures.read_trec_run(sys.argv[2])))
"""
RANX = """
import sys
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_file(sys.argv[1], kind="trec")
run = Run.from_file(sys.argv[2], kind="trec")
print(evaluate(qrels, run, ["map", "ndcg@10", "precision@10", "mrr"]))
"""


def rows() -> list[Row]:
    """One large run, the runs of three tracks, growth with the number of lines, and the start."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        return [*_large(base), *_many(base), *_growth(base), _start()]


def _large(base: Path) -> list[Row]:
    run, qrels = make_run(base, 7000)
    command = _assay("score", "--qrels", qrels, run, "-m", "AP nDCG@10 P@10 RR")
    peak = _peak(command)
    peers = [
        (
            "pytrec-eval-terrier",
            6.0,
            [sys.executable, "-c", PYTREC_EVAL, qrels, "map,ndcg_cut.10,P.10,recip_rank", run],
        ),
        ("ir-measures", 15.0, [sys.executable, "-c", IR_MEASURES, qrels, run]),
    ]
    if importlib.util.find_spec("ranx") is not None:
        peers.append(("ranx, compilation cached", 25.0, [sys.executable, "-c", RANX, qrels, run]))
    out = [
        (f"7,000 topics x 1,000 docs against {name}", asked, *_ratio(peer, command, warm=name.startswith("ranx")))
        for name, asked, peer in peers
    ]
    out.append(_against_c("7,000 topics x 1,000 docs", 10.0, qrels, ["AP nDCG@10 P@10 RR", C_OF_ONE], [run]))
    out.append(_floor(Path(run)))
    return [*out, ("peak memory below 1.2 GB (how many times below)", 1.0, 1.2 / peak, f"{peak:.2f} GB")]


def _against_c(what: str, asked: float, qrels: str, measures: Sequence[str], runs: Sequence[str]) -> Row:
    """CPU seconds of trec_eval in C, a process for each run, against ours, one process and one core for all runs."""
    ours_named, theirs_named = measures
    command = _assay("score", "--qrels", qrels, *runs, "-m", ours_named, "--jobs", "1")
    program = [sys.executable, str(ROOT / "benchmarks" / "trec_eval_in_c.py"), qrels, theirs_named, *runs]
    ours = min(_cpu_seconds(command) for _ in range(5))
    printed = [subprocess.run(program, check=True, capture_output=True, text=True).stdout for _ in range(3)]
    theirs = min(float(text.split()[-1]) for text in printed)
    return (f"{what} against trec_eval in C, CPU", asked, theirs / ours, f"{theirs:.2f} s against {ours:.2f} s")


def _cpu_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _floor(run: Path) -> Row:
    """How much of our reader is to copy the file and to find its line ends and blanks, which any reader here must."""
    from assay.io._bytes.bits import bit_words, newlines
    from assay.io._bytes.fields import BLANK, pieces
    from assay.io.content import Content
    from assay.io.trec import run_in

    def least() -> None:
        text = Content.of(run).text
        for first, after in pieces(text.buffer[: text.length]):
            piece = text.buffer[first:after]
            newlines(piece)
            bit_words(piece <= BLANK)

    floor = _least_cpu(least)
    whole = _least_cpu(lambda: run_in(Content.of(run)))
    note = f"{whole:.2f} s, of which {floor:.2f} s"
    return ("reader within 5 times of its floor: copy, line ends, blanks", 1.0, 5 * floor / whole, note)


def _least_cpu(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(4):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def _ratio(peer: Sequence[str], command: Sequence[str], *, warm: bool) -> tuple[float, str]:
    """How many times faster than the peer: timed before and after it, since machines are not always equally fast."""
    before, theirs, after = seconds(command, 4), seconds(peer, 1, warm=warm), seconds(command, 4)
    ours = (before + after) / 2
    return theirs / ours, f"{theirs:.2f} s against {ours:.2f} s"


def _many(base: Path) -> list[Row]:
    found = []
    for track, asked in TRACKS.items():
        data = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data")) / track
        if not data.exists():
            continue
        with tarfile.open(data / "runs.tar.xz") as tar:
            tar.extractall(base / track, filter="data")
        files = [str(p) for p in sorted((base / track / "runs").iterdir())]
        qrels = str(data / "qrels.txt")
        measures = ["AP nDCG@10 P@5 bpref RR", C_OF_MANY]
        found.append(_against_c(f"{len(files)} runs of {track}", asked, qrels, measures, files))
        if track == "trec-covid-round1":
            found += _covid(files, qrels)
    return found


def _covid(files: Sequence[str], qrels: str) -> list[Row]:
    ours = seconds(_assay("score", "--qrels", qrels, *files, "-m", "AP nDCG@10 P@5 bpref RR", "-q"), 3)
    names = "map,ndcg_cut.10,P.5,bpref,recip_rank"
    theirs = seconds([sys.executable, "-c", PYTREC_EVAL, qrels, names, *files], 1)
    return [("143 runs of TREC-COVID, 5 measures, against pytrec-eval-terrier", 3.0, theirs / ours, "")]


def _growth(base: Path) -> list[Row]:
    """Seconds per million lines beyond the start, at 1, 10 and 100 % of the large run."""
    times = []
    for topics in (70, 700, 7000):
        run, qrels = make_run(base, topics)
        times.append(seconds(_assay("score", "--qrels", qrels, run, "-m", "AP nDCG@10 P@10 RR"), 3))
    slope = (times[2] - times[0]) / 6.93
    note = ", ".join(f"{t:.2f} s" for t in times) + f" for 1, 10, 100 %; {slope:.2f} s per million lines"
    return [("growth from 10 to 100 %: linear is 1 or more", 1.0, 10 * max(times[1], 1e-3) / times[2], note)]


def _start() -> Row:
    ours = seconds(_assay("--version"), 7)
    click = seconds([sys.executable, "-c", "import click"], 7)
    return ("assay --version within 3 times of `import click`", 1.0, 3 * click / ours, f"{ours / click:.2f} times")


def make_run(base: Path, topics: int) -> tuple[str, str]:
    """A run of that many topics x 1,000 docs and 20 judgments a topic, made once."""
    run, qrels = base / f"run{topics}", base / f"qrels{topics}"
    if not run.exists():
        rng = np.random.default_rng(0)
        with open(run, "w") as lines, open(qrels, "w") as judged:
            for topic in range(100000, 100000 + topics):
                docs = rng.choice(8_800_000, 1000, replace=False).tolist()
                scores = np.sort(rng.gamma(2.0, 8.0, 1000))[::-1].tolist()
                lines.writelines(
                    f"{topic} Q0 {doc} {i + 1} {score:.6f} bm25\n"
                    for i, (doc, score) in enumerate(zip(docs, scores, strict=True))
                )
                judged.writelines(f"{topic} 0 {doc} {rng.integers(4)}\n" for doc in docs[7::50])
            for file in (lines, judged):  # else the system writes them to disk while the first program is timed
                file.flush()
                os.fsync(file.fileno())
    return str(run), str(qrels)


def _assay(*args: str) -> list[str]:
    return [sys.executable, "-m", "assay.cli.main", *args]


def seconds(command: Sequence[str], times: int, *, warm: bool = True) -> float:
    """Median wall time of a process."""
    taken = []
    for i in range(times + warm):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if i >= warm:
            taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def _peak(command: Sequence[str]) -> float:
    """Peak memory of a process in GB."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); " \
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1e6


if __name__ == "__main__":
    for row in rows():
        print(row)
