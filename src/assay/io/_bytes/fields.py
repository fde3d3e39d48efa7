"""Fields of lines separated by white space, for millions of lines at once: where each field starts and how long it is.

Lines may have leading blanks, padded columns, tabs, CR LF, blank lines and `#` comments. The text is cut into pieces,
so that threads can work on them and what is worked on stays in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from assay.core.arrays import Bytes, Ints
from assay.core.ids import WORD, Ids
from assay.io._bytes.bits import BLANK, NEWLINE, TAB, Places, bit_words, has_other_controls, newlines, set_bits

RETURN, COMMENT = 13, 35
_ONE = np.uint8(1)
ROOM = 2 * WORD
"""Zero bytes behind a text, so that a word can be read whole from any place of it."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PIECE = 1 << 21
"""Bytes of text that are worked on at a time: few enough for the cache, and enough that a step costs more than its call
and that threads seldom wait for the lock of the interpreter, which each step needs for a moment."""


class Fields(NamedTuple):
    """Fields of the lines of a piece of text: `places(j, rows)`: where field j of these lines starts, and its size."""

    buffer: Bytes
    lines: int
    places: Callable[[int, slice], tuple[Ints, Ints]]

    def column(self, j: int, rows: slice = slice(None)) -> Ids:
        """One field of every line, or of these lines."""
        return Ids(self.buffer, *self.places(j, rows))


def pieces(buffer: Bytes, size: int = PIECE) -> list[tuple[int, int]]:
    """Cut a text into pieces of about `size` bytes that end with a line.

    >>> pieces(np.frombuffer(b"ab\\ncd\\ne", np.uint8), 2)
    [(0, 3), (3, 6), (6, 7)]
    """
    cuts = [0]
    length = len(buffer)
    while cuts[-1] < length:
        cuts.append(_line_end(buffer, min(cuts[-1] + size, length)))
    return list(pairwise(cuts))


def _line_end(buffer: Bytes, at: int) -> int:
    """The first place from `at` on that stands behind a newline, or the end."""
    step = 4096
    while at < len(buffer):
        ahead = buffer[at - 1 : at + step]
        found = int((ahead == NEWLINE).argmax())
        if ahead[found] == NEWLINE:
            return at + found
        at = min(at + step, len(buffer))
    return at


def fields(buffer: Bytes, start: int, stop: int, columns: int, *, exact: bool = False) -> Fields | None:
    """The first `columns` fields of each line of buffer[start:stop]; None where a line has fewer, or if exact, more.

    None also where a control byte that is no white space stands in a line that is no comment.
    """
    text = buffer[start:stop]
    return _single_blanks(buffer, text, start, columns) or _any_blanks(buffer, text, start, columns, exact)


def _single_blanks(buffer: Bytes, text: Bytes, start: int, columns: int) -> Fields | None:
    """The common case: every line has exactly the columns, with one blank or tab between them."""
    ends = newlines(text)
    if not len(ends) or ends[-1] != len(text) - 1:
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    blanks = bit_words(text <= BLANK)
    # As many blanks as these lines need, and each line has its own: so no line has more.
    if np.bitwise_count(blanks).sum() != columns * len(ends) or has_other_controls(text, len(ends)):
        return None
    field_ends = set_bits(blanks, starts, columns - 1)
    if field_ends is None or (text.take(starts) == COMMENT).any():
        return None
    sizes = ends - starts
    if not _have_bytes(field_ends) or not (field_ends[-1] + 1 < sizes).all():
        return None
    starts += start

    def places(column: int, rows: slice) -> tuple[Ints, Ints]:
        end = sizes[rows] if column == columns - 1 else field_ends[column][rows]
        if column == 0:
            return starts[rows], end.astype(np.int64)
        begin = field_ends[column - 1][rows] + _ONE  # no line has its last blank beyond 127
        return starts[rows] + begin.astype(np.int64), (end - begin).astype(np.int64)

    return Fields(buffer, len(ends), places)


def _have_bytes(ends: list[Places]) -> bool:
    """Whether no field is empty, by the places where fields end."""
    if not ends[0].all():
        return False
    return all(bool((end - before > 1).all()) for before, end in pairwise(ends))


def _any_blanks(buffer: Bytes, text: Bytes, start: int, columns: int, exact: bool) -> Fields | None:
    """Any white space: fields are runs of other bytes, and belong to the line that they stand in."""
    if _has_bare_returns(text):
        return None
    inside = np.concatenate([[False], text > BLANK, [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1]).reshape(-1, 2)
    starts = edges[:, 0]
    ends = edges[:, 1]
    newlines = np.flatnonzero(text == NEWLINE)
    line_of_field = np.searchsorted(newlines, starts)
    first_of_line = np.flatnonzero(np.diff(line_of_field, prepend=-1))
    count = np.diff(np.append(first_of_line, len(line_of_field)))
    is_line = text[starts[first_of_line]] != COMMENT
    comments = first_of_line[~is_line]
    if not _are_in_comments(_controls(text), newlines, line_of_field[comments], starts[comments]):
        return None
    first_of_line = first_of_line[is_line]
    count = count[is_line]
    if (count < columns).any() or (exact and (count > columns).any()):
        return None

    def places(column: int, rows: slice) -> tuple[Ints, Ints]:
        at = first_of_line[rows] + column
        return starts[at] + start, ends[at] - starts[at]

    return Fields(buffer, len(first_of_line), places)


def _controls(text: Bytes) -> Ints:
    """The places of control bytes that are no white space."""
    is_control = text < TAB
    is_control |= (text > RETURN) & (text < BLANK)
    return np.flatnonzero(is_control)


def _are_in_comments(places: Ints, newlines: Ints, lines: Ints, starts: Ints) -> bool:
    """Whether all of these places are in comments, which stand in these lines and start at these places."""
    if not len(places):
        return True
    line = np.searchsorted(newlines, places)
    at = np.searchsorted(lines, line)
    is_comment = np.isin(line, lines)
    return bool(is_comment.all() and (places > starts[at[is_comment]]).all())


def _has_bare_returns(text: Bytes) -> bool:
    """Whether a CR ends a line by itself."""
    returns = np.flatnonzero(text == RETURN)
    if not len(returns):
        return False
    next_bytes = text.take(returns + 1, mode="clip")
    return not (next_bytes == NEWLINE).all()


@dataclass(frozen=True, eq=False)
class Text:
    """The bytes of a file, with room behind them to read a whole word past any field."""

    buffer: Bytes
    length: int

    @classmethod
    def of(cls, data: bytes) -> Text:
        """A text in memory, without its byte-order mark."""
        body = data.removeprefix(BYTE_ORDER_MARK)
        size = len(body)
        buffer = np.empty(size + ROOM, dtype=np.uint8)
        buffer[:size] = np.frombuffer(body, dtype=np.uint8)
        buffer[size:] = 0
        return cls(buffer, size)

    def bytes(self) -> bytes:
        """The text itself."""
        return self.buffer[: self.length].tobytes()

    def piece(self, start: int, stop: int) -> tuple[Bytes, int]:
        """A buffer that holds this piece with room behind it, and where the piece starts in it."""
        if stop + ROOM <= len(self.buffer):
            return self.buffer, start
        return np.concatenate([self.buffer[start:stop], np.zeros(ROOM, np.uint8)]), 0
