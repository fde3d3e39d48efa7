"""Topics: ids with their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from assay.data.topic_rows import counted

QUERY = ("title", "query", "text")
"""Fields that hold what a person would type, the likeliest first."""


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

    def queries(self) -> dict[str, str]:
        """{topic: query}: the title of each topic, or its query, or whatever text it has first.

        >>> Topics(("1", "2"), ({"description": "…", "title": "cats"}, {"text": "dogs"})).queries()
        {'1': 'cats', '2': 'dogs'}
        """
        queries = {}
        for topic, texts in zip(self.ids, self.fields, strict=True):
            named = [texts[name] for name in QUERY if texts.get(name)]
            queries[topic] = next(iter([*named, *texts.values()]), "")
        return queries

    def to_dict(self) -> dict[str, dict[str, str]]:
        """{topic: {field: text}}."""
        nested = {}
        for topic, texts in zip(self.ids, self.fields, strict=True):
            nested[topic] = dict(texts)
        return nested
