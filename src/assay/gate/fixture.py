"""The fixture `assay_gate` for pytest: a test that fails where the gate does.

pytest loads this file in every session where assay is installed, so that it imports nothing until a test asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

WHAT_TO_DO = ("fail", "skip", "xfail", "pass")
"""What a test may do where the gate is undecided; with an alarm it fails."""


@pytest.fixture
def assay_gate() -> Callable[..., Any]:
    """`assay.gate` as an assertion: fails the test where the gate fails, returns the result where it passes.

    Takes what `assay.gate` takes, and `undecided`: fail (the default), skip, xfail or pass.
    """
    return checked_gate


def checked_gate(new: Any, baseline: Any, *given: Any, undecided: str = "fail", **options: Any) -> Any:
    """The result of `assay.gate`, if the test is to go on after it."""
    __tracebackhide__ = True
    if undecided not in WHAT_TO_DO:
        known = ", ".join(WHAT_TO_DO)
        raise pytest.UsageError(f"assay_gate: undecided={undecided!r} is not known; take one of {known}")
    import assay

    result = assay.gate(new, baseline, *given, **options)
    if result.passed:
        return result
    # An alarm is no lack of topics: such a gate never counts as a pass, and is never skipped.
    is_open = result.counted_as("pass") == "pass"
    report = result.table().text()
    if is_open and undecided == "skip":
        pytest.skip(result.verdict)
    if is_open and undecided == "xfail":
        pytest.xfail(result.verdict)
    if is_open and undecided == "pass":
        return result
    return pytest.fail(report, pytrace=False)
