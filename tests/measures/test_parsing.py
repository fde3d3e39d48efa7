"""Measures as people write them: what is wrong is said, and nothing is guessed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data.grades import grades
from assay.measures import MEASURES, Measure, parse, parse_many


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
        ("ERR(top=0)", "ERR: top must be above 0, not 0"),
        ("IPrec(recall=2)", "IPrec: recall must be from 0 to 1, not 2"),
        ("Rprec(times=-1)", "Rprec: times must be above 0, not -1"),
        ("logAP(floor=0)", "logAP: floor must be between 0 and 0.5, not 0"),
        ("AP@0", "the cutoff after @ must be a whole number from 1, not '0'"),
        ("zzz", r"no measure 'zzz'; known: .* … \(\d+ in all\)"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_many(text)


@pytest.mark.parametrize(
    "text",
    ["nDCG@" + "9" * 5000, "AP(rel=" + "1" * 5000 + ")", "nDCG@5-l" + "9" * 5000, "median(" * 3000 + "AP" + ")" * 3000,
     "(" * 50_000, "x" * 100_000],
)  # fmt: skip
def test_a_text_that_is_too_long_is_one_short_line(text: str) -> None:
    for read in (parse, parse_many):
        with pytest.raises(UsageError, match="characters; write at most 2,000") as error:
            read(text)
        assert len(str(error.value)) < 100


@pytest.mark.parametrize("gain", ["1:inf", "1:nan", "nan:1", "1:1e308", "1:-1e16"])
def test_a_gain_is_a_number_that_can_be_summed(gain: str) -> None:
    for name in ("nDCG", "G", "RBPTrec", "Rndcg", "nDCGrel"):
        with pytest.raises(UsageError, match="is no gain; give numbers of at most 1e"):
            parse(f"{name}(gain={gain})")(grades([1, 0, 2]))


def test_the_best_list_leaves_out_docs_of_negative_gain() -> None:
    assert parse("nDCG(gain=1:-3)")(grades([1, 1])).tolist() == [0.0]
    assert parse("nDCG(gain=1:-3/2:1)")(grades([2, 1], judged=[2, 1])).tolist() == [1 - 3 / np.log2(3)]


def test_a_logarithm_has_a_base_above_1() -> None:
    with pytest.raises(UsageError, match="nDCGjk: b must be above 1, not 1"):
        parse("nDCGjk(b=1)")


def test_brackets_in_brackets_and_commas() -> None:
    found = [str(m) for m in parse_many("median(RBP(p=0.5,gain=exp)), AP(rel=2)@100,P@5 geometric(AP)")]
    assert found == ["median(RBP(p=0.5,gain=exp))", "AP(rel=2)@100", "P@5", "geometric(AP)"]


def test_what_a_measure_is_called_is_what_it_is_read_as() -> None:
    assert parse("AP(k=10)") == parse("AP@10") == parse("map_cut_10")


def test_a_measure_is_the_same_however_it_is_made() -> None:
    """Parameters appended by a command, defaults given, whole numbers as floats: one measure, one text."""
    made = Measure("F", (("beta", 2), ("rel", 2.0), ("k", None)))
    assert made == parse("F(beta=2,rel=2)")
    assert parse(str(made)) == made
    assert (str(made), hash(made)) == ("F(rel=2,beta=2)", hash(parse("F(rel=2,beta=2)")))
    assert Measure("AP", (("rel", 1),)) == parse("AP")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"name": "AP", "parameters": (("x", 1),)}, "AP: no parameter 'x'"),
        ({"name": "P", "parameters": (("k", 0),)}, "P: k must be at least 1"),
        ({"name": "tRBP"}, "tRBP needs k; write tRBP@10"),
        ({"name": "AP", "aggregate": "mode"}, "no aggregate 'mode'"),
        ({"name": "AP", "form": "X"}, "no form 'X'"),
        ({"name": "PA"}, "no measure 'PA'"),
    ],
)
def test_a_measure_cannot_be_made_wrong(made: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Measure(**made)


def test_limits_stand_on_the_annotations() -> None:
    """Every cutoff, persistence and top grade of the registry is limited."""
    for entry in MEASURES:
        for key in {"k", "p", "rel", "top", "alpha", "recall", "halflife", "L", "times"} & set(entry.parameters):
            assert entry.limits(key) is not None, (entry.name, key)


def test_names_of_other_tools_are_read_where_no_measure_was_used_yet() -> None:
    """As in `assay compare scores.csv -m map`, which needs no measure itself."""
    code = "from assay.measures.translation import spellings; print(*map(spellings, ['map', 'nDCG', 'my own']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "['map', 'AP'] ['nDCG', 'nDCG'] ['my own']\n", done.stderr
