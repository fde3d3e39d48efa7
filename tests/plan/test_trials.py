"""Trials: the thesis's example, the best trial size, and that an inflated σ really gives the power."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.plan.powers import power
from assay.plan.trials import best_trial, inflated_sigma, trial_plan
from assay.stats.t_power import power_of


def test_inflation() -> None:
    """s(1 + 1.645/√(2m)): 20 topics about 25 % (1.2601), s = .15 after 40 topics .178 (.17759)."""
    assert inflated_sigma(1, 20) == pytest.approx(1.26, abs=5e-4)
    assert inflated_sigma(0.15, 40) == pytest.approx(0.17759, abs=5e-6)


def test_example_of_the_thesis() -> None:
    """σ .15, δ .033, trial of 40: printed .178, 231 + 40 = 271 and 164.

    231 comes from .178 as printed; the σ before rounding, .17759, needs 230, in all 270. 164 is 164.10 rounded.
    """
    assert round(inflated_sigma(0.15, 40), 3) == 0.178
    assert power(delta=0.033, sigma=0.178).topics + 40 == 271
    plan = trial_plan(0.15, 40, delta=0.033)
    assert (plan.main, plan.total, plan.hopeful) == (230, 270, 165)
    assert power(delta=0.033, sigma=0.15).exact_topics == pytest.approx(164.10, abs=5e-3)
    assert round((power(delta=0.033, sigma=0.178).topics + 40) / 164, 2) == 1.65


@pytest.mark.parametrize(("sigma", "trial", "total"), [(0.10, 18, 137), (0.15, 31, 270), (0.20, 49, 443)])
def test_best_trial(sigma: float, trial: int, total: int) -> None:
    """20 to 50 topics for the σ of AP, and a flat optimum."""
    found = best_trial(sigma, delta=0.033)
    assert (found.best.trial, found.best.total) == (trial, total)
    near = [p.total for p in found.plans if trial / 2 <= p.trial <= 2 * trial]
    assert max(near) <= 1.1 * total
    assert f"a trial of {trial} topics" in found.table().text()


@pytest.mark.parametrize(("exact", "kept"), [(False, 0.914), (True, 0.95)])
def test_how_often_the_planned_power_is_reached(exact: bool, kept: float) -> None:
    """Normal differences, trial of 40: the limit by χ² keeps its 95 %; the thesis's normal limit reaches 91 %."""
    rng = np.random.default_rng(9)
    sds = rng.normal(0, 0.15, size=(50_000, 40)).std(axis=1, ddof=1)
    factor = inflated_sigma(1, 40, exact=exact)
    assert (sds * factor >= 0.15).mean() == pytest.approx(kept, abs=0.006)
    planned = trial_plan(0.15 / factor, 40, delta=0.033, exact=exact)
    assert 0.8 <= float(power_of(planned.main, 0.033 / 0.15)) < 0.804  # a σ just inflated to the truth


def test_bad_trials() -> None:
    for bad in ({"sigma": 0.0, "trial": 20}, {"sigma": 0.1, "trial": 1}):
        with pytest.raises(UsageError):
            inflated_sigma(**bad)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="delta"):
        trial_plan(0.1, 20, delta=0)
    with pytest.raises(UsageError, match="confidence"):
        trial_plan(0.1, 20, delta=0.1, confidence=1)
