"""How topics become one number: read off names and signatures, obeyed by every matrix, kept by every file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data.averages import AGGREGATES, aggregate_of, as_mean, averages_of
from assay.data.grades import Grades
from assay.data.scores import ScoreMatrix, Scores, joined
from assay.data.tested_means import for_tests_of_means, needs_means
from assay.io.scores import read_scores, write_scores
from assay.measures import MEASURES, measure, parse
from assay.measures.other_names import ALIASES
from assay.measures.trec_names import ROOTS
from assay.scoring import evaluate

ROWS = np.array([[0.1, 0.4, 0.0], [0.9, 0.5, 0.7]])


def plain_average(scores: list[float], how: str) -> float:
    """The definition, score by score."""
    if how == "sum":
        return sum(scores)
    if how == "mean":
        return sum(scores) / len(scores)
    if how == "median":
        middle = sorted(scores)
        half = len(middle) // 2
        return middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
    if how == "harmonic":
        return len(scores) / sum(1 / max(score, 1e-5) for score in scores)
    product = 1.0
    for score in scores:
        product *= max(score, 1e-5)
    return float(product ** (1 / len(scores)))


@pytest.mark.parametrize("how", AGGREGATES)
def test_averages_are_those_of_the_definition(how: str) -> None:
    matrix = ScoreMatrix.of(ROWS, measure=f"{how}(X)")
    expected = [plain_average(row.tolist(), how) for row in ROWS]
    assert matrix.aggregate == how
    assert matrix.averages() == pytest.approx(expected)
    assert Scores((matrix,)).averages()[0] == pytest.approx(expected)
    assert matrix.table().rows[1][1] == pytest.approx(expected[1])
    assert averages_of(np.zeros((2, 0)), how).tolist() == [0.0, 0.0]


def known_names() -> Iterator[str]:
    """Every name under which a measure goes: ours, those of trec_eval, those of other programs."""
    for entry in MEASURES:
        needs_k = "k" in entry.parameters and entry.parameters["k"] is not None
        yield f"{entry.name}@10" if needs_k else entry.name
    for root in ROOTS.values():
        yield from (line.name for line in root.lines(root.parameters) if line.measure)
    yield from ALIASES


def test_a_name_says_how_topics_are_averaged_as_the_registry_does() -> None:
    checked = 0
    for name in known_names():
        try:
            known = parse(name)
        except UsageError:
            continue  # a name that needs a parameter
        ours = str(known)
        assert aggregate_of(ours) == known.aggregate, ours
        if "@" not in name and not name[0].isupper():
            assert aggregate_of(name) in (known.aggregate, "mean" if name == "hits" else known.aggregate), name
        checked += 1
    assert checked > 150


def test_measures_of_ones_own_carry_their_aggregate_in_the_signature(tmp_path: Path) -> None:
    @measure("Clicks", range="count", aggregate="sum")
    def clicks(g: Grades) -> np.ndarray:
        return g.hits(1, 2).sum(axis=1).astype(float)

    try:
        scores = evaluate({"r": {"1": ["a", "b"], "2": ["c"]}}, {"1": {"a": 1, "b": 1}, "2": {"c": 1}}, ["Clicks"])
    finally:
        MEASURES.remove("Clicks")
    matrix = scores["Clicks"]
    assert "|aggregate:sum|" in matrix.signature
    assert matrix.averages().tolist() == [3.0]
    write_scores(tmp_path / "s.csv", [matrix])
    [again] = read_scores(tmp_path / "s.csv")
    assert (again.aggregate, again.averages().tolist()) == ("sum", [3.0])
    of_unknown_policy = ScoreMatrix.of(matrix.values, runs=["other"], topics=matrix.topics, measure="Clicks")
    assert joined([matrix, of_unknown_policy])[0].aggregate == "sum"


@pytest.mark.parametrize("shape", ["tidy", "matrix"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_score_files_keep_the_aggregate(tmp_path: Path, shape: str, ending: str) -> None:
    matrix = ScoreMatrix.of(ROWS, measure="geometric(AP)", signature="geometric(AP)|ties:docid")
    path = tmp_path / f"scores.{ending}"
    write_scores(path, [matrix], shape=shape)
    [again] = read_scores(path)
    assert again.averages() == pytest.approx(matrix.averages())
    assert Scores((again,)).record()["aggregates"] == {"geometric(AP)": "geometric"}


def test_parts_keep_the_aggregate_and_a_forced_measure_has_its_own() -> None:
    matrix = ScoreMatrix.of(ROWS, runs=["a", "b"], measure="geometric(AP)")
    assert matrix.select(runs=["b"]).aggregate == "geometric"
    assert matrix.by_average().runs == ("b", "a")
    assert matrix.renamed("AP").aggregate == "mean"


def test_means_only() -> None:
    matrix = ScoreMatrix.of(ROWS, measure="AP")
    assert needs_means(matrix, "a plan") is matrix
    assert for_tests_of_means(matrix) is matrix
    for name, instead in (("geometric(AP)", "AP"), ("NumRelRet", "mean(NumRelRet)"), ("num_ret", "mean(num_ret)")):
        assert as_mean(name) == instead
        with pytest.raises(UsageError, match=rf"and a plan rests on means; take {instead.replace('(', '.')[:4]}"):
            needs_means(ScoreMatrix.of(ROWS, measure=name), "a plan")
    with pytest.raises(UsageError, match="a test of means says nothing of medians; take AP, whose sign test"):
        for_tests_of_means(ScoreMatrix.of(ROWS, measure="median(AP)"))
    assert for_tests_of_means(ScoreMatrix.of(ROWS, measure="sum(AP)")).values.tolist() == ROWS.tolist()
