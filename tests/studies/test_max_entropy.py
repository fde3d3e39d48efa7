"""The most uncertain list behind a score, against a general optimizer; and which score says most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from assay.core.errors import UsageError
from assay.measures import parse
from assay.studies.max_entropy import _ap, curve_errors, entropy_study, most_uncertain
from assay.studies.simulate import simulate


def by_optimizer(hits: np.ndarray, relevant: float, weights: np.ndarray | None) -> np.ndarray:
    """Largest entropy under both constraints by scipy's SLSQP; weights None: AP."""
    n = len(hits)
    wanted = hits.sum()

    def score(p: np.ndarray) -> float:
        if weights is None:
            return float(_ap(p[None], np.array([relevant]))[0])
        return float(weights @ p)

    def negative_entropy(p: np.ndarray) -> float:
        q = np.clip(p, 1e-12, 1 - 1e-12)
        return float((q * np.log(q) + (1 - q) * np.log(1 - q)).sum())

    goal = score(hits)
    constraints: list[Any] = [
        {"type": "eq", "fun": lambda p: p.sum() - wanted},
        {"type": "eq", "fun": lambda p: score(p) - goal},
    ]
    found = minimize(
        negative_entropy,
        np.full(n, wanted / n),
        method="SLSQP",
        bounds=[(1e-9, 1 - 1e-9)] * n,
        constraints=constraints,
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    return np.asarray(found.x)


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
@pytest.mark.parametrize("name", ["AP", "P@4", "RBP(p=0.8)", "Rprec"])
def test_it_is_what_an_optimizer_finds(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hits = np.zeros(12)
    hits[rng.choice(12, size=5, replace=False)] = 1
    relevant = np.array([7.0])
    ours = most_uncertain(hits[None].astype(bool), relevant, parse(name))[0]
    weights = {
        "AP": None,
        "P@4": np.where(np.arange(12) < 4, 0.25, 0.0),
        "RBP(p=0.8)": 0.2 * 0.8 ** np.arange(12),
        "Rprec": np.where(np.arange(12) < 7, 1 / 7, 0.0),
    }[name]
    theirs = by_optimizer(hits, 7.0, weights)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    assert ours.sum() == pytest.approx(5, abs=1e-4)


def test_a_score_at_the_end_of_its_range_leaves_one_answer() -> None:
    """All relevant docs in the first R ranks: 5 of the first 7, and none below."""
    hits = np.array([[1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0]], dtype=bool)
    guessed = most_uncertain(hits, np.array([7.0]), parse("Rprec"))[0]
    np.testing.assert_allclose(guessed, [5 / 7] * 7 + [0] * 5, atol=1e-3)


def test_a_guess_that_is_the_list_has_no_error() -> None:
    lists = np.array([[True, False, True, True, False], [False, False, True, False, True]])
    assert curve_errors(lists, lists.astype(float)).tolist() == pytest.approx([0, 0])


def test_average_precision_says_more_than_precision_at_ten() -> None:
    """The finding of Aslam et al. 2005 that Webber 2010, s. 3.2.5 repeats."""
    made = simulate(topics=10, docs=300, depth=100, runs_per_group=2, manual_runs=0)
    found = entropy_study(made.runs, made.qrels, [parse("AP"), parse("Rprec"), parse("P@10")], depth=100)
    ap, rprec, p10 = found.errors.mean(axis=1)
    assert ap < rprec < p10
    assert found.table().column("measure") == ["AP", "Rprec", "P@10"]


def test_other_measures_are_refused() -> None:
    made = simulate(topics=2, docs=50, depth=10, runs_per_group=1, manual_runs=0)
    with pytest.raises(UsageError, match="neither AP nor a weighted sum"):
        entropy_study(made.runs, made.qrels, [parse("ERR")])
