"""How often is a gate wrong, and how often does it decide? By simulation, and by drawing topics of real runs again."""

from __future__ import annotations

import csv
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from assay.gate.drops import Sample, above_zero, below_zero
from assay.gate.gated import Gate
from assay.gate.topics_to_decide import chance_to_show
from tests.conftest import real_data

ALPHA = 0.05
DROP = 0.02
SD = 0.1


def error_of(share: float, draws: int) -> float:
    """Three standard errors of a share."""
    return 3 * float(np.sqrt(share * (1 - share) / draws))


def samples_of(differences: Any, test: str, drop: float = DROP) -> list[Sample]:
    rows = np.atleast_2d(differences)
    limits = (-1 + drop, 1 + drop)
    return [Sample.of(row + drop, row, limits, test, resamples=499, seed=1) for row in rows]


def passes(differences: Any, test: str = "t", drop: float = DROP) -> Any:
    """Whether each row of one experiment passes: the decision that `gate` makes."""
    return above_zero(samples_of(differences, test, drop), ALPHA).shown


def fails(differences: Any, correction: str = "holm") -> Any:
    return below_zero(samples_of(differences, "t"), ALPHA, correction).shown


def experiments(difference: float, topics: int, draws: int, *, correlation: float = 0.7, count: int = 3) -> Any:
    """Differences of correlated measures: draws × measures × topics, all with one true mean."""
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 1, (draws, 1, topics)) * np.sqrt(correlation)
    own = rng.normal(0, 1, (draws, count, topics)) * np.sqrt(1 - correlation)
    return difference + SD * (shared + own)


@pytest.mark.parametrize(("test", "draws"), [("t", 2000), ("auto", 600)])
def test_a_run_at_the_margin_passes_at_most_as_often_as_alpha(test: str, draws: int) -> None:
    rate = np.mean([passes(one, test)[0] for one in experiments(-DROP, 40, draws, count=1)])
    assert rate <= ALPHA + error_of(ALPHA, draws)
    assert rate >= ALPHA - error_of(ALPHA, draws) - 0.005  # and is not needlessly timid


def loses_one(rng: np.random.Generator, topics: int) -> Floats:
    """2 % of topics lose 1."""
    return -(rng.random(topics) < 0.02).astype(float)


def loses_half(rng: np.random.Generator, topics: int) -> Floats:
    """4 % of topics lose .5."""
    return np.where(rng.random(topics) < 0.04, -0.5, 0.0)


def loses_and_wins(rng: np.random.Generator, topics: int) -> Floats:
    """6 % of topics lose 1, 4 % win 1."""
    drawn = rng.random(topics)
    return np.where(drawn < 0.06, -1.0, np.where(drawn < 0.10, 1.0, 0.0))


@pytest.mark.parametrize("topics", [10, 25, 50, 100])
@pytest.mark.parametrize(
    ("world", "by_t"),
    [
        (loses_one, {10: 0.81, 25: 0.61, 50: 0.37, 100: 0.13}),
        (loses_half, {10: 0.68, 25: 0.37, 50: 0.14, 100: 0.10}),
        (loses_and_wins, {10: 0.36, 25: 0.14, 50: 0.07, 100: 0.06}),
    ],
)
def test_few_topics_that_change_pass_no_drop(
    world: Callable[[np.random.Generator, int], Floats], by_t: dict[int, float], topics: int
) -> None:
    """A t test of such differences passes a drop of exactly the margin four times in five (spec of the gate, §4)."""
    rng = np.random.default_rng(topics)
    draws = 150
    held = np.mean([passes(world(rng, topics), "auto")[0] for _ in range(draws)])
    assert held <= ALPHA + 2.6 * np.sqrt(ALPHA * (1 - ALPHA) / draws)
    rows = np.array([world(rng, topics) for _ in range(4000)])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (rows.mean(axis=1) + DROP) / (rows.std(axis=1, ddof=1) / np.sqrt(topics))
    from scipy.stats import t as law

    p = np.where(np.isfinite(t), law.sf(t, topics - 1), 0)
    assert (p < ALPHA).mean() == pytest.approx(by_t[topics], abs=0.03)


@pytest.mark.parametrize("correlation", [0.0, 0.7, 0.95])
def test_errors_over_several_measures_are_held(correlation: float) -> None:
    draws = 1000
    rows = experiments(-DROP, 40, draws, correlation=correlation)
    assert np.mean([passes(one).all() for one in rows]) <= ALPHA + error_of(ALPHA, draws)
    assert np.mean([fails(one).any() for one in rows]) <= ALPHA + error_of(ALPHA, draws)
    if correlation < 0.9:  # a fail takes one measure, so without a correction it is not held
        assert np.mean([fails(one, "none").any() for one in rows]) > ALPHA + error_of(ALPHA, draws)


def test_a_pass_is_wrong_at_most_as_often_as_alpha_if_one_measure_is_worse() -> None:
    draws = 1000
    rows = experiments(0.1, 40, draws, count=3)
    rows[:, 1] -= 0.1 + DROP  # one measure lies at its margin, the others are far above
    rate = np.mean([passes(one).all() for one in rows])
    assert ALPHA - error_of(ALPHA, draws) <= rate <= ALPHA + error_of(ALPHA, draws)


@pytest.mark.parametrize("topics", [20, 60, 150])
def test_power_at_no_difference_is_what_the_plan_says(topics: int) -> None:
    draws = 1500
    rate = np.mean([passes(one)[0] for one in experiments(0.0, topics, draws, count=1)])
    planned = chance_to_show(topics, DROP / SD, ALPHA)
    assert rate == pytest.approx(planned, abs=error_of(planned, draws))


def gate_of(rows: Any, **options: Any) -> Gate:
    """The gate of differences: a baseline of ½ everywhere, one measure for each row."""
    new = {}
    old = {}
    for i, row in enumerate(np.atleast_2d(rows)):
        new[f"m{i}"] = {"new": dict(enumerate((0.5 + row).tolist()))}
        old[f"m{i}"] = {"old": dict(enumerate([0.5] * len(row)))}
    return assay.gate(new, old, max_drop=DROP, **options)


def test_the_number_of_topics_that_is_stated_passes_with_the_stated_power() -> None:
    rng = np.random.default_rng(11)
    pilot = rng.normal(0, 1, 40)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1) * SD  # the sd seen is the true one
    result = gate_of(pilot)
    assert result.outcome == "undecided"
    assert result.topics_to_pass == result.measures[0].topics_to_pass == 156
    assert result.power == pytest.approx(chance_to_show(40, DROP / SD, ALPHA))
    draws = 2000
    rate = np.mean([passes(one)[0] for one in experiments(0.0, 156, draws, count=1)])
    assert 0.8 - error_of(0.8, draws) <= rate <= 0.81 + error_of(0.8, draws)


def test_the_gate_decides_as_its_bounds_do() -> None:
    for one in experiments(-DROP / 2, 60, 20):
        result = gate_of(one, test="t")
        assert [m.outcome == "pass" for m in result.measures] == passes(one).tolist()
        for measure in result.measures:
            assert (measure.outcome == "pass") == (measure.low >= -DROP)
            assert (measure.outcome == "fail") == (measure.high <= -DROP)


def dl_scores(measure: str) -> ScoreMatrix:
    """Scores per topic of TREC-DL 2019, as trec_eval printed them."""
    table: dict[str, dict[str, float]] = {}
    text = lzma.decompress(real_data("trec-dl-2019-passage/trec_eval-per-topic.tsv.xz").read_bytes()).decode()
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        if row["measure"] == measure and row["topic"] != "all":
            table.setdefault(row["run"], {})[row["topic"]] = float(row["value"])
    topics = sorted(next(iter(table.values())))
    whole = {run: scores for run, scores in table.items() if len(scores) == len(topics)}
    values = [[scores[topic] for topic in topics] for scores in whole.values()]
    return ScoreMatrix.of(values, runs=list(whole), topics=topics, measure=measure)


def covid_scores(folder: Path) -> ScoreMatrix:
    """nDCG@10 of every tenth run of TREC-COVID, round 1."""
    with tarfile.open(real_data("trec-covid-round1/runs.tar.xz")) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        archive.extractall(folder, members=members[::10], filter="data")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return assay.evaluate(files, real_data("trec-covid-round1/qrels.txt"), "nDCG@10")[0]


def passes_at_the_margin(matrix: ScoreMatrix, *, test: str = "auto", topics: int = 30) -> float:
    """Share of passes over pairs and drawn sets of topics, if the drop over all topics is what is allowed."""
    rng = np.random.default_rng(3)
    passed = []
    for _ in range(60):
        pair = rng.choice(len(matrix.runs), 2, replace=False).tolist()
        worse, better = sorted(pair, key=lambda place: matrix.averages()[place])
        differences = matrix.values[worse] - matrix.values[better]
        drop = max(1e-4, -float(differences.mean()))
        drawn = rng.integers(len(differences), size=(15, topics))
        passed.append(passes(differences[drawn], test, drop))
    return float(np.mean(passed))


@pytest.mark.parametrize(("measure", "most"), [("ndcg_cut_10", 0.07), ("map", 0.08), ("recip_rank", 0.05)])
def test_errors_hold_on_real_runs_of_deep_learning(measure: str, most: float) -> None:
    assert passes_at_the_margin(dl_scores(measure)) < most


def test_errors_hold_on_real_runs_of_covid(tmp_path: Path) -> None:
    assert passes_at_the_margin(covid_scores(tmp_path)) < 0.075
