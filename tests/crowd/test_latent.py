"""Dawid–Skene, one coin, GLAD, MACE: against plain loops and on simulated workers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agreement.ratings import Ratings
from assay.agreement.scales import S2, S100, Scale
from assay.core.errors import DataError
from assay.crowd import latent, spammers
from assay.crowd.aggregation import aggregate
from assay.crowd.eases import glad, glad_model, glad_start
from assay.crowd.latent import dawid_skene, dawid_skene_model, fit_from, one_coin, oriented
from assay.crowd.spammers import mace, mace_model
from assay.crowd.squarem import fitted
from assay.data import Labels
from tests.crowd.simulated import categories
from tests.oracles import crowd as oracle

QUALITY = np.repeat([0.95, 0.8, 0.55], [8, 8, 14])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=3, max_size=30))
@settings(max_examples=40, deadline=None)
def test_dawid_skene_is_the_plain_loop(rows: list[tuple[int, int, int]]) -> None:
    labels = Labels.from_rows([("1", f"d{d}", f"w{w}", y) for d, w, y in rows])
    answers = Ratings.of_labels(labels, scale=Scale.ordered(3), repeats="all")
    votes = answers.votes()
    start = votes / votes.sum(axis=1, keepdims=True)
    model = dawid_skene_model(answers, latent._by_worker_and_answer(answers), 0.0)
    # The first of the four steps gives the parameters from which a fit begins.
    ours = fit_from(model, start, iterations=3, tolerance=-1.0, plain=True)
    plain = oracle.dawid_skene([(f"d{d}", f"w{w}", y) for d, w, y in rows], levels=3, iterations=4)
    raw = np.array([plain[d] for _, d in answers.items])
    np.testing.assert_allclose(ours.posterior, raw, atol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=3, max_size=30))
@settings(max_examples=40, deadline=None)
def test_mace_is_the_plain_loop_and_its_bound_never_falls(rows: list[tuple[int, int, int]]) -> None:
    labels = Labels.from_rows([("1", f"d{d}", f"w{w}", y) for d, w, y in rows])
    answers = Ratings.of_labels(labels, scale=Scale.ordered(3), repeats="all")
    rng = np.random.default_rng(len(rows))
    spam, habit = (spammers._shares(rng.uniform(1, 2.5, (len(answers.workers), k))) for k in (2, 3))
    model = mace_model(answers, 0.5, 10.0)
    start = model.maximise(np.empty(0), spammers._expected(answers, spam, habit))
    fit = fitted(model, start, iterations=5, tolerance=-1.0, plain=True)
    begin = [dict(zip(answers.workers, values.tolist(), strict=True)) for values in (spam, habit)]
    plain = [(f"d{d}", f"w{w}", y) for d, w, y in rows]
    posterior, counts = oracle.mace(plain, levels=3, iterations=6, spam=begin[0], habit=begin[1])
    np.testing.assert_allclose(fit.posterior, [posterior[d] for _, d in answers.items], atol=1e-9)
    assert fit.likelihood == pytest.approx(oracle.mace_bound(plain, counts, levels=3), abs=1e-9)
    assert np.diff(fit.history).min() > -1e-9


def test_mace_bound_lies_below_the_likelihood() -> None:
    # One label of one worker: truth, spamming and habit can be summed out by hand, P = 1/2 · (2 · 1/2 · 1/2 + 1/2).
    judged = mace(Ratings.of_labels(Labels.from_rows([("1", "a", "w", 1.0)]), scale=S2, repeats="all"))
    assert -1.5 < _told(judged.notes[0], "evidence lower bound") < np.log(0.5)


def test_glad_density_sums_the_truth_out() -> None:
    labels, _ = categories(QUALITY[::6], docs=4, per_doc=3, seed=5, levels=3)
    answers = Ratings.of_labels(labels, scale=Scale.ordered(3), repeats="all")
    n = len(answers.workers)
    state = np.random.default_rng(1).normal(1, 0.5, n + len(answers.items))
    density = sum(-0.5 * (v - 1) ** 2 - 0.5 * np.log(2 * np.pi) for v in state.tolist())
    for item in range(len(answers.items)):
        total = 0.0
        for truth in range(3):
            chance = 1 / 3
            for w, y in zip(answers.worker[answers.item == item], answers.answer[answers.item == item], strict=True):
                right = 1 / (1 + np.exp(-state[w] * np.exp(state[n + item])))
                chance *= right if y == truth else (1 - right) / 2
            total += chance
        density += np.log(total)
    assert glad_model(answers).expect(state).value == pytest.approx(density)


@pytest.mark.parametrize("seed", range(20))
def test_glad_never_lowers_the_density_and_ends_where_a_minimiser_does(seed: int) -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    labels, _ = categories(rng.uniform(0.1, 0.95, 8), docs=12, per_doc=4, seed=seed, levels=3)
    answers = Ratings.of_labels(labels, scale=Scale.ordered(3), repeats="all")
    fit = fitted(glad_model(answers), glad_start(answers))
    assert fit.converged
    assert np.diff(fit.history).min() > -1e-9
    # At the end of an EM its M-step stays where it is, whoever takes it.
    own = fit.posterior[answers.item, answers.answer]
    columns = (answers.item, answers.worker, own)
    _, slope = oracle.glad_loss(fit.state, *columns, levels=3)
    assert np.abs(slope).max() < 1e-4
    best = minimize(oracle.glad_loss, fit.state, (*columns, 3), "CG", jac=True, options={"gtol": 1e-8})
    np.testing.assert_allclose(best.x, fit.state, atol=1e-4)


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad", "mace", "weighted"])
def test_better_than_majority_where_quality_differs(method: str) -> None:
    ours, plain = [], []
    for seed in range(4):
        labels, truth = categories(QUALITY, docs=300, per_doc=7, seed=seed)
        ours.append((aggregate(labels, method).grade == truth).mean())
        plain.append((aggregate(labels, "majority").grade == truth).mean())
    assert np.mean(ours) > np.mean(plain) + 0.02


@pytest.mark.parametrize(
    ("method", "fact"), [("dawid-skene", "accuracy"), ("one-coin", "accuracy"), ("glad", "ability"), ("mace", "honest")]
)
def test_worker_ranking_recovers_the_known_order(method: str, fact: str) -> None:
    from scipy.stats import spearmanr

    quality = np.linspace(0.5, 0.97, 25)
    labels, _ = categories(quality, docs=800, per_doc=8, seed=3)
    found = aggregate(labels, method).workers
    assert spearmanr(quality, [found[w][fact] for w in labels.workers]).statistic > 0.95


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin"])
def test_intervals_cover_and_probabilities_are_honest(method: str) -> None:
    inside, probability, right = [], [], []
    for seed in range(6):
        labels, truth = categories(QUALITY, docs=500, per_doc=9, seed=seed, levels=3)
        judged = aggregate(labels, method, scale=Scale.ordered(3))
        inside.append(((judged.low <= truth) & (truth <= judged.high)).mean())
        probability.append(judged.probability.mean())
        right.append((judged.grade == truth).mean())
    assert np.mean(inside) > 0.94
    assert np.mean(probability) == pytest.approx(np.mean(right), abs=0.02)


def test_restarts_never_lower_the_likelihood_and_are_reproducible() -> None:
    labels, _ = categories(np.full(10, 0.7), docs=60, per_doc=4, seed=1)
    one, many = (aggregate(labels, "dawid-skene", restarts=r) for r in (1, 5))
    assert "best of 5 starts" in many.notes[0]
    again = aggregate(labels, "dawid-skene", restarts=5)
    np.testing.assert_array_equal(many.posterior, again.posterior)
    assert _told(many.notes[0], "log-likelihood") >= _told(one.notes[0], "log-likelihood")


def _told(note: str, what: str) -> float:
    """The number that a note gives."""
    return float(note.partition(f"{what} ")[2].partition(",")[0])


def test_a_start_that_ends_with_exchanged_levels_is_turned() -> None:
    labels, truth = categories(np.full(12, 0.9), docs=100, per_doc=6, seed=2)
    answers = Ratings.of_labels(labels, scale=S2, repeats="all")
    exchanged = np.eye(2)[1 - truth]
    assert (np.argmax(oriented(exchanged, answers), axis=1) == truth).all()


def test_stopping_early_is_said() -> None:
    labels, _ = categories(QUALITY, docs=100, per_doc=5)
    assert "stopped, not converged, after 2 iterations" in aggregate(labels, "dawid-skene(iterations=2)").notes[0]


def test_numbers_are_refused_with_advice() -> None:
    answers = Ratings.of_labels(Labels.from_rows([("1", "a", "w", 40.0)]), scale=S100, repeats="all")
    with pytest.raises(DataError, match="cut the scale first"):
        dawid_skene(answers)


def test_one_label_of_one_worker_is_no_trouble() -> None:
    answers = Ratings.of_labels(Labels.from_rows([("1", "a", "w", 1.0)]), scale=S2, repeats="all")
    for model in (dawid_skene, one_coin, glad, mace):
        judged = model(answers)
        assert judged.grade.tolist() == [1]
        assert np.isfinite(judged.probability).all()
