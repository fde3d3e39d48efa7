"""Labels against a reference: the cut that agrees best, and graded figures, against scikit-learn and krippendorff."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from assay.agreement.alpha import krippendorff_alpha
from assay.agreement.scales import S2, S100, Scale
from assay.crowd import aggregate
from assay.crowd.reference_agreement import agreement_with_reference, best_cut
from assay.data import Labels, Qrels
from assay.io import read_labels
from tests.conftest import real_data
from tests.crowd.peers import nist, s100

GRADES = ("pants-fire", "false", "barely-true", "half-true", "mostly-true", "true")


@pytest.mark.parametrize("seed", range(30))
def test_the_best_cut_is_that_of_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 12, 25).astype(float)
    relevant = values + rng.normal(0, 3, 25) > 6
    if relevant.all() or not relevant.any():
        return
    kappas = {cut: cohen_kappa_score(values >= cut, relevant) for cut in (*np.unique(values)[1:], 5.5)}
    found = best_cut(values, relevant, 5.5)
    highest = max(kappas.values())
    assert kappas[found] == pytest.approx(highest)
    assert abs(found - 5.5) == min(abs(cut - 5.5) for cut, kappa in kappas.items() if kappa > highest - 1e-9)


def test_graded_figures_are_those_of_others() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 200)
    heard = (truth + rng.integers(-1, 2, 200)).clip(0, 3)
    labels = Labels.from_rows([("1", f"d{i:03d}", "w", float(y)) for i, y in enumerate(heard)])
    reference = Qrels.from_dict({"1": {f"d{i:03d}": int(y) for i, y in enumerate(truth)}})
    table = agreement_with_reference(labels, reference, ["majority"], scale="S4").table()
    assert table.column("weighted κ") == [pytest.approx(cohen_kappa_score(heard, truth, weights="quadratic"))] * 2
    alpha = krippendorff_alpha(np.tile(np.arange(200), 2), np.concatenate([heard, truth]), level="interval")
    assert table.column("α") == [pytest.approx(alpha)] * 2
    assert table.column("AUC") == [pytest.approx(roc_auc_score(truth >= 1, heard))] * 2


def statements(scale: str) -> Labels:
    path = real_data("crowd-truthfulness-scales") / "judgments.tsv"
    return read_labels(path, where={"scale": scale}, topic="all")


def experts() -> Qrels:
    with (real_data("crowd-truthfulness-scales") / "judgments.tsv").open() as rows:
        graded = {r["item"]: GRADES.index(r["expert_label"]) for r in csv.DictReader(rows, delimiter="\t")
                  if r["source"] == "Politifact"}  # fmt: skip
    return Qrels.from_dict({"all": graded})


# κ at the middle of the scale (1 of levels), and at the cut that agrees best, of means.
@pytest.mark.parametrize(
    ("name", "scale", "usual", "at_usual", "cut", "at_best"),
    [
        ("S3", Scale.ordered(3), 1, 0.1618, 0.7, 0.2333),
        ("S6", Scale.ordered(6), 1, -0.0161, 2.4, 0.3421),
        ("S100", S100, 50, 0.1964, 36.7, 0.2895),
    ],
)
def test_unlike_scales_are_cut_where_they_agree_best(
    name: str, scale: Scale, usual: float, at_usual: float, cut: float, at_best: float
) -> None:
    labels = statements(name)
    given = agreement_with_reference(labels, experts(), ["mean"], scale=scale, cut=usual, rel=1).table()
    found = agreement_with_reference(labels, experts(), ["mean"], scale=scale, rel=1).table()
    assert given.column("κ")[1] == pytest.approx(at_usual, abs=5e-5)
    assert found.column("κ")[1] == pytest.approx(at_best, abs=5e-5)
    assert (given.column("relevant from")[1], found.column("relevant from")[1]) == (usual, cut)
    # Figures that need no cut do not depend on it; weighted κ and α need the reference on the scale of the labels.
    assert given.column("AUC") == found.column("AUC")
    assert (found.column("α")[1] is None) == (name != "S6")
    assert "the cut whose κ with this reference is highest" in found.text()
    assert "the cut whose κ" not in given.text()


def test_binary_experts_and_labels_from_0_to_100() -> None:
    judged = aggregate(s100(), "mean", scale=S100)
    middle = agreement_with_reference(s100(), nist(), [judged], scale=S100, cut=50).table()
    found = agreement_with_reference(s100(), nist(), [judged], scale=S100).table()
    assert middle.column("κ")[1] == pytest.approx(0.5385, abs=5e-5)
    assert found.column("κ")[1] == pytest.approx(0.5572, abs=5e-5)
    assert found.column("relevant from")[1] == pytest.approx(55.3)
    assert found.column("weighted κ") == found.column("α") == [None, None]


def test_where_nothing_varies_figures_are_undefined() -> None:
    labels = Labels.from_rows([("1", d, w, 1.0) for d in "ab" for w in "uv"])
    reference = Qrels.from_dict({"1": {"a": 1, "b": 1}})
    row = agreement_with_reference(labels, reference, ["majority"], scale=S2).table().rows[1]
    assert row[4:] == (None, None, None, None, 1.0, 1.0)
