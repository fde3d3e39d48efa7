"""How is a method called by its name and parameters, such as `sign(min_difference=0.01)`?

What all registries of stats and standard share: the name is looked up, the parameters in brackets are checked against
the defaults of the signature, and of the common options (seed, resamples, …) a method gets those that it knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from assay.errors import UsageError
from assay.registry import Entry, Registry

R = TypeVar("R")


def called(registry: Registry[Callable[..., R]], text: str, *data: Any, **common: Any) -> R:
    """What the method that `text` names makes of the data; what it says in brackets wins over the common options."""
    entry, given = parsed(registry, text)
    known = {k: v for k, v in common.items() if k in entry.parameters}
    return entry.function(*data, **known | given)


def parsed(registry: Registry[Callable[..., R]], text: str) -> tuple[Entry[Callable[..., R]], dict[str, Any]]:
    """The method that `text` names and its parameters, each checked to be of the kind of its default."""
    entry, given = registry.parse(text)
    for key, value in given.items():
        default = entry.parameters[key]
        if key == "alternative":
            raise UsageError(f"{entry.name}: the alternative is an option of its own, not a parameter in brackets")
        if not _fits(value, default):
            raise UsageError(f"{entry.name}: {key}={value} does not fit; it is by default {default}")
    return entry, given


def _fits(value: Any, default: Any) -> bool:
    """Whether a value is of the kind of the default; a whole number is also a float, NaN and infinities are nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if isinstance(default, float):
        return isinstance(value, float | int) and not isinstance(value, bool)
    return default is None or type(value) is type(default)
