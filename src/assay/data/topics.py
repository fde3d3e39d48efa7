"""Topics: ids with their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Topics:
    """Topic ids with their texts, e.g. {"title": …, "description": …, "narrative": …}."""

    ids: tuple[str, ...]
    fields: tuple[Mapping[str, str], ...]

    def __len__(self) -> int:
        return len(self.ids)
