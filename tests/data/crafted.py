"""Different ids that share their 64-bit hash, made by running the public hash backwards."""

from __future__ import annotations

import numpy as np

from assay.core import ids
from assay.core.arrays import Words

PAIR = ('72975302J"c8kzYe', "357862657fn*{FIa")
"""Two ids that share a hash: printable, as they could stand in a submitted run."""


def colliding(count: int, seed: int = 0) -> list[str]:
    """So many distinct ids of 16 printable characters with one hash."""
    rng = np.random.default_rng(seed)
    found: list[str] = []
    goal = np.uint64(int.from_bytes(b"same-end", "little")) ^ _state(np.array([b"any-word"], "S8").view("<u8"))[0]
    while len(found) < count:
        first = rng.integers(0x21, 0x7F, size=(200_000, 8), dtype=np.uint8)
        # The state after the first word and the second word meet in an exclusive or: one is chosen, one follows.
        second = (_state(first.view("<u8").reshape(-1)) ^ goal).view(np.uint8).reshape(-1, 8)
        printable = ((second > 0x20) & (second < 0x7F)).all(axis=1)
        whole = np.concatenate([first, second], axis=1)[printable]
        found.extend(row.tobytes().decode() for row in whole)
    return found[:count]


def _state(first: Words) -> Words:
    """The state of the hash of an id of 16 bytes after its first word."""
    start = np.full(len(first), 16, dtype=np.uint64) * ids._ODD
    return ids._mixed(start, first)
