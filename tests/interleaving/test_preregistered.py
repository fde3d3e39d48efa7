"""Plans: numbers against statsmodels and by simulation; files that are sealed; looking early is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.power import NormalIndPower

from assay.core.errors import AssayError, DataError, UsageError
from assay.interleaving import analyse_planned, interleave, plan_interleaving, read_plan
from assay.interleaving.looks import growth
from assay.interleaving.preregistered import of_pilot


def log_of(n: int, delta: float, *, seed: int = 0, ties: float = 0.0) -> list[tuple[str, str]]:
    rng = np.random.default_rng(seed)
    chance = 0.5 + delta / (1 - ties)
    draws = rng.random((n, 2))
    return [(f"u{i}", "tie" if tie < ties else ("a" if won < chance else "b")) for i, (tie, won) in enumerate(draws)]


@pytest.mark.parametrize(
    ("effect", "ties", "design", "looks"), [(0.05, 0.0, 1.0, 1), (0.02, 0.3, 1.5, 1), (0.1, 0.1, 2, 4)]
)
def test_the_number_of_impressions_is_that_of_statsmodels(
    effect: float, ties: float, design: float, looks: int
) -> None:
    sigma = np.sqrt(((1 - ties) / 4 - effect**2) * design)
    # a one-sample z test; the lower tail, which no experiment is made for, is left out of the power
    expected = NormalIndPower().solve_power(effect / sigma, alpha=0.025, power=0.8, ratio=0, alternative="larger")
    plan = plan_interleaving(effect, ties=ties, design=design, looks=looks)
    assert plan.impressions == int(np.ceil(expected * growth(looks))) if looks > 1 else int(np.ceil(expected))


def test_looks_cost_what_is_printed() -> None:
    """Bonferroni over four looks takes 1.321 times the impressions of one look, spending 1.031."""
    one, four = plan_interleaving(0.02), plan_interleaving(0.02, looks=4)
    assert four.impressions / one.impressions == pytest.approx(1.031, abs=1e-3)
    pocock = plan_interleaving(0.02, looks=4, spending="pocock")
    assert pocock.impressions / one.impressions == pytest.approx(1.202, abs=1e-3)
    assert max(four.alphas) < 0.05
    assert sum(four.alphas) > 0.05


def test_the_planned_power_is_reached() -> None:
    plan = plan_interleaving(0.1, ties=0.2)
    found = 0
    for seed in range(300):
        one = analyse_planned(log_of(plan.impressions, 0.1, seed=seed, ties=0.2), plan).preferences[0]
        found += one.p is not None and one.p < 0.05
    assert 0.73 <= found / 300 <= 0.87


def test_several_looks_keep_the_level() -> None:
    plan = plan_interleaving(0.1, looks=4)
    wrong = 0
    for seed in range(200):
        log = log_of(plan.impressions, 0.0, seed=seed)
        ps = [analyse_planned(log[:n], plan).preferences[0].p for n in plan.looks_at]
        wrong += any(p is not None and p < alpha for p, alpha in zip(ps, plan.alphas, strict=True))
    assert wrong / 200 <= 0.075


def test_a_pilot_says_ties_and_design_effect() -> None:
    log = [(f"u{i // 4}", "a" if (i // 4) % 2 else "b") for i in range(80)]
    log += [(f"t{i}", "tie") for i in range(20)]
    ties, design = of_pilot(log)
    one = interleave(log).preferences[0]
    assert ties == 0.2
    assert design == pytest.approx(max(1.0, one.error**2 * 100 / 0.2))
    assert plan_interleaving(0.05, pilot=log).design == design
    assert of_pilot([(f"u{i}", "ab"[i % 2]) for i in range(50)])[1] == pytest.approx(50 / 49)
    with pytest.raises(DataError, match="1 systems win"):
        of_pilot([("x", "a"), ("y", "a")])


def test_looking_early_is_refused_and_what_comes_later_is_left_out(tmp_path: Path) -> None:
    plan = plan_interleaving(0.1)
    with pytest.raises(
        UsageError, match=r"impressions: 100 impressions count, and the plan says 189; collect the others"
    ):
        analyse_planned(log_of(100, 0.1), plan)
    log = log_of(400, 0.1)
    found = analyse_planned(log, plan)
    assert found.preferences[0].n == plan.impressions == 189
    assert found.preferences[0].wins == interleave(log[:189]).preferences[0].wins
    assert (
        "as planned: the one look, the first 189 impressions, and 211 later ones are left out; α = 0.05"
        in found.table().notes
    )
    looks = plan_interleaving(0.1, looks=2)
    assert looks.looks_at == (96, 191)
    half = analyse_planned(log[:150], looks)
    assert half.preferences[0].n == 96
    assert half.level == pytest.approx(1 - 0.00557, abs=1e-4)
    assert any("look 1 of 2" in note for note in half.table().notes)
    # only impressions that count are counted: 189 with clicks among 400
    path = tmp_path / "clicks.csv"
    rows = [f"u{i},{int(i % 2 and i % 3)},{int(i % 2 and not i % 3)}" for i in range(300)]
    path.write_text("user,clicks_a,clicks_b\n" + "\n".join(rows) + "\n")
    with pytest.raises(UsageError, match="150 impressions count"):
        analyse_planned(path, plan)


def test_a_plan_is_sealed_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan = plan_interleaving(0.05, system="new", baseline="old")
    plan.save(path)
    assert read_plan(path) == plan
    with pytest.raises(UsageError, match="there is a plan already, and a plan is not changed midway"):
        plan_interleaving(0.1).save(path)
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({**facts, "impressions": 100}))
    with pytest.raises(DataError, match="the plan was changed after it was written"):
        read_plan(path)
    for text, message in (("{", "it is no JSON"), ("[]", "not a plan"), ('{"effect": 1}', "not a plan")):
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            read_plan(path)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"effect": 0.0}, "effect must lie between 0 and 0.5, not 0"),
        ({"effect": 0.5}, "effect must lie between"),
        ({"effect": 0.1, "alpha": 1.0}, "alpha must lie between"),
        ({"effect": 0.1, "power": 0.0}, "power must lie between"),
        ({"effect": 0.1, "ties": 1.0}, "ties must be a share"),
        ({"effect": 0.1, "design": 0.0}, "the design effect must be above 0"),
        ({"effect": 0.1, "looks": 0}, "looks must be at least 1"),
        ({"effect": 0.1, "looks": 2, "spending": "evenly"}, "no spending 'evenly'"),
        ({"effect": 0.1, "method": "always"}, "no method 'always'"),
        ({"effect": 0.4, "ties": 0.9}, "with 90% ties Δ cannot be 0.4"),
        ({"effect": 0.1, "system": "b"}, "planned against itself"),
    ],
)
def test_plans_that_cannot_be_are_one_clear_line(how: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError, match=message):
        plan_interleaving(**how)
