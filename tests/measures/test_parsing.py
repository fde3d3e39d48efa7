"""Measures as people write them: what is wrong is said, and nothing is guessed."""

from __future__ import annotations

import pytest

from assay.core.errors import UsageError
from assay.data.grades import grades
from assay.measures import parse, parse_many


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AP(rel=2", "the brackets do not match"),
        ("AP)", "the brackets do not match"),
        ("nDCG@10) P@5", "the brackets do not match"),
        ("median(AP", "the brackets do not match"),
        ("AP(k=5)@10", "the cutoff is given twice; write AP@10"),
        ("P(k=abc)", "P: k='abc' is not a whole number or none"),
        ("AP(rel=)", "AP: rel='' is not a number"),
        ("P(k=0)", "P: k must be at least 1, not 0"),
        ("RBP(p=1)", "RBP: p must be between 0 and 1, not 1"),
        ("RBP(p=nan)", "RBP: p=nan is not a number"),
        ("E(alpha=5)", "E: alpha must be from 0 to 1, not 5"),
        ("F(beta=-1)", "F: beta must be at least 0, not -1"),
        ("ERR(top=0)", "ERR: top must be at least 1, not 0"),
        ("IPrec(recall=2)", "IPrec: recall must be from 0 to 1, not 2"),
        ("Rprec(times=-1)", "Rprec: times must be above 0, not -1"),
        ("logAP(floor=0)", "logAP: floor must be above 0 and below 0.5, not 0"),
        ("AP@0", "the cutoff after @ must be a whole number from 1, not '0'"),
        ("zzz", r"no measure 'zzz'; known: .* … \(\d+ in all\)"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_many(text)


def test_a_logarithm_has_a_base_above_1() -> None:
    with pytest.raises(UsageError, match="the base b of the logarithm must be above 1, not 1"):
        parse("nDCGjk(b=1)")(grades([1, 0]))


def test_brackets_in_brackets_and_commas() -> None:
    found = [str(m) for m in parse_many("median(RBP(p=0.5,gain=exp)), AP(rel=2)@100,P@5 geometric(AP)")]
    assert found == ["median(RBP(p=0.5,gain=exp))", "AP(rel=2)@100", "P@5", "geometric(AP)"]


def test_what_a_measure_is_called_is_what_it_is_read_as() -> None:
    assert parse("AP(k=10)") == parse("AP@10") == parse("map_cut_10")
