"""Best, Average, Worst and percentiles: published tables, exact averages, and what the words mean."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.topics.exact import all_values
from assay.topics.extremes import best_topics, sample
from assay.topics.problem import Problem, problem
from assay.topics.search import search_subsets
from tests.topics.released import collection, made, trec8, trec8_top96

# Roitero 2020, Table 4.2: τ, all runs; Best, Best 1 %, Average, Worst 1 %, Worst at 20 %, 40 %, 60 % of the topics.
TABLE_4_2 = {
    "trec8-adhoc": [(0.92, 0.96, 0.97), (0.86, 0.91, 0.94), (0.80, 0.87, 0.91), (0.70, 0.81, 0.87), (0.48, 0.64, 0.77)],
    "robust2004": [(0.97, 0.98, 0.99), (0.91, 0.95, 0.97), (0.85, 0.91, 0.94), (0.76, 0.86, 0.90), (0.17, 0.43, 0.63)],
}


NAMED, LATER = (10, 20, 30), (11, 21, 31)


def every(ready: Problem, c: int) -> Floats:
    """The values of all subsets of c topics."""
    return np.concatenate([values for values, _ in all_values(ready, c)])


def five(matrix: ScoreMatrix, at: tuple[int, ...], *, by: str, repetitions: int) -> Floats:
    """Best, Best 1 %, Average, Worst 1 %, Worst at some cardinalities."""
    ready = problem(matrix)
    found = search_subsets(ready, search=by, cardinalities=at)
    drawn = sample(ready, repetitions=repetitions)
    curves = [drawn.upper[1.0], drawn.average, drawn.lower[1.0]]
    return np.array([found.values("best"), *([v[c - 1] for c in at] for v in curves), found.values("worst")])


@pytest.fixture(scope="module")
def trec8_rows() -> Floats:
    return five(trec8(), (*NAMED, *LATER), by="auto", repetitions=5000)


def test_table_4_2_of_trec8_at_the_cardinalities_named(trec8_rows: Floats) -> None:
    named, printed = np.sort(trec8_rows, axis=1)[:, [0, 2, 4]], np.array(TABLE_4_2["trec8-adhoc"])
    np.testing.assert_allclose(named[1:4], printed[1:4], atol=0.02)
    assert (named[4] <= printed[4]).all()
    np.testing.assert_allclose(named[0], printed[0], atol=0.0075)


def test_table_4_2_of_trec8_is_that_of_one_topic_more(trec8_rows: Floats) -> None:
    """At 11, 21 and 31 topics all fifteen cells come out as printed; at 10, 20 and 30 they are off by up to .024.

    So the printed cardinalities are one too low; with that Best of .96 at 40 % is reached (.956) and not missed (.954),
    and every Best is at least, every Worst at most the printed one, to the two digits printed.
    """
    ordered, printed = np.sort(trec8_rows, axis=1), np.array(TABLE_4_2["trec8-adhoc"])
    assert (ordered[0, [1, 3, 5]] >= printed[0] - 0.005).all()
    assert (ordered[4, [1, 3, 5]] <= printed[4] + 0.005).all()
    named, later = np.abs(ordered[:, [0, 2, 4]] - printed), np.abs(ordered[:, [1, 3, 5]] - printed)
    assert (later <= 0.0065).all()
    assert named.max() > 0.02
    assert named.mean() > 2 * later.mean()


def test_percentiles_fit_the_threshold_rather_than_the_mean_beyond() -> None:
    printed, at = np.array(TABLE_4_2["trec8-adhoc"][1]), [c - 1 for c in LATER]
    drawn = sample(problem(trec8()), repetitions=5000)
    assert np.abs(drawn.upper[1.0][at] - printed).mean() < np.abs(drawn.upper_mean[1.0][at] - printed).mean()


def test_table_4_2_of_robust() -> None:
    """Best at least and Worst at most as printed, at 20 %, 40 % and 60 % of 249 topics; the rest within .02."""
    printed = np.array(TABLE_4_2["robust2004"])
    found = five(collection("robust2004"), (50, 100, 149), by="swap(starts=8, rounds=12)", repetitions=500)
    np.testing.assert_allclose(found[1:4], printed[1:4], atol=0.02)
    assert (found[0] >= printed[0]).all()
    assert (found[4] <= printed[4]).all()


def test_average_series_of_the_published_96_runs() -> None:
    """5,000 samples on the released matrix; Roitero 2020, Section 2.4, has τ .8 at 22 topics and ρ .95 at 23."""
    tau, rho = (sample(problem(trec8_top96(), criterion=c), repetitions=5000).average for c in ("tau", "pearson"))
    expected_tau = {1: 0.277, 10: 0.654, 20: 0.775, 22: 0.793, 23: 0.801, 25: 0.815, 30: 0.848, 40: 0.907, 45: 0.939}
    expected_rho = {10: 0.862, 20: 0.942, 22: 0.950, 23: 0.954, 25: 0.960, 30: 0.973, 40: 0.990}
    for c, value in expected_tau.items():
        assert tau[c - 1] == pytest.approx(value, abs=0.004)
    for c, value in expected_rho.items():
        assert rho[c - 1] == pytest.approx(value, abs=0.004)


def test_most_subsets_are_good_from_half_on() -> None:
    """Berto et al. 2013: with 25 of 50 topics more than half of the subsets have ρ > .96, with 35 about 99 %."""
    drawn = sample(problem(trec8_top96(), criterion="pearson"), repetitions=2000, percentiles=(50.0, 2.0))
    assert drawn.upper[50.0][25 - 1] > 0.96
    assert drawn.lower[2.0][36 - 1] > 0.96


def test_small_cardinalities_are_exact() -> None:
    ready = problem(made(topics=8))
    drawn = sample(ready, repetitions=30)
    assert drawn.exact == {1, 2, 6, 7}
    for c in drawn.exact:
        values = np.concatenate([values for values, _ in all_values(ready, c)])
        assert drawn.average[c - 1] == pytest.approx(values.mean())


def test_samples_are_uniform() -> None:
    ready = problem(made(topics=8))
    drawn = sample(ready, repetitions=20_000)  # beyond 70 subsets of 4: exact; so draw by hand
    values = every(ready, 4)
    assert drawn.average[3] == pytest.approx(values.mean())
    few = sample(ready, repetitions=60).average[3]
    assert abs(few - values.mean()) < 4 * values.std() / np.sqrt(60)


@pytest.mark.parametrize("p", [1.0, 5.0, 10.0])
def test_threshold_and_mean_beyond(p: float) -> None:
    ready = problem(made(topics=12))
    drawn = sample(ready, repetitions=100, percentiles=(p,))
    values = np.sort(every(ready, 1))[::-1]
    k = ceil(p / 100 * 12)
    assert drawn.upper[p][0] == values[k - 1]
    assert drawn.upper_mean[p][0] == pytest.approx(values[:k].mean())
    assert drawn.lower[p][0] == values[-k]
    assert drawn.lower_mean[p][0] == pytest.approx(values[-k:].mean())


def test_error_rate_is_low_where_good() -> None:
    ready = problem(made(), criterion="error-rate")
    found = best_topics(ready, repetitions=200, holdout=False)
    best, average, worst = found.found.values("best"), found.sample.average, found.found.values("worst")
    assert (best <= average + 1e-12).all()
    assert (average <= worst + 1e-12).all()
    assert (found.sample.upper[1.0] <= found.sample.lower[1.0]).all()


def test_reaching() -> None:
    found = best_topics(made(runs=15, topics=20), search="swap(rounds=2)", repetitions=300, holdout=False)
    c = found.reaching(0.8)
    assert c is not None
    assert found.sample.average[c - 1] >= 0.8 > found.sample.average[c - 2]
    assert (found.reaching(0.8, "best") or 99) <= c <= (found.reaching(0.8, "worst") or 99)
    assert found.reaching(1.1) is None


def test_table_names_thresholds_and_means_apart() -> None:
    table = best_topics(made(), repetitions=50, percentiles=(5.0,), holdout=False).table(at=(2, 3))
    assert table.columns[2:8] == ("best", "best 5 %", "mean of best 5 %", "average", "mean of worst 5 %", "worst 5 %")
    assert [row[0] for row in table.rows] == [2, 3]
    assert "50 random subsets" in table.notes[1]


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match="percentiles between"):
        sample(problem(made()), percentiles=(0.0,))
    with pytest.raises(UsageError, match="repetitions"):
        sample(problem(made()), repetitions=0)


def test_why_subsets_were_not_tested_on_other_runs() -> None:
    few = ScoreMatrix.of(np.random.default_rng(1).random((5, 6)))
    assert best_topics(few, repetitions=20).remarks()[0] == "5 runs are too few to hold out half of them; 6 are needed"
    assert len(best_topics(few, repetitions=20, holdout=False).remarks()) == 1
    many = ScoreMatrix.of(np.random.default_rng(1).random((8, 6)))
    tested = best_topics(many, repetitions=20, held_out_at=(2, 4), splits=2)
    assert tested.tested is not None
    assert tested.tested.c == (2, 4)
    assert tested.remarks()[0].startswith(f"{tested.found.evaluations} subsets valued in ")
