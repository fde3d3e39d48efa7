"""Grades that come of a cut are as sure as the cut: they carry it on, in memory, in files and into scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.agreement.scales import S100
from assay.crowd import best_cuts, read_uncertain, transformed
from assay.crowd.cut_uncertainty import judgments_over_cuts
from assay.crowd.cutsets import honest_cuts
from assay.data import Labels
from assay.io import read_qrels, write_labels, write_qrels
from tests.hostile.calls import call


def few_labels(seed: int = 0) -> Labels:
    """One topic, 30 docs on 0–100, 5 noisy labels each: many cuts do as well as the best."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([20.0, 70.0], 15)
    rows = []
    for d in range(30):
        rows += [
            ("1", f"d{d:02d}", f"w{w}", float(np.clip(rng.normal(truth[d], 15), 0, 100).round())) for w in range(5)
        ]
    return Labels.from_rows(rows)


def test_docs_that_some_cuts_grade_otherwise_are_not_certain(tmp_path: Path) -> None:
    labels = few_labels()
    honest = honest_cuts(labels, "H_t+a", source=S100, halves=10)
    judged = judgments_over_cuts(labels, honest, draws=100)
    best = transformed(labels, honest.search)
    assert judged.grade.tolist() == best.grades.tolist()
    # A plain loop over the whole set: a doc is certain if no cut of the set gives it another grade.
    (found,) = honest.sets
    docs = labels.items()[0]
    above = (labels.label[:, None] > found.cuts[:, 0]).astype(float)
    share = np.array([above[docs == d].mean(axis=0) for d in range(30)])
    always = ((share > 0.5).all(axis=1)) | ((share <= 0.5).all(axis=1))
    assert judged.posterior is not None
    assert (judged.probability[always] == 1).all()
    assert 0 < (~always).sum() < 30
    assert (judged.probability[~always] < 1).mean() > 0.5
    expected = (share > 0.5).mean(axis=1)
    np.testing.assert_allclose(judged.posterior[:, 1], expected, atol=0.2)

    write_labels(tmp_path / "labels.csv", labels)
    cuts = ["crowd", "cuts", f"{tmp_path}/labels.csv", "--scale", "S100", "--way", "H_t+a", "--halves", "10"]
    done = call([*cuts, "--uncertainty", f"{tmp_path}/cut.csv", "--draws", "100"])
    assert done.code == 0, done.err
    again = read_uncertain(tmp_path / "cut.csv").posterior
    assert again is not None
    np.testing.assert_allclose(again, judged.posterior, atol=1e-9)
    idle = call([*cuts, "--draws", "5"])
    assert (idle.code, "--draws has no effect without --run and --uncertainty" in idle.err) == (2, True)


def test_cut_judgments_say_where_they_were_cut(tmp_path: Path) -> None:
    labels = few_labels()
    found = best_cuts(labels, "H_t+a", source=S100)
    judged = transformed(labels, found)
    (cut,) = found.cuts
    (point,), (low,), (high,) = cut.points, cut.low, cut.high
    assert str(judged.scale) == f"2 levels 0–1, S100 cut at {point:g} ({low:g} to {high:g}) by H_t+a"
    # Two levels are what every program takes them for: files of them stay plain.
    write_qrels(tmp_path / "cut.qrels", judged)
    assert read_qrels(tmp_path / "cut.qrels").scale is None
    assert (tmp_path / "cut.qrels").read_text().startswith("1 0 d00 0\n")
