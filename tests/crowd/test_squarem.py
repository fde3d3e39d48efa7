"""Where an EM ends, and how soon: Hasselblad's deaths, real labels on which the log-likelihood settles too early."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln

from assay.agreement.ratings import Ratings
from assay.agreement.scales import S2, Scale
from assay.core.arrays import Floats
from assay.crowd import graded, hidden_line, latent
from assay.crowd.aggregation import aggregate
from assay.crowd.eases import glad_model, glad_start
from assay.crowd.latent import dawid_skene, dawid_skene_model, fit_from, one_coin_model
from assay.crowd.spammers import mace_model
from assay.crowd.squarem import Expected, Fit, Model, fitted
from tests.crowd.peers import binary_labels
from tests.crowd.simulated import categories, numbers

DEATHS = np.array([162, 267, 271, 185, 111, 61, 27, 8, 3, 1.0])
START = np.array([0.3, 1.0, 2.5])


def two_poissons() -> Model:
    """Hasselblad 1969: days with 0, 1, … 9 deaths as a mixture of two Poissons; seen are the parameters themselves."""
    count = np.arange(len(DEATHS))

    def expect(state: Floats) -> Expected:
        share, *means = state.tolist()
        logs = [np.log(p) - m + count * np.log(m) - gammaln(count + 1) for p, m in zip((share, 1 - share), means)]
        both = np.logaddexp(*logs)
        return Expected(state, float((DEATHS * both).sum()), np.exp(logs[0] - both))

    def maximise(_: Floats, expected: Expected) -> Floats:
        first, second = DEATHS * expected.rest, DEATHS * (1 - expected.rest)
        means = (first * count).sum() / first.sum(), (second * count).sum() / second.sum()
        return np.array([first.sum() / DEATHS.sum(), *means])

    return Model(expect, maximise)


@pytest.mark.parametrize(("tolerance", "plain", "squared"), [(1e-4, 407, 38), (1e-6, 1456, 74), (1e-8, 2516, 98)])
def test_hasselblads_deaths(tolerance: float, plain: int, squared: int) -> None:
    slow = fitted(two_poissons(), START, iterations=9999, tolerance=tolerance, plain=True)
    fast = fitted(two_poissons(), START, tolerance=tolerance)
    assert (slow.maps, fast.maps) == (plain, squared)
    assert np.diff(fast.history).min() > -1e-12
    if tolerance == 1e-4:
        assert slow.state[0] == pytest.approx(0.347206, abs=5e-7)
    if tolerance == 1e-8:
        assert fast.state == pytest.approx([0.359885, 1.256094, 2.663403], abs=5e-7)
        assert fast.likelihood == pytest.approx(-1989.945860, abs=5e-7)


def test_too_few_maps_are_not_convergence() -> None:
    stopped = fitted(two_poissons(), START, iterations=10)
    assert (stopped.maps, stopped.converged) == (10, False)
    assert stopped.ending().startswith("stopped, not converged, after 10 iterations (log-likelihood -19")
    nothing = fitted(two_poissons(), START, iterations=0)
    assert (nothing.maps, nothing.converged) == (0, False)


def models(answers: Ratings) -> dict[str, tuple[Model, Floats]]:
    """Every model that EM fits, with its start."""
    votes = answers.votes()
    shares = Expected(votes / votes.sum(axis=1, keepdims=True), 0.0)
    of_workers = np.bincount(answers.worker, minlength=len(answers.workers))
    nobody = np.empty(0)
    found = {}
    for smoothing in (0.0, 0.5):
        matrices = dawid_skene_model(answers, latent._by_worker_and_answer(answers), smoothing)
        coins = one_coin_model(answers, latent._by_item_and_answer(answers), smoothing)
        found[f"dawid-skene {smoothing}"] = (matrices, matrices.maximise(nobody, shares))
        found[f"one-coin {smoothing}"] = (coins, coins.maximise(nobody, shares))
    found["glad"] = (glad_model(answers), glad_start(answers))
    spammers = mace_model(answers, 0.5, 10.0)
    honest = np.random.default_rng(0).random(len(answers))
    found["mace"] = (spammers, spammers.maximise(nobody, Expected(votes, 0.0, honest)))
    groups = np.zeros(len(answers.items), dtype=np.int64)
    worths = graded._IntervalModel(answers.item, answers.worker, answers.value, groups, of_workers)
    found["interval"] = (worths.model(), worths.start())
    levels = hidden_line._OrdinalModel(answers.item, answers.worker, answers.answer, of_workers, len(answers.items))
    found["ordinal"] = (levels.model(), levels.start())
    return found


@pytest.mark.parametrize("seed", range(3))
def test_no_map_lowers_what_it_raises_and_extrapolation_ends_at_the_same_place(seed: int) -> None:
    quality = np.random.default_rng(seed).uniform(0.4, 0.95, 20)
    labels, _ = categories(quality, docs=150, per_doc=5, seed=seed, levels=3)
    answers = Ratings.of_labels(labels, scale=Scale.ordered(3), repeats="all")
    for name, (model, start) in models(answers).items():
        slow = fitted(model, start, iterations=20_000, tolerance=1e-7, plain=True)
        fast = fitted(model, start, tolerance=1e-7)
        assert fast.converged, name
        assert fast.maps < slow.maps, name
        assert np.diff(slow.history).min() > -1e-8, name
        assert np.diff(fast.history).min() > -1e-8, name
        assert fast.likelihood > slow.likelihood - 1e-4, name
        if fast.likelihood < slow.likelihood + 1e-4:
            np.testing.assert_allclose(fast.posterior, slow.posterior, atol=1e-3, err_msg=name)


@cache
def votes_fit(**how: object) -> tuple[Ratings, Fit]:
    """Dawid–Skene on the labels of one team of TREC 2011."""
    answers = Ratings.of_labels(binary_labels("votes"), scale=S2, repeats="all")
    model = dawid_skene_model(answers, latent._by_worker_and_answer(answers), 0.0)
    votes = answers.votes()
    return answers, fit_from(model, votes / votes.sum(axis=1, keepdims=True), **{"iterations": 2000, **how})  # type: ignore[arg-type]


def test_a_likelihood_that_settles_is_not_yet_the_end() -> None:
    # By the change of the log-likelihood, 1e-9 of it, this fit was called converged after 181 maps, at −9009.1908;
    # there is more to climb, and at the end another doc is relevant.
    _, early = votes_fit(plain=True, iterations=180)
    _, late = votes_fit(plain=True, iterations=10_000, tolerance=1e-8)
    _, squared = votes_fit()
    assert early.likelihood == pytest.approx(-9009.1908, abs=5e-5)
    assert late.likelihood == pytest.approx(-9008.8972, abs=5e-5)
    assert squared.likelihood == pytest.approx(late.likelihood, abs=5e-5)
    assert early.change > 1e-4 > 1e-6 > squared.change
    assert squared.maps < late.maps / 3
    assert (squared.posterior.argmax(axis=1) == late.posterior.argmax(axis=1)).all()
    assert (early.posterior.argmax(axis=1) != late.posterior.argmax(axis=1)).sum() == 1


def test_the_note_says_what_was_reached() -> None:
    answers, squared = votes_fit()
    told = dawid_skene(answers).notes[0]
    assert told == f"Dawid–Skene: {squared.ending()}"
    assert f"converged after {squared.maps} iterations (log-likelihood -9008.8972, " in told
    stopped = dawid_skene(answers, iterations=50).notes[0]
    assert "stopped, not converged, after 50 iterations" in stopped


def test_models_of_numbers_say_what_was_reached() -> None:
    item, worker, value, _ = numbers(np.zeros(8), np.full(8, 9.0), docs=40, per_doc=4)
    answers = Ratings.of([f"d{i}" for i in item], value, worker=[f"w{i}" for i in worker])
    fit = graded.worth_of(answers.item, answers.worker, answers.value, np.zeros(40, int), 100).fit
    assert fit.converged
    labels, _ = categories(np.full(8, 0.8), docs=40, per_doc=4)
    judged = aggregate(labels, "ordinal")
    assert "converged after" in judged.notes[0]
    assert "the last changed a worth by" in judged.notes[0]
    assert "not converged" in aggregate(labels, "ordinal(iterations=3)").notes[0]
