"""One call for every aggregation, agreement with a reference, and rankings of systems."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from assay.agreement.scales import S2, S100
from assay.core.errors import DataError, UsageError
from assay.crowd.aggregation import aggregate
from assay.crowd.cuts import best_cuts, transformed
from assay.crowd.effort import fewer_docs
from assay.crowd.profiles import gain_profile
from assay.crowd.quality import topic_quality
from assay.crowd.reference_agreement import agreement_with_reference
from assay.crowd.system_ranking import ranking_agreement
from assay.data import Labels, Qrels, Run
from tests.crowd.simulated import categories


def test_agreement_is_sklearns() -> None:
    labels, truth = categories(np.linspace(0.5, 0.9, 10), docs=200, per_doc=5)
    reference = Qrels.from_dict({labels.topics[0]: {labels.docs[i]: int(g) for i, g in enumerate(truth)}})
    table = agreement_with_reference(labels, reference, ["majority", "dawid-skene"], scale=S2).table()
    judged = aggregate(labels, "dawid-skene", scale=S2).grade
    assert table.rows[2][3] == pytest.approx((judged == truth).mean())
    assert table.rows[2][4] == pytest.approx(cohen_kappa_score(judged, truth))
    assert table.column("n") == [1000, 200, 200]
    with pytest.raises(DataError, match="no doc has a grade in qrels"):
        agreement_with_reference(labels, Qrels.from_dict({"x": {"y": 1}}), [], scale=S2)


def test_numbers_are_cut_in_the_middle_of_their_scale() -> None:
    labels = Labels.from_rows([("1", d, w, v) for d, v in (("a", 20.0), ("b", 80.0)) for w in "uv"])
    reference = Qrels.from_dict({"1": {"a": 0, "b": 2}})
    table = agreement_with_reference(labels, reference, ["mean"], scale=S100).table()
    assert table.column("accuracy") == [1, 1]
    assert agreement_with_reference(labels, reference, ["mean"], scale=S100, cut=90).table().rows[1][3] == 0.5


def test_unknown_methods_and_parameters() -> None:
    labels = Labels.from_rows([("1", "a", "w", 1.0)])
    with pytest.raises(UsageError, match=r"no aggregation 'dawid'; did you mean dawid-skene\?"):
        aggregate(labels, "dawid")
    with pytest.raises(UsageError, match="mean: no parameter 'ties'; it takes: none"):
        aggregate(labels, "mean", ties="low")
    with pytest.raises(DataError, match="majority needs levels: cut the scale first"):
        aggregate(labels, "majority", scale=S100)
    with pytest.raises(DataError, match="there are no labels"):
        aggregate(Labels.from_rows([]), "mean", scale=S100)


def collection() -> tuple[Labels, Qrels, list[Run]]:
    rng = np.random.default_rng(0)
    rows, grades, runs = [], {}, {f"r{k}": {} for k in range(6)}  # type: ignore[var-annotated]
    for t in range(4):
        worth = rng.uniform(0, 100, 30)
        grades[str(t)] = {f"d{i}": int(w > 60) for i, w in enumerate(worth)}
        for i, w in enumerate(worth):
            rows += [(str(t), f"d{i}", f"w{j}", float(np.clip(round(w + rng.normal(0, 10)), 0, 100))) for j in range(7)]
        for k in range(6):
            runs[f"r{k}"][str(t)] = {f"d{i}": float(w + rng.normal(0, 10 + 25 * k)) for i, w in enumerate(worth)}
    return Labels.from_rows(rows), Qrels.from_dict(grades), [Run.from_dict(n, r) for n, r in runs.items()]


def test_transformed_judgments_rank_systems_as_experts_do() -> None:
    labels, experts, runs = collection()
    found = best_cuts(labels, "D_a+t", source=S100, target=experts)
    good = ranking_agreement(runs, transformed(labels, found), experts)
    assert good.tau > 0.8
    assert good.table().column("run")[0] == "r0"
    assert "Kendall τ_b" in good.table().notes[0]
    assert ranking_agreement(runs, experts, experts).tau == pytest.approx(1)


def test_rankings_need_runs_and_shared_topics() -> None:
    _, experts, runs = collection()
    with pytest.raises(DataError, match="1 run; a ranking needs two or more"):
        ranking_agreement(runs[:1], experts, experts)
    with pytest.raises(DataError, match="share no topic"):
        ranking_agreement(runs, experts, Qrels.from_dict({"x": {"d": 1}}))


def test_a_reference_grade_below_zero_was_not_judged() -> None:
    """Docs that are only pooled (−1) change nothing: agreement, profile, topics, cuts and gold docs."""
    labels, experts, _ = collection()
    known = experts.to_dict()
    some = {t: {d: g for d, g in docs.items() if d not in ("d3", "d7")} for t, docs in known.items()}
    pooled = {t: {d: -1 if d in ("d3", "d7") else g for d, g in docs.items()} for t, docs in known.items()}
    one, other = Qrels.from_dict(some), Qrels.from_dict(pooled)

    def compared(qrels: Qrels) -> list[object]:
        return [
            agreement_with_reference(labels, qrels, ["mean"], scale=S100).rows,
            gain_profile(labels, qrels).table().rows,
            topic_quality(labels, scale=S100, reference=qrels).table().rows,
            best_cuts(labels, "D_a+t", source=S100, target=qrels, unjudged="drop").table().rows,
            fewer_docs(labels, qrels).table().rows,
        ]

    for ours, theirs in zip(compared(one), compared(other), strict=True):
        assert ours == theirs
    assert gain_profile(labels, other).levels == (0, 1)


def test_fractional_reference_grades_are_not_cut() -> None:
    labels = Labels.from_rows([("1", d, w, v) for d, v in (("a", 0.0), ("b", 1.0), ("c", 1.0)) for w in "uv"])
    reference = Qrels.from_dict({"1": {"a": 0.2, "b": 0.7, "c": 1.4}})
    assert gain_profile(labels, reference).levels == (0.2, 0.7, 1.4)
    found = agreement_with_reference(labels, reference, ["majority"], scale=S2, rel=0.5)
    assert found.table().column("accuracy") == [1, 1]
    assert found.table().column("kappa") == [1, 1]
    assert agreement_with_reference(labels, reference, [], scale=S2).table().column("accuracy") == [
        pytest.approx(2 / 3)
    ]
    with pytest.raises(DataError, match=r"grades from 0\.2 to 1\.4 do not fit 2 levels"):
        best_cuts(
            Labels.from_rows([("1", d, "w", v) for d, v in (("a", 10.0), ("b", 60.0), ("c", 90.0))]), "D_a+t",
            source=S100, target=reference,
        )  # fmt: skip


def test_tau_of_rankings_and_its_record() -> None:
    _, experts, runs = collection()
    record = ranking_agreement(runs, experts, experts).record()
    assert record["tau"] == pytest.approx(1)
    assert record["result"] == "ranking_agreement"
