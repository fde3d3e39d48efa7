"""Runs and judgments in each other's place: refused where the numbers show it, and only there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from assay.check import check
from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.gate import gate
from assay.io import qrels_of, runs_of, write_qrels, write_run
from assay.pooling.bias import left_out
from assay.pooling.judging_curves import curves
from assay.report import report
from assay.scoring import Aligned, evaluate
from assay.scoring.topic_views import topic_view

RNG = np.random.default_rng(5)
Nested = dict[str, dict[str, float]]
RUN: Nested = {str(t): {f"d{d}": float(RNG.random()) for d in range(30)} for t in range(4)}
GRADES: Nested = {str(t): {f"d{d}": int(RNG.integers(0, 3)) for d in range(30)} for t in range(4)}
SWAPPED = "runs look like judgments .* and qrels like a run .*; swap them, or pass assay.io.runs_of"


def frame(nested: Nested, library: Any) -> Any:
    rows = [(topic, doc, value) for topic, docs in nested.items() for doc, value in docs.items()]
    topics, docs, values = zip(*rows, strict=True)
    return library.DataFrame({"query-id": topics, "corpus-id": docs, "score": values})


def test_the_example_of_the_issue() -> None:
    assert evaluate(RUN, GRADES, "nDCG@10")[0].values.shape == (1, 4)
    with pytest.raises(UsageError, match=r"runs look like judgments \(scores 0, 1, 2\) and qrels like a run \(120 "):
        evaluate(GRADES, RUN, "nDCG@10")


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_are_seen_too(library: Any) -> None:
    assert evaluate(frame(RUN, library), frame(GRADES, library), "AP")
    with pytest.raises(UsageError, match=SWAPPED):
        evaluate(frame(GRADES, library), frame(RUN, library), "AP")
    with pytest.raises(UsageError, match=SWAPPED):
        evaluate([frame(GRADES, library)], RUN, "AP")


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "evaluate": lambda runs, qrels: evaluate(runs, qrels, "AP"),
    "Aligned": Aligned.of,
    "gate": lambda runs, qrels: gate(runs, {t: dict(reversed(d.items())) for t, d in RUN.items()}, qrels, max_drop=0.1),
    "report": lambda runs, qrels: report(runs, qrels, path="unwritten.html"),
    "check": check,
    "pool left_out": lambda runs, qrels: left_out(runs, "P@2", qrels=qrels, depth=5),
    "judging curves": lambda runs, qrels: curves(runs, ["depth"], qrels=qrels, depth=5),
    "view": lambda runs, qrels: topic_view("1", runs, qrels),
}


@pytest.mark.parametrize("name", CALLS)
def test_whatever_takes_both_refuses_them(name: str) -> None:
    with pytest.raises(UsageError, match=SWAPPED):
        CALLS[name](GRADES, RUN)


def test_objects_and_files_are_what_they_say(tmp_path: Path) -> None:
    made = Run.from_dict("run", GRADES), Qrels.from_dict(RUN)
    expected = evaluate(*made, "nDCG")[0].values
    for runs, qrels in ((made[0], RUN), (GRADES, made[1]), (runs_of(GRADES), qrels_of(RUN)), ({"a": made[0]}, RUN)):
        assert (evaluate(runs, qrels, "nDCG")[0].values == expected).all()
    write_run(tmp_path / "a.run", made[0])
    write_qrels(tmp_path / "q.txt", made[1])
    assert (evaluate(tmp_path / "a.run", RUN, "nDCG")[0].values == expected).all()
    assert (evaluate(GRADES, tmp_path / "q.txt", "nDCG")[0].values == expected).all()


FRACTIONS: Nested = {t: {d: round(x, 1) for d, x in docs.items()} for t, docs in RUN.items()}
LEGITIMATE: dict[str, tuple[Any, Any]] = {
    "binary scores, binary grades": (GRADES, {t: {d: x > 0 for d, x in docs.items()} for t, docs in GRADES.items()}),
    "few scores, five grades": (GRADES, {t: {d: i % 5 for i, d in enumerate(docs)} for t, docs in RUN.items()}),
    "whole scores that are ranks": ({t: {f"d{d}": 5 - d for d in range(5)} for t in RUN}, FRACTIONS),
    "a constant score": ({t: dict.fromkeys(docs, 1.0) for t, docs in RUN.items()}, FRACTIONS),
    "a constant score, few judgments": ({"1": {"a": 1, "b": 1}}, {"1": {"a": 0.4, "b": 0.9}}),
    "scores that count": ({t: {f"d{d}": d % 9 for d in range(30)} for t in RUN}, FRACTIONS),
    "lists without scores": ({"1": ["a", "b"], "2": ["c"]}, {"1": {"a": 0.4, "b": 0.9}, "2": {"c": 0.1}}),
    "fractional scores, fractional grades": (RUN, FRACTIONS),
}  # fmt: skip


@pytest.mark.parametrize("name", LEGITIMATE)
def test_what_is_right_is_scored(name: str) -> None:
    assert evaluate(*LEGITIMATE[name], "nDCG")[0].values.size


def test_judgments_of_one_grade_against_a_run_are_seen() -> None:
    """As in MS MARCO, where only relevant docs are judged."""
    relevant = {topic: {"d3": 1} for topic in RUN}
    with pytest.raises(UsageError, match=r"\(scores 1\) and qrels like a run \(120 different grades\)"):
        evaluate(relevant, RUN, "RR@10")
