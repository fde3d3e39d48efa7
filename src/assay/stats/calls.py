"""How is a method called by its name and parameters, such as `sign(min_difference=0.01)`?

The name is looked up, and the parameters in brackets are checked against the defaults of the signature.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from assay.core.errors import UsageError
from assay.core.registry import Entry, Registry

R = TypeVar("R")


def parsed(registry: Registry[Callable[..., R]], text: str) -> tuple[Entry[Callable[..., R]], dict[str, Any]]:
    """The method that `text` names and its parameters: not the alternative, nothing infinite."""
    entry, given = registry.parse(text)
    if "alternative" in given:
        raise UsageError(f"{entry.name}: the alternative is an option of its own, not a parameter in brackets")
    for key, value in given.items():
        if isinstance(value, float) and math.isinf(value):
            raise UsageError(f"{entry.name}: {key}={value} is not finite")
    return entry, given
