"""Runs and judgments drawn for the tests of parts: lists of different lengths, ties, topics that nobody judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def drawn_lines(topics: int, seed: int, *, tag: str = "bm25", least: int = 1) -> list[str]:
    """The lines of a run; every seventh topic of the judgments is missing."""
    rng = np.random.default_rng(seed)
    lines = []
    for topic in range(topics):
        if topic % 7 == 3:
            continue
        docs = rng.permutation(200)[: int(rng.integers(least, 60))]
        scores = np.round(rng.random(len(docs)) * 9, 1)
        for rank, (doc, score) in enumerate(zip(docs.tolist(), scores.tolist(), strict=True), 1):
            lines.append(f"q{topic} Q0 d{doc} {rank} {score} {tag}\n")
    return lines


def drawn_judgments(topics: int, seed: int) -> list[str]:
    """The lines of judgments; the last two topics of a run are not judged."""
    rng = np.random.default_rng(seed + 1000)
    lines = []
    for topic in range(topics - 2):
        docs = rng.permutation(200)[: int(rng.integers(1, 40))]
        lines += [f"q{topic} 0 d{doc} {rng.integers(0, 4)}\n" for doc in docs.tolist()]
    return lines


def written(path: Path, lines: list[str]) -> Path:
    """The path of a file of these lines."""
    path.write_text("".join(lines))
    return path
