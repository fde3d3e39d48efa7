"""Topics: ids with their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.data.topic_rows import counted


@dataclass(frozen=True, repr=False)
class Topics:
    """Topic ids with their texts, e.g. {"title": …, "description": …, "narrative": …}.

    >>> Topics(("1", "2"), ({"title": "cats"}, {"title": "dogs"}))
    Topics(2 topics, title)
    """

    ids: tuple[str, ...]
    fields: tuple[Mapping[str, str], ...]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        names = dict.fromkeys(name for texts in self.fields for name in texts)
        return f"Topics({', '.join([counted(len(self), 'topic'), *names])})"

    def to_dict(self) -> dict[str, dict[str, str]]:
        """{topic: {field: text}}."""
        return {topic: dict(texts) for topic, texts in zip(self.ids, self.fields, strict=True)}
