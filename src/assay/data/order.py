"""In which order do the docs of a topic stand? Score first, then the tie policy; the keys by which ids are compared.

`Run` asks these functions and nobody else does: it is the one place that orders documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints, Keys, Sealed, Words, sealed
from assay.core.ids import Ids, places_ascending

if TYPE_CHECKING:
    from assay.data import Run


def sort_keys(scores: Floats, compat: str | None) -> npt.NDArray[np.floating[Any]]:
    """The numbers that are compared: 64-bit scores, or 32-bit ones as trec_eval 9 does."""
    if compat != "trec_eval-9":
        return scores
    with np.errstate(over="ignore"):  # what is too large for 32 bits is infinite there
        return scores.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Moves(Sealed):
    """Which rows go where: row rows[i] to place places[i], all others stay. Without places, the rows of every place."""

    rows: Ints
    places: Ints | None = None

    def __post_init__(self) -> None:
        """Nobody can change the moves."""
        sealed(self.rows)
        if self.places is not None:
            sealed(self.places)

    def of(self, column: npt.NDArray[Any], own: bool = False) -> npt.NDArray[Any]:
        """A column after the moves; one's own column is changed itself where few rows move."""
        if self.places is None:
            return sealed(column[self.rows])
        moved = column if own else column.copy()
        moved.setflags(write=True)
        moved[self.places] = column[self.rows]
        return sealed(moved)


def ranked_order(run: Run, ties: str) -> Moves | None:
    """The moves that bring the rows into ranked order, or None where they stand in it already."""
    keys = sort_keys(run.scores, run.compat)
    seams = run.seams()
    by_score: Ints | None = None
    level = _not_falling(keys, seams)
    rises = bool((keys[level + 1] > keys[level]).any())
    if rises or run.came is not None:
        by_score = np.lexsort((run.file_rows(), -keys, run.topic_of_row())).astype(np.int64)
        keys = keys[by_score]
        level = _not_falling(keys, seams)
    is_tied = keys[level + 1] == keys[level]
    tied_with_next = level[is_tied]
    if len(tied_with_next) and ties != "file":
        return _ties_settled(run, by_score, tied_with_next, ties)
    return None if by_score is None else Moves(by_score)


def _not_falling(keys: npt.NDArray[Any], seams: Ints) -> Ints:
    """The rows whose follower in their topic does not have a lower key."""
    level = ~(keys[1:] < keys[:-1])
    level[seams] = False
    return np.flatnonzero(level)


def _ties_settled(run: Run, by_score: Ints | None, tied_with_next: Ints, ties: str) -> Moves | None:
    """The moves that also put tied docs in the order of the policy."""
    tied_with_last = np.zeros(len(run), dtype=bool)
    tied_with_last[tied_with_next + 1] = True
    is_tied = tied_with_last.copy()
    is_tied[tied_with_next] = True
    places = np.flatnonzero(is_tied)
    block = np.cumsum(~tied_with_last[places])
    before = places if by_score is None else by_score[places]
    settled = before[_within_blocks(run, before, block, ties)]
    if by_score is not None:
        by_score[places] = settled
        return Moves(by_score)
    return None if np.array_equal(settled, before) else Moves(settled, places)


def short_keys(hashes: Words) -> Keys:
    """The leading half of 64-bit hashes."""
    return (hashes >> np.uint64(32)).astype(np.uint32)


def first_repeat(words: Words, docs: Ids) -> int | None:
    """The first row that has the word and the doc of a row before it.

    Rows of one word are candidates; all of them are compared with each other, by the bytes of their docs.
    """
    order = np.argsort(words, kind="stable")
    level = words[order][1:] == words[order][:-1]
    shared = np.zeros(len(words), dtype=bool)
    shared[order[1:][level]] = True
    shared[order[:-1][level]] = True
    candidates = np.flatnonzero(shared)
    word, doc = words[candidates], docs.take(candidates).byte_ranks()
    order = np.lexsort((doc, word))
    word, doc = word[order], doc[order]
    again = (word[1:] == word[:-1]) & (doc[1:] == doc[:-1])
    return int(candidates[order[1:][again]].min()) if again.any() else None


def _within_blocks(run: Run, rows: Ints, block: Ints, ties: str) -> Ints:
    """The order that puts the docs of each block in that of the policy."""
    if ties == "rank" and run.ranks is not None:
        return np.lexsort((run.ranks[rows], block))
    place = run.docs.take(rows).byte_ranks()
    ascending = place if ties == "docid-asc" else place.max(initial=0) - place
    return places_ascending(block, ascending)
