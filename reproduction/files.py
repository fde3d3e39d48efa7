"""The files that the commands of the page name, made from the public data.

`python -m reproduction.files FOLDER` writes all of them; `scores` and `text` give one of them to the lines of an item,
so that a line and its command rest on the same numbers.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from assay.data import Qrels
from assay.data.scores import ScoreMatrix
from assay.io import read_qrels, read_scores
from assay.io.scores import write_scores
from assay.standard import fit
from reproduction.items import data_folder

MATRICES = "trec-score-matrices"
MORE_MATRICES = "trec-score-matrices-more"
ROBUST = "trec-robust-2004"
TOPICS = {"t6": (301, 350), "t7": (351, 400), "t8": (401, 450), "t03": (601, 650), "t04": (651, 700)}
"""The topics of each part of TREC 2004 Robust: the TREC for which they were made."""
DESCRIPTION_ONLY = (
    "apl04rsDw", "fub04De", "fub04Dg", "fub04Dge", "humR04d4", "humR04d4e5", "humR04d5", "humR04d5i", "humR04d5m",
    "icl04pos2d", "JuruDes", "JuruDesAggr", "JuruDesLaMd", "JuruDesQE", "JuruDesSwQE", "JuruDesTrSl", "pircRB04d2",
    "pircRB04d3", "pircRB04d4", "pircRB04d5", "polyudp2", "polyudp4", "polyudp5", "polyudp6", "SABIR04BD",
    "SABIR04FD", "uogRobDBase", "uogRobDWR10", "uogRobDWR5", "vtumdesc",
)  # fmt: skip
"""Runs of TREC 2004 Robust whose tags say that they use the description alone: 30 of the 32 that there were."""


@dataclass(frozen=True)
class File:
    """A file that a command names: what it holds, and how it is made."""

    about: str
    make: Callable[[], ScoreMatrix | str]


FILES: dict[str, File] = {}


def scores(name: str) -> ScoreMatrix:
    """A file of scores."""
    made = _made(name)
    assert isinstance(made, ScoreMatrix), name
    return made


def text(name: str) -> str:
    """A file of text, such as judgments."""
    made = _made(name)
    assert isinstance(made, str), name
    return made


@cache
def _made(name: str) -> ScoreMatrix | str:
    return FILES[name].make()


def add(name: str, about: str, make: Callable[[], ScoreMatrix | str]) -> None:
    """Register a file; names stand once."""
    assert name not in FILES, name
    FILES[name] = File(about, make)


@cache
def named(name: str) -> ScoreMatrix:
    """A released matrix whose runs have their tags."""
    return read_scores(data_folder() / MATRICES / "named" / f"{name}.csv")[0]


@cache
def anonymous(name: str, measure: str, first_topic: int | None = None) -> ScoreMatrix:
    """A released matrix whose runs have no tags; its topics are named by number if the first one is given."""
    path = data_folder() / MATRICES / "anonymous" / f"{name}.csv"
    matrix = read_scores(path, transpose=True, measure=measure)[0]
    if first_topic is None:
        return matrix
    numbers = range(first_topic, first_topic + len(matrix.topics))
    return replace(matrix, topics=tuple(map(str, numbers)))


def trec5() -> ScoreMatrix:
    """AP of the 61 runs of TREC 5 ad hoc, without tags, on topics 251 to 300."""
    path = data_folder() / MORE_MATRICES / "adhoc5_ap.csv"
    matrix = read_scores(path, transpose=True, measure="AP")[0]
    return replace(matrix, topics=tuple(map(str, range(251, 301))))


def cut(matrix: ScoreMatrix, low: int, high: int) -> ScoreMatrix:
    """Only the topics from low to high."""
    return matrix.select(topics=[t for t in matrix.topics if low <= int(t) <= high])


@cache
def robust(measure: str) -> ScoreMatrix:
    """TREC 2004 Robust, all topics: AP or P@10 of the 110 runs."""
    by_ap = named("robust2004_ap")
    if measure == "AP":
        return by_ap
    matrix = anonymous("robust2004_p10", "P@10")
    return replace(matrix, runs=by_ap.runs)  # the released columns are in the order of the tags


@cache
def robust_qrels() -> Qrels:
    """The judgments of TREC 2004 Robust, which hold those of TREC 6 to 8 and of 2003."""
    return read_qrels(data_folder() / ROBUST / "qrels.txt.xz")


@cache
def counts() -> dict[str, tuple[int, int]]:
    """Topic → judged and relevant docs, of the judgments of TREC 2004 Robust."""
    by_topic = robust_qrels().to_dict()
    return {topic: (len(docs), sum(grade >= 1 for grade in docs.values())) for topic, docs in by_topic.items()}


def relevant(topics: tuple[str, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """R of each topic."""
    return np.array([counts()[topic][1] for topic in topics], dtype=float)


def sum_of_precisions(ap: ScoreMatrix) -> ScoreMatrix:
    """SP is AP times R."""
    return ScoreMatrix.of(ap.values * relevant(ap.topics), runs=ap.runs, topics=ap.topics, measure="SP")


def normalized_p10(p10: ScoreMatrix) -> ScoreMatrix:
    """nP@10 divides P@10 by what an ideal list reaches: min(R, 10)/10."""
    ideal = np.minimum(relevant(p10.topics), 10) / 10
    return ScoreMatrix.of(p10.values / ideal, runs=p10.runs, topics=p10.topics, measure="nP@10")


def _factor_lines(name: str) -> str:
    by = fit(scores(name), sd="sample")
    columns = zip(by.topics, by.mean.tolist(), by.sd.tolist(), by.runs.tolist(), strict=True)
    lines = [f"{by.measure},{topic},{mean!r},{sd!r},{runs},{by.sd_of}" for topic, mean, sd, runs in columns]
    return "\n".join(["measure,topic,mean,sd,runs,sd_of", *lines, ""])


Example = dict[str, tuple[str, str]]
"""Topic → grades in rank order, and grades of judged docs that were not retrieved."""


def add_example(name: str, about: str, lists: Example) -> None:
    """Register name.run and name.qrels: lists of a worked example."""
    run, qrels = example_lists(lists)
    run_lines = [f"{topic} Q0 {doc} 0 {score} {name}" for topic, docs in run.items() for doc, score in docs.items()]
    qrels_lines = [f"{topic} 0 {doc} {grade}" for topic, docs in qrels.items() for doc, grade in docs.items()]
    add(f"{name}.run", about, lambda: "\n".join([*run_lines, ""]))
    add(f"{name}.qrels", f"judgments of {name}.run", lambda: "\n".join([*qrels_lines, ""]))


def example_lists(lists: Example) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Run and judgments of a worked example; `-` is a doc that nobody judged."""
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for topic, (ranked, others) in lists.items():
        grades = ranked.split()
        docs = [f"d{rank:02d}" for rank in range(1, len(grades) + 1)]
        run[topic] = {doc: float(len(docs) - place) for place, doc in enumerate(docs)}
        judged = {doc: int(grade) for doc, grade in zip(docs, grades, strict=True) if grade != "-"}
        missed = {f"x{place:02d}": int(grade) for place, grade in enumerate(others.split(), start=1)}
        qrels[topic] = judged | missed
    return run, qrels


def _register() -> None:
    """All files of scores and judgments."""
    add("trec8.csv", "TREC 8 ad hoc, AP, 129 runs with their tags", lambda: named("trec8-adhoc_ap"))
    add("robust.csv", "TREC 2004 Robust, AP, 110 runs, 249 topics", lambda: robust("AP"))
    add("trec5.csv", "TREC 5 ad hoc, AP, 61 runs without tags", trec5)
    add("terabyte06.csv", "TREC 2006 Terabyte, AP, 61 runs, 149 topics", lambda: named("terabyte2006_ap"))
    add("terabyte06-ndcg.csv", "the same, nDCG", lambda: anonymous("terabyte2006_ndcg", "nDCG"))
    for year, part in ((6, "t6"), (7, "t7"), (8, "t8")):
        first = TOPICS[part][0]
        for measure, short in (("AP", "ap"), ("P@10", "p10"), ("RR", "rr")):
            about = f"TREC {year} ad hoc, {measure}, all runs, without tags"
            add(f"adhoc{year}-{short}.csv", about, partial(anonymous, f"adhoc{year}_{short}", measure, first))
    for part, (low, high) in TOPICS.items():
        about = f"TREC 2004 Robust, topics {low} to {high}"
        add(f"{part}.csv", f"{about}, AP", partial(_part, "AP", low, high))
        add(f"{part}-p10.csv", f"{about}, P@10", partial(_part, "P@10", low, high))
        add(f"{part}-sp.csv", f"{about}, SP = AP · R", partial(_changed, sum_of_precisions, f"{part}.csv"))
        add(f"{part}-np10.csv", f"{about}, nP@10", partial(_changed, normalized_p10, f"{part}-p10.csv"))
    add("robust-200.csv", "TREC 2004 Robust, topics 301–450 and 601–650, AP", lambda: cut(robust("AP"), 301, 650))
    add("robust-200-p10.csv", "the same, P@10", lambda: cut(robust("P@10"), 301, 650))
    add(
        "robust-80.csv", "topics 301–450, AP, the 80 runs whose tags do not say description-only", _without_descriptions
    )
    for reference, name in (("adhoc7-ap", "trec7"), ("adhoc8-ap", "trec8"), ("t04", "t04")):
        about = f"factors of the runs of {reference}.csv, with the sd of n − 1"
        add(f"{name}-factors.csv", about, partial(_factor_lines, f"{reference}.csv"))
    add("pair.csv", "TREC 8 ad hoc, AP, CL99XT and apl8c221", lambda: _runs_of_trec8("CL99XT", "apl8c221"))
    add("a.csv", "system A of the running example: CL99XT", lambda: _runs_of_trec8("CL99XT"))
    add("b.csv", "system B of the running example: apl8c221", lambda: _runs_of_trec8("apl8c221"))
    add("best96.csv", "TREC 8 ad hoc, AP, the best 75 % of the runs", _best_of_trec8)
    add("robust.qrels", "judgments of TREC 2004 Robust", partial(_unpacked, "qrels.txt.xz"))
    for tag in ("pircRB04td2", "NLPR04clus10", "uic0401"):
        add(f"{tag}.run", f"run {tag} of TREC 2004 Robust", partial(_unpacked, f"runs/input.{tag}.xz"))


def _part(measure: str, low: int, high: int) -> ScoreMatrix:
    return cut(robust(measure), low, high)


def _changed(change: Callable[[ScoreMatrix], ScoreMatrix], name: str) -> ScoreMatrix:
    return change(scores(name))


def _without_descriptions() -> ScoreMatrix:
    adhoc = cut(robust("AP"), 301, 450)
    return adhoc.select(runs=[run for run in adhoc.runs if run not in DESCRIPTION_ONLY])


def _runs_of_trec8(*runs: str) -> ScoreMatrix:
    return named("trec8-adhoc_ap").select(runs=list(runs))


def _best_of_trec8() -> ScoreMatrix:
    ranked = named("trec8-adhoc_ap").by_average()
    return ranked.select(runs=ranked.runs[:96])


def _unpacked(path: str) -> str:
    with lzma.open(data_folder() / ROBUST / path, "rt") as file:
        return file.read()


_register()


def main(folder: str) -> None:
    """Write every file into the folder."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        made = _made(name)
        if isinstance(made, str):
            (target / name).write_text(made)
        else:
            write_scores(target / name, [made], shape="matrix")


if __name__ == "__main__":
    from reproduction import files, page

    page.loaded()  # the modules of the works add the files of their worked examples
    files.main(*sys.argv[1:])
