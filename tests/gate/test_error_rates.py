"""How often is a gate wrong, and how often does it decide? By simulation, and by drawing topics of real runs again."""

from __future__ import annotations

import csv
import io
import lzma
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.data.scores import ScoreMatrix
from assay.gate.drops import decided
from assay.gate.gated import Gate
from assay.gate.topics_to_decide import chance_to_show
from assay.stats.paired import outcome_of
from tests.conftest import real_data

ALPHA = 0.05
DROP = 0.02
SD = 0.1


def error_of(share: float, draws: int) -> float:
    """Three standard errors of a share."""
    return 3 * float(np.sqrt(share * (1 - share) / draws))


def shown(rows: Any, *, correction: str = "holm", test: str = "t") -> Any:
    """Whether each row of one experiment passes: the decision that `gate` makes."""
    outcome = outcome_of(rows, test, alternative="greater", resamples=500)
    return decided(outcome.p, ALPHA, correction)[1]


def experiments(difference: float, topics: int, draws: int, *, correlation: float = 0.7, count: int = 3) -> Any:
    """Differences of correlated measures: draws × measures × topics, all with one true mean."""
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 1, (draws, 1, topics)) * np.sqrt(correlation)
    own = rng.normal(0, 1, (draws, count, topics)) * np.sqrt(1 - correlation)
    return difference + SD * (shared + own)


@pytest.mark.parametrize(("test", "draws"), [("t", 4000), ("randomisation", 1000), ("bootstrap-t", 1000)])
def test_a_run_at_the_margin_passes_at_most_as_often_as_alpha(test: str, draws: int) -> None:
    rows = experiments(-DROP, 40, draws, count=1) + DROP
    rate = np.mean([shown(one, test=test)[0] for one in rows])
    assert rate <= ALPHA + error_of(ALPHA, draws)
    assert rate >= ALPHA - error_of(ALPHA, draws) - 0.005  # and is not needlessly timid


@pytest.mark.parametrize("correlation", [0.0, 0.7, 0.95])
def test_errors_over_several_measures_are_held(correlation: float) -> None:
    draws = 2000
    rows = experiments(-DROP, 40, draws, correlation=correlation) + DROP
    passes = np.array([shown(one) for one in rows])
    fails = np.array([shown(-one) for one in rows])
    assert passes.any(axis=1).mean() <= ALPHA + error_of(ALPHA, draws)  # no measure passes wrongly
    assert fails.any(axis=1).mean() <= ALPHA + error_of(ALPHA, draws)  # and the gate does not fail wrongly
    assert passes.all(axis=1).mean() <= ALPHA
    # without a correction a pass, which takes all measures, is still held; a fail, which takes one, is not
    plain_pass = np.mean([shown(one, correction="none").all() for one in rows])
    plain_fail = np.mean([shown(-one, correction="none").any() for one in rows])
    assert plain_pass <= ALPHA + error_of(ALPHA, draws)
    if correlation < 0.9:
        assert plain_fail > ALPHA + error_of(ALPHA, draws)


def test_a_pass_is_wrong_at_most_as_often_as_alpha_where_one_measure_is_worse() -> None:
    draws = 2000
    rows = experiments(0.1, 40, draws, count=3) + DROP
    rows[:, 1] -= 0.1 + DROP  # one measure lies at its margin, the others are far above
    passes = np.array([shown(one).all() for one in rows])
    assert ALPHA - error_of(ALPHA, draws) <= passes.mean() <= ALPHA + error_of(ALPHA, draws)


@pytest.mark.parametrize("topics", [20, 60, 150])
def test_power_at_no_difference_is_what_the_plan_says(topics: int) -> None:
    draws = 3000
    rows = experiments(0.0, topics, draws, count=1) + DROP
    rate = np.mean([shown(one)[0] for one in rows])
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


def test_the_number_of_topics_that_is_stated_decides_with_the_stated_power() -> None:
    rng = np.random.default_rng(11)
    pilot = rng.normal(0, 1, 40)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1) * SD  # the sd seen is the true one
    result = gate_of(pilot)
    assert result.outcome == "undecided"
    assert result.topics_to_pass == result.measures[0].topics_at_zero == 156
    assert result.power == pytest.approx(chance_to_show(40, DROP / SD, ALPHA))
    draws = 3000
    rows = experiments(0.0, 156, draws, count=1) + DROP
    rate = np.mean([shown(one)[0] for one in rows])
    assert 0.8 - error_of(0.8, draws) <= rate <= 0.81 + error_of(0.8, draws)


def test_the_number_of_topics_at_the_difference_seen_decides_too() -> None:
    rng = np.random.default_rng(12)
    pilot = rng.normal(0, 1, 30)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1) * SD
    for seen in (-0.01, -0.04):  # one passes with more topics, one fails
        topics = gate_of(pilot + seen).measures[0].topics_at_seen
        assert topics is not None
        rows = experiments(seen, topics, 1000, count=1) + DROP
        sign = 1 if seen > -DROP else -1
        rate = np.mean([shown(sign * one)[0] for one in rows])
        assert rate == pytest.approx(0.8, abs=error_of(0.8, 1000) + 0.005)


def test_the_topics_of_several_measures_pass_them_all_with_at_least_the_stated_power() -> None:
    rng = np.random.default_rng(13)
    pilot = rng.normal(0, 1, (3, 40))
    pilot = (pilot - pilot.mean(axis=1, keepdims=True)) / pilot.std(axis=1, ddof=1, keepdims=True) * SD
    result = gate_of(pilot)
    assert result.topics_to_pass is not None
    draws = 1500
    for correlation in (0.0, 0.7):
        rows = experiments(0.0, result.topics_to_pass, draws, correlation=correlation) + DROP
        rate = np.mean([shown(one).all() for one in rows])
        assert rate >= 0.8 - error_of(0.8, draws)


def test_the_gate_decides_as_its_tests_do() -> None:
    for one in experiments(-DROP / 2, 60, 60):
        result = gate_of(one)
        assert [m.outcome == "pass" for m in result.measures] == shown(one + DROP).tolist()
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


def passes_at_the_margin(matrix: ScoreMatrix, *, relative: bool = False, test: str = "t", topics: int = 30) -> float:
    """Share of passes over pairs and drawn sets of topics, where the drop over all topics is what is allowed."""
    rng = np.random.default_rng(3)
    passes = []
    for _ in range(150):
        pair = rng.choice(len(matrix.runs), 2, replace=False).tolist()
        worse, better = sorted(pair, key=lambda place: matrix.averages()[place])
        new, old = matrix.values[worse], matrix.values[better]
        ratio = new.mean() / old.mean()
        above = new - ratio * old if relative else new - old + (old.mean() - new.mean())
        drawn = rng.integers(len(above), size=(40, topics))
        p = outcome_of(above[drawn], test, alternative="greater", resamples=500).p
        passes.append(p < ALPHA)
    return float(np.mean(passes))


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize(("measure", "most"), [("ndcg_cut_10", 0.07), ("map", 0.08)])
def test_errors_are_near_alpha_on_real_runs_of_deep_learning(measure: str, most: float, relative: bool) -> None:
    """Scores are not normal: on 30 topics the t test is near its level, not at it."""
    assert 0.03 < passes_at_the_margin(dl_scores(measure), relative=relative) < most


def test_reciprocal_rank_needs_more_topics() -> None:
    """Its differences are few and large. The how-to says what to do: more topics, or the studentised bootstrap."""
    scores = dl_scores("recip_rank")
    few = passes_at_the_margin(scores)
    assert 0.08 < few < 0.13
    assert passes_at_the_margin(scores, test="bootstrap-t") < few
    assert passes_at_the_margin(scores, topics=100) < 0.07


def test_errors_are_near_alpha_on_real_runs_of_covid(tmp_path: Path) -> None:
    assert 0.03 < passes_at_the_margin(covid_scores(tmp_path)) < 0.07
