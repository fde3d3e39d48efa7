"""A gate as JUnit XML, which build servers show: a test case for each measure and for each kind of alarm."""

from __future__ import annotations

import re

from assay.gate.gated import Gate, MeasureGate

SUITE = "assay gate"
CHECKS = {"topics": "topics match the judgments", "docs": "docs match the judgments", "judged": "docs are judged"}
"""Kinds of alarm that are test cases, so that each build has the same cases; without judgments there are none."""
ELEMENTS = {"fail": "failure", "undecided": "error"}
"""How a case that is not passed is marked: an error is a test that could not be decided."""

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(result: Gate, undecided: str | None = None) -> str:
    """The gate as JUnit XML. An undecided measure is an error, or what `undecided` (pass or fail) makes of it.

    >>> from assay import gate
    >>> result = gate({"new": {"1": 0.5, "2": 0.4}}, {"old": {"1": 0.5, "2": 0.4}}, max_drop=0.01)
    >>> junit_xml(result).splitlines()[1]
    '<testsuites name="assay gate" tests="1" failures="0" errors="1" time="0">'
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    cases = [*_measure_cases(result, undecided), *_alarm_cases(result, undecided)]
    marks = [ELEMENTS.get(outcome) for _, outcome, _ in cases]
    counts = {"tests": str(len(cases)), "failures": str(marks.count("failure")), "errors": str(marks.count("error"))}
    root = Element("testsuites", {"name": SUITE, **counts, "time": "0"})
    suite = SubElement(root, "testsuite", {"name": SUITE, **counts, "skipped": "0", "time": "0"})
    for (name, outcome, said), mark in zip(cases, marks, strict=True):
        case = SubElement(suite, "testcase", name=_xml(name), classname="assay.gate", time="0")
        if mark is not None:
            problem = SubElement(case, mark, message=_xml(said), type=outcome)
            problem.text = _xml(said)
        elif said:
            SubElement(case, "system-out").text = _xml(said)
    SubElement(suite, "system-out").text = _xml(result.table().text())
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def _measure_cases(result: Gate, undecided: str | None) -> list[tuple[str, str, str]]:
    """Name, outcome and what is said of each measure."""
    cases = []
    for one in result.measures:
        outcome = one.outcome
        if outcome == "undecided" and undecided is not None:
            outcome = undecided
        cases.append((f"{one.measure} drops by less than {one.margin}", outcome, _said_of(one, result)))
    return cases


def _said_of(one: MeasureGate, result: Gate) -> str:
    return f"{one.outcome}: {one.finding(result.names, result.alpha)}"


def _alarm_cases(result: Gate, undecided: str | None) -> list[tuple[str, str, str]]:
    """Name, outcome and what is said of each kind of alarm."""
    if result.judged is None:
        return []
    cases = []
    for kind, name in CHECKS.items():
        alarms = [alarm for alarm in result.alarms if alarm.name == kind]
        outcomes = {alarm.outcome for alarm in alarms}
        outcome = next((worst for worst in ELEMENTS if worst in outcomes), "pass")
        if outcome == "undecided" and undecided == "fail":  # an alarm never counts as a pass
            outcome = "fail"
        cases.append((name, outcome, "; ".join(alarm.what for alarm in alarms)))
    return cases


def _xml(text: str) -> str:
    """A text in which a question mark stands for each character that no XML may hold, not even escaped."""
    return NOT_XML.sub("?", text)
