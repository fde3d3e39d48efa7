"""JUnit XML: what build servers read."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

import assay
from assay.data import Run
from assay.gate import Gate, junit_xml
from tests.gate.test_gates import OLD, QRELS, TOPICS, run_of, scores

EVIL = "<b>&\"'\x00\x1b\ud800\ufffe]]>"


def suite_of(result: Gate, undecided: str | None = None) -> Element:
    """The suite, checked for what every reader of JUnit relies on."""
    text = junit_xml(result, undecided)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    root = fromstring(text.encode())
    assert root.tag == "testsuites"
    [suite] = root
    assert suite.tag == "testsuite"
    for element in (root, suite):
        for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(element.attrib[attribute]) == len(list(suite.iter(tag)))
        assert element.attrib["name"] == "assay gate"
        assert float(element.attrib["time"]) == 0
    assert [child.tag for child in suite][-1] == "system-out"
    for case in suite.iter("testcase"):
        assert set(case.attrib) == {"name", "classname", "time"}
        assert {child.tag for child in case} <= {"failure", "error", "system-out"}
        for problem in case:
            assert problem.tag == "system-out" or set(problem.attrib) == {"message", "type"}
    return suite


def marks(result: Gate, undecided: str | None = None) -> dict[str, list[str]]:
    """The marks of each test case."""
    return {case.attrib["name"]: [child.tag for child in case] for case in suite_of(result, undecided).iter("testcase")}


@pytest.mark.parametrize(
    ("shift", "undecided", "mark"),
    [
        (0.01, None, "system-out"),
        (-0.009, None, "error"),
        (-0.009, "fail", "failure"),
        (-0.009, "pass", "system-out"),
        (-0.05, None, "failure"),
        (-0.05, "pass", "failure"),
    ],
)
def test_a_case_is_marked_by_its_outcome(shift: float, undecided: str | None, mark: str) -> None:
    result = assay.gate(scores(shift), OLD, max_drop=0.01)
    assert marks(result, undecided) == {"AP drops by less than .01": [mark]}


def test_runs_have_a_case_for_each_kind_of_alarm() -> None:
    alarms = ["topics match the judgments", "docs match the judgments", "docs are judged"]
    fine = marks(assay.gate(run_of("new"), run_of("old"), QRELS, "RR AP", max_drop=0.01))
    assert list(fine) == ["RR drops by less than .01", "AP drops by less than .01", *alarms]
    assert [fine[name] for name in alarms] == [[], [], []]
    renamed = Run.from_lists("new", {f"q{t}": ["r"] for t in range(TOPICS)})
    assert marks(assay.gate(renamed, run_of("old"), QRELS, max_drop=0.01))[alarms[0]] == ["failure"]
    unjudged = run_of("new", {t: ["r", "x"] for t in range(TOPICS)})
    for undecided, mark in ((None, "error"), ("fail", "failure"), ("pass", "error")):
        result = assay.gate(unjudged, run_of("old"), QRELS, max_drop=0.01)
        assert marks(result, undecided)[alarms[2]] == [mark]


def test_names_are_escaped() -> None:
    new: Any = scores(-0.05, run=EVIL, measure=f"m{EVIL}")
    old = scores(0.0, 0.0, run=f"old{EVIL}", measure=f"m{EVIL}")
    suite = suite_of(assay.gate(new, old, max_drop=0.01))
    [case] = suite.iter("testcase")
    assert case.attrib["name"] == "m<b>&\"'????]]> drops by less than .01"
    assert "<b>&\"'????]]>" in case[0].attrib["message"]


def test_the_same_gate_is_the_same_bytes() -> None:
    one, other = (junit_xml(assay.gate(scores(-0.009), OLD, max_drop=0.01)) for _ in range(2))
    assert one == other
