"""Runs on two topic sets at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.stats.multiple import corrected
from assay.stats.topic_sets import compare_sets
from tests.oracles.stats import scipy_stats as stats
from tests.oracles.stats import trec8


def halves() -> tuple[ScoreMatrix, ScoreMatrix]:
    m = trec8().select(runs=["CL99XT", "apl8c221", "ok8alx"])
    return m.select(topics=m.topics[:20]), m.select(topics=m.topics[20:])


def test_every_run_by_scipy_and_one_correction() -> None:
    first, second = halves()
    found = compare_sets(first, second, correction="bonferroni", alpha=0.1)
    p = [stats.ttest_ind(a, b, equal_var=False).pvalue for a, b in zip(first.values, second.values, strict=True)]
    assert found.p == pytest.approx(corrected(p, "bonferroni"))
    ends = stats.ttest_ind(first.values[0], second.values[0], equal_var=False).confidence_interval(0.9)
    assert (found.comparisons[0].low, found.comparisons[0].high) == pytest.approx((ends.low, ends.high))
    table = found.table()
    assert table.column("run") == list(first.runs)
    assert table.column("p corrected") == pytest.approx(found.p)
    assert len(set(table.column("df"))) == 3
    assert "34.38" not in table.notes[0]
    assert "bonferroni over 3 tests" in table.notes[1]
    signed = compare_sets(replace(first, signature="AP|ties:docid"), second)
    assert signed.table().notes[-1] == "AP|ties:docid"


def test_p_corrected_is_there_without_a_correction_and_the_price_of_none_is_said() -> None:
    result = compare_sets(*halves(), correction="none")
    table = result.table()
    assert table.column("p_corrected") == table.column("p")
    assert result.record()["correction"] == "none"
    assert "0.143 were the tests independent" in table.notes[1]


def test_single_runs_whatever_their_names_else_common_ones() -> None:
    first, second = halves()
    pair = compare_sets(first.select(runs=["CL99XT"]), second.select(runs=["ok8alx"]))
    assert pair.comparisons[0].names == ("CL99XT", "ok8alx")
    assert "a single test" in pair.table().notes[1]
    common = compare_sets(first.select(runs=["CL99XT", "ok8alx"]), second.select(runs=["ok8alx", "apl8c221"]))
    assert [c.names for c in common.comparisons] == [("ok8alx", "ok8alx")]
    with pytest.raises(UsageError, match="no run is on both topic sets"):
        compare_sets(first.select(runs=["CL99XT", "apl8c221"]), second.select(runs=["ok8alx"]))
    with pytest.raises(UsageError, match="alpha must lie between 0 and 1"):
        compare_sets(first, second, alpha=np.inf)


def test_a_run_whose_scores_are_too_alike_gets_bounds_within_the_range_of_the_measure() -> None:
    rng = np.random.default_rng(5)
    values = np.stack([rng.random(20), np.zeros(20)])
    first, second = (ScoreMatrix.of(v, runs=["a", "b"], measure="P@10") for v in (values, values[:, ::-1] + 0.0))
    second = replace(second, topics=tuple(f"t{t}" for t in range(20)))
    found = compare_sets(first, second)
    assert [c.little for c in found.comparisons] == [False, True]
    assert found.comparisons[1].low == -found.comparisons[1].high < -0.15
    notes = found.table().notes
    assert notes[0].startswith("a: two-sample Welch t test")
    assert notes[1].startswith("b: Dirichlet bounds of both means, the scores are too alike")
    gains = ScoreMatrix.of(values * 3, runs=["a", "b"], measure="gain")
    unbounded = compare_sets(gains, second.renamed("gain"))
    assert np.isnan(unbounded.comparisons[1].low)
    assert unbounded.p[1] == 1.0
