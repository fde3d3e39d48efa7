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
