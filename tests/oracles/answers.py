"""Answers scored by plain loops over nuggets and sentences, in words as files have them."""

from __future__ import annotations

from collections.abc import Sequence

Nuggets = Sequence[tuple[str, str]]
"""(importance, assignment) of each nugget."""
CREDIT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
SUPPORT = {"full": 1.0, "partial": 0.5, "none": 0.0}


def nugget_recall(nuggets: Nuggets, kind: str) -> float:
    """V, A or W, strict or lenient, as V_strict; nothing to find scores 0."""
    which, _, how = kind.partition("_")
    got = 0.0
    weight = 0.0
    for importance, assignment in nuggets:
        if which == "V" and importance != "vital":
            continue
        own = 0.5 if which == "W" and importance == "okay" else 1.0
        credit = CREDIT[assignment]
        if how == "strict" and credit < 1:
            credit = 0.0
        got += own * credit
        weight += own
    return got / weight if weight else 0.0


def support(sentences: Sequence[Sequence[str]], kind: str) -> float:
    """SupportP, SupportR, SupportF1 or SentenceP of an answer: the support of the citations of each sentence."""
    if kind == "SupportF1":
        precision, recall = support(sentences, "SupportP"), support(sentences, "SupportR")
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    if kind == "SupportP":
        cited = [SUPPORT[word] for citations in sentences for word in citations]
        return sum(cited) / len(cited) if cited else 0.0
    total = 0.0
    for citations in sentences:
        if kind == "SupportR" and citations:
            total += max(SUPPORT[word] for word in citations)
        if kind == "SentenceP" and citations and all(word == "full" for word in citations):
            total += 1
    return total / len(sentences) if sentences else 0.0
