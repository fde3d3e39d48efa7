"""Which words of a text are words of the query? The text in parts, so that pages can mark them."""

from __future__ import annotations

import re

SHORTEST = 3
"""Letters of a word of the query that is marked."""
COMMON = frozenset(
    {"the", "and", "for", "are", "what", "how", "does", "with", "from", "that", "this", "was", "who", "why"}
)
Part = tuple[str, bool]
"""Some of the text, and whether it is a word of the query."""


def highlighted(text: str, query: str) -> list[Part]:
    """The text cut into parts, those that are words of the query marked; word forms that begin alike count too.

    >>> highlighted("Cats sleep; a cat hunts.", "where do cats sleep")
    [('Cats', True), (' ', False), ('sleep', True), ('; a ', False), ('cat', True), (' hunts.', False)]
    """
    wanted = {_stem(word) for word in re.findall(r"\w+", query.lower()) if _counts(word)}
    if not text or not wanted:
        return [(text, False)] if text else []
    parts: list[Part] = []
    for part in re.split(r"(\w+)", text):
        if not part:
            continue
        is_word = _counts(part.lower()) and _stem(part.lower()) in wanted
        if parts and parts[-1][1] is is_word is False:
            parts[-1] = (parts[-1][0] + part, False)
        else:
            parts.append((part, is_word))
    return parts


def _counts(word: str) -> bool:
    return len(word) >= SHORTEST and word not in COMMON


def _stem(word: str) -> str:
    """A word without the endings that most often differ."""
    for ending in ("ies", "es", "s", "ing", "ed", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word.removesuffix(ending)
    return word
