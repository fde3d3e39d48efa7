"""Topics: ids with their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

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
        names = chain.from_iterable(self.fields)
        distinct = dict.fromkeys(names)
        size = counted(len(self), "topic")
        described = ", ".join([size, *distinct])
        return f"Topics({described})"

    def to_dict(self) -> dict[str, dict[str, str]]:
        """{topic: {field: text}}."""
        nested = {}
        for topic, texts in zip(self.ids, self.fields, strict=True):
            nested[topic] = dict(texts)
        return nested
