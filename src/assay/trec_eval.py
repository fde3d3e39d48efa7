"""trec_eval's own output, byte for byte: its names, its order, its formats, and the meanings of -q -c -l -M -J -n -Z.

Two programs are followed: 9.0.8 (`trec_eval-9`), whose numbers most publications print, and 10.0 (`trec_eval-10`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run
from assay.data.aligned import match
from assay.data.grades import UNJUDGED, Grades
from assay.measures import Measure, parse
from assay.measures.trec_names import ROOTS, Line

FLOOR = 1e-5
NO_ZSCORE = -1000000.0

OFFICIAL = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
            "iprec_at_recall", "P")  # fmt: skip
SET = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall", "set_relative_P",
       "set_map", "set_F")  # fmt: skip
NEW_IN_10 = ("rbp", "rbp_resid", "unj")
OUTSIDE = ("yaap", "dcg", "ideal_dcg")


@dataclass(frozen=True)
class Options:
    """What trec_eval is told on its command line."""

    compat: str = "trec_eval-9"
    measures: Sequence[str] = ("official",)
    per_topic: bool = False
    """-q"""
    complete: bool = False
    """-c: average over all topics of the qrels."""
    rel: int = 1
    """-l"""
    depth: int | None = None
    """-M"""
    judged_only: bool = False
    """-J"""
    summary: bool = True
    """False is -n"""
    zscores: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """-Z: (topic, measure) → mean and standard deviation."""

    @property
    def version(self) -> int:
        """9 or 10."""
        return 9 if self.compat == "trec_eval-9" else 10


def output(run: Run, qrels: Qrels, options: Options) -> str:
    """What trec_eval prints for a run."""
    lines = _lines(options)
    ordered = run.ordered("docid", compat=options.compat)
    scored = _scored(ordered, qrels, lines, options)
    if not scored.present.any():
        raise DataError(f"run {run.name!r} has none of the topics of {qrels.name}")
    text: list[str] = []
    if options.per_topic:
        text += _topic_rows(scored, lines, options)
    if options.summary:
        text += _summary_rows(scored, lines, options, run.name)
    return "".join(text)


def read_zscores(path: str | Path) -> dict[tuple[str, str], tuple[float, float]]:
    """trec_eval's -Z file: `topic measure mean sd` per line."""
    out: dict[tuple[str, str], tuple[float, float]] = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            topic, name, mean, sd = parts
            out[topic, name] = float(mean), float(sd)
        except ValueError:
            raise DataError.at(str(path), number, f'{line!r} is not "topic measure mean sd"') from None
    return out


@dataclass(frozen=True, eq=False)
class _Scored:
    """The values of each line on each topic, topics in the order of their bytes."""

    topics: Sequence[str]
    present: npt.NDArray[np.bool_]
    values: Sequence[Floats]
    strings: Sequence[Sequence[str] | None]
    missed_relevant: int


def _scored(run: Run, qrels: Qrels, lines: Sequence[Line], options: Options) -> _Scored:
    joined = match(run, qrels)
    g = joined.grades()
    order = sorted(range(len(g.topics)), key=lambda t: g.topics[t].encode())
    g = g if options.depth is None else g.cut(options.depth)
    g = g.condensed() if options.judged_only else g
    present = (joined.topic_in_run >= 0)[order]
    values = [_values(line, g, options)[order] for line in lines]
    strings = [_relstrings(line, g, order) if line.name.startswith("relstring") else None for line in lines]
    missed = int((g.ideal[order][~present] > 0).sum())
    return _Scored([g.topics[t] for t in order], present, values, strings, missed)


def _values(line: Line, g: Grades, options: Options) -> Floats:
    if not line.measure:
        return np.zeros(len(g.topics))
    m = parse(line.measure)
    given = dict(m.parameters)
    if "rel" in m.entry.parameters:
        given["rel"] = options.rel
    if "rounding" in m.entry.parameters and options.version == 10:
        given["rounding"] = "nearest"
    return Measure(m.name, tuple(given.items()))(g)


def _relstrings(line: Line, g: Grades, order: Sequence[int]) -> list[str]:
    """The grades at the first ranks as characters: digit, > above 9, - not pooled, . pooled but not judged."""
    k = int(line.name.partition("_")[2] or 10)
    return ["".join(map(_character, g.ranked[t, : min(k, int(g.retrieved[t]))].tolist())) for t in order]


def _character(grade: int) -> str:
    if grade == UNJUDGED:
        return "-"
    return "." if grade < 0 else ">" if grade > 9 else str(grade)


def _topic_rows(scored: _Scored, lines: Sequence[Line], options: Options) -> list[str]:
    shown = scored.present | (options.complete and options.version == 10)
    out = []
    for t in np.flatnonzero(shown).tolist():
        topic = scored.topics[t]
        for line, values, strings in zip(lines, scored.values, scored.strings, strict=True):
            if not line.topics:
                continue
            if strings is not None:
                out.append(_row(line.name, topic, f"'{strings[t]}'"))
            else:
                out.append(_number_row(line, topic, _z(line, topic, float(values[t]), options), options))
    return out


def _summary_rows(scored: _Scored, lines: Sequence[Line], options: Options, run: str) -> list[str]:
    out = []
    asked = len(scored.topics) if options.complete else int(scored.present.sum())
    for line, values in zip(lines, scored.values, strict=True):
        if line.name == "runid":
            out.append(_row("runid", "all", run))
        elif line.name == "num_q":
            out.append(_number_row(line, "all", float(asked), options))
        elif line.total != "none":
            out.append(_number_row(line, "all", _total(line, values, scored, options, asked), options))
    return out


def _total(line: Line, values: Floats, scored: _Scored, options: Options, asked: int) -> float:
    """The `all` value of a line: topics that the run lacks add nothing, or count as 0 with -c."""
    topics = [t for t, there in zip(scored.topics, scored.present, strict=True) if there]
    kept = values[scored.present]
    if line.total == "geometric":
        logs = np.array([_z(line, t, float(x), options) for t, x in zip(topics, _logs(kept), strict=True)])
        return float(np.exp((logs.sum() + (asked - len(kept)) * np.log(FLOOR)) / asked))
    total = sum(_z(line, t, float(x), options) for t, x in zip(topics, kept, strict=True))
    if options.complete and line.name == "yaap" and options.version == 10:
        total = float(values.sum())
    if line.total == "sum":
        return total + (scored.missed_relevant if options.complete and line.name == "num_rel" else 0)
    return total / asked


def _logs(values: Floats) -> Floats:
    return np.log(np.maximum(values, FLOOR))


def _z(line: Line, topic: str, value: float, options: Options) -> float:
    """A value as the -Z file standardizes it; a value without mean and sd is marked by a very low number."""
    if not options.zscores:
        return value
    mean, sd = options.zscores.get((topic, line.name), (None, None))
    if mean is None or sd is None:
        return NO_ZSCORE
    if sd:
        return (value - mean) / sd
    return 0.0 if value == mean else NO_ZSCORE


def _number_row(line: Line, topic: str, value: float, options: Options) -> str:
    if options.zscores:
        return "Z" + _row(line.name, topic, f"{value:6.4f}")
    return _row(line.name, topic, f"{round(value)}" if line.whole else f"{value:6.4f}")


def _row(name: str, topic: str, value: str) -> str:
    return f"{name:<22}\t{topic}\t{value}\n"


def _lines(options: Options) -> list[Line]:
    """The lines that the -m options ask for, in the order in which trec_eval prints them."""
    chosen: dict[str, str | None] = {}
    for text in options.measures:
        name, _, parameters = text.partition(".")
        for root in _roots(name, options):
            # Parameters given first stay; a nickname names a measure without any.
            chosen[root] = chosen.get(root) or (parameters if root == name else None)
    return [line for root, how in ROOTS.items() if root in chosen for line in how.lines(chosen[root] or how.parameters)]


def _roots(name: str, options: Options) -> Iterable[str]:
    later = NEW_IN_10 if options.version == 9 else ()
    nicknames = {
        "official": OFFICIAL,
        "set": SET,
        "all_trec": tuple(r for r in ROOTS if r not in (*OUTSIDE, *later)),
    }
    if name in nicknames:
        return nicknames[name]
    if name not in ROOTS:
        raise UsageError(f"trec_eval has no measure {name!r}{did_you_mean(name, [*ROOTS, *nicknames])}")
    return (name,)
