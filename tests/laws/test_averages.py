"""Whatever the average of a measure is, every command shows what `score` shows, or says that it cannot.

All commands are called as in tests/hostile/calls.py, with a measure that is a geometric mean, a median or a sum in
place of theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from assay.scoring import evaluate
from tests.data.test_averages import plain_average
from tests.hostile.calls import CALLS, call
from tests.hostile.odd_files import RUNS, TOPICS
from tests.hostile.test_commands import Files

MEASURES = {"geometric(AP)": "geometric", "harmonic(AP)": "harmonic", "median(AP)": "median", "NumRelRet": "sum"}
OF_RUNS = (
    "mean",
    "geometric_mean",
    "median",
    "sum",
    "raw",
    "true_mean",
    "judged_mean",
    "average",
    "pooled",
    "score",
    "harmonic_mean",
)
"""Keys under which rows have the score of a run over all topics."""
BY_TOPIC = ("study votes", "study concordance", "compare density")
"""Commands that look at single topics and show no average: their medians are those of scores or differences."""
OF_TWO_FILES = "judge estimate"
"""A command whose other file would have another measure here; tests/judges has it."""
TABLES = [t for t in CALLS if ("{matrix}" in t or "{scores}" in t) and not t.startswith((*BY_TOPIC, OF_TWO_FILES))]
WITH_RUNS = [
    "compare runs --qrels {qrels} {run} {runs}",
    "compare runs --qrels {qrels} {run} {runs} --places --power .8",
    "compare pairs --qrels {qrels} {run} {runs}",
    "compare table --qrels {qrels} {run} {runs} --baseline a",
    "compare uncertain {doubt} {run} {runs}",
    "gate {run} --baseline {one run} --qrels {qrels} --max-drop .9",
    "plan audit --qrels {qrels} {run} {runs}",
    "standardize apply --qrels {qrels} {run} {runs}",
    "topics best --qrels {qrels} {run} {runs} --at 2 --repetitions 20",
    "predict {run} {runs} --qrels {qrels}",
    "predict accuracy {run} {runs} --qrels {qrels} --method sakai-lin",
    "predict inject {run} {runs} --qrels {qrels} --method sakai-lin --sizes 2 --repetitions 2",
    "pool bias {run} {runs} --qrels {qrels}",
    "pool curve {run} {runs} --qrels {qrels} --budgets 2 --order depth",
    "pool adjust {run} {runs} --qrels {qrels} --run b --common '1 2'",
    "pool widths {run} {runs} --qrels {qrels} --widths 2 --samples 2",
    "pool accuracy {run} {runs} --qrels {qrels} --widths 2 --common 2 --samples 2 --topic-samples 2",
    "study discriminative --qrels {qrels} {run} {runs} --test randomisation -B 20",
    "study reusability {run} {runs} --qrels {qrels}",
    "score --uncertainty {doubt} {run} {runs}",
    "score --qrels {qrels} {run} {runs} --bounds",
]
RNG = np.random.default_rng(5)
VALUES = np.round(RNG.random((len(RUNS), len(TOPICS))) ** 3, 4)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("averages"))


def expected_of(matrix: ScoreMatrix, how: str) -> dict[str, float]:
    """The score of every run over all topics, by the definition."""
    return {run: plain_average(matrix.of_run(run).tolist(), how) for run in matrix.runs}


def rows_of_runs(record: Any) -> Iterator[dict[str, Any]]:
    """Every row of a record, however deep, that is about one run."""
    if isinstance(record, dict):
        if isinstance(record.get("run"), str) and "topic" not in record:
            yield record
        for value in record.values():
            yield from rows_of_runs(value)
    elif isinstance(record, list):
        for value in record:
            yield from rows_of_runs(value)


def wrong_rows(printed: str, measure: str, expected: dict[str, float]) -> list[dict[str, Any]]:
    """Rows that show another number than `score` does."""
    wrong = []
    for row in rows_of_runs(json.loads(printed)):
        for key in (*OF_RUNS, measure):
            shown = row.get(key)
            if row["run"] in expected and isinstance(shown, float) and shown != pytest.approx(expected[row["run"]]):
                wrong.append({"key": key, "expected": expected[row["run"]], **row})
    return wrong


def assert_obeys_or_refuses(words: list[str], measure: str, expected: dict[str, float]) -> str:
    """The law for one call; what it printed."""
    outcome = call([*words, "--format", "json"])
    assert outcome.fell_over is None, outcome.fell_over
    if outcome.code == 2:
        assert len(outcome.err.strip().splitlines()) == 1
        assert measure in outcome.err, outcome.err
        assert re.search(r"mean|median|sum", outcome.err), outcome.err
        return outcome.err
    assert wrong_rows(outcome.out, measure, expected) == []
    return outcome.out


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("template", [t for t in TABLES if not t.startswith("report")])
def test_commands_on_score_files(template: str, measure: str, files: Files, tmp_path: Path) -> None:
    matrix = ScoreMatrix.of(VALUES, runs=RUNS, topics=TOPICS, measure=measure)
    write_scores(tmp_path / "scores.csv", [matrix])
    files.empty_out()
    without_choice = re.sub(r" -m \S+", "", template)
    filled = re.sub(r"\{(matrix|scores)\}", str(tmp_path / "scores.csv"), without_choice)
    assert_obeys_or_refuses(files.arguments(filled), measure, expected_of(matrix, MEASURES[measure]))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("template", WITH_RUNS)
def test_commands_on_runs(template: str, measure: str, files: Files) -> None:
    files.empty_out()
    words = [*files.arguments(template), "-m", measure]
    paths = [str(files.good["run"]), *map(str, files.runs)]
    judged = evaluate(paths, str(files.good["qrels"]), [measure])[0]
    expected = {} if "{doubt}" in template else expected_of(judged, MEASURES[measure])
    assert_obeys_or_refuses(words, measure, expected)


@pytest.mark.parametrize("measure", MEASURES)
def test_score_and_compare_show_the_same(measure: str, files: Files) -> None:
    words = files.arguments("--qrels {qrels} {run} {runs}")
    shown = json.loads(call(["score", *words, "-m", measure, "--format", "json"]).out)
    of_score = {row["run"]: row[measure] for row in shown["rows"]}
    outcome = call(["compare", *words, "-m", measure, "--format", "json"])
    if measure == "harmonic(AP)":
        assert (outcome.code, measure in outcome.err) == (2, True)
        return
    if measure == "median(AP)":
        assert "median(AP): a test of means says nothing of medians; take AP, whose sign test" in outcome.err
        return
    record = json.loads(outcome.out)
    key = {"geometric(AP)": "geometric_mean", "NumRelRet": "sum"}[measure]
    assert {row["run"]: row[key] for row in record["rows"]} == pytest.approx(of_score)
    assert record["aggregate"] == MEASURES[measure]


def test_the_report_shows_what_score_shows(files: Files, tmp_path: Path) -> None:
    matrix = ScoreMatrix.of(VALUES, runs=RUNS, topics=TOPICS, measure="geometric(AP)")
    write_scores(tmp_path / "scores.csv", [matrix])
    outcome = call(["report", str(tmp_path / "scores.csv"), "-o", str(tmp_path / "report.html")])
    assert (outcome.code, outcome.fell_over) == (0, None), outcome.err
    page = (tmp_path / "report.html").read_text()
    for run, average in expected_of(matrix, "geometric").items():
        assert f"{average:.4f}" in page, run
    assert "geometric mean" in page
