"""Judged topics among predicted ones: the arithmetic, the choices, and TREC-8 and Robust 2004."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, linregress

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores
from assay.nojudgments.inject import CHOICES, MIXTURES, injected, injection
from assay.nojudgments.ranking import places
from tests.conftest import real_data


def pair(runs: int = 15, topics: int = 12, seed: int = 0) -> tuple[ScoreMatrix, ScoreMatrix]:
    """A truth, and a prediction with much noise and small scores, as Soboroff's are."""
    rng = np.random.default_rng(seed)
    truth = np.clip(0.3 + 0.1 * rng.normal(size=(runs, 1)) + 0.1 * rng.normal(size=(runs, topics)), 0, 1).round(4)
    seen = np.clip(0.02 + 0.03 * truth + 0.01 * rng.normal(size=truth.shape), 0, 1).round(5)
    return ScoreMatrix.of(seen, measure="soboroff"), ScoreMatrix.of(truth, measure="AP")


def test_columns_are_replaced() -> None:
    predicted, truth = pair()
    mixed = injected(predicted, truth, ["2", "5"])
    for j, topic in enumerate(truth.topics):
        source = truth if topic in ("2", "5") else predicted
        np.testing.assert_array_equal(mixed.values[:, j], source.values[:, j])
    with pytest.raises(UsageError, match="no topic '99'"):
        injected(predicted, truth, ["99"])
    few = truth.select(topics=["2", "5"])
    np.testing.assert_array_equal(injected(predicted, few, ["2", "5"]).values, mixed.values)
    np.testing.assert_array_equal(injected(predicted, few, [], mix="rescaled").values, predicted.values)


def test_rescaled_columns_have_the_moments_of_the_judged_ones() -> None:
    predicted, truth = pair()
    chosen = [t for t in truth.topics if int(t) <= 4]
    mixed = injected(predicted, truth, chosen, mix="rescaled")
    known = truth.select(topics=chosen).values
    rest = mixed.select(topics=[t for t in truth.topics if t not in chosen]).values
    assert rest.mean() == pytest.approx(known.mean(), abs=0.03)
    assert rest.std() == pytest.approx(known.std(), rel=0.2)


def test_weighted_columns_are_least_squares_fits_of_the_judged_means() -> None:
    predicted, truth = pair()
    judged = ["2", "5", "9"]
    mixed = injected(predicted, truth, judged, mix="weighted")
    means = truth.select(topics=judged).averages()
    for j, topic in enumerate(truth.topics):
        if topic in judged:
            np.testing.assert_array_equal(mixed.values[:, j], truth.values[:, j])
            continue
        line = linregress(predicted.values[:, j], means)
        fitted = line.intercept + line.slope * predicted.values[:, j] if line.slope > 0 else means.mean()
        np.testing.assert_allclose(mixed.values[:, j], (3 * means + fitted) / 4)


def test_weighted_columns_do_not_depend_on_the_scale_of_the_prediction() -> None:
    predicted, truth = pair()
    larger = ScoreMatrix.of(1000 * predicted.values - 7, measure="large")
    values = [injected(p, truth, ["1", "2"], mix="weighted").values for p in (predicted, larger)]
    np.testing.assert_allclose(values[0], values[1])


@pytest.mark.parametrize("useless", ["backwards", "constant"])
def test_a_prediction_that_is_no_good_leaves_the_judged_topics_alone(useless: str) -> None:
    _, truth = pair()
    values = -truth.averages()[:, None].repeat(12, axis=1) if useless == "backwards" else np.ones((15, 12))
    mixed = injected(ScoreMatrix.of(values), truth, ["3", "4"], mix="weighted")
    alone = truth.select(topics=["3", "4"]).averages()
    np.testing.assert_allclose(places(mixed.averages()), places(alone))


@pytest.mark.parametrize("choice", CHOICES.names())
@pytest.mark.parametrize("low", [False, True])
def test_every_choice_at_both_ends(choice: str, low: bool) -> None:
    predicted, truth = pair()
    result = injection(predicted, truth, choice, sizes=[1, 6, 11, 12], repetitions=3, low=low)
    assert result.taus.shape == (3 if choice in ("P1", "P3", "T4") else 1, 4)
    # All topics judged: nothing is predicted any more.
    np.testing.assert_allclose(result.taus[:, -1], 1)
    np.testing.assert_allclose(result.alone[:, -1], 1)
    assert "judged alone" in result.table().text()


def test_taus_are_those_of_injected_matrices() -> None:
    predicted, truth = pair()
    merit = [kendalltau(predicted.values[:, j], truth.values[:, j])[0] for j in range(12)]
    best = [truth.topics[j] for j in np.argsort(-np.array(merit).round(12), kind="stable")[:4]]
    for mix in MIXTURES.names():
        result = injection(predicted, truth, "T1", sizes=[4], mix=mix)
        mixed = injected(predicted, truth, best, mix=mix)
        assert result.taus[0, 0] == pytest.approx(kendalltau(mixed.averages().round(9), truth.averages().round(9))[0])
    assert result.none == pytest.approx(kendalltau(predicted.averages().round(9), truth.averages().round(9))[0])


def test_repetitions_are_seeded_and_have_spread() -> None:
    predicted, truth = pair()
    one, again = (injection(predicted, truth, sizes=[3], repetitions=30, seed=1).taus for _ in range(2))
    np.testing.assert_array_equal(one, again)
    assert one.std() > 0


def test_best_subsets_beat_worst_ones_and_random() -> None:
    predicted, truth = pair(topics=20)
    best, worst, chance = (
        injection(predicted, truth, c, sizes=[6], repetitions=5, low=low).taus.mean()
        for c, low in (("T4", False), ("T4", True), ("P1", False))
    )
    assert worst < chance < best


@pytest.mark.parametrize(
    ("file", "sizes", "alone"),
    [
        # Mean τ of random subsets of the released matrices: TREC-8 c = 5, 10, 20, 30; Robust 2004 c = 25, 50, 100.
        ("trec8-adhoc_ap.csv", [5, 10, 20, 30], [0.696, 0.785, 0.862, 0.906]),
        ("robust2004_ap.csv", [25, 50, 100], [0.782, 0.853, 0.909]),
    ],
)
def test_random_judged_topics_alone(file: str, sizes: list[int], alone: list[float]) -> None:
    (truth,) = read_scores(real_data(f"trec-score-matrices/named/{file}"))
    noise = ScoreMatrix.of(np.random.default_rng(0).uniform(0, 1e-6, truth.shape), runs=truth.runs, topics=truth.topics)
    result = injection(noise, truth, "P1", sizes=sizes, repetitions=300)
    assert result.alone.mean(axis=0) == pytest.approx(alone, abs=0.01)
    # A prediction that weighs nothing changes nothing: the gain is all from the judged topics.
    np.testing.assert_allclose(result.taus.mean(axis=0), result.alone.mean(axis=0), atol=0.005)


def test_hubness_of_trec_8() -> None:
    """Mizzaro & Robertson's hubs on all 129 runs: no negative hub, and these at the two ends."""
    (truth,) = read_scores(real_data("trec-score-matrices/named/trec8-adhoc_ap.csv"))
    hubs = CHOICES["T5"].function(truth, truth, np.random.default_rng(0))
    assert (hubs > 0).all()
    order = [truth.topics[j] for j in np.argsort(-hubs)]
    assert order[:5] == ["410", "444", "423", "403", "430"]
    assert set(order[-5:]) == {"443", "421", "439", "437", "432"}
    ease = truth.values.mean(axis=0)
    assert np.corrcoef(hubs, ease)[0, 1] == pytest.approx(0.9239, abs=5e-5)
    assert kendalltau(hubs, ease)[0] == pytest.approx(0.7927, abs=5e-5)


def test_bad_input() -> None:
    predicted, truth = pair()
    with pytest.raises(UsageError, match="between 1 and 12"):
        injection(predicted, truth, sizes=[13])
    with pytest.raises(UsageError, match="mixture of judged and predicted topics"):
        injection(predicted, truth, mix="shaken")
    with pytest.raises(UsageError, match="choice of topics"):
        injection(predicted, truth, "P9")
    with pytest.raises(DataError, match=r"share 0 run\(s\)"):
        injection(predicted, ScoreMatrix.of([[1.0]], runs=["x"]))
    with pytest.raises(DataError, match="every run has the same scores"):
        injection(ScoreMatrix.of(np.ones((15, 12))), truth, "P4")
