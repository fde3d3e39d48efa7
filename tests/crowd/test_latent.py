"""Dawid–Skene, one coin, GLAD, MACE: against plain loops, against crowd-kit, and on simulated workers."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.crowd.aggregate import aggregate
from assay.crowd.answers import Answers
from assay.crowd.latent import best_fit, dawid_skene, glad, mace, one_coin, oriented
from assay.crowd.scales import S2, S100, Scale
from assay.crowd.vote import majority
from assay.data import Labels
from assay.errors import DataError
from assay.io.labels import read_labels
from tests.conftest import real_data
from tests.crowd.simulated import categories
from tests.oracles import crowd as oracle

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
QUALITY = np.repeat([0.95, 0.8, 0.55], [8, 8, 14])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=3, max_size=30))
@settings(max_examples=40, deadline=None)
def test_dawid_skene_is_the_plain_loop(rows: list[tuple[int, int, int]]) -> None:
    labels = Labels.from_rows([("1", f"d{d}", f"w{w}", y) for d, w, y in rows])
    answers = Answers.of(labels, scale=Scale.ordered(3))
    ours = dawid_skene(answers, iterations=4, tolerance=-1.0)
    plain = oracle.dawid_skene([(f"d{d}", f"w{w}", y) for d, w, y in rows], levels=3, iterations=4)
    raw = np.array([plain[d] for _, d in answers.items])
    assert ours.posterior is not None
    np.testing.assert_allclose(ours.posterior, raw, atol=1e-9)


@cache
def real(name: str) -> Answers:
    if name == "s100":
        fine = read_labels(real_data("crowd-s100-trec8/judgments.tsv.xz"), times=100)
        return Answers.of(replace(fine, label=(fine.label >= 50).astype(float)), scale=S2)
    file = {"votes": "votes", "others": "otherparticipantsvotes"}[name]
    return Answers.of(read_labels(real_data(f"crowd-trec2011/{file}.tsv.xz"), split="_"), scale=S2)


def golden() -> dict[tuple[str, str, str], dict[str, str]]:
    with (GOLDEN / "crowd_kit.csv").open() as file:
        return {(r["set"], r["method"], r["order"]): r for r in csv.DictReader(file)}


def same(ours: Any, row: dict[str, str]) -> float:
    """Share of docs with crowd-kit's label."""
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(row["labels"]), dtype=np.uint8))[: int(row["docs"])]
    return float((ours.grade == bits).mean())


@pytest.mark.parametrize("name", ["s100", "votes", "others"])
@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad"])
def test_as_crowd_kit_at_its_own_number_of_iterations(name: str, method: str) -> None:
    # crowd-kit 1.4 stops when its loss falls, which is not a likelihood: GLAD after 2 iterations on S100.
    row = golden()[name, method, "file"]
    model: Any = {"dawid-skene": dawid_skene, "one-coin": one_coin, "glad": glad}[method]
    ours = model(real(name), iterations=int(row["iterations"]), tolerance=-1.0)
    assert same(ours, row) >= 0.99
    assert ours.grade.mean() == pytest.approx(float(row["share"]), abs=0.002)


@pytest.mark.parametrize("name", ["s100", "votes", "others"])
def test_dawid_skene_to_convergence_is_still_crowd_kits(name: str) -> None:
    ours = dawid_skene(real(name))
    assert "converged after" in ours.notes[0]
    assert "not converged" not in ours.notes[0]
    assert same(ours, golden()[name, "dawid-skene", "file"]) >= 0.99


@pytest.mark.parametrize("name", ["s100", "votes", "others"])
def test_mace_is_crowd_kits_where_its_rows_are_sorted(name: str) -> None:
    ours = mace(real(name))
    rows = golden()
    assert same(ours, rows[name, "mace", "sorted"]) >= 0.99
    # In the order of the file crowd-kit gives other labels to the same data: it numbers workers and labels as they
    # come but counts spam habits in sorted order, so that habits go to the wrong workers. The .2675 quoted for S100 is
    # of that kind (.2672 here). All its restarts begin from one and the same random start.
    assert same(ours, rows[name, "mace", "file"]) < 0.99


@pytest.mark.parametrize(("name", "ties"), [("s100", "high"), ("votes", "low"), ("others", "high")])
def test_majority_is_crowd_kits_up_to_its_tie_rule(name: str, ties: str) -> None:
    # crowd-kit gives ties to the label that its table happens to hold first, which changes with the data.
    assert same(majority(real(name), ties=ties), golden()[name, "majority", "file"]) == 1


@pytest.mark.parametrize(
    ("method", "share"), [("majority", 0.3028), ("dawid-skene", 0.2927), ("glad", 0.2698), ("mace", 0.2672)]
)
def test_shares_quoted_for_s100_at_50(method: str, share: float) -> None:
    assert float(golden()["s100", method, "file"]["share"]) == pytest.approx(share, abs=5e-5)


def test_our_shares_on_s100_at_50() -> None:
    answers = real("s100")
    assert majority(answers, ties="high").grade.mean() == pytest.approx(0.3028, abs=5e-5)
    assert dawid_skene(answers).grade.mean() == pytest.approx(0.2927, abs=5e-5)
    assert glad(answers, iterations=2, tolerance=-1.0).grade.mean() == pytest.approx(0.2698, abs=5e-5)
    assert glad(answers).grade.mean() == pytest.approx(0.2672, abs=5e-5)
    assert mace(answers).grade.mean() == pytest.approx(0.2819, abs=5e-5)


@pytest.mark.parametrize("name", ["s100", "votes", "others"])
def test_confusion_matrices_as_crowd_kits(name: str) -> None:
    with (GOLDEN / "crowd_kit_workers.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["set"] == name]
    answers = real(name)
    ours = dawid_skene(answers, iterations=int(rows[0]["iterations"]), tolerance=-1.0)
    for row in rows:
        facts = ours.workers[answers.workers[int(row["worker"])]]
        for cell in ("0|0", "1|0", "0|1", "1|1"):
            assert facts[cell] == pytest.approx(float(row[cell]), abs=1e-3)


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
    assert _likelihood(many.notes[0]) >= _likelihood(one.notes[0])


def _likelihood(note: str) -> float:
    return float(note.partition("log-likelihood ")[2].partition(",")[0])


def test_a_start_that_ends_with_exchanged_levels_is_turned() -> None:
    labels, truth = categories(np.full(12, 0.9), docs=100, per_doc=6, seed=2)
    answers = Answers.of(labels, scale=S2)
    exchanged = np.eye(2)[1 - truth]
    assert (np.argmax(oriented(exchanged, answers), axis=1) == truth).all()


def test_stopping_early_is_said() -> None:
    labels, _ = categories(QUALITY, docs=100, per_doc=5)
    assert "stopped, not converged, after 2 iterations" in aggregate(labels, "dawid-skene(iterations=2)").notes[0]


def test_numbers_are_refused_with_advice() -> None:
    answers = Answers.of(Labels.from_rows([("1", "a", "w", 40.0)]), scale=S100)
    with pytest.raises(DataError, match="cut the scale first"):
        dawid_skene(answers)


def test_one_label_of_one_worker_is_no_trouble() -> None:
    answers = Answers.of(Labels.from_rows([("1", "a", "w", 1.0)]), scale=S2)
    for model in (dawid_skene, one_coin, glad, mace):
        judged = model(answers)
        assert judged.grade.tolist() == [1]
        assert np.isfinite(judged.probability).all()


def test_best_fit_follows_the_step() -> None:
    labels, _ = categories(QUALITY, docs=30, per_doc=5)
    answers = Answers.of(labels, scale=S2)
    fit = best_fit(lambda p: (p, 1.0), answers, iterations=9, tolerance=1e-6, restarts=1, seed=0)
    assert (len(fit.history), fit.converged) == (2, True)
