"""Cuts of scales: every way against plain loops, the package krippendorff, and Roitero 2020, ch. 10."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agreement.alpha import alpha_of_cuts
from assay.agreement.scales import S4, S100, Scale
from assay.core.errors import DataError, UsageError
from assay.crowd.cuts import best_cuts, transformed
from assay.crowd.cutsearch import combinations
from assay.crowd.cutsums import among_workers, table_alpha
from assay.crowd.cutways import WAYS
from assay.data import Labels, Qrels
from tests.oracles import crowd as oracle

FINE = Scale.interval(0, 9, name="S9")
Rows = list[tuple[str, str, float]]


def sample(seed: int, *, docs: int = 9, workers: int = 6, top: int = 9) -> tuple[Rows, dict[str, int]]:
    rng = np.random.default_rng(seed)
    worth = rng.uniform(0, top, docs)
    rows = [
        (f"d{d}", f"w{w}", float(np.clip(round(worth[d] + rng.normal(0, 2)), 0, top)))
        for d in range(docs)
        for w in range(workers)
        if rng.random() < 0.8
    ]
    return rows, {f"d{d}": int(worth[d] > top / 2) for d in range(docs)}


def as_labels(rows: Rows) -> Labels:
    return Labels.from_rows([("1", d, w, v) for d, w, v in rows])


@pytest.mark.parametrize("way", WAYS.names())
@pytest.mark.parametrize("undefined", ["skip", "one"])
@pytest.mark.parametrize("ties", ["low", "high"])
def test_alpha_of_every_cut_is_the_plain_loops(way: str, undefined: str, ties: str) -> None:
    for seed in range(3):
        rows, target = sample(seed)
        found = best_cuts(
            as_labels(rows), way, source=FINE, target=Qrels.from_dict({"1": target}), ties=ties, undefined=undefined
        )
        plain = [oracle.way_alpha(rows, way, (c,), target=target, ties=ties, undefined=undefined) for c in range(9)]
        assert found.curves is not None
        np.testing.assert_allclose(found.curves[0], plain, atol=1e-12)
        assert found.cuts[0].alpha == pytest.approx(np.nanmax(plain))


@pytest.mark.parametrize("way", WAYS.names())
def test_best_of_three_points_is_the_plain_loops(way: str) -> None:
    rows, two = sample(5)
    target = {d: 3 * g for d, g in two.items()}
    found = best_cuts(as_labels(rows), way, levels=4, source=FINE, target=Qrels.from_dict({"1": target})).cuts[0]
    every = combinations(9, 3)
    plain = np.array([oracle.way_alpha(rows, way, tuple(c), target=target) for c in every.tolist()])
    best = np.flatnonzero(plain > np.nanmax(plain) - 1e-10)
    assert found.alpha == pytest.approx(np.nanmax(plain))
    assert found.tied == len(best)
    assert found.low == tuple(every[best].min(axis=0))
    assert found.high == tuple(every[best].max(axis=0))
    assert list(found.points) in every[best].tolist()


@given(st.integers(0, 10_000), st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_topic_wide_alpha_is_the_packages(seed: int, levels: int) -> None:
    rows, _ = sample(seed, docs=6, workers=4)
    docs, workers = sorted({d for d, _, _ in rows}), sorted({w for _, w, _ in rows})
    x = np.array([v for _, _, v in rows]).astype(int)
    sums = among_workers(np.array([docs.index(d) for d, _, _ in rows]), x, 10, pairs=True)
    for cuts in combinations(9, levels - 1)[:: max(1, comb(9, levels - 1) // 12)]:
        matrix = np.full((len(workers), len(docs)), np.nan)
        for d, w, v in rows:
            matrix[workers.index(w), docs.index(d)] = (v > cuts).sum()
        pairable = np.unique(matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1])
        if len(pairable[~np.isnan(pairable)]) < 2:
            continue
        total, count = sums.alpha_sums(cuts[None])
        expected = krippendorff.alpha(matrix, level_of_measurement="interval")
        assert total[0] / count[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_tables_of_any_level_are_the_packages(level: Any) -> None:
    rng = np.random.default_rng(1)
    place, target = rng.integers(0, 12, 60), rng.integers(0, 4, 60)
    joint = np.zeros((12, 4))
    np.add.at(joint, (place, target), 1)
    cuts = combinations(11, 3)[::7]
    ours = table_alpha(joint, cuts, level=level)
    for c, a in zip(cuts, ours, strict=True):
        pair = np.array([(place[:, None] > c).sum(axis=1), target])
        expected = krippendorff.alpha(pair, level_of_measurement=level, value_domain=[0, 1, 2, 3])
        assert a == pytest.approx(expected, abs=1e-9)


def test_with_two_levels_all_levels_of_measurement_agree() -> None:
    rows, target = sample(2)
    qrels = Qrels.from_dict({"1": target})
    alphas = [
        best_cuts(as_labels(rows), "D_t+a", source=FINE, target=qrels, level=level).cuts[0].alpha
        for level in ("interval", "nominal", "ordinal")
    ]
    assert alphas == pytest.approx([alphas[0]] * 3)


def test_numbers_of_cuts() -> None:
    assert len(combinations(3, 1)) == 3
    assert len(combinations(100, 1)) == 100
    assert len(combinations(100, 3)) == 161_700
    assert (np.diff(combinations(20, 3), axis=1) > 0).all()


def test_t_a_and_a_t_agree_with_nine_others() -> None:
    # With an odd number of others both take the central one (Roitero 2020, §10.3.1.2).
    rng = np.random.default_rng(3)
    rows = [("1", f"d{d}", f"w{w}", float(rng.integers(0, 4))) for d in range(20) for w in range(10)]
    a, b = (best_cuts(Labels.from_rows(rows), way, source=S4).curves for way in ("H_t+a", "H_a+t"))
    np.testing.assert_allclose(a, b)  # type: ignore[arg-type]


def test_scopes() -> None:
    rows = []
    for topic in range(3):
        rows += [(str(topic), d, w, v) for d, w, v in sample(topic)[0]]
    labels = Labels.from_rows(rows)
    apart = best_cuts(labels, "H_t+a", source=FINE)
    mean = best_cuts(labels, "H_t+a", source=FINE, scope="mean")
    pooled = best_cuts(labels, "H_t+a", source=FINE, scope="pooled")
    assert apart.curves is not None
    assert mean.curves is not None
    assert [c.topic for c in apart.cuts] == ["0", "1", "2"]
    np.testing.assert_allclose(mean.curves[0], np.nanmean(apart.curves, axis=0))
    assert pooled.cuts[0].topic == "all"
    assert mean.points("2") == mean.cuts[0].points


def test_a_topic_called_all_is_a_topic() -> None:
    rows = []
    for seed, topic in enumerate(("all", "1", "2")):
        rows += [(topic, *label) for label in sample(seed)[0]]
    apart = best_cuts(Labels.from_rows(rows), "H_t+a", source=FINE)
    assert {cut.topic for cut in apart.cuts} == {"all", "1", "2"}
    for cut in apart.cuts:
        assert apart.points(cut.topic) == cut.points
    assert len({cut.points for cut in apart.cuts}) > 1


def test_climbing_finds_the_exact_optimum_here() -> None:
    rows, two = sample(11, docs=40)
    target = Qrels.from_dict({"1": {d: 2 * g for d, g in two.items()}})
    exact, climb = (
        best_cuts(as_labels(rows), "D_a+t", levels=3, source=FINE, target=target, search=s) for s in ("exact", "climb")
    )
    assert climb.cuts[0].alpha == pytest.approx(exact.cuts[0].alpha)
    assert "climb search" in climb.notes[0]


def test_unjudged_docs_count_as_zero_or_not_at_all() -> None:
    rows = [("1", d, w, v) for d, v in {"a": 0.0, "b": 9.0, "c": 9.0}.items() for w in "uvw"]
    target = Qrels.from_dict({"1": {"a": 0, "b": 1}})
    zero, drop = (
        best_cuts(Labels.from_rows(rows), "D_a+t", source=FINE, target=target, unjudged=u).cuts[0].alpha
        for u in ("zero", "drop")
    )
    assert drop == 1
    assert zero < 1


def test_gaps_make_ties_and_the_middle_is_taken() -> None:
    rows = [("1", d, w, v) for d, v in {"a": 1.0, "b": 8.0}.items() for w in "uvw"]
    target = Qrels.from_dict({"1": {"a": 0, "b": 1}})
    best = best_cuts(Labels.from_rows(rows), "D_a+t", source=FINE, target=target).cuts[0]
    assert (best.low, best.high, best.tied) == ((1.0,), (7.0,), 7)
    assert best.points == (4.0,)


def test_degenerate_topics_are_named() -> None:
    flat = [("1", d, w, 5.0) for d in "ab" for w in "uv"]
    found = best_cuts(Labels.from_rows(flat), "H_t+a", source=FINE)
    assert found.degenerate() == ["1"]
    assert found.cuts[0].trouble == "nothing varies: no cut has an α"
    assert found.table().column("α") == [None]
    assert transformed(Labels.from_rows(flat), found).grades.tolist() == [0, 0]
    full = best_cuts(Labels.from_rows(flat), "H_t+a", source=FINE, undefined="one")
    assert full.cuts[0].trouble == "all labels fall on one level; at this cut 2 of 2 tasks do not vary"
    target = Qrels.from_dict({"1": {"d0": 0, "d1": 0}})
    none = best_cuts(as_labels(sample(0)[0]), "D_a+t", source=FINE, target=target)
    assert none.cuts[0].trouble == "the target has grade 0 only"
    with pytest.raises(DataError, match="no doc has a grade in qrels"):
        best_cuts(as_labels(sample(0)[0]), "D_a+t", source=FINE, target=Qrels.from_dict({"1": {"x": 0}}))


@pytest.mark.parametrize("way", ["H_t+a", "H_a+t", "Tw_alpha"])
@pytest.mark.parametrize("scope", ["topics", "mean", "pooled"])
def test_one_label_has_nothing_to_compare(way: str, scope: str) -> None:
    found = best_cuts(Labels.from_rows([("1", "a", "w", 5.0)]), way, source=FINE, scope=scope)
    assert [c.trouble for c in found.cuts] == ["nothing varies: no cut has an α"]


def test_a_task_that_several_workers_did_is_one_of_each() -> None:
    labels = as_labels(sample(5)[0])
    shared = replace(labels, task=np.array(["t"] * len(labels), dtype=object))
    one, other = (best_cuts(seen, "H_t+a", source=FINE) for seen in (labels, shared))
    np.testing.assert_array_equal(one.curves, other.curves)


def test_a_cut_that_stills_most_tasks_is_named() -> None:
    rows = [("1", d, f"w{i}", v) for i in range(9) for d, v in (("a", 2.0), ("b", float(i % 3)))]
    rows += [("1", "a", "x", 9.0), ("1", "b", "x", 0.0), ("1", "a", "y", 9.0), ("1", "b", "y", 0.0)]
    best = best_cuts(Labels.from_rows(rows), "H_t+a", source=FINE, undefined="one").cuts[0]
    assert best.trouble == "7 of 9 cuts do as well; at this cut 9 of 11 tasks do not vary"


def test_transformed_follows_the_cuts() -> None:
    rows, target = sample(4)
    labels = as_labels(rows)
    for way in WAYS.names():
        found = best_cuts(labels, way, source=FINE, target=Qrels.from_dict({"1": target}))
        ours = transformed(labels, found).to_dict()["1"]
        values: dict[str, list[float]] = {}
        for d, _, v in rows:
            values.setdefault(d, []).append(v)
        for d, own in values.items():
            points = found.points("1")
            first = way in ("H_a+t", "D_a+t")
            expected = oracle.cut(float(np.median(own)), points) if first else oracle.median_cut(own, points, "low")
            assert ours[d] == expected


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"way": "H_x"}, r"no way of choosing a cut 'H_x'"),
        ({"scope": "each"}, r"no scope 'each'; known: topics, mean, pooled"),
        ({"source": Scale.interval(0, 9.5)}, r"scale 0-9.5 has no levels to cut between"),
        ({"levels": 11}, r"scale S9 has 10 levels; it cannot be cut into 11"),
        ({"way": "D_a+t"}, r"D_a\+t needs judgments on the target scale"),
        ({"level": "ordinal"}, r"α ordinal is searched by D_a\+t and D_t\+a"),
        ({"way": "H_a+t", "aggregate": "mode"}, r"no aggregate 'mode'; known: median, mean"),
    ],
)
def test_what_does_not_fit_is_refused(told: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        best_cuts(as_labels(sample(0)[0]), **({"source": FINE} | told))  # type: ignore[arg-type]


def test_a_grade_that_the_levels_lack_is_refused() -> None:
    with pytest.raises(DataError, match=r"grades from 3 to 3 do not fit 2 levels \(0–1 or 1–2\)"):
        best_cuts(as_labels(sample(0)[0]), "H", source=FINE, target=Qrels.from_dict({"1": {"d0": 3}}))


def test_too_much_work_is_refused_with_advice() -> None:
    labels = as_labels([(f"d{d}", f"w{d}", float(d)) for d in range(50)] + [(f"d{d}", "x", 0.0) for d in range(50)])
    with pytest.raises(UsageError, match="too many to try all; use search='climb'"):
        best_cuts(labels, "H_t+a", levels=8, source=Scale.interval(0, 100), search="exact")


def test_sums_of_cuts_are_alpha_of_the_cut_labels() -> None:
    """The running sums of the search hold the same α as `agreement.alpha`, cut by cut."""
    rng = np.random.default_rng(2)
    labels = Labels.from_rows([("1", f"d{i // 5:02d}", f"w{i % 5}", float(rng.integers(0, 101))) for i in range(100)])
    found = best_cuts(labels, "Tw_alpha", source=S100)
    item, _ = labels.items()
    cuts = np.arange(100.0)[:, None]
    assert found.curves is not None
    np.testing.assert_allclose(found.curves[0], alpha_of_cuts(item, labels.label, cuts), atol=1e-9)
