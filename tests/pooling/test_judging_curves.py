from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import Judging, Judgment, curves
from assay.pooling.judging_curves import spaced, tau
from assay.pooling.rescoring import rescored
from tests.pooling.collections import made, made_lists


def test_at_the_end_everything_is_known() -> None:
    runs, _ = made(1, runs=6, topics=4)
    pooled = {(t, d) for run in runs for t in run.topics for d in run.ranking(t)}
    _, qrels = made(1, runs=6, topics=4)
    within = {t: {d: g for d, g in docs.items() if (t, d) in pooled} for t, docs in qrels.to_dict().items()}
    found = curves(collected(runs, Qrels.from_dict(within)), ["depth", "hedge"], budgets=[1, 10, 1000])
    for curve in found.curves:
        assert curve.relevant[-1, 0] == found.relevant
        assert curve.tau[-1, 0] == 1
        assert curve.bias[-1, 0] == curve.rms[-1, 0] == 0
        assert (np.diff(curve.relevant[:, 0]) > 0).all()


def test_a_curve_is_what_a_session_finds() -> None:
    runs, qrels = made(2, runs=5, topics=3, docs=40, depth=15)
    seen, grades = collected(runs, qrels), qrels.to_dict()
    session = Judging(seen, "max-mean", depth=None)
    for _ in range(3 * 6):
        for topic, doc in session.next():
            session.tell([Judgment(topic, doc, grades[topic][doc])])
    point = curves(seen, ["max-mean"], depth=None, budgets=[6])
    assert point.curves[0].judged[0, 0] == session.judged() == 18
    assert point.curves[0].relevant[0, 0] == sum(g > 0 for docs in session.judgments for g in docs.values())
    part = rescored(collected(runs, session.qrels()), "AP").mean(axis=1)
    full = rescored(seen, "AP").mean(axis=1)
    assert point.curves[0].tau[0, 0] == pytest.approx(tau(part, full))
    assert point.curves[0].bias[0, 0] == pytest.approx((part - full).mean())
    assert point.curves[0].rms[0, 0] == pytest.approx(np.sqrt(((part - full) ** 2).mean()))


def test_orders_that_learn_find_relevant_docs_faster_than_depth() -> None:
    seen = made_lists(3, runs=12, topics=12, docs=80, depth=30)
    areas = curves(seen, ["depth", "move-to-front", "hedge", "max-mean"], repetitions=2).areas()
    assert min(areas["move-to-front"], areas["hedge"], areas["max-mean"]) > areas["depth"]


def test_repetitions_differ_and_jobs_do_not_matter() -> None:
    seen = made_lists(3, runs=5, topics=3)
    one, two = (
        curves(seen, ["depth", "thompson"], budgets=[3, 9], repetitions=3, seed=1, jobs=jobs) for jobs in (1, 2)
    )
    for a, b in zip(one.curves, two.curves, strict=True):
        np.testing.assert_array_equal(a.relevant, b.relevant)
        np.testing.assert_array_equal(a.tau, b.tau)
        assert a.relevant.shape == (2, 3)
        assert len(set(a.relevant[0].tolist())) > 1
    table = one.table()
    assert len(table.rows) == 4
    assert "3 repetitions, seed 1" in table.notes[0]
    curve = one.curves[0]
    assert table.column("sd of τ-a")[0] == pytest.approx(np.std(curve.tau[0], ddof=1))
    assert table.column("its sd")[0] == pytest.approx(np.std(curve.relevant[0], ddof=1) / one.relevant)
    assert "sd of τ-a" not in curves(seen, ["depth"], budgets=[1]).table().columns


def test_docs_nobody_judged_are_taken_out_or_count_as_not_relevant() -> None:
    runs = [Run.from_lists("a", {"1": list("ABCD")}), Run.from_lists("b", {"1": list("DCBA")})]
    seen = collected(runs, Qrels.from_dict({"1": {"B": 1, "C": 0}}))
    only = curves(seen, ["depth"], budgets=[1, 2, 4])
    assert only.budgets == (1, 2)
    assert only.curves[0].judged[:, 0].tolist() == [1, 2]
    every = curves(seen, ["depth"], budgets=[1, 2, 4], judged_only=False)
    assert every.curves[0].judged[:, 0].tolist() == [1, 2, 4]
    assert every.curves[0].relevant[:, 0].tolist() == [0, 0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_tau_is_kendalls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=20), rng.normal(size=20)
    assert tau(a, b) == pytest.approx(kendalltau(a, b).statistic)
    assert tau(np.zeros(5), rng.normal(size=5)) == 0
    assert tau(np.ones(1), np.ones(1)) == 1


def test_budgets_are_spaced_evenly_by_factor() -> None:
    assert spaced(1) == [1]
    assert spaced(1000, 4) == [1, 10, 100, 1000]


def test_bad_input_is_one_clear_error() -> None:
    run = Run.from_lists("a", {"1": ["x"]})
    judged = collected([run], Qrels.from_dict({"1": {"x": 1}}))
    with pytest.raises(DataError, match="no doc of the runs is judged"):
        curves(collected([run]), ["depth"])
    with pytest.raises(DataError, match="no doc of the runs is judged"):
        curves(collected([run], Qrels.from_dict({"1": {"q": 1}})), ["depth"])
    with pytest.raises(UsageError, match="at least one order"):
        curves(judged, [])
    with pytest.raises(UsageError, match="there twice"):
        curves(judged, ["depth", "depth"])
    with pytest.raises(UsageError, match="each at least 1"):
        curves(judged, ["depth"], budgets=[0])
    with pytest.raises(UsageError, match="no curve of 'hedge'"):
        curves(judged, ["depth"]).curve("hedge")


def test_one_run_alone_has_a_curve() -> None:
    found = curves(
        collected([Run.from_lists("a", {"1": ["x", "y"]})], Qrels.from_dict({"1": {"x": 1, "y": 0}})), ["hedge"]
    )
    assert found.curves[0].tau.tolist() == [[1.0], [1.0]]
