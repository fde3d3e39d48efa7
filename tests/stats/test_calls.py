"""Methods by name: parameters in brackets are checked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.stats.calls import parsed

METHODS: Registry[Callable[..., tuple[object, ...]]] = Registry("method")


@METHODS.register("shrink")
def shrink(x: int, *, by: float = 0.5, times: int = 1, quietly: bool = False) -> tuple[object, ...]:
    """A method to call."""
    return x, by, times, quietly


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("by=x", "shrink: by='x' is not a number"),
        ("by=true", "shrink: by=True is not a number"),
        ("by=nan", "shrink: by=nan is not a number"),
        ("by=inf", "shrink: by=inf is not finite"),
        ("times=1.5", "shrink: times=1.5 is not a whole number"),
        ("quietly=1", "shrink: quietly=1 is not true or false"),
    ],
)
def test_what_does_not_fit_is_refused(given: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parsed(METHODS, f"shrink({given})")


def test_parsed_gives_the_entry_and_checked_parameters() -> None:
    entry, given = parsed(METHODS, "shrink(by=2)")
    assert (entry.function(7, **given), given) == ((7, 2, 1, False), {"by": 2})


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean shrink"):
        parsed(METHODS, "shrnk")
    with pytest.raises(UsageError, match="no parameter 'of'"):
        parsed(METHODS, "shrink(of=1)")
